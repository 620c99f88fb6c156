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

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.mixture.least_squares.lines import Lines
from robustfourier.mixture.process import Waves, log_likelihood
from robustfourier.mixture.remainder import COARSE, OscillatorSearch, oscillators_of

__all__ = ["CANDIDATES", "ROWS", "Candidate", "Life", "most_alive", "ways_to_live"]

CANDIDATES = 4  # patterns tried, the strongest first
HARMONICS = 8  # of a pattern that may live, the strongest
FEWEST_CYCLES = 4.0  # in the record; with fewer a pattern cannot show that it wanders
ROWS = 4_000  # rows on which lives are tried: they have more terms than the remainder
REACH = 12.0  # modes; farther from a pattern's lines another line is not part of it
# A line of a wandering pattern spreads by one over π coherences; with a coherence of two cycles or
# less by a sixth of its frequency, and is then a hump rather than a pattern.
SHORTEST = 2.0  # cycles
_COHERENCES = 5  # where the search starts: from 2 cycles to the record
_STRENGTHS = (0.01, 0.1, 1.0)  # variance of the living part over the power of the strict one
_LONGEST = 4.0  # coherence in θ, two records; longer ones look like strict lines
_STILL = 1e-6  # rate at which nothing is forgotten in a record
_FOR_EVER = (0.1, 0.3, 1.0, 3.0)  # strengths tried then, over that of the living pattern
_STEP = 0.05  # modes, for the curvature of the likelihood in the frequency
_SHIFT = 1.5  # modes by which the frequency of a pattern without strict lines may move


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way in which a pattern may live.

    Parameters
    ----------
    component : int
    mode : float
        Of its fundamental.
    order : ndarray of int of shape (H,)
    power : ndarray of shape (H,)
        Half the squared amplitudes of these harmonics.
    values : ndarray of shape (n,)
        What the processes have to explain if it lives: the residual, and the lines that it takes
        in.
    taken : ndarray of int
        Lines that become part of it.
    strict : bool
        Whether its own lines stay; if not, they are taken in too, and the phase is forgotten.
    n_lines : int
        Lines that are no more lines, which saves the penalty of their parameters.
    """

    component: int
    mode: float
    order: IntArray
    power: FloatArray
    values: FloatArray
    taken: IndexArray
    strict: bool
    n_lines: int


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
    def waves(self) -> Waves:
        """The covariance over the white variance."""
        logs = np.log([self.rate, self.strength])
        return _waves(self.candidate, np.append(logs, self.shift))


def _waves(candidate: Candidate, living: FloatArray) -> Waves:
    """The covariance of a life, of log rate, log strength and shift of the mode."""
    rate, strength = np.exp(living[:2])
    one = np.ones(len(candidate.order))
    share = candidate.power / candidate.power.sum()
    frequency = np.pi * candidate.order.astype(np.float64) * (candidate.mode + living[2])
    owner = np.full(len(one), candidate.component)
    return Waves(strength * share, 0.0 * one, rate * one, frequency, owner)


def ways_to_live(
    c: int,
    lines: Lines,
    component: IntArray,
    order: IntArray,
    mode: float,
    left: FloatArray,
    theta: FloatArray,
) -> list[Candidate]:
    """Return the ways in which a pattern may live; none if it has too few cycles.

    Parameters
    ----------
    c : int
        The pattern.
    lines : Lines
        All lines, of one output.
    component, order : ndarray of int of shape (K,)
        As in `ColumnModel`.
    mode : float
        Of its fundamental.
    left, theta : ndarray of shape (n,)
        Residual, and where.
    """
    power = 0.5 * lines.amplitude[:, 0] ** 2
    own = np.flatnonzero((component == c) & (order > 0))
    if mode < FEWEST_CYCLES or not len(own):
        return []
    strongest = own[np.argsort(-power[own], kind="stable")[:HARMONICS]]
    near = _taken_in(lines.mode, component, order, power, own, c)
    breathing = Candidate(
        component=c,
        mode=mode,
        order=order[strongest],
        power=power[strongest],
        values=left + lines.select(near).evaluate(theta)[:, 0],
        taken=near,
        strict=True,
        n_lines=len(near),
    )
    whole = breathing.values + lines.select(own).evaluate(theta)[:, 0]
    lines_less = len(near) + len(own)
    return [breathing, replace(breathing, values=whole, strict=False, n_lines=lines_less)]


def _taken_in(
    mode: FloatArray,
    component: IntArray,
    order: IntArray,
    power: FloatArray,
    own: IndexArray,
    c: int,
) -> IndexArray:
    """Return side lines of a pattern, and lines of weaker patterns that all lie near its lines."""
    distance = np.abs(mode[:, None] - mode[own]).min(axis=1)
    far = distance > min(REACH, 0.25 * mode[own].min())
    whole = np.bincount(component, power)
    inside = (np.bincount(component, far) == 0) & (whole < whole[c])
    return np.flatnonzero(((component == c) & (order == 0)) | inside[component])


def most_alive(
    ways: list[Candidate],
    theta: FloatArray,
    noise: FloatArray,
    rows: IndexArray,
    beside: Waves,
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
    beside : Waves
        Patterns that live already, over the white variance.
    oscillators : ndarray
        Parameters of the remainder found without this life.
    white : float
        White variance found without it.
    score : float
        Log-likelihood less penalties of the present model.
    """
    trials = [_Trial(way, theta[rows], noise[rows], way.values[rows], beside) for way in ways]
    found = [trial.run(oscillators, white, score) for trial in trials]
    alive = [life for life in found if life is not None and life.score > score]
    if len(alive) == 2 and trials[1].keeps_a_strict_part(alive[0], alive[1], white):
        return alive[0]
    return alive[-1] if alive else None


