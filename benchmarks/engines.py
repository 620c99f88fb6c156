"""How fast the engines train: against an eager PyTorch loop, and against the machine itself.

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
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.machine_limits import multiply_add_rate, triad_bandwidth
from benchmarks.verdicts import Verdict, spread
from benchmarks.watching import cost_of_watching
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial import draw_weights
from robustfourier.network.modules import FourierNetwork
from robustfourier.plots.figure_files import save_figure
from robustfourier.plots.style import SOFT, colour
from robustfourier.training import InverseDecay, Loss, fixed_sample, train_jointly, train_many
from robustfourier.training.batches import FixedSample, ReshuffledPasses
from robustfourier.training.engine import Phase, make_engine
from robustfourier.training.feature_rows import padded_width

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "engines.png"
N_ROWS = 10_001  # the paper's grid
REPEATS = 5

Work = Callable[[], object]


def main(quick: bool = False) -> list[Verdict]:
    """Measure every line of the table."""
    scale = 8 if quick else 1
    small = Case(Architecture(100), 201, 2000 // scale)
    large = Case(Architecture(1000), 1000, 24 // scale)
    deep = Case(Architecture(100, hidden_layer_sizes=(100, 100)), 201, 400 // scale)
    verdicts = [
        *_fused_against_eager(small, at_least=15.0),
        *_fused_against_eager(large, at_least=5.0),
        *_deep_against_eager(deep),
        # not shorter: opening the bar takes some milliseconds, once
        cost_of_watching(noisy_sample(), 20_000, repeats=3 if quick else 15),
        _many_at_once(4000 // scale),
        _memory(10 if quick else 40),
    ]
    return [*verdicts, _scaling(quick)]


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


def in_turns(
    works: Mapping[str, Work],
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return the times of each call, all measured in turns after one to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            start = clock()
            work()
            seconds[name].append(clock() - start)
    return seconds


def medians_in_turns(works: Mapping[str, Work], **options: Any) -> dict[str, float]:
    """Return the median time of each call."""
    return {name: median(times) for name, times in in_turns(works, **options).items()}


def _rivals(case: Case, sample: FixedSample) -> dict[str, Work]:
    # a few steps say enough about a loop that is slow
    fewer = Case(case.architecture, case.batch_size, max(case.n_steps // 8, 3), case.dtype)
    threads = sorted({1, os.cpu_count() or 1})
    return {f"eager, {n} thread(s)": eager_steps(fewer, sample, n) for n in threads}


def _per_step(case: Case, works: dict[str, Work], rivals: dict[str, Work]) -> dict[str, float]:
    seconds = medians_in_turns({**works, **rivals})
    fewer = max(case.n_steps // 8, 3)
    return {k: s / (case.n_steps if k in works else fewer) for k, s in seconds.items()}


def _fused_against_eager(case: Case, at_least: float) -> list[Verdict]:
    sample = noisy_sample()
    width = padded_width(case.architecture, np.dtype(case.dtype))
    table_bytes = len(sample) * width * np.dtype(case.dtype).itemsize
    rivals = _rivals(case, sample)
    works: dict[str, Work] = {"fused": engine_steps("fused", case, sample)}
    step = _per_step(case, works, rivals)
    # a limit is the best of several runs, so it is compared with the best of several runs, in
    # processor time: on one thread that is the time on an idle machine
    times = in_turns(works, repeats=3 * REPEATS, clock=time.process_time)
    best = min(times["fused"]) / case.n_steps
    bandwidth, rate = triad_bandwidth(table_bytes, case.dtype), multiply_add_rate(case.dtype)
    eager = min(step[name] for name in rivals)
    entries = case.batch_size * width
    # each feature of each row: two multiply-adds for A φ + C |φ|, two for T and U
    arithmetic = 4 * entries / rate
    memory = entries * np.dtype(case.dtype).itemsize / bandwidth
    limit, bound = max((arithmetic, "arithmetic"), (memory, "memory"))
    return [
        Verdict(
            f"{case}: fused vs eager PyTorch",
            f"at least {at_least:g}×",
            f"{eager / step['fused']:.1f}× ({_us(step['fused'])} vs {_us(eager)} per step)",
            eager / step["fused"] >= at_least,
        ),
        Verdict(
            f"{case}: share of this machine's limit",
            "reported; aim above one half",
            f"{limit / best:.2f} ({_us(best)} at best), bound by {bound} (triad "
            f"{bandwidth / 1e9:.1f} GB/s in {table_bytes / 1e6:.0f} MB, "
            f"{rate / 1e9:.1f} G multiply-adds/s)",
            None,
        ),
    ]


def _deep_against_eager(case: Case) -> list[Verdict]:
    sample = noisy_sample()
    rivals = _rivals(case, sample)
    works = {name: engine_steps(name, case, sample) for name in ("torch", "fused")}
    step = _per_step(case, works, rivals)
    eager = min(step[name] for name in rivals)
    return [
        Verdict(
            f"{case}: {name} engine vs eager PyTorch",
            "at least 1.3×, never slower",
            f"{eager / step[name]:.2f}× ({_us(step[name])} vs {_us(eager)} per step)",
            eager / step[name] >= 1.3,
        )
        for name in works
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


def _scaling(quick: bool) -> Verdict:
    modes = [100, 1000] if quick else [100, 300, 1000, 3000, 10_000]
    batches = [50, 500] if quick else [50, 200, 1000, 5000]
    runs = scaling_table(modes, batches)
    table = np.median(runs, axis=2)
    if not quick:
        draw_scaling(modes, batches, runs)
    product = np.outer(modes, batches).ravel()
    exponent = np.polyfit(np.log(product), np.log(table.ravel()), 1)[0]
    rate = table.ravel() / product
    return Verdict(
        f"time of a step, {modes[0]}…{modes[-1]} modes, batches {batches[0]}…{batches[-1]}",
        "linear in modes × batch (exponent within 0.1 of 1)",
        f"exponent {exponent:.2f}; {1e9 * rate.min():.2f} to {1e9 * rate.max():.2f} ns per "
        "mode and row" + ("" if quick else "; docs/figures/engines.png"),
        bool(abs(exponent - 1.0) <= 0.1),
    )


def scaling_table(modes: list[int], batches: list[int]) -> NDArray[np.float64]:
    """Return seconds per step of the fused engine, shape (modes, batches, 3 runs)."""
    table = np.empty((len(modes), len(batches), 3))
    for i, m in enumerate(modes):
        sample = noisy_sample(6000)
        for j, batch in enumerate(batches):
            n_steps = int(np.clip(1e7 / (m * batch), 1, 1000))
            case = Case(Architecture(m), batch, n_steps)
            work = engine_steps("fused", case, sample)
            # one thread, so processor time is the time on an idle machine
            seconds = in_turns({"fused": work}, repeats=3, clock=time.process_time)
            table[i, j] = np.array(seconds["fused"]) / n_steps
    return table


def draw_scaling(modes: list[int], batches: list[int], table: NDArray[np.float64]) -> None:
    """Draw the time of a step against modes × batch."""
    products, middle = np.outer(modes, batches), np.median(table, axis=2)

    def drawing(figure: Any) -> None:
        axes = figure.add_subplot()
        for j, (batch, sign) in enumerate(zip(batches, "os^D", strict=False)):
            axes.errorbar(
                *(products[:, j], 1e6 * middle[:, j], 1e6 * spread(table[:, j])), marker=sign,
                color=colour(j), markersize=5, alpha=0.8, capsize=3, label=f"batch {batch}",
            )  # fmt: skip
        ends = 1.0 * products[[0, -1], [0, -1]]
        axes.plot(
            ends,
            1e6 * np.median(middle / products) * ends,
            color=SOFT,
            linestyle=":",
            label="linear",
        )
        axes.set(xscale="log", yscale="log", xlabel="modes × batch", ylabel="time of a step, µs")
        axes.set_title("Fused engine, u0_diag, one core (median and range of three)")
        axes.legend()

    save_figure(FIGURE, (6.4, 4.4), drawing)


def _us(seconds: float) -> str:
    return f"{1e6 * seconds:.0f} µs"
