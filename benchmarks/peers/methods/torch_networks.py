"""Plain networks in torch, tuned on a held-out fifth: what a user without our library would write.

Each network gets the same few seconds: `STEPS` of Adam for each of three settings of its one
critical number (bandwidth), the best step of the best setting by held-out error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method

if TYPE_CHECKING:
    import torch

STEPS = 1000
BATCH = 256
CHECK_EVERY = 50
WIDTH = 100
HELD_OUT = 0.2
HIGHEST_MODES = (30, 100, 200)  # of the standard Fourier network
FREQUENCIES = (30.0, 100.0, 300.0)  # of SIREN's first layer
HIDDEN_FREQUENCY = 30.0  # of its hidden layers, as its authors advise
BANDWIDTHS = (10.0, 30.0, 100.0)  # standard deviation of random modes
FEATURES = 128


def warm_up() -> None:
    """Import torch, and let it set itself up in one gradient."""
    import torch

    torch.ones(2, requires_grad=True).sum().backward()


def tuned(
    t: FloatArray,
    y: FloatArray,
    hints: Hints,
    *,
    build: Callable[[float, int], torch.nn.Module],
    settings: Sequence[float],
    learning_rate: float,
) -> Fit:
    """Train one network per setting and keep the one with the least held-out error.

    `t`, `y` (n,): samples; scaled here to θ ∈ [-1, 1] and unit variance. `build`: (setting, seed)
    to a module that maps (n, 1) to (n, 1). `settings`: values of the network's critical number.
    `learning_rate`: of Adam, decayed to zero by a cosine. `effort`: share of `STEPS` to take.
    """
    import torch

    torch.set_num_threads(1)
    low, span, level, size = t.min(), np.ptp(t), y.mean(), y.std()

    def to_theta(times: FloatArray) -> torch.Tensor:
        return torch.as_tensor(2.0 * (times - low) / span - 1.0, dtype=torch.float32)[:, None]

    x, target = to_theta(t), torch.as_tensor((y - level) / size, dtype=torch.float32)[:, None]
    steps = max(CHECK_EVERY, round(hints.effort * STEPS))
    held = torch.as_tensor(np.random.default_rng(0).random(t.size) < HELD_OUT)
    best_error, best, chosen = np.inf, None, settings[0]
    for setting in settings:
        network = build(setting, 0)
        error = _train(
            network, x[~held], target[~held], x[held], target[held], learning_rate, steps
        )
        if error < best_error:
            best_error, best, chosen = error, network, setting
    if best is None:
        raise FloatingPointError("training diverged at every setting")

    def predict(times: FloatArray) -> FloatArray:
        with torch.no_grad():
            return level + size * best(to_theta(times))[:, 0].double().numpy()

    return Fit(predict, None, note=f"setting {chosen:g}")


def _train(
    network: torch.nn.Module,
    x: Any,
    y: Any,
    x_held: Any,
    y_held: Any,
    learning_rate: float,
    steps: int,
) -> float:
    """Train in place, leave the parameters of the best check, return its held-out error."""
    import torch

    generator = torch.Generator().manual_seed(0)
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    best, kept = np.inf, None
    for step in range(1, steps + 1):
        rows = torch.randint(len(x), (min(BATCH, len(x)),), generator=generator)
        optimiser.zero_grad()
        loss = torch.mean((network(x[rows]) - y[rows]) ** 2)
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % CHECK_EVERY == 0:
            with torch.no_grad():
                error = float(torch.mean((network(x_held) - y_held) ** 2))
            if error < best:
                best = error
                kept = {name: value.clone() for name, value in network.state_dict().items()}
    if kept is not None:
        network.load_state_dict(kept)
    return best


def features(modes: torch.Tensor, hidden: int) -> torch.nn.Module:
    """Cosines and sines of some modes, so many dense ReLU layers, and a linear read-out."""
    import torch

    class Features(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([torch.cos(x * modes), torch.sin(x * modes)], dim=1)

    widths = [2 * modes.numel(), *[WIDTH] * hidden]
    dense = [
        layer
        for before, after in pairwise(widths)
        for layer in (torch.nn.Linear(before, after), torch.nn.ReLU())
    ]
    return torch.nn.Sequential(Features(), *dense, torch.nn.Linear(WIDTH, 1))


def standard(highest_mode: float, seed: int) -> torch.nn.Module:
    """Standard Fourier network: whole modes up to `highest_mode`, one dense layer."""
    import torch

    torch.manual_seed(seed)
    return features(torch.pi * torch.arange(1, int(highest_mode) + 1), hidden=1)


def random_features(bandwidth: float, seed: int) -> torch.nn.Module:
    """Random Fourier features of Gaussian modes, two dense layers."""
    import torch

    torch.manual_seed(seed)
    return features(torch.pi * bandwidth * torch.randn(FEATURES), hidden=2)


def siren(frequency: float, seed: int) -> torch.nn.Module:
    """SIREN: two sine layers and a linear read-out with the authors' initialisation."""
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


METHODS = {
    "net_standard": Method(
        "standard Fourier network (torch)",
        ("torch",),
        partial(tuned, build=standard, settings=HIGHEST_MODES, learning_rate=2e-3),
        budget="subset",
        warm_up=warm_up,
    ),
    "net_siren": Method(
        "SIREN (torch)",
        ("torch",),
        partial(tuned, build=siren, settings=FREQUENCIES, learning_rate=5e-4),
        budget="subset",
        warm_up=warm_up,
    ),
    "net_random_features": Method(
        "random Fourier features (torch)",
        ("torch",),
        partial(tuned, build=random_features, settings=BANDWIDTHS, learning_rate=2e-3),
        budget="subset",
        warm_up=warm_up,
    ),
}
