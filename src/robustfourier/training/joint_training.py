"""All parameters at once: plain mini-batch SGD, the paper's standard training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT
from robustfourier.network.weights import Weights
from robustfourier.training.batches import (
    BatchSource,
    FixedSample,
    FreshDraws,
    ReshuffledPasses,
    Sampler,
    fixed_sample,
)
from robustfourier.training.callbacks import Observer
from robustfourier.training.checkpoint import Checkpoint
from robustfourier.training.engine import EngineName, Phase
from robustfourier.training.history import Metric
from robustfourier.training.loop import Training, as_weights, run_phases
from robustfourier.training.losses import Loss
from robustfourier.training.schedule import InverseDecay

if TYPE_CHECKING:
    from robustfourier.network.torch_modules import FourierNetwork

Data: TypeAlias = FixedSample | tuple[ArrayLike, ArrayLike] | Sampler
"""Rows to pass over, as a `FixedSample` or (theta, y), or a sampler to draw from."""


def train_jointly(
    network: Weights | FourierNetwork,
    data: Data,
    *,
    n_steps: int,
    batch_size: int = 201,
    schedule: InverseDecay | None = None,
    loss: Loss | str = "mean_squared",
    ridge: float = 0.0,
    diagonal_box: float | None = None,
    output_box: float | None = None,
    engine: EngineName = "auto",
    random_state: int | np.random.Generator | None = None,
    record_every: int | Sequence[int] = 1000,
    metrics: Mapping[str, Metric] | None = None,
    observers: Sequence[Observer] = (),
    observe_every: int = 1000,
    resume: Checkpoint | None = None,
) -> Training:
    """Train all parameters together by mini-batch SGD.

    Neither θ nor y is scaled: what is given is what is trained on.

    Parameters
    ----------
    network : Weights or FourierNetwork
        The start. A torch `FourierNetwork` also gets the trained weights (on divergence, the
        last good ones).
    data : (theta, y), FixedSample or callable
        Rows for reshuffled passes, theta (n,) or (n, d) and y (n,) or (n, q); or a sampler
        ``sampler(rng, size) -> (theta, y)`` for fresh draws at each step.
    n_steps : int
        Steps in all, those before `resume` included.
    batch_size : int, default 201
        Rows per step, at most the rows there are.
    schedule : InverseDecay, optional
        Learning rates; the paper's (2e-3, 0.95, 50 000) if not given.
    loss : {"mean_squared", "half_squared", "huber"} or Loss
    ridge : float, default 0.0
        λ of the penalty λ‖w‖²/2 on the diagonal.
    diagonal_box, output_box : float, optional
        Half-widths Q_1 and Q_2 that w and c are projected to after each step.
    engine : {"auto", "torch", "fused"}
    random_state : int, numpy Generator or None
        For the batches.
    record_every : int or sequence of int, default 1000
        Steps between two records of the history, or the steps to record at (start and end
        always are).
    metrics : mapping of str to callable, optional
        ``name → metric(weights)``, a number to record.
    observers : sequence of callables
        Called with a `Progress` every `observe_every` steps; returning True ends the training.
    observe_every : int, default 1000
    resume : Checkpoint, optional
        Go on from here; all other arguments must be as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from robustfourier.network.architecture import Architecture
    >>> from robustfourier.network.initial_weights import draw_weights
    >>> theta = np.linspace(-1, 1, 200)
    >>> start = draw_weights(Architecture(n_modes=3), random_state=0)
    >>> end = train_jointly(start, (theta, np.cos(2 * np.pi * theta)), n_steps=500, batch_size=50,
    ...                     schedule=InverseDecay(0.1), random_state=0, engine="torch")
    >>> bool(end.history.batch_loss[-1] < 0.01 * end.history.batch_loss[0])
    True
    """
    weights = as_weights(network)
    given = ((DIAGONAL, "diagonal_box", diagonal_box), (OUTPUT, "output_box", output_box))
    boxes = {name: check_box(word, box) for name, word, box in given if box is not None}
    phase = Phase("joint", n_steps, schedule or InverseDecay(), tuple(weights.arrays), ridge, boxes)
    return run_phases(
        network,
        as_source(data, batch_size, random_state, weights),
        [phase],
        loss=loss,
        engine=engine,
        record_every=record_every,
        metrics=metrics,
        observers=observers,
        observe_every=observe_every,
        resume=resume,
    )


def check_box(name: str, box: Any) -> float:
    """Return `box` if it is a positive half-width, else raise `InputError`."""
    if isinstance(box, str) or not (np.isfinite(box) and box > 0):
        raise InputError(
            f"{name}={box!r} is not usable; give a positive half-width, 'theorem', or None for "
            "no projection"
        )
    return float(box)


def as_source(
    data: Data,
    batch_size: int,
    random_state: int | np.random.Generator | None,
    weights: Weights,
) -> BatchSource:
    """Return where the batches come from: passes over rows, or draws from a sampler."""
    rng = np.random.default_rng(random_state)
    if callable(data):
        return FreshDraws(data, batch_size, rng)
    sample = data if isinstance(data, FixedSample) else fixed_sample(*data)
    expected = weights.architecture.n_columns, weights.architecture.n_outputs
    given = sample.theta.shape[1], sample.y.shape[1]
    if given != expected:
        raise InputError(
            f"data has {given[0]} input and {given[1]} output columns; the network has "
            f"{expected[0]} and {expected[1]}"
        )
    return ReshuffledPasses(sample, batch_size, rng)
