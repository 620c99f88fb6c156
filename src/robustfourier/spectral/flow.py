"""The diagonal flow: the paper's diagonal layer trained by exact gradients on Fourier sums.

Each mode has one real weight w_k and one complex coefficient c_k per output; the model is
f(θ) = Re Σ w_k c_k e^{iπkθ}. From a small start, gradient descent lets the modes that the data
asks for grow first, exponentially, while all others stay near zero: sparsity without a penalty.
Training stops where the error on held-out data, known from *its* sums, is smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.compiling import compiled
from robustfourier.observers import listening, tell
from robustfourier.periodic.normal_operator import NormalOperator
from robustfourier.periodic.nufft import FourierSums

# Part of the held-out error that counts as better. With a tenth of it the flow takes longer, and no
# answer of `python -m benchmarks.unchanged` is another one.
_BETTER = 1e-3
# Least decrease that counts, in units of the error of zero: weaker lines are found sooner in what
# the strong ones leave over. Half hours of demand with 70 lines took 190 steps instead of 475. With
# a quarter of it no line of `python -m benchmarks.unchanged` is another one; with five times of it
# demand has one more.
_LEAST = 2e-4
# Part by which it may rise before the flow stops at once: of 231 flows there, that went on for six
# checks without improvement, none that had risen by a hundredth came below its best again.
_WORSE = 0.02
# Part of its amplitude up to which the largest mode grows as if it were alone, where a step may be
# as long as 1. With steps of 0.8 a mode that has nearly grown up was off by six thousandths.
_ALONE = 0.0375
_EARLY = 5  # frames of that growth for those who watch
_LARGE = 2.0  # w² + |c|² of a mode of amplitude 1, the largest in the data


@dataclass(frozen=True)
class DiagonalFlow:
    """Where the diagonal flow stopped, and its way there.

    Parameters
    ----------
    weight : ndarray of shape (M + 1,)
        The diagonal weights w.
    coefficient : ndarray of complex, shape (M + 1, q)
        The coefficients c.
    time : ndarray of shape (T,)
        Flow time (sum of step lengths) at each check.
    held_out : ndarray of shape (T,)
        Mean squared error on the held-out sums at each check, relative to that of zero.
    steps : int
        Gradient steps taken.
    reason : str
        Why it stopped, in words.
    """

    weight: FloatArray
    coefficient: ComplexArray
    time: FloatArray
    held_out: FloatArray
    steps: int
    reason: str

    @property
    def value(self) -> ComplexArray:
        """The model's complex amplitudes z = w c, shape (M + 1, q); f = Re Σ z_k e^{iπkθ}."""
        return self.weight[:, None] * self.coefficient

    @property
    def amplitude(self) -> FloatArray:
        """Root of the summed squared amplitudes over outputs, shape (M + 1,)."""
        return np.sqrt(np.sum(np.abs(self.value) ** 2, axis=1))


