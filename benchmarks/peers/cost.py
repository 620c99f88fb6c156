"""Where the time goes: the page `docs/cost.md`, by ``python -m benchmarks.peers.cost``.

A profile of `PeriodicMixture.fit` by stage, the time of a training step, and beside each what the
machine would need at least for the same arithmetic and the same memory traffic.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import cProfile  # noqa: E402
import pstats  # noqa: E402
import time  # noqa: E402
from collections import Counter, defaultdict  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.peers.machine import Machine, best, measure, real_fft_work  # noqa: E402
from robustfourier.synthetic import paper_example, random_mixture  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
KERNEL = 16  # cells that a sample is spread to
UPSAMPLING = 2.0
PACKAGE = f"{os.sep}robustfourier{os.sep}"
Function = tuple[str, int, str]


@dataclass
class Work:
    """What was counted during a fit: samples and modes of nonuniform FFTs, and calls."""

    nuffts: list[tuple[int, int]] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)

    def operations(self) -> float:
        """Floating-point operations of the transforms."""
        # Spreading: one real multiply-add per sample and cell; then one real FFT of the grid, two
        # cells for each mode of either sign, and twice as dense.
        spread = sum(2.0 * KERNEL * samples for samples, _ in self.nuffts)
        grids = sum(real_fft_work(int(2.0 * UPSAMPLING * modes)) for _, modes in self.nuffts)
        return spread + grids

    def bytes(self) -> float:
        """Memory traffic if each array were read and written once."""
        return sum(24.0 * samples + 32.0 * modes for samples, modes in self.nuffts)


def fit_profile(samples: int) -> tuple[float, dict[str, float], Work]:
    """Processor seconds of a fit, its seconds by stage, and the transforms it made."""
    from robustfourier import PeriodicMixture

    problem = random_mixture(
        5,
        integer_modes=False,
        sampling="irregular",
        n_samples=samples,
        noise=0.5,
        random_state=0,
    )
    PeriodicMixture().fit(problem.theta[:500], problem.y[:500])
    start = time.process_time()
    PeriodicMixture().fit(problem.theta, problem.y)
    seconds = time.process_time() - start
    profile, work = cProfile.Profile(time.process_time), Work()
    with counted(work):
        profile.enable()
        PeriodicMixture().fit(problem.theta, problem.y)
        profile.disable()
    stages = by_stage(pstats.Stats(profile).stats)  # type: ignore[attr-defined]
    scale = seconds / sum(stages.values())  # the profiler's own cost, spread evenly
    return seconds, {stage: scale * value for stage, value in stages.items()}, work


def by_stage(stats: dict[Function, Any]) -> dict[str, float]:
    """Own time of every function, moved up to the file of the package that called for it.

    A function outside the package hands its time to its callers in proportion to the time it
    spent for each of them, until all time lies in files of the package.
    """
    time_of = defaultdict(float, {function: record[2] for function, record in stats.items()})
    for _ in range(60):
        moved = False
        for function, record in stats.items():
            amount = time_of[function]
            callers = record[4]
            if amount == 0.0 or PACKAGE in function[0] or not callers:
                continue
            total = sum(caller[3] for caller in callers.values())
            if total <= 0.0:
                continue
            time_of[function] = 0.0
            moved = True
            for caller, share in callers.items():
                time_of[caller] += amount * share[3] / total
        if not moved:
            break
    stages: dict[str, float] = defaultdict(float)
    for (file, _, _), amount in time_of.items():
        inside = PACKAGE in file
        stages[file.rsplit(PACKAGE, 1)[1] if inside else "elsewhere"] += amount
    return dict(stages)


@contextmanager
def counted(work: Work) -> Iterator[None]:
    """Count the nonuniform FFTs, and the calls of what is worth counting."""
    from robustfourier.mixture.search import moves
    from robustfourier.mixture.search.noise_evidence import NoiseEvidence
    from robustfourier.periodic import variable_projection
    from robustfourier.periodic.basis import Lines
    from robustfourier.periodic.nufft import NufftPlan

    nufft = NufftPlan.write

    def write(self: Any, column: Any, real: Any, imag: Any) -> None:
        work.nuffts.append((len(column), len(real)))
        nufft(self, column, real, imag)

    places: list[tuple[Any, str, Any]] = [(NufftPlan, "write", write)]
    counts: list[tuple[Any, str]] = [
        (moves, "diagonal_flow"),
        (variable_projection, "linear_fit"),
        (NoiseEvidence, "best"),
        (Lines, "evaluate"),
    ]
    for home, name in counts:
        places.append((home, name, _counting(work.calls, name, getattr(home, name))))
    before = [getattr(home, name) for home, name, _ in places]
    for home, name, function in places:
        setattr(home, name, function)
    try:
        yield
    finally:
        for (home, name, _), function in zip(places, before, strict=True):
            setattr(home, name, function)


def _counting(calls: Counter[str], name: str, function: Any) -> Any:
    def call(*args: Any, **options: Any) -> Any:
        calls[name] += 1
        return function(*args, **options)

    return call


@dataclass(frozen=True)
class Step:
    """A training step: seconds, operations and bytes from memory."""

    name: str
    seconds: float
    operations: float
    bytes: float


def training_steps() -> list[Step]:
    """Time a step of the paper's u0_diag and u1_diag on example 1, in the default engine."""
    batch, features, width = 201, 201, 100
    touched = batch * features * 8.0
    # Per sample and feature φ: A φ + C |φ| forward, T += g φ and U += g |φ| backward.
    plain = 8.0 * batch * features
    # A dense layer behind it: forward, backward to its input, and its own gradient.
    dense = 6.0 * batch * 2 * features * width
    return [
        Step("u0_diag", _seconds_per_step((), 4000), plain, touched),
        Step("u1_diag", _seconds_per_step((width,), 300), plain + dense, touched),
    ]


def _seconds_per_step(hidden: tuple[int, ...], steps: int) -> float:
    """Difference of a long and a short training, so that set-up does not count."""
    from robustfourier import FourierNetworkRegressor

    problem = paper_example(1, random_state=0)

    def train(n_steps: int) -> None:
        FourierNetworkRegressor(hidden_layer_sizes=hidden, n_steps=n_steps, random_state=0).fit(
            problem.theta[:, None], problem.y
        )

    short, long = (best(lambda n=n: train(n), repeats=3) for n in (steps, 3 * steps))
    return (long - short) / (2 * steps)


def limit(machine: Machine, operations: float, traffic: float) -> float:
    """Least seconds: arithmetic and memory traffic go on at the same time."""
    return max(operations / machine.arithmetic, traffic / machine.triad)


def write_page(docs: Path) -> Path:
    """Measure and write `docs/cost.md`."""
    from benchmarks.peers.cost_page import page_text

    machine = measure()
    text = page_text(machine, {n: fit_profile(n) for n in SIZES}, training_steps())
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "cost.md"
    page.write_text(text, encoding="utf-8")
    return page


if __name__ == "__main__":
    np.seterr(all="ignore")
    print(f"wrote {write_page(Path('docs'))}")
