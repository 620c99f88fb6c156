"""The diagonal layer in the limit of exact gradients, trained for a calibrated time.

The model of the residual r is f(θ) = Σ_k Re z_k e^{iπkθ} with z_k = w_k c_k: one real weight of the
diagonal layer and one complex coefficient per output, from the start w = α, c = 0. Under gradient
flow of ½‖r − f‖², in units in which noise has unit variance,

    dw_k/dt = Re Σ c̄_k g_k,    dc_k/dt = w_k g_k,    g = β − A z,

where β_k is the whitened Fourier coefficient of r at mode k. While g stays constant,

    w = α cosh(|g| t),    c = α sinh(|g| t) g/|g|,    |z| = (α²/2) sinh(2|g|t),

so a mode awakes at a time that is inversely proportional to its strength; the strong ones awake
first and take their share of the residual, and the others see what is left: a joint sparse fit
whose only number is the time. Under noise alone the largest |β| exceeds x with probability
`false_alarm` (`significance`). **Training stops when a mode of gradient x would have grown to x**:

    (α²/2) sinh(2xT) = x.

No held-out samples, no threshold, no number of modes [1]_, [2]_.

References
----------
.. [1] H. Jeong and J. Han, "Robust Fourier Neural Networks".
.. [2] B. Woodworth et al., "Kernel and Rich Regimes in Overparametrized Models", COLT 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asinh

import numpy as np

from robustfourier.arrays import ComplexArray, ComplexMatrix, FloatArray, IndexArray, Vector
from robustfourier.compiling import compiled
from robustfourier.observers import emit, listening

#: α² over x: the product of the start is that much smaller than what noise shows of a coefficient.
START = 1e-3
#: One flow follows modes down to this part of its largest gradient; what is fainter is proposed by
#: the next one, from the residual that the first leaves. With 8 and with 32 all twelve tones are
#: found in 25 of 25 draws (those of `python -m benchmarks.dense_tones`).
DYNAMIC_RANGE = 8.0
#: Part of x from which on a mode is trained with the others: a constant gradient of three quarters
#: of x ends at an eighth of x, and half of x (see `peaks`) takes a gradient of nine tenths of it.
AWAKES = 0.75
_MOST_MODES = 600  # in one flow: a matrix of 6 MB; further ones wait for the next flow
_GROWTH = 0.5  # logarithm by which a sleeping mode may grow in one step
_MOST_STEPS = 2000
_ONE_LINE = 4  # half modes that a line awakes where the samples cover the span, at most
_FRAMES = 8  # of the training that those who watch are shown


@dataclass(frozen=True, eq=False)
class DiagonalFlow:
    """Where one training of the diagonal layer ended."""

    modes: FloatArray  # (J,): the grid
    weight: FloatArray  # (J,): diagonal weights |w| at the end, in units of the noise's root
    gradient: FloatArray  # (J,): |β| at the start
    #: (J,): |z| at the end over outputs, in units of the noise of a coefficient
    amplitude: FloatArray
    #: (J,): x, which a coefficient of noise exceeds anywhere with the false-alarm probability
    noise_gradient: FloatArray
    #: time trained for, and the time T that the false-alarm probability gives
    time: float
    duration: float
    steps: int  # steps taken by the modes that awoke

    @property
    def complete(self) -> bool:
        """Whether it was trained for the whole calibrated time."""
        return self.time >= self.duration * (1.0 - 1e-12)

    def peaks(self) -> FloatArray:
        """Return one mode per peak of the awake modes, strongest first.

        A line between two modes of the grid awakes both: it is placed between them by their
        amplitudes. Where the samples cover a small part of the span, many modes are one line: it is
        placed at the largest gradient among them. Aliases of one line (gaps every night) awake
        together and share its amplitude: where a gradient exceeds x and no mode grew to half of
        that, the largest gradient is taken.
        """
        awake = 0.5 * self.noise_gradient
        if not np.any(self.amplitude > awake):
            clear = self.gradient / self.noise_gradient
            alone = clear.max(initial=0.0) >= 1.0
            return self.modes[[int(np.argmax(clear))]] if alone else np.zeros(0)
        size = np.concatenate([[0.0], self.amplitude, [0.0]])
        top = (size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:])
        at = np.flatnonzero(top & (self.amplitude > awake))
        at = at[np.argsort(-self.amplitude[at], kind="stable")]
        left, here, right = size[at], size[at + 1], size[at + 2]
        spacing = self.modes[1] - self.modes[0] if len(self.modes) > 1 else 0.0
        shift = (right - left) / np.maximum(left + here + right, np.finfo(float).tiny)
        places = self.modes[at] + spacing * shift
        for i, peak in enumerate(at):
            alike = np.flatnonzero(self.amplitude < 0.5 * self.amplitude[peak])
            first = alike[alike < peak].max(initial=-1) + 1
            last = alike[alike > peak].min(initial=len(self.modes))
            if last - first > _ONE_LINE:
                places[i] = self.modes[first + int(np.argmax(self.gradient[first:last]))]
        return np.asarray(places)


def calibrated_time(noise_gradient: float, start: float = START) -> float:
    """Return T with (α²/2) sinh(2xT) = x for α² = start·x.

    >>> t = calibrated_time(3.0)
    >>> bool(np.isclose(0.5 * START * 3.0 * np.sinh(2 * 3.0 * t), 3.0))
    True
    """
    return asinh(2.0 / start) / (2.0 * noise_gradient)


def diagonal_flow(
    modes: FloatArray,
    coefficients: ComplexArray,
    window: ComplexArray,
    noise_gradient: FloatArray | float,
) -> DiagonalFlow:
    """Train the diagonal layer on the whitened coefficients of a residual.

    `modes` (J,): j·spacing for j = j₀, j₀ + 1, …. `coefficients` (J, q): β = Σ w r e^{-iπkθ} /
    √(S_k Σ w), of which noise of spectrum S has |β|² exponential. `window`: Σ w e^{-iπkθ} / Σ w at
    k = 0, spacing, … up to twice the highest mode. `noise_gradient` (J,): x, the root of what
    `significance.Judge.threshold` has. Where it is smaller than elsewhere, as a line there is
    likelier beforehand, the start α is larger: all modes grow to their x in the same time.

    Notes
    -----
    Only modes whose gradient reaches most of x (or of an eighth of the largest gradient, if that is
    more) can awake in the time of this flow; they are trained together, with the exact matrix A of
    the samples, and all others by the closed form. A flow whose largest gradient is more than eight
    times x is interrupted once everything down to an eighth of it could awake: strong modes
    have settled by then, and are better refined to real frequencies before the faint ones are
    looked for. It is `complete` when nothing of that kind was there.
    """
    strength = np.sqrt(np.sum(np.abs(coefficients) ** 2, axis=1))
    largest = float(strength.max(initial=0.0))
    noise_gradient = np.broadcast_to(np.asarray(noise_gradient, np.float64), len(modes))
    most = float(noise_gradient.max())
    duration = calibrated_time(most)
    threshold = max(most, largest / DYNAMIC_RANGE)
    time = asinh(2.0 * threshold / (START * most)) / (2.0 * threshold)
    alpha = np.sqrt(2.0 * noise_gradient / np.sinh(2.0 * noise_gradient * duration))
    least = AWAKES * threshold / most * noise_gradient
    layer = _Layer(modes, coefficients, strength, window, alpha, least)
    for part in np.linspace(0.0, 1.0, _FRAMES, endpoint=False) if listening() else ():
        emit("diagonal", "weights", modes=modes, weight=layer.after(part * time)[0], trained=part)
    weight, amplitude, steps = layer.after(time)
    emit("diagonal", "weights", modes=modes, weight=weight, trained=time / duration)
    found = modes, weight, strength, amplitude, noise_gradient, time, duration, steps
    return DiagonalFlow(*found)


class _Layer:
    """The diagonal layer before training, and what it is after a time.

    Modes whose gradient is below `least` grow by the closed form, the others are trained.
    """

    def __init__(
        self,
        modes: FloatArray,
        coefficients: ComplexArray,
        strength: FloatArray,
        window: ComplexArray,
        alpha: FloatArray,
        least: FloatArray,
    ) -> None:
        self.strength, self.alpha, self.least = strength, alpha, least
        self.index = _can_awake(strength, least)
        self.beta = np.ascontiguousarray(coefficients[self.index])
        spacing = modes[1] - modes[0] if len(modes) > 1 else 1.0
        place = np.round(modes[self.index] / spacing).astype(np.int64)
        apart = place[:, None] - place
        near = window[np.abs(apart)]
        self.toeplitz = np.where(apart >= 0, near, near.conj())
        self.hankel = window[place[:, None] + place]

    def after(self, time: float) -> tuple[FloatArray, FloatArray, int]:
        """Return |w| and |z| after a time, shape (J,), and the steps that took."""
        alpha = self.alpha
        weight = alpha * np.cosh(np.minimum(self.strength * time, 300.0))
        amplitude = 0.5 * alpha**2 * np.sinh(np.minimum(2.0 * self.strength * time, 300.0))
        amplitude[self.strength > self.least] = 0.0
        w, c = alpha[self.index], np.zeros(self.beta.shape, np.complex128)
        steps = _train(self.toeplitz, self.hankel, self.beta, time, w, c) if len(w) else 0
        weight[self.index] = np.abs(w)
        amplitude[self.index] = np.abs(w) * np.sqrt(np.sum(np.abs(c) ** 2, axis=1))
        return weight, amplitude, steps


def _can_awake(strength: FloatArray, least: FloatArray) -> IndexArray:
    """Return which modes have a gradient that lets them awake.

    Where these are too many (samples in a small part of the span, a steep continuum), those that
    are larger than their neighbours stand for them.
    """
    awake = strength > least
    if np.count_nonzero(awake) > _MOST_MODES:
        padded = np.concatenate([[0.0], strength, [0.0]])
        awake &= (strength >= padded[:-2]) & (strength > padded[2:])
    index = np.flatnonzero(awake)
    return np.sort(index[np.argsort(-strength[index], kind="stable")[:_MOST_MODES]])


@compiled
def _train(
    toeplitz: ComplexMatrix,
    hankel: ComplexMatrix,
    beta: ComplexMatrix,
    time: float,
    w: Vector,
    c: ComplexMatrix,
) -> int:
    """Train w and c in place for a time; return the steps.

    Each step holds the gradient and turns (w, c) hyperbolically along it, which is exact for modes
    that sleep. A mode of size D = w² + |c|² relaxes at the rate 2D or faster: large modes take
    shorter steps, and merely follow what the sleeping ones leave them.
    """
    count, q = beta.shape
    clock, steps = 0.0, 0
    g, z = np.empty((count, q), np.complex128), np.zeros((count, q), np.complex128)
    size, length, root = np.empty(count), np.empty(count), np.empty(count)
    near = np.empty((count, count))
    for k in range(count):
        for m in range(count):
            near[k, m] = abs(toeplitz[k, m]) + abs(hankel[k, m])
    while clock < time and steps < _MOST_STEPS:
        most = 1e-300
        for k in range(count):
            length[k] = 0.0
            size[k] = w[k] * w[k]
            for o in range(q):
                total = beta[k, o]
                for m in range(count):
                    total -= toeplitz[k, m] * z[m, o] + hankel[k, m] * z[m, o].conjugate()
                g[k, o] = total
                length[k] += total.real * total.real + total.imag * total.imag
                size[k] += c[k, o].real ** 2 + c[k, o].imag ** 2
            length[k] = np.sqrt(length[k])
            most = max(most, length[k])
        step = min(_GROWTH / most, time - clock)
        for k in range(count):
            root[k] = np.sqrt(min(step * size[k], 1.0))
        # Gershgorin's bound on the curvature of the modes that have grown.
        bound = 1.0
        for k in range(count):
            row = 0.0
            for m in range(count):
                row += near[k, m] * root[m]
            bound = max(bound, row * root[k])
        for k in range(count):
            if length[k] == 0.0:
                continue
            turn = min(step, 1.0 / size[k]) / bound * length[k]
            along = 0.0
            for o in range(q):
                along += c[k, o].real * g[k, o].real + c[k, o].imag * g[k, o].imag
            along /= length[k]
            new = np.cosh(turn) * along + np.sinh(turn) * w[k]
            w[k] = np.cosh(turn) * w[k] + np.sinh(turn) * along
            for o in range(q):
                c[k, o] += (new - along) / length[k] * g[k, o]
                z[k, o] = w[k] * c[k, o]
        clock += step
        steps += 1
    return steps
