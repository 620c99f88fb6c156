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

from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.fit_config import Asked, one_of
from robustfourier.formatting import unit_called

_SOURCES = (
    "- for standard input; example:double_mode_cepheid, example:electricity_demand or "
    "example:sunspots for data that come with the package."
)
_KINDS = "text table, Excel, JSON, Parquet, FITS, netCDF, MATLAB, WAV, …"
File = Annotated[str, typer.Argument(help=f"A file ({_KINDS}); {_SOURCES}")]


def named(files: list) -> list:
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
Time = Annotated[str | None, typer.Option("--time", help="Time column: its name or number.")]
TimeFormat = Annotated[
    str,
    typer.Option(
        help="auto, number, julian, excel, iso, epoch-s, epoch-ms, epoch-us, epoch-ns, "
        "or a format such as '%d.%m.%Y %H:%M'."
    ),
]
Timezone = Annotated[
    str | None, typer.Option(help="Zone of dates that name none, such as Europe/Berlin.")
]
Sheet = Annotated[
    str | None, typer.Option(help="Sheet of a workbook or table of a FITS file: name or number.")
]
Rate = Annotated[
    float | None,
    typer.Option(help="Samples per second, such as 20000, where no column holds times."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for scripts.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print more.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
FalseAlarm = Annotated[
    float, typer.Option(help="How often noise alone may pass for a mode: false-alarm probability.")
]
Loss = Annotated[
    str, typer.Option(help="huber pulls outliers in, squared does not; auto lets the data decide.")
]
Scale = Annotated[
    str, typer.Option(help="log where patterns multiply, linear where they add, or auto.")
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
        typer.Option(help="Value column: its name or number; fit takes several (a,b) or all too."),
    ] = None,
    error: Annotated[
        str | None, typer.Option(help="Column with standard errors: its name or number.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="One series of a long table, as sensor=A; in fit, sensor alone: each."),
    ] = None,
    missing: Annotated[str, typer.Option(help="Rows that lack something: drop or error.")] = "drop",
    duplicates: Annotated[
        str | None,
        typer.Option(help="Rows of the same time: mean (usually), first, last, keep or error."),
    ] = None,
    na: Annotated[
        list[str] | None,
        typer.Option("--na", help="A further mark of a missing value, as --na=-999."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="comma, semicolon, tab, bar or blanks; found by itself if not given."),
    ] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal mark: . or ,")] = None,
    skip: Annotated[int, typer.Option(min=0, help="Lines to leave out at the top.")] = 0,
    sheet: Sheet = None,
    rate: Rate = None,
    time_format: TimeFormat = "auto",
    timezone: Timezone = None,
    unit: Annotated[
        str | None, typer.Option(help="Unit of the times, such as day; for dates, of the periods.")
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
    one_of("--missing", missing, ("drop", "error"))
    one_of("--duplicates", duplicates or "mean", ("mean", "first", "last", "keep", "error"))
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


def asked_of(
    false_alarm: FalseAlarm = 0.01,
    loss: Loss = "auto",
    scale: Scale = "auto",
    shortest_period: Annotated[
        str | None, typer.Option(help="Shortest period to search, such as 30min or 0.5.")
    ] = None,
    longest_period: Annotated[
        str | None, typer.Option(help="Longest period to search, such as 1year or 30.")
    ] = None,
    period: Annotated[
        list[str] | None, typer.Option(help="A period known to be there; may be given repeatedly.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A period at which nothing is to be found.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Period of a pattern to be taken apart into its lines.")
    ] = None,
    merge: Annotated[
        list[str] | None, typer.Option(help="Two patterns that are to be one, as 24h+12h.")
    ] = None,
    seed: Seed = 0,
) -> Asked:
    """What is asked of a fit of the mixture."""
    return Asked(
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
        typer.Option("--with", help="Other columns that are part of the fit, such as temp,price."),
    ] = None,
    holidays: Annotated[
        str | None,
        typer.Option(help="Country whose public holidays are part of the fit, such as DE."),
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option(help="How far to forecast, in steps (48) or as a length (2weeks)."),
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
    """Turn `reading`, `asked`, `ahead` and `console` of a command into options of it."""
    makers: dict[str, Callable[..., Any]] = {
        "reading": reading_options,
        "asked": asked_of,
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
