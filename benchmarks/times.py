"""Seconds beside the periodogram's, and on records of every day.

``python -m benchmarks.times --page docs/speed.md`` measures and writes the page. Each fit runs on
one thread in a process of its own, after one of some 400 samples that loads what has to be loaded.
Where it takes less than two seconds it runs five more times, and the median of those counts, for
rivals as for us: a first fit loads what the small one did not need, and a machine that others share
swings within seconds. Rivals take turns on the same samples; ratios are medians with the smallest
and the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.verdicts import Verdict, print_verdicts, table

FloatArray = NDArray[np.float64]

SEEDS = range(9000, 9009)
#: Samples → the bar for our time over that of nifty-ls on its band.
SAME_BAND = {1_000: 2.5, 10_000: 1.5, 100_000: 0.8, 1_000_000: 0.3}
MEMORY = {10_000: 60, 1_000_000: 450}  # megabytes
LARGEST = 10_000_000  # samples, once, to see how times grow
SERIES = 414  # the hourly ones of the M4 competition
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

_MEASURE = """
import json, resource, sys, time
import numpy as np
method, numbers = sys.argv[1], np.load(sys.argv[2])
t, y = numbers
if method == "lasso":
    from benchmarks.peers.method_interface import Hints
    from benchmarks.peers.methods.sparse_regressions import lasso_cv
    work = lambda t, y: len(lasso_cv(t, y, Hints(np.empty(0), 400.0, True, span=2.0)).periods)
elif method == "nifty":
    from benchmarks.peers.methods.prewhitening import prewhiten
    work = lambda t, y: len(prewhiten(t, y, backend="fastnifty", refine=True).periods)
else:
    from robustfourier import PeriodicMixture
    def work(t, y):
        band = {"max_frequency": len(t) / (2 * np.ptp(t))} if method == "same band" else {}
        return len(PeriodicMixture(**band).fit(t, y).modes_.mode)
