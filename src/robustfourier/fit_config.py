"""`FitConfig`: what a user asks of a fit of the mixture, checked once.

The command line, the app and `PeriodicMixture` make one; the first two write their lengths of time
as texts, which become numbers when the record and its unit are known.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import InitVar, dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any

from robustfourier.errors import InputError, named, require_choice
from robustfourier.formatting import duration

if TYPE_CHECKING:
    from robustfourier.samples import Samples

_MOST_CYCLES = 2_000_000  # in the record: a periodogram of more would not fit into memory
_LEAST_CYCLES = 1e-3  # one that is longer than a thousand records is a level
_TEXT = 200  # characters of one text of a request
_MANY = 50  # entries of one list of a request


#: Fields with a few possible words.
_CHOICES = {"loss": ("auto", "squared", "huber"), "scale": ("auto", "linear", "log")}


@dataclass(frozen=True)
class FitConfig:
    """Options of a fit of the mixture; lengths of time are texts such as "12h" or "0.5".

    Parameters
    ----------
    false_alarm : float
        False-alarm probability of a mode.
    loss : {"auto", "squared", "huber"}
    scale : {"auto", "linear", "log"}
    shortest_period : str, optional
        Shortest period to search.
    longest_period : str, optional
        Longest period to search.
    period : tuple of str
        Periods that are known to be there.
    without : tuple of str
        Periods at which no line is taken.
    split : tuple of str
        Periods of patterns to be taken apart.
    merge : tuple of str
        Pairs of periods of patterns that are to be one, such as "24h+12h".
    seed : int
        Seed of all random choices.
    columns : tuple of str
        Other columns of the file that are part of the fit.
    holidays : str, optional
        A country whose public holidays are part of the fit, such as "DE".
    options : bool
        Whether errors name options of the command line, or arguments of Python.

    Examples
    --------
    >>> FitConfig(false_alarm=0.001, period=("12h",)).words()
    ['--false-alarm', '0.001', '--period', '12h']
    """

    false_alarm: float = 0.01
    loss: str = "auto"
    scale: str = "auto"
    shortest_period: str | None = None
    longest_period: str | None = None
    period: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    merge: tuple[str, ...] = ()
    seed: int = 0
    columns: tuple[str, ...] = ()
    holidays: str | None = None

    options: InitVar[bool] = True

    def __post_init__(self, options: bool) -> None:
        for name, choices in _CHOICES.items():
            require_choice(_option(name) if options else name, getattr(self, name), choices)
        if not (is_positive(self.false_alarm) and self.false_alarm < 1):
            called = named(_option("false_alarm") if options else "false_alarm", self.false_alarm)
            raise InputError(f"{called} must lie between 0 and 1; the default is 0.01")

    @classmethod
    def of(cls, given: dict[str, Any]) -> FitConfig:
        """Return what a dict of fields says, in which lists stand for tuples.

        Whoever wrote it is not trusted: names, kinds and lengths of texts are checked.
        """
        usual: dict[str, Any] = {field.name: field.default for field in fields(cls)}
        for name, value in given.items():
            if name not in usual:
                raise InputError(f"asked has {name!r}, which is no option here")
            if isinstance(usual[name], tuple):
                if not isinstance(value, list) or len(value) > _MANY or not all(map(_short, value)):
                    raise InputError(f"{name}={value!r} must be a list of short texts")
            elif isinstance(usual[name], (int, float)):
                if not (is_positive(value) or value == 0) or value > 2**31:
                    raise InputError(f"{name}={value!r} must be a number from 0 to {2**31}")
            elif not _short(value):
                raise InputError(f"{name}={value!r} must be a short text")
        kinds = {name: str if value is None else type(value) for name, value in usual.items()}
        made: dict[str, Any] = {name: kinds[name](value) for name, value in given.items()}
        return cls(**made, options=False)

    @property
    def names_periods(self) -> bool:
        """Whether lengths of time are asked for, which only a record's unit gives a meaning."""
        lengths = (self.shortest_period, self.longest_period)
        return lengths != (None, None) or any((self.period, self.without, self.split, self.merge))

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
        if not self.names_periods:
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
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                value = ",".join(value) if field.name == "columns" else value
                several = value if isinstance(value, tuple) else (value,)
                words += [word for one in several for word in (_option(field.name), str(one))]
        return words

    def command(self, file: str, reading: dict[str, Any]) -> str:
        """Return the command line of the whole fit."""
        words = ["robustfourier", "fit", file, *reading_words(reading), *self.words()]
        return shlex.join(words)

    def python(self, file: str, reading: dict[str, Any], samples: Samples) -> str:
        """Return the Python lines of the whole fit."""
        usual, given = FitConfig().parameters(samples), self.parameters(samples)
        chosen = ", ".join(f"{k}={v!r}" for k, v in given.items() if usual.get(k) != v)
        lines = [
            "from robustfourier import PeriodicMixture, read_samples",
            "",
            f"samples = read_samples({_arguments(file, reading)})",
            f"model = PeriodicMixture({chosen}).fit(samples)",
            "print(model.summary())",
        ]
        if self.columns:
            lines.insert(1, "from robustfourier.analysis import read_regressors")
            others = _arguments(file, {"names": self.columns, **reading})
            lines.insert(4, f"others = read_regressors(samples, {others})")
            lines[5] = lines[5].replace("(samples)", "(samples, regressors=others)")
        return "\n".join(lines)


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


def reading_words(reading: dict[str, Any]) -> list[str]:
    """Return the options of the command line that say how to read a file."""
    return [
        f"--{name.replace('_', '-')}={one}"
        for name, value in reading.items()
        for one in (value if isinstance(value, (tuple, list)) else (value,))
    ]


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


def _option(name: str) -> str:
    return "--with" if name == "columns" else f"--{name.replace('_', '-')}"


def _short(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= _TEXT