def diagonal_flow(
    sums: FourierSums,
    held_out: FourierSums | None = None,
    *,
    start: float = 0.01,
    step: float = 0.8,
    duration: float = np.inf,
    settled: float = 0.2,
    max_steps: int = 500,
    check_every: int = 5,
    patience: int = 3,
) -> DiagonalFlow:
    """Train the diagonal layer on `sums` until `held_out` no longer improves.

    Parameters
    ----------
    sums, held_out : FourierSums
        Sums of the training and of the held-out samples; without the latter the flow runs until
        `duration` or `max_steps`.
    start : float
        Initial weight of each mode relative to the root of the largest coefficient of the data.
    step : float
        Step length relative to 1 / (largest curvature of the loss where the flow is); below 1 the
        descent is stable.
    duration : float
        Flow time after which to stop, in units of 1 / (largest |b|).
    settled : float
        Size w² + |c|², that of a mode of amplitude 1 being 2, above which a mode takes shorter
        steps than the smaller ones, in inverse proportion to its size. Infinity: all modes take
        the same steps, which is plain gradient descent.
    max_steps, check_every, patience : int
        Steps at most, steps between checks, and checks without improvement before stopping.

    Notes
    -----
    Gradient of ½·(2/Σw) Σ w (y − f)²: with g = A z − b, ∂w = Re(c̄ g) summed over outputs and
    ∂c = w g. Values are divided by the largest |b|, so that rescaling y changes nothing.

    Large modes allow short steps only, while the small ones need a long time to grow. A large mode
    has settled by then and merely follows. So the small ones, among which the order of growth is
    decided, share a step as long as their own growth allows; the flow time is theirs.
    """
    operator = NormalOperator.of(sums)
    target = sums.value * (2.0 / sums.total)
    unit = float(np.abs(target).max(initial=0.0))
    if unit == 0.0:
        return _at_rest(target)
    target = target / unit
    scale = np.sqrt(unit)
    check = None if held_out is None else _HeldOut(held_out, unit)
    clock, w, c = _first_growth(target, start, _ALONE * step, duration)
    _tell_growth(target, start, clock, scale)
    curvature = _Curvature(operator, target)
    halves = operator.halves(w[:, None] * c)
    values = operator.values(halves)
    best, best_w, best_c, waited = 1.0, w.copy(), c.copy(), 0
    times, errors, reason, steps = [0.0], [1.0], "largest number of steps", 0
    largest = 1.0  # of the gradient, in units of the target
    while steps < max_steps:
        size = w**2 + _power(c)
        # In one step a small mode grows at most by about half of itself.
        knee = min(max(2.0 * largest, settled), _LARGE)
        size /= _shorter(size, knee, settled)
        # The curvature is at most its trace, and no mode has more than 2 of A in that.
        pace = step if 2.0 * size.sum() < 1.0 else step / max(curvature(size), 1.0)
        for _ in range(check_every):
            pace = min(pace, (duration - clock) * knee)
            how = pace, knee, bool(np.isfinite(settled))
            largest = _descend(w, c, operator.images(values), operator.turn, target, *how, halves)
            values = operator.values(halves)
            clock, steps = clock + pace / knee, steps + 1
            if clock >= duration:
                break
        times.append(clock)
        if check is not None:
            errors.append(check.error(w[:, None] * c, values))
            _tell(steps, w, c, scale, errors[-1])
            if errors[-1] < best - max(_BETTER * best, _LEAST):
                best, best_w, best_c, waited = errors[-1], w.copy(), c.copy(), 0
            else:
                waited += 1
            if waited >= patience or errors[-1] > best * (1.0 + _WORSE):
                reason = "held-out error stopped improving"
                break
        if clock >= duration:
            reason = "duration reached"
            break
    if check is None:
        best_w, best_c = w, c
    return DiagonalFlow(
        best_w * scale, best_c * scale, np.array(times), np.array(errors), steps, reason
    )


@compiled
def _descend(
    w: Any, c: Any, images: Any, turn: Any, target: Any, pace: float, knee: float, shorter: bool,
    halves: Any,
) -> float:  # fmt: skip
    """Take one step of the diagonal flow in place; the largest |g| of its gradient g = A z − b.

    With `shorter`, modes of size w² + |c|² above the knee take steps as much shorter. Images and
    halves are those of `NormalOperator`, and `halves` are written for the new z = w c.
    """
    (count, q), largest = c.shape, 0.0
    size, slope, x, y = w * w, np.zeros(count), np.empty((q, count)), np.empty((q, count))
    for o in range(q):  # step by step, each for several modes at once
        for k in range(count):
            first, between, b = images[k, 0, o], images[k, 1, o], target[k, o]
            cosine, sine = turn[k].real, turn[k].imag
            x[o, k] = first.real + cosine * between.real + sine * between.imag - b.real
            y[o, k] = first.imag + cosine * between.imag - sine * between.real - b.imag
        for k in range(count):
            size[k] += c[k, o].real * c[k, o].real + c[k, o].imag * c[k, o].imag
            slope[k] += c[k, o].real * x[o, k] + c[k, o].imag * y[o, k]
        for k in range(count):
            largest = max(largest, x[o, k] * x[o, k] + y[o, k] * y[o, k])
    for k in range(count):
        size[k] = pace / (max(size[k], knee) if shorter else knee)
    for o in range(q):
        for k in range(count):
            step = size[k] * w[k]
            c[k, o] -= complex(step * x[o, k], step * y[o, k])
    for k in range(count):
        w[k] -= size[k] * slope[k]
    for o in range(q):
        for k in range(count):
            half = 0.5 * w[k] * c[k, o]
            halves[k, 0, o], halves[k, 1, o] = half, turn[k] * half
        halves[0, :, o] = w[0] * c[0, o].real
    return np.sqrt(largest)


def _tell(steps: int, w: FloatArray, c: ComplexArray, scale: float, error: float) -> None:
    """Tell observers how far the weights have grown."""
    if listening():
        amplitude = np.abs(w) * np.sqrt(_power(c)) * scale**2
        facts = {"weight": w * scale, "amplitude": amplitude, "held_out": error}
        tell("diagonal", "weights", step=steps, **facts)


