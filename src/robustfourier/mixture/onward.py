"""Onward: the processes that tell what lies before and after a record.

A record says little of how its level and slope change, so several ways to go on are held, each as
likely as the record makes it. Beyond an end each of them needs a few numbers alone: what all
samples together tell of the process at that end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.process import Conditioned, Waves
from robustfourier.mixture.remainder import Remainder
from robustfourier.mixture.trend import trend_columns

__all__ = ["Onward", "Way"]


@dataclass(frozen=True, eq=False)
class Way:
    """One way to go on: a line, and a process around it of which samples are known.

    Parameters
    ----------
    weight : float
        Probability of this way.
    waves : Waves
        Drift, remainder and living patterns; J numbers in its memory.
    ends : ndarray of shape (2,)
        θ of the first and of the last sample.
    told : ndarray of shape (2, J)
        Times the covariances with an end, see `_reach`, it is the conditional mean.
    known : ndarray of shape (2, J, J)
        The same for the part of the variance that the samples take away.
    along : ndarray of shape (2, J, k)
        The same for what the samples take back of errors of the line.
    line : ndarray of shape (k,)
        Level, and slope if k = 2.
    line_factor : ndarray of shape (k, k)
        Their covariance is ``line_factor @ line_factor.T``.
    """

    weight: float
    waves: Waves
    ends: FloatArray
    told: FloatArray
    known: FloatArray
    along: FloatArray
    line: FloatArray
    line_factor: FloatArray

    @classmethod
    def of(
        cls,
        weight: float,
        process: Conditioned,
        values: FloatArray,
        columns: FloatArray,
        line: FloatArray,
        line_factor: FloatArray,
    ) -> Way:
        """Return the way of a process; `values` are what the line, of these columns, leaves."""
        c, _, u, v = process.waves.matrices(process.theta, process.noise)
        ends = process.theta[[0, -1]]
        far = np.abs(process.theta - ends[:, None])[..., None]
        near = np.exp(-far * c) * np.stack([u, v])
        divided = process.divided(np.concatenate(near, axis=1)).reshape(len(values), 2, -1)
        divided = divided.transpose(1, 2, 0)
        told, known, along = divided @ values, divided @ near, divided @ columns
        # As they come from a file, so that a model that was saved gives the same bits.
        numbers = (np.ascontiguousarray(x) for x in (told, known, along, line, line_factor))
        return cls(weight, process.waves, ends, *numbers)

    def _reach(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Covariances of θ beyond an end with the memory there, (n, J), and which end it is."""
        end = (theta > self.ends[1]).astype(int)
        c, _, u, v = self.waves.matrices(np.ascontiguousarray(theta), np.zeros(len(theta)))
        far = np.abs(theta - self.ends[end])[:, None]
        return np.where(end[:, None] == 1, u, v) * np.exp(-far * c), end

    def mean_of(self, theta: FloatArray, owner: int) -> FloatArray:
        """Return what one living pattern has of that; line, drift and remainder if it is −1."""
        reach, end = self._reach(theta)
        own = self.waves.memory_of(self.waves.owner == owner)
        told = np.einsum("nj,nj->n", reach * own, self.told[end])
        return told if owner >= 0 else told + self._line_at(theta)

    def _line_at(self, theta: FloatArray) -> FloatArray:
        return trend_columns(theta, len(self.line)) @ self.line

    def moments(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return all that is told at θ, and the variance around it, shape (n,) both."""
        reach, end = self._reach(theta)
        mean = self._line_at(theta) + np.einsum("nj,nj->n", reach, self.told[end])
        known = np.einsum("ni,nij,nj->n", reach, self.known[end], reach)
        off = trend_columns(theta, len(self.line)) - np.einsum("nj,njk->nk", reach, self.along[end])
        spread = np.maximum(self.waves.variance - known, 0.0)
        return mean, np.asarray(spread + np.sum((off @ self.line_factor) ** 2, axis=1))


@dataclass(frozen=True, eq=False)
class Onward(Remainder):
    """What samples tell beyond the ends of their record, strict lines and steps aside.

    The process is a drift, the remainder and living patterns together; that in `parts` is the
    likeliest one.

    Parameters
    ----------
    ways : tuple of tuples of Way
        For each output the ways to go on, the likeliest first; their weights add up to one.
    """

    ways: tuple[tuple[Way, ...], ...]

    def beyond(self, theta: FloatArray) -> BoolArray:
        """Return which θ lie before the first sample or after the last."""
        first, last = self.ways[0][0].ends
        return np.asarray((theta < first) | (theta > last))

    def line_at(self, theta: FloatArray) -> FloatArray:
        """Return the line of the likeliest way at θ, shape (n, q)."""
        lines = [ways[0].line for ways in self.ways]
        return np.stack([trend_columns(theta, len(line)) @ line for line in lines], axis=1)

    def mean(self, theta: FloatArray, owner: int = -1) -> FloatArray:
        """Return line, drift and remainder beyond the ends, or a living pattern, shape (n, q)."""
        means = [[way.mean_of(theta, owner) for way in ways] for ways in self.ways]
        return np.stack([_average(*pair) for pair in zip(self.ways, means, strict=True)], axis=1)

    def variance(self, theta: FloatArray, patterns: bool = False) -> FloatArray:  # noqa: ARG002
        """Return the variance beyond the ends, that from way to way counted, shape (n, q)."""
        return np.stack([_spread(ways, theta) for ways in self.ways], axis=1)


def _average(ways: tuple[Way, ...], values: Sequence[FloatArray]) -> FloatArray:
    """Mean over the ways of what each has."""
    return np.sum([way.weight * one for way, one in zip(ways, values, strict=True)], axis=0)


def _spread(ways: tuple[Way, ...], theta: FloatArray) -> FloatArray:
    """Variance of a mixture: the mean of the variances, and the variance of the means."""
    means, variances = zip(*(way.moments(theta) for way in ways), strict=True)
    middle = _average(ways, means)
    pairs = zip(means, variances, strict=True)
    return _average(ways, [variance + (mean - middle) ** 2 for mean, variance in pairs])
