"""Components: the repeating patterns of a model, as a tuple that is also a table.

One row per component, the same columns in Python, CSV, JSON and pages:

=================== ============================================================================
label               A, B, …, the strongest first; ``A+B`` for a combination tone
combination         whether its frequency is a sum or difference of others
period, frequency   with ``*_error``, standard errors, in `unit` and cycles per `unit`
amplitude           half of the distance between highest and lowest value; with its error
share               of the variation around the trend
harmonics           orders that were found
false_alarm         the smallest among its modes
snr                 amplitude of the strongest harmonic over its standard error
epoch_max           the maximum nearest to the middle of the record; of magnitudes the brightest
epoch_min           the minimum nearest to it; errors of both in `unit`
acrophase           hours after midnight of the maximum, for periods of a day; else NaN
coherence           time after which phase and shape are forgotten; infinite if strict
calendar            "day", "week", … if the period is one
peak                when it is highest on the calendar: "at 15:10", "on Saturdays", "in August"
name                what its field calls it: "M2" of a tide, "BPFO" of a bearing
in_phase            whether it is a function of one cosine
=================== ============================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import MissingDependencyError, require_count
from robustfourier.formatting import percent
from robustfourier.mixture.components.component import Component
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.waveform_extrema import extreme, first_output
from robustfourier.modes import ModeTable
from robustfourier.quantities import ASTROPY_UNITS

#: Columns of the table, in their order.
COLUMNS = (
    *("label", "combination", "period", "period_error", "unit", "frequency"),
    *("frequency_error", "amplitude", "amplitude_error", "share", "harmonics", "false_alarm"),
    *("snr", "epoch_max", "epoch_max_error", "epoch_min", "epoch_min_error", "acrophase"),
    *("coherence", "calendar", "peak", "name", "in_phase"),
)

_LARGEST = np.log(np.finfo(float).max)
_LEVELS = 201  # places at which a typical level is taken


class Components(tuple[Component, ...]):
    """A tuple of `Component`, the strongest first, combination tones last.

    Examples
    --------
    >>> Components().to_frame().columns[:4].tolist()
    ['label', 'combination', 'period', 'period_error']
    """

    #: Modes of the model, which know the false-alarm probabilities.
    modes: ModeTable | None = None
    #: Typical level of the record where logarithms were fitted: amplitudes are given for it.
    level: float = 1.0
    #: Ordinary time between samples.
    spacing: float = 0.0
    #: Name of the values, which says whether they are magnitudes.
    value_name: str = ""

    def attach(self, modes: ModeTable, level: float, spacing: float, value_name: str) -> None:
        """Take what the tables need of the model."""
        self.modes, self.level = modes, level
        self.spacing, self.value_name = spacing, value_name

    def to_frame(self, magnitudes: bool | None = None) -> pd.DataFrame:
        """Return the table of patterns.

        Parameters
        ----------
        magnitudes : bool, optional
            Whether values are magnitudes, of which the smallest is the maximum; by default their
            name or unit says so ("mag", "V_mag").

        Returns
        -------
        DataFrame
            One row per pattern, with the columns of ``components.csv``. With several outputs,
            amplitudes and epochs are those of the first, and the share of each is a column.
        """
        from robustfourier.results.calendar_patterns import with_calendar
        from robustfourier.results.patterns import mixture_patterns, pattern_columns

        down = self._downwards(magnitudes)
        frame = pd.DataFrame(pattern_columns(with_calendar(mixture_patterns(self, down), down)))
        shares = np.array([np.atleast_1d(c.share) for c in self] or np.zeros((0, 1)))
        if shares.shape[1] > 1:
            columns = {f"share_{i}": shares[:, i] for i in range(shares.shape[1])}
            frame = frame.drop(columns="share").assign(**columns)
        return frame

    def waveforms(self, points: int = 100, magnitudes: bool | None = None) -> pd.DataFrame:
        """Return one cycle of each pattern as a table.

        Parameters
        ----------
        points : int
            Phases of each, from 0, at ``epoch_max`` of `to_frame`, to just before 1.
        magnitudes : bool, optional
            As in `to_frame`.

        Returns
        -------
        DataFrame
            With columns label, phase, time (since the maximum, in units of time), value
            and value_error; of several outputs, the first.
        """
        require_count("points", points)
        phases = np.arange(points) / points
        names = ("label", "phase", "time", "value", "value_error")
        tables = [pd.DataFrame({name: [] for name in names})] if not self else []
        for component in self:
            peak = extreme(component, self._downwards(magnitudes))[0]
            wave = (
                self.level * first_output(part)
                for part in component.waveform(phases + peak, return_std=True)
            )
            cells = (component.label, phases, phases * component.period, *wave)
            tables.append(pd.DataFrame(dict(zip(names, cells, strict=True))))
        return pd.concat(tables, ignore_index=True)

    def to_table(self, magnitudes: bool | None = None) -> Any:
        """Return the table of patterns as a `Table` of astropy, with units of time."""
        try:
            from astropy.table import Table
        except ImportError:
            raise MissingDependencyError(
                "to_table needs astropy; install it with: pip install robustfourier[astropy]"
            ) from None
        frame = self.to_frame(magnitudes)
        table = Table({name: frame[name].to_numpy() for name in frame})
        unit = ASTROPY_UNITS.get(self[0].domain.unit) if len(self) else None
        for name in ("period", "period_error", "epoch_max_error", "epoch_min_error", "coherence"):
            table[name].unit = unit
        return table

    def to_xarray(self, magnitudes: bool | None = None) -> Any:
        """Return the table of patterns as a `Dataset` of xarray, by their labels."""
        try:
            import xarray  # noqa: F401 - pandas says less about what is missing
        except ImportError:
            raise MissingDependencyError(
                "to_xarray needs xarray; install it with: pip install robustfourier[xarray]"
            ) from None
        data = self.to_frame(magnitudes).set_index("label").to_xarray()
        for name in ("period", "period_error", "coherence"):
            data[name].attrs["units"] = self[0].domain.unit if len(self) else ""
        return data

    def _downwards(self, magnitudes: bool | None) -> bool:
        from robustfourier.results.patterns import is_magnitude

        return is_magnitude(self.value_name) if magnitudes is None else magnitudes

    def _repr_html_(self) -> str:
        if not self:
            return "<p>No repeating pattern.</p>"
        table = pd.DataFrame([in_words(component) for component in self])
        return str(table.rename(columns={"label": ""}).to_html(index=False, escape=True))


def in_words(component: Component) -> dict[str, str]:
    """What is said of a component where its model is all that is known."""
    c = component
    return {
        "label": c.label,
        "period": c.domain.period_words(c.period, c.period_error, spread=True),
        "share": ", ".join(percent(share) for share in np.ravel(c.share).tolist()),
        "harmonics": ", ".join(map(str, c.harmonics)),
    }


def typical_level(model: ColumnModel) -> float:
    """The geometric mean over the record of what a trend of logarithms stands for."""
    trend = np.reshape(model.trend_at(np.linspace(-1.0, 1.0, _LEVELS)), (_LEVELS, -1))
    return float(np.exp(np.minimum(np.mean(trend[:, 0]), _LARGEST)))
