"""The judge: compares what a fit says with what is true."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.ordinary.problem import Period, Problem, Truth
from robustfourier import PeriodicMixture
from robustfourier.results import summarise
from robustfourier.samples import from_arrays

SMALL = 0.01  # of the variance; a pattern below is a footnote that nobody acts on


@dataclass(frozen=True)
class Pattern:
    """One reported pattern: period and standard error in the user's unit, share of the variance."""

    period: float
    error: float
    share: float
    orders: tuple[int, ...]


@dataclass(frozen=True)
class Said:
    """All that is judged of one fit.

    Parameters
    ----------
    patterns : tuple of Pattern
    words : str
        Notes and summary.
    noise : float
    rise : float
        Change of the trend from the first sample to the last.
    faults : tuple of str
        Numbers that contradict themselves: not finite, or errors beyond what they are errors of.
    """

    patterns: tuple[Pattern, ...]
    words: str
    noise: float
    rise: float
    faults: tuple[str, ...] = ()

    @property
    def strong(self) -> tuple[Pattern, ...]:
        """Patterns above 1 % of the variance."""
        return tuple(pattern for pattern in self.patterns if not pattern.share <= SMALL)


@dataclass(frozen=True)
class Verdict:
    """Whether all is right, and the reasons if not."""

    right: bool
    reasons: tuple[str, ...]


def fit(problem: Problem) -> Said:
    """Fit a problem with the defaults and collect all that the model and its report say."""
    model = PeriodicMixture().fit(problem.times, problem.values, y_err=problem.errors)
    trend = np.asarray(model.unmix(problem.times[[0, -1]]).trend, float)
    words = "\n".join([*model.notes_, model.summary(), *_report(model, problem)])
    if model.steps_:
        words += "\nstep"
    return Said(
        tuple(
            Pattern(
                float(component.period),
                float(component.period_error),
                float(component.share),
                tuple(map(int, component.harmonics)),
            )
            for component in model.components_
        ),
        words,
        float(model.noise_),
        float(trend[1] - trend[0]),
        _faults(model, problem),
    )


def _report(model: Any, problem: Problem) -> tuple[str, ...]:
    """What the report of a fit says in words."""
    samples = from_arrays(problem.times, problem.values, problem.errors)
    shown = summarise(samples, model)
    return (shown.headline, *shown.warnings)


def judge(truth: Truth, said: Said) -> Verdict:
    """Return the verdict; reasons are short enough for one cell of a table."""
    reasons = [
        *said.faults,
        *(reason for pattern in said.patterns for reason in _contradictions(pattern)),
        *(f"missed {p.value:.4g}" for p in truth.fundamentals if not _matches(p, said)),
        *(f"false {_told(p)}" for p in said.strong if not _known(truth, p)),
        *(reason for period in truth.fundamentals for reason in _wrong_share(period, said)),
        *(f"not said: {text}" for text in truth.must_say if not _in(text, said.words)),
        *(f"said: {text}" for text in truth.must_not_say if _in(text, said.words)),
    ]
    if len(said.strong) > truth.most:
        reasons.append(f"{len(said.strong)} patterns for {truth.most}")
    if truth.rise is not None and not abs(said.rise - truth.rise[0]) <= truth.rise[1]:
        reasons.append(f"trend rises {said.rise:.3g} for {truth.rise[0]:.3g}")
    if truth.noise is not None and not truth.noise[0] <= said.noise <= truth.noise[1]:
        reasons.append(f"noise {said.noise:.3g} not in {truth.noise[0]:.3g}–{truth.noise[1]:.3g}")
    return Verdict(not reasons, tuple(reasons))


def pull(truth: Truth, said: Said) -> float:
    """Largest distance of a found fundamental from the truth in its own standard errors."""
    pulls = [
        abs(pattern.period - period.value) / pattern.error if pattern.error > 0 else 0.0
        for period in truth.fundamentals
        for pattern in said.patterns
        if abs(pattern.period - period.value) <= period.tolerance
    ]
    return max(pulls, default=0.0)


def _matches(period: Period, said: Said) -> list[Pattern]:
    return [pattern for pattern in said.patterns if period.fits(pattern.period)]


def _known(truth: Truth, pattern: Pattern) -> bool:
    return any(period.fits(pattern.period) for period in (*truth.fundamentals, *truth.allowed))


def _wrong_share(period: Period, said: Said) -> list[str]:
    """The share of a fundamental, judged where it was found at all."""
    found = _matches(period, said)
    if not found:
        return []
    share, (least, most) = max(pattern.share for pattern in found), period.share
    if least <= share <= most or share > 1.0:  # above 100 % is told as a contradiction
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


def _faults(model: Any, problem: Problem) -> tuple[str, ...]:
    """What no fit may say, whatever the data; errors count where they are worth a pattern."""
    faults = []
    variance = float(np.var(problem.values))
    amplitude, error = (
        np.asarray(getattr(model.modes_, name), float) for name in ("amplitude", "amplitude_error")
    )
    if not (np.isfinite(amplitude).all() and np.isfinite(error).all()):
        faults.append("an amplitude is not finite")
    # A sinusoid of amplitude a has the variance a²/2.
    elif wild := np.count_nonzero((error > amplitude) & (0.5 * error**2 > SMALL * variance)):
        faults.append(f"{wild} amplitudes below their errors")
    if not (np.isfinite(model.noise_) and model.noise_ >= 0.0):
        faults.append(f"noise is {model.noise_}")
    mean, deviation = model.predict(problem.times, return_std=True)
    if not (np.isfinite(mean).all() and np.isfinite(deviation).all()):
        faults.append("a prediction is not finite")
    return tuple(faults)


def _told(pattern: Pattern) -> str:
    return f"{pattern.period:.4g} ({pattern.share:.0%})"


def _in(text: str, words: str) -> bool:
    return re.search(text, words, re.IGNORECASE) is not None
