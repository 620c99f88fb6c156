"""The sentence at the top and the warnings below it, in words that need no statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.formatting import (
    counted,
    listed,
    number,
    percent,
    plural,
    probability,
    readable_frequency,
    with_error,
)
from robustfourier.periodic.basis import Breakpoint
from robustfourier.results.calendar_patterns import alias_notes, period_in_words, shape_words
from robustfourier.results.figure_axes import TimeAxis
from robustfourier.results.patterns import WORTH_A_LINE, Pattern, explained_by, notable
from robustfourier.results.variance import deviation
from robustfourier.sampling import Sampling
from robustfourier.sampling.alias_odds import runner_up

if TYPE_CHECKING:
    from robustfourier.results.result import Result

_NAMED = 3  # periods named in the headline
_SEEN_TWICE = 3.0  # cycles below which a period is called uncertain
_FEW = 30
_TAILS = 1.5  # how much larger than its core the whole noise is when that is worth a sentence
_HIGH = 0.6  # of the spectral window: a lower peak makes no alias that could win
_STATED = 2  # patterns, the strongest
_LARGEST = 100.0  # power of ten that is printed


def headline(
    patterns: Sequence[Pattern],
    trend: str,
    time_name: str = "",
    frequencies: bool | None = None,
    allowed: float = 1.0,
) -> str:
    """One sentence that a manager understands.

    `patterns` come with the strongest first, combinations last; the `trend` is "level", "slope" or
    "smooth". The name of the time column stands in for a unit that is not known. Patterns of less
    than a second are given by frequency, or all if `frequencies`. A pattern stands out up to a
    false-alarm probability of `allowed`; only given periods may have more.
    """
    explained = explained_by(patterns)
    if all(_doubtful(p, allowed) for p in patterns):
        slow = {"slope": " beyond a steady drift", "smooth": " beyond a slow drift"}.get(trend, "")
        given = [f"{period_in_words(p)} (p = {probability(p.false_alarm)})" for p in patterns]
        if given:
            slow += f": what was given explains {percent(explained)}, {listed(given)}"
        return f"No repeating pattern stands out from the noise{slow}."
    patterns = notable(patterns)
    own = [p for p in patterns if not p.combination]
    shown = [p for i, p in enumerate(own[:_NAMED]) if i == 0 or p.share >= WORTH_A_LINE]
    tones = [p for p in patterns if p.combination]
    if all(p.share < WORTH_A_LINE for p in tones):
        tones = []  # not worth a word of their own
    named = [*shown, *tones]
    words = [_in_list(p, len(patterns) == 1, frequencies) for p in shown]
    who = counted(len(own), "repeating pattern")
    if rest := len(patterns) - len(named):
        left = percent(sum(p.share for p in patterns) - sum(p.share for p in named))
        words.append(f"{counted(rest, 'weaker one').lower()} ({left}{' together' * (rest > 1)})")
        who = "Repeating patterns"
    who += " and their combinations" if tones else ""
    phrase = listed(words)
    if not patterns[0].unit and time_name and not frequencies:
        word = "a period" if len(patterns) == 1 else "periods"
        phrase = f"{word} of {phrase} (in units of column {time_name!r})"
    verb = "explains" if len(patterns) == 1 else "explain"
    apart = " around a drift" if trend in ("slope", "smooth") else ""
    return f"{who} {verb} {percent(explained)} of the variation{apart}: {phrase}."


def _in_list(pattern: Pattern, alone: bool, frequency: bool | None) -> str:
    """A pattern in a list: its period, its share where there are others, and its shape."""
    shape, words = shape_words(pattern), period_in_words(pattern)
    if pattern.is_signal if frequency is None else frequency:
        words = readable_frequency(pattern.frequency, pattern.unit, pattern.frequency_error)
    if alone:
        return words + shape
    beat = "" if pattern.shape or pattern.calendar else shape
    tail = shape if pattern.shape else ""
    return f"{words} ({percent(pattern.share)}{beat}){tail}"


def _doubtful(pattern: Pattern, allowed: float) -> bool:
    """Whether a pattern was given, so that its period has no error, and noise shows as much."""
    return pattern.period_error == 0.0 and pattern.false_alarm > allowed


def warnings_of(result: Result, aliases: Sequence[str]) -> tuple[str, ...]:
    """What a careful colleague would add; not what the headline says already."""
    sampling, patterns = result.sampling, notable(result.patterns)
    words = [*result.first_warnings, *break_words(result.breaks, result.axis)]
    words += [*alias_notes(patterns, result.samples), *aliases]
    if sampling.n < _FEW:
        words.append(
            f"Only {plural(sampling.n, 'sample')}: weak patterns cannot be seen in so short a "
            "record."
        )
    words += [*_too_short(patterns, sampling), *_gap_words(sampling)]
    words += [*_near_nyquist(patterns, sampling), *_outlier_words(result.flat.residual)]
    doubtful = [p for p in patterns if _doubtful(p, result.false_alarm)]
    words += [
        f"Pattern {p.label} was given and does not stand out: noise alone shows as much with "
        f"probability {probability(p.false_alarm)}."
        for p in doubtful
    ]
    if len(patterns) > len(doubtful) and result.explained < 0.2:
        words.append(
            f"The patterns explain only {percent(result.explained)} of the variation: they are "
            "real, but most of what you see is noise or does not repeat."
        )
    return tuple(dict.fromkeys(words))


def break_words(breaks: Sequence[Breakpoint], axis: TimeAxis) -> list[str]:
    """Where the level jumps and where the slope changes, in one sentence each."""
    sentences = []
    for kind, verb in (("level", "jumps"), ("slope", "changes")):
        per = " per unit of time" if kind == "slope" else ""
        sizes = [(with_error(float(b.size[0]), float(b.error[0])), b) for b in breaks]
        changes = [f"by {s}{per} at {axis.when(b.time)}" for s, b in sizes if b.kind == kind]
        if changes:
            sentences.append(
                f"The {kind} {verb} {listed(changes)}; {verb} are fitted apart from the patterns."
            )
    return sentences


def _too_short(patterns: Sequence[Pattern], sampling: Sampling) -> list[str]:
    slow = [p for p in patterns if p.period > sampling.domain.span / _SEEN_TWICE]
    return [
        f"Pattern {p.label} ({sampling.domain.period_words(p.period)}) repeats only "
        f"{number(sampling.domain.span / p.period, 2)} times in this record: its period is "
        "uncertain until the record is longer."
        for p in slow
    ]


def _gap_words(sampling: Sampling) -> list[str]:
    lost = sum(gap.share for gap in sampling.gaps)
    if lost < 0.05:
        return []
    longest = sampling.domain.period_words(sampling.gaps[0].length)
    return [
        f"{counted(len(sampling.gaps), 'gap')} without samples ({percent(lost)} of the record, the "
        f"longest {longest}): there the fit assumes that the patterns continue."
    ]


def _near_nyquist(patterns: Sequence[Pattern], sampling: Sampling) -> list[str]:
    """Patterns of even samples that could be another frequency; of others, see `alias_words`."""
    near = [p for p in patterns if sampling.even and p.frequency > 0.8 / sampling.shortest]
    return [
        f"Pattern {p.label} ({sampling.domain.period_words(p.period)}) is close to the shortest "
        "period that this sampling can show; it could be an alias of a shorter one."
        for p in near
    ]


def _outlier_words(residual: FloatArray) -> list[str]:
    spread = 1.4826 * float(np.median(np.abs(residual - np.median(residual))))
    if spread <= 0:
        return []
    far = int((np.abs(residual - np.median(residual)) > 6.0 * spread).sum())
    if not far:
        return []
    words = [
        f"{counted(far, 'sample')} {'lies' if far == 1 else 'lie'} more than six standard "
        "deviations from the fit (outliers): check them before you trust or remove them."
    ]
    if deviation(residual) > _TAILS * spread:
        core, every = number(spread, 2), number(deviation(residual), 2)
        words.append(
            f"Standard deviation around the fit: {core} for most samples, {every} with outliers."
        )
    return words


class AliasWords(NamedTuple):
    """Sentences on aliases: warnings on those that are possible, remarks on excluded ones."""

    possible: list[str]
    excluded: list[str]


def alias_words(result: Result) -> AliasWords:
    """One sentence for each of the strongest patterns of a record that was sampled in a rhythm.

    An alias is excluded where its odds against the pattern are below the false-alarm probability of
    the fit: it is then no more likely than the pattern is to be noise.
    """
    sampling, words = result.sampling, AliasWords([], [])
    rhythms = sampling.window.peak_mode[sampling.window.peak_height >= _HIGH]
    if sampling.even or not len(rhythms):
        return words
    theta, flat, weights = result.theta, result.flat, result.weights
    even = np.ones(len(theta)) if weights is None else weights / np.mean(weights)
    in_words = sampling.domain.period_words
    rhythm = in_words(float(sampling.domain.period(rhythms[0])))
    for pattern, part in zip(result.patterns[:_STATED], flat.parts, strict=False):
        mode = sampling.domain.span * pattern.frequency
        orders = np.asarray(pattern.harmonics)
        data = flat.residual + part
        found = runner_up(theta, data, even, result.noise, mode, orders, rhythms[:1])
        if pattern.combination or found is None:
            continue
        sure = found.log_odds > -math.log(result.false_alarm)
        (words.excluded if sure else words.possible).append(
            f"The samples come in a rhythm of {rhythm}: pattern {pattern.label} "
            f"({in_words(pattern.period)}) {_odds(found.log_odds, sure)} than its next likeliest "
            f"alias, {in_words(float(sampling.domain.period(found.mode)))}."
        )
    return words


def _odds(log_odds: float, sure: bool) -> str:
    """How much likelier, in words.

    >>> _odds(1.0, False), _odds(6.0, True), _odds(50.0, True)
    ('is only 2.7 times likelier', 'is 403 times likelier', 'is 10^22 times likelier')
    """
    if log_odds < 0.0:
        return "is no likelier"
    power = log_odds / math.log(10.0)
    if power < 4.0:
        return (
            f"is {'' if sure else 'only '}{math.exp(log_odds):.{3 if sure else 2}g} times likelier"
        )
    more = "more than " if power > _LARGEST else ""
    return f"is {more}10^{min(power, _LARGEST):.0f} times likelier"
