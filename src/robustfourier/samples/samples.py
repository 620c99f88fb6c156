"""`Samples`: times, values and, where known, errors, with a record of how they were read.

What everything else in the package takes as data from a file. Times are plain numbers or dates
(as datetime64 in UTC); nothing is scaled here. `notes` says in words what was assumed, `counts`
how many rows were left out and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from robustfourier.arrays import FloatArray


@dataclass(frozen=True)
class Counts:
    """What became of the rows of a table.

    Parameters
    ----------
    rows : int
        Rows of data in the table.
    used : int
        Samples that are left.
    missing : int
        Rows left out because the time, the value or its error is missing or not finite.
    duplicates : int
        Rows whose time occurred before.
    out_of_order : int
        Rows that came before an earlier time and were moved.
    """

    rows: int
    used: int
    missing: int = 0
    duplicates: int = 0
    out_of_order: int = 0

    def words(self) -> list[str]:
        """What was done about rows, a sentence for each kind; none for a clean table.

        Examples
        --------
        >>> Counts(rows=2000, used=1999, missing=1).words()
        ['1 of 2,000 rows lacks a value: left out']
        """
        kinds = (
            (self.missing, "lacks", "lack", "a value: left out"),
            (self.duplicates, "repeats", "repeat", "a time (see --duplicates)"),
            (self.out_of_order, "is", "are", "out of order: sorted"),
        )
        rows = f"of {self.rows:,} rows"
        return [f"{n:,} {rows} {one if n == 1 else many} {end}" for n, one, many, end in kinds if n]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one quantity, sorted by time.

    Parameters
    ----------
    times : ndarray of shape (n,)
        float64 or int64 numbers, or datetime64 (UTC if `timezone` is set).
    values : ndarray of shape (n,)
        float64, finite.
    errors : ndarray of shape (n,) or None
        Standard errors of the values, positive.
    counts : Counts
        Rows read and left out.
    time_name, value_name, error_name : str
        Names of the columns as the file has them.
    value_unit : str
        Unit of the values, as the file writes it; empty if it does not.
    unit : str
        Unit of the times: "day" for dates and Julian dates, what the column's name says for
        other numbers, empty if unknown.
    timezone : str or None
        Time zone of the dates, None for a clock without one.
    source : str
        The file's name.
    sha256 : str or None
        Digest of the file's bytes.
    notes : tuple of str
        What was assumed while reading, in words.

    Examples
    --------
    >>> from robustfourier.samples import from_arrays
    >>> samples = from_arrays([2.0, 1.0, 3.0], [5.0, 4.0, float("nan")])
    >>> samples.times, samples.counts.missing, samples.counts.out_of_order
    (array([1., 2.]), 1, 1)
    """

    times: NDArray[Any]
    values: FloatArray
    errors: FloatArray | None
    counts: Counts
    time_name: str = "time"
    value_name: str = "value"
    error_name: str | None = None
    unit: str = ""
    timezone: str | None = None
    source: str = ""
    sha256: str | None = None
    notes: tuple[str, ...] = field(default=())
    value_unit: str = ""

    @property
    def dates(self) -> bool:
        """Whether the times are dates."""
        return self.times.dtype.kind == "M"

    @property
    def axis(self) -> Any:
        """The times as an estimator takes them: an array, or a DatetimeIndex with its zone."""
        if self.timezone is None:
            return self.times
        import pandas as pd

        return pd.DatetimeIndex(self.times).tz_localize("UTC").tz_convert(self.timezone)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"<Samples: {len(self)} of {self.counts.rows} rows, {self.value_name!r} "
            f"against {self.time_name!r}>"
        )
