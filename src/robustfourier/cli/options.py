"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from robustfourier.cli import help_groups as groups
from robustfourier.cli.console import Console
from robustfourier.errors import InputError, require_choice
from robustfourier.fit_config import FitConfig
from robustfourier.formatting import unit_called

_SOURCES = (
    "- for standard input; example:double_mode_cepheid, example:electricity_demand or "
    "example:sunspots for data that come with the package."
)
_KINDS = "text table, Excel, JSON, Parquet, FITS, netCDF, MATLAB, WAV, …"
File = Annotated[str, typer.Argument(help=f"A file ({_KINDS}); {_SOURCES}")]


def named(files: list) -> list:  # type: ignore[type-arg]
    """Refuse an empty name, which would mean the folder one is in: a variable was not set.

    typer looks for classes among the types of a callback, and Python 3.10 takes ``list[str]``
    for one.
    """
    if "" in files:
        raise InputError("the name of a file is empty; give a path, or . for this folder")
    return files


Files = Annotated[
    list[str],
    typer.Argument(callback=named, help=f"Files ({_KINDS}); {_SOURCES}"),
]
Time = Annotated[
    str | None, groups.reading("--time", metavar="COLUMN", help="Time column, by name or number.")
]
TimeFormat = Annotated[
    str,
    groups.reading(metavar="FORMAT", help="number, julian, iso, epoch-s, '%d.%m.%Y', … or auto."),
]
Timezone = Annotated[
    str | None, groups.reading(metavar="ZONE", help="Zone of dates that name none: Europe/Berlin.")
]
Sheet = Annotated[
    str | None, groups.reading(metavar="NAME", help="Sheet of a workbook, table of a FITS file.")
]
Missing = Annotated[
    str, groups.reading(metavar="WORD", help="Rows that lack a value: drop (usual) or error.")
]
Decimal = Annotated[str | None, groups.reading(metavar="MARK", help="Decimal mark: . or ,")]
Skip = Annotated[int, groups.reading(metavar="LINES", min=0, help="Lines to leave out at the top.")]
Rate = Annotated[
    float | None,
    groups.reading(metavar="HZ", help="Samples per second where no column holds times."),
]
Json = Annotated[bool, groups.output("--json", help="Print one JSON document for scripts.")]
Quiet = Annotated[bool, groups.output("-q", "--quiet", help="Print errors only.")]
Verbose = Annotated[bool, groups.output("-v", "--verbose", help="Print notes and seconds, too.")]
Seed = Annotated[int, groups.model(metavar="NUMBER", help="Seed of all random choices (0).")]
FalseAlarm = Annotated[
    float, groups.search(metavar="P", help="False-alarm probability of noise alone (0.01).")
]
Loss = Annotated[
    str, groups.model(metavar="WORD", help="huber (robust to outliers), squared or auto.")
]
Scale = Annotated[
    str, groups.model(metavar="WORD", help="linear (parts add), log (they multiply) or auto.")
]

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


def console_of(as_json: Json = False, quiet: Quiet = False, verbose: Verbose = False) -> Console:
    """Where the answer goes."""
    return Console(-1 if quiet else int(verbose), as_json)


def reading_options(
    time: Time = None,
    value: Annotated[
        list[str] | None,
        groups.reading(metavar="COLUMN", help="Value column; in fit also several (a,b), or all."),
    ] = None,
    error: Annotated[
        str | None, groups.reading(metavar="COLUMN", help="Column with standard errors.")
    ] = None,
    by: Annotated[
        list[str] | None,
        groups.reading(metavar="COLUMN=X", help="One series of a long table; COLUMN alone: each."),
    ] = None,
    missing: Missing = "drop",
    duplicates: Annotated[
        str | None,
        groups.reading(metavar="WORD", help="Rows of one time: mean, first, last, keep or error."),
    ] = None,
    na: Annotated[
        list[str] | None,
        groups.reading("--na", metavar="MARK", help="A mark of missing values, as --na=-999."),
    ] = None,
    delimiter: Annotated[
        str | None,
        groups.reading(metavar="WORD", help="comma, semicolon, tab, bar or blanks."),
    ] = None,
    decimal: Decimal = None,
    skip: Skip = 0,
    sheet: Sheet = None,
    rate: Rate = None,
    time_format: TimeFormat = "auto",
    timezone: Timezone = None,
    unit: Annotated[
        str | None, groups.reading(metavar="UNIT", help="Unit of times, as day; of dates' periods.")
    ] = None,
) -> dict[str, Any]:
    """Options for `read_samples`, without those left at their default."""
    delimiter = _delimiter_called(delimiter)
    if decimal not in (None, ".", ","):
        raise InputError(f"--decimal {decimal!r} must be . or ,")
    if unit is not None and not unit.isprintable():
        raise InputError(f"--unit {unit!r} must be a word, such as day")
    if rate is not None and not 0.0 < rate < math.inf:
        raise InputError(f"--rate {rate}: give samples per second, such as --rate 20000")
    require_choice("--missing", missing, ("drop", "error"))
    require_choice("--duplicates", duplicates or "mean", ("mean", "first", "last", "keep", "error"))
    given = {
        **{
            "time": time,
            "value": ",".join(value or ()) or None,
            "error": error,
            "by": tuple(by or ()),
            "missing": missing,
        },
        **{"duplicates": duplicates, "na": tuple(na or ()), "delimiter": delimiter, "skip": skip},
        **{"decimal": decimal, "time_format": time_format, "timezone": timezone},
        **{"unit": unit and (unit_called(unit) or unit.strip()), "sheet": sheet, "rate": rate},
    }
    usual = {"by": (), "na": (), "missing": "drop", "skip": 0, "time_format": "auto"}
    return {k: v for k, v in given.items() if v is not None and v != usual.get(k)}


