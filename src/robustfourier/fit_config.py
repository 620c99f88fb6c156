"""`FitConfig`: what a user asks of a fit of the mixture, checked once.

The command line, the app and `PeriodicMixture` make one; the first two write their lengths of time
as texts, which become numbers when the record and its unit are known.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, fields
from numbers import Real
from typing import TYPE_CHECKING, Any

from robustfourier.errors import (
    InputError,
    named,
    require_choice,
    require_number,
    require_text,
    require_texts,
)
from robustfourier.formatting import SECONDS, unit_called

if TYPE_CHECKING:
    from robustfourier.samples import Samples

_MOST_CYCLES = 2_000_000  # in the record: a periodogram of more would not fit into memory
_LEAST_CYCLES = 1e-3  # one that is longer than a thousand records is a level
_DELIMITERS = {
    **{"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|"},
    **{"blanks": " ", "space": " ", "whitespace": " "},
}
_DURATION = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\W\d_]*)\s*")


#: Fields with a few possible words.
_CHOICES = {"loss": ("auto", "squared", "huber"), "scale": ("auto", "linear", "log")}


def _option(default: Any, metavar: str, words: str, group: str, page: str = "") -> Any:
    """A field with its option in ``--help``, and what the app calls it."""
    shown = {"metavar": metavar, "words": words, "group": group, "page": page}
    return field(default=default, metadata=shown)


@dataclass(frozen=True)
class FitConfig:
    """Options of a fit of the mixture; lengths of time are texts such as "12h" or "0.5".

    Each field holds what the command line and the app say of it. With `options`, errors name
    options of the command line; else arguments of Python.

    Examples
    --------
    >>> FitConfig(false_alarm=0.001, period=("12h",)).words()
    ['--false-alarm', '0.001', '--period', '12h']
    """

    false_alarm: float = _option(
        0.01, "P", "False-alarm probability of noise alone (0.01).", "Search", "False alarms"
    )
    loss: str = _option(
        "auto", "WORD", "huber (robust to outliers), squared or auto.", "Model", "Outliers"
    )
    scale: str = _option(
        "auto", "WORD", "linear (parts add), log (they multiply) or auto.", "Model", "Scale"
    )
    shortest_period: str | None = _option(
        None, "PERIOD", "Shortest period to search, as 30min.", "Search", "Shortest"
    )
    longest_period: str | None = _option(
        None, "PERIOD", "Longest period to search, as 1year.", "Search", "Longest"
    )
    period: tuple[str, ...] = _option(
        (), "PERIOD", "A known period; may be repeated.", "Search", "Known periods"
    )
    without: tuple[str, ...] = _option(
        (), "PERIOD", "A period that is not searched.", "Search", "Off"
    )
    split: tuple[str, ...] = _option(
        (), "PERIOD", "Split a pattern into its lines.", "Model", "Split"
    )
    merge: tuple[str, ...] = _option(
        (), "A+B", "Two patterns made one, as 24h+12h.", "Model", "Merge"
    )
    columns: tuple[str, ...] = _option(
        (), "COLUMNS", "Other columns in the fit: temp,price.", "Model", "Other columns"
    )
    holidays: str | None = _option(
        None, "COUNTRY", "Public holidays in the fit, such as DE.", "Model", "Holidays of"
    )
    seed: int = _option(0, "NUMBER", "Seed of all random choices (0).", "Model")

    options: InitVar[bool] = True

    def __post_init__(self, options: bool) -> None:
        for name, choices in _CHOICES.items():
            require_choice(flag_of(name) if options else name, getattr(self, name), choices)
        if not (is_positive(self.false_alarm) and self.false_alarm < 1):
            called = named(flag_of("false_alarm") if options else "false_alarm", self.false_alarm)
            raise InputError(f"{called} must lie between 0 and 1; the default is 0.01")

    @classmethod
    def of(cls, given: dict[str, Any]) -> FitConfig:
        """Return what a dict of fields says, in which lists stand for tuples.

        Whoever wrote it is not trusted: names, kinds and lengths of texts are checked.
        """
        usual: dict[str, Any] = {field.name: field.default for field in fields(cls)}
        made: dict[str, Any] = {}
        for name, value in given.items():
            if name not in usual:
                raise InputError(f"asked has {name!r}, which is no option here")
            if isinstance(usual[name], tuple):
                made[name] = tuple(require_texts(name, value))
            elif isinstance(usual[name], (int, float)):
                made[name] = type(usual[name])(require_number(name, value, 0, 2**31))
            else:
                made[name] = require_text(name, value)
        return cls(**made, options=False)

    @property
    def lengths(self) -> list[tuple[str, str]]:
        """Lengths of time that are asked for, whose unit the record knows, after their options."""
        found = []
        for name in ("shortest_period", "longest_period", "period", "without", "split", "merge"):
            value = getattr(self, name)
            texts = (value,) if isinstance(value, str) else value or ()
            found += [(flag_of(name), part) for text in texts for part in text.split("+")]
        return found

    @property
    def choices(self) -> dict[str, Any]:
        """Parameters of `PeriodicMixture` that need no unit."""
        choices = {"false_alarm": self.false_alarm, "loss": self.loss, "scale": self.scale}
        return {**choices, "random_state": self.seed}

    def parameters(self, samples: Samples) -> dict[str, Any]:
        """Return the parameters of `PeriodicMixture`, with lengths in the record's own unit."""
        made = dict(self.choices)
        if self.holidays is not None:
            made["holidays"] = self.holidays
        if not self.lengths:
            return made
        length = _lengths(samples)
        if self.shortest_period is not None:
            made["max_frequency"] = 1.0 / length(self.shortest_period, "--shortest-period")
        if self.longest_period is not None:
            made["min_frequency"] = 1.0 / length(self.longest_period, "--longest-period")
        named = {"periods": self.period, "without": self.without, "split": self.split}
        for name, texts in named.items():
            if texts:
                option = f"--{name.removesuffix('s')}"
                made[name] = [length(text, option) for text in texts]
        if self.merge:
            made["merge"] = [_pair(text, length) for text in self.merge]
        return made

    def words(self) -> list[str]:
        """Return the options of ``robustfourier fit`` that say the same; defaults are left out."""
        words: list[str] = []
        for one in fields(self):
            value = getattr(self, one.name)
            if value != one.default:
                value = ",".join(value) if one.name == "columns" else value
                several = value if isinstance(value, tuple) else (value,)
                words += [word for text in several for word in (flag_of(one.name), str(text))]
        return words

    def command(self, file: str, reading: dict[str, Any]) -> str:
        """Return the command line of the whole fit."""
        words = ["robustfourier", "fit", file, *reading_words(reading), *self.words()]
        return shlex.join(words)

    def python(self, file: str, reading: dict[str, Any], samples: Samples) -> str:
        """Return the Python lines of the whole fit."""
        usual, given = FitConfig().parameters(samples), self.parameters(samples)
        chosen = ", ".join(f"{k}={v!r}" for k, v in given.items() if usual.get(k) != v)
        imports = ["from robustfourier import PeriodicMixture, read_samples"]
        data, handed = [f"samples = read_samples({_arguments(file, reading)})"], "samples"
        if self.columns:
            imports.append("from robustfourier.analysis import read_regressors")
            others = _arguments(file, {"names": self.columns, **reading})
            data.append(f"others = read_regressors(samples, {others})")
            handed = "samples, regressors=others"
        fit = f"model = PeriodicMixture({chosen}).fit({handed})"
        return "\n".join([*imports, "", *data, fit, "print(model.summary())"])


