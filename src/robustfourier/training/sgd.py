"""Plain mini-batch SGD: all parameters at once, or Algorithm 1 of the paper.

Algorithm 1 trains first the diagonal with c fixed, then the output with w fixed. After each step w
is projected to the box [−Q_1, Q_1] and c to [−Q_2, Q_2]. Boxes are numbers, or follow from the
theorem: Q_1 ≥ ‖c⁰⊙α‖_∞ / (2λ) (Theorem 1) and Q_2 = 8λ√m / r_c² (section 4), with r_c = √m·‖c⁰‖_∞.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT
from robustfourier.network.weights import Weights
from robustfourier.training.batches import (
    BatchSource,
    DrawnBlock,
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

Box: TypeAlias = float | Literal["theorem"] | None

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
    boxes = _boxes(diagonal_box, output_box)
    phase = Phase("joint", n_steps, schedule or InverseDecay(), tuple(weights.arrays), ridge, boxes)
    return run_phases(
        network,
        _source(data, batch_size, random_state, weights),
        [phase],
        loss=loss,
        engine=engine,
        record_every=record_every,
        metrics=metrics,
        observers=observers,
        observe_every=observe_every,
        resume=resume,
    )


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
    random_state: int | np.random.Generator | None = None,
    **options: Any,
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
        Q_1 and Q_2; by the theorem's rule, which needs 0 < λ < 1; or no box.
    random_state : int, numpy Generator or None
        For the batches.
    **options
        engine, record_every, metrics, observers, observe_every, resume: as for `train_jointly`.

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
    source = _source(data, batch_size, random_state, weights)
    schedule = schedule or InverseDecay()
    given = (None if box == "theorem" else box for box in (diagonal_box, output_box))
    boxes = _boxes(*given)
    if diagonal_box == "theorem":
        boxes[DIAGONAL] = theorem_diagonal_box(weights, _mean_abs_y(source), ridge)
    if output_box == "theorem":
        boxes[OUTPUT] = theorem_output_box(weights, ridge)
    after = n_steps if n_output_steps is None else n_output_steps
    phases = [
        Phase("diagonal", n_steps, schedule, (DIAGONAL,), ridge, boxes),
        Phase("output", after, output_schedule or schedule, (OUTPUT,), boxes=boxes),
    ]
    return run_phases(network, source, phases, loss=loss, **options)


def theorem_diagonal_box(weights: Weights, mean_abs_y: float, ridge: float) -> float:
    """Return Q_1 = ‖c⁰‖_∞·E|y| / (2λ), which Theorem 1 allows whatever the function is.

    The theorem asks for Q_1 ≥ ‖c⁰⊙α‖_∞/(2λ) with α_j = E[y x_j]; α is not known before the
    training, but |x_j| ≤ 1 bounds it by E|y|.
    """
    from robustfourier.theory import first_layer_box

    _check_theorem_ridge(ridge)
    return first_layer_box(mean_abs_y, weights.arrays[OUTPUT], decay=ridge)


def theorem_output_box(weights: Weights, ridge: float) -> float:
    """Return Q_2 = 8λ√m / r_c² with r_c = √m·‖c⁰‖_∞, the constant of the O() taken as 1."""
    from robustfourier.theory import second_layer_box

    _check_theorem_ridge(ridge)
    m = weights.architecture.n_modes
    r_c = np.sqrt(m) * float(np.abs(weights.arrays[OUTPUT]).max())
    return second_layer_box(m, r_c, decay=ridge)


def _check_theorem_ridge(ridge: float) -> None:
    if not 0 < ridge < 1:
        raise InputError(
            f"ridge={ridge!r}: the theorem's boxes need 0 < λ < 1; give such a ridge, or numbers "
            "for the boxes"
        )


def _mean_abs_y(source: BatchSource) -> float:
    """E|y| of the sample; of 100 batches, drawn aside, where there is only a sampler."""
    if source.sample is not None:
        return float(np.average(np.abs(source.sample.y).max(axis=1), weights=source.sample.weight))
    block = copy.deepcopy(source).next(100)
    assert isinstance(block, DrawnBlock)
    return float(np.abs(block.y).max(axis=2).mean())


def _boxes(diagonal_box: Any, output_box: Any) -> dict[str, float]:
    """Return the half-widths by parameter, each positive, without those that are None."""
    boxes = {}
    given = ((DIAGONAL, "diagonal_box", diagonal_box), (OUTPUT, "output_box", output_box))
    for parameter, name, box in given:
        if isinstance(box, str) or not (box is None or (np.isfinite(box) and box > 0)):
            raise InputError(
                f"{name}={box!r} is not usable; give a positive half-width, 'theorem', or None for "
                "no projection"
            )
        if box is not None:
            boxes[parameter] = float(box)
    return boxes


def _source(
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
