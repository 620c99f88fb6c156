"""Random Fourier features into dense ReLU layers, the bandwidth tuned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.networks import WIDTH, tuned

if TYPE_CHECKING:
    import torch

NAME = "random Fourier features (torch)"
PACKAGES = ("torch",)
BUDGET = "subset"
BANDWIDTHS = (10.0, 30.0, 100.0)  # standard deviation of the modes
FEATURES = 128


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    return tuned(t, y, build, BANDWIDTHS, learning_rate=2e-3, effort=hints.effort)


def build(bandwidth: float, seed: int) -> torch.nn.Module:
    """Sines and cosines of Gaussian frequencies, two dense layers, a linear read-out."""
    import torch

    torch.manual_seed(seed)
    modes = torch.pi * bandwidth * torch.randn(FEATURES)

    class Features(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([torch.cos(x * modes), torch.sin(x * modes)], dim=1)

    return torch.nn.Sequential(
        Features(),
        torch.nn.Linear(2 * FEATURES, WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, 1),
    )
