"""Lines or a continuum: a peak of a hump, or of a slow drift, is no line.

The noise floor is a level or a power law in a window. Where noise rings (a resonance) or wanders (a
random walk), its spectrum bends within that window, and its own peaks stand out of the floor. So
lines are asked once more, where a continuum shows: the samples without them are read as white noise
and damped oscillators, and lines have to raise the likelihood of that by more than the peaks of
such a process would. What does not is a line only if it keeps its phase for some cycles, as a
pattern that lives does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.mixture.belonging import ways_to_live
from robustfourier.mixture.cusps import REACH
from robustfourier.mixture.least_squares.lines import Lines
from robustfourier.mixture.living import ROWS, SHORTEST, most_alive
from robustfourier.mixture.process import Waves
from robustfourier.mixture.remainder import (
    AKAIKE,
    FEWEST,
    ROUNDING,
    OscillatorSearch,
    chosen_rows,
    oscillators_of,
)
from robustfourier.mixture.sampled import Sampled
from robustfourier.mixture.search.detection import Detection
from robustfourier.mixture.slopes import Likelihood

# Power over that of the continuum beside it, from which on a line is none of its peaks: a hump
# wider than two modes that is raised to explain it is less likely by 14, more than lines must gain.
_SURE = 100.0
_FAR = 10.0  # times that the floor may lie below a hump: stronger lines are asked nothing
# Modes that a drift lifts out of the noise if it is to explain a slow line: about the line's mode
# times the root of its strength. From so many on it has no chance; peaks of random walks had 25.
_LIFTED = 50.0
_SLOW = 12.0  # modes: the floor under a slower line is read from as many beside it, red or not
# Cycles that a pattern keeps its phase for, as told: a coherence is known to one over the root of
# how many of it the record holds, a quarter for two cycles of thirty. Sunspots are told 3.4.
_STEADY = 1.25 * SHORTEST
_NEAR = 0.25  # of a mode: what is nearer to a living pattern, or to a harmonic, belongs to it
_CHANCE = 0.1  # how often a line anywhere may be as near to a harmonic
_VAGUE = 1e3  # times the values, which are of order one: how large a trend may be
_WHY = "left out: noise with a memory has such peaks"


class _Humps(OscillatorSearch):
    """Oscillators that are wider than a line, and forget themselves too soon for a pattern."""

    #: Bounds of the largest quality: swings, but for less than SHORTEST cycles.
    steadiest = (0.5, np.pi * SHORTEST)

    def _bounds(self, parameters: FloatArray) -> list[tuple[float, float]]:
        frequency, (lowest, _), ratio = self.bounds
        # The whole width at half height, frequency over quality, is two modes or more.
        limits = np.log(np.clip(0.5 * np.exp(parameters[::3]) / np.pi, *self.steadiest))
        return [pair for limit in limits for pair in (frequency, (lowest, float(limit)), ratio)]


class _Drifts(_Humps):
    """Oscillators that have no frequency: their spectrum falls by the square of the mode."""

    steadiest = (0.1, 0.1)  # and goes on to do so over a factor of a hundred in the mode


@dataclass(frozen=True, eq=False)
class _Left:
    """What trend and lines of one output leave over, to be read as a process with some of them.

    Parameters
    ----------
    samples : Sampled
        The residual.
    trend : ndarray of shape (n, p)
        Columns of the trend, of unknown size.
    bends : ndarray of shape (n,)
        The trend as fitted if it bends, as a drift would.
    lines : Lines
    step : float
        Typical distance of samples in θ.
    """

    samples: Sampled
    trend: FloatArray
    bends: FloatArray
    lines: Lines
    step: float

    @classmethod
    def of(cls, found: Detection) -> _Left:
        """Take the rows on which likelihoods are taken."""
        series, fit = found.series, found.fit
        rows = chosen_rows(len(series.theta), ROWS)
        trend = series.trend(fit.rung)[rows]
        bends = (trend @ fit.refined.trend)[:, 0] if fit.rung > 2 else np.zeros(len(rows))
        samples = Sampled(series.theta, fit.refined.residuals[:, 0], 1.0 / series.weights)
        lines, step = fit.refined.lines, 2.0 / series.distinct
        return cls(samples.some(rows), trend, bends - bends.mean(), lines, step)

    @property
    def values(self) -> FloatArray:
        """The residual, shape (n,)."""
        return self.samples.values

    def with_lines(self, which: IndexArray) -> FloatArray:
        """The residual with some lines back in it."""
        return self.values + self.lines.select(which).evaluate(self.samples.theta)[:, 0]

    def likelihood(
        self, oscillators: FloatArray, values: FloatArray, life: Waves | None = None
    ) -> tuple[float, float]:
        """Log-likelihood of values, averaged over all trends, and the white variance."""
        waves = Waves.joined([Waves.none() if life is None else life, oscillators_of(oscillators)])
        return self.samples.with_values(values).likelihood(waves, _VAGUE * self.trend)

    def read(self, values: FloatArray, kind: type[OscillatorSearch]) -> FloatArray:
        """Return the oscillators that values show; as many as pay, or none."""
        best, top = np.zeros(0), self.likelihood(np.zeros(0), values)[0]
        for bent in self._with_bends(values):
            search = kind(self.samples.theta, bent, self.samples.weights)
            found = search.run(exact=False)
            if found is not None:
                value = self.likelihood(found, values)[0] - search.price(found)
                best, top = (found, value) if value > top else (best, top)
        return best

    def near(
        self, start: FloatArray, values: FloatArray, kind: type[OscillatorSearch]
    ) -> tuple[FloatArray, float]:
        """Return the likeliest oscillators near a start, and how likely they are."""
        theta, noise = self.samples.theta, self.samples.noise
        averaged = Likelihood(theta, values, noise, _VAGUE * self.trend)
        search = kind(theta, values, self.samples.weights, sloped=averaged)
        end, gain = search.climbed(start, exact=False)
        return end, gain + search.none

    def _with_bends(self, values: FloatArray) -> list[FloatArray]:
        """Values as they are, and with what may be a drift that the trend has taken."""
        return [values, values + self.bends] if self.bends.any() else [values]

    def lift(self, oscillators: FloatArray, modes: FloatArray) -> FloatArray:
        """Return the density of oscillators at modes over that of white noise, shape (m,)."""
        own, quality, ratio = np.exp(oscillators.reshape(-1, 3)).T
        at = np.pi * modes[:, None]
        width = (at**2 - own**2) ** 2 + (at * own / quality) ** 2
        return np.asarray(np.sum(2.0 * ratio * own**3 / quality / width, axis=1) / self.step)

    def lives(self, line: int, values: FloatArray, oscillators: FloatArray, price: float) -> bool:
        """Whether a line is that of a pattern that wanders, and keeps its phase for some cycles.

        It has to be as likely in these values as a continuum, by Akaike's count of numbers. What is
        strict in it has to gain the `price` of a line.
        """
        own, mode = self.lines.select(np.array([line])), float(self.lines.mode[line])
        zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
        theta, rows = self.samples.theta, np.arange(len(values))
        without = values - own.evaluate(theta)[:, 0]
        present, white = self.likelihood(oscillators, values)
        samples = (theta, self.samples.noise, rows, Waves.none(), oscillators, white)
        for way in ways_to_live(0, own, zero, one, mode, without, theta, steady=False)[:2]:
            life = most_alive([way], *samples, score=-np.inf)
            if life is None or 0.5 * mode / life.rate < _STEADY:
                continue
            more = 1 + (len(life.oscillators) - len(oscillators)) // 3
            paid = AKAIKE * more + (price if way.strict else 0.0)
            if self.likelihood(life.oscillators, way.values, life.waves)[0] - paid > present:
                return True
        return False


def told_from_continuum(found: Detection) -> Detection:
    """Return the lines found without those that are peaks of a continuum.

    Several outputs, and a fit without residual, are left as they are.
    """
    few = found.series.distinct < FEWEST or found.series.values.shape[1] > 1
    if few or found.known.all() or np.sqrt(found.noise_variance[0]) < ROUNDING:
        return found
    gone = _peaks(found, _Left.of(found))
    if not gone.any():
        return found
    many = "1 mode is" if gone.sum() == 1 else f"{int(gone.sum())} modes are"
    less = found.without(found.fit.modes[gone], f"{many} {_WHY}")
    # The floor has their power now, and others may not stand out of it any more.
    weak = ~less.known & (less.false_alarm > found.series.settings.level)
    more = "mode more does" if weak.sum() == 1 else "modes more do"
    why = f"{int(weak.sum())} {more} not stand out of that noise"
    return less.without(less.fit.modes[weak], why) if weak.any() else less


def _peaks(found: Detection, left: _Left) -> BoolArray:
    """Mark lines that are peaks of a continuum, shape (K,).

    Humps must be evident beside the lines. A drift need not be: few modes are slower than a slow
    line, and may all have gone to it and the trend.
    """
    modes, strength = found.fit.modes, found.strength
    slow = (modes < _SLOW) & (modes * np.sqrt(strength) < _LIFTED)
    if not np.any(~found.known & (slow | (strength < _SURE * _FAR))):
        return np.zeros(len(modes), bool)
    beside = left.read(left.values, _Humps)
    lift, white = left.lift(beside, modes), left.likelihood(beside, left.values)[1]
    power = strength * found.floor.at(modes)[:, 0]
    unsure = power < _SURE * white * (1.0 + lift)
    unsure &= ~_with_sure(modes, modes[~unsure])
    evident, gone = lift > 1.0, np.zeros(len(modes), bool)
    order = np.argsort(-strength, kind="stable")
    order = order[~found.known[order]]
    for which, start, kind in (
        (evident & unsure, beside, _Humps),
        (~evident & slow, np.zeros(0), _Drifts),
    ):
        asked = order[which[order]]
        if slow[asked].any():
            start = _likelier(left, asked, start)
        if len(asked) and len(start):
            gone[asked] = _not_passing(found, left, asked, start, kind)
    return gone


def _with_sure(modes: FloatArray, sure: FloatArray) -> BoolArray:
    """Mark lines that were judged against the cusp of a sure one, or are a harmonic of one.

    Noise has no harmonics. Those of slow lines are so many that one is near to any mode.
    """
    distance = np.abs(modes[:, None] - sure)
    fast = sure[sure > 2.0 * _NEAR / _CHANCE]
    off = np.abs(modes[:, None] - fast * np.round(modes[:, None] / fast))
    harmonic = off.min(axis=1, initial=np.inf) < _NEAR
    return np.asarray(harmonic | (distance.min(axis=1, initial=np.inf) <= REACH))


def _likelier(left: _Left, asked: IndexArray, start: FloatArray) -> FloatArray:
    """Return the drift that the samples with some slow lines show, or a start that is likelier."""
    values = left.with_lines(asked)
    drift = left.read(values, _Drifts)
    if not len(start) or not len(drift):
        return drift if len(drift) else start
    end, value = left.near(start, values, _Humps)
    return drift if left.likelihood(drift, values)[0] > value else end


def _not_passing(
    found: Detection,
    left: _Left,
    asked: IndexArray,
    start: FloatArray,
    kind: type[OscillatorSearch],
) -> BoolArray:
    """Mark those of some lines, the strongest first, that a continuum explains as well.

    They hide each other: two lines that do not pass one after the other may pass together. So as
    many are taken as raise the likelihood most, less what each has to gain to pass. The continuum
    has no more oscillators than at the start, or one of them would be the line itself.
    """
    modes, settings = found.fit.modes[asked], found.series.settings
    price = found.series.judge.price(settings.level, modes)
    oscillators, highest, best = start, -np.inf, (0, left.values, start)
    for count in range(len(asked) + 1):
        values = left.with_lines(asked[count:])
        oscillators, score = left.near(oscillators, values, kind)
        if score - price[:count].sum() > highest:
            highest, best = score - price[:count].sum(), (count, values, oscillators)
    count, values, oscillators = best
    lift = left.lift(oscillators, modes)
    marked, alive = np.zeros(len(asked), bool), np.zeros(0)
    for i in range(count, len(asked)):
        if np.any(np.abs(alive - modes[i]) < _NEAR * alive):
            marked[i] = True  # what lives there has such lines beside it
        elif lift[i] > 1.0:
            marked[i] = not left.lives(int(asked[i]), values, oscillators, price[i])
            alive = alive if marked[i] else np.append(alive, modes[i])
    return marked
