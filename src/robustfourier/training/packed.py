"""The parameters of a network as the kernels want them, and back.

The kernels see units in pairs on +φ and −φ and matrices transposed; what goes in and comes out has
the names and shapes of `Weights`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.concurrency import one_blas_thread
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights
from robustfourier.training.dense_kernels import run_dense
from robustfourier.training.diagonal_kernels import run_pairs
from robustfourier.training.engine import Phase
from robustfourier.training.feature_rows import FeatureRows, padded_width


class PairState:
    """The parameters of a network without dense layers, as pairs of units on +φ and −φ."""

    def __init__(self, weights: Weights) -> None:
        self._architecture = weights.architecture
        self._side, self._place = unit_places(weights.architecture)
        width = padded_width(weights.architecture, weights.dtype)
        c = weights.arrays[OUTPUT]
        # a unit that does not exist has both weights zero, where it stays
        self._w = np.zeros((2, width), weights.dtype)
        self._c = np.zeros((2, len(c), width), weights.dtype)
        self._w[self._side, self._place] = weights.arrays.get(DIAGONAL, 1.0)
        self._c[self._side, :, self._place] = c.T

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""
        c = np.ascontiguousarray(self._c[self._side, :, self._place].T)
        w = self._w[self._side, self._place]
        return {DIAGONAL: w, OUTPUT: c} if self._architecture.diagonal else {OUTPUT: c}

    def run(
        self, phase: Phase, batches: IntArray, rates: FloatArray, data: Any, loss: Any
    ) -> FloatArray:
        """Take the steps of a block and return their losses; see `run_pairs` for the arguments."""
        number, losses = self._w.dtype.type, np.empty(len(rates))
        rule = (
            (DIAGONAL in phase.trainable, OUTPUT in phase.trainable),
            number(phase.ridge),
            tuple(number(phase.boxes.get(name, np.inf)) for name in (DIAGONAL, OUTPUT)),
        )
        relu = self._architecture.diagonal and self._architecture.activation == "relu"
        run_pairs(batches, rates, data, self._w, self._c, relu, loss, rule, losses)
        return losses


class DenseState:
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
        """Return copies of the parameters by name."""
        shapes = self._architecture.parameter_shapes()
        n = self._architecture.n_features
        arrays = {DIAGONAL: self._w[self._side, self._place]} if DIAGONAL in shapes else {}
        arrays[self._names[0]] = np.ascontiguousarray(self._first[self._side * n + self._place].T)
        start = 0
        for name in self._names[1:]:
            size = int(np.prod(shapes[name]))
            part = self._flat[start : start + size].reshape(shapes[name][::-1])
            arrays[name] = np.array(part.T, order="C")
            start += size
        return arrays

    def run(
        self, phase: Phase, batches: IntArray, rates: FloatArray, data: Any, loss: Any
    ) -> FloatArray:
        """Take the steps of a block and return their losses; see `run_dense` for the arguments."""
        names, losses = [DIAGONAL, *self._names], np.empty(len(rates))
        rule = (
            np.array([name in phase.trainable for name in names]),
            self._w.dtype.type(phase.ridge),
            np.array([phase.boxes.get(name, np.inf) for name in names], self._w.dtype),
        )
        relu = self._architecture.activation == "relu"
        state = (
            self._w,
            self._first,
            self._flat,
            self._sizes,
            (self._architecture.diagonal and relu, relu),
        )
        with one_blas_thread():
            run_dense(batches, rates, data, *state, loss, rule, losses)
        return losses


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
