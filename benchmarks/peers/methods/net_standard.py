"""Standard Fourier network: sines and cosines of whole modes into a dense ReLU layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.networks import WIDTH, tuned

if TYPE_CHECKING:
    import torch

NAME = "standard Fourier network (torch)"
PACKAGES = ("torch",)
BUDGET = "subset"
HIGHEST_MODES = (30, 100, 200)


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    return tuned(t, y, build, HIGHEST_MODES, learning_rate=2e-3, effort=hints.effort)


def build(highest_mode: float, seed: int) -> torch.nn.Module:
    """Embedding up to `highest_mode`, one dense layer, a linear read-out."""
    import torch

    torch.manual_seed(seed)
    modes = torch.pi * torch.arange(1, int(highest_mode) + 1)

    class Embedding(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([torch.cos(x * modes), torch.sin(x * modes)], dim=1)

    return torch.nn.Sequential(
        Embedding(),
        torch.nn.Linear(2 * modes.numel(), WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, 1),
    )
