"""The judge: every test of significance of the mixture model.

*Lines.* Under noise the power of a line over the floor is a gamma variable (exponential for one
output). The largest over a continuous range of modes exceeds z with probability
1 − (1 − Q(z)) e^{−τ(z)}, where τ counts upcrossings (Davies 1987; Baluev 2008):
τ = W z^{q−½} e^{−z} / Γ(q), with W = (range of modes)·√(π var θ). The floor is itself an estimate:
all terms are averaged over its gamma law, which turns exponentials into the tails of an F law.

*The rest.* Harmonics at known places, trends, wings of a line and harmonics in phase are
tested at one place each, by the laws of a gamma, F or χ² variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np
from scipy.special import chdtrc, gammaincc

from robustfourier.arrays import FloatArray, Vector
from robustfourier.compiling import compiled
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.semidefinite import pseudo_inverse
from robustfourier.periodic.variable_projection import Refined

#: Modes below which all are as likely. Slow lines were priced beside red noise on records of 60
#: samples, of which this is the highest mode; if octaves were alike below it, an event would be
#: cheaper as four slow lines than as noise with a memory.
SLOW = 30.0
_HALVINGS = 6  # of nine decades: a third of an e-fold is left, where the alarm is nearly straight
_ROOT = 1e-10  # of its logarithm, at which a ratio is known


@dataclass(frozen=True)
class Judge:
    """Says of lines how often noise alone would show as much anywhere in the range searched."""

    #: (n,): sorted positions and weights of the samples
    theta: FloatArray
    weights: FloatArray
    #: range of modes searched
    lowest: float
    highest: float
    integer: bool = False  # whether only integer modes are searched

    def alarm(
        self, ratio: FloatArray, modes: FloatArray, dof: FloatArray, n_outputs: int
    ) -> FloatArray:
        """Return the false-alarm probability of power over floor, shape (K,).

        `ratio` (K,): power over floor, summed over independent outputs. `modes` (K,): where. `dof`
        (K,): what the floor is worth there, in exponential ordinates. `n_outputs`: independent
        outputs.
        """
        return false_alarm(
            ratio,
            width=self.widths(modes),
            n_outputs=n_outputs,
            dof=dof,
            continuous=not self.integer,
        )

    def lines(self, refined: Refined, floor: NoiseFloor) -> tuple[FloatArray, FloatArray]:
        """Return strength over the floor and false-alarm probability of each line of a fit."""
        lines, root = refined.lines, np.sqrt(floor.at(refined.lines.mode))
        single = lines.n_outputs == 1
        white = np.eye(1) if single else whitener(refined.residuals, self.weights)
        power = line_power(refined.gram, lines.cosine / root, lines.sine / root, white)
        ratio = power.sum(axis=1)
        return ratio, self.alarm(ratio, lines.mode, floor.dof_at(lines.mode), white.shape[1])

    def threshold(self, level: float, floor: NoiseFloor, modes: FloatArray) -> FloatArray:
        """Return the power over floor of one output at which the false alarm is `level`, (K,)."""
        dof, widths = floor.dof_at(modes), self.widths(modes)
        return _ratio_at(level, dof, widths, not self.integer)

    def price(self, level: float, modes: FloatArray) -> FloatArray:
        """Return the same where the noise is known: what a line has to gain in likelihood, (K,)."""
        dof, widths = np.full(len(modes), np.inf), self.widths(modes)
        return _ratio_at(level, dof, widths, not self.integer)

    def widths(self, modes: FloatArray) -> FloatArray:
        """Range that each of `modes` pays for, in units of independence, shape (K,).

        All modes up to `SLOW` are as likely, and above that all octaves: the level is shared among
        modes as 1/max(k, SLOW). So whoever samples faster, and searches farther, hardly pays for
        that at the modes that were seen before.

        >>> judge = Judge(np.linspace(-1, 1, 101), np.ones(101), 0, 1000)
        >>> judge.widths(np.array([20.0, 700.0])).round()
        array([ 140., 3260.])
        """
        highest = max(self.highest, self.lowest)
        slow = float(np.clip(SLOW, self.lowest, highest))
        whole = slow - self.lowest + slow * np.log(highest / slow)
        part = whole * np.maximum(modes / slow, 1.0)
        return part if self.integer else part * search_width(self.theta, self.weights, 0.0, 1.0)


def _ratio_at(level: float, dof: FloatArray, width: FloatArray, continuous: bool) -> FloatArray:
    """Power over floor at which the false alarm is `level`, (K,); the alarm falls as power grows.

    Infinite or zero where no ratio in reach has the level.
    """
    ratio = np.empty(len(dof))
    _ratios(level, width, dof, continuous, ratio)
    return ratio


@compiled
def _ratios(level: float, width: Vector, dof: Vector, continuous: bool, ratio: Vector) -> None:
    """Write the ratios: a few halvings of the logarithm, then straight lines between its ends."""
    constants = np.empty(2)
    for i in range(len(ratio)):
        if i and dof[i] == dof[i - 1] and width[i] == width[i - 1]:
            ratio[i] = ratio[i - 1]
            continue
        nu = max(dof[i], 0.5)
        _fill_constants(nu, constants)
        low, high = np.log(1e-3), np.log(1e6)
        more = _log_over(low, level, width[i], nu, continuous, constants)
        less = _log_over(high, level, width[i], nu, continuous, constants)
        if less > 0.0 or more <= 0.0:
            ratio[i] = np.inf if less > 0.0 else 0.0
            continue
        middle, value, before, step = low, more, 0.0, 0
        while abs(value) > _ROOT and high - low > _ROOT:
            part, step = 0.5 if step < _HALVINGS else more / (more - less), step + 1
            middle = low + part * (high - low)
            value = _log_over(middle, level, width[i], nu, continuous, constants)
            # An end that stays twice counts half, or it might stay for ever (Illinois rule).
            again = step > _HALVINGS and value * before > 0.0
            if value > 0.0:
                low, more, less = middle, value, 0.5 * less if again else less
            else:
                high, less, more = middle, value, 0.5 * more if again else more
            before = value
        ratio[i] = np.exp(middle)


@compiled
def _log_over(
    log_ratio: float, level: float, width: float, nu: float, continuous: bool, constants: Vector
) -> float:
    """Logarithm of the false alarm of one output over a level."""
    alarm = _alarm(np.exp(log_ratio), width, nu, continuous, constants)
    return float(np.log(max(alarm, 1e-300) / level))


def whitener(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return T (q, r) such that residuals, each divided by its deviation, times T are white.

    Outputs that repeat each other count once: directions without variance are dropped. Correlations
    of n rows are known to (1 − ρ²)/√n only, and taken at face value they would double the level
    for six outputs and 120 rows. They are shrunk to zero by the part of their sum of squares that
    chance gives (Schäfer and Strimmer 2005), and the power by the excess (r − 1)/n that the inverse
    of an estimated matrix has on average.
    """
    second = (residuals * weights[:, None]).T @ residuals / weights.sum()
    deviation = np.sqrt(np.maximum(np.diag(second), 0.0))
    usable = deviation > 0
    if len(deviation) == 1 or not usable.any():
        return np.eye(len(deviation))
    deviation = np.where(usable, deviation, 1.0)
    correlation = second / np.outer(deviation, deviation)
    rows = float(weights.sum() ** 2 / np.sum(weights**2))
    between = correlation[~np.eye(len(correlation), dtype=bool)]
    chance = float(np.sum((1.0 - between**2) ** 2)) / rows
    kept = 1.0 - min(1.0, chance / max(float(np.sum(between**2)), 1e-300))
    own = np.diag(np.diag(correlation))
    values, vectors = np.linalg.eigh(own + kept * (correlation - own))
    keep = values > 1e-6 * values[-1]
    excess = kept * (int(keep.sum()) - 1) / rows
    return np.asarray(vectors[:, keep] * np.sqrt(max(1.0 - excess, 0.0) / values[keep]))