def _delimiter_called(word: str | None) -> str | None:
    """The delimiter that a word or the mark itself means."""
    if word is None:
        return None
    mark = _DELIMITERS.get(word.strip().lower() or " ", word)
    if mark not in _DELIMITERS.values():
        raise InputError(f"--delimiter {word!r} must be comma, semicolon, tab, bar or blanks")
    return mark


def config_of(
    false_alarm: FalseAlarm = 0.01,
    loss: Loss = "auto",
    scale: Scale = "auto",
    shortest_period: Annotated[
        str | None, groups.search(metavar="PERIOD", help="Shortest period to search, as 30min.")
    ] = None,
    longest_period: Annotated[
        str | None, groups.search(metavar="PERIOD", help="Longest period to search, as 1year.")
    ] = None,
    period: Annotated[
        list[str] | None, groups.search(metavar="PERIOD", help="A known period; may be repeated.")
    ] = None,
    without: Annotated[
        list[str] | None, groups.search(metavar="PERIOD", help="A period that is not searched.")
    ] = None,
    split: Annotated[
        list[str] | None, groups.model(metavar="PERIOD", help="Split a pattern into its lines.")
    ] = None,
    merge: Annotated[
        list[str] | None, groups.model(metavar="A+B", help="Two patterns made one, as 24h+12h.")
    ] = None,
    seed: Seed = 0,
) -> FitConfig:
    """What the options ask of a fit of the mixture."""
    return FitConfig(
        false_alarm=false_alarm,
        loss=loss,
        scale=scale,
        shortest_period=shortest_period,
        longest_period=longest_period,
        period=tuple(period or ()),
        without=tuple(without or ()),
        split=tuple(split or ()),
        merge=tuple(merge or ()),
        seed=seed,
    )


@dataclass(frozen=True)
class Ahead:
    """What is asked of a forecast: other columns, holidays, and how far it goes."""

    columns: tuple[str, ...] = ()
    holidays: str | None = None
    horizon: int | str | None = None

    def refused_if(self, other: bool) -> None:
        """Refuse it for many series, for those larger than memory, and for networks."""
        if other and self != Ahead():
            raise InputError(
                "--with, --holidays and --horizon go with one series that fits into memory, and "
                "with --method mixture"
            )

    def with_holidays(self, parameters: Any) -> Any:
        """Return parameters of the mixture, or the function of the samples that makes them."""
        if self.holidays is None:
            return parameters
        if callable(parameters):
            return lambda samples: {**parameters(samples), "holidays": self.holidays}
        return {**parameters, "holidays": self.holidays}


def ahead_of(
    columns: Annotated[
        str | None,
        groups.model("--with", metavar="COLUMNS", help="Other columns in the fit: temp,price."),
    ] = None,
    holidays: Annotated[
        str | None,
        groups.model(metavar="COUNTRY", help="Public holidays in the fit, such as DE."),
    ] = None,
    horizon: Annotated[
        str | None,
        groups.output(metavar="LENGTH", help="How far to forecast: 48 (steps) or 2weeks."),
    ] = None,
) -> Ahead:
    """Options of a forecast."""
    names = tuple(part.strip() for part in (columns or "").split(",") if part.strip())
    if horizon is not None and names:
        raise InputError(
            f"--horizon {horizon} needs {', '.join(names)} after the record; fit without it, then "
            "robustfourier predict FOLDER --at FILE with these columns"
        )
    steps = None if horizon is None else horizon.strip()
    return Ahead(names, holidays, int(steps) if steps and steps.isdigit() else steps)


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn `reading`, `config`, `ahead` and `console` of a command into options of it."""
    makers: dict[str, Callable[..., Any]] = {
        "reading": reading_options,
        "config": config_of,
        "ahead": ahead_of,
        "console": console_of,
    }
    parameters: list[inspect.Parameter] = []
    options: dict[str, list[str]] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if name in makers:
            made_from = inspect.signature(makers[name], eval_str=True).parameters
            options[name] = list(made_from)
            parameters += made_from.values()
        else:
            parameters.append(parameter)
    ordered = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: makers[name](**{option: given.pop(option) for option in names})
            for name, names in options.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    return run


def instant(text: str, dates: bool, timezone: str | None, option: str, end: bool = False) -> Any:
    """A time as a model takes it: a number, or a date with the model's zone.

    A month or a year, such as 2024-12, is its last instant if `end`, else its first.

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
    if end and re.fullmatch(r"\d{4}(-\d{1,2})?", text.strip()):
        stamp = pd.Period(text.strip()).end_time.floor("s")
    if timezone is None:
        return stamp if stamp.tzinfo is None else stamp.tz_convert("UTC").tz_localize(None)
    if stamp.tzinfo is not None:
        return stamp.tz_convert(timezone)
    local = stamp.tz_localize(timezone, ambiguous="NaT", nonexistent="NaT")
    if local is pd.NaT:
        raise InputError(
            f"{option} {text!r}: does not exist or occurs twice in {timezone}, where clocks are "
            "changed; give the offset too, such as +01:00"
        )
    return local
