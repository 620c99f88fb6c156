"""The problems: how a seed becomes one `Task`.

Synthetic tasks are scored against their truth, real series on held-out blocks and known periods.
Noise is stated as a multiple of the signal's standard deviation.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.peers.method_interface import FloatArray, Hints
from robustfourier.datasets import (
    Dataset,
    load_electricity_demand,
)
from robustfourier.synthetic import LINKS, Component, Problem, paper_example, random_mixture

BAND = 100.0  # modes in the dictionaries for sinusoids, whose truth lies below 80
LINKED_BAND = 200.0  # the same for links, whose harmonics go on
WEAKEST_HARMONIC = 0.01  # of the component's strongest: weaker ones do not count as lines
HARMONICS = 60
HELD_OUT = 0.2
CORRELATION = 0.8
GRID = 4096
RELATED = 0.3  # modes


@dataclass(frozen=True)
class Task:
    """One problem drawn by one seed.

    Attributes
    ----------
    t, y : ndarray of shape (n,)
        What a method is given.
    t_test, y_test : ndarray of shape (n_test,)
        Where it must predict, and the noiseless (real series: measured) values there.
    scale : float
        What the error is divided by.
    lines, line_errors : ndarray of shape (n_lines,)
        True periods, harmonics included; Cramér-Rao standard errors of their *frequencies*.
    fundamentals, fundamental_errors : ndarray of shape (n_components,)
        The same for the components' fundamental periods.
    even : bool
        Whether `t` is an even grid.
    scored : {"truth", "measured", "noise"}
        What `y_test` is.
    hints : Hints
        What some methods must be given.
    """

    t: FloatArray
    y: FloatArray
    t_test: FloatArray
    y_test: FloatArray
    scale: float
    lines: FloatArray
    line_errors: FloatArray
    fundamentals: FloatArray
    fundamental_errors: FloatArray
    even: bool
    scored: Literal["truth", "measured", "noise"]
    hints: Hints

    @property
    def span(self) -> float:
        """Length of the record: its resolution in frequency is 1 / span."""
        return float(np.ptp(self.t))


def harmonics(component: Component, highest: float) -> tuple[FloatArray, FloatArray]:
    """Modes and amplitudes of a component's lines below `highest`.

    g(cos x) = Σ λ_n cos nx; the λ_n are read off one period.

    Examples
    --------
    >>> harmonics(Component(5.0, link="square"), 100.0)
    (array([10.]), array([0.5]))
    """
    angle = 2.0 * np.pi * np.arange(GRID) / GRID
    coefficients = np.fft.rfft(LINKS[component.link](np.cos(angle))).real / GRID * 2.0
    order = np.arange(1, HARMONICS + 1)
    amplitude = np.abs(component.amplitude * coefficients[order])
    mode = component.mode * order
    kept = (amplitude > WEAKEST_HARMONIC * amplitude.max()) & (mode < highest)
    return mode[kept], amplitude[kept]


def mixture_task(problem: Problem, *, even: bool, periodic: bool = False, ar1: float = 0.0) -> Task:
    """Judge a synthetic problem against its truth, on its even grid or a fine one."""
    n = problem.theta.size
    families = [harmonics(component, n / 2) for component in problem.components]
    modes = np.concatenate([mode for mode, _ in families])
    amplitudes = np.concatenate([amplitude for _, amplitude in families])
    first = np.array([mode[0] for mode, _ in families])
    strength = np.array([amplitude[0] for _, amplitude in families])
    t_test = problem.theta if even else np.linspace(-1.0, 1.0, GRID)
    y_test = problem.function(t_test)
    linked = any(component.link != "identity" for component in problem.components)
    return Task(
        t=problem.theta,
        y=problem.y,
        t_test=t_test,
        y_test=y_test,
        scale=float(np.sqrt(np.mean(y_test**2))),
        lines=2.0 / modes,
        line_errors=_cramer_rao(modes, amplitudes, problem.noise, n, ar1),
        fundamentals=2.0 / first,
        fundamental_errors=_cramer_rao(first, strength, problem.noise, n, ar1),
        even=even,
        scored="truth",
        hints=Hints(
            2.0 / first,
            LINKED_BAND if linked else BAND,
            periodic,
            harmonics=10 if linked else 1,
            span=2.0,
            lines=2.0 / modes,
        ),
    )


def _cramer_rao(
    modes: FloatArray, amplitudes: FloatArray, noise: float, n: int, ar1: float
) -> FloatArray:
    """Least standard error of the frequency of a lone sinusoid over a span of 2.

    σ_f = √(6/n) σ / (π T a), with σ² the noise's power density at the line.
    """
    colour = (1 - ar1**2) / (1 + ar1**2 - 2 * ar1 * np.cos(2 * np.pi * modes / n))
    return np.sqrt(6.0 / n * colour) * max(noise, 1e-12) / (np.pi * 2.0 * amplitudes)


def draw_mixture(seed: int, *, key: str, ratio: float, trend: float = 0.0, **options: Any) -> Task:
    """Draw a mixture whose noise is `ratio` times the standard deviation of the signal.

    Problems with the same `key` have the same components and samples, others different ones.
    """
    seed = _unrelated(1000 * seed + zlib.crc32(key.encode()), options)
    signal = random_mixture(noise=0.0, random_state=seed, **options)
    size = float(np.std(signal.truth))
    problem = random_mixture(noise=ratio * size, random_state=seed, **options)
    task = mixture_task(
        problem,
        even=options.get("sampling", "even") == "even",
        periodic=options.get("integer_modes", True) and not trend,
        ar1=CORRELATION if options.get("noise_kind") == "ar1" else 0.0,
    )
    if not trend:
        return task
    return replace(
        task,
        y=task.y + trend * size * task.t,
        y_test=task.y_test + trend * size * task.t_test,
    )


def _unrelated(seed: int, options: dict[str, Any]) -> int:
    """Return the first seed from `seed` on whose fundamentals are not each other's harmonics.

    A tone at three times the frequency of another *is* its harmonic: no method could separate them.
    """
    for candidate in range(seed, seed + 1000):
        modes = random_mixture(
            noise=0.0, random_state=candidate, **{**options, "n_samples": 2}
        ).modes
        ratio = modes[None, :] / modes[:, None]
        order = np.round(ratio)
        if not np.any((order >= 2) & (np.abs(ratio - order) * modes[:, None] < RELATED)):
            return candidate
    raise RuntimeError(f"no unrelated fundamentals for {options}")


def draw_example(seed: int, *, number: int) -> Task:
    return mixture_task(paper_example(number, random_state=seed), even=True, periodic=True)


def draw_example_4(seed: int) -> Task:
    """The paper's fourth example with a series we may ship: 16 weekdays of electricity demand."""
    data = load_electricity_demand(weekdays=16)
    low, high = data.values.min(), data.values.max()
    truth = 2.0 * (data.values - low) / (high - low) - 1.0
    y = truth + 0.4 * np.random.default_rng(seed).standard_normal(truth.size)
    given, wanted = (data.times, y), (data.times, truth)
    return _measured(given, wanted, data, even=True, highest_mode=LINKED_BAND)


