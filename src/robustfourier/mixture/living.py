"""Living patterns: those that wander in amplitude, phase or shape.

A living pattern is a process of its own: at each harmonic a wave whose amplitude and phase forget
themselves after a common time, the coherence. It stands beside the strict lines (demand that
breathes), or in their place where the phase itself is forgotten (sunspots). Close pairs of lines
and side lines are then part of it.

Evidence decides, for each strong pattern in turn: the likelihood of the record with the living
part, against that of strict lines and the remainder alone, each with the penalty of the Bayesian
information criterion for its parameters. What does not pay stays strict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.belonging import Candidate, foreign
from robustfourier.mixture.blocks import walk_error
from robustfourier.mixture.remainder import COARSE, OscillatorSearch, price
from robustfourier.periodic.kernels import (
    Kernel,
    QuasiPeriodic,
    line_columns,
    sho_of_logarithms,
    sho_pullback,
)
from robustfourier.periodic.noise_model import TaperedSpectrum
from robustfourier.periodic.optimise import maximise
from robustfourier.periodic.semiseparable import (
    MarginalLikelihood,
    marginal_log_likelihood,
    normal_equations,
)

CANDIDATES = 4  # patterns tried, the strongest first
ROWS = 4_000  # rows on which lives are tried: they have more terms than the remainder
# A line of a wandering pattern spreads by one over π coherences; with a coherence of two cycles or
# less by a sixth of its frequency, and is then a hump rather than a pattern.
SHORTEST = 2.0  # cycles
_COHERENCES = 5  # where the search starts: from 2 cycles to the record
_STRENGTHS = (0.01, 0.1, 1.0)  # variance of the living part over the power of the strict one
_LONGEST = 2.0  # coherence in θ, the record; what is longer cannot be seen to be forgotten
_WORTH = 3  # starts, the best by the spectrum, of which the likelihood is taken
_STEP = 0.05  # modes, for the curvature of the likelihood in the frequency
_SHIFT = 3.0  # modes by which the frequency of a pattern without strict lines may move


@dataclass(frozen=True, eq=False)
class Life:
    """A living pattern as found.

    Parameters
    ----------
    candidate : Candidate
    rate : float
        One over the coherence in θ.
    strength : float
        Variance of the living part over the white variance.
    shift, shift_error : float
        By how much the mode of the fundamental moved, and the standard error of that.
    oscillators : ndarray
        Parameters of the remainder beside it.
    score : float
        Log-likelihood less penalties.
    """

    candidate: Candidate
    rate: float
    strength: float
    shift: float
    shift_error: float
    oscillators: FloatArray
    score: float

    @property
    def half_width(self) -> float:
        """Half the width of its lines, in modes."""
        return self.rate / np.pi

    @property
    def kernel(self) -> Kernel:
        """The covariance over the white variance."""
        logs = np.log([self.rate, self.strength])
        return _family(self.candidate).kernel(np.append(logs, self.shift))


def _family(candidate: Candidate) -> QuasiPeriodic:
    """The quasi-periodic family of log rate, log strength and shift of the mode."""
    way = candidate
    return QuasiPeriodic(way.order, way.power, way.mode, way.clock, way.component)


def _lines(theta: FloatArray, lines: FloatArray, white: float) -> FloatArray:
    """Columns of strict lines, of modes and powers, over the white variance."""
    return line_columns(theta, lines[0], lines[1] / white)


def most_alive(
    ways: list[Candidate],
    theta: FloatArray,
    noise: FloatArray,
    rows: IndexArray,
    beside: Kernel,
    oscillators: FloatArray,
    white: float,
    score: float,
) -> Life | None:
    """Return the best way for a pattern to live, None if strict lines are more likely.

    Parameters
    ----------
    ways : list of Candidate
    theta, noise : ndarray of shape (n,)
        Positions, and white variances up to a factor.
    rows : ndarray of int
        Rows on which likelihoods are taken.
    beside : Kernel
        Patterns that live already, over the white variance.
    oscillators : ndarray
        Parameters of the remainder found without this life.
    white : float
        White variance found without it.
    score : float
        Log-likelihood less penalties of the present model.
    """
    trials: list[_Trial] = []
    for way in ways:
        if len(trials) == 2:  # the last two explain the same values
            trials.append(
                _Trial(way, trials[1].plain, trials[1].plain, trials[1].spectrum, beside, rows)
            )
            continue
        spectrum = TaperedSpectrum(theta[rows], way.values[rows], 1.0 / noise[rows])
        plain = exact = MarginalLikelihood(theta[rows], way.values[rows], noise[rows])
        if way.strict:
            # A strict line takes the slow part of a life with it, and what is left seems to forget
            # sooner: its amplitude is averaged over. What that costs strict lines is given back.
            still = _lines(theta[rows], way.still, white)
            exact = MarginalLikelihood(theta[rows], way.held[rows], noise[rows], still)
        trials.append(_Trial(way, plain, exact, spectrum, beside, rows))
        if way.strict:
            present = Kernel.sum([beside, sho_of_logarithms(oscillators)])
            trials[-1].credit += plain.value(present)[0] - exact.value(present)[0]
    others = foreign(oscillators, ways[0].mode, ways[0].order)
    if len(others) < len(oscillators):  # what rings at its harmonics is the pattern, and lives
        oscillators, score = others, -np.inf
    # All are asked about the same values, with lines as kernel that forget nothing. Lines near its
    # own that show nothing, such as a period asked for, make no pattern alive.
    whole = trials[-1]
    strict = cache(partial(whole.evidence_of_lines, oscillators, white))  # few starts ask for it
    alive = []
    for trial in trials:
        # A clock that wanders forgets higher harmonics sooner: none does if no harmonic forgets.
        if trial.way.clock and not trials[1].forgets:
            continue
        life = trial.run(oscillators, white, score, strict)
        alive += [life] if life is not None and life.score > score else []
    kept = [whole.evidence(life, white) for life in alive]
    return alive[int(np.argmax(kept))] if kept and max(kept) > strict() else None


class _Trial:
    """One way to live, tried on some rows."""

    def __init__(
        self,
        way: Candidate,
        plain: MarginalLikelihood,
        exact: MarginalLikelihood,
        spectrum: TaperedSpectrum,
        beside: Kernel,
        rows: IndexArray,
    ) -> None:
        self.way, self.spectrum, self.beside = way, spectrum, beside
        self.plain, self.exact = plain, exact
        self.theta, self.noise = exact.theta, exact.noise
        self.whole = way.whole[rows]
        self.log_n = float(np.log(len(self.theta)))
        # Two numbers for the living part, one more for a frequency of its own. A line taken in has
        # three; the harmonics of a pattern two each, and one for their common frequency.
        own = 0.0 if way.strict else 0.5 + (way.n_lines - len(way.taken))
        cost = 1.0 if way.strict else 1.5
        self.credit = self.log_n * (1.5 * len(way.taken) + own - cost)
        #: Whether the likeliest life is seen to forget anything, as far as it was sought.
        self.forgets = True

    def search(self, living: FloatArray) -> OscillatorSearch:
        """The search for a remainder beside this life, in what strict lines leave over."""
        beside = Kernel.sum([self.beside, _family(self.way).kernel(living)])
        samples = (self.theta, self.plain.values, 1.0 / self.noise)
        return OscillatorSearch(*samples, beside, self.spectrum, self.plain)

    def likelihood(self, living: FloatArray, remainder: FloatArray) -> float:
        """Log-likelihood of log rate, log strength and shift, with the remainder's parameters."""
        parts = [_family(self.way).kernel(living), self.beside, sho_of_logarithms(remainder)]
        return self.exact.value(Kernel.sum(parts))[0]

    def run(
        self, oscillators: FloatArray, white: float, score: float, strict: Callable[[], float]
    ) -> Life | None:
        """Return the likeliest life, None if a coarse start is far below the present score.

        None too if it is far below `strict` lines by the evidence. The remainder beside it may not
        ring at its harmonics: it would stand in for the life.
        """
        living, remainder, value = self._started(oscillators, white)
        self.forgets = np.exp(living[0]) > 1.05 / _LONGEST
        if value < score - self.log_n:  # a start has much of the gain
            return None
        living, _, value = self._optimised(living, remainder, white, together=False)
        self.forgets = np.exp(living[0]) > 1.05 / _LONGEST
        behind = strict() - self.evidence(self._life(living, remainder), white)
        # A remainder of its own makes up for the penalty of two numbers, log n, hardly for more;
        # and for nothing if nothing is seen to be forgotten.
        if behind > (self.log_n if self.forgets else 0.0):
            return None
        found = self.search(living).run(exact=False)
        remainder = remainder if found is None else foreign(found, self.way.mode, self.way.order)
        living, remainder, value = self._optimised(living, remainder, white, together=True)
        own_score = value + self.credit - price(remainder, len(self.theta))
        rate = float(np.exp(living[0]))
        if own_score < score:
            return None  # it does not pay
        if self.way.strict and rate > 0.95 * 0.5 * self.way.mode / SHORTEST:
            return None  # so short a memory is no longer that of a pattern
        step = np.array([0.0, 0.0, _STEP])
        bend = sum(self.likelihood(living + side * step, remainder) for side in (-1.0, 1.0))
        error = _STEP / np.sqrt(max(2.0 * value - bend, 1e-6))
        if not self.way.strict:
            error = max(error, walk_error(rate))  # harmonics that walk are one witness
        return self._life(living, remainder, error, own_score)

    def _life(
        self, living: FloatArray, remainder: FloatArray, error: float = 0.0, score: float = -np.inf
    ) -> Life:
        """Return the life of log rate, log strength and shift."""
        rate, strength = np.exp(living[:2])
        numbers = (float(rate), float(strength), float(living[2]), error)
        return Life(self.way, *numbers, remainder, score)

    def evidence(self, life: Life, white: float) -> float:
        """Log-likelihood less penalties of a life, beside strict lines or in their place.

        Strict lines are kernel that forget nothing, of the power that was fitted: their amplitudes
        are averaged over in the same way as those of a living pattern.
        """
        kernel = Kernel.sum([self.beside, life.kernel, sho_of_logarithms(life.oscillators)])
        strict = life.candidate.strict
        lines = _lines(self.theta, self.way.own, white) if strict else None
        value = MarginalLikelihood(self.theta, self.whole, self.noise, lines).value(kernel)[0]
        return value - price(life.oscillators, len(self.theta)) - 1.5 * self.log_n

    def evidence_of_lines(self, oscillators: FloatArray, white: float) -> float:
        """Log-likelihood less penalties of strict lines, with those near or without."""
        own, near = (_lines(self.theta, x, white) for x in (self.way.own, self.way.near))
        columns = [self.whole[:, None], own, near]
        kernel = Kernel.sum([self.beside, sho_of_logarithms(oscillators)])
        both, n = np.concatenate(columns, axis=1), len(self.theta)
        gram, logs = normal_equations(kernel, self.theta, self.noise, both)
        alone, taken = 1 + columns[1].shape[1], len(self.way.taken)
        # Each line taken in has a frequency and how strong it is; the pattern a frequency: how
        # strong its lines are, one draw tells, however long.
        value = max(
            marginal_log_likelihood(gram, logs, n) - taken * self.log_n,
            marginal_log_likelihood(gram[:alone, :alone], logs, n),
        )
        return value - price(oscillators, n) - 0.5 * self.log_n

    def _started(
        self, oscillators: FloatArray, white: float
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return the best of some starts and its score; the remainder as it was, or none.

        It may have stood in for the life of the pattern. The spectrum says which few starts are
        worth a likelihood.
        """
        shortest = SHORTEST * 2.0 / self.way.mode
        strengths = np.array(_STRENGTHS) * self.way.power.sum() / white
        remainders = [oscillators, np.zeros(0)] if len(oscillators) else [oscillators]
        shifts = (0.0,) if self.way.strict else (0.0, -0.5 * _SHIFT, 0.5 * _SHIFT)
        rates = 1.0 / np.geomspace(shortest, 2.0, _COHERENCES)
        logs = product(shifts, np.log(rates), np.log(strengths))
        grid = np.array([[rate, strength, shift] for shift, rate, strength in logs])
        paid = [price(remainder, len(self.theta)) for remainder in remainders]
        pairs = list(zip(remainders, paid, strict=True))
        starts = [(one, rest, self.credit - cost) for rest, cost in pairs for one in grid]
        if self.spectrum.is_even:
            own, told = self.spectrum.densities(_family(self.way).kernel(grid), len(grid)), []
            for rest, cost in pairs:
                kernel = Kernel.sum([self.beside, sho_of_logarithms(rest)])
                told.append(
                    self.spectrum.log_likelihoods(self.spectrum.density(kernel) + own) - cost
                )
            starts = [starts[which] for which in np.argsort(np.concatenate(told))[-_WORTH:]]
        worth = [(one, rest, self.likelihood(one, rest) + more) for one, rest, more in starts]
        return max(worth, key=lambda start: start[2])

    def _optimised(
        self, living: FloatArray, remainder: FloatArray, white: float, together: bool
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return the likeliest life near a start, with the remainder or beside it as it is."""
        kept = Kernel.zero() if together else sho_of_logarithms(remainder)
        first, size = len(self.beside.a) + len(kept.a), len(living)
        family = _family(self.way)

        def joined(parameters: FloatArray) -> Kernel:
            life, moving = family.kernel(parameters[:size]), sho_of_logarithms(parameters[size:])
            return Kernel.sum([self.beside, kept, life, moving])

        def log_likelihood(parameters: FloatArray) -> tuple[float, FloatArray]:
            kernel = joined(parameters)
            value, gradient = self.exact.gradient(kernel)
            own = np.arange(first, first + len(self.way.order))
            along = family.pullback(kernel.select(own), gradient[:, own])
            return value, np.append(along, sho_pullback(parameters[size:], gradient))

        def density(parameters: FloatArray) -> FloatArray:
            return np.array([self.spectrum.density(joined(p)) for p in parameters])

        start = np.concatenate([living, remainder]) if together else living
        threes = (len(start) - size) // 3
        bounds = self._bounds(white) + self.search(living).bounds * threes
        information = self.spectrum.fisher_information(density, start)
        end, value = maximise(log_likelihood, start, bounds, information, COARSE)
        return end[:size], end[size:] if together else remainder, value

    def _bounds(self, white: float) -> list[tuple[float, float]]:
        """Of log rate, log strength and shift."""
        shortest = SHORTEST * 2.0 / self.way.mode
        typical = float(np.log(self.way.power.sum() / white))
        shift = 0.0 if self.way.strict else _SHIFT
        return [
            (-float(np.log(_LONGEST)), -float(np.log(shortest))),
            (typical - 14.0, typical + 7.0),  # from a thousandth to thirty times the amplitude
            (-shift, shift),
        ]
