"""Basis: the columns that a periodic model is linear in, trend and lines.

A line with mode k, cosine coefficient a and sine coefficient b is
``a cos(πkθ) + b sin(πkθ) = A cos(πkθ − φ)`` with ``A = hypot(a, b)`` and ``φ = atan2(b, a)``. A
trend is a piecewise polynomial: of degree ≤ 4, with shifts of its level and changes of its slope at
breakpoints. Refinement of the modes needs the derivatives
of the lines too, so that the extended columns are E = [P, C, S, θC, θS]: trend, cosines, sines, and
θ times these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import factorial
from typing import Annotated, Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray, IntArray, Matrix, Vector
from robustfourier.compiling import compiled

# The trend columns after the level as polynomials in θ, by ascending power; see `trend_columns`.
TREND_POLYNOMIALS = np.array(
    [[0, 1, 0, 0, 0], [1, 0, -1, 0, 0], [0, 1, 0, -1, 0], [-1, 0, 6, 0, -5.0]]
)
# In θ, 30 % of the record. Of the last tenths of real series, left out, CO2 was missed by 0.081 of
# its deviation instead of 0.152 with the slope of the whole record, air passengers 0.136 (0.201).
RECENT = 0.6
# Taylor series of cos(πx) and sin(πx)/x in x², highest power first: to 1e-16 for |x| ≤ ½.
_COSINE: Annotated[Vector, 12] = np.array(
    [(-1.0) ** n * np.pi ** (2 * n) / factorial(2 * n) for n in range(11, -1, -1)]
)
_SINE: Annotated[Vector, 12] = np.array(
    [(-1.0) ** n * np.pi ** (2 * n + 1) / factorial(2 * n + 1) for n in range(11, -1, -1)]
)
# Columns of each degree of a trend: level, slope, and 1, 2, 3 bumps.
TREND_SIZES = (1, 2, 3, 4, 5)
_AT_ONCE = 1024  # rows whose cosines and sines stay in the cache


@dataclass(frozen=True)
class Lines:
    """A sum of K sinusoids for q outputs, which share the modes.

    Examples
    --------
    >>> import numpy as np
    >>> lines = Lines(np.array([5.5]), np.array([[3.0]]), np.array([[4.0]]))
    >>> lines.amplitude
    array([[5.]])
    >>> lines.evaluate(np.array([0.0]))
    array([[3.]])
    """

    mode: FloatArray  # (K,): cycles over the span θ ∈ [-1, 1]; any positive real number
    #: (K, q): the coefficients of cos(πkθ) and sin(πkθ), one column per output
    cosine: FloatArray
    sine: FloatArray

    @classmethod
    def empty(cls, n_outputs: int = 1) -> Lines:
        """No line at all; evaluates to zero."""
        none = np.zeros((0, n_outputs))
        return cls(np.zeros(0), none, none)

    def __len__(self) -> int:
        return len(self.mode)

    @property
    def n_outputs(self) -> int:
        """Number of outputs q."""
        return self.cosine.shape[1]

    @property
    def amplitude(self) -> FloatArray:
        """Amplitude of each line, shape (K, q)."""
        return np.hypot(self.cosine, self.sine)

    @property
    def phase(self) -> FloatArray:
        """Phase φ of each line in A cos(πkθ − φ), in (-π, π], shape (K, q)."""
        return np.arctan2(self.sine, self.cosine)

    def select(self, which: BoolArray | IndexArray) -> Lines:
        """Return the lines picked by a mask or by indices."""
        return Lines(self.mode[which], self.cosine[which], self.sine[which])

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return the sum of all lines at `theta`, shape (n, q)."""
        theta = np.ascontiguousarray(theta, dtype=np.float64)
        values = np.zeros((self.n_outputs, len(theta)))
        _add_lines(theta, self.mode, self.cosine, self.sine, values)
        return values.T