def draw_noise(seed: int, *, sampling: str, noise_kind: str) -> Task:
    """Noise of standard deviation one: no periods are there, and the function is zero."""
    problem = random_mixture(
        1,
        amplitudes=(0.0, 0.0),
        n_samples=1000,
        sampling=sampling,  # type: ignore[arg-type]
        noise=1.0,
        noise_kind=noise_kind,  # type: ignore[arg-type]
        random_state=seed,
    )
    none = np.empty(0)
    given, wanted = (problem.theta, problem.y), (np.linspace(-1.0, 1.0, 1000), np.zeros(1000))
    truth = (none, none, none, none)
    return Task(*given, *wanted, 1.0, *truth, sampling == "even", "noise", Hints(none, BAND))


Series = tuple[FloatArray, FloatArray]
"""Times and values, of shape (n,) each."""


def _measured(
    given: Series, wanted: Series, data: Dataset, *, even: bool = False, **hints: Any
) -> Task:
    periods = np.array(data.periods)
    unknown = np.full(periods.size, np.nan)
    size, truth = float(np.std(wanted[1])), (periods, unknown, periods, unknown)
    known = Hints(periods, **hints, harmonics=10)
    return Task(*given, *wanted, size, *truth, even, "measured", known)


def draw_held_out(seed: int, *, load: Callable[[], Dataset], block: float, **hints: Any) -> Task:
    """Hold out a random fifth of the blocks of length `block` (in the series' own unit)."""
    data = load()
    origin = data.times[0]
    number = np.floor((data.times - origin) / block).astype(int)
    blocks = np.unique(number)
    chosen = np.random.default_rng(seed).choice(
        blocks, max(1, round(HELD_OUT * blocks.size)), replace=False
    )
    out = np.isin(number, chosen)
    t, y = data.times - origin, data.values
    return _measured((t[~out], y[~out]), (t[out], y[out]), data, **hints)


def read_tide(folder: Path) -> Dataset:
    """Read a year of hourly sea level at Honolulu (tests of the UTide project; not shipped)."""
    days, level = np.loadtxt(folder / "tide_honolulu_2010" / "HNL2010.asc", unpack=True)
    hours = (12.4206012, 23.9344697, 25.8193417, 12.0, 24.0658902, 12.6583482, 11.9672348)
    periods = tuple(hour / 24.0 for hour in hours)
    series, source = (days, level - level.mean(), None), ("tests of the UTide project", "MIT")
    return Dataset("sea level at Honolulu, 2010", *series, "day", "mm", periods, *source)


def read_star(folder: Path) -> Dataset:
    """Read 600 nightly magnitudes (Whittaker and Robinson 1924; not shipped)."""
    day, magnitude = np.loadtxt(
        folder / "star_1924" / "star.csv", delimiter=",", skiprows=1, unpack=True
    )
    source = "Whittaker and Robinson, The Calculus of Observations, 1924"
    series, what = (day, magnitude, None), ("day", "magnitude", (29.0, 24.0))
    return Dataset("variable star, 1924", *series, *what, source, "public domain")
