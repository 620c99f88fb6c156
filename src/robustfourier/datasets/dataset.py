"""What a data set is: numbers together with where they come from."""

from __future__ import annotations

from dataclasses import dataclass

from robustfourier.arrays import FloatArray


@dataclass(frozen=True)
class Dataset:
    """A time series with its provenance.

    Attributes
    ----------
    name : str
        What to call it.
    times : ndarray of shape (n,)
        Sample times in `unit`, ascending, read-only.
    values : ndarray of shape (n,)
        Measured values, read-only.
    errors : ndarray of shape (n,) or None
        One-sigma errors of the values, where the observer gave them; read-only.
    unit : str
        Unit of the times and periods.
    value_name : str
        Name and unit of the values.
    periods : tuple of float
        Periods known from the literature or by the calendar, in `unit`.
    source : str
        Where the numbers come from.
    licence : str
        Terms under which they may be passed on.
    """

    name: str
    times: FloatArray
    values: FloatArray
    errors: FloatArray | None
    unit: str
    value_name: str
    periods: tuple[float, ...]
    source: str
    licence: str

    def __post_init__(self) -> None:
        for array in (self.times, self.values, self.errors):
            if array is not None:
                array.setflags(write=False)
