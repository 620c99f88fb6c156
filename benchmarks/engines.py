"""How fast the engines train, against an eager PyTorch loop.

Everything that is compared is measured in the same run, in turns, medians of five. The rival is a
PyTorch loop as a careful user writes it: embedding computed once, `nn.Module`, `torch.optim.SGD`,
with the number of threads that suits it best.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from benchmarks.verdicts import Verdict
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial import draw_weights
from robustfourier.network.modules import FourierNetwork
from robustfourier.training import InverseDecay, Loss, fixed_sample, train_jointly, train_many
from robustfourier.training.batches import FixedSample, ReshuffledPasses
from robustfourier.training.engine import Phase, make_engine

N_ROWS = 10_001  # the paper's grid
REPEATS = 5

Work = Callable[[], object]


def main(quick: bool = False) -> list[Verdict]:
    """Measure every line of the table."""
    scale = 8 if quick else 1
    small = Case(Architecture(100), 201, 2000 // scale)
    large = Case(Architecture(1000), 1000, 24 // scale)
    deep = Case(Architecture(100, hidden_layer_sizes=(100, 100)), 201, 400 // scale)
    return [
        *_against_eager(small, ("fused",), 15.0),
        *_against_eager(large, ("fused",), 5.0),
        *_against_eager(deep, ("torch", "fused"), 1.3),
        _many_at_once(4000 // scale),
        _memory(10 if quick else 40),
    ]


@dataclass(frozen=True)
class Case:
    """A network, a batch size, and how many steps to time."""

    architecture: Architecture
    batch_size: int
    n_steps: int
    dtype: str = "float32"

    def __str__(self) -> str:
        shape = self.architecture
        return f"{shape.name}, m = {shape.n_modes}, batch {self.batch_size}, {self.dtype}"


def noisy_sample(n_rows: int = N_ROWS) -> FixedSample:
    """Return three tones in noise, as in the paper's first example."""
    theta = np.linspace(-1, 1, n_rows)
    tones = sum(np.cos(k * np.pi * theta) for k in (5, 29, 61))
    return fixed_sample(theta, tones + 0.4 * np.random.default_rng(0).normal(size=n_rows))


def engine_steps(name: str, case: Case, sample: FixedSample) -> Work:
    """Return a call that takes the case's steps with an engine, batches drawn beforehand."""
    weights = draw_weights(case.architecture, random_state=0, dtype=case.dtype)
    engine = make_engine(name, weights, sample, Loss())
    phase = Phase("joint", case.n_steps, InverseDecay(), tuple(weights.arrays))
    source = ReshuffledPasses(sample, case.batch_size, np.random.default_rng(0))
    rates, block = phase.schedule.rates(0, case.n_steps), source.next(case.n_steps)
    return lambda: engine.run(phase, rates, block)


def eager_steps(case: Case, sample: FixedSample, threads: int) -> Work:
    """Return a call that takes as many steps in an eager PyTorch loop, as a user would write it."""
    dtype = getattr(torch, case.dtype)
    shape = case.architecture
    network = FourierNetwork(shape.n_modes, shape.hidden_layer_sizes, random_state=0, dtype=dtype)
    with torch.no_grad():
        x = network.embedding(torch.tensor(sample.theta)).to(dtype)
    y = torch.tensor(sample.y, dtype=dtype)
    dense = [module for layer in network.dense for module in (layer, torch.nn.ReLU())]
    model = torch.nn.Sequential(network.diagonal, torch.nn.ReLU(), *dense, network.output)
    optimiser = torch.optim.SGD(model.parameters(), lr=2e-3)

    def steps() -> None:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        for _ in range(case.n_steps):
            rows = torch.randint(len(x), (case.batch_size,))
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x[rows]), y[rows])
            loss.backward()
            optimiser.step()
        torch.set_num_threads(before)

    return steps


def medians_in_turns(works: Mapping[str, Work], repeats: int = REPEATS) -> dict[str, float]:
    """Return the median time of each call, all measured in turns after one to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in seconds.items()}


def _against_eager(case: Case, engines: tuple[str, ...], at_least: float) -> list[Verdict]:
    sample = noisy_sample()
    # a few steps say enough about a loop that is slow
    fewer = Case(case.architecture, case.batch_size, max(case.n_steps // 8, 3), case.dtype)
    rivals = {str(n): eager_steps(fewer, sample, n) for n in {1, os.cpu_count() or 1}}
    ours = {name: engine_steps(name, case, sample) for name in engines}
    seconds = medians_in_turns({**ours, **rivals})
    eager = min(seconds[name] for name in rivals) / fewer.n_steps
    steps = {name: seconds[name] / case.n_steps for name in engines}
    return [
        Verdict(
            f"{case}: {name} engine vs eager PyTorch",
            f"at least {at_least:g}×",
            f"{eager / step:.1f}× ({1e6 * step:.0f} µs vs {1e6 * eager:.0f} µs per step)",
            eager / step >= at_least,
        )
        for name, step in steps.items()
    ]


def _many_at_once(n_steps: int, n_runs: int = 4) -> Verdict:
    starts = [draw_weights(Architecture(100), random_state=seed) for seed in range(n_runs)]
    sample, ends = noisy_sample(), {}
    seeds = list(range(n_runs))

    def one_by_one() -> None:
        ends["alone"] = [
            train_jointly(start, sample, n_steps=n_steps, random_state=seed)
            for start, seed in zip(starts, seeds, strict=True)
        ]

    def together() -> None:
        ends["together"] = train_many(starts, sample, n_steps=n_steps, random_states=seeds)

    seconds = medians_in_turns({"alone": one_by_one, "together": together}, repeats=3)
    same = all(
        np.array_equal(a.weights.arrays[name], b.weights.arrays[name])  # type: ignore[union-attr]
        for a, b in zip(ends["alone"], ends["together"], strict=True)
        for name in a.weights.arrays  # type: ignore[union-attr]
    )
    return Verdict(
        f"train_many, {n_runs} seeds of u0_diag, m = 100, on {os.cpu_count()} cores",
        "the bits of one by one, not slower",
        f"{seconds['alone'] / seconds['together']:.2f}× as fast, "
        f"{'same bits' if same else 'OTHER BITS'}",
        same and seconds["together"] <= 1.05 * seconds["alone"],
    )


_MILLION = """
import sys, numpy as np
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial import draw_weights
from robustfourier.training import train_jointly
theta = np.random.default_rng(0).uniform(-1, 1, 1_000_000)
end = train_jointly(
    draw_weights(Architecture(1000), random_state=0), (theta, np.cos(7 * np.pi * theta)),
    n_steps=int(sys.argv[1]), batch_size=1000, random_state=0, engine="fused",
)
# getrusage would count what the parent had when it started this process
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1e6)
"""


def _memory(n_steps: int) -> Verdict:
    out = subprocess.run(
        [sys.executable, "-c", _MILLION, str(n_steps)], capture_output=True, text=True, check=True
    )
    gigabytes = float(out.stdout)
    return Verdict(
        "10⁶ rows × 1000 modes, float64: memory of the whole process",
        "within 2 GB",
        f"{gigabytes:.2f} GB",
        gigabytes < 2.0,
    )
