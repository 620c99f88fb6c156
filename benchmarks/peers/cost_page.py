"""The text of `docs/cost.md` from what `cost` measured."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.comparisons import number
from benchmarks.peers.cost import Step, Work, limit
from benchmarks.peers.machine import Machine
from benchmarks.verdicts import markdown

INTRODUCTION = """# What it costs

Where the time of `PeriodicMixture.fit` and of a training step goes, and what the machine would need
at least for the same arithmetic and the same memory traffic. `python -m benchmarks.peers.cost`
measures and writes this page. Seconds are processor time on one thread of a machine that others
share: read the ratios."""
LIMIT = """*Limit* is the larger of operations over the arithmetic rate and bytes over the memory
rate: every array read and written once, no latency, no overhead. Nothing reaches it; the ratio says
how far away we are."""
SMALLEST_SHARE = 0.015
#: Calls that are counted → what they are, and how many the answer needs.
NEEDED = {
    "diagonal_flow": ("trainings of the diagonal layer", "0: the lines are known"),
    "linear_fit": (
        "normal equations solved",
        "8: 4 steps of the lines together, and 4 more trends to choose from",
    ),
    "best": ("noise models chosen", "1: beside the last lines"),
    "evaluate": ("lines evaluated at all samples", "1: for the last residual"),
}
Profile = tuple[float, dict[str, float], Work]


def page_text(machine: Machine, fits: dict[int, Profile], steps: Sequence[Step]) -> str:
    """Write the page."""
    return (
        "\n\n".join(
            [
                _head(machine),
                _fit_section(machine, fits),
                _count_section(fits),
                _stage_section(fits),
                _training_section(machine, steps),
            ]
        )
        + "\n"
    )


def _head(machine: Machine) -> str:
    def rate(value: float, unit: str) -> str:
        return f"{value / 1e9:.3g} G{unit}/s"

    table = markdown(
        ["limit of this machine, one thread", "measured by", "rate"],
        [
            ["memory traffic", "triad a ← b + s·c, 64 MB arrays", rate(machine.triad, "B")],
            ["reading from cache", "dot product of 256 kB", rate(machine.cached, "B")],
            ["arithmetic, compiled loop", "64 multiply-adds", rate(machine.multiply_add, "FLOP")],
            ["arithmetic, at most", "product of 512 × 512", rate(machine.product, "FLOP")],
            ["FFT in practice", "real, 65 536 points", rate(machine.transform, "FLOP")],
        ],
    )
    return f"{INTRODUCTION}\n\n{table}\n\n{LIMIT}"


def _fit_section(machine: Machine, fits: dict[int, Profile]) -> str:
    body = []
    for samples, (seconds, _, work) in fits.items():
        least = limit(machine, work.operations(), work.bytes())
        practical = sum_of_transforms(machine, work)
        body.append(
            [
                f"{samples}", number(seconds), str(len(work.nuffts)),
                number(work.operations() / 1e9), number(work.bytes() / 1e9), number(least),
                number(seconds / least), number(seconds / practical),
            ]
        )  # fmt: skip
    heads = [
        "samples", "seconds", "nonuniform FFTs", "GFLOP", "GB", "limit, s", "ratio",
        "ratio to FFTs in practice",
    ]  # fmt: skip
    return (
        "## PeriodicMixture.fit\n\nFive tones at irregular times. Counted are the transforms, "
        "which any method of this kind needs; everything else is overhead by this count.\n\n"
        + markdown(heads, body)
    )


def _count_section(fits: dict[int, Profile]) -> str:
    """What the answer needs beside what was done to find it."""
    works = [work for _, _, work in fits.values()]
    whole = [sum(rows == n for rows, _ in w.nuffts) for n, w in zip(fits, works, strict=True)]
    counts = [whole, *([w.calls[name] for w in works] for name in NEEDED)]
    words = [
        ("nonuniform FFTs of all samples", "3: weights, values, a residual"),
        *NEEDED.values(),
    ]
    body = [[*row, *map(str, count)] for row, count in zip(words, counts, strict=True)]
    heads = ["what", "needed", *(f"done, n = {samples}" for samples in fits)]
    return (
        "### Needed and done\n\n*Needed* is what the answer takes if somebody tells which lines "
        "there are, about where, and that the noise is white; *done* is what it took to find "
        "out.\n\n" + markdown(heads, body)
    )


def sum_of_transforms(machine: Machine, work: Work) -> float:
    """Seconds of the same transforms at the rate an FFT library really reaches here."""
    return max(work.operations() / machine.transform, work.bytes() / machine.triad)


def _stage_section(fits: dict[int, Profile]) -> str:
    files: dict[str, None] = {}
    for seconds, stages, _ in fits.values():
        for file, value in sorted(stages.items(), key=lambda item: -item[1]):
            if value > SMALLEST_SHARE * seconds:
                files[file] = None
    body = []
    for file in files:
        shares = [
            f"{100.0 * stages.get(file, 0.0) / seconds:.0f} %"
            for seconds, stages, _ in fits.values()
        ]
        body.append([f"`{file}`", *shares])
    rest = [
        100.0 * (1.0 - sum(stages.get(file, 0.0) for file in files) / seconds)
        for seconds, stages, _ in fits.values()
    ]
    body.append(["everything else", *(f"{value:.0f} %" for value in rest)])
    heads = ["file", *(f"n = {samples}" for samples in fits)]
    return (
        "### By stage\n\nShare of the processor time, time inside libraries counted where it was "
        "called for.\n\n" + markdown(heads, body)
    )


def _training_section(machine: Machine, steps: Sequence[Step]) -> str:
    body = []
    for step in steps:
        least = limit(machine, step.operations, step.bytes)
        body.append(
            [
                step.name, number(1e6 * step.seconds), number(step.operations / 1e3),
                number(step.bytes / 1e3), number(1e6 * step.operations / machine.arithmetic),
                number(1e6 * step.bytes / machine.triad), number(step.seconds / least),
            ]
        )  # fmt: skip
    heads = [
        "network", "µs per step", "kFLOP", "kB", "arithmetic, µs", "memory, µs", "ratio to limit",
    ]  # fmt: skip
    return (
        "## A training step\n\nThe paper's setting: example 1, batches of 201, 100 modes, dense "
        "layer of 100. The rows of a batch lie scattered over a table larger than the cache.\n\n"
        + markdown(heads, body)
    )
