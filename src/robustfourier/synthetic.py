"""Noisy periodic problems whose truth is known.

`paper_example` gives examples 1, 2 and 3 of the paper exactly as written; `random_mixture` draws
sums of link functions of sinusoids with chosen links, modes, sampling and noise. Both return a
`Problem`, which carries the noisy samples and everything that made them, so that a method can be
judged by `relative_error` and by the modes it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError

RandomState = int | np.random.Generator | None
Sampling = Literal["even", "irregular", "gappy"]
Noise = Literal["white", "ar1", "heavy-tailed", "outliers"]

OUTLIER_FRACTION = 0.02
OUTLIER_SIZE = (5.0, 15.0)  # in units of the noise's standard deviation
STUDENT_DEGREES = 3.0  # the heaviest tail of whole degrees that still has a variance

LINKS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "identity": lambda x: x,
    "cube": lambda x: x**3,
    "tanh": lambda x: np.tanh(10.0 * x),
    "relu": lambda x: np.maximum(x, 0.0),
    "square": lambda x: x**2,
    "abs": np.abs,
    "exp": np.exp,
}
"""Link functions on [-1, 1] by name; "tanh" is the paper's tanh(10 x)."""


@dataclass(frozen=True)
class Component:
    """One periodic component, amplitude · link(cos πk(θ − shift)) or the same with sin.

    Attributes
    ----------
    mode : float
        The fundamental mode k, in cycles over the span [-1, 1].
    link : str
        A name in `LINKS`.
    kind : {"cos", "sin"}
        The sinusoid.
    amplitude, shift : float
        Factor in front of the link; shift in θ.

    Examples
    --------
    >>> Component(mode=5, link="relu", kind="cos").function([0.0, 0.2])
    array([1., 0.])
    """

    mode: float
    link: str = "identity"
    kind: Literal["cos", "sin"] = "cos"
    amplitude: float = 1.0
    shift: float = 0.0

    def function(self, theta: ArrayLike) -> FloatArray:
        """Values of the component at `theta`, in its shape."""
        angle = np.pi * self.mode * (np.asarray(theta, dtype=np.float64) - self.shift)
        sinusoid = np.cos(angle) if self.kind == "cos" else np.sin(angle)
        return np.asarray(self.amplitude * LINKS[self.link](sinusoid), dtype=np.float64)


@dataclass(frozen=True)
class Mixture:
    """The sum of components as a function of θ.

    >>> Mixture((Component(1), Component(2, amplitude=0.5)))([0.0, 1.0])
    array([ 1.5, -0.5])
    """

    components: tuple[Component, ...]

    def __call__(self, theta: ArrayLike) -> FloatArray:
        """Values at `theta`, in its shape."""
        theta = np.asarray(theta, dtype=np.float64)
        values = np.zeros_like(theta)
        for component in self.components:
            values = values + component.function(theta)
        return values


@dataclass(frozen=True)
class Problem:
    """Noisy samples and the truth behind them.

    Attributes
    ----------
    theta, y, truth : ndarray of shape (n,)
        Ascending sample points in [-1, 1], noisy and noiseless values there; read-only.
    function : callable
        θ ↦ f(θ), the noiseless function.
    modes : ndarray of shape (number of components,)
        Fundamental modes, ascending.
    components : tuple of Component
        The summands of `function`.
    noise : float
        Standard deviation of the noise (before outliers are put in).
    name : str
        What to call the problem in tables and figures.
    """

    theta: FloatArray
    y: FloatArray
    truth: FloatArray
    function: Callable[[ArrayLike], FloatArray]
    modes: FloatArray
    components: tuple[Component, ...]
    noise: float
    name: str = "mixture"


PAPER_COMPONENTS: dict[int, tuple[Component, ...]] = {
    1: (
        Component(5, kind="cos", amplitude=0.5),
        Component(29, kind="cos", amplitude=0.8),
        Component(61, kind="sin", amplitude=0.3),
    ),
    2: (
        Component(5, kind="cos", amplitude=0.5, shift=0.2),
        Component(29, kind="cos", amplitude=0.8, shift=-0.1),
        Component(61, kind="sin", amplitude=0.3, shift=0.3),
    ),
    3: (
        Component(5, link="cube", kind="cos", amplitude=0.125),  # (0.5 x)³
        Component(29, link="tanh", kind="cos"),
        Component(61, link="relu", kind="sin"),
    ),
}


def paper_grid() -> FloatArray:
    """Return the paper's sample points θ_i = −1 + 2·10⁻⁴·i, i = 0 … 10⁴ (section 5).

    >>> paper_grid()[[0, 5000, 10000]]
    array([-1.,  0.,  1.])
    """
    return np.linspace(-1.0, 1.0, 10_001)