def line_columns(theta: FloatArray, modes: FloatArray) -> FloatArray:
    """Return the cosines cos(πkθ) of all modes, then their sines, as rows of shape (2K, n)."""
    theta, waves = np.ascontiguousarray(theta), np.empty((2, len(modes), len(theta)))
    for k, mode in enumerate(modes):
        cos_sin(theta, mode, waves[0, k], waves[1, k])
    return waves.reshape(2 * len(modes), len(theta))


def extended_columns(theta: FloatArray, trend: FloatArray, modes: FloatArray) -> FloatArray:
    """Return E = [P, C, S, θC, θS] for trend columns P of shape (n, p), shape (n, p + 4K)."""
    p, count = trend.shape[1], 2 * len(modes)
    rows = np.empty((p + 2 * count, len(theta)))
    rows[:p], rows[p : p + count] = trend.T, line_columns(theta, modes)
    np.multiply(rows[p : p + count], theta, out=rows[p + count :])
    return rows.T


@dataclass(frozen=True, eq=False)
class Breaks:
    """Breakpoints of a trend, each of which adds a column (θ − τ)₊^d, zero before τ.

    Examples
    --------
    >>> Breaks(np.array([-0.5, 0.0]), np.array([0, 1])).columns(np.array([-1.0, 0.0, 1.0]))
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    """

    place: FloatArray = field(default_factory=lambda: np.zeros(0))  # (m,): τ, ascending
    #: (m,): d: 0 for a shift of the level, 1 for a change of the slope
    order: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Breaks) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> bytes:
        """The same for equal breakpoints alone."""
        return self.place.tobytes() + self.order.tobytes()

    def columns(self, theta: FloatArray) -> FloatArray:
        """Return the column of each at `theta`, shape (n, m)."""
        after = theta[:, None] - self.place
        return np.asarray(np.where(self.order == 0, after >= 0.0, np.maximum(after, 0.0)))


def trend_columns(theta: FloatArray, n_columns: int, breaks: Breaks | None = None) -> FloatArray:
    """Return the columns of a trend: 1, θ, then (1 − θ²) times 1, θ and 5θ² − 1; then breaks.

    The three are bumps that vanish at the ends. Beyond, they go on with their mean slopes over the
    last 30 % of [-1, 1], which are -1.4, -0.56 and 0.28 at the right end.

    `n_columns`: 1 to 5, the breaks not counted: degree + 1.

    Examples
    --------
    >>> import numpy as np
    >>> trend_columns(np.array([-1.0, 0.0, 1.0]), 3)
    array([[ 1., -1.,  0.],
           [ 1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    >>> trend_columns(np.array([2.0]), 5).round(3)
    array([[ 1. ,  2. , -1.4 , -0.56,  0.28]])
    """
    theta = np.asarray(theta, dtype=np.float64)
    breaks = Breaks() if breaks is None else breaks
    columns = np.ones((n_columns + len(breaks), len(theta))).T
    columns[:, 1:n_columns] = theta[:, None]
    if n_columns > 2:
        beyond, side = np.maximum(np.abs(theta) - 1.0, 0.0), np.sign(theta)
        bumps = _bumps(np.clip(theta, -1.0, 1.0))
        slopes = _bumps(side * (1.0 - RECENT))  # over −RECENT, away from the middle
        for c in range(2, n_columns):
            columns[:, c] = bumps[c - 2] - beyond * slopes[c - 2] / RECENT
    columns[:, n_columns:] = breaks.columns(theta)
    return columns


def _bumps(theta: FloatArray) -> list[FloatArray]:
    bump = 1.0 - theta**2
    return [bump, bump * theta, bump * (5.0 * theta**2 - 1.0)]


@lru_cache(maxsize=64)  # the same few are asked for in every step of a search
def columns_of(n_columns: int, richest: int, others: int) -> IndexArray:
    """Which columns of the richest trend a lower degree has: its first ones and all `others`."""
    return np.append(np.arange(n_columns), richest + np.arange(others))


