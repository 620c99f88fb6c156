"""Series: the samples of one column, and all that the stages of a fit read of them.

Made once per fit. Rows are canonical (sorted, equal rows merged), values are of order one, settings
are checked. Grids and Fourier sums are computed when first asked for and kept; the stages after it
ask for moments at modes and never for the rows themselves, unless they need residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray, IndexArray
from robustfourier.mixture.significance import Judge
from robustfourier.periodic.basis import (
    TREND_POLYNOMIALS,
    Breaks,
    columns_of,
    trend_columns,
)
from robustfourier.periodic.config import Settings
from robustfourier.periodic.frequency_limits import ModeLimit, highest_mode
from robustfourier.periodic.gram_matrices import Moments, SpectralMoments, direct_moments
from robustfourier.periodic.nufft import FARTHER, WIDTH, RealModePlan, RealModeSums, direct_sums
from robustfourier.periodic.periodogram import PeriodogramGrid
from robustfourier.periodic.variable_projection import Refined
from robustfourier.weighted_rows import FARTHEST, canonical_rows, centre_and_scale, rounding_step

CALENDAR_HARMONICS = 4  # of a calendar period that need no search
GAPPY = 0.5  # independent ordinates per mode below which lines are seen through fringes
CLOSED = 2.0  # modes to each side of a closed one: a line within two modes belongs to its pattern
SLOWEST = 1.5  # cycles over the record; with fewer a period and a bend look alike
# From this many samples on, sums at real modes are cheaper than adding up columns: the two took
# the same time at about 300 samples and ten lines (`python -m benchmarks.peers cost`). Up to the
# second number columns may be added up where sums are not exact enough.
_SPECTRAL_FROM, _FEW = 300, 4000
_BESIDE = 2.0  # modes beyond the highest that a refinement may step to
_ENOUGH = 10_000  # rows that tell how values were rounded
_ROWS_PER_LINE = 9  # three rows for each of a line's three numbers
_LINES_AT_MOST = 500  # a Gram matrix of 2000 columns is solved in a second


@dataclass(frozen=True, eq=False)
class Series:
    """Samples of order one with their settings."""

    theta: FloatArray  # (n,): sorted positions in [-1, 1]
    #: (n, q): what least squares is done on: (y − centre) / scale, outliers pulled in
    values: FloatArray
    original: FloatArray  # (n, q): the same as it was given
    weights: FloatArray  # (n,): weight 2 is the row twice
    #: (q,): median of y, and a power of two near its typical deviation
    centre: FloatArray
    scale: FloatArray
    settings: Settings
    limit: ModeLimit  # highest mode to search, and why
    breaks: Breaks = field(default_factory=Breaks)  # breakpoints, part of every trend

    @classmethod
    def of(
        cls, theta: FloatArray, y: FloatArray, weights: FloatArray | None, settings: Settings
    ) -> Series:
        """Bring rows into canonical form and values to order one."""
        weights = np.ones(len(theta)) if weights is None else np.asarray(weights, float)
        theta, y, weights = canonical_rows(np.asarray(theta, float), np.asarray(y, float), weights)
        centre, scale = centre_and_scale(y, weights)
        with np.errstate(over="ignore"):
            values = np.clip((y - centre) / scale, -FARTHEST, FARTHEST)
        made: list[RealModeSums] = []  # of the weights, which tell how far to search

        def window(top: float) -> RealModeSums:
            made.append(_weight_sums(theta, weights, top))
            return made[0]

        equal = len(weights) > 0 and bool(np.all(weights == weights[0]))
        limit = highest_mode(theta, settings.max_mode, window if equal else None)
        series = cls(theta, values, values, weights, centre, scale, settings, limit)
        if made and series._summed_to == limit.max_mode and limit.beyond is None:
            series.__dict__["_window"] = made[0]
        return series

    @property
    def integer(self) -> bool:
        """Whether modes are the integers."""
        return self.settings.integer

    @property
    def lowest(self) -> float:
        """Lowest mode to search."""
        return max(1.0 if self.integer else SLOWEST, self.settings.min_mode or 0.0)

    @cached_property
    def closed(self) -> FloatArray:
        """Modes that count as taken: those the user closed, and 1.1 modes to each side of them.

        So no line is proposed within the two modes that `is_open` asks for.
        """
        return np.ravel(self.settings.without[:, None] + np.array([-1.1, 0.0, 1.1]))

    def is_open(self, modes: FloatArray) -> BoolArray:
        """Whether a line may be at each of these modes, shape (len(modes),)."""
        far = np.abs(modes[:, None] - self.settings.without).min(axis=1, initial=np.inf)
        return np.asarray(far >= CLOSED)

    @cached_property
    def calendar(self) -> FloatArray:
        """Modes of calendar periods within the range, and of their first harmonics, (C, orders)."""
        base = self.settings.calendar
        base = base[(base >= self.lowest) & (base <= 0.5 * self.max_mode) & self.is_open(base)]
        return np.multiply.outer(base, np.arange(1.0, CALENDAR_HARMONICS + 1.0))

    def on_calendar(self, modes: FloatArray, gain: FloatArray) -> BoolArray:
        """Whether lines of a gain z stand at a calendar period or a harmonic of it.

        Within three standard errors √6/(2π√z) of the mode, and a third of the resolution.
        """
        reach = np.minimum(3.0 * np.sqrt(6.0 / np.maximum(gain, 1.0)) / (2.0 * np.pi), 1.0 / 3.0)
        away = np.abs(modes[:, None] - self.calendar.ravel()).min(axis=1, initial=np.inf)
        return np.asarray(away <= reach)

    @cached_property
    def max_mode(self) -> float:
        """Highest mode to search; known modes are always within."""
        return float(max(self.limit.max_mode, self.settings.modes.max(initial=0.0), 1.0))

    @property
    def nyquist(self) -> float:
        """Nyquist mode of an even grid, infinite otherwise.

        Within a mode of it cosine and sine are nearly parallel on the samples: such a line is the
        alternating one, exactly at the Nyquist mode.
        """
        return np.inf if self.limit.nyquist is None else self.limit.nyquist

    def folded(self, modes: FloatArray) -> FloatArray:
        """Return modes as even samples see them; whole ones stay whole.

        A line that crossed the Nyquist mode is, on the samples, its mirror image.
        """
        if self.integer:
            return modes
        folded = np.where(modes > self.nyquist, 2.0 * self.nyquist - modes, modes)
        return np.where(np.abs(folded - self.nyquist) < 1.0, self.nyquist, folded)

    @cached_property
    def reach(self) -> float:
        """Highest mode that a harmonic may have: an even grid shows all up to its Nyquist mode.

        Few irregular samples, whose moments are added up directly, show harmonics far beyond the
        range that is searched.
        """
        farther = self.limit.harmonics if len(self.theta) < _SPECTRAL_FROM else 0.0
        return float(max(self.max_mode, self.limit.nyquist or 0.0, farther))

    @property
    def _summed_to(self) -> float:
        """Highest mode at which Fourier sums are read."""
        return self.max_mode if len(self.theta) < _SPECTRAL_FROM else self.reach

    @cached_property
    def total(self) -> float:
        """Total weight."""
        return float(self.weights.sum())

    @cached_property
    def part(self) -> FloatArray:
        """Part of the weight up to each row, shape (n,)."""
        return np.cumsum(self.weights) / self.total

    @cached_property
    def rounding(self) -> FloatArray:
        """Variance of the errors of rounding on an even grid, as if they were noise, shape (q,).

        There they repeat with the pattern, and are seen folded at modes of their own; at irregular
        times they are noise. At most half of the variance of the values: rare events, 0 or 1, are
        not rounded.
        """
        if self.limit.nyquist is None:
            return np.zeros(self.original.shape[1])
        rows = self.original[:: len(self.original) // _ENOUGH + 1]
        steps = np.array([rounding_step(column) for column in rows.T])
        return np.minimum(steps**2 / 12.0, 0.5 * np.var(rows, axis=0))

    @property
    def smallest_noise(self) -> FloatArray:
        """Variance below which what is left over is no signal but rounding, shape (q,).

        Of the values, or 1e-20 of their variance.
        """
        tiny = 1e-20 * float(np.max(self.weights @ self.values**2)) / self.total
        return np.maximum(tiny, self.rounding)

    @cached_property
    def distinct(self) -> int:
        """Number of distinct positions."""
        return int(np.count_nonzero(np.diff(self.theta))) + 1

    @cached_property
    def worth(self) -> float:
        """Rows of equal weight that the rows are worth: (Σw)² / Σw²."""
        return float(self.weights.sum() ** 2 / np.sum(self.weights**2))

    @cached_property
    def bearable_lines(self) -> int:
        """How many lines the samples can bear."""
        if self.limit.max_mode < self.lowest:
            return 0
        rows = min(self.distinct, self.total) - 2
        bearable = max(min(int(rows // _ROWS_PER_LINE), _LINES_AT_MOST), 0)
        asked = self.settings.max_lines
        return bearable if asked is None else min(int(asked), bearable)

    @cached_property
    def grid(self) -> PeriodogramGrid:
        """The periodogram's grid: integers, or quarter modes."""
        spacing = 1.0 if self.integer else 0.25
        # An even grid may bear modes far beyond those searched; residuals are not summed there.
        same = self.max_mode == self._summed_to
        plan = self._plan if same else RealModePlan(self.theta, self.max_mode)
        return PeriodogramGrid.within(plan, self.weights, self._window, self.max_mode, spacing)

    @cached_property
    def judge(self) -> Judge:
        """The judge of lines in the range that is searched."""
        return Judge(self.theta, self.weights, self.lowest, self.max_mode, self.integer)

    @cached_property
    def share(self) -> float:
        """Independent periodogram ordinates per integer mode: the part of the span that is sampled.

        Ordinates κ modes apart are correlated by the squared spectral window at κ.
        """
        count = min(int(self.max_mode), 20) + 1
        window = np.abs(self._window.on_grid(1.0, count)[1:, 0]) / self.total
        return float(1.0 / (1.0 + 2.0 * np.sum(window**2)))

    def _trend_index(self, trend_size: int) -> IndexArray:
        """Which columns of the richest trend a smaller one has: its first ones and all breaks."""
        return columns_of(trend_size, self.settings.trend_sizes[-1], len(self.breaks))

    @cached_property
    def _trends(self) -> dict[int, FloatArray]:
        return {}

    def trend(self, trend_size: int) -> FloatArray:
        """Columns of a trend: `trend_size` smooth ones and m breaks, shape (n, trend_size + m)."""
        if trend_size not in self._trends:
            self._trends[trend_size] = trend_columns(self.theta, trend_size, self.breaks)
        return self._trends[trend_size]

    @cached_property
    def _plan(self) -> RealModePlan:
        """For sums of values and trend, two modes beyond those that may be asked for."""
        return RealModePlan(self.theta, _read_to(self._summed_to))

    @cached_property
    def _window(self) -> RealModeSums:
        """Sums of the weights; those that the limit was read from, if it was."""
        return _weight_sums(self.theta, self.weights, self._summed_to)

    @cached_property
    def _all_moments(self) -> SpectralMoments | None:
        if len(self.theta) < _SPECTRAL_FROM:
            return None
        theta, richest, breaks = self.theta, self.settings.trend_sizes[-1], self.breaks

        def columns(rows: slice) -> FloatArray:
            return trend_columns(theta[rows], richest, breaks)

        data, smooth = (self.values, self.weights, columns), TREND_POLYNOMIALS[: richest - 1]
        return SpectralMoments(self._plan, *data, self._window, smooth)

    def add_up_directly(self) -> bool:
        """Add moments up from the samples from now on, if these are few; False if nothing changes.

        Sums are known to 1e-13: where lines explain all but a millionth, they do not show the rest.
        """
        news = self._all_moments is not None and len(self.theta) < _FEW
        if news:
            self.__dict__["_all_moments"] = None
        return news

    def moments(self, modes: FloatArray, trend_size: int) -> Moments:
        """Return the moments of a trend of `trend_size` columns and lines at `modes`."""
        modes = np.clip(modes, 0.0, self.reach + _BESIDE)
        every = self._all_moments
        if every is None:
            columns = self.trend(trend_size)
            return direct_moments(self.theta, self.values, self.weights, columns, modes)
        return every(modes, self._trend_index(trend_size))

    def residual_sums(self, refined: Refined, modes: FloatArray) -> ComplexArray:
        """Return Σ w r e^{-iπkθ} at any modes for what a fit of this series leaves over, (m, q)."""
        every = self._all_moments
        if every is None:
            return direct_sums(self.theta, self.weights[:, None] * refined.residuals, modes)
        n_lines = len(refined.lines)
        reads, samples = len(modes) * n_lines * WIDTH, len(self.theta) * (n_lines + WIDTH)
        if refined.exact or reads > samples:  # whichever takes fewer products
            left = self.weights[:, None] * refined.residuals
            return RealModeSums.of(self.theta, left, float(np.max(modes, initial=1.0))).at(modes)
        chosen = self._trend_index(len(refined.trend) - len(self.breaks))
        return every.residual_sums(modes, refined.lines, refined.trend, chosen)

    def grid_sums(self, refined: Refined) -> ComplexArray:
        """Return Σ w r e^{-iπkθ} on the periodogram's grid for what a fit leaves over, (J, q).

        Of a mere level it follows from the sums of values and weights, which are there.
        """
        every, grid = self._all_moments, self.grid
        if every is None or refined.exact or len(refined.trend) + len(refined.lines) > 1:
            return grid.data_sums(refined.residuals)
        level = grid.weight_sums[: grid.size, None] * refined.trend[0]
        return every.values_on_grid(grid.spacing, grid.size) - level

    def window_sums(self, modes: FloatArray) -> ComplexArray:
        """Return Σ w e^{-iπkθ} at modes up to twice the highest, shape (m,)."""
        every = self._all_moments
        if every is None:
            return direct_sums(self.theta, self.weights[:, None], modes)[:, 0]
        return self._window.at(modes)[:, 0]

    def with_breaks(self, breaks: Breaks) -> Series:
        """Return the same series with other breakpoints."""
        if breaks == self.breaks:
            return self
        series = replace(self, breaks=breaks)
        kept = _OF_POSITIONS - {"_trends"}
        series.__dict__.update({k: v for k, v in self.__dict__.items() if k in kept})
        return series

    def with_values(self, values: FloatArray) -> Series:
        """Return the same series with other values; what depends on positions alone is kept."""
        series = replace(self, values=values)
        series.__dict__.update({k: v for k, v in self.__dict__.items() if k in _OF_POSITIONS})
        if "_all_moments" in self.__dict__:
            every = self._all_moments
            series.__dict__["_all_moments"] = every and every.with_values(values)
        return series


def _read_to(reach: float) -> float:
    """Return the highest mode at which values and trend are read."""
    return reach + _BESIDE + 2.0


def _weight_sums(theta: FloatArray, weights: FloatArray, reach: float) -> RealModeSums:
    """Sum the weights twice as far as modes may reach: products of two modes have their sum."""
    top = _read_to(reach)
    return RealModePlan(theta, max(2.0 * top, top + FARTHER))(weights[:, None])


#: Cached properties that do not depend on the values.
_OF_POSITIONS = {
    name
    for name, member in vars(Series).items()
    if isinstance(member, cached_property) and name != "_all_moments"
}
