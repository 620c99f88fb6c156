"""The lean engine for networks with dense layers: gradients by hand, in torch, without autograd.

Three savings make a step about twice as fast as the plain engine's:

* a unit h_i = σ(w_i x_i) behind which stands column W_i obeys w_i ∂w_i = Σ_k W_ki ∂W_ki (both
  sides are Σ_b ∂h_bi h_bi), so the diagonal's gradient needs no third matrix product;
* without diagonal layer +φ and −φ act as one input: only V = W₊ − W₋ is kept while running;
* no graph is recorded, and the large arrays are made once.

It does the arithmetic of `engine.py` and agrees with the plain engine to rounding.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights
from robustfourier.training.batches import Block, FixedSample
from robustfourier.training.engine import Phase
from robustfourier.training.engine_torch import TorchEngine
from robustfourier.training.losses import Loss

__all__ = ["DenseEngine"]

FIRST = "dense.0.weight"


class DenseEngine(TorchEngine):
    """SGD for rectified networks with dense layers on one input column; see `engine.py`."""

    name: ClassVar[str] = "dense"

    def __init__(self, weights: Weights, sample: FixedSample | None, loss: Loss) -> None:
        super().__init__(weights, sample, loss)
        self._n_dense = len(self._architecture.hidden_layer_sizes)
        self._n_features = self._architecture.n_features
        self._buffers: dict[tuple[str, tuple[int, ...]], torch.Tensor] = {}
        if not self._architecture.diagonal:
            self._unfolded = self._parameters[FIRST]
            self._folded_start = self._fold(self._unfolded)
            self._parameters[FIRST] = self._folded_start.clone()

    @staticmethod
    def refusal(architecture: Architecture) -> str | None:
        """Return why such a network cannot be trained, or None if it can."""
        if not architecture.hidden_layer_sizes:
            return "is for networks with dense layers"
        if architecture.activation != "relu":
            return "is for rectified networks"
        if architecture.embedding != "signed" or architecture.n_columns != 1:
            return "is for the signed embedding of one column"
        return None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""
        arrays = super().arrays()
        if not self._architecture.diagonal:
            # Every step moves W₊ by −ηG and W₋ by +ηG, so V by −2ηG.
            moved = (self._parameters[FIRST] - self._folded_start) / 2.0
            change = torch.cat([moved, -moved], dim=1)
            arrays[FIRST] = (self._unfolded + change).detach().numpy()
        return arrays

    def run(self, phase: Phase, rates: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
        """Take one step per rate and return the batch losses, shape (S,)."""
        with torch.no_grad():
            return super().run(phase, rates, block)

    def gradients(
        self, phase: Phase, features: torch.Tensor, y: torch.Tensor, weight: torch.Tensor
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """Return the batch loss and the gradient of each trainable parameter."""
        with torch.no_grad():
            layers = self._layers(features)
            residual = torch.addmm(
                self._parameters["output.bias"], layers[-1], self._parameters[OUTPUT].T
            ).sub_(y)
            scale = weight[:, None] / residual.numel()
            loss = (self._value(residual) * scale).sum()
            found = self._backward(layers, self._slope(residual) * scale)
            return loss, tuple(found[name] for name in phase.trainable)

    def _layers(self, features: torch.Tensor) -> list[torch.Tensor]:
        """Inputs of the dense layers and of the output, one after the other."""
        p, x = self._parameters, features
        if self._architecture.diagonal:
            w, n = p[DIAGONAL], self._n_features
            x = self._buffer("diagonal", (len(features), 2 * n))
            torch.mul(features, w[:n], out=x[:, :n])
            torch.mul(features, -w[n:], out=x[:, n:])
            x.clamp_(min=0.0)
        layers = [x]
        for i in range(self._n_dense):
            bias = p[f"dense.{i}.bias"]
            x = torch.addmm(bias, x, p[f"dense.{i}.weight"].T).clamp_(min=0.0)
            layers.append(x)
        return layers

    def _backward(self, layers: list[torch.Tensor], slope: torch.Tensor) -> dict[str, torch.Tensor]:
        p = self._parameters
        found = {OUTPUT: slope.T @ layers[-1], "output.bias": slope.sum(0)}
        back = slope @ p[OUTPUT]
        for i in reversed(range(self._n_dense)):
            back.mul_(layers[i + 1] > 0.0)
            found[f"dense.{i}.bias"] = back.sum(0)
            found[f"dense.{i}.weight"] = torch.mm(
                back.T, layers[i], out=self._buffer(f"dense.{i}", p[f"dense.{i}.weight"].shape)
            )
            if i > 0:
                back = back @ p[f"dense.{i}.weight"]
        if self._architecture.diagonal:
            w = p[DIAGONAL]
            through = (p[FIRST] * found[FIRST]).sum(0)
            # At w = 0 the unit is silent and its gradient zero, as the derivative of ReLU is there.
            found[DIAGONAL] = torch.where(w == 0.0, 0.0, through / w)
        else:
            found[FIRST].mul_(2.0)
        return found

    def _slope(self, residual: torch.Tensor) -> torch.Tensor:
        if self._loss.name == "mean_squared":
            return 2.0 * residual
        if self._loss.name == "half_squared":
            return residual
        return residual.clamp(-self._loss.delta, self._loss.delta)

    def _buffer(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        key = (name, tuple(shape))
        if key not in self._buffers:
            self._buffers[key] = torch.empty(shape, dtype=self._dtype)
        return self._buffers[key]
