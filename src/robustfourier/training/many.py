"""Several trainings of one architecture at once: seeds, or learning rates, or both.

The trainings share the table of features and run side by side on the machine's cores: compiled
kernels do not hold Python's lock, and each keeps to one thread, so every training has the bits that
it has alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from robustfourier.concurrency import cores
from robustfourier.errors import DivergenceError, InputError
from robustfourier.network.weights import Weights
from robustfourier.training.batches import FixedSample, fixed_sample
from robustfourier.training.engine import EngineName, choose_engine
from robustfourier.training.joint_training import Data, train_jointly
from robustfourier.training.loop import Training
from robustfourier.training.schedule import InverseDecay

Item = TypeVar("Item")
Seed = int | np.random.Generator | None


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
    >>> from robustfourier.network.initial import draw_weights
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
    from robustfourier.concurrency import one_blas_thread
    from robustfourier.training.feature_rows import feature_rows

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
