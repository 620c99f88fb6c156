"""The fast engine: whole blocks of SGD steps in compiled code.

Networks without dense layers run in `kernels` (one accumulator per unit), networks with dense
layers in `kernels_dense` (a backward pass written by hand around BLAS). Same batches, same
arithmetic as the torch engine; only the order of the sums differs.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights
from robustfourier.training.batches import Block, FixedSample, RowBlock
from robustfourier.training.compiling import announced
from robustfourier.training.engine import Phase
from robustfourier.training.features import FeatureRows, drawn_rows, feature_rows, padded_width
from robustfourier.training.kernels import run_pairs
from robustfourier.training.losses import LOSSES, Loss

__all__ = ["FusedEngine", "PairState"]


class FusedEngine:
    """SGD in compiled code; see `engine.py` for the contract.

    Parameters
    ----------
    weights : Weights
    sample : FixedSample or None
    loss : Loss
    """

    name: ClassVar[str] = "fused"

    def __init__(self, weights: Weights, sample: FixedSample | None, loss: Loss) -> None:
        self._architecture, self._dtype = weights.architecture, weights.dtype
        self._loss = (LOSSES.index(loss.name), self._dtype.type(loss.delta))
        with announced():
            self._rows = None if sample is None else self._feature_rows(sample)
        self._state = PairState(weights)

    @staticmethod
    def refusal(architecture: Architecture) -> str | None:
        """Return why the engine cannot train such a network, or None if it can."""
        if architecture.hidden_layer_sizes:
            return f"trains networks without dense layers only, not {architecture.name}"
        return None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""
        return self._state.arrays()

    def run(self, phase: Phase, rates: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
        """Take one step per rate and return the batch losses, shape (S,)."""
        if isinstance(block, RowBlock):
            assert self._rows is not None
            rows, batches = self._rows, block.rows
        else:
            rows = drawn_rows(block, self._architecture, self._dtype)
            batches = np.arange(len(rows.y)).reshape(block.y.shape[:2])
        losses = np.empty(len(rates))
        with announced():
            self._state.run(rows, batches, rates, self._loss, phase, losses)
        return losses

    def _feature_rows(self, sample: FixedSample) -> FeatureRows:
        return feature_rows(sample, self._architecture, self._dtype)


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
        self,
        rows: FeatureRows,
        batches: NDArray[np.int64],
        rates: NDArray[np.float64],
        loss: tuple[int, Any],
        phase: Phase,
        losses: NDArray[np.float64],
    ) -> None:
        """Take the steps of a block and fill in their losses."""
        number = self._w.dtype.type
        run_pairs(
            batches,
            rates,
            rows.table,
            rows.theta,
            self._architecture.n_modes,
            rows.y,
            rows.weight,
            self._w,
            self._c,
            self._architecture.diagonal and self._architecture.activation == "relu",
            *loss,
            (DIAGONAL in phase.trainable, OUTPUT in phase.trainable),
            number(phase.ridge),
            tuple(number(phase.boxes.get(name, np.inf)) for name in (DIAGONAL, OUTPUT)),
            losses,
        )


def unit_places(architecture: Architecture) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for each entry of the embedding whether it is −φ, and its place in the kernels' order.

    The kernels order the features of a column as [1, cos 1…m, sin 1…m].
    """
    layout, m = architecture.layout(), architecture.n_modes
    place = layout.column * (2 * m + 1) + layout.mode + np.where(layout.is_sine, m, 0)
    return (layout.sign < 0).astype(np.intp), place