def is_positive(value: Any) -> bool:
    """Whether a value is a positive finite number."""
    plain = isinstance(value, Real) and not isinstance(value, bool)
    return plain and 0 < float(value) < float("inf")


def require_in_reach(cycles: float, called: str) -> None:
    """Refuse a period with too many or too few cycles in the record, naming what asks for it."""
    if cycles > _MOST_CYCLES:
        raise InputError(
            f"{called}: would fit {cycles:.0e} times into the record; at most {_MOST_CYCLES:,} can "
            "be searched, so give a longer period, or check the unit of time"
        )
    if cycles < _LEAST_CYCLES:
        raise InputError(
            f"{called}: is more than {1 / _LEAST_CYCLES:,.0f} times as long as the record; give a "
            "shorter period, or check the unit of time"
        )


def duration(text: str, unit: str, option: str) -> float:
    """A length of time in `unit`: "12h", "30 min", or a plain number in `unit` itself.

    >>> duration("12h", "day", "--every"), duration("0.25", "", "--every")
    (0.5, 0.25)
    """
    match = _DURATION.fullmatch(text)
    if match is None or not (0 < float(match[1]) < math.inf):
        raise InputError(f"{option} {text!r}: give a positive length such as 12h, 30min or 0.5")
    number, word = float(match[1]), match[2].lower()
    if not word or word == unit:
        return number
    if not (called := unit_called(word)):
        raise InputError(f"{option} {text!r}: {word!r} is no unit; use s, min, h, d, week or year")
    if unit not in SECONDS:
        raise InputError(f"{option} {text!r}: the times have no known unit; give a plain number")
    return number * SECONDS[called] / SECONDS[unit]


def reading_words(reading: dict[str, Any]) -> list[str]:
    """Return the options of the command line that say how to read a file."""
    return [
        f"--{name.replace('_', '-')}={one}"
        for name, value in reading.items()
        for one in (value if isinstance(value, (tuple, list)) else (value,))
    ]


def delimiter_called(name: str, word: str) -> str:
    """Return the delimiter that a word or the mark itself means.

    >>> delimiter_called("--delimiter", "semicolon"), delimiter_called("--delimiter", ";")
    (';', ';')
    """
    mark = _DELIMITERS.get(word.strip().lower() or " ", word)
    if mark not in _DELIMITERS.values():
        raise InputError(f"{named(name, word)} must be comma, semicolon, tab, bar or blanks")
    return mark


def _pair(text: str, length: Callable[[str, str], float]) -> tuple[float, float]:
    parts = text.split("+")
    if len(parts) != 2:
        raise InputError(f"--merge {text!r}: give two periods, such as 24h+12h")
    return length(parts[0], "--merge"), length(parts[1], "--merge")


def _arguments(file: str, reading: dict[str, Any]) -> str:
    return ", ".join([repr(file), *(f"{name}={value!r}" for name, value in reading.items())])


def _lengths(samples: Samples) -> Callable[[str, str], float]:
    """Return what turns a text and the name of its option into a length in the record's unit."""
    from robustfourier.domain import Domain

    span = Domain.from_times(samples.axis, unit=samples.unit or None).span

    def length(text: str, option: str) -> float:
        period = duration(text, samples.unit, option)
        require_in_reach(span / period, named(option, text))
        return period

    return length


def flag_of(name: str) -> str:
    """Return the option of the command line that a field is."""
    return "--with" if name == "columns" else f"--{name.replace('_', '-')}"
