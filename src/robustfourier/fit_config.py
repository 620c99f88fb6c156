"""What a user asks of a fit, in words: the command line and the app say the same with it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from robustfourier.errors import InputError
from robustfourier.formatting import duration

if TYPE_CHECKING:
    from robustfourier.samples import Samples

MOST_CYCLES = 2_000_000  # in the record: a periodogram of more would not fit into memory


@dataclass(frozen=True)
class Asked:
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

    Examples
    --------
    >>> Asked(false_alarm=0.001, period=("12h",)).words()
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

    def __post_init__(self) -> None:
        one_of("--loss", self.loss, ("auto", "squared", "huber"))
        one_of("--scale", self.scale, ("auto", "linear", "log"))
        if not 0 < self.false_alarm < 1:
            raise InputError(
                f"--false-alarm {self.false_alarm} must lie between 0 and 1, such as 0.01"
            )

    @classmethod
    def of(cls, given: dict[str, Any]) -> Asked:
        """Return what a dict of fields says, in which lists stand for tuples."""
        made: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
        return cls(**made)

    @property
    def names_periods(self) -> bool:
        """Whether lengths of time are asked for, which only a record's unit gives a meaning."""
        usual = Asked(
            false_alarm=self.false_alarm, loss=self.loss, scale=self.scale, seed=self.seed
        )
        return self != usual

    @property
    def choices(self) -> dict[str, Any]:
        """Parameters of `PeriodicMixture` that need no unit."""
        choices = {"false_alarm": self.false_alarm, "loss": self.loss, "scale": self.scale}
        return {**choices, "random_state": self.seed}

    def parameters(self, samples: Samples) -> dict[str, Any]:
        """Return the parameters of `PeriodicMixture`, with lengths in the record's own unit."""
        asked = dict(self.choices)
        if not self.names_periods:
            return asked
        length = _lengths(samples)
        if self.shortest_period is not None:
            asked["max_frequency"] = 1.0 / length(self.shortest_period, "--shortest-period")
        if self.longest_period is not None:
            asked["min_frequency"] = 1.0 / length(self.longest_period, "--longest-period")
        named = {"periods": self.period, "without": self.without, "split": self.split}
        for name, texts in named.items():
            if texts:
                option = f"--{name.removesuffix('s')}"
                asked[name] = [length(text, option) for text in texts]
        if self.merge:
            asked["merge"] = [_pair(text, length) for text in self.merge]
        return asked

    def words(self) -> list[str]:
        """Return the options of ``robustfourier fit`` that say the same; defaults are left out."""
        words: list[str] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                option = f"--{field.name.replace('_', '-')}"
                several = value if isinstance(value, tuple) else (value,)
                words += [word for one in several for word in (option, str(one))]
        return words

    def command(self, file: str, reading: dict[str, Any]) -> str:
        """Return the command line of the whole fit."""
        words = ["robustfourier", "fit", file, *reading_words(reading), *self.words()]
        return shlex.join(words)

    def python(self, file: str, reading: dict[str, Any], samples: Samples) -> str:
        """Return the Python lines of the whole fit."""
        usual = Asked().parameters(samples)
        asked = self.parameters(samples)
        chosen = ", ".join(f"{k}={v!r}" for k, v in asked.items() if usual.get(k) != v)
        return "\n".join(
            [
                "from robustfourier import PeriodicMixture, read_samples",
                "",
                f"samples = read_samples({_arguments(file, reading)})",
                f"model = PeriodicMixture({chosen}).fit(samples)",
                "print(model.summary())",
            ]
        )


def one_of(option: str, given: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is none of the allowed ones."""
    if given not in allowed:
        raise InputError(f"{option} {given!r} must be one of {', '.join(allowed)}")


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
        if span / period > MOST_CYCLES:
            raise InputError(
                f"{option} {text!r}: would fit {span / period:.0e} times into the record; "
                f"at most {MOST_CYCLES:,} can be searched, so give a longer period"
            )
        return period

    return length
