"""SIREN: dense layers with sine activations, its first-layer frequency tuned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.networks import WIDTH, tuned

if TYPE_CHECKING:
    import torch

NAME = "SIREN (torch)"
PACKAGES = ("torch",)
BUDGET = "subset"
FREQUENCIES = (30.0, 100.0, 300.0)
HIDDEN_FREQUENCY = 30.0  # of the hidden layers, as its authors advise


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    return tuned(t, y, build, FREQUENCIES, learning_rate=5e-4, effort=hints.effort)


def build(frequency: float, seed: int) -> torch.nn.Module:
    """Two sine layers and a linear read-out with the authors' initialisation."""
    import torch

    torch.manual_seed(seed)

    class Sine(torch.nn.Module):
        def __init__(self, inputs: int, omega: float, bound: float) -> None:
            super().__init__()
            self.omega, self.linear = omega, torch.nn.Linear(inputs, WIDTH)
            torch.nn.init.uniform_(self.linear.weight, -bound, bound)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sin(self.omega * self.linear(x))

    bound = math.sqrt(6.0 / WIDTH)
    read_out = torch.nn.Linear(WIDTH, 1)
    torch.nn.init.uniform_(read_out.weight, -bound / HIDDEN_FREQUENCY, bound / HIDDEN_FREQUENCY)
    return torch.nn.Sequential(
        Sine(1, frequency, 1.0),
        Sine(WIDTH, HIDDEN_FREQUENCY, bound / HIDDEN_FREQUENCY),
        read_out,
    )
