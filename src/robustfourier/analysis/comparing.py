"""`compare`: which patterns of two models agree, drifted, are new or gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustfourier.errors import InputError
from robustfourier.formatting import SECONDS, listed, percent
from robustfourier.mixture.components.component import Component

_ERRORS = 3.0  # standard errors of a difference that are no drift: 0.3 % of Gaussian ones are more
_SAID = 3  # patterns of each verdict that a sentence names
_VERDICTS = {
    "new": ("is new", "are new"),
    "gone": ("is gone", "are gone"),
    "drifted": ("changed", "changed"),
    "agrees": ("agrees", "agree"),
}
_RESOLVED = 1.0  # cycles over the shorter record: lines closer than that may be the same


@dataclass(frozen=True)
class Match:
    """A pattern of one model, of the other, or of both."""

    first: Component | None  # where it is not there, None
    second: Component | None
    verdict: str  # "agrees", "drifted", "gone", "new"
    #: second minus first, in the first's unit of time; NaN where one is missing
    period: float = np.nan
    period_error: float = np.nan
    amplitude: float = np.nan
    amplitude_error: float = np.nan


def compare(first: Any, second: Any) -> list[Match]:
    """Pair the patterns of two fitted models of one column and one output, the strongest first.

    Two patterns are the same if their frequencies are closer than the shorter record can resolve or
    three standard errors. Such a pair agrees unless its period or its amplitude differs by more
    than three standard errors of the difference; then it drifted.
    """
    for name, model in (("first", first), ("second", second)):
        if not hasattr(model, "components_") or not model.single_output_ or len(model.domains_) > 1:
            raise InputError(
                f"{name} is no PeriodicMixture of one column and one output; only those compare"
            )
    units = _seconds(first), _seconds(second)
    if None in units and first.domains_[0].unit != second.domains_[0].unit:
        raise InputError(
            f"units {first.domains_[0].unit!r} and {second.domains_[0].unit!r} cannot be converted"
        )
    factor = 1.0 if None in units else units[1] / units[0]  # type: ignore[operator]
    shorter = min(first.domains_[0].span, second.domains_[0].span * factor)
    left = list(range(len(second.components_)))
    matches = []
    for i, mine in enumerate(first.components_):
        near = [j for j in left if _same(mine, second.components_[j], factor, shorter)]
        if not near:
            matches.append(Match(mine, None, "gone"))
            continue
        j = min(near, key=lambda j: abs(mine.frequency - second.components_[j].frequency / factor))
        left.remove(j)
        matches.append(_judged(first, i, second, j, factor))
    return matches + [Match(None, second.components_[j], "new") for j in left]


def in_a_sentence(matches: list[Match]) -> str:
    """What changed from the first model to the second, in a sentence or two."""
    if not matches:
        return "Neither finds a repeating pattern."
    by_verdict = {verdict: [m for m in matches if m.verdict == verdict] for verdict in _VERDICTS}
    if len(by_verdict["agrees"]) == len(matches):
        same = "pattern" if len(matches) == 1 else f"{len(matches)} patterns"
        return f"Nothing changed beyond its errors: both find the same {same}."
    parts = [
        f"{listed([_named(m) for m in some[:_SAID]])}"
        f"{f' and {len(some) - _SAID} more' if len(some) > _SAID else ''} "
        f"{_VERDICTS[verdict][len(some) > 1]}"
        for verdict in ("new", "gone", "drifted")
        if (some := by_verdict[verdict])
    ]
    rest = len(by_verdict["agrees"])
    stays = f"; {rest} stay{'s' if rest == 1 else ''} as {'it was' if rest == 1 else 'they were'}"
    return f"{'; '.join(parts)}{stays if rest else ''}."


def _named(match: Match) -> str:
    """A pattern and what changed of it: "7.000 d (+12 % in amplitude)"."""
    one = match.second if match.first is None else match.first
    assert one is not None
    words = one.domain.period_words(one.period, one.period_error)
    if match.verdict != "drifted":
        return f"{words} ({percent(float(np.mean(one.share)))})"
    changes = []
    if abs(match.period) > _ERRORS * match.period_error:
        changes.append(f"period {'longer' if match.period > 0 else 'shorter'}")
    if abs(match.amplitude) > _ERRORS * match.amplitude_error:
        changes.append(f"amplitude {'larger' if match.amplitude > 0 else 'smaller'}")
    return f"{words} ({listed(changes)})"


def _seconds(model: Any) -> float | None:
    return SECONDS.get(model.domains_[0].unit)


def _same(one: Component, other: Component, factor: float, shorter: float) -> bool:
    apart = abs(one.frequency - other.frequency / factor)
    error = np.hypot(one.frequency_error, other.frequency_error / factor)
    return bool(apart <= max(_ERRORS * error, _RESOLVED / shorter))


def _judged(first: Any, i: int, second: Any, j: int, factor: float) -> Match:
    one, other = first.components_[i], second.components_[j]
    period = factor * other.period - one.period
    period_error = float(np.hypot(one.period_error, factor * other.period_error))
    (a, a_error), (b, b_error) = _height(first, i), _height(second, j)
    height_error = float(np.hypot(a_error, b_error))
    moved = abs(period) > _ERRORS * period_error or abs(b - a) > _ERRORS * height_error
    verdict = "drifted" if moved else "agrees"
    return Match(one, other, verdict, period, period_error, b - a, height_error)


def _height(model: Any, index: int) -> tuple[float, float]:
    """Amplitude and standard error of the strongest line of a pattern."""
    rows = np.flatnonzero(np.asarray(model.modes_.component) == index)
    top = rows[np.argmax(model.modes_.amplitude[rows])]
    return float(model.modes_.amplitude[top]), float(model.modes_.amplitude_error[top])
