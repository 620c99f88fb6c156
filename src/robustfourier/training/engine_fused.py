"""The fast engine: whole blocks of SGD steps in compiled code.

Networks without dense layers run in `diagonal_kernels` (one accumulator per unit), networks with
dense layers in `dense_kernels` (a backward pass written by hand around BLAS). Same batches, same
arithmetic as the torch engine; only the order of the sums differs.

The kernels see units in pairs on +φ and −φ and matrices transposed; what goes in and comes out has
the names and shapes of `Weights`. The features of a fixed sample are kept as a table if it takes at
most `TABLE_BYTES`. Beyond that, and for fresh draws, the table is empty and a kernel embeds each
row whenever a batch needs it: slower, but in no memory at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.compiling.numba_jit import announced
from robustfourier.concurrency import one_blas_thread
from robustfourier.errors import OutOfMemoryError
from robustfourier.memory_limits import available_bytes
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.embedding import lattice_modes, mixed_features
from robustfourier.network.weights import Weights
from robustfourier.training.batches import Block, DrawnBlock, FixedSample, RowBlock
from robustfourier.training.dense_kernels import run_dense
from robustfourier.training.diagonal_kernels import embed_rows, run_pairs
from robustfourier.training.engine import Phase
from robustfourier.training.losses import LOSSES, Loss

TABLE_BYTES = 512_000_000
"""Most bytes that the features of a fixed sample may take before they are computed row by row."""

_LINE = 128  # bytes that a row is filled up to with zeros, so that no loop has a scalar tail


class FusedEngine:
    """SGD in compiled code; see `engine.py` for the contract."""

    def __init__(self, weights: Weights, sample: FixedSample | None, loss: Loss) -> None:
        self._architecture, self._dtype = weights.architecture, weights.dtype
        self._loss = (LOSSES.index(loss.name), self._dtype.type(loss.delta))
        self._rows: FeatureRows | None = None
        if sample is not None:
            with announced():
                self._rows = feature_rows(sample, self._architecture, self._dtype)
        deep = bool(weights.architecture.hidden_layer_sizes)
        self._state: _Pairs | _Dense = _Dense(weights) if deep else _Pairs(weights)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""
        return self._state.arrays()

    def run(self, phase: Phase, rates: FloatArray, block: Block) -> FloatArray:
        """Take one step per rate and return the batch losses, shape (S,)."""
        if isinstance(block, RowBlock):
            assert self._rows is not None
            rows, batches = self._rows, _plain(block.rows, np.int64)
        else:
            rows = _drawn_rows(block, self._architecture, self._dtype)
            batches = np.arange(len(rows.y)).reshape(block.y.shape[:2])
        data = (rows.table, rows.theta, self._architecture.n_modes, rows.y, rows.weight)
        losses = np.empty(len(rates))
        with announced():
            self._state.run(phase, batches, _plain(rates, np.float64), data, self._loss, losses)
        return losses


class _Pairs:
    """The parameters of a network without dense layers, as pairs of units on +φ and −φ."""

    def __init__(self, weights: Weights) -> None:
        self._architecture = weights.architecture
        self._side, self._place = unit_places(weights.architecture)
        width = _padded_width(weights.architecture, weights.dtype)
        c = weights.arrays[OUTPUT]
        # a unit that does not exist has both weights zero, where it stays
        self._w = np.zeros((2, width), weights.dtype)
        self._c = np.zeros((2, len(c), width), weights.dtype)
        self._w[self._side, self._place] = weights.arrays.get(DIAGONAL, 1.0)
        self._c[self._side, :, self._place] = c.T

    def arrays(self) -> dict[str, NDArray[Any]]:
        c = np.ascontiguousarray(self._c[self._side, :, self._place].T)
        w = self._w[self._side, self._place]
        return {DIAGONAL: w, OUTPUT: c} if self._architecture.diagonal else {OUTPUT: c}

    def run(
        self, phase: Phase, batches: IntArray, rates: FloatArray, data: Any, loss: Any, losses: Any
    ) -> None:
        number = self._w.dtype.type
        rule = (
            (DIAGONAL in phase.trainable, OUTPUT in phase.trainable),
            number(phase.ridge),
            tuple(number(phase.boxes.get(name, np.inf)) for name in (DIAGONAL, OUTPUT)),
        )
        relu = self._architecture.diagonal and self._architecture.activation == "relu"
        run_pairs(batches, rates, data, self._w, self._c, relu, loss, rule, losses)


class _Dense:
    """The parameters of a network with dense layers."""

    def __init__(self, weights: Weights) -> None:
        self._architecture = weights.architecture
        self._side, self._place = unit_places(weights.architecture)
        self._names = [name for name in weights.arrays if name != DIAGONAL]
        n, first = weights.architecture.n_features, weights.arrays[self._names[0]]
        self._w = np.zeros((2, n), weights.dtype)
        self._w[self._side, self._place] = weights.arrays.get(DIAGONAL, 1.0)
        self._first = np.zeros((2 * n, len(first)), weights.dtype)
        self._first[self._side * n + self._place] = first.T
        self._flat = np.concatenate([weights.arrays[name].T.ravel() for name in self._names[1:]])
        hidden = weights.architecture.hidden_layer_sizes
        self._sizes = np.array([*hidden, weights.architecture.n_outputs], np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        shapes, n = self._architecture.parameter_shapes(), self._architecture.n_features
        arrays = {DIAGONAL: self._w[self._side, self._place]} if DIAGONAL in shapes else {}
        arrays[self._names[0]] = np.ascontiguousarray(self._first[self._side * n + self._place].T)
        ends = np.cumsum([int(np.prod(shapes[name])) for name in self._names[1:]])
        for name, part in zip(self._names[1:], np.split(self._flat, ends[:-1]), strict=True):
            arrays[name] = np.array(part.reshape(shapes[name][::-1]).T, order="C")
        return arrays

    def run(
        self, phase: Phase, batches: IntArray, rates: FloatArray, data: Any, loss: Any, losses: Any
    ) -> None:
        names = [DIAGONAL, *self._names]
        rule = (
            np.array([name in phase.trainable for name in names]),
            self._w.dtype.type(phase.ridge),
            np.array([phase.boxes.get(name, np.inf) for name in names], self._w.dtype),
        )
        relu = self._architecture.activation == "relu"
        state = (self._w, self._first, self._flat, self._sizes)
        rectified = (self._architecture.diagonal and relu, relu)
        with one_blas_thread():
            run_dense(batches, rates, data, *state, rectified, loss, rule, losses)


def unit_places(architecture: Architecture) -> tuple[IndexArray, IndexArray]:
    """Return for each entry of the embedding whether it is −φ, and its place in the kernels' order.

    The kernels order the features of a column as [1, cos 1…m, sin 1…m]; behind all columns stand
    the cosines and then the sines of the mixed modes.
    """
    layout, m = architecture.layout(), architecture.n_modes
    place = layout.column * (2 * m + 1) + layout.mode + np.where(layout.is_sine, m, 0)
    mixed = architecture.n_axis_features + layout.mode - 1
    mixed = mixed + np.where(layout.is_sine, architecture.n_mixed, 0)
    place = np.where(layout.column < 0, mixed, place)
    return (layout.sign < 0).astype(np.intp), place


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
            y, weight = _plain(sample.y, dtype), _plain(sample.weight, dtype)
            keep = _fits(len(sample) * _padded_width(architecture, dtype) * dtype.itemsize)
            theta, table = _embedded(sample.theta, architecture, dtype, keep)
            rows = _ALIVE[key] = FeatureRows(theta, y, weight, table, sample)
    return rows


def _drawn_rows(block: DrawnBlock, architecture: Architecture, dtype: np.dtype[Any]) -> FeatureRows:
    """Return the rows of a block of fresh draws, one after the other."""
    n_rows = block.y.shape[0] * block.y.shape[1]
    theta, y = block.theta.reshape(n_rows, -1), _plain(block.y, dtype).reshape(n_rows, -1)
    theta, table = _embedded(theta, architecture, dtype, bool(architecture.mixed_modes))
    return FeatureRows(theta, y, np.ones(n_rows, dtype), table)


def _embedded(
    theta: FloatArray, shape: Architecture, dtype: np.dtype[Any], keep: bool
) -> tuple[FloatArray, NDArray[Any]]:
    """Return θ and the table of its features, mixed modes last; without rows if not to be kept."""
    theta = _plain(theta, np.float64)
    table = np.zeros((len(theta) if keep else 0, _padded_width(shape, dtype)), dtype)
    if keep:
        embed_rows(theta, shape.n_modes, table)
    if shape.mixed_modes:
        if not keep:
            needed = len(theta) * _padded_width(shape, dtype) * dtype.itemsize
            raise OutOfMemoryError(
                f"mixed_modes={shape.mixed_modes} needs {needed} bytes for the features of "
                f"{len(theta)} rows; use fewer mixed modes, or 0 for sums over columns"
            )
        first, count = shape.n_axis_features, shape.n_mixed
        features = mixed_features(theta, lattice_modes(theta.shape[1], shape.mixed_modes))
        table[:, first : first + count] = features[:, 1::2]
        table[:, first + count : first + 2 * count] = features[:, ::2]
    return theta, table


def fitted_values(weights: Weights, rows: FeatureRows) -> FloatArray:
    """Return a diagonal network's values, shape (n, q), from the table of features if there is one.

    A pair of units is A φ + C |φ|; see `diagonal_kernels`.
    """
    architecture = weights.architecture
    if len(rows.table) == 0 or architecture.hidden_layer_sizes:
        return weights.predict(rows.theta)
    side, place = unit_places(architecture)
    w, c = weights.arrays[DIAGONAL], weights.arrays[OUTPUT]
    odd = np.zeros((rows.table.shape[1], len(c)))
    np.add.at(odd, place, (np.where(side, -1.0, 1.0) * w * c).T)
    if architecture.activation == "identity":
        return np.asarray(rows.table @ odd, dtype=np.float64)
    even = np.zeros_like(odd)
    np.add.at(even, place, (np.abs(w) * c).T)
    return np.asarray(0.5 * (rows.table @ odd + np.abs(rows.table) @ even), dtype=np.float64)


def _padded_width(architecture: Architecture, dtype: np.dtype[Any]) -> int:
    """Features of one row, filled up to whole lines."""
    step = _LINE // dtype.itemsize
    return -(-architecture.n_features // step) * step


def _plain(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    # numba compiles anew for arrays that are read-only or strided
    return np.require(array, dtype, ["C", "W"])


def _fits(n_bytes: int) -> bool:
    available = available_bytes()
    return n_bytes <= TABLE_BYTES and (available is None or 2 * n_bytes <= available)