def paper_example(number: int, *, noise: float = 0.4, random_state: RandomState = None) -> Problem:
    """Return example 1, 2 or 3 of the paper (section 5): its grid, its noise N(0, noise²).

    Parameters
    ----------
    number : {1, 2, 3}
        1: three sinusoids; 2: the same with shifted phases; 3: nonlinear links.
    noise : float
        Standard deviation of the noise; the paper's is 0.4.
    random_state : int, Generator or None
        Seed of the noise.

    Returns
    -------
    Problem
        10 001 samples with modes 5, 29 and 61.

    Examples
    --------
    >>> problem = paper_example(3, random_state=0)
    >>> problem.modes
    array([ 5., 29., 61.])
    >>> [component.link for component in problem.components]
    ['cube', 'tanh', 'relu']
    """
    if number not in PAPER_COMPONENTS:
        raise InputError(f"number={number!r}: the synthetic examples of the paper are 1, 2 and 3.")
    theta = paper_grid()
    return _sampled(
        PAPER_COMPONENTS[number],
        theta,
        np.random.default_rng(random_state).standard_normal(theta.size),
        noise,
        name=f"example {number}",
    )


def noisy_series(
    times: ArrayLike, values: ArrayLike, *, noise: float = 0.4, random_state: RandomState = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scale a measured series to [-1, 1] in time and value and add noise (section 5.4).

    `noise` is its standard deviation in units of half the range of the values. Returns θ, y and the
    truth.

    Examples
    --------
    >>> noisy_series([0.0, 1.0, 2.0], [10.0, 30.0, 20.0], random_state=0)[2]
    array([-1.,  1.,  0.])
    """
    t, v = (np.asarray(x, dtype=np.float64) for x in (times, values))
    if np.ptp(v) == 0.0:
        raise InputError("values: all are equal, so they cannot be scaled to [-1, 1].")
    theta = np.interp(t, t[[0, -1]], [-1.0, 1.0])
    truth = np.interp(v, [v.min(), v.max()], [-1.0, 1.0])
    return theta, truth + noise * np.random.default_rng(random_state).standard_normal(v.size), truth


def random_mixture(
    n_components: int = 3,
    *,
    links: Sequence[str] = ("identity",),
    modes: ArrayLike | None = None,
    max_mode: float = 60.0,
    integer_modes: bool = True,
    amplitudes: tuple[float, float] = (0.3, 1.0),
    shifts: bool = True,
    n_samples: int = 1000,
    sampling: Sampling = "even",
    noise: float = 0.4,
    noise_kind: Noise = "white",
    correlation: float = 0.8,
    random_state: RandomState = None,
) -> Problem:
    """Draw a mixture of periodic components and sample it with noise.

    Parameters
    ----------
    n_components : int
        Number of components; ignored if `modes` is given.
    links : sequence of str
        Names in `LINKS`; component i gets ``links[i % len(links)]``.
    modes : array_like of shape (n_components,), optional
        Fundamental modes. By default they are drawn between 2 and `max_mode`, at least 1.5 modes
        apart (two lines closer than one mode cannot be resolved).
    max_mode : float
        Largest mode drawn.
    integer_modes : bool
        Draw whole modes, or any real ones.
    amplitudes : (float, float)
        Range of the uniformly drawn amplitudes.
    shifts : bool
        Shift each component by a random part of its period.
    n_samples : int
        Number of samples.
    sampling : {"even", "irregular", "gappy"}
        Grid with both ends, uniform random points, or uniform random points outside two gaps that
        take 30 % of the span.
    noise : float
        Standard deviation of the noise.
    noise_kind : {"white", "ar1", "heavy-tailed", "outliers"}
        Gaussian; Gaussian with correlation `correlation` between neighbouring samples; Student t
        with 3 degrees of freedom; Gaussian with 2 % of the samples off by 5 to 15 deviations.
    correlation : float
        Coefficient of the AR(1) noise, in (-1, 1).
    random_state : int, Generator or None
        Seed of everything drawn.

    Examples
    --------
    >>> problem = random_mixture(2, links=("relu", "tanh"), sampling="gappy", random_state=1)
    >>> len(problem.components), problem.theta.shape
    (2, (1000,))
    >>> bool(np.allclose(problem.function(problem.theta), problem.truth))
    True
    """
    unknown = [link for link in links if link not in LINKS]
    if unknown or not links:
        raise InputError(f"links={tuple(links)!r}: choose from {sorted(LINKS)}.")
    if n_samples < 2:
        raise InputError(f"n_samples={n_samples!r}: at least 2 samples are needed.")
    if not -1.0 < correlation < 1.0:
        raise InputError(f"correlation={correlation!r}: must lie between -1 and 1.")
    rng = np.random.default_rng(random_state)
    drawn = (
        _draw_modes(n_components, max_mode, integer_modes, rng)
        if modes is None
        else np.atleast_1d(np.asarray(modes, dtype=np.float64))
    )
    components = tuple(
        Component(
            mode=float(mode),
            link=links[i % len(links)],
            kind="cos" if rng.random() < 0.5 else "sin",
            amplitude=float(rng.uniform(*amplitudes)),
            # One period of mode k is 2/k in θ.
            shift=float(rng.uniform(0.0, 2.0 / mode)) if shifts else 0.0,
        )
        for i, mode in enumerate(drawn)
    )
    theta = _sample_points(sampling, n_samples, rng)
    unit_noise = _unit_noise(noise_kind, n_samples, correlation, rng)
    return _sampled(components, theta, unit_noise, noise, name="mixture")


def relative_error(prediction: ArrayLike, truth: ArrayLike) -> float:
    """Relative L² error ‖prediction − truth‖₂ / ‖truth‖₂ (section 5 of the paper).

    Parameters
    ----------
    prediction, truth : array_like of equal shape
        Values on one evenly spaced grid.

    Examples
    --------
    >>> relative_error([1.0, 1.0], [1.0, 2.0])
    0.447
    """
    prediction = np.asarray(prediction, dtype=np.float64)
    truth = np.asarray(truth, dtype=np.float64)
    if prediction.shape != truth.shape:
        raise InputError(
            f"prediction has shape {prediction.shape} and truth {truth.shape}: "
            "evaluate both at the same points."
        )
    size = float(np.linalg.norm(truth))
    if size == 0.0:
        raise InputError("truth is zero everywhere: the relative error is not defined.")
    return float(np.linalg.norm(prediction - truth)) / size


def _sampled(
    components: tuple[Component, ...],
    theta: FloatArray,
    unit_noise: FloatArray,
    noise: float,
    *,
    name: str,
) -> Problem:
    if not (np.isfinite(noise) and noise >= 0.0):
        raise InputError(f"noise={noise!r}: must be a finite number, zero or larger.")
    function = Mixture(components)
    truth = function(theta)
    modes = np.sort(np.array([component.mode for component in components], dtype=np.float64))
    y = truth + noise * unit_noise
    for array in (theta, y, truth, modes):
        array.setflags(write=False)
    return Problem(theta, y, truth, function, modes, components, float(noise), name)


def _draw_modes(
    n_components: int, max_mode: float, integer_modes: bool, rng: np.random.Generator
) -> FloatArray:
    """Draw modes in [2, max_mode]; whatever comes closer than 1.5 to another is drawn again."""
    if n_components < 1 or 2.0 + 3.0 * n_components > max_mode:
        raise InputError(
            f"n_components={n_components!r}, max_mode={max_mode!r}: components must be at least "
            "one and have room; raise max_mode to more than 2 + 3·n_components."
        )
    modes: list[float] = []
    while len(modes) < n_components:
        mode = float(rng.uniform(2.0, max_mode))
        mode = round(mode) if integer_modes else mode
        if all(abs(mode - other) >= 1.5 for other in modes):
            modes.append(mode)
    return np.array(modes)


def _sample_points(sampling: str, n_samples: int, rng: np.random.Generator) -> FloatArray:
    if sampling == "even":
        return np.linspace(-1.0, 1.0, n_samples)
    if sampling == "irregular":
        return np.sort(rng.uniform(-1.0, 1.0, n_samples))
    if sampling == "gappy":
        # Uniform on 70 % of the span, then the two gaps of 15 % (0.3 in θ) are pushed in.
        theta = np.sort(rng.uniform(-1.0, 0.4, n_samples))
        first, second = np.sort(rng.uniform(-0.9, 0.3, 2))
        return theta + 0.3 * (theta > first) + 0.3 * (theta > second)
    raise InputError(f"sampling={sampling!r}: choose 'even', 'irregular' or 'gappy'.")


def _unit_noise(
    kind: str, n_samples: int, correlation: float, rng: np.random.Generator
) -> FloatArray:
    """Noise with mean zero and standard deviation one (outliers come on top)."""
    if kind == "white":
        return rng.standard_normal(n_samples)
    if kind == "ar1":
        return _ar1(n_samples, correlation, rng)
    if kind == "heavy-tailed":
        variance = STUDENT_DEGREES / (STUDENT_DEGREES - 2.0)
        return rng.standard_t(STUDENT_DEGREES, n_samples) / np.sqrt(variance)
    if kind == "outliers":
        hit = rng.random(n_samples) < OUTLIER_FRACTION
        jump = rng.choice([-1.0, 1.0], n_samples) * rng.uniform(*OUTLIER_SIZE, n_samples)
        return rng.standard_normal(n_samples) + np.where(hit, jump, 0.0)
    raise InputError(f"noise_kind={kind!r}: choose 'white', 'ar1', 'heavy-tailed' or 'outliers'.")


def _ar1(n_samples: int, correlation: float, rng: np.random.Generator) -> FloatArray:
    """Stationary AR(1) noise: the first value already has the stationary variance one."""
    innovations = rng.standard_normal(n_samples)
    innovations[1:] *= np.sqrt(1.0 - correlation**2)
    return np.asarray(lfilter([1.0], [1.0, -correlation], innovations), dtype=np.float64)
