"""FitContext: the samples, and the noise that families of lines stand on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.mixture.line_wings import local_noise, wing_ratio
from robustfourier.mixture.search.noise_evidence import NoiseModel
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import extended_columns
from robustfourier.periodic.gram_matrices import Moments
from robustfourier.periodic.harmonic_families import Families
from robustfourier.periodic.kernels import sho_of_logarithms
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.semiseparable import ConditionedProcess
from robustfourier.periodic.variable_projection import Refined, refine

# Refinement stops when a step would lower χ² by less: 1e-5 of a standard error.
AT_THE_END = 1e-10
_CELLS = 1e6  # rows times columns of which the noise is taken exactly: a tenth of a second


@dataclass(frozen=True, eq=False)
class FitContext:
    """What does not change while families are formed.

    Parameters
    ----------
    series : Series
    floor : NoiseFloor
        Noise power as a function of the mode.
    noise : ndarray of shape (q,)
        Variance of the noise.
    trend_size : int
        Smooth columns of the trend.
    noise_model : NoiseModel, optional
        White or coloured.
    """

    series: Series
    floor: NoiseFloor
    noise: FloatArray
    trend_size: int
    noise_model: NoiseModel | None = None

    @property
    def highest(self) -> float:
        """Highest mode that a line may have."""
        return self.series.reach

    @property
    def n_trend(self) -> int:
        """Columns of the trend, breaks included."""
        return self.trend_size + len(self.series.breaks)

    @cached_property
    def spread(self) -> FloatArray:
        """Variance of the values, shape (q,)."""
        series = self.series
        mean = series.weights @ series.values / series.total
        return np.asarray(series.weights @ (series.values - mean) ** 2 / series.total)

    def ridge(self, order: IntArray) -> FloatArray:
        """Return the precision that harmonics of an order have beforehand, shape (q, K).

        A family has the variance of the values, and its amplitudes fall as 1/n, as those of a jump
        do: the coefficients of order n have the variance 6/(πn)² of the values. Phases of a cycle
        that no sample shows shrink to that.
        """
        spread = np.maximum(self.spread, np.finfo(float).eps ** 2)  # of a constant: rounding errors
        return (np.pi * np.maximum(order, 1)) ** 2 / 6.0 / spread[:, None]

    def moments(self, modes: FloatArray) -> Moments:
        """Return the moments of trend and lines at `modes`."""
        return self.series.moments(modes, self.trend_size)

    def refined(self, grouping: Families) -> Refined:
        """Refine with ties; the covariance is that for the noise around each line."""
        found = self._refined(grouping)
        if not found.converged:  # a ridge, on which as many steps again may be taken
            found = self._refined(replace(grouping, bases=found.bases))
        colour = self.colour(found.lines.mode, found)
        return replace(found, relative_psd=colour, noise_gram=self.noise_gram(found))

    def _refined(self, grouping: Families) -> Refined:
        series = self.series
        lines = np.mean(self.noise[:, None] * self.ridge(grouping.order), axis=0)
        return refine(
            series.theta,
            series.values,
            series.weights,
            grouping.bases,
            grouping.harmonics,
            trend=series.trend(self.trend_size),
            fixed=grouping.fixed,
            precision=np.concatenate([np.zeros(self.n_trend), lines, lines]),
            moments_at=self.moments,
            tolerance=AT_THE_END / series.total,
        )

    def colour(self, modes: FloatArray, refined: Refined) -> FloatArray:
        """Noise power at the modes over the variance of the noise, shape (K,)."""
        return local_noise(self.series, refined, modes, self.floor, self.noise)

    def noise_gram(self, refined: Refined) -> FloatArray | None:
        """EᵀWΣWE over the noise's variance, for coloured noise Σ of one output; None if unknown.

        Wings of a line that is not quite steady are its noise, too.
        """
        model, series, modes = self.noise_model, self.series, refined.lines.mode
        size = len(series.theta) * (self.n_trend + 4 * len(modes))
        if model is None or not model.coloured or len(self.noise) > 1 or size > _CELLS:
            return None
        kernel = sho_of_logarithms(np.concatenate([model.wings, model.oscillators[0]]))
        columns = extended_columns(series.theta, series.trend(self.trend_size), modes)
        columns *= series.weights[:, None]
        process = ConditionedProcess(kernel, series.theta, 1.0 / series.weights, series.weights)
        coloured = refined.moments.gram + columns.T @ process.cross_product(series.theta, columns)
        left = partial(series.residual_sums, refined)
        wings = wing_ratio(left, series.total, modes, modes, self.floor)
        scale = np.sqrt(np.concatenate([np.ones(self.n_trend), np.tile(wings, 4)]))
        return coloured * np.outer(scale, scale) * (model.white[0] / refined.noise_variance[0])
