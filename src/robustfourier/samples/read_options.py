"""`ReadOptions`: how a file is to be read, where it does not speak for itself."""

from __future__ import annotations

from dataclasses import dataclass

from robustfourier.errors import InputError, require_choice

#: What is done about rows that lack something, and about those of one time.
MISSING_RULES = ("drop", "error")
DUPLICATES = ("mean", "first", "last", "keep", "error")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file, where it does not speak for itself.

    Parameters
    ----------
    time, value, error : str, optional
        Column names, or numbers starting at 1.
    delimiter, decimal : str, optional
        How the table is written; found by itself if None.
    skip : int
        Lines to leave out at the top.
    na : tuple of str
        Further marks of a missing value.
    missing, duplicates : str
        What to do about rows that lack something or repeat a time: `MISSING_RULES`, `DUPLICATES`.
        If `duplicates` is not given, the mean is taken unless a column tells several series apart.
    by : tuple of str
        "column=label": take only the rows with this label, one series of a long table.
    time_format : str
        See `robustfourier.samples.time_columns.TIME_FORMATS`.
    timezone : str, optional
        Zone of dates that name none.
    unit : str, optional
        Unit of numeric times, or the unit in which periods of dates are given.
    sheet : str, optional
        Name or number of the sheet of a workbook.
    rate : float, optional
        Samples per second, where no column holds times.
    """

    time: str | None = None
    value: str | None = None
    error: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    skip: int = 0
    na: tuple[str, ...] = ()
    missing: str = "drop"
    duplicates: str | None = None
    by: tuple[str, ...] = ()
    time_format: str = "auto"
    timezone: str | None = None
    unit: str | None = None
    sheet: str | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        require_choice("--missing", self.missing, MISSING_RULES)
        require_choice("--duplicates", self.duplicates or "mean", DUPLICATES)
        if self.decimal not in (None, ".", ","):
            raise InputError(f"--decimal {self.decimal!r} must be . or ,")
        if self.rate is not None and not 0.0 < self.rate < float("inf"):
            raise InputError(f"--rate {self.rate}: give samples per second, such as --rate 20000")
