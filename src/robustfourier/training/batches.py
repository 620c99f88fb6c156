"""Where mini-batches come from: reshuffled passes over a fixed sample, or fresh draws.

Batches are drawn for a whole block of steps at once, before an engine sees them, from a numpy
Generator whose state can be saved. So both engines get the same batches, and the sequence does
not depend on how the steps are cut into blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.errors import InputError, require_count

Sampler: TypeAlias = Callable[[np.random.Generator, int], tuple[ArrayLike, ArrayLike]]
"""``sampler(rng, size) -> (theta (size,) or (size, d), y (size,) or (size, q))``."""


@dataclass(frozen=True)
class FixedSample:
    """The rows to train on.

    Attributes
    ----------
    theta : ndarray, shape (n, d)
    y : ndarray, shape (n, q)
    weight : ndarray, shape (n,)
        Row weights, positive, scaled to mean 1.
    """

    theta: FloatArray
    y: FloatArray
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.theta)

    def digest(self) -> str:
        """Return a fingerprint of the numbers, to tell samples apart."""
        sha = hashlib.sha256()
        for array in (self.theta, self.y, self.weight):
            sha.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return sha.hexdigest()


def fixed_sample(theta: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> FixedSample:
    """Check and shape the rows of a training.

    Rows of weight zero are dropped; the other weights are scaled to mean 1.

    Parameters
    ----------
    theta : array_like, shape (n,) or (n, d)
    y : array_like, shape (n,) or (n, q)
    weight : array_like, shape (n,), optional

    Examples
    --------
    >>> sample = fixed_sample([0.0, 0.5, 1.0], [1.0, 2.0, 3.0], weight=[1.0, 0.0, 3.0])
    >>> sample.theta.ravel(), sample.weight
    (array([0., 1.]), array([0.5, 1.5]))
    """
    theta, y = _columns("theta", theta), _columns("y", y)
    if len(theta) != len(y):
        raise InputError(f"y has {len(y)} rows but theta has {len(theta)}; give one y per theta")
    if weight is None:
        weight = np.ones(len(theta))
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (len(theta),):
        raise InputError(
            f"weight has shape {weight.shape}; give one number per row, shape ({len(theta)},)"
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError("weight contains negative, NaN or infinite values; give weights >= 0")
    kept = weight > 0
    if not kept.any():
        raise InputError("weight is zero for every row; at least one row must count")
    return FixedSample(theta[kept], y[kept], weight[kept] / weight[kept].mean())


@dataclass(frozen=True)
class RowBlock:
    """Batches as rows of the fixed sample: int64, shape (n_steps, B)."""

    rows: IntArray


@dataclass(frozen=True)
class DrawnBlock:
    """Batches of fresh draws: theta (n_steps, B, d) and y (n_steps, B, q); weights are 1."""

    theta: FloatArray
    y: FloatArray


Block: TypeAlias = RowBlock | DrawnBlock


class _Source:
    """Hands out mini-batches of one size, from a generator whose state can be saved."""

    sample: FixedSample | None = None

    def __init__(self, batch_size: int, rng: np.random.Generator) -> None:
        self.batch_size, self._rng = batch_size, rng

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return where the source stands, as JSON values and arrays."""
        return {"generator": self._rng.bit_generator.state}, {}

    def restore(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Go back to where `state` was taken."""
        self._rng.bit_generator.state = values["generator"]


class ReshuffledPasses(_Source):
    """Mini-batches from an endless stream of permutations of the rows, cut every B rows.

    Every row comes once per pass; a batch may end one pass and begin the next, so all batches
    have the same size, at most that of the sample, and no row is left out.
    """

    def __init__(self, sample: FixedSample, batch_size: int, rng: np.random.Generator) -> None:
        super().__init__(min(require_count("batch_size", batch_size), len(sample)), rng)
        self.sample, self._n_rows, self._digest = sample, len(sample), sample.digest()
        self._rest = np.empty(0, dtype=np.int64)

    def next(self, n_steps: int) -> RowBlock:
        """Return the rows of the next `n_steps` batches."""
        needed = n_steps * self.batch_size
        passes = -(-(needed - len(self._rest)) // self._n_rows)
        stream = [self._rest, *(self._rng.permutation(self._n_rows) for _ in range(passes))]
        rows = np.concatenate(stream).astype(np.int64, copy=False)
        self._rest = rows[needed:].copy()
        return RowBlock(rows[:needed].reshape(n_steps, self.batch_size))

    def describe(self) -> dict[str, Any]:
        """Return batch size and fingerprint of the rows."""
        return {"source": "passes", "batch_size": self.batch_size, "rows": self._digest}

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the generator's state and the rest of the current pass."""
        return super().state()[0], {"rest": self._rest.copy()}

    def restore(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Go back to where `state` was taken."""
        super().restore(values, arrays)
        rest = arrays["rest"].astype(np.int64, casting="safe")
        if rest.ndim != 1 or np.any((rest < 0) | (rest >= self._n_rows)):
            raise ValueError("the rest of its pass has rows that are not there")
        self._rest = rest


class FreshDraws(_Source):
    """Mini-batches drawn anew at each step, as in Algorithm 1 and the theorems.

    `sampler`: ``sampler(rng, size) -> (theta, y)``; all randomness must come from `rng`.
    """

    def __init__(self, sampler: Sampler, batch_size: int, rng: np.random.Generator) -> None:
        super().__init__(require_count("batch_size", batch_size), rng)
        self._sampler = sampler

    def next(self, n_steps: int) -> DrawnBlock:
        """Return the draws of the next `n_steps` batches."""
        # one call per step, so that the sequence does not depend on the size of the block
        drawn = [self._sampler(self._rng, self.batch_size) for _ in range(n_steps)]
        theta = np.stack([_columns("theta", theta) for theta, _ in drawn])
        y = np.stack([_columns("y", y) for _, y in drawn])
        if theta.shape[:2] != (n_steps, self.batch_size) or y.shape[:2] != theta.shape[:2]:
            raise InputError(
                f"the sampler returned theta {theta.shape[1:]} and y {y.shape[1:]} when asked for "
                f"{self.batch_size} rows; it must return that many of each"
            )
        return DrawnBlock(theta, y)

    def describe(self) -> dict[str, Any]:
        """Return the batch size; two samplers cannot be distinguished."""
        return {"source": "draws", "batch_size": self.batch_size}


BatchSource: TypeAlias = ReshuffledPasses | FreshDraws


def _columns(name: str, values: ArrayLike) -> FloatArray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {array.dtype}; give real numbers")
    array = array.astype(np.float64)
    if array.ndim not in (1, 2) or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give (n,) or (n, columns), n >= 1")
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains NaN or infinite values; remove or fill them first")
    return array[:, None] if array.ndim == 1 else array
