"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer

from robustfourier.cli import help_groups as groups
from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.fit_config import FitConfig
from robustfourier.formatting import unit_called

_SOURCES = (
    "- for standard input; example:double_mode_cepheid, example:electricity_demand or "
    "example:sunspots for data that come with the package."
)
_KINDS = "text table, Excel, JSON, Parquet, FITS, netCDF, MATLAB, WAV, …"
File = Annotated[str, typer.Argument(help=f"A file ({_KINDS}); {_SOURCES}")]
Texts = list[str] | None
Text = str | None


def named(files: list) -> list:  # type: ignore[type-arg]
    """Refuse an empty name, which would mean the folder one is in: a variable was not set.

    typer looks for classes among the types of a callback, and Python 3.10 takes ``list[str]``
    for one.
    """
    if "" in files:
        raise InputError("the name of a file is empty; give a path, or . for this folder")
    return files


Files = Annotated[list[str], typer.Argument(callback=named, help=f"Files ({_KINDS}); {_SOURCES}")]
#: Options of more than one command.
TIME = groups.reading(None, "COLUMN", "Time column, by name or number.")
TIME_FORMAT = groups.reading(
    "auto", "FORMAT", "number, julian, iso, epoch-s, '%d.%m.%Y', … or auto."
)
TIMEZONE = groups.reading(None, "ZONE", "Zone of dates that name none: Europe/Berlin.")
SEED = groups.model(0, "NUMBER", "Seed of all random choices (0).")
FALSE_ALARM = groups.search(0.01, "P", "False-alarm probability of noise alone (0.01).")
LOSS = groups.model("auto", "WORD", "huber (robust to outliers), squared or auto.")
SCALE = groups.model("auto", "WORD", "linear (parts add), log (they multiply) or auto.")

_DELIMITERS = {
    **{"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|"},
    **{"blanks": " ", "space": " ", "whitespace": " "},
}


def located(file: str) -> str:
    """The path of a file; ``example:NAME`` is a series that comes with the package."""
    if not file.startswith("example:"):
        return file
    from importlib.resources import files

    folder = files("robustfourier.datasets")
    names = sorted(path.name for path in folder.iterdir() if path.name.endswith(".csv"))
    name = f"{file.removeprefix('example:')}.csv"
    if name not in names:
        known = ", ".join(f"example:{each.removesuffix('.csv')}" for each in names)
        raise InputError(f"{file!r}: there are {known}")
    return str(folder / name)


def console_of(
    as_json: bool = groups.flag(groups.OUTPUT, "Print one JSON document for scripts.", "--json"),
    quiet: bool = groups.flag(groups.OUTPUT, "Print errors only.", "-q", "--quiet"),
    verbose: bool = groups.flag(groups.OUTPUT, "Print notes and seconds, too.", "-v", "--verbose"),
) -> Console:
    """Where the answer goes."""
    return Console(-1 if quiet else int(verbose), as_json)


