"""Assumptions 1 and 2 of the paper, checked for a given mixture and explained in words.

In short: Assumption 2 says *odd modes only* (indices 4k+1 and 4k+2 are cos and sin of the odd
modes); Assumption 1 says *no two components share a harmonic*, sine links are odd, links are
Lipschitz.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.synthetic import LINKS, Component
from robustfourier.theory.chebyshev import Function, chebyshev_coefficients, fourier_series

# Coefficients below this share of the largest one count as zero; the quadrature of a kinked
# link is exact to about 1e-7.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Finding:
    """Whether an assumption holds, and why not.

    Attributes
    ----------
    holds : bool
    words : tuple of str
        One sentence for each violation; empty if the assumption holds.
    """

    holds: bool
    words: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds


def check_assumption_1(components: Sequence[Component], n_modes: int) -> Finding:
    """Check that links are Lipschitz, sine links odd, and that no harmonic is shared up to n_modes.

    Examples
    --------
    >>> check_assumption_1([Component(5), Component(29, link="tanh")], n_modes=100).holds
    True
    >>> print(*check_assumption_1([Component(3, link="cube"), Component(9)], 100).words)
    Components 1 (mode 3) and 2 (mode 9) share the harmonic 9.
    """
    words: list[str] = []
    for i, component in enumerate(components, start=1):
        words += _violations_of_one(i, component)
    harmonics = [_harmonics(component, n_modes) for component in components]
    for (i, one), (j, other) in combinations(enumerate(harmonics), 2):
        shared = np.intersect1d(one, other)
        if shared.size:
            listed = ", ".join(f"{mode:g}" for mode in shared)
            words.append(
                f"Components {i + 1} (mode {components[i].mode:g}) and {j + 1} "
                f"(mode {components[j].mode:g}) share the harmonic{'s' * (shared.size > 1)} "
                f"{listed}."
            )
    return Finding(not words, tuple(words))


def check_assumption_2(f: Function, n_modes: int) -> Finding:
    """Check that f, θ ↦ f(θ), vectorised, has odd modes only, up to the embedding's highest mode.

    Examples
    --------
    >>> check_assumption_2(lambda theta: np.cos(5 * np.pi * theta), 100).holds
    True
    >>> print(*check_assumption_2(lambda theta: 0.5 + np.cos(6 * np.pi * theta), 100).words)
    f has a constant (0.5), index 0, where only the indices 4k+1 and 4k+2 are allowed. Mode 6 (amplitude 1) is even; only odd modes are allowed.
    """  # noqa: E501 - the doctest's output is one line
    series = fourier_series(f, n_modes)
    size = series.amplitude
    present = size > NEGLIGIBLE * size.max()
    words = []
    if present[0]:
        words.append(
            f"f has a constant ({series.cosine[0]:.3g}), index 0, where only the indices 4k+1 and "
            "4k+2 are allowed."
        )
    for mode in np.flatnonzero(present[1:]) + 1:
        if mode % 2 == 0:
            words.append(
                f"Mode {mode} (amplitude {size[mode]:.3g}) is even; only odd modes are allowed."
            )
    return Finding(not words, tuple(words))


def _violations_of_one(number: int, component: Component) -> list[str]:
    name = f"Component {number} ({component.link} of {component.kind}, mode {component.mode:g})"
    link = LINKS[component.link]
    x = np.linspace(-1.0, 1.0, 4001)
    words = []
    if component.mode != round(component.mode):
        words.append(f"{name} has a mode that is not a whole number.")
    if component.shift != 0.0:
        words.append(f"{name} is shifted: it is a function of neither one cosine nor one sine.")
    if component.kind == "sin" and not np.allclose(link(x), -link(-x), atol=1e-12):
        words.append(f"{name} has a sine in a link that is not odd.")
    if not _looks_lipschitz(component.link):
        words.append(f"{name} has a link that is not Lipschitz.")
    return words


def _looks_lipschitz(link: str) -> bool:
    """Tell whether the steepest slope stays the same when the grid is refined.

    At a jump, the slope doubles with each halving of the step; at a root's vertical tangent it
    grows by √2.
    """
    steepest = [
        np.abs(np.diff(LINKS[link](np.linspace(-1.0, 1.0, n)))).max() * (n - 1)
        for n in (20_001, 40_001)
    ]
    return bool(steepest[1] <= 1.1 * steepest[0] + 1e-12)


def _harmonics(component: Component, n_modes: int) -> FloatArray:
    """Whole multiples of the mode, up to `n_modes`, that the component really contains.

    A link of a sine has the same harmonics as of a cosine: sin is cos moved by a quarter period.
    """
    n_harmonics = int(n_modes // abs(component.mode)) if component.mode else 0
    coefficients = chebyshev_coefficients(LINKS[component.link], n_harmonics + 1)
    present = np.abs(coefficients) > NEGLIGIBLE * np.abs(coefficients).max()
    multiples = np.flatnonzero(present)
    # The constant is common property: two components may both have a mean.
    return np.asarray(component.mode * multiples[multiples > 0], dtype=np.float64)
