"""Passes over the rows of a long record: what each part adds, and who adds it up.

The first pass finds the range of the times and keeps a sample of the rows. Each further one adds up
`Sums` of the values, or of residuals around a fit that are pulled in where they are outliers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.concurrency import cores
from robustfourier.domain import Domain
from robustfourier.errors import DataError, MissingDependencyError, require_choice
from robustfourier.large.condense import Sums
from robustfourier.mixture.search.robust import FLATTEST, Contaminated, clipped
from robustfourier.samples.partitions import ERROR, VALUE, Layout, Part

ENGINES = ("threads", "serial", "dask")
_SAMPLE = 400_000  # rows kept at most: their median deviation is known to 0.2 %


@dataclass(frozen=True, eq=False)
class Facts:
    """What the first pass finds."""

    first: Any  # range of the times
    last: Any
    rows: int  # rows, and those of them that lack nothing
    used: int
    #: times, values and errors (ones if there are none) of some rows of each piece: of every
    #: `stride`-th, a power of two
    sample: tuple[tuple[NDArray[Any], FloatArray, FloatArray], ...] = ()
    stride: int = 1

    def columns(self) -> list[NDArray[Any]]:
        """Times, values and errors of the sample."""
        return [np.concatenate(column) for column in zip(*self.sample, strict=True)]

    def __add__(self, other: Facts) -> Facts:
        rows = self.rows + other.rows
        if not self.used or not other.used:
            return replace(self if self.used else other, rows=rows)
        stride = max(self.stride, other.stride)
        sample = (*self._every(stride), *other._every(stride))
        both = Facts(
            min(self.first, other.first),
            max(self.last, other.last),
            rows,
            self.used + other.used,
            sample,
            stride,
        )
        while sum(len(piece[0]) for piece in both.sample) > _SAMPLE:
            both = replace(both, sample=both._every(2 * both.stride), stride=2 * both.stride)
        return both

    def _every(self, stride: int) -> Any:
        step = stride // self.stride
        if step == 1:
            return self.sample
        # Copies: a view would keep all the rows that it leaves out.
        return tuple(tuple(column[::step].copy() for column in piece) for piece in self.sample)


def rows_of(part: Part, layout: Layout) -> Iterator[tuple[int, NDArray[Any], FloatArray, Any]]:
    """Rows of a part that lack nothing, a piece at a time, with how many there were."""
    for piece in part.pieces(layout):
        times, values = layout.stamps(piece).values, piece[f"{VALUE}0"].to_numpy()
        good = ~np.isnat(times) if times.dtype.kind == "M" else np.isfinite(times)
        good &= np.isfinite(values)
        errors = None
        if ERROR in piece:
            errors = piece[ERROR].to_numpy()
            if (errors[np.isfinite(errors)] <= 0).any():
                raise DataError(f"{part.name}: errors must be positive; choose another --error")
            good &= np.isfinite(errors)
            errors = errors[good]
        if times.dtype.kind == "M":
            times = times.astype("datetime64[ns]")
        yield len(good), times[good], values[good], errors


@dataclass(frozen=True)
class Scan:
    """The first pass."""

    layout: Layout

    def __call__(self, part: Part) -> Facts:
        """Facts of one part."""
        found: Facts | None = None
        for count, times, values, errors in rows_of(part, self.layout):
            if len(times):
                error = np.ones(len(values)) if errors is None else errors
                ends = times.min(), times.max()
                piece = Facts(*ends, count, len(times), ((times, values, error),))
            else:
                piece = Facts(None, None, count, 0)
            found = _plus(found, piece)
        if found is None:
            raise DataError(f"{part.name}: has no rows; leave it out")
        return found


@dataclass(frozen=True, eq=False)
class Pull:
    """How values are brought to what is added up: residuals around a centre, outliers pulled in."""

    centre: Callable[[FloatArray], FloatArray]  # ``theta -> values``, the fit; or a median
    scale: float  # deviation of the residuals
    clip: float  # residuals are clipped at this many deviations
    #: of the residuals over their scale: outliers then have no pull at all
    outliers: Contaminated | None = None

    def __call__(self, theta: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """Residuals, pulled-in residuals ψ, and the derivative of ψ."""
        left = y - self.centre(theta)
        size = np.abs(left) / self.scale
        known = self.outliers
        pull, inside = clipped(size, self.clip) if known is None else known.pull(size)
        return left, np.sign(left) * pull * self.scale, inside


@dataclass(frozen=True, eq=False)
class Added:
    """What a pass adds up."""

    sums: Sums  # of the values, or of pulled-in residuals
    raw: float  # Σ w r² before residuals were pulled in
    inside: float  # Σ w ψ'(r)

    @property
    def slope(self) -> float:
        """γ, the mean of ψ'; 1 where nothing was pulled in."""
        return max(self.inside / self.sums.total, FLATTEST)

    def __add__(self, other: Added) -> Added:
        sums = self.sums + other.sums
        return Added(sums, self.raw + other.raw, self.inside + other.inside)


@dataclass(frozen=True)
class AddUp:
    """A further pass."""

    layout: Layout
    domain: Domain  # time to θ; dates as UTC
    bins: int
    unit_error: float  # error of a row of weight one
    log: bool = False  # whether logarithms are taken
    pull: Pull | None = None  # none adds up the values as they are

    def __call__(self, part: Part) -> Added | None:
        """Sums of one part; None if it has no rows."""
        found: Added | None = None
        for _, times, values, errors in rows_of(part, self.layout):
            if not len(times):
                continue
            theta = self.domain.to_theta(times)
            values = np.log(values) if self.log else values
            w = np.ones(len(values)) if errors is None else (self.unit_error / errors) ** 2
            if self.pull is None:
                sums = Sums.of(theta, values, w, self.bins)
                piece = Added(sums, sums.squares, sums.total)
            else:
                left, pulled, inside = self.pull(theta, values)
                sums = Sums.of(theta, pulled, w, self.bins)
                piece = Added(sums, float(w @ left**2), float(w @ inside))
            found = _plus(found, piece)
        return found


def total(
    parts: Sequence[Part], work: Callable[[Part], Any], engine: str, jobs: int | None, client: Any
) -> Any:
    """Add up what all parts say; by threads in the order of the parts, whoever is first.

    On a cluster Dask adds up in a tree.
    """
    require_choice("engine", engine, ENGINES)
    if engine == "dask":
        return _on_dask(parts, work, client)
    if engine == "serial":
        return reduce(_plus, map(work, parts))
    with ThreadPoolExecutor(jobs or cores()) as pool:
        return reduce(_plus, pool.map(work, parts))


def _plus(one: Any, other: Any) -> Any:
    """The sum; a part without rows adds nothing."""
    return other if one is None else one if other is None else one + other


def _on_dask(parts: Sequence[Part], work: Callable[[Part], Any], client: Any) -> Any:
    try:
        import dask.bag
        import distributed
    except ImportError:
        raise MissingDependencyError(
            "engine='dask' needs Dask; install it with: pip install 'robustfourier[dask]'"
        ) from None
    bag = dask.bag.from_sequence(parts, npartitions=len(parts)).map(work)
    graph = bag.fold(_plus, split_every=4)
    if not isinstance(client, str):
        return (client or distributed.get_client()).compute(graph).result()
    with distributed.Client(client, set_as_default=False) as opened:
        return opened.compute(graph).result()