some = slice(None, None, max(len(t) // 400, 1))
work(t[some], y[some])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
def timed():
    start = time.process_time()
    return work(t, y), time.process_time() - start
before = peak()
lines, seconds = timed()
more = peak() - before
if seconds < 2.0:
    seconds = float(np.median([timed()[1] for _ in range(5)]))
print(json.dumps([seconds, more, lines]))
"""


def tones(n: int, seed: int) -> FloatArray:
    """Three tones at irregular times, below the mean Nyquist frequency; times and values."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 100.0, n))
    places = np.array([0.05, 0.3, 0.7]) * n / 200.0 * rng.uniform(0.8, 1.2, 3)
    waves = np.cos(2 * np.pi * np.multiply.outer(t, places) - rng.uniform(0, 6, 3))
    return np.stack([t, waves @ [1.0, 0.7, 0.5] + rng.normal(size=n)])


def hourly_year(seed: int) -> FloatArray:
    """A year of hours: a day and a week with many harmonics that swell from winter to summer."""
    rng = np.random.default_rng(seed)
    t = np.arange(8760.0)
    y = 0.2 * rng.normal(size=t.size)
    for period, count in ((24.0, 11), (168.0, 39)):
        for n in range(1, count + 1):
            swell = 1.0 + 0.2 * np.cos(2 * np.pi * t / 8766 - rng.uniform(0, 6))
            y += swell / n * np.cos(2 * np.pi * n * t / period - rng.uniform(0, 6))
    return np.stack([t, y])


def hourly_series(seed: int) -> FloatArray:
    """Some weeks of hours with a day, a week, a slope and noise that remembers."""
    rng = np.random.default_rng(seed)
    t = np.arange(float(rng.integers(700, 1001)))
    noise = np.zeros(t.size)
    for i in range(1, t.size):
        noise[i] = 0.7 * noise[i - 1] + 0.2 * rng.normal()
    y = 10.0 + rng.uniform(-2, 2) * t / t.size + noise
    for period, count, height in ((24.0, 6, 2.0), (168.0, 3, 0.7)):
        for n in range(1, count + 1):
            y += height / n**1.5 * np.cos(2 * np.pi * n * t / period - rng.uniform(0, 6))
    return np.stack([t, y])


def measured(method: str, samples: FloatArray) -> FloatArray:
    """Processor seconds, megabytes that it took, and lines found."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "samples.npy"
        np.save(place, samples)
        path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, **_ONE_THREAD, "PYTHONPATH": path}
        command = [sys.executable, "-c", _MEASURE, method, str(place)]
        return np.array(json.loads(subprocess.check_output(command, text=True, env=env)))


def in_turns(methods: list[str], n: int, seeds: range) -> dict[str, FloatArray]:
    """What `measured` returns for each method for each seed; all methods before the next seed."""
    runs: dict[str, list[FloatArray]] = {method: [] for method in methods}
    for seed in seeds:
        for method in methods:
            runs[method].append(measured(method, tones(n, seed)))
    return {method: np.array(rows) for method, rows in runs.items()}


def median_and_range(ratios: FloatArray) -> str:
    """Median, smallest and largest."""
    return f"{np.median(ratios):.2f} [{ratios.min():.2f}, {ratios.max():.2f}]"


def tone_rows(sizes: list[int], seeds: range) -> Iterator[Verdict]:
    """Three tones: the same band as nifty-ls, and the default band."""
    spent = []
    for n in sizes:
        few = seeds[:3] if n > 10_000 else seeds
        methods = ["nifty", "same band", "default"]
        runs = in_turns(methods, n, few)
        theirs = runs["nifty"][:, 0]
        same, default = (runs[m][:, 0] / theirs for m in methods[1:])
        peak = f"{runs['same band'][:, 1].max():.0f} MB (theirs {runs['nifty'][:, 1].max():.0f})"
        lines = np.median(runs["same band"][:, 2])
        yield Verdict(
            f"{n:,} samples, the band of nifty-ls",
            f"≤ {SAME_BAND[n]} × its time",
            f"{median_and_range(same)} ×; {np.median(runs['same band'][:, 0]):.2f} s, "
            f"{lines:.0f} of 3 lines, {peak}",
            bool(np.median(same) <= SAME_BAND[n]),
        )
        yield Verdict(
            f"{n:,} samples, the default band", "reported", f"{median_and_range(default)} ×", None
        )
        if n in MEMORY:
            most = float(runs["default"][:, 1].max())
            words = f"≤ {MEMORY[n]} MB at the most"
            yield Verdict(f"{n:,} samples, memory", words, f"{most:.0f} MB", most <= MEMORY[n])
        spent.append(float(np.median(runs["default"][:, 0])))
    if len(sizes) > 2:
        grown = [*sizes[1:], LARGEST]
        seconds, more, _ = measured("default", tones(LARGEST, seeds[0]))
        exponent = float(np.polyfit(np.log(grown), np.log([*spent[1:], seconds]), 1)[0])
        case = f"growth from {grown[0]:,} to {LARGEST:,} samples"
        words = f"{exponent:.2f}; the largest {seconds:.0f} s, {more / 1e3:.1f} GB"
        yield Verdict(case, "exponent ≤ 1.0", words, exponent <= 1.0)


def everyday_rows(quick: bool) -> Iterator[Verdict]:
    """Records that people have."""
    from robustfourier.datasets import load_electricity_demand

    load = load_electricity_demand()
    demand = np.stack([np.arange(len(load.values)) / 48.0, load.values])
    seconds = np.array([measured("default", demand)[0] for _ in range(1 if quick else 9)])
    case = f"electricity demand, {demand.shape[1]:,} rows"
    yield Verdict(case, "≤ 1 s", f"{median_and_range(seconds)} s", bool(np.median(seconds) <= 1.0))
    years = np.array([measured("default", hourly_year(s)) for s in SEEDS[: 1 if quick else 3]])
    yield Verdict(
        "a year of hours, a day and a week that breathe",
        "≤ 4 s",
        f"{median_and_range(years[:, 0])} s, {np.median(years[:, 2]):.0f} lines",
        bool(np.median(years[:, 0]) <= 4.0),
    )
    yield lasso_row(SEEDS[: 1 if quick else 3])
    yield many_row(20 if quick else SERIES)
    yield from prompt_rows(1 if quick else 5)
    yield file_row(10**4 if quick else 10**6)
    yield reading_row(int(1e7 if quick else 1e9))


def lasso_row(seeds: range) -> Verdict:
    """LassoCV on 400 modes and ours on the default band, in turns, on ten tones that both reach."""
    runs: dict[str, list[FloatArray]] = {"default": [], "lasso": []}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        t = np.sort(rng.uniform(-1, 1, 10_000))
        modes = 5 + 36 * (np.arange(10) + rng.uniform(0.1, 0.9, 10))
        waves = np.cos(np.pi * np.outer(t, modes) - rng.uniform(0, 6, 10))
        samples = np.stack([t, waves @ rng.uniform(0.3, 1.0, 10) + rng.normal(size=t.size)])
        for method in runs:
            runs[method].append(measured(method, samples))
    ours, lasso = (np.array(rows) for rows in runs.values())
    ratio = float(np.median(lasso[:, 0] / ours[:, 0]))
    (seconds, _, lines), (theirs, _, many) = np.median(ours, axis=0), np.median(lasso, axis=0)
    return Verdict(
        "10⁴ irregular samples, LassoCV on 400 modes",
        "≥ 5 × slower",
        f"{theirs:.2f} s ({many:.0f} lines), ours {seconds:.2f} s ({lines:.0f} of 10): "
        f"{ratio:.1f} ×",
        ratio >= 5.0,
    )


def many_row(count: int) -> Verdict:
    """Hourly series in two processes, by the clock and by the processor."""
    import pandas as pd

    from robustfourier import fit_many

    parts = [hourly_series(SEEDS[0] + i) for i in range(count)]
    table = pd.concat(
        pd.DataFrame({"id": f"H{i}", "hour": t, "value": y}) for i, (t, y) in enumerate(parts)
    )
    with tempfile.TemporaryDirectory() as name:
        clock, before = time.monotonic(), sum(os.times()[:4])
        fit_many(table, by="id", out=Path(name) / "out", jobs=2)
        seconds, spent = time.monotonic() - clock, sum(os.times()[:4]) - before
    return Verdict(
        f"{count} hourly series of 700 to 1000 rows, 2 processes",
        f"≤ {60 * count / SERIES:.0f} s of each core",
        f"{spent / 2:.0f} s of each core, {seconds:.0f} s by the clock",
        bool(spent / 2 <= 60 * count / SERIES),
    )


def file_row(n: int) -> Verdict:
    """The command line on a long file, with report and all files."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "long.csv"
        np.savetxt(place, tones(n, SEEDS[0]).T, "%.6f", ",", header="time,value", comments="")
        command = [sys.executable, "-m", "robustfourier.cli", "fit", str(place)]
        clock, before = time.monotonic(), sum(os.times()[2:4])
        subprocess.run(
            [*command, "--out", f"{name}/out"], check=True, stdout=subprocess.DEVNULL, cwd=name
        )
        seconds, spent = time.monotonic() - clock, sum(os.times()[2:4]) - before
    case = f"`robustfourier fit` on {n:,} rows, with report and files"
    spent_words = f"{spent:.0f} s of processor time, {seconds:.0f} s by the clock"
    return Verdict(case, "≤ 30 s", spent_words, spent <= 30.0)


_READ = """
import resource, sys
from robustfourier.samples import read_samples
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
print(len(read_samples(sys.argv[1])), peak() - before)
"""


def reading_row(size: int) -> Verdict:
    """Memory while a long file is read: 20 bytes of a row are kept, twice that while joined."""
    with tempfile.TemporaryDirectory() as name:
        place, rows = Path(name) / "long.csv", 0
        with place.open("w", encoding="utf-8") as file:
            file.write("time,value,note\n")
            while file.tell() < size:
                times = np.datetime64("2000-01-01", "s") + 7 * (rows + np.arange(100_000))
                file.writelines(f"{t},{i % 997 / 7:.6f},sensor ok\n" for i, t in enumerate(times))
                rows += 100_000
        command = [sys.executable, "-c", _READ, str(place)]
        read, used = map(int, subprocess.check_output(command, text=True).split())
    allowed = 60 * rows + 1e8
    case, bar = f"reading {size / 1e6:,.0f} MB, {rows:,} rows", f"≤ {allowed / 1e6:,.0f} MB"
    return Verdict(case, bar, f"{used / 1e6:,.0f} MB", used <= allowed and read == rows)


def prompt_rows(times: int) -> Iterator[Verdict]:
    """From the prompt to the answer, by the clock: a short file, and one that is not there."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "short.csv"
        np.savetxt(place, tones(200, SEEDS[0]).T, "%.6f", ",", header="time,value", comments="")
        out = ["--out", f"{name}/out", "--overwrite"]
        for case, arguments, word, bar in (
            ("on 200 rows: the answer is there", [str(place), *out], "explain", 2.5),
            ("says that a file is missing", [f"{name}/none.csv"], "no such", 0.5),
            ("--help", ["--help"], "Usage", 0.5),
        ):
            seconds = np.array([seconds_until(word, arguments) for _ in range(times)])
            good = bool(np.median(seconds) <= bar)
            words = f"{median_and_range(seconds)} s by the clock"
            yield Verdict(f"`robustfourier fit` {case}", f"≤ {bar} s", words, good)


def seconds_until(word: str, arguments: list[str]) -> float:
    """Seconds until the command line prints a word."""
    command = [sys.executable, "-m", "robustfourier.cli", "fit", *arguments]
    clock, seconds = time.monotonic(), np.nan
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, **pipes) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if word in line and np.isnan(seconds):
                seconds = time.monotonic() - clock
    return float(seconds)


def main(quick: bool = False) -> list[Verdict]:
    """Measure all of it."""
    sizes = [n for n in SAME_BAND if not quick or n <= 10_000]
    verdicts, seeds = [], SEEDS[:1] if quick else SEEDS
    for rows in (tone_rows(sizes, seeds), everyday_rows(quick)):
        for verdict in rows:
            print(f"{verdict.case}: {verdict.measured} ({verdict.word})", flush=True)
            verdicts.append(verdict)
    return verdicts


def command(arguments: list[str] | None = None) -> int:
    """Measure, print, and write the page; the exit code is 1 if a bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.times", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, small sizes")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args(arguments)
    verdicts = main(options.quick)
    if options.page:
        text = f"# How fast it is\n\n{str(__doc__).strip()}\n\n{table('what', verdicts)}\n"
        options.page.write_text(text, encoding="utf-8")
    return print_verdicts("times", verdicts)


if __name__ == "__main__":
    sys.exit(command())
