"""The contract between the training loop and what does the arithmetic.

The loop (`loop.py`) decides *what* happens: which batches, which rates, which parameters move, when
to record, stop or save. An engine does one thing: take a block of SGD steps. Two engines exist,
``"torch"`` (the plain reference, every architecture) and ``"fused"`` (compiled). They get the
same batches and do the same arithmetic, so their weights agree to rounding.

What an engine is given
-----------------------
Once, when it is made::

    Engine(weights, sample, loss)

    weights : Weights       architecture and arrays, all float64 or all float32 (= the dtype to
                            compute in); for u0_diag:
                              arrays["diagonal.weight"]  w, shape (D,)
                              arrays["output.weight"]    c, shape (q, D), no bias
                            without the diagonal layer only "output.weight"; D, the order of the
                            entries and their signs: weights.architecture.layout(), that is
                            x[:, i] = layout.sign[i] * φ[:, layout.feature[i]] with
                            φ = fourier_features(theta, m).reshape(n, d·(2m+1)), float64, cast
                            to the dtype afterwards; layout.mirror[i] is the position of −x_i
    sample  : FixedSample or None   theta (n, d), y (n, q), weight ω (n,), float64; None when
                            the batches are fresh draws
    loss    : Loss          name and delta; `Loss.value`, `Loss.slope` are the definition

For each block of S steps::

    losses = engine.run(phase, rates, block)

    phase   : Phase         trainable (names of the parameters that move), ridge λ, boxes
                            (name → half-width Q)
    rates   : float64 (S,)  learning rate of each step
    block   : RowBlock      rows int64 (S, B) into the sample
              DrawnBlock    theta (S, B, d), y (S, B, q), with all weights ω = 1
    losses  : float64 (S,)  batch loss of each step *before* its update, without the penalty

and at any time between blocks ``engine.arrays()`` gives copies of the parameters. An engine never
edits what it was given.

The arithmetic of one step
--------------------------
For u0_diag with batch rows b = 1…B, x (B, D), y (B, q), weights ω (B,)::

    z = w ⊙ x                    h = σ(z)                       ŷ = h cᵀ             (B, q)
    r = ŷ − y                    loss = Σ_b Σ_o ω_b value(r_bo) / (B q)
    g = ω_b slope(r_bo) / (B q)                                                      (B, q)
    ∂c = gᵀ h                    ∂w = Σ_b (g c)_b ⊙ 1[z_b > 0] ⊙ x_b + λ w
    c ← clip(c − η ∂c, ±Q_2)     w ← clip(w − η ∂w, ±Q_1)

The derivative of ReLU at 0 is 0; for the identity the indicator is 1. Both gradients are taken
at the old values. λ acts on the diagonal only and only if the diagonal is trainable. A parameter
that is not trainable does not move and is not projected. Without diagonal layer h = x (there is
no activation either). Dense layers follow the same pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError, MissingDependencyError, require_choice, require_count
from robustfourier.network.weights import Weights
from robustfourier.training.batches import Block, FixedSample
from robustfourier.training.losses import Loss
from robustfourier.training.schedule import InverseDecay

EngineName: TypeAlias = Literal["auto", "torch", "fused"]
ENGINES: tuple[str, ...] = get_args(EngineName)


@dataclass(frozen=True)
class Phase:
    """A stretch of training with one rule.

    Attributes
    ----------
    name : str
        "joint", "diagonal" or "output".
    n_steps : int
        Steps of this phase.
    schedule : InverseDecay
        Learning rates, counted from the phase's own first step.
    trainable : tuple of str
        Parameters that move; the others stay as they are.
    ridge : float
        λ of the penalty λ‖w‖²/2 on the diagonal.
    boxes : mapping of str to float
        Half-width of the box that a trainable parameter is projected to after each step.
    """

    name: str
    n_steps: int
    schedule: InverseDecay
    trainable: tuple[str, ...]
    ridge: float = 0.0
    boxes: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_count("n_steps", self.n_steps, at_least=0)
        if not (np.isfinite(self.ridge) and self.ridge >= 0):
            raise InputError(f"ridge={self.ridge!r} (λ) must be 0 or positive")

    def describe(self) -> dict[str, Any]:
        """Return the rule as JSON values, without the number of steps."""
        schedule = [self.schedule.initial, self.schedule.decay, self.schedule.steps]
        return {
            "name": self.name,
            "schedule": schedule,
            "trainable": list(self.trainable),
            "ridge": self.ridge,
            "boxes": dict(self.boxes),
        }


class Engine(Protocol):
    """Takes blocks of SGD steps; see the module's text for the contract."""

    def __init__(self, weights: Weights, sample: FixedSample | None, loss: Loss) -> None: ...

    def run(self, phase: Phase, rates: FloatArray, block: Block) -> FloatArray:
        """Take one step per rate and return the batch losses, shape (S,)."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters by name."""


def choose_engine(engine: EngineName) -> str:
    """Return the name of the engine to use; "auto" is the fast one, or torch without numba."""
    require_choice("engine", engine, ENGINES)
    compiled = find_spec("numba") is not None
    if engine == "auto" and not compiled and find_spec("torch") is not None:
        return "torch"
    if engine != "torch" and not compiled:
        raise MissingDependencyError(
            f"engine={engine!r} needs numba, which is not installed; "
            "pip install 'robustfourier[numba]'"
        )
    return "fused" if engine == "auto" else engine


def make_engine(name: str, weights: Weights, sample: FixedSample | None, loss: Loss) -> Engine:
    """Make the engine called `name`, as chosen by `choose_engine`."""
    if name == "fused":
        from robustfourier.training.engine_fused import FusedEngine

        return FusedEngine(weights, sample, loss)
    try:
        from robustfourier.training.engine_torch import TorchEngine
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"engine={name!r} needs {error.name}, which is not installed; "
            f"pip install 'robustfourier[torch]'"
        ) from error
    return TorchEngine(weights, sample, loss)