@dataclass(frozen=True)
class Trend:
    """A slow function of θ."""

    #: (p, q): coefficients of the columns: 1 for a level, 2 with a slope, up to 5 with a smooth
    #: part, and one for each breakpoint, its size
    coefficients: FloatArray
    breaks: Breaks = field(default_factory=Breaks)

    @property
    def trend_size(self) -> int:
        """Number of columns, the breaks not counted."""
        return len(self.coefficients) - len(self.breaks)

    @property
    def kind(self) -> str:
        """Return "level", "slope" or "smooth"; a slope that changes is smooth."""
        bends = bool(np.any(self.breaks.order))
        return "smooth" if bends else ("level", "slope", "smooth")[min(self.trend_size, 3) - 1]

    def columns(self, theta: FloatArray) -> FloatArray:
        """Return the columns at `theta`, shape (n, p)."""
        return trend_columns(theta, self.trend_size, self.breaks)

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return the trend at `theta`, also beyond [-1, 1], shape (n, q)."""
        return self.columns(theta) @ self.coefficients

    @property
    def shifts(self) -> BoolArray:
        """Which columns are shifts of the level, that stay as they are beyond the ends."""
        return np.append(np.zeros(self.trend_size, bool), self.breaks.order == 0)

    def shifted(self, theta: FloatArray) -> FloatArray:
        """Return what the shifts of the level add at `theta`, shape (n, q)."""
        return self.columns(theta)[:, self.shifts] @ self.coefficients[self.shifts]

    def wander(self, theta: FloatArray) -> FloatArray:
        """Return the deviation beyond the ends that a slope which goes on changing brings, (n, q).

        A slope that is a random walk and varies by s over the record (2 in θ) walks by 3s² per θ.
        At a distance h beyond the end it has moved the trend by s² h³ in variance, and the mean
        slope of the recent record is off the last one by s² · 0.6.
        """
        inside = np.linspace(-1.0, 1.0, 401)
        smooth = self.evaluate(inside) - self.shifted(inside)  # a level that shifts has no slope
        slope = np.std(np.diff(smooth, axis=0) / np.diff(inside)[:, None], axis=0)
        beyond = np.maximum(np.abs(np.asarray(theta, np.float64)) - 1.0, 0.0)
        return np.sqrt(RECENT * beyond**2 + beyond**3)[:, None] * slope


@dataclass(frozen=True, eq=False)
class Breakpoint:
    """A time at which the trend breaks.

    Parameters
    ----------
    time : number or date
        Half way between the samples before and after it.
    kind : {"level", "slope"}
        What changes there.
    size, error : ndarray of shape (q,)
        By how much, and the standard error of that; of a slope per unit of time.
    """

    time: Any
    kind: str
    size: FloatArray
    error: FloatArray


@compiled
def cos_sin(theta: Vector, mode: float, cosine: Vector, sine: Vector) -> None:
    """Write cos(πkθ) and sin(πkθ) of one mode k; vectorised, other than those of libraries."""
    for i in range(len(theta)):
        turn = mode * theta[i]
        whole = np.rint(turn)
        x, half = turn - whole, 0.5 * whole
        sign = 1.0 - 4.0 * abs(half - np.rint(half))  # half a turn more changes the sign
        square = x * x
        c, s = _COSINE[0], _SINE[0]
        for n in range(1, len(_COSINE)):
            c, s = c * square + _COSINE[n], s * square + _SINE[n]
        cosine[i], sine[i] = sign * c, sign * x * s


@compiled
def _add_lines(theta: Vector, modes: Vector, cosine: Matrix, sine: Matrix, values: Matrix) -> None:
    """Add Σ a cos(πkθ) + b sin(πkθ) to `values`, shape (outputs, n)."""
    c, s = np.empty(_AT_ONCE), np.empty(_AT_ONCE)
    for start in range(0, len(theta), _AT_ONCE):
        rows = theta[start : start + _AT_ONCE]
        for k in range(len(modes)):
            cos_sin(rows, modes[k], c, s)
            for o in range(len(values)):
                a, b, out = cosine[k, o], sine[k, o], values[o, start : start + _AT_ONCE]
                for i in range(len(rows)):
                    out[i] += a * c[i] + b * s[i]
