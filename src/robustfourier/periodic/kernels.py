r"""Covariance functions (kernels) of stationary Gaussian processes on the line.

Every kernel here is a sum of the terms of Foreman-Mackey et al. [1]_,

.. math:: k(\tau) = \sum_m e^{-c_m |\tau|} (a_m \cos d_m \tau + b_m \sin d_m |\tau|),

for which `semiseparable` factors the covariance of n samples in O(n J²). `Kernel` is such a sum.
`sho` (stochastically driven damped oscillators), `QuasiPeriodic` (harmonics modulated by
Ornstein–Uhlenbeck processes) and `integrated_ornstein_uhlenbeck` (a drift) make one. White noise
is no kernel: its variances σ²/w_i, one per sample, are the ``noise`` of `semiseparable`. What is
optimised has a pullback: it takes the gradient along the coefficients a, b, c, d to the one along
its own parameters.

Throughout, time is θ and frequencies are angular, in radians per θ.

References
----------
.. [1] D. Foreman-Mackey, E. Agol, S. Ambikasaran, R. Angus, "Fast and scalable Gaussian process
   modeling with applications to astronomical time series", AJ 154, 220 (2017), arXiv:1703.09710.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, pi

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray, IntArray, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.periodic.basis import cos_sin, line_columns

#: Of |1 − 4Q²|, at least: both formulas of an oscillator are singular at Q = 1/2, where they meet.
_NEAR_CRITICAL = 1e-6


@dataclass(frozen=True, eq=False)
class Kernel:
    r"""A sum of M terms :math:`e^{-c|\tau|} (a \cos d\tau + b \sin d|\tau|)`.

    Parameters
    ----------
    a, b, c, d : ndarray of shape (M,)
        The coefficients of celerite. A term with d = 0 is a plain exponential (b is not read).
    component : ndarray of int of shape (M,)
        Component of a model that a term belongs to; −1 for none (coloured noise).

    Examples
    --------
    >>> kernel = Kernel.sum([sho([[10.0, 0.25, 2.0]]), sho([[90.0, 8.0, 1.0]])])
    >>> kernel.variance, kernel.n_columns
    (3.0, 4)
    >>> float(kernel(np.array([0.0]))[0])
    3.0
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray
    component: IntArray

    @classmethod
    def sum(cls, kernels: list[Kernel]) -> Kernel:
        """Return the sum of several kernels: the terms of all."""
        some = [kernel for kernel in kernels if len(kernel.a)]
        if len(some) < 2:
            return some[0] if some else cls.zero()
        names = ("a", "b", "c", "d", "component")
        return cls(*(np.concatenate([getattr(k, name) for k in some]) for name in names))

    @classmethod
    def zero(cls) -> Kernel:
        """Return the kernel without terms."""
        none = np.zeros(0)
        return cls(none, none, none, none, np.zeros(0, np.int64))

    def select(self, which: BoolArray | IndexArray) -> Kernel:
        """Return the sum of some of the terms."""
        names = ("a", "b", "c", "d", "component")
        return Kernel(*(getattr(self, name)[which] for name in names))

    def scaled(self, factor: float) -> Kernel:
        """Return the kernel times a factor."""
        return replace(self, a=factor * self.a, b=factor * self.b)

    @property
    def coefficients(self) -> FloatArray:
        """The rows a, b, c and d, shape (4, M)."""
        return np.stack([self.a, self.b, self.c, self.d])

    @property
    def variance(self) -> float:
        """The kernel at τ = 0."""
        return float(self.a.sum())

    def __call__(self, tau: FloatArray) -> FloatArray:
        """Return k(τ) for τ of any shape."""
        far = np.abs(np.asarray(tau, np.float64))[..., None]
        wave = self.a * np.cos(self.d * far) + self.b * np.sin(self.d * far)
        return np.asarray((np.exp(-self.c * far) * wave).sum(axis=-1))

    def psd(self, omega: FloatArray) -> FloatArray:
        r"""Return the power spectral density at angular frequencies ω of any shape.

        .. math::

            S(\omega) = \int k(\tau) e^{-i\omega\tau} d\tau = 2 \sum \frac{(ac + bd)(c^2 + d^2)
            + (ac - bd) \omega^2}{\omega^4 + 2 (c^2 - d^2) \omega^2 + (c^2 + d^2)^2},

        so that white noise of variance σ² at a spacing Δ has the density σ² Δ. A term with c = 0 is
        a line and has no density.

        Examples
        --------
        >>> omega = np.linspace(-1e4, 1e4, 400_001)
        >>> float(sho([[90.0, 3.0, 2.0]]).psd(omega).sum() * 0.05 / (2 * np.pi))  # the variance
        2.00
        """
        x = np.square(np.asarray(omega, np.float64))[..., None]
        rate, square = self.c**2 + self.d**2, self.c**2 - self.d**2
        even, odd = self.a * self.c, self.b * self.d
        top = (even + odd) * rate + (even - odd) * x
        return np.asarray(2.0 * (top / (x**2 + 2.0 * square * x + rate**2)).sum(axis=-1))

    @property
    def n_columns(self) -> int:
        """Columns J of the generators U and V: two per wave, one per exponential, an even number.

        Waves come first. A zero column makes an odd number of exponentials even: the recursions
        go by pairs.
        """
        waves = int(np.count_nonzero(self.d))
        return 2 * waves + (len(self.d) - waves + 1) // 2 * 2

    def per_column(self, numbers: FloatArray | BoolArray) -> FloatArray:
        """Return numbers of the terms, shape (M,), for each column of the generators, shape (J,).

        The zero column has a zero.
        """
        wave = self.d != 0.0
        result = np.zeros(self.n_columns)
        both = np.concatenate([numbers[wave].repeat(2), numbers[~wave]])
        result[: len(both)] = both
        return result

    def generators(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return U and V, shape (n, J), such that below the diagonal

        .. math:: K_{ij} = \sum_p U_{ip} e^{-c_p (\theta_i - \theta_j)} V_{jp}, \quad i > j,

        with V = (cos dθ, sin dθ) and U = (a cos dθ + b sin dθ, a sin dθ − b cos dθ) for a wave, and
        1 and a for an exponential; the rates c are ``per_column(c)``. For times in reverse order U
        and V change places.
        """  # noqa: D400
        shape = len(theta), self.n_columns
        u, v = np.empty(shape), np.empty(shape)
        fill_generators(np.ascontiguousarray(theta), self.coefficients, u, v)
        return u, v


@compiled
def add_pullback(terms: Matrix, sums: Matrix, diagonal: float, result: Matrix) -> None:
    """Add the gradient along a, b, c and d, shape (4, M), of that along the generators.

    `sums` are sums over the rows of what `semiseparable` has for each column or pair of columns,
    shape (4, J); the derivative along the variance is that along the diagonal.
    """
    waves = 0
    for m in range(terms.shape[1]):
        waves += 1 if terms[3, m] != 0.0 else 0
    wave, other = 0, 2 * waves
    for m in range(terms.shape[1]):
        result[0, m] += diagonal
        if terms[3, m] == 0.0:
            result[0, m] += sums[0, other]
            result[2, m] += sums[2, other]
            other += 1
        else:
            result[0, m] += sums[1, wave]
            result[1, m] += sums[1, wave + 1]
            result[2, m] += sums[2, wave] + sums[2, wave + 1]
            result[3, m] += sums[3, wave]
            wave += 2


@compiled
def column_rates(terms: Matrix, rates: Vector) -> None:
    """Write the rate of each column of the generators (`Kernel.per_column`); others stay."""
    waves = 0
    for m in range(terms.shape[1]):
        waves += 1 if terms[3, m] != 0.0 else 0
    wave, other = 0, 2 * waves
    for m in range(terms.shape[1]):
        if terms[3, m] == 0.0:
            rates[other] = terms[2, m]
            other += 1
        else:
            rates[wave], rates[wave + 1] = terms[2, m], terms[2, m]
            wave += 2


@compiled
def fill_generators(theta: Vector, terms: Matrix, u: Matrix, v: Matrix) -> None:
    """Write U and V of waves, then of exponentials, then zeros."""
    n, waves = len(theta), 0
    for m in range(terms.shape[1]):
        waves += 1 if terms[3, m] != 0.0 else 0
    cosine, sine, wave, other = np.empty(n), np.empty(n), 0, 2 * waves
    for m in range(terms.shape[1]):
        a, b, d = terms[0, m], terms[1, m], terms[3, m]
        if d == 0.0:
            for i in range(n):
                u[i, other], v[i, other] = a, 1.0
            other += 1
            continue
        cos_sin(theta, d / pi, cosine, sine)
        for i in range(n):
            x, y = cosine[i], sine[i]
            u[i, wave], u[i, wave + 1] = a * x + b * y, a * y - b * x
            v[i, wave], v[i, wave + 1] = x, y
        wave += 2
    if other < u.shape[1]:
        for i in range(n):
            u[i, other], v[i, other] = 0.0, 0.0


def sho(parameters: FloatArray | list[list[float]]) -> Kernel:
    r"""Return the kernel of stochastically driven, damped harmonic oscillators (SHO) [1]_.

    With the frequency ω₀ without damping, the quality factor Q and the variance s,

    .. math::

        S(\omega) = \frac{2 s \omega_0^3 / Q}{(\omega^2 - \omega_0^2)^2 + \omega^2 \omega_0^2/Q^2},
        \qquad k(\tau) = s\, e^{-\omega_0 |\tau| / 2Q} \left(\cos \eta\omega_0\tau
        + \tfrac{1}{2 \eta Q} \sin \eta\omega_0|\tau|\right)

    with η = |1 − 1/4Q²|^½. For Q < 1/2 it is overdamped: two exponentials of the rates
    ω₀ (1 ± f) / 2Q with f = (1 − 4Q²)^½ and the variances s (1 ∓ 1/f) / 2.

    Parameters
    ----------
    parameters : array of shape (k, 3)
        ω₀, Q and s of each.

    Examples
    --------
    >>> len(sho([[10.0, 0.25, 2.0]]).a), len(sho([[10.0, 4.0, 2.0]]).a)
    (2, 1)
    """
    rows = np.asarray(parameters, np.float64).tolist()
    terms, count = np.empty((4, 2 * len(rows))), 0
    for frequency, quality, variance in rows:
        count += sho_terms(frequency, quality, variance, terms, count)
    a, b, c, d = terms[:, :count].copy()
    return Kernel(a, b, c, d, np.full(count, -1, np.int64))


@compiled
def sho_terms(frequency: float, quality: float, variance: float, terms: Matrix, first: int) -> int:
    """Write a, b, c and d of an oscillator into columns from the first on; return how many."""
    f = np.sqrt(max(abs(1.0 - 4.0 * quality * quality), _NEAR_CRITICAL))
    rate = 0.5 * frequency / quality
    if quality >= 0.5:
        terms[0, first], terms[1, first] = variance, variance / f
        terms[2, first], terms[3, first] = rate, rate * f
        return 1
    terms[0, first], terms[0, first + 1] = (
        0.5 * variance * (1.0 + 1.0 / f),
        0.5 * variance * (1.0 - 1.0 / f),
    )
    terms[1, first], terms[1, first + 1] = 0.0, 0.0
    terms[2, first], terms[2, first + 1] = rate * (1.0 - f), rate * (1.0 + f)
    terms[3, first], terms[3, first + 1] = 0.0, 0.0
    return 2


def sho_of_logarithms(logarithms: FloatArray) -> Kernel:
    """Return `sho` of the logarithms of ω₀, Q and s of each oscillator, shape (3k,)."""
    return sho(np.exp(logarithms).reshape(-1, 3))


def sho_pullback(logarithms: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return the gradient along the logarithms of ω₀, Q and s, shape (3k,).

    Parameters
    ----------
    logarithms : ndarray of shape (3k,)
    gradient : ndarray of shape (4, M)
        Along the coefficients of a kernel whose last terms are `sho_of_logarithms`.
    """
    result = np.empty(len(logarithms))
    _sho_pullback(np.exp(logarithms), gradient, result)
    return result


@compiled
def _sho_pullback(parameters: Vector, gradient: Matrix, result: Vector) -> None:
    """Write the gradient along logarithms, from the last oscillator and the last term on."""
    term = gradient.shape[1]
    for k in range(len(parameters) - 3, -1, -3):
        frequency, quality, variance = parameters[k], parameters[k + 1], parameters[k + 2]
        square, rate = 4.0 * quality * quality, 0.5 * frequency / quality
        f = np.sqrt(max(abs(1.0 - square), _NEAR_CRITICAL))
        term -= 2 if quality < 0.5 else 1
        on_a, on_c = gradient[0, term], gradient[2, term]
        if quality < 0.5:  # df / d log Q = −4Q² / f
            on_a2, on_c2 = gradient[0, term + 1], gradient[2, term + 1]
            on_rate = rate * (on_c * (1.0 - f) + on_c2 * (1.0 + f))
            on_f = 0.5 * variance / (f * f) * (on_a2 - on_a) + rate * (on_c2 - on_c)
            result[k + 1] = -on_rate - on_f * square / f
            result[k + 2] = 0.5 * variance * (on_a * (1.0 + 1.0 / f) + on_a2 * (1.0 - 1.0 / f))
        else:  # df / d log Q = 4Q² / f
            on_b, on_d = gradient[1, term], gradient[3, term]
            on_rate, on_f = rate * (on_c + on_d * f), rate * on_d - variance / (f * f) * on_b
            result[k + 1] = -on_rate + on_f * square / f
            result[k + 2] = variance * (on_a + on_b / f)
        result[k] = on_rate


@dataclass(frozen=True, eq=False)
class QuasiPeriodic:
    r"""A family of harmonics, each modulated by an Ornstein–Uhlenbeck process.

    .. math::

        k(\tau) = s \sum_n p_n e^{-\gamma_n |\tau|} \cos(\pi n k_0 \tau), \qquad
        S(\omega) = s \sum_n p_n \left[\frac{\gamma_n}{\gamma_n^2 + (\omega - \pi n k_0)^2}
        + \frac{\gamma_n}{\gamma_n^2 + (\omega + \pi n k_0)^2}\right]

    with the shares p_n of the harmonics, which add up to one. If amplitudes wander, all rates γ_n
    are γ, one over the coherence time. If it is the phase of the clock that diffuses, γ_n = n² γ.

    The parameters of a kernel are log γ, log s and the shift of the mode k₀.

    Parameters
    ----------
    orders : ndarray of int of shape (H,)
    powers : ndarray of shape (H,)
        Shares up to a factor.
    mode : float
        k₀, without the shift.
    phase_diffusion : bool
    component : int

    Examples
    --------
    >>> family = QuasiPeriodic(np.array([1, 2]), np.array([3.0, 1.0]), 20.0)
    >>> kernel = family.kernel(np.array([np.log(5.0), np.log(2.0), 0.0]))
    >>> kernel.variance, kernel.c.tolist()
    (2.0, [5.0, 5.0])
    """

    orders: IntArray
    powers: FloatArray
    mode: float
    phase_diffusion: bool = False
    component: int = 0

    def kernel(self, parameters: FloatArray) -> Kernel:
        """Return the kernel; of several sets of parameters, shape (m, 3), one after the other."""
        logs, shift = parameters[..., None, :2], parameters[..., None, 2]
        order = self.orders.astype(np.float64)
        rates = np.exp(logs[..., 0]) * (order**2 if self.phase_diffusion else np.ones(len(order)))
        size = (np.exp(logs[..., 1]) * (self.powers / self.powers.sum())).ravel()
        frequency = pi * order * (self.mode + shift)
        component = np.full(len(size), self.component)
        return Kernel(size, np.zeros(len(size)), rates.ravel(), frequency.ravel(), component)

    def pullback(self, kernel: Kernel, gradient: FloatArray) -> FloatArray:
        """Return the gradient along the parameters, shape (3,), of that along the coefficients.

        `kernel` is the one that `gradient`, shape (4, H), was taken at.
        """
        on_a, _, on_c, on_d = gradient
        return np.array([on_c @ kernel.c, on_a @ kernel.a, pi * (self.orders @ on_d)])


def integrated_ornstein_uhlenbeck(
    rate: float, lag: float, increment: float, slowest: float
) -> Kernel:
    r"""Return the kernel of a drift: the integral of an Ornstein–Uhlenbeck process (its slope).

    With v the variance of the slope and x = rate · lag, the drift changes in a time lag, its slope
    being known, by the variance

    .. math:: v\, (2x - 3 + 4 e^{-x} - e^{-2x}) / \mathrm{rate}^2.

    The integral is not stationary: the kernel is that of an overdamped oscillator that comes back
    to its mean at the frequency `slowest`, and is the integral on times that are short beside it.

    Parameters
    ----------
    rate : float
        At which the slope forgets: a random walk of the level if large, of the slope if small.
    lag, increment : float
        A time, and the variance of the change in it.
    slowest : float
        In radians per θ, far below the rate and one over the record.

    Examples
    --------
    >>> kernel = integrated_ornstein_uhlenbeck(1000.0, 0.2, 1.0, 0.03)  # about a random walk
    >>> bool(abs(2 * (kernel.variance - kernel(np.array([0.2]))[0]) - 1.0) < 0.02)
    True
    """
    x = rate * lag
    slope = increment * rate**2 / (2.0 * x - 3.0 + 4.0 * exp(-x) - exp(-2.0 * x))
    return sho([[slowest, slowest / rate, slope / slowest**2]])


def lines_of_powers(theta: FloatArray, modes: FloatArray, powers: FloatArray) -> FloatArray:
    """Return strict lines as columns √p cos πkθ and √p sin πkθ, shape (n, 2K).

    Times independent standard normal amplitudes they are a process of the kernel Σ p cos πkτ.
    """
    return line_columns(theta, modes).T * np.sqrt(np.tile(powers, 2))
