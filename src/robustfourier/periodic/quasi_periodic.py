r"""Quasi-periodic patterns: oscillations of finite coherence, against strict ones by the evidence.

A pattern with harmonics n of the mode k₀ is explained in one of these ways:

* strict: lines that keep amplitude and phase for ever;
* modulated: strict lines, and beside them a process of the same harmonics whose amplitudes and
  phases are forgotten after the coherence time (`periodic.kernels.QuasiPeriodic`);
* quasi-periodic: that process alone, so that the phase itself is lost (sunspots);
* quasi-periodic with a clock that diffuses: harmonic n loses its phase n² times as fast.

Each is one Gaussian model of the same samples, what all other lines leave over,

.. math::

    \log E = \max \log N\bigl(y;\, 0,\, \sigma^2 [\mathrm{noise} + K_\mathrm{osc} + K_\mathrm{qp}
             + X X^T]\bigr) - \tfrac{m}{2} \log n - \mathrm{price}(\mathrm{osc}),

with the columns X of its strict lines at the powers that were fitted: amplitudes are marginalised
over in all ways alike. m counts the mode, rate and strength, and mode and power of each pattern
nearby. The power of strict lines is one draw, however long the record, and costs one. The way of
the highest evidence is taken.

Likelihoods are few: the way without lines is sought first, from the best start that the spectrum
shows, with a remainder of its own. Whether lines nearby stay is asked of that one; the others begin
where it ended, for what a short time does to the pattern, strength times rate, is alike in all.

The error of a lost phase's period is the curvature of that likelihood in the mode: a short
coherence makes it wide by itself. Harmonics of one clock are one witness, so the most informative
one counts alone. The rate is known from as many coherence times as the record holds, so that the
mode has Student's law with as many degrees of freedom; the stated error is such that ±1.645 of it
hold nine tenths. Where strict lines are kept, the other ways still count for their error, by
their evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import ndtri, stdtrit

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.kernels import (
    Kernel,
    QuasiPeriodic,
    lines_of_powers,
    sho_of_logarithms,
    sho_pullback,
)
from robustfourier.periodic.noise_model import TaperedSpectrum
from robustfourier.periodic.nufft import RealModeSums
from robustfourier.periodic.optimise import maximise
from robustfourier.periodic.residual_process import COARSE, OscillatorSearch, price
from robustfourier.periodic.semiseparable import (
    MarginalLikelihood,
    marginal_log_likelihood,
    normal_equations,
)

ROWS = 4_000  # rows on which likelihoods are taken: there are more terms than in the remainder
_HARMONICS = 8  # of a process, the strongest
_REACH = 12.0  # modes; farther from a pattern's lines another line is not part of it
_NEAR = 0.25  # of the distance of two harmonics: what is nearer to one belongs to it
# A line of coherence τ is 1/πτ wide: with less than two cycles a sixth of its frequency, which is
# no pattern but a hump.
_SHORTEST = 2.0  # cycles
_SHIFT = 3.0  # modes by which the mode of a lost phase may move
_STEP = 0.05  # modes, for the curvature of the likelihood
_COHERENCES, _STRENGTHS = 7, (0.01, 0.1, 1.0)  # starts: coherences, variances over strict power


@dataclass(frozen=True, eq=False)
class Pattern:
    """A pattern that may be quasi-periodic.

    Parameters
    ----------
    component : int
    mode : float
        Of its fundamental.
    order : ndarray of int of shape (H,)
        Harmonics that the samples show, the strongest first.
    power : ndarray of shape (H,)
        How the power of a process is shared among them.
    lines, near : ndarray of shape (2, ·)
        Modes and powers of its lines at these harmonics, and of other lines nearby.
    taken : ndarray of int
        Indices of the latter.
    nearby : int
        How many frequencies the latter have: lines of one pattern share theirs.
    around : ndarray of shape (n,)
        The residual with the lines nearby; further values add its own lines.
    shown, whole : ndarray of shape (n,)
        The same with its lines at these harmonics, and with all its lines.
    beside : ndarray of shape (n,)
        The lines nearby.
    """

    component: int
    mode: float
    order: IntArray
    power: FloatArray
    lines: FloatArray
    near: FloatArray
    taken: IndexArray
    nearby: int
    around: FloatArray
    shown: FloatArray
    whole: FloatArray
    beside: FloatArray

    @property
    def alone(self) -> Pattern:
        """The same if lines nearby stay what they are."""
        values = {name: getattr(self, name) - self.beside for name in ("around", "shown", "whole")}
        return replace(self, near=self.near[:, :0], taken=self.taken[:0], nearby=0, **values)

    def select(self, rows: IndexArray) -> Pattern:
        """Return the same on some rows."""
        values = {
            name: getattr(self, name)[rows] for name in ("around", "shown", "whole", "beside")
        }
        return replace(self, **values)


@dataclass(frozen=True, eq=False)
class QuasiPeriodicFit:
    """The quasi-periodic part of a pattern.

    Parameters
    ----------
    pattern : Pattern
    strict : bool
        Whether its lines stay beside the process; if not, the phase is lost.
    clock : bool
        Whether its clock diffuses.
    parameters : ndarray of shape (3,)
        Of the kernel: log rate, log strength, shift of the mode of the fundamental.
    shift_error : float
        Standard error of that shift.
    oscillators : ndarray
        Logarithms of the parameters of the remainder beside it.
    gain : float
        Log evidence above that of strict lines.
    """

    pattern: Pattern
    strict: bool
    clock: bool
    parameters: FloatArray
    shift_error: float
    oscillators: FloatArray
    gain: float

    @property
    def rate(self) -> float:
        """One over the coherence in θ."""
        return float(np.exp(self.parameters[0]))

    @property
    def strength(self) -> float:
        """Variance of the process over the white variance."""
        return float(np.exp(self.parameters[1]))

    @property
    def shift(self) -> float:
        """By how much the mode of the fundamental moved."""
        return float(self.parameters[2])

    @property
    def half_width(self) -> float:
        """Half the width of its lines, in modes."""
        return self.rate / np.pi

    @property
    def kernel(self) -> Kernel:
        """The covariance over the white variance."""
        return _family(self.pattern, self.clock).kernel(self.parameters)

    @property
    def values(self) -> FloatArray:
        """What all processes together have to explain, shape (n,)."""
        return self.pattern.around if self.strict else self.pattern.whole


def _family(pattern: Pattern, clock: bool) -> QuasiPeriodic:
    """The process of log rate, log strength and shift of the mode."""
    return QuasiPeriodic(pattern.order, pattern.power, pattern.mode, clock, pattern.component)


# -- what belongs to a pattern ---------------------------------------------------------------------


def pattern_of(
    component: int,
    lines: Lines,
    owner: IntArray,
    order: IntArray,
    mode: float,
    left: FloatArray,
    theta: FloatArray,
) -> Pattern | None:
    """Return a pattern that may be quasi-periodic; None if nothing hints at that.

    Hints are power beside its lines, or other lines nearby. `lines`: all of them, of components
    `owner` and with orders `order` there; `mode`: of the fundamental; `left`: the residual.
    """
    power = 0.5 * lines.amplitude[:, 0] ** 2
    own = np.flatnonzero((owner == component) & (order > 0))
    if mode < 2.0 * _SHORTEST or not len(own):  # nothing is seen to be forgotten
        return None
    taken = _lines_near(lines.mode, owner, order, power, own, component)
    beside = lines.select(taken).evaluate(theta)[:, 0]
    around = left + beside
    strongest = own[np.argsort(-power[own], kind="stable")[:_HARMONICS]]
    modes = mode * order[strongest].astype(np.float64)
    band, floor, spread = _power_beside(modes, mode, around, theta)
    if not len(taken) and not spread.any():
        return None
    seen = (power[strongest] > np.log(len(theta)) * floor) | spread
    seen[0] = True
    shown = strongest[seen]
    # A line holds little of a pattern whose phase is lost: what is around tells the shares.
    wide = (power[strongest] + band)[seen]
    return Pattern(
        component=component,
        mode=mode,
        order=order[shown],
        power=wide * (power[shown].sum() / wide.sum()),
        lines=np.stack([lines.mode[shown], power[shown]]),
        near=np.stack([lines.mode[taken], power[taken]]),
        taken=taken,
        nearby=len(np.unique(owner[taken[order[taken] > 0]])) + int(np.sum(order[taken] == 0)),
        around=around,
        shown=around + lines.select(shown).evaluate(theta)[:, 0],
        whole=around + lines.select(own).evaluate(theta)[:, 0],
        beside=beside,
    )


def _lines_near(
    mode: FloatArray,
    owner: IntArray,
    order: IntArray,
    power: FloatArray,
    own: IndexArray,
    component: int,
) -> IndexArray:
    """Return side lines of a pattern, and lines of weaker patterns with the strongest near its own.

    A clock that is off by δ is off by nδ at harmonic n: those are not near any more.
    """
    distance = np.abs(mode[:, None] - mode[own]).min(axis=1)
    near = distance <= min(_REACH, _NEAR * mode[own].min())
    whole, strongest = np.bincount(owner, power), np.zeros(owner.max() + 1)
    np.maximum.at(strongest, owner, power)
    inside = np.bincount(owner, near & (power == strongest[owner])) > 0
    inside &= whole < whole[component]
    return np.flatnonzero(((owner == component) & (order == 0)) | inside[owner])


def _power_beside(
    modes: FloatArray, mode: float, values: FloatArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return power in bands around harmonics, the noise at one mode, and whether bands show more.

    The noise is the median between the harmonics, and is taken off the bands. Bands of any width
    up to the largest may show more, as that of a modulation is not known. A process costs log n:
    what raises the log-likelihood by less than half of that has odds below 1/√n.
    """
    reach = np.floor(min(_REACH, _NEAR * mode))
    inside = np.arange(-reach, reach + 1.0)
    between = np.concatenate([inside - 0.5 * mode, inside + 0.5 * mode])
    # Samples are real: the sums at a mode and at its negative have the same size.
    at = np.abs(modes[:, None] + np.concatenate([inside, between]))
    sums = RealModeSums.of(theta, values[:, None], float(at.max())).at(at.ravel())
    power = 2.0 * np.abs(sums.reshape(at.shape) / len(theta)) ** 2
    floor = np.median(power[:, len(inside) :], axis=1) / np.log(2.0)  # of an exponential
    within = [power[:, : len(inside)][:, np.abs(inside) <= w] for w in np.arange(1.0, reach + 1.0)]
    within = within or [power[:, : len(inside)]]
    excess = np.array([p.sum(axis=1) - p.shape[1] * floor for p in within])
    size = np.array([np.sqrt(np.log(len(theta)) * p.shape[1]) * floor for p in within])
    return np.maximum(excess[-1], 0.0), floor, np.any(excess > size, axis=0)


