"""Many networks at once: several starts on the same data, or one network for each series.

`train_many` runs trainings that differ in seed or learning rate side by side on the machine's
cores: compiled kernels do not hold Python's lock, and each keeps to one thread, so every training
has the bits that it has alone. They share the table of features.

`train_batched` trains one diagonal network for each of many series on one grid, on exact gradients.
All series share θ, and so the features φ and their Gram matrix G = E[φφᵀ]. With Y of one column per
series the gradients of all products z = w·c are E[φY] − G z: one matrix product per step serves
them all. Exact gradients have no scatter, so the rate need not fall; start, rate and time are those
of `calibration`, and each series ends at its own time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.concurrency import cores, one_blas_thread
from robustfourier.errors import DivergenceError, InputError
from robustfourier.network.embedding import fourier_features
from robustfourier.network.weights import Weights
from robustfourier.training.batches import FixedSample, fixed_sample
from robustfourier.training.calibration import (
    FALSE_ALARM,
    Growth,
    largest_curvature,
    noise_gradient,
    stable_rate,
)
from robustfourier.training.engine import EngineName, choose_engine
from robustfourier.training.loop import Training
from robustfourier.training.schedule import InverseDecay
from robustfourier.training.sgd import Data, train_jointly

Seed = int | np.random.Generator | None

_BLOCK = 128  # series that share a matrix product: whole caches, and bits that no core changes
_CHECKED = 20  # steps between two looks at the noise
_MOST_STEPS = 20_000  # a series without noise ends here at the latest
_FLOW = Growth(product=0.5, speed=2.0)  # w·c of one feature on half the squared residual


def train_many(
    networks: Weights | Sequence[Weights],
    data: Data,
    *,
    n_steps: int,
    schedules: InverseDecay | Sequence[InverseDecay] | None = None,
    random_states: Seed | Sequence[Seed] = None,
    engine: EngineName = "auto",
    n_jobs: int | None = None,
    **options: Any,
) -> list[Training | DivergenceError]:
    """Train several networks of one architecture jointly, equal to training them one by one.

    What is given once holds for all trainings; what is given as a sequence, for one each.

    Parameters
    ----------
    networks : Weights or sequence of Weights
        The starts.
    data : (theta, y), FixedSample or callable
        As for `train_jointly`; all trainings share it. A sampler is called from several threads.
    n_steps : int
    schedules : InverseDecay or sequence, optional
        Learning rates.
    random_states : int, numpy Generator, None or sequence
        For the batches. A single Generator cannot serve several trainings.
    engine : {"auto", "torch", "fused"}
    n_jobs : int, optional
        Trainings at a time; the cores that this process may use if not given. The torch engine
        runs one at a time, as its number of threads is a setting of the whole process.
    **options
        Everything else that `train_jointly` takes, except `observers` and `resume`.

    Returns
    -------
    list of Training or DivergenceError
        In the order given. A training that diverged is the error it raised, with its last good
        weights; the others go on.

    Examples
    --------
    >>> from robustfourier.network.architecture import Architecture
    >>> from robustfourier.network.initial_weights import draw_weights
    >>> theta = np.linspace(-1, 1, 100)
    >>> starts = [draw_weights(Architecture(n_modes=3), random_state=seed) for seed in range(3)]
    >>> ends = train_many(starts, (theta, np.cos(2 * np.pi * theta)), n_steps=50,
    ...                   random_states=[0, 1, 2])
    >>> [end.history.n_steps for end in ends]
    [50, 50, 50]
    """
    refused = {"observers", "observe_every", "resume"} & set(options)
    if refused:
        raise InputError(
            f"{refused.pop()!r} cannot be given for several trainings at once; "
            "use train_jointly for each"
        )
    runs = _aligned(networks=networks, schedules=schedules, random_states=random_states)
    shape, dtype = runs[0][0].architecture, runs[0][0].dtype
    if any(start.architecture != shape or start.dtype != dtype for start, _, _ in runs):
        raise InputError("networks differ in architecture or dtype; train such networks apart")
    if n_jobs is not None and n_jobs < 1:
        raise InputError(f"n_jobs={n_jobs!r} must be at least 1, or None for all cores")
    chosen = choose_engine(engine)
    if not callable(data) and not isinstance(data, FixedSample):
        data = fixed_sample(*data)

    def run(start: Weights, schedule: InverseDecay | None, seed: Seed) -> Any:
        try:
            return train_jointly(
                start,
                data,
                n_steps=n_steps,
                schedule=schedule,
                random_state=seed,
                engine=chosen,  # type: ignore[arg-type]
                **options,
            )
        except DivergenceError as error:
            return error

    if chosen != "fused":
        return [run(*each) for each in runs]
    from robustfourier.training.engine_fused import feature_rows

    # held while the trainings run, so that they all find the same table
    shared = feature_rows(data, shape, dtype) if isinstance(data, FixedSample) else None
    with one_blas_thread(), ThreadPoolExecutor(n_jobs or cores()) as pool:
        ends = list(pool.map(lambda each: run(*each), runs))
    del shared
    return ends


def _aligned(**given: Any) -> list[tuple[Any, ...]]:
    """Repeat what was given once as often as the sequences are long."""
    lengths = {name: len(x) for name, x in given.items() if isinstance(x, Sequence)}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"{listed}; give sequences of the same length, one entry per training")
    n = max(lengths.values(), default=1)
    if n > 1 and isinstance(given["random_states"], np.random.Generator):
        raise InputError("random_states is one Generator for several trainings; give one each")
    columns = [x if name in lengths else [x] * n for name, x in given.items()]
    return list(zip(*columns, strict=True))


@dataclass(frozen=True)
class BatchedTraining:
    """The diagonal networks of many series.

    Attributes
    ----------
    level : ndarray, shape (S,)
        Constant of each series.
    cosine, sine : ndarray, shape (S, m)
        Coefficients of cos πkθ and sin πkθ.
    noise : ndarray, shape (S,)
        Standard deviation of each residual.
    active : ndarray of bool, shape (S, m)
        Modes whose amplitude noise would not reach in 99 of 100 records.
    n_steps : ndarray of int, shape (S,)
    """

    level: FloatArray
    cosine: FloatArray
    sine: FloatArray
    noise: FloatArray
    active: BoolArray
    n_steps: FloatArray

    def predict(self, theta: ArrayLike) -> FloatArray:
        """Return the values of all series, shape (n, S)."""
        phi = fourier_features(np.asarray(theta, dtype=np.float64), self.cosine.shape[1])
        return np.asarray(phi[:, 1::2] @ self.sine.T + phi[:, 2::2] @ self.cosine.T + self.level)


def train_batched(
    theta: ArrayLike, y: ArrayLike, *, n_modes: int = 100, n_jobs: int | None = None
) -> BatchedTraining:
    """Train one diagonal network for each column of y.

    Parameters
    ----------
    theta : array_like, shape (n,)
        In [−1, 1], the same for all series.
    y : array_like, shape (n, S)
    n_modes : int, default 100
    n_jobs : int, optional
        Blocks of series at a time; the cores that this process may use if not given.

    Examples
    --------
    >>> theta = np.linspace(-1, 1, 400)
    >>> waves = np.cos(np.pi * np.outer(theta, [3, 8, 21]))
    >>> noise = np.random.default_rng(0).normal(size=waves.shape)
    >>> end = train_batched(theta, waves + 0.5 * noise, n_modes=40)
    >>> [(np.flatnonzero(active) + 1).tolist() for active in end.active]
    [[3], [8], [21]]
    """
    sample = fixed_sample(theta, y)
    if sample.theta.shape[1] != 1:
        raise InputError(f"theta has {sample.theta.shape[1]} columns; give one, shape (n,)")
    phi = fourier_features(sample.theta[:, 0], n_modes)
    gram = phi.T @ phi / len(phi)
    rate = stable_rate(_FLOW, largest_curvature(sample, n_modes), 1.0)
    starts = range(0, sample.y.shape[1], _BLOCK)
    with one_blas_thread(), ThreadPoolExecutor(n_jobs or cores()) as pool:
        parts = list(
            pool.map(lambda at: _block(phi, gram, sample.y[:, at : at + _BLOCK], rate), starts)
        )
    z, noise, n_steps = (np.concatenate(each) for each in zip(*parts, strict=True))
    level = 2.0 * noise_gradient(1.0, len(phi), n_modes, FALSE_ALARM) * noise
    sine, cosine = z[:, 1::2], z[:, 2::2]
    active = np.hypot(sine, cosine) > level[:, None]
    return BatchedTraining(z[:, 0], cosine, sine, noise, active, n_steps)


def _block(
    phi: FloatArray, gram: FloatArray, y: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients (S, F), noise (S,) and steps (S,) of some series."""
    n, m = len(phi), phi.shape[1] // 2
    offset, size = y.mean(axis=0), y.std(axis=0)
    size = np.where(size > 1e-12 * np.abs(offset), size, 1.0)
    target = (y - offset) / size
    reach, squares = phi.T @ target / n, (target**2).mean(axis=0)
    x_of_one = noise_gradient(1.0, n, m)
    a = _FLOW.start_below(x_of_one, m)
    w, c = np.full_like(reach, a), np.zeros_like(reach)
    w[0] = 1.0  # the level is awake from the start
    running = np.arange(y.shape[1])  # series that are not at their end
    z, noise, steps = np.zeros_like(reach), np.sqrt(squares), np.zeros(y.shape[1])
    for step in range(1, _MOST_STEPS + 1):
        b = reach[:, running] - gram @ (w * c)
        w, c = w + rate * c * b, c + rate * w * b
        if step % _CHECKED == 0 or step == _MOST_STEPS:
            now = w * c
            left = squares[running] - (now * (2.0 * reach[:, running] - gram @ now)).sum(axis=0)
            sigma = np.sqrt(np.maximum(left, 0.0))
            x = np.maximum(sigma, 1e-9) * x_of_one
            time = np.arcsinh(x / (_FLOW.product * a**2)) / (_FLOW.speed * x)
            z[:, running], noise[running], steps[running] = now, sigma, step
            going = step * rate < time
            running, w, c = running[going], w[:, going], c[:, going]
            if not len(running):
                break
    z = z * size
    z[0] += offset
    return z.T, noise * size, steps