def reading_options(
    time: Text = TIME,
    value: Texts = groups.reading(
        None, "COLUMN", "Value column; in fit also several (a,b), or all."
    ),
    error: Text = groups.reading(None, "COLUMN", "Column with standard errors."),
    by: Texts = groups.reading(None, "COLUMN=X", "One series of a long table; COLUMN alone: each."),
    missing: str = groups.reading("drop", "WORD", "Rows that lack a value: drop (usual) or error."),
    duplicates: Text = groups.reading(
        None, "WORD", "Rows of one time: mean, first, last, keep or error."
    ),
    na: Texts = groups.reading(None, "MARK", "A mark of missing values, as --na=-999."),
    delimiter: Text = groups.reading(None, "WORD", "comma, semicolon, tab, bar or blanks."),
    decimal: Text = groups.reading(None, "MARK", "Decimal mark: . or ,"),
    skip: int = groups.reading(0, "LINES", "Lines to leave out at the top.", min=0),
    sheet: Text = groups.reading(None, "NAME", "Sheet of a workbook, table of a FITS file."),
    rate: float | None = groups.reading(
        None, "HZ", "Samples per second where no column holds times."
    ),
    time_format: str = TIME_FORMAT,
    timezone: Text = TIMEZONE,
    unit: Text = groups.reading(None, "UNIT", "Unit of times, as day; of dates' periods."),
) -> dict[str, Any]:
    """Options for `read_samples`, without those left at their default."""
    given = locals()
    from robustfourier.samples import ReadOptions

    if unit is not None and not unit.isprintable():
        raise InputError(f"--unit {unit!r} must be a word, such as day")
    given |= {"value": ",".join(value or ()) or None, "delimiter": _delimiter_called(delimiter)}
    given |= {"by": tuple(by or ()), "na": tuple(na or ())}
    given |= {"unit": unit and (unit_called(unit) or unit.strip())}
    usual = {"by": (), "na": (), "missing": "drop", "skip": 0, "time_format": "auto"}
    made = {k: v for k, v in given.items() if v is not None and v != usual.get(k)}
    ReadOptions(**made)  # checks them, before what takes seconds
    return made


def _delimiter_called(word: str | None) -> str | None:
    """The delimiter that a word or the mark itself means."""
    if word is None:
        return None
    mark = _DELIMITERS.get(word.strip().lower() or " ", word)
    if mark not in _DELIMITERS.values():
        raise InputError(f"--delimiter {word!r} must be comma, semicolon, tab, bar or blanks")
    return mark


def config_of(
    false_alarm: float = FALSE_ALARM,
    loss: str = LOSS,
    scale: str = SCALE,
    shortest_period: Text = groups.search(None, "PERIOD", "Shortest period to search, as 30min."),
    longest_period: Text = groups.search(None, "PERIOD", "Longest period to search, as 1year."),
    period: Texts = groups.search(None, "PERIOD", "A known period; may be repeated."),
    without: Texts = groups.search(None, "PERIOD", "A period that is not searched."),
    split: Texts = groups.model(None, "PERIOD", "Split a pattern into its lines."),
    merge: Texts = groups.model(None, "A+B", "Two patterns made one, as 24h+12h."),
    columns: Text = groups.model(
        None, "COLUMNS", "Other columns in the fit: temp,price.", "--with"
    ),
    holidays: Text = groups.model(None, "COUNTRY", "Public holidays in the fit, such as DE."),
    seed: int = SEED,
) -> FitConfig:
    """What the options ask of a fit of the mixture."""
    return FitConfig(
        *(false_alarm, loss, scale, shortest_period, longest_period),
        period=tuple(period or ()),
        without=tuple(without or ()),
        split=tuple(split or ()),
        merge=tuple(merge or ()),
        columns=tuple(part.strip() for part in (columns or "").split(",") if part.strip()),
        holidays=holidays,
        seed=seed,
    )


def horizon_of(
    horizon: Text = groups.output(None, "LENGTH", "How far to forecast: 48 (steps) or 2weeks."),
) -> int | str | None:
    """How far a forecast goes: a number of steps, or a length of time."""
    steps = None if horizon is None else horizon.strip()
    return int(steps) if steps and steps.isdigit() else steps


def machine_of(
    shaft: float | None = groups.machines(None, "HZ", "Frequency of a shaft, which names lines."),
    bearing: Text = groups.machines(None, "N,D,P", "Elements, diameter, pitch[, angle]."),
    teeth: int | None = groups.machines(None, "COUNT", "Teeth of a gear on that shaft.", min=2),
) -> Any:
    """What turns; nothing is loaded where nothing does."""
    if (shaft, bearing, teeth) == (None, None, None):
        return None
    from robustfourier.fields import Machine

    return Machine.of(shaft, bearing, teeth)


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn `reading`, `config`, `machine`, `horizon` and `console` of a command into options."""
    makers: dict[str, Callable[..., Any]] = {"reading": reading_options, "config": config_of}
    makers |= {"machine": machine_of, "horizon": horizon_of, "console": console_of}
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
