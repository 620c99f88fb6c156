"""The fast engine: whole blocks of SGD steps in compiled code.

Networks without dense layers run in `diagonal_kernels` (one accumulator per unit), networks with
dense layers in `dense_kernels` (a backward pass written by hand around BLAS). Same batches, same
arithmetic as the torch engine; only the order of the sums differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.compiling.jit import announced
from robustfourier.network.weights import Weights
from robustfourier.training.batches import Block, FixedSample, RowBlock
from robustfourier.training.engine import Phase
from robustfourier.training.feature_rows import drawn_rows, feature_rows
from robustfourier.training.losses import LOSSES, Loss
from robustfourier.training.packed import DenseState, PairState


class FusedEngine:
    """SGD in compiled code; see `engine.py` for the contract."""

    def __init__(self, weights: Weights, sample: FixedSample | None, loss: Loss) -> None:
        self._architecture, self._dtype = weights.architecture, weights.dtype
        self._loss = (LOSSES.index(loss.name), self._dtype.type(loss.delta))
        with announced():
            self._rows = (
                None if sample is None else feature_rows(sample, self._architecture, self._dtype)
            )
        deep = bool(weights.architecture.hidden_layer_sizes)
        self._state: PairState | DenseState = DenseState(weights) if deep else PairState(weights)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""
        return self._state.arrays()

    def run(self, phase: Phase, rates: FloatArray, block: Block) -> FloatArray:
        """Take one step per rate and return the batch losses, shape (S,)."""
        if isinstance(block, RowBlock):
            assert self._rows is not None
            rows, batches = self._rows, np.require(block.rows, np.int64, ["C", "W"])
        else:
            rows = drawn_rows(block, self._architecture, self._dtype)
            batches = np.arange(len(rows.y)).reshape(block.y.shape[:2])
        rates = np.require(rates, np.float64, ["C", "W"])
        data = (rows.table, rows.theta, self._architecture.n_modes, rows.y, rows.weight)
        with announced():
            return self._state.run(phase, batches, rates, data, self._loss)