class _Trial:
    """One way to live, tried on some rows."""

    def __init__(
        self,
        way: Candidate,
        theta: FloatArray,
        noise: FloatArray,
        values: FloatArray,
        beside: Waves,
    ) -> None:
        self.way, self.theta, self.noise, self.values = way, theta, noise, values
        self.beside = beside
        self.log_n = float(np.log(len(theta)))
        # Two numbers for the living part, one more for a frequency of its own. A line taken in has
        # three; the harmonics of a pattern two each, and one for their common frequency.
        own = 0.0 if way.strict else 0.5 + (way.n_lines - len(way.taken))
        cost = 1.0 if way.strict else 1.5
        self.credit = self.log_n * (1.5 * len(way.taken) + own - cost)

    def search(self, living: FloatArray | None = None) -> OscillatorSearch:
        """The search for a remainder beside this life, or without it."""
        waves = [] if living is None else [_waves(self.way, living)]
        beside = Waves.joined([self.beside, *waves])
        return OscillatorSearch(self.theta, self.values, 1.0 / self.noise, beside)

    def likelihood(self, living: FloatArray, remainder: FloatArray) -> float:
        """Log-likelihood of log rate, log strength and shift, with the remainder's parameters."""
        parts = [_waves(self.way, living), self.beside, oscillators_of(remainder)]
        return log_likelihood(Waves.joined(parts), self.theta, self.values, self.noise)[0]

    def run(self, oscillators: FloatArray, white: float, score: float) -> Life | None:
        """Return the likeliest life, None if a coarse start is far below the present score."""
        living, remainder, value = self._started(oscillators, white)
        if value < score - self.log_n:  # a start has much of the gain
            return None
        for again in (False, True):
            living = self._climbed(living, remainder, white)
            remainder = self._remainder(living, remainder, warm=again or self.way.strict)
            value = self.likelihood(living, remainder)
            if value + self.credit - self.search().price(remainder) < score:
                return None
        step = np.array([0.0, 0.0, _STEP])
        bend = sum(self.likelihood(living + side * step, remainder) for side in (-1.0, 1.0))
        error = _STEP / np.sqrt(max(2.0 * value - bend, 1e-6))
        rate, strength = np.exp(living[:2])
        if self.way.strict and rate > 0.95 * 0.5 * self.way.mode / SHORTEST:
            return None  # so short a memory is no longer that of a pattern
        if value - self._for_ever(living, remainder) < 0.5 * self.log_n:
            return None
        score = value + self.credit - self.search().price(remainder)
        return Life(
            self.way, float(rate), float(strength), float(living[2]), error, remainder, score
        )

    def _remainder(self, living: FloatArray, remainder: FloatArray, warm: bool) -> FloatArray:
        """Return the remainder that is likeliest beside this life; `warm` climbs from the given."""
        search = self.search(living)
        if warm and len(remainder):
            return search.climbed(remainder, exact=False)[0]
        found = search.run(exact=False)
        return remainder if found is None else found

    def keeps_a_strict_part(self, breathing: Life, forgetting: Life, white: float) -> bool:
        """Whether a strict part beside the living one pays for its one number more.

        Both are asked about the same values, the strict part being a wave that forgets nothing.
        """
        living = np.log([breathing.rate, breathing.strength])
        typical = np.log(self.way.power.sum() / white)
        kept = -np.inf
        for strength in typical + np.log(_FOR_EVER):
            still = _waves(self.way, np.array([np.log(_STILL), strength, 0.0]))
            parts = [_waves(self.way, np.append(living, 0.0)), still, self.beside]
            waves = Waves.joined([*parts, oscillators_of(breathing.oscillators)])
            value = log_likelihood(waves, self.theta, self.values, self.noise)[0]
            kept = max(kept, value - self.search().price(breathing.oscillators))
        logs = np.log([forgetting.rate, forgetting.strength])
        forgot = self.likelihood(np.append(logs, forgetting.shift), forgetting.oscillators)
        forgot -= self.search().price(forgetting.oscillators)
        return kept - 0.5 * self.log_n > forgot

    def _for_ever(self, living: FloatArray, remainder: FloatArray) -> float:
        """Log-likelihood of the same pattern if it forgot nothing, at its best strength."""
        if self.way.strict:
            return -np.inf  # that is what it is measured against anyway
        strengths = living[1] + np.log(_FOR_EVER)
        still = [np.array([np.log(_STILL), strength, living[2]]) for strength in strengths]
        return max(self.likelihood(one, remainder) for one in still)

    def _started(
        self, oscillators: FloatArray, white: float
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return the best of some starts and its score; the remainder as it was, or none.

        It may have stood in for the life of the pattern.
        """
        shortest = SHORTEST * 2.0 / self.way.mode
        strengths = np.array(_STRENGTHS) * self.way.power.sum() / white
        remainders = [oscillators]
        if len(oscillators) and not self.way.strict:
            remainders.append(np.zeros(0))
        starts = []
        for tau, strength in product(np.geomspace(shortest, 2.0, _COHERENCES), strengths):
            living = np.array([-np.log(tau), np.log(strength), 0.0])
            for remainder in remainders:
                price = self.search().price(remainder)
                score = self.likelihood(living, remainder) + self.credit - price
                starts.append((living, remainder, score))
        return max(starts, key=lambda start: start[2])

    def _climbed(self, living: FloatArray, remainder: FloatArray, white: float) -> FloatArray:
        def cost(parameters: FloatArray) -> float:
            value = self.likelihood(parameters, remainder)
            return -value if np.isfinite(value) else 1e12

        shortest = SHORTEST * 2.0 / self.way.mode
        typical = float(np.log(self.way.power.sum() / white))
        shift = 0.0 if self.way.strict else _SHIFT
        bounds = [
            (-np.log(_LONGEST), -np.log(shortest)),
            (typical - 14.0, typical + 7.0),  # from a thousandth to thirty times the amplitude
            (-shift, shift),
        ]
        options: Any = {"eps": 1e-5, "ftol": COARSE}
        climbed: Any = minimize(cost, living, method="L-BFGS-B", bounds=bounds, options=options)
        return np.asarray(climbed.x if climbed.fun < cost(living) else living, np.float64)