def foreign(oscillators: FloatArray, mode: float, order: IntArray) -> FloatArray:
    """Return the oscillators, three logarithms each, that do not ring at harmonics of a mode.

    They are those far from the harmonics `order`, and those as wide as the distance of two.
    """
    threes = oscillators.reshape(-1, 3)
    frequency, quality = np.exp(threes[:, :2]).T / np.array([[np.pi * mode], [1.0]])
    off = np.abs(frequency[:, None] - order).min(axis=1)
    own = (off < _NEAR) & (0.5 * frequency / quality < _NEAR)
    return np.asarray(threes[~own].ravel())


def mean_variance(kernel: Kernel) -> FloatArray:
    """Return the variance of the mean amplitude of each term of a kernel over the record, (M,).

    An amplitude of variance a that is forgotten at the rate γ has the mean a 2(x − 1 + e^{−x})/x²
    over the record, two in θ, with x = 2γ.
    """
    x = 2.0 * kernel.c
    return np.asarray(kernel.a * 2.0 * (x + np.expm1(-x)) / x**2)


# -- the evidence ----------------------------------------------------------------------------------


def quasi_periodic_fit(
    pattern: Pattern,
    theta: FloatArray,
    noise: FloatArray,
    rows: IndexArray,
    beside: Kernel,
    oscillators: FloatArray,
    white: float,
    *,
    may_lose_phase: bool = True,
    before: QuasiPeriodicFit | None = None,
) -> QuasiPeriodicFit | None:
    """Return the quasi-periodic part of the highest evidence; None if none is worth looking at.

    Its gain is below zero where strict lines have more. `noise`: white variances up to the factor
    `white`. `rows`: on which likelihoods are taken. `beside`: other patterns' quasi-periodic parts,
    over the white variance. `oscillators`: logarithms of the parameters of the remainder found
    without this part. `may_lose_phase`: whether its lines may go. `before`: what was found beside
    fewer other parts, if it was asked; the same kind is fitted again from there.
    """
    theta, noise = theta[rows], noise[rows]
    some = pattern.select(rows)
    # What rings at its harmonics is the pattern, not the remainder beside it.
    oscillators = foreign(oscillators, pattern.mode, pattern.order)
    least = _evidence_of_lines(some, theta, noise, beside, oscillators, white)

    def kind(strict: bool, clock: bool, near: bool) -> _Process:
        return _Process(some, strict, clock, near, theta, noise, beside, white)

    if before is not None:
        near = len(before.pattern.taken) < len(pattern.taken)
        tried = [kind(before.strict, before.clock, near)]
        tried[0].optimise(before.parameters, oscillators)
    else:
        first = kind(not may_lose_phase, False, False)
        first.optimise_from_grid(oscillators)
        first.find_remainder()
        if len(pattern.taken):  # whether lines nearby stay is asked of one kind
            other = kind(not may_lose_phase, False, True)
            other.optimise_from_grid(oscillators, (first.parameters, first.oscillators))
            first = max(first, other, key=lambda one: one.evidence)
        tried = [first, *(_of_other_kinds(kind, first) if may_lose_phase else [])]
    tried = [one for one in tried if one.shows_lines()]
    best = max(tried, key=lambda one: one.evidence, default=None)
    if best is None or best.evidence < least - best.log_n:
        return None
    error = best.mode_error()
    if best.strict:
        weights = np.exp([one.evidence - best.evidence for one in tried])
        squares = [one.mode_error() ** 2 + one.parameters[2] ** 2 for one in tried]
        error = float(np.sqrt(np.average(squares, weights=weights)))
    return QuasiPeriodicFit(
        pattern if len(best.pattern.taken) else pattern.alone,
        best.strict,
        best.clock,
        best.parameters,
        error,
        best.oscillators,
        best.evidence - least,
    )


