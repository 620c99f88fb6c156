"""A trend and a set of lines, refined together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.variable_projection import Refined, refine

APART = 0.9  # modes; two lines closer than this the record does not resolve
_CLOSE_ENOUGH = 1e-2  # in χ²: a tenth of a standard error, and 0.005 nats
# Of one refinement on the way; lines that take longer are too close to each other.
_STEPS = 6


@dataclass(frozen=True)
class Fit:
    """Lines and trend refined together; `known` marks lines that were given, not found."""

    refined: Refined
    known: BoolArray
    trend_size: int

    @property
    def modes(self) -> FloatArray:
        """Modes of the lines, shape (K,)."""
        return self.refined.lines.mode

    def n_parameters(self, series: Series) -> int:
        """Numbers that were fitted: a line has three, a breakpoint two."""
        return self.trend_size + 2 * len(series.breaks) + 3 * len(self.modes)


def fit_lines(
    series: Series,
    modes: FloatArray,
    known: BoolArray,
    trend_size: int,
    relative_psd: FloatArray | None = None,
) -> Fit:
    """Refine lines from these starting modes, with a trend of `trend_size` columns.

    While lines come and go, a tenth of a standard error is close enough; the last fit, which
    knows the spectrum of the noise, goes on to rounding.
    """
    alternating = ~known & (not series.integer) & (np.abs(modes - series.nyquist) < 1.0)
    modes = np.where(alternating, series.nyquist, modes) if alternating.any() else modes
    fit = Fit(
        refine_lines(series, modes, known | alternating, trend_size, relative_psd),
        known,
        trend_size,
    )
    if fit.refined.exact and series.add_up_directly():
        return fit_lines(series, fit.modes, known, trend_size, relative_psd)
    return fit


def refine_lines(
    series: Series,
    bases: FloatArray,
    fixed: BoolArray,
    trend_size: int,
    relative_psd: FloatArray | None = None,
    ties: IntArray | None = None,
) -> Refined:
    """Refine bases, of which lines are multiples by `ties`, beside `trend_size` trend columns."""
    return refine(
        series.theta,
        series.values,
        series.weights,
        bases,
        ties,
        trend=series.trend(trend_size),
        fixed=fixed | series.integer,
        relative_psd=relative_psd,
        tolerance=_CLOSE_ENOUGH / series.total if relative_psd is None else 1e-13,
        max_iterations=_STEPS if relative_psd is None else 50,
        moments_at=lambda at: series.moments(at, trend_size),
    )


def trend_reach(trend_size: int) -> float:
    """Return the mode up to which `trend_size` columns can follow: half a cycle for each.

    A level and a slope leave oscillations alone.
    """
    return 0.5 * trend_size if trend_size > 2 else 0.0
