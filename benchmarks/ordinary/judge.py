"""The judge: compares what a fit says with what is true."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.ordinary.checks import SMALL, faults
from benchmarks.ordinary.problem import Period, Problem, Truth
from robustfourier import PeriodicMixture
from robustfourier.results import summarise
from robustfourier.samples import from_arrays

FAR = 4.0  # standard errors; one Gaussian error in 16,000 is larger


@dataclass(frozen=True)
class Pattern:
    """One reported pattern: period and standard error in the user's unit, share of the variance.

    `strict` is whether it is reported to repeat without end; `nested` are the periods that are
    reported within it.
    """

    period: float
    error: float
    share: float
    orders: tuple[int, ...]
    strict: bool = True
    nested: tuple[float, ...] = ()


@dataclass(frozen=True)
class Reported:
    """All that is judged of one fit.

    `words`: notes and summary. `rise`: change of the trend from the first sample to the last.
    `faults`: what no fit may say, see `checks`. `lines`: period and standard error of each mode.
    """

    patterns: tuple[Pattern, ...]
    words: str
    noise: float
    rise: float
    faults: tuple[str, ...] = ()
    lines: tuple[tuple[float, float], ...] = ()

    @property
    def strong(self) -> tuple[Pattern, ...]:
        """Patterns above 1 % of the variance."""
        return tuple(pattern for pattern in self.patterns if not pattern.share <= SMALL)


@dataclass(frozen=True)
class Judgement:
    """Whether all is right, and the reasons if not."""

    right: bool
    reasons: tuple[str, ...]


def fit(problem: Problem) -> Reported:
    """Fit a problem with the defaults and collect all that the model and its report say."""
    model = PeriodicMixture().fit(problem.times, problem.values, y_err=problem.errors)
    trend = np.asarray(model.decompose(problem.times[[0, -1]]).trend, float)
    words = "\n".join([*model.notes_, model.summary(), *_report(model, problem)])
    if any(one.kind == "level" for one in model.breakpoints_):
        words += "\nstep"
    return Reported(
        tuple(
            Pattern(
                float(component.period),
                float(component.period_error),
                float(component.share),
                tuple(map(int, component.harmonics)),
                not np.isfinite(component.coherence),
                component.nested,
            )
            for component in model.components_
        ),
        words,
        float(model.noise_),
        float(trend[1] - trend[0]),
        faults(model, problem),
        tuple(zip(*(map(float, getattr(model.modes_, name)) for name in ("period", "period_error")),
                  strict=True)),
    )  # fmt: skip


def _report(model: Any, problem: Problem) -> tuple[str, ...]:
    """What the report of a fit says in words."""
    samples = from_arrays(problem.times, problem.values, problem.errors)
    shown = summarise(samples, model)
    return (shown.headline, *shown.warnings)


def judge(truth: Truth, reported: Reported) -> Judgement:
    """Return the verdict; reasons are short enough for one cell of a table."""
    reasons = [
        *reported.faults,
        *(reason for pattern in reported.patterns for reason in _contradictions(pattern)),
        *(f"missed {p.value:.4g}" for p in truth.fundamentals if not _matches(p, reported)),
        *(f"false {_named(p)}" for p in reported.strong if not _known(truth, p)),
        *(reason for period in truth.fundamentals for reason in _wrong_share(period, reported)),
        *(
            reason
            for period in truth.fundamentals
            for reason in _far(period, _strongest(period, reported))
        ),
        *(reason for line in truth.lines for reason in _wrong_line(line, reported)),
        *(
            f"{p.period:.4g} is reported as strict"
            for p in reported.strong
            if p.strict and _wanders(truth, p)
        ),
        *(f"not said: {text}" for text in truth.must_say if not _in(text, reported.words)),
        *(f"said: {text}" for text in truth.must_not_say if _in(text, reported.words)),
    ]
    if len(reported.strong) > truth.most:
        reasons.append(f"{len(reported.strong)} patterns for {truth.most}")
    if truth.total is not None and len(reported.patterns) > truth.total:
        reasons.append(f"{len(reported.patterns)} patterns in all for {truth.total}")
    if truth.rise is not None and not abs(reported.rise - truth.rise[0]) <= truth.rise[1]:
        reasons.append(f"trend rises {reported.rise:.3g} for {truth.rise[0]:.3g}")
    if truth.noise is not None and not truth.noise[0] <= reported.noise <= truth.noise[1]:
        reasons.append(
            f"noise {reported.noise:.3g} not in {truth.noise[0]:.3g}–{truth.noise[1]:.3g}"
        )
    return Judgement(not reasons, tuple(reasons))


def pull(truth: Truth, reported: Reported) -> float:
    """Largest distance of a found fundamental from the truth in its own standard errors."""
    pulls = [
        period.pull(*found)
        for period in truth.fundamentals
        for found in _strongest(period, reported)
    ]
    return max(pulls, default=0.0)


def _matches(period: Period, reported: Reported) -> list[Pattern]:
    """Patterns that are this one, or hold it as a period within theirs."""
    return [p for p in reported.patterns if any(map(period.fits, (p.period, *p.nested)))]


def _strongest(period: Period, reported: Reported) -> list[tuple[float, float]]:
    """Period and error of the strongest pattern that is this one; empty if none is."""
    found = sorted(_matches(period, reported), key=lambda pattern: pattern.share)
    return [
        (inside, pattern.error * inside / pattern.period)
        for pattern in found[-1:]
        for inside in (pattern.period, *pattern.nested)
        if period.fits(inside)
    ][:1]


def _far(period: Period, found: Sequence[tuple[float, float]]) -> list[str]:
    """A period that is known to all digits, and lies beyond four of the stated errors."""
    return [
        f"{value:.6g} is {period.pull(value, error):.0f} errors off"
        for value, error in found
        if period.exact and not period.pull(value, error) <= FAR
    ]


def _wrong_line(line: Period, reported: Reported) -> list[str]:
    near = sorted((abs(value - line.value), (value, error)) for value, error in reported.lines)
    found = [pair for _, pair in near[:1] if line.fits(pair[0])]
    return _far(line, found) if found else [f"no line at {line.value:.4g}"]


def _wanders(truth: Truth, pattern: Pattern) -> bool:
    known = (*truth.fundamentals, *truth.allowed)
    return any(period.wanders and period.fits(pattern.period) for period in known)


def _known(truth: Truth, pattern: Pattern) -> bool:
    return any(period.fits(pattern.period) for period in (*truth.fundamentals, *truth.allowed))


def _wrong_share(period: Period, reported: Reported) -> list[str]:
    """The share of a fundamental, judged where it was found at all."""
    found = _matches(period, reported)
    if not found:
        return []
    share, (least, most) = max(pattern.share for pattern in found), period.share
    if least <= share <= most or share > 1.0:  # above 100 % is judged as a contradiction
        return []
    return [f"share of {period.value:.4g} is {share:.1%}, not {least:.0%}–{most:.0%}"]


def _contradictions(pattern: Pattern) -> list[str]:
    name = f"{pattern.period:.4g}"
    reasons = []
    if not np.isfinite([pattern.period, pattern.error, pattern.share]).all():
        reasons.append(f"{name} is not finite")
    if pattern.error > pattern.period:
        reasons.append(f"error of {name} is larger than itself")
    if pattern.share > 1.0:
        reasons.append(f"share of {name} is {pattern.share:.0%}")
    return reasons


def _named(pattern: Pattern) -> str:
    return f"{pattern.period:.4g} ({pattern.share:.0%})"


def _in(text: str, words: str) -> bool:
    return re.search(text, words, re.IGNORECASE) is not None
