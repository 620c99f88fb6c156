"""Where the time goes: the page `docs/cost.md`, by ``python -m benchmarks.peers.cost``.

A profile of `PeriodicMixture.fit` by stage, and what was done beside what the answer needs.
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

from benchmarks.verdicts import markdown  # noqa: E402
from robustfourier.synthetic import random_mixture  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
SMALLEST_SHARE = 0.015  # of the time, that a file is named for
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
INTRODUCTION = """# What it costs

Where the time of `PeriodicMixture.fit` goes: five tones at irregular times.
`python -m benchmarks.peers.cost` measures and writes this page. Seconds are processor time on one
thread of a machine that others share.

## Needed and done

*Needed* is what the answer takes if somebody says which lines there are, about where, and that the
noise is white; *done* is what it took to find out."""
STAGES = """## By stage

Share of the processor time, time inside libraries counted where it was called for."""
PACKAGE = f"{os.sep}robustfourier{os.sep}"
Function = tuple[str, int, str]


@dataclass
class Work:
    """What was counted during a fit: samples and modes of nonuniform FFTs, and calls."""

    nuffts: list[tuple[int, int]] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)


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


Profile = tuple[float, dict[str, float], Work]


def page_text(fits: dict[int, Profile]) -> str:
    """Return the page for profiles by numbers of samples."""
    heads = [f"n = {samples}" for samples in fits]
    whole = [sum(rows == n for rows, _ in work.nuffts) for n, (_, _, work) in fits.items()]
    counts: list[list[object]] = [
        ["seconds", "", *(f"{seconds:.3g}" for seconds, _, _ in fits.values())],
        ["nonuniform FFTs of all samples", "3: weights, values, a residual", *whole],
        *([*words, *(work.calls[name] for _, _, work in fits.values())]
          for name, words in NEEDED.items()),
    ]  # fmt: skip
    shares = [{f: s / seconds for f, s in stages.items()} for seconds, stages, _ in fits.values()]
    every = sorted({f for share in shares for f in share}, key=lambda f: -shares[0].get(f, 0.0))
    named = [f for f in every if max(share.get(f, 0.0) for share in shares) > SMALLEST_SHARE]
    body = [[f"`{f}`", *(f"{share.get(f, 0.0):.0%}" for share in shares)] for f in named]
    rest = [1.0 - sum(share.get(f, 0.0) for f in named) for share in shares]
    body.append(["everything else", *(f"{part:.0%}" for part in rest)])
    done = markdown(["what", "needed", *(f"done, {head}" for head in heads)], counts)
    return f"{INTRODUCTION}\n\n{done}\n\n{STAGES}\n\n{markdown(['file', *heads], body)}\n"


if __name__ == "__main__":
    np.seterr(all="ignore")
    page = Path("docs/cost.md")
    page.write_text(page_text({n: fit_profile(n) for n in SIZES}), encoding="utf-8")
    print(f"wrote {page}")