def _of_other_kinds(kind: Callable[[bool, bool, bool], _Process], lost: _Process) -> list[_Process]:
    """The kinds that keep lines, or whose clock diffuses, beside one whose phase is lost.

    What a short time does to the pattern, strength times rate, is alike in all of them.
    """
    log_rate, log_strength, _ = lost.parameters
    modulated = kind(True, False, lost.near)
    slower = np.array([0.0, log_strength + min(log_rate, 0.0), 0.0])
    modulated.optimise_from_grid(lost.oscillators, (slower, lost.oscillators))
    # A clock that diffuses forgets higher harmonics sooner: none does if no harmonic forgets.
    if not lost.forgets or len(lost.pattern.order) == 1:
        return [modulated]
    clock = kind(False, True, lost.near)
    squares = np.average(lost.pattern.order**2, weights=lost.pattern.power)
    clock.optimise(lost.parameters - np.array([np.log(squares), 0.0, 0.0]), lost.oscillators)
    return [modulated, clock]


def _evidence_of_lines(
    pattern: Pattern,
    theta: FloatArray,
    noise: FloatArray,
    beside: Kernel,
    oscillators: FloatArray,
    white: float,
) -> float:
    """Log evidence of strict lines, with those nearby or without."""
    columns = [
        lines_of_powers(theta, modes, powers / white)
        for modes, powers in (pattern.lines, pattern.near)
    ]
    kernel = Kernel.sum([beside, sho_of_logarithms(oscillators)])
    every = np.concatenate([pattern.shown[:, None], *columns], axis=1)
    gram, logs = normal_equations(kernel, theta, noise, every)
    alone, n = 1 + columns[0].shape[1], len(theta)
    value = max(
        marginal_log_likelihood(gram, logs, n) - pattern.nearby * np.log(n),
        marginal_log_likelihood(gram[:alone, :alone], logs, n),
    )
    return float(value - price(oscillators, n) - 0.5 * np.log(n))


