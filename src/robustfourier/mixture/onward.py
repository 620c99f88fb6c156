"""Onward: the processes that tell what lies before and after a record.

A record says little of how its level and slope change, so several ways to go on are held, each as
likely as the record makes it. Beyond an end each of them needs a few numbers alone: what all
samples together tell of the process at that end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.mixture.remainder import Remainder
from robustfourier.periodic.basis import trend_columns
from robustfourier.periodic.kernels import Kernel


@dataclass(frozen=True, eq=False)
class Way:
    """One way to go on: a line, and a process around it of which samples are known.

    Parameters
    ----------
    weight : float
        Probability of this way.
    kernel : Kernel
        Drift, remainder and living patterns; J numbers in its memory.
    ends : ndarray of shape (2,)
        θ of the first and of the last sample.
    told : ndarray of shape (2, J)
        Times the covariances with an end, see `memory`, it is the conditional mean.
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
    kernel: Kernel
    ends: FloatArray
    told: FloatArray
    known: FloatArray
    along: FloatArray
    line: FloatArray
    line_factor: FloatArray

    def memory(self, end: int, place: IndexArray, count: int) -> FloatArray:
        """Return the covariances with the memory at an end, as sums of fading waves, (J, 2 count).

        The j-th of `count` waves is a column of its cosine and, `count` later, one of its sine.

        Parameters
        ----------
        end : int
            0 for the first sample, 1 for the last.
        place : ndarray of int
            Which of the waves each term is.
        count : int
        """
        terms, own = self.kernel, np.arange(len(place))
        a, b = (terms.a, terms.b) if end else (np.ones(len(own)), np.zeros(len(own)))
        rows = np.zeros((len(own), 2, 2 * count))
        rows[own, 0, place], rows[own, 0, count + place] = a, b
        rows[own, 1, place], rows[own, 1, count + place] = -b, a
        plain = terms.d == 0.0
        result = np.zeros((terms.n_columns, 2 * count))
        columns = np.concatenate([rows[~plain].reshape(-1, 2 * count), rows[plain, 0]])
        result[: len(columns)] = columns
        return result


class _Beyond:
    """What all ways of one output tell beyond an end.

    The ways are made of few different fading waves, so that these alone are functions of θ.

    Parameters
    ----------
    ways : tuple of Way
    end : int
        0 for the first sample, 1 for the last.
    """

    def __init__(self, ways: tuple[Way, ...], end: int) -> None:
        every = Kernel.sum([way.kernel for way in ways])
        waves, place = np.unique(np.stack([every.c, every.d]), axis=1, return_inverse=True)
        ends = np.cumsum([len(way.kernel.a) for way in ways])[:-1]
        places = np.split(place.ravel(), ends)
        self.weight = np.array([way.weight for way in ways])
        self.variance = np.array([way.kernel.variance for way in ways])
        self.end, (self.fading, self.turning) = ways[0].ends[end], waves
        size = 2 * waves.shape[1]
        # Of living patterns and, as -1, of all else.
        self.told = {
            owner: np.zeros((size, len(ways))) for owner in {-1, *every.component.tolist()}
        }
        self.known = np.zeros((size, len(ways), size))
        self.line, self.along = np.zeros((2, len(ways))), np.zeros((size + 2, len(ways), 2))
        for i, (way, its) in enumerate(zip(ways, places, strict=True)):
            memory, k = way.memory(end, its, size // 2), len(way.line)
            for owner, told in self.told.items():
                own = way.kernel.per_column(way.kernel.component == owner)
                told[:, i] = (own * way.told[end]) @ memory
            self.known[:, i] = memory.T @ way.known[end] @ memory
            self.line[:k, i] = way.line
            self.along[:k, i, :k] = way.line_factor
            self.along[2:, i, :k] = -memory.T @ way.along[end] @ way.line_factor

    def _waves(self, theta: FloatArray) -> FloatArray:
        far, phase = np.abs(theta - self.end)[:, None], theta[:, None] * self.turning
        left = np.exp(-far * self.fading)
        return np.concatenate([left * np.cos(phase), left * np.sin(phase)], axis=1)

    def mean(self, theta: FloatArray, owner: int) -> FloatArray:
        """Return what one living pattern has at θ; line, drift and remainder if it is −1."""
        if owner not in self.told:
            return np.zeros(len(theta))
        told = self._waves(theta) @ (self.told[owner] @ self.weight)
        return told if owner >= 0 else told + trend_columns(theta, 2) @ (self.line @ self.weight)

    def spread(self, theta: FloatArray) -> FloatArray:
        """Return the mean of the variances of all ways at θ, and the variance of their means."""
        waves, line = self._waves(theta), trend_columns(theta, 2)
        means = waves @ sum(self.told.values()) + line @ self.line
        known = np.einsum("nwj,nj->nw", np.tensordot(waves, self.known, 1), waves)
        off = np.tensordot(np.concatenate([line, waves], axis=1), self.along, 1)
        variance = np.maximum(self.variance - known, 0.0) + np.einsum("nwk,nwk->nw", off, off)
        return (variance + (means - (means @ self.weight)[:, None]) ** 2) @ self.weight


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

    @cached_property
    def _before(self) -> list[_Beyond]:
        return [_Beyond(ways, 0) for ways in self.ways]

    @cached_property
    def _after(self) -> list[_Beyond]:
        return [_Beyond(ways, 1) for ways in self.ways]

    def mean(self, theta: FloatArray, owner: int = -1) -> FloatArray:
        """Return line, drift and remainder beyond the ends, or a living pattern, shape (n, q)."""
        return self._told(theta, lambda beyond, at: beyond.mean(at, owner))

    def variance(self, theta: FloatArray, patterns: bool = False) -> FloatArray:  # noqa: ARG002
        """Return the variance beyond the ends, that from way to way counted, shape (n, q)."""
        return self._told(theta, _Beyond.spread)

    def _told(
        self, theta: FloatArray, tell: Callable[[_Beyond, FloatArray], FloatArray]
    ) -> FloatArray:
        """Return what is told beyond the end that each θ lies at, shape (n, q)."""
        values = np.zeros((len(theta), len(self.ways)))
        after = theta > self.ways[0][0].ends[1]
        for here, name in ((~after, "_before"), (after, "_after")):
            for o, beyond in enumerate(getattr(self, name) if here.any() else ()):
                values[here, o] = tell(beyond, theta[here])
        return values
