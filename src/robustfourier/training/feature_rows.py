"""The rows a compiled engine reads: targets, weights and, if they fit, the features.

The features of a fixed sample are kept as a table if it takes at most `TABLE_BYTES`. Beyond that,
and for fresh draws, the table is empty and a kernel embeds each row whenever a batch needs it:
slower, but in no memory at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import OutOfMemoryError
from robustfourier.memory_limits import available_bytes
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import lattice_modes, mixed_features
from robustfourier.training.batches import DrawnBlock, FixedSample
from robustfourier.training.diagonal_kernels import embed_rows

TABLE_BYTES = 512_000_000
"""Most bytes that the features of a fixed sample may take before they are computed row by row."""

_LINE = 128  # bytes that a row is filled up to with zeros, so that no loop has a scalar tail


@dataclass(frozen=True)
class FeatureRows:
    """Rows in the dtype to compute in.

    `theta` (n, d). `y` (n, q). `weight` (n,). `table` (n, F) or (0, F): features of each row in the
    kernels' own order; empty if they are not kept. `sample`: where they come from.
    """

    theta: FloatArray
    y: NDArray[Any]
    weight: NDArray[Any]
    table: NDArray[Any]
    sample: FixedSample | None = None


# Trainings of the same sample that run side by side share one table. The rows keep their sample
# alive, so its identity is a safe key for as long as the entry exists.
_ALIVE: WeakValueDictionary[tuple[Any, ...], FeatureRows] = WeakValueDictionary()
_LOCK = Lock()


def padded_width(architecture: Architecture, dtype: np.dtype[Any]) -> int:
    """Return the features of one row, filled up to whole lines."""
    step = _LINE // dtype.itemsize
    return -(-architecture.n_features // step) * step


def feature_rows(
    sample: FixedSample, architecture: Architecture, dtype: np.dtype[Any]
) -> FeatureRows:
    """Return the rows of a fixed sample, with their features if these fit.

    As long as somebody holds what is returned, the same sample object gives the same rows.
    """
    key = id(sample), architecture.n_modes, architecture.mixed_modes, dtype.str
    with _LOCK:
        rows = _ALIVE.get(key)
        if rows is None:
            rows = _ALIVE[key] = _embedded_rows(sample, architecture, dtype)
    return rows


def _embedded_rows(
    sample: FixedSample, architecture: Architecture, dtype: np.dtype[Any]
) -> FeatureRows:
    theta = _plain(sample.theta, np.dtype(np.float64))
    width = padded_width(architecture, dtype)
    needed = len(sample) * width * dtype.itemsize
    table = np.zeros((len(sample) if _fits(needed) else 0, width), dtype)
    if len(table):
        embed_rows(theta, architecture.n_modes, table)
    _add_mixed(theta, architecture, table, needed)
    return FeatureRows(
        theta,
        _plain(sample.y, dtype),
        _plain(sample.weight, dtype),
        table,
        sample,
    )


def drawn_rows(block: DrawnBlock, architecture: Architecture, dtype: np.dtype[Any]) -> FeatureRows:
    """Return the rows of a block of fresh draws, one after the other."""
    n_rows, width = block.y.shape[0] * block.y.shape[1], padded_width(architecture, dtype)
    theta = _plain(block.theta, np.dtype(np.float64)).reshape(n_rows, -1)
    table = np.zeros((n_rows if architecture.mixed_modes else 0, width), dtype)
    if len(table):
        embed_rows(theta, architecture.n_modes, table)
        _add_mixed(theta, architecture, table, table.nbytes)
    return FeatureRows(
        theta, _plain(block.y, dtype).reshape(n_rows, -1), np.ones(n_rows, dtype), table
    )


def _add_mixed(
    theta: FloatArray, architecture: Architecture, table: NDArray[Any], needed: int
) -> None:
    """Write the features of the mixed modes behind those of the columns; kernels need a table."""
    if not architecture.mixed_modes:
        return
    if len(table) == 0:
        raise OutOfMemoryError(
            f"mixed_modes={architecture.mixed_modes} needs {needed} bytes for the features of "
            f"{len(theta)} rows; use fewer mixed modes, or 0 for sums over columns"
        )
    first, count = architecture.n_axis_features, architecture.n_mixed
    features = mixed_features(theta, lattice_modes(theta.shape[1], architecture.mixed_modes))
    table[:, first : first + count] = features[:, 1::2]
    table[:, first + count : first + 2 * count] = features[:, ::2]


def _plain(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    # numba compiles anew for arrays that are read-only or strided
    return np.require(array, dtype, ["C", "W"])


def _fits(n_bytes: int) -> bool:
    available = available_bytes()
    return n_bytes <= TABLE_BYTES and (available is None or 2 * n_bytes <= available)
