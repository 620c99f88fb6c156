"""The contract between the training loop and what does the arithmetic.

The loop (`loop`) decides *what* happens: which batches, which rates, which parameters move, when
to record, stop or save. An engine takes blocks of SGD steps. ``"torch"`` is the plain reference,
``"fused"`` is compiled; they get the same batches, so their weights agree to rounding.

An engine is made of ``weights`` (all float64 or all float32, the dtype to compute in), the
``sample`` (None where batches are fresh draws) and the ``loss``. The entries of the embedding are
x[:, i] = layout.sign[i] · φ[:, layout.feature[i]] with ``layout = weights.architecture.layout()``
and φ in float64, cast afterwards. `Engine.run` takes one step per learning rate with the batches of
a block, and returns the batch losses *before* each update, without the penalty. It never edits what
it was given. One step of u0_diag with rows b = 1 … B, x (B, D), y (B, q), weights ω (B,)::

    z = w ⊙ x                    h = σ(z)                       ŷ = h cᵀ             (B, q)
    r = ŷ − y                    loss = Σ_b Σ_o ω_b value(r_bo) / (B q)
    g = ω_b slope(r_bo) / (B q)                                                      (B, q)
    ∂c = gᵀ h                    ∂w = Σ_b (g c)_b ⊙ 1[z_b > 0] ⊙ x_b + λ w
    c ← clip(c − η ∂c, ±Q_2)     w ← clip(w − η ∂w, ±Q_1)

The derivative of ReLU at 0 is 0; for the identity the indicator is 1. Both gradients are taken at
the old values. λ acts on the diagonal, if that is trainable; what is not trainable neither moves
nor is projected. Without diagonal layer h = x, without activation. Dense layers follow the same
pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
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
    """A stretch of training with one rule."""

    name: str  # "joint", "diagonal" or "output"
    n_steps: int
    schedule: InverseDecay  # counted from the phase's own first step
    trainable: tuple[str, ...]  # parameters that move; the others stay as they are
    ridge: float = 0.0  # λ of the penalty λ‖w‖²/2 on the diagonal
    boxes: Mapping[str, float] = field(default_factory=dict)  # parameter → half-width Q

    def __post_init__(self) -> None:
        require_count("n_steps", self.n_steps, at_least=0)
        if not (np.isfinite(self.ridge) and self.ridge >= 0):
            raise InputError(f"ridge={self.ridge!r} (λ) must be 0 or positive")

    def describe(self) -> dict[str, Any]:
        """Return the rule as JSON values, without the number of steps."""
        rule = {**asdict(self), "trainable": list(self.trainable)}
        rule["schedule"] = list(rule["schedule"].values())
        del rule["n_steps"]
        return rule


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
