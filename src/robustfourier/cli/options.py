"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

import typer

from robustfourier.errors import InputError

__all__ = ["duration", "instant", "level_of", "located", "reading_options"]

File = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, gzip or Parquet file; - for standard input; example:double_mode_cepheid, "
        "example:electricity_demand or example:sunspots for data that come with the package."
    ),
]
Time = Annotated[str | None, typer.Option("--time", help="Time column: its name or number.")]
Value = Annotated[str | None, typer.Option("--value", help="Value column: its name or number.")]
Error = Annotated[
    str | None, typer.Option("--error", help="Column with standard errors: its name or number.")
]
Missing = Annotated[str, typer.Option(help="Rows that lack something: drop or error.")]
Duplicates = Annotated[
    str, typer.Option(help="Rows of the same time: mean, first, last, keep or error.")
]
Na = Annotated[
    list[str] | None, typer.Option("--na", help="A further mark of a missing value, as --na=-999.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="comma, semicolon, tab, bar or blanks; found by itself if not given."),
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark: . or ,")]
Skip = Annotated[int, typer.Option(min=0, help="Lines to leave out at the top.")]
TimeFormat = Annotated[
    str,
    typer.Option(
        help="auto, number, julian, iso, epoch-s, epoch-ms, epoch-us, epoch-ns, "
        "or a format such as '%d.%m.%Y %H:%M'."
    ),
]
Timezone = Annotated[
    str | None, typer.Option(help="Zone of dates that name none, such as Europe/Berlin.")
]
Unit = Annotated[
    str | None, typer.Option(help="Unit of the times, such as day; for dates, of the periods.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for scripts.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print more.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]

_DELIMITERS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "bar": "|",
    "pipe": "|",
    "blanks": " ",
    "space": " ",
    "whitespace": " ",
    "\\t": "\t",
}
_DURATION = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\W\d_]*)\s*")
_UNITS = {
    "second": "s sec second seconds",
    "minute": "min minute minutes",
    "hour": "h hr hour hours",
    "day": "d day days",
    "week": "w wk week weeks",
    "year": "y yr year years",
    "millisecond": "ms millisecond milliseconds",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}


def located(file: str) -> str:
    """The path of a file; ``example:NAME`` is a series that comes with the package."""
    if not file.startswith("example:"):
        return file
    from importlib.resources import files

    folder = files("robustfourier.datasets")
    known = sorted(
        path.name.removesuffix(".csv") for path in folder.iterdir() if path.name.endswith(".csv")
    )
    name = file.removeprefix("example:")
    if name not in known:
        raise InputError(f"{file!r}: there are {', '.join(f'example:{word}' for word in known)}")
    return str(folder / f"{name}.csv")


def level_of(quiet: bool, verbose: bool) -> int:
    """Level of a `Console`."""
    return -1 if quiet else int(verbose)


def reading_options(**given: Any) -> dict[str, Any]:
    """Options for `read_samples`, without those left at their default."""
    mark = given.get("delimiter")
    if mark is not None:
        given["delimiter"] = _DELIMITERS.get(mark.strip().lower() or " ", mark)
        if given["delimiter"] not in _DELIMITERS.values():
            raise InputError(f"--delimiter {mark!r} must be comma, semicolon, tab, bar or blanks")
    if given.get("decimal") not in (None, ".", ","):
        raise InputError(f"--decimal {given['decimal']!r} must be . or ,")
    for name, allowed in (
        ("missing", ("drop", "error")),
        ("duplicates", ("mean", "first", "last", "keep", "error")),
    ):
        if given.get(name) is not None and given[name] not in allowed:
            raise InputError(f"--{name} {given[name]!r} must be one of {', '.join(allowed)}")
    if unit := given.get("unit"):
        given["unit"] = _UNIT_OF.get(unit.strip().lower(), unit.strip())
    given["na"] = tuple(given.get("na") or ())
    defaults = {
        "na": (),
        "missing": "drop",
        "duplicates": "mean",
        "skip": 0,
        "time_format": "auto",
    }
    return {k: v for k, v in given.items() if v is not None and v != defaults.get(k)}


def duration(text: str, unit: str, option: str) -> float:
    """A length of time in `unit`: "12h", "30 min", or a plain number in `unit` itself.

    Examples
    --------
    >>> duration("12h", "day", "--every"), duration("0.25", "", "--every")
    (0.5, 0.25)
    """
    from robustfourier.wording import SECONDS

    match = _DURATION.fullmatch(text)
    if match is None or not (0 < float(match[1]) < math.inf):
        raise InputError(f"{option} {text!r}: give a positive length such as 12h, 30min or 0.5")
    number, word = float(match[1]), match[2].lower()
    if not word or word == unit:
        return number
    if word not in _UNIT_OF:
        raise InputError(f"{option} {text!r}: {word!r} is no unit; use s, min, h, d, week or year")
    if unit not in SECONDS:
        raise InputError(f"{option} {text!r}: the times have no known unit; give a plain number")
    return number * SECONDS[_UNIT_OF[word]] / SECONDS[unit]


def instant(text: str, dates: bool, timezone: str | None, option: str) -> Any:
    """A time as a model takes it: a number, or a date with the model's zone.

    Examples
    --------
    >>> instant("2.5", False, None, "--from")
    2.5
    """
    if not dates:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{option} {text!r}: the model's times are numbers; give one")
        return number
    import pandas as pd

    try:
        stamp: Any = pd.Timestamp(text)
    except (ValueError, OverflowError):
        stamp = pd.NaT
    if stamp is pd.NaT:
        raise InputError(f"{option} {text!r}: give a date such as 2024-06-01 or 2024-06-01T12:00")
    if timezone is None:
        return (
            stamp.tz_localize(None)
            if stamp.tzinfo is None
            else stamp.tz_convert("UTC").tz_localize(None)
        )
    return stamp.tz_localize(timezone) if stamp.tzinfo is None else stamp.tz_convert(timezone)
