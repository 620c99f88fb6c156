"""What "auto" means for networks that no closed form covers: measured, not derived.

With dense layers: start × 0.3, rate 0.02, 12 000 steps. Example 3 of the paper (noise 0.4, three
seeds): u2_diag 0.055 where the start as drawn gives 0.065 after 300 000 steps at a tenth of the
rate, which is what the paper trains with. Without a diagonal layer, and layer by layer, the scale
of the start decides nothing, and rate and steps are those of the paper's examples 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import Init
from robustfourier.training.schedule import InverseDecay

N_MODES = 100
"""The paper's number of modes."""


@dataclass(frozen=True)
class Defaults:
    """Numbers of a training.

    `init_scale`: factor on Glorot's start.
    """

    init: Init
    init_scale: float
    learning_rate: float
    n_steps: int


def defaults_for(architecture: Architecture, training: str) -> Defaults:
    """Return what a training of this network takes where nothing is given."""
    if architecture.diagonal and training == "joint":
        if architecture.hidden_layer_sizes:
            return Defaults("even", 0.3, 0.02, 12_000)
        return Defaults("even", 0.1, 0.02, 8_000)
    return Defaults("symmetric", 1.0, InverseDecay().initial, 40_000)


def decay_steps_for(learning_rate: float) -> float:
    """Return m_0 at which the paper's schedule falls as fast in its time, the sum of rates."""
    paper = InverseDecay()
    return paper.steps * paper.initial / learning_rate
