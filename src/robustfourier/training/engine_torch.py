"""The plain engine: forward pass in torch, gradients by autograd, SGD by hand.

It trains every architecture and is what the fused engine is checked against. The features of a
fixed sample are computed once, and mirror images are never stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.network.architecture import DIAGONAL, OUTPUT
from robustfourier.network.embedding import all_features
from robustfourier.network.weights import Weights
from robustfourier.training.batches import Block, FixedSample, RowBlock
from robustfourier.training.engine import Phase
from robustfourier.training.losses import Loss


class TorchEngine:
    """SGD in torch for any Fourier network; see `engine.py` for the contract."""

    def __init__(self, weights: Weights, sample: FixedSample | None, loss: Loss) -> None:
        self._architecture = weights.architecture
        self._dtype = torch.from_numpy(np.empty(0, weights.dtype)).dtype
        self._parameters = {k: torch.tensor(v) for k, v in weights.arrays.items()}
        self._loss = loss
        layout = weights.architecture.layout()
        self._feature = torch.from_numpy(layout.feature)
        self._sign = self._tensor(layout.sign)
        if sample is not None:
            self._features = self._embed(sample.theta)
            self._y = self._tensor(sample.y)
            self._weight = self._tensor(sample.weight)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""
        return {k: v.detach().numpy().copy() for k, v in self._parameters.items()}

    def run(self, phase: Phase, rates: FloatArray, block: Block) -> FloatArray:
        """Take one step per rate and return the batch losses, shape (S,)."""
        for name, parameter in self._parameters.items():
            parameter.requires_grad_(name in phase.trainable)
        losses = torch.empty(len(rates), dtype=self._dtype)
        with _one_thread():
            for i, batch in enumerate(self._batches(block)):
                losses[i] = self._step(phase, float(rates[i]), *batch)
        return losses.numpy().astype(np.float64)

    def gradients(
        self, phase: Phase, features: torch.Tensor, y: torch.Tensor, weight: torch.Tensor
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """Return the batch loss and the gradient of each trainable parameter."""
        prediction = self._forward(features)
        residual = prediction.detach() - y
        scale = weight[:, None] / residual.numel()
        loss = (self._loss.value(residual) * scale).sum()
        # the slope of the loss is known, so the graph ends at the prediction
        trainable = [self._parameters[name] for name in phase.trainable]
        slope = self._loss.slope(residual) * scale
        return loss, torch.autograd.grad(prediction, trainable, slope)

    def _step(
        self,
        phase: Phase,
        rate: float,
        features: torch.Tensor,
        y: torch.Tensor,
        weight: torch.Tensor,
    ) -> torch.Tensor:
        loss, gradients = self.gradients(phase, features, y, weight)
        with torch.no_grad():
            trainable = [self._parameters[name] for name in phase.trainable]
            if phase.ridge and DIAGONAL in phase.trainable:
                w = self._parameters[DIAGONAL]
                gradients[phase.trainable.index(DIAGONAL)].add_(w, alpha=phase.ridge)
            torch._foreach_add_(trainable, gradients, alpha=-rate)
            for name, half_width in phase.boxes.items():
                if name in phase.trainable:
                    self._parameters[name].clamp_(-half_width, half_width)
        return loss

    def _forward(self, features: torch.Tensor) -> torch.Tensor:
        p, architecture = self._parameters, self._architecture
        n_dense = len(architecture.hidden_layer_sizes)
        first = "dense.0.weight" if n_dense else OUTPUT
        if architecture.diagonal and architecture.activation == "relu":
            # W σ(w ⊙ x) = (W diag|w|) σ(sgn(w) ⊙ x): the input needs no gradient, which saves
            # a third of the layer's work, and |w| has the derivative 0 at 0 as ReLU has
            w = p[DIAGONAL]
            signs = self._sign * w.detach().sign()
            x = features.index_select(1, self._feature).mul_(signs).relu_()
            p = {**p, first: p[first] * w.abs()}
        else:
            # W₊φ + W₋(−φ) = (W₊ − W₋)φ: half the multiplications
            matrix = p[first] * p[DIAGONAL] if architecture.diagonal else p[first]
            p = {**p, first: self._fold(matrix)}
            x = features
        for i in range(n_dense):
            x = self._activate(torch.addmm(p[f"dense.{i}.bias"], x, p[f"dense.{i}.weight"].T))
        if "output.bias" in p:
            return torch.addmm(p["output.bias"], x, p[OUTPUT].T)
        return x @ p[OUTPUT].T

    def _fold(self, matrix: torch.Tensor) -> torch.Tensor:
        folded = matrix.new_zeros(len(matrix), self._architecture.n_features)
        return folded.index_add(1, self._feature, matrix * self._sign)

    def _activate(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) if self._architecture.activation == "relu" else x

    def _batches(self, block: Block) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        if isinstance(block, RowBlock):
            x, y, weight = self._features, self._y, self._weight
            for rows in torch.from_numpy(block.rows):
                yield x.index_select(0, rows), y.index_select(0, rows), weight.index_select(0, rows)
        else:
            ones = torch.ones(block.y.shape[1], dtype=self._dtype)
            for theta, y in zip(block.theta, block.y, strict=True):
                yield self._embed(theta), self._tensor(y), ones

    def _embed(self, theta: FloatArray) -> torch.Tensor:
        shape = self._architecture
        return self._tensor(all_features(theta, shape.n_modes, shape.mixed_modes))

    def _tensor(self, array: FloatArray) -> torch.Tensor:
        return torch.tensor(array, dtype=self._dtype)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Pin torch to one thread: other numbers of threads add in another order, in other bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
