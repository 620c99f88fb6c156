"""From a file to an answer: how long it takes, and how much memory.

Seconds of the processor (user and system), not of the clock: other work on the machine does not
count. What damaged files do is asked by `benchmarks.faults`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.verdicts import Verdict

HELP_SECONDS = 0.5
REPORT_SECONDS = 10.0
REPORT_BYTES = 1_000_000

_READ = """
import resource, sys
from robustfourier.samples import read_samples
before = resource.getrusage(resource.RUSAGE_SELF)
samples = read_samples(sys.argv[1])
after = resource.getrusage(resource.RUSAGE_SELF)
print(len(samples), before.ru_maxrss, after.ru_maxrss, after.ru_utime - before.ru_utime)
"""


def main(quick: bool = False) -> list[Verdict]:
    """All lines of this suite."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            help_seconds(),
            *report_seconds(folder),
            large_file(folder, 1e7 if quick else 1e9),
        ]


def help_seconds() -> Verdict:
    seconds = sorted(_processor_seconds([sys.executable, "-m", "robustfourier.cli", "--help"])
                     for _ in range(6))[2]  # fmt: skip
    return Verdict(
        "`robustfourier --help`", f"≤ {HELP_SECONDS} s", f"{seconds:.2f} s", seconds <= HELP_SECONDS
    )


def report_seconds(folder: Path) -> list[Verdict]:
    """`fit` on 10⁴ samples, twice: the first run compiles."""
    from robustfourier.result_folders import RUN

    path = _hourly(folder)
    command = [sys.executable, "-m", "robustfourier.cli", "fit", str(path), "-q"]
    command += ["--out", str(folder / "out")]
    _processor_seconds(command)
    seconds = _processor_seconds(command)
    steps = (RUN.read(folder / "out") or {}).get("seconds", {})
    whole = sum(steps.values()) or 1.0
    shares = ", ".join(f"{step} {100 * part / whole:.0f} %" for step, part in steps.items())
    size = (folder / "out" / "report.html").stat().st_size
    return [
        Verdict(
            "`fit` on 10⁴ samples to finished report",
            f"≤ {REPORT_SECONDS:g} s",
            f"{seconds:.1f} s ({shares})",
            seconds <= REPORT_SECONDS,
        ),
        Verdict(
            "size of that report",
            f"< {REPORT_BYTES / 1e6:g} MB",
            f"{size / 1e6:.2f} MB",
            size < REPORT_BYTES,
        ),
    ]


def large_file(folder: Path, size: float) -> Verdict:
    """Memory while a long file is read: 20 bytes per row are kept, twice that while joined."""
    path = folder / "large.csv"
    rows = _write_large(path, int(size))
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True
    )
    n, before, after, seconds = (float(word) for word in done.stdout.split())
    path.unlink()
    used = (after - before) * 1024
    allowed = 3 * 20 * rows + 100e6
    return Verdict(
        f"reading {size / 1e6:,.0f} MB, {rows:,} rows",
        f"≤ {allowed / 1e6:,.0f} MB of memory",
        f"{used / 1e6:,.0f} MB, {seconds:.0f} s",
        used <= allowed and n == rows,
    )


def _hourly(folder: Path) -> Path:
    """10⁴ hourly values: a daily and a weekly rhythm, a drift, noise."""
    rng = np.random.default_rng(0)
    hours = np.arange(10_000)
    times = np.datetime64("2023-01-01T00:00", "m") + 60 * hours
    values = 50 + 0.002 * hours + 8 * np.sin(2 * np.pi * hours / 24 - 1)
    values += 4 * np.where((hours // 24) % 7 < 5, 1, -2) + 3 * rng.normal(size=len(hours))
    path = folder / "hourly.csv"
    rows = "".join(f"{t},{v:.3f}\n" for t, v in zip(times, values, strict=True))
    path.write_text(f"time,visits\n{rows}", encoding="utf-8")
    return path


def _write_large(path: Path, size: int) -> int:
    rng = np.random.default_rng(0)
    rows, start = 0, np.datetime64("2000-01-01T00:00:00", "s")
    with path.open("w", encoding="utf-8") as file:
        file.write("time,value,note\n")
        while file.tell() < size:
            times = start + 7 * (rows + np.arange(100_000))
            values = rng.normal(size=100_000)
            file.writelines(f"{t},{v:.6f},sensor ok\n" for t, v in zip(times, values, strict=True))
            rows += 100_000
    return rows


def _processor_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    from benchmarks.verdicts import print_verdicts

    print_verdicts("files", main(quick="--quick" in sys.argv))