def wing_p_value(ratio: FloatArray | float, count: FloatArray | float) -> FloatArray:
    """Return how often the mean of `count` ordinates of noise over their floor is as large."""
    return np.asarray(gammaincc(count, ratio * count))


def in_phase_p_value(quadrature: float, n_harmonics: int) -> float:
    """Return how often harmonics in phase show quadratures as large, one common shift fitted."""
    return float(chdtrc(max(n_harmonics - 1, 1), quadrature))


def search_width(theta: FloatArray, weights: FloatArray, lowest: float, highest: float) -> float:
    """Return W = (highest − lowest)·√(π var θ), the range searched in units of independence.

    >>> import numpy as np
    >>> round(search_width(np.linspace(-1, 1, 1001), np.ones(1001), 0, 100), 1)
    102.4
    """
    mean = weights @ theta / weights.sum()
    variance = weights @ (theta - mean) ** 2 / weights.sum()
    return float(max(highest - lowest, 0.0) * np.sqrt(np.pi * variance))


def false_alarm(
    ratio: FloatArray,
    *,
    width: FloatArray | float,
    n_outputs: int = 1,
    dof: FloatArray | float = np.inf,
    continuous: bool = True,
) -> FloatArray:
    """Return the probability that noise alone shows a line of this strength anywhere.

    `ratio`: power over floor, summed over independent outputs. `width`: range searched: W of
    `search_width` or `Judge.widths`, or the number of modes if not `continuous`. `n_outputs`:
    independent outputs q. `dof`: what the floor is worth, in exponential ordinates. `continuous`:
    whether modes are real numbers or the integers.

    Examples
    --------
    >>> import numpy as np
    >>> false_alarm(np.array([5.0, 15.0, 25.0]), width=500.0)
    array([0.9995..., 5.9e-04, 3.5e-08])
    """
    ratio = np.asarray(ratio, float)
    alarm = np.empty(ratio.shape)
    widths, worth = np.ascontiguousarray(width, float), np.ascontiguousarray(dof, float)
    _alarms(ratio.ravel(), widths, worth, n_outputs, continuous, alarm.ravel())
    return alarm