class _Process:
    """One kind of process for a pattern: beside its strict lines, or with its phase lost.

    Lines nearby are part of it, or stay beside it (`near`). They stay as they were fitted while
    parameters are sought, and are marginalised over for the evidence.
    """

    evidence = -np.inf
    parameters: FloatArray  # log rate, log strength and shift
    oscillators: FloatArray

    def __init__(
        self,
        pattern: Pattern,
        strict: bool,
        clock: bool,
        near: bool,
        theta: FloatArray,
        noise: FloatArray,
        beside: Kernel,
        white: float,
    ) -> None:
        self.strict, self.clock, self.near, self.beside = strict, clock, near, beside
        self.theta, self.noise, self.white = theta, noise, white
        kept = pattern.lines if strict else pattern.lines[:, :0]
        every = np.concatenate([kept, pattern.near], axis=1) if near else kept
        own, every = (lines_of_powers(theta, modes, p / white) for modes, p in (kept, every))
        self.exact = MarginalLikelihood(theta, pattern.shown, noise, every)
        self.extra = pattern.nearby if near else 0  # frequencies nearby that stay
        self.pattern = pattern = pattern.alone if near else pattern
        self.given = MarginalLikelihood(theta, pattern.shown, noise, own) if near else self.exact
        seen = pattern.around if strict else pattern.shown  # a spectrum knows no columns
        self.spectrum = TaperedSpectrum(theta, seen, 1.0 / noise)
        self.family = _family(pattern, clock)
        self.log_n = float(np.log(len(theta)))
        shortest, typical = _SHORTEST * 2.0 / pattern.mode, np.log(pattern.power.sum() / white)
        shift = 0.0 if strict else _SHIFT
        # A phase that is known to σ/√(n power) shows a walk over the record by as much.
        slowest = float(-np.log(len(theta)) - typical)
        #: Of log rate, log strength and shift; from a thousandth to thirty times the amplitude.
        self.bounds = [
            (min(slowest, -float(np.log(2.0))), -float(np.log(shortest))),
            (float(typical) - 14.0, float(typical) + 7.0),
            (-shift, shift),
        ]

    @property
    def forgets(self) -> bool:
        """Whether it is seen to forget anything."""
        return bool(self.parameters[0] > self.bounds[0][0] + 0.05)

    def _evidence(self, own: FloatArray, oscillators: FloatArray) -> float:
        """Log evidence of parameters."""
        value = self.exact.value(self._kernel(own, oscillators))[0]
        # Power of the lines: one more number, however long the record.
        value -= price(oscillators, len(self.theta)) + float(self.strict)
        return value - (1.5 + self.extra) * self.log_n

    def shows_lines(self) -> bool:
        """Whether lines that stay beside it are seen: it is no hump, and does not hide them.

        The mean of the strongest harmonic over the record has the variance of `mean_variance`.
        """
        if not self.strict:
            return True
        kernel = self.family.kernel(self.parameters)
        hidden = 2.0 * self.pattern.lines[1, 0] / self.white < mean_variance(kernel)[0]
        return bool(self.parameters[0] < self.bounds[0][1] + np.log(0.95) and not hidden)

    def _kernel(self, parameters: FloatArray, oscillators: FloatArray) -> Kernel:
        """All processes together; that of the pattern first."""
        own = self.family.kernel(parameters)
        return Kernel.sum([own, self.beside, sho_of_logarithms(oscillators)])

    def _search(self, own: FloatArray) -> OscillatorSearch:
        """The search for oscillators beside the process."""
        beside = Kernel.sum([self.family.kernel(own), self.beside])
        samples = (self.theta, self.given.values, 1.0 / self.noise)
        return OscillatorSearch(*samples, beside, self.spectrum, self.given)

    def optimise_from_grid(
        self, oscillators: FloatArray, *more: tuple[FloatArray, FloatArray]
    ) -> None:
        """Take the likeliest process near the best of some starts, and `more` of them.

        Oscillators may have stood in for the pattern. Where samples are even, the spectrum says
        which start of the grid is worth a likelihood; it does not see how slow the slow ones are.
        """
        rests = [oscillators, np.zeros(0)] if len(oscillators) else [oscillators]
        fastest = self.bounds[0][1]
        rates = np.linspace(fastest, max(self.bounds[0][0], np.log(0.5)), _COHERENCES)
        shifts = (0.0,) if self.strict else (0.0, -0.5 * _SHIFT, 0.5 * _SHIFT)
        # A pattern whose phase is lost is the process alone.
        strengths = np.log(_STRENGTHS if self.strict else _STRENGTHS[-1:])
        strengths += np.log(self.pattern.power.sum() / self.white)
        grid = np.array([[r, s, shift] for shift, r, s in product(shifts, rates, strengths)])
        starts = [(own, rest) for rest in rests for own in grid]
        if self.spectrum.is_even:
            own = self.spectrum.densities(self.family.kernel(grid), len(grid))
            values = []
            for rest in rests:
                other = self.spectrum.density(Kernel.sum([self.beside, sho_of_logarithms(rest)]))
                paid = price(rest, len(self.theta))
                values.append(self.spectrum.log_likelihoods(other + own) - paid)
            starts = [starts[int(np.argmax(np.concatenate(values)))]]
        starts += more
        if len(starts) > 1:
            worth = [
                self.given.value(self._kernel(*start))[0] - price(start[1], len(self.theta))
                for start in starts
            ]
            starts = [starts[int(np.argmax(worth))]]
        self.optimise(*starts[0])

    def optimise(self, own: FloatArray, oscillators: FloatArray) -> None:
        """Take the likeliest process and oscillators near a start, if they have more evidence."""
        size, harmonics = len(own), np.arange(len(self.pattern.order))

        def log_likelihood(parameters: FloatArray) -> tuple[float, FloatArray]:
            kernel = self._kernel(parameters[:size], parameters[size:])
            value, gradient = self.given.gradient(kernel)
            along = self.family.pullback(kernel.select(harmonics), gradient[:, harmonics])
            return value, np.append(along, sho_pullback(parameters[size:], gradient))

        def density(parameters: FloatArray) -> FloatArray:
            return np.array(
                [self.spectrum.density(self._kernel(p[:size], p[size:])) for p in parameters]
            )

        if self.evidence == -np.inf:  # where no likelihood is finite, the start is all there is
            self.parameters, self.oscillators = own, oscillators
        start = np.concatenate([own, oscillators])
        bounds = self.bounds + self._search(own).bounds * (len(oscillators) // 3)
        information = self.spectrum.fisher_information(density, start)
        end, _ = maximise(log_likelihood, start, bounds, information, COARSE)
        evidence = self._evidence(end[:size], end[size:])
        if evidence > self.evidence:
            self.parameters, self.oscillators = end[:size], end[size:]
            self.evidence = evidence

    def find_remainder(self) -> None:
        """Take other oscillators beside it, if they have more evidence."""
        found = self._search(self.parameters).run(exact=False)
        found = np.zeros(0) if found is None else found
        other = foreign(found, self.pattern.mode, self.pattern.order)
        if self._evidence(self.parameters, other) > self.evidence:
            self.optimise(self.parameters, other)

    def mode_error(self) -> float:
        """Standard error of the mode, from the harmonic whose likelihood is curved most."""
        if self.strict:
            return 0.0
        kernel = self._kernel(self.parameters, self.oscillators)
        top, most = self.given.value(kernel)[0], 0.0
        for h, order in enumerate(self.pattern.order):
            turned = np.where(np.arange(len(kernel.d)) == h, np.pi * order * _STEP, 0.0)
            sides = [replace(kernel, d=kernel.d + sign * turned) for sign in (-1.0, 1.0)]
            most = max(most, 2.0 * top - sum(self.given.value(side)[0] for side in sides))
        # With fewer coherence times than two the law has no width.
        coherences = max(2.0 * np.exp(self.parameters[0]), 2.0)
        wider = stdtrit(coherences, 0.95) / ndtri(0.95)
        return float(wider * _STEP / np.sqrt(max(most, 1e-6)))