def _tell_growth(target: ComplexArray, start: float, clock: float, scale: float) -> None:
    """Tell observers of the growth up to a time that had a closed form."""
    for early in np.linspace(0.0, clock, _EARLY, endpoint=False) if listening() else ():
        _tell(0, *_first_growth(target, start, np.inf, early)[1:], scale, 1.0)


def _first_growth(
    target: ComplexArray, start: float, alone: float, duration: float
) -> tuple[float, FloatArray, ComplexArray]:
    """Return time, w and c where the largest mode has grown to a part `alone` of its amplitude.

    Until then the gradient is that of zero, −b, and with β = |b| over all outputs the flow has a
    closed form: w = start·cosh(βt), c = start·sinh(βt) b/β.
    """
    beta = np.sqrt(_power(target))
    most = float(beta.max())
    clock = min(0.5 * np.arcsinh(2.0 * alone * most / start**2) / most, duration)
    growth = start * np.sinh(clock * beta) / np.maximum(beta, np.finfo(float).tiny)
    return clock, start * np.cosh(clock * beta), growth[:, None] * target


class _Curvature:
    """Largest curvature of the loss in (w, c), by power iteration that goes on from call to call.

    With D = w² + |c|² it is at most λ_max(D^½ A D^½). Few modes are large at any time, and they are
    nearly orthogonal on the samples: this is far less than λ_max(A) times the largest D, most of
    all for irregular samples and many modes, and steps can be as much longer.
    """

    def __init__(self, operator: NormalOperator, like: ComplexArray) -> None:
        self.operator = operator
        # Fixed phases without pattern: no mode and no pair of modes is left out.
        self.start = np.exp(1j * np.arange(len(like), dtype=np.float64) ** 2)[:, None]
        self.start = np.broadcast_to(self.start, like.shape)
        self.vector = np.zeros_like(like)

    def __call__(self, size: FloatArray, at_most: int = 5) -> float:
        """Return the curvature for D = `size`; from below, to about a tenth."""
        root = np.sqrt(size)[:, None]
        # What has grown since the last call must be seen: the start again, where D is large.
        fresh = root * self.start
        vector = self.vector + (0.3 / _norm(fresh)) * fresh
        vector *= 1.0 / _norm(vector)
        value = 0.0
        for _ in range(at_most):
            image = root * self.operator(root * vector)
            along, length = float(np.vdot(vector, image).real), _norm(image)
            vector = image * (1.0 / length)
            # |Bv| ≤ |Bv|² / vᴴBv ≤ λ_max, and all are equal where v is its eigenvector.
            value = length**2 / along
            if value <= 1.04 * along:
                break
        self.vector = vector
        return max(value, float(size.max()))


class _HeldOut:
    """Mean squared error on held-out samples, from their sums; values are in units of `unit`."""

    def __init__(self, sums: FourierSums, unit: float) -> None:
        self._operator, self._value, self._total = NormalOperator.of(sums), sums.value, sums.total
        self._squares = float(np.sum(sums.squares)) / unit**2
        self._unit = unit

    def error(self, z: ComplexArray, values: FloatArray) -> float:
        """Return the error of f = Re Σ z_k e^{iπkθ}, relative to that of zero, over all outputs.

        `values` are those of f that any normal operator of these modes has.
        """
        with_data = float(np.vdot(self._value, z).real) / self._unit
        with_itself = self._operator.energy(values) * (self._total / 2.0)
        error = self._squares - 2.0 * with_data + with_itself
        return error / max(self._squares, np.finfo(float).tiny)


def _shorter(size: FloatArray, knee: float, settled: float) -> FloatArray | float:
    """How much shorter than the pace the step of each mode is."""
    return np.maximum(size, knee) if np.isfinite(settled) else knee


def _norm(z: ComplexArray) -> float:
    return float(np.sqrt(np.vdot(z, z).real))


def _power(c: ComplexArray) -> FloatArray:
    """Squared magnitude summed over outputs, without the root that np.abs takes."""
    return np.sum(c.real**2 + c.imag**2, axis=1)


def _at_rest(target: ComplexArray) -> DiagonalFlow:
    """Return the flow of data that is zero: nothing grows."""
    return DiagonalFlow(
        np.zeros(len(target)), target, np.zeros(1), np.ones(1), 0, "nothing to explain"
    )
