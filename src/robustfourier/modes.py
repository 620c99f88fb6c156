"""The table of modes that both estimators return.

One row per mode, one array per column. Columns that an estimator cannot know are None and do not
appear in `ModeTable.to_frame`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.errors import InputError

Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ModeTable:
    """Modes with their frequencies, amplitudes and what is known about them.

    A row stands for ``amplitude · cos(2π · frequency · (t - centre) - phase)`` where `centre` is
    the middle of the domain (θ = 0); a cosine has phase 0, a sine π/2. With several outputs,
    `amplitude` and `phase` (and their errors) have shape (n_modes, n_outputs).

    Parameters
    ----------
    mode : ndarray of shape (n_modes,)
        Cycles over the domain; an integer only where frequencies were restricted to integers.
    frequency, period : ndarray of shape (n_modes,)
        In the domain's unit.
    amplitude : ndarray of shape (n_modes,) or (n_modes, n_outputs)
        In the unit of y.
    phase : ndarray of the shape of `amplitude`
        Radians in (-π, π].
    mode_error, frequency_error, period_error, amplitude_error, phase_error : ndarray, optional
        Standard errors.
    false_alarm : ndarray, optional
        Probability that noise alone would have produced a mode this strong anywhere in the search.
    component, harmonic : ndarray of int, optional
        Index of the repeating pattern the mode belongs to and its number within it (1 = the base);
        -1 and 0 for a mode outside every component.
    label : ndarray of str, optional
        Such as ``A``, ``2A`` or ``A+B``.
    cosine_weight, sine_weight : ndarray, optional
        What the network's diagonal layer gives to cosine and sine.
    active : ndarray of bool, optional
        Whether the mode stands out from those that carry nothing.
    column : ndarray of int, optional
        The input column, where there are several.
    unit : str
        Unit of `period`.

    Examples
    --------
    >>> table = ModeTable.build(mode=[2.0, 4.0], cosine=[3.0, 0.0], sine=[4.0, 1.0], span=10.0)
    >>> table.period
    array([5. , 2.5])
    >>> table.amplitude
    array([5., 1.])
    >>> len(table.select(table.amplitude > 2))
    1
    """

    mode: FloatArray
    frequency: FloatArray
    period: FloatArray
    amplitude: FloatArray
    phase: FloatArray
    mode_error: FloatArray | None = None
    frequency_error: FloatArray | None = None
    period_error: FloatArray | None = None
    amplitude_error: FloatArray | None = None
    phase_error: FloatArray | None = None
    false_alarm: FloatArray | None = None
    component: IntArray | None = None
    harmonic: IntArray | None = None
    label: Column | None = None
    cosine_weight: FloatArray | None = None
    sine_weight: FloatArray | None = None
    active: BoolArray | None = None
    column: IntArray | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        for name, values in self.columns().items():
            if len(values) != len(self.mode):
                raise InputError(
                    f"{name} has {len(values)} rows, but mode has {len(self.mode)}; "
                    "all columns of a ModeTable need the same length"
                )

    @classmethod
    def build(
        cls,
        *,
        mode: Any,
        cosine: Any,
        sine: Any,
        span: float,
        mode_error: Any = None,
        unit: str = "",
        **columns: Any,
    ) -> ModeTable:
        """Derive frequency, period, amplitude and phase from coefficients of cos(πkθ) and sin(πkθ).

        `span` is the length of the domain in `unit`; errors of frequency and period follow from
        `mode_error`; further columns go by their name.
        """
        mode = np.asarray(mode, np.float64)
        cosine, sine = np.asarray(cosine, np.float64), np.asarray(sine, np.float64)
        if mode_error is not None:
            mode_error = np.asarray(mode_error, np.float64)
            columns["mode_error"] = mode_error
            columns["frequency_error"] = mode_error / span
            columns["period_error"] = _ratio(span * mode_error, mode**2)
        return cls(
            mode=mode,
            frequency=mode / span,
            period=_ratio(np.full_like(mode, span), mode),
            amplitude=np.hypot(cosine, sine),
            phase=np.arctan2(sine, cosine),
            unit=unit,
            **{k: None if v is None else np.asarray(v) for k, v in columns.items()},
        )

    @classmethod
    def stack(cls, tables: Sequence[ModeTable]) -> ModeTable:
        """Return the rows of several tables with the same columns as one table."""
        parts = [table.columns() for table in tables]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return cls(**joined, unit=tables[0].unit)

    def columns(self) -> dict[str, Column]:
        """Columns that are there, by name, in their order."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        del values["unit"]
        return {name: column for name, column in values.items() if column is not None}

    def select(self, rows: Any) -> ModeTable:
        """Return the table of the given rows (a mask, indices or a slice)."""
        return replace(self, **{name: column[rows] for name, column in self.columns().items()})

    def to_frame(self) -> pd.DataFrame:
        """Return the table for pandas; columns of several outputs become ``amplitude_0``, ..."""
        frame: dict[str, Column] = {}
        for name, column in self.columns().items():
            frame |= by_output(name, column)
        return pd.DataFrame(frame)

    def __len__(self) -> int:
        return len(self.mode)

    def __str__(self) -> str:
        if not len(self):
            return "ModeTable: no modes"
        return self.to_frame().to_string(index=False, float_format=lambda x: f"{x:.6g}")

    def __repr__(self) -> str:
        plural = "" if len(self) == 1 else "s"
        return f"<ModeTable: {len(self)} mode{plural}, columns {', '.join(self.columns())}>"

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(index=False, float_format=lambda x: f"{x:.6g}", escape=True)


def by_output(name: str, values: Column) -> dict[str, Column]:
    """Columns of a table: ``name`` alone, or ``name_0``, ``name_1``, … where there are outputs.

    >>> list(by_output("trend", np.zeros(3))), list(by_output("trend", np.zeros((3, 2))))
    (['trend'], ['trend_0', 'trend_1'])
    """
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{i}": column for i, column in enumerate(values.T)}


def _ratio(numerator: Column, denominator: Column) -> Column:
    """Divide, with infinity for mode 0."""
    out = np.full(np.shape(denominator), np.inf)
    return np.divide(numerator, denominator, out=out, where=denominator != 0)
