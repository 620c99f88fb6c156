"""Components: the repeating patterns of a model, as a tuple that is also a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import MissingDependencyError, require_count
from robustfourier.estimators.pattern_table import COLUMNS, acrophase, extreme, row_of
from robustfourier.formatting import percent
from robustfourier.mixture.model import Component
from robustfourier.modes import ModeTable
from robustfourier.quantities import ASTROPY_UNITS


class Components(tuple[Component, ...]):
    """A tuple of `Component`, the strongest first, combination tones last.

    Examples
    --------
    >>> Components().to_frame().columns[:4].tolist()
    ['label', 'combination', 'period', 'period_error']
    """

    #: Modes of the model, which know the false-alarm probabilities.
    modes: ModeTable | None = None
    #: Typical level of the record where logarithms were fitted: amplitudes are told for it.
    level: float = 1.0
    #: Ordinary time between samples.
    spacing: float = 0.0
    #: Name of the values, which says whether they are magnitudes.
    value_name: str = ""

    def know(self, modes: ModeTable, level: float, spacing: float, value_name: str) -> None:
        """Take what the tables need of the model."""
        self.modes, self.level = modes, level
        self.spacing, self.value_name = spacing, value_name

    def to_frame(self, magnitudes: bool | None = None) -> pd.DataFrame:
        """Return the table of patterns; see `robustfourier.estimators.pattern_table`.

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
        from robustfourier.results.calendar import calendar_word, constituents_of

        down = self._downwards(magnitudes)
        rows = [row_of(c, self._false_alarm(i), down, self.level) for i, c in enumerate(self)]
        given: set[str] = set()
        tide = constituents_of(self, self[0].domain) if self else []
        for row, component, name in zip(rows, self, tide, strict=True):
            row["name"] = name
            word = calendar_word(component.period, component.period_error, component.domain)
            row["calendar"] = "" if word in given else word
            given.add(word)
            row["acrophase"] = acrophase(row["epoch_max"], row["calendar"], component.domain)
            row["peak"] = _peak(component, row, down, self.spacing)
        frame = pd.DataFrame({name: [row[name] for row in rows] for name in COLUMNS})
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
            value, error = component.waveform(phases + peak, return_std=True)
            value, error = self.level * value, self.level * error
            wave = (value, error) if value.ndim == 1 else (value[:, 0], error[:, 0])
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
        from robustfourier.results.record import is_magnitude

        return is_magnitude(self.value_name) if magnitudes is None else magnitudes

    def _false_alarm(self, index: int) -> float:
        """The smallest among the modes of a component; NaN where they are not known."""
        if self.modes is None or self.modes.component is None or self.modes.false_alarm is None:
            return np.nan
        own = np.asarray(self.modes.component) == index
        if self.modes.harmonic is not None:
            own &= np.asarray(self.modes.harmonic) > 0  # without side lines
        return float(np.min(np.asarray(self.modes.false_alarm)[own], initial=np.inf))

    def _repr_html_(self) -> str:
        rows: list[dict[str, Any]] = [
            {
                "": c.label,
                "period": c.domain.period_words(c.period, c.period_error, spread=True),
                "share": ", ".join(percent(share) for share in np.ravel(c.share).tolist()),
                "harmonics": ", ".join(map(str, c.harmonics)),
            }
            for c in self
        ]
        if not rows:
            return "<p>No repeating pattern.</p>"
        return pd.DataFrame(rows).to_html(index=False, escape=True)


def _peak(component: Component, row: dict[str, Any], down: bool, spacing: float) -> str:
    """When a component is highest on the calendar; empty if it is none of the calendar's."""
    from robustfourier.results.calendar_cycle import calendar_cycle
    from robustfourier.results.drawing_grid import wave_grid
    from robustfourier.results.record import Curve

    phases = wave_grid(int(np.max(component.harmonics)))
    wave = component.waveform(phases + extreme(component, down)[0])
    curve = Curve(phases, wave if wave.ndim == 1 else wave[:, 0])
    epoch, error = row["epoch_max"], row["epoch_max_error"]
    domain = component.domain
    cycle = calendar_cycle(row["calendar"], epoch, error, curve, domain, down, spacing)
    return "" if cycle is None else cycle.peak
