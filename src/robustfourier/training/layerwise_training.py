"""Algorithm 1 of the paper: first the diagonal with c fixed, then the output with w fixed."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT
from robustfourier.network.weights import Weights
from robustfourier.training.batches import BatchSource, DrawnBlock
from robustfourier.training.callbacks import Observer
from robustfourier.training.checkpoint import Checkpoint
from robustfourier.training.engine import EngineName, Phase
from robustfourier.training.history import Metric
from robustfourier.training.joint_training import Data, as_source
from robustfourier.training.loop import Training, Watch, as_weights, run_phases
from robustfourier.training.losses import Loss, as_loss
from robustfourier.training.projection import (
    Box,
    check_box,
    theorem_diagonal_box,
    theorem_output_box,
)
from robustfourier.training.schedule import InverseDecay

if TYPE_CHECKING:
    from robustfourier.network.modules import FourierNetwork


def train_layerwise(
    network: Weights | FourierNetwork,
    data: Data,
    *,
    n_steps: int,
    n_output_steps: int | None = None,
    batch_size: int = 201,
    schedule: InverseDecay | None = None,
    output_schedule: InverseDecay | None = None,
    loss: Loss | str = "half_squared",
    ridge: float = 0.0,
    diagonal_box: Box = None,
    output_box: Box = None,
    engine: EngineName = "auto",
    random_state: int | np.random.Generator | None = None,
    record_every: int | Sequence[int] = 1000,
    metrics: Mapping[str, Metric] | None = None,
    observers: Sequence[Observer] = (),
    observe_every: int = 1000,
    resume: Checkpoint | None = None,
) -> Training:
    """Train u0_diag layer by layer (Algorithm 1).

    For k = 0 … T−1, with c = c⁰::

        g = (1/B) Σ ∇_w ℓ(f̂(x; w, c⁰), y) + λw,     w ← P_{Q_1}(w − η_k g)

    then for k = 0 … T′−1, with w = w^T::

        g = (1/B) Σ ∇_c ℓ(f̂(x; w^T, c), y),         c ← P_{Q_2}(c − η′_k g)

    Parameters
    ----------
    network : Weights or FourierNetwork
        The start: a diagonal network without dense layers. A torch `FourierNetwork` also gets
        the trained weights.
    data : (theta, y), FixedSample or callable
        As for `train_jointly`; a sampler gives the theory's fresh batches.
    n_steps : int
        T, the steps on the diagonal.
    n_output_steps : int, optional
        T′, the steps on the output; as many as T if not given.
    batch_size : int, default 201
        B.
    schedule : InverseDecay, optional
        η_k; the paper's (2e-3, 0.95, 50 000) if not given.
    output_schedule : InverseDecay, optional
        η′_k; that of η_k, anew from its beginning, if not given.
    loss : {"half_squared", "mean_squared", "huber"} or Loss
    ridge : float, default 0.0
        λ.
    diagonal_box, output_box : float, "theorem" or None
        Q_1 and Q_2; by the theorem's rule (see `projection`), which needs 0 < λ < 1; or no box.
    engine, random_state, record_every, metrics, observers, observe_every, resume
        As for `train_jointly`.

    Returns
    -------
    Training
        The history's `phase` is "diagonal" for the first T steps and "output" afterwards; `start`
        keeps w⁰ and c⁰.
    """
    weights = as_weights(network)
    architecture = weights.architecture
    if architecture.hidden_layer_sizes or not architecture.diagonal:
        raise InputError(
            f"layer-wise training is defined for u0_diag, not for {architecture.name}; use "
            "train_jointly (training='joint'), or a diagonal network without dense layers"
        )
    source = as_source(data, batch_size, random_state, weights)
    schedule = schedule or InverseDecay()
    boxes = {}
    if diagonal_box == "theorem":
        boxes[DIAGONAL] = theorem_diagonal_box(weights, _mean_abs_y(source), ridge)
    elif diagonal_box is not None:
        boxes[DIAGONAL] = check_box("diagonal_box", diagonal_box)
    if output_box == "theorem":
        boxes[OUTPUT] = theorem_output_box(weights, ridge)
    elif output_box is not None:
        boxes[OUTPUT] = check_box("output_box", output_box)
    after = n_steps if n_output_steps is None else n_output_steps
    phases = [
        Phase("diagonal", n_steps, schedule, (DIAGONAL,), ridge, boxes),
        Phase("output", after, output_schedule or schedule, (OUTPUT,), boxes=boxes),
    ]
    return run_phases(
        network,
        source,
        phases,
        loss=as_loss(loss),
        engine=engine,
        watch=Watch(record_every, metrics or {}, observers, observe_every),
        resume=resume,
    )


def _mean_abs_y(source: BatchSource) -> float:
    """E|y| of the sample; of 100 batches, drawn aside, where there is only a sampler."""
    if source.sample is not None:
        return float(np.average(np.abs(source.sample.y).max(axis=1), weights=source.sample.weight))
    block = copy.deepcopy(source).next(100)
    assert isinstance(block, DrawnBlock)
    return float(np.abs(block.y).max(axis=2).mean())
