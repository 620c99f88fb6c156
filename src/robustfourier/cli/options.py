"""Options that several commands share, and how their text is read."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Annotated, Any

import typer

from robustfourier.cli import help_groups as groups
from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.fit_config import FitConfig, delimiter_called, flag_of
from robustfourier.formatting import unit_called

_SOURCES = (
    "- for standard input; example:double_mode_cepheid, example:electricity_demand or "
    "example:sunspots for data that come with the package."
)
_KINDS = "text table, Excel, JSON, Parquet, FITS, netCDF, MATLAB, WAV, …"
File = Annotated[str, typer.Argument(help=f"A file ({_KINDS}); {_SOURCES}")]
Texts = list[str] | None
Text = str | None


def nonempty(files: list) -> list:  # type: ignore[type-arg]
    """Refuse an empty name, which would mean the folder one is in: a variable was not set.

    typer looks for classes among the types of a callback, and Python 3.10 takes ``list[str]``
    for one.
    """
    if "" in files:
        raise InputError("the name of a file is empty; give a path, or . for this folder")
    return files


Files = Annotated[
    list[str], typer.Argument(callback=nonempty, help=f"Files ({_KINDS}); {_SOURCES}")
]
#: Options of more than one command.
TIME = groups.reading(None, "COLUMN", "Time column, by name or number.")
TIME_FORMAT = groups.reading(
    "auto", "FORMAT", "number, julian, iso, epoch-s, '%d.%m.%Y', … or auto."
)
TIMEZONE = groups.reading(None, "ZONE", "Zone of dates that name none: Europe/Berlin.")
OVERWRITE = groups.flag(groups.OUTPUT, "Replace another result in the folder.", "--overwrite")


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
    given["value"] = ",".join(value or ()) or None
    given["delimiter"] = None if delimiter is None else delimiter_called("--delimiter", delimiter)
    given |= {"by": tuple(by or ()), "na": tuple(na or ())}
    given |= {"unit": unit and (unit_called(unit) or unit.strip())}
    usual = {"by": (), "na": (), "missing": "drop", "skip": 0, "time_format": "auto"}
    made = {k: v for k, v in given.items() if v is not None and v != usual.get(k)}
    ReadOptions(**made)  # checks them, before what takes seconds
    return made


def series_options(reading: dict[str, Any]) -> dict[str, Any]:
    """`by`, `value` (one, "all" or several) and `reading` of what takes many series of a table."""
    rest = {name: given for name, given in reading.items() if name not in ("by", "value")}
    by, value = reading.get("by", ()), reading.get("value")
    if len(by) > 1 or any("=" in text for text in by):
        raise InputError(
            "--by: give the one column that tells series apart, as --by sensor; one series alone "
            "is for fit, as --by sensor=A"
        )
    values = [part.strip() for part in (value or "").split(",") if part.strip()] or None
    every = {"by": by[0] if by else None, "value": "all" if value == "all" else values}
    return {**every, "reading": rest}


def config_options(*names: str) -> Callable[..., FitConfig]:
    """What makes a `FitConfig` of its options, or of some of them."""
    shown = [field for field in fields(FitConfig) if not names or field.name in names]

    def made(**given: Any) -> FitConfig:
        if "columns" in given:
            parts = (part.strip() for part in (given["columns"] or "").split(","))
            given["columns"] = [part for part in parts if part]
        for field in shown:
            if field.default == ():
                given[field.name] = tuple(given[field.name] or ())
        return FitConfig(**given)

    made.__signature__ = inspect.Signature([_parameter(field) for field in shown])  # type: ignore[attr-defined]
    return made


def _parameter(field: Field[Any]) -> inspect.Parameter:
    """The option of a field of `FitConfig`; one with several values may be repeated."""
    kind: Any = type(field.default)
    if field.default is None or field.name == "columns":
        kind = Text
    elif field.default == ():
        kind = Texts
    about, flag = field.metadata, flag_of(field.name)
    default = None if field.default == () else field.default
    option = groups.option(default, about["metavar"], about["words"], flag, group=about["group"])
    name, kw = field.name, inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kw, default=option, annotation=kind)


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


_MAKERS: dict[str, Callable[..., Any]] = {
    "reading": reading_options,
    "config": config_options(),
    "survey_config": config_options("false_alarm", "loss", "scale", "period", "seed"),
    "search_config": config_options("false_alarm", "seed"),
    "machine": machine_of,
    "horizon": horizon_of,
    "console": console_of,
}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn those parameters of a command that `_MAKERS` knows into the options they are made of."""
    parameters: list[inspect.Parameter] = []
    options: dict[str, list[str]] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if name in _MAKERS:
            made_from = inspect.signature(_MAKERS[name], eval_str=True).parameters
            options[name] = list(made_from)
            parameters += made_from.values()
        else:
            parameters.append(parameter)
    ordered = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: _MAKERS[name](**{option: given.pop(option) for option in names})
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