@compiled
def _alarms(
    ratio: Vector, width: Vector, dof: Vector, n_outputs: int, continuous: bool, alarm: Vector
) -> None:
    """Write the false alarms; a width or dof that stands alone is that of all."""
    constants = np.empty(n_outputs + 1)
    for i in range(len(ratio)):
        nu = max(dof[min(i, len(dof) - 1)], 0.5)
        _fill_constants(nu, constants)
        alarm[i] = _alarm(ratio[i], width[min(i, len(width) - 1)], nu, continuous, constants)


@compiled
def _fill_constants(nu: float, constants: Vector) -> None:
    """Write what of log E[(zs)^a e^{−zs}] / Γ, s ~ Gamma(ν)/ν, does not depend on z.

    For a = 0, 1, … q − 1 over Γ(a + 1): the power of one line. Last for a = q − ½ over Γ(q):
    upcrossings.
    """
    q = len(constants) - 1
    for j in range(q + 1):
        a = float(j) if j < q else q - 0.5
        constants[j] = -lgamma(j + 1.0) if j < q else -lgamma(float(q))
        if not np.isinf(nu):
            constants[j] += lgamma(nu + a) - lgamma(nu) - a * np.log(nu)


@compiled
def _alarm(ratio: float, width: float, nu: float, continuous: bool, constants: Vector) -> float:
    """Return the false alarm of one line, with the constants of its ν."""
    z, q = max(ratio, 1e-300), len(constants) - 1
    log_z, sure = np.log(z), np.isinf(nu)
    fall = z if sure else np.log1p(z / nu)
    single = 0.0
    for j in range(q):
        single += np.exp(constants[j] + j * log_z - (fall if sure else (nu + j) * fall))
    quiet = np.log1p(-min(single, 1.0 - 1e-16))
    if not continuous:
        return float(-np.expm1(width * quiet))
    a = q - 0.5
    crossed = np.exp(constants[q] + a * log_z - (fall if sure else (nu + a) * fall))
    return float(-np.expm1(quiet - width * crossed))


def line_power(
    gram: FloatArray, cosine: FloatArray, sine: FloatArray, whitener: FloatArray | None = None
) -> FloatArray:
    """Return half the increase of the sum of squares if a line were left out, shape (K, r).

    `gram` (p + 2K, p + 2K): weighted Gram matrix of (trend, cosines, sines); all others are
    refitted. `cosine`, `sine` (K, q): fitted coefficients, in units of the noise if `whitener` is
    used. `whitener` (q, r): turns the q outputs into r whose noises are uncorrelated.
    """
    n_lines = len(cosine)
    first = len(gram) - 2 * n_lines
    inverse = pseudo_inverse(gram)
    if whitener is not None:
        cosine, sine = cosine @ whitener, sine @ whitener
    c = np.arange(first, first + n_lines)
    s = c + n_lines
    cc, ss, cs = inverse[c, c][:, None], inverse[s, s][:, None], inverse[c, s][:, None]
    determinant = cc * ss - cs**2
    quadratic = ss * cosine**2 - 2.0 * cs * cosine * sine + cc * sine**2
    # A vanishing determinant means that one direction has no data: only the other one counts.
    deficient = determinant <= 1e-12 * (cc + ss) ** 2
    alone = (cosine**2 + sine**2) / np.maximum(cc + ss, 1e-300)
    return 0.5 * np.where(deficient, alone, quadratic / np.where(deficient, 1.0, determinant))
