"""From a file to an answer: how long it takes, how much memory, and what damage does.

Seconds of the processor (user and system), not of the clock: other work on the machine does not
count.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.verdicts import Verdict

__all__ = ["main"]

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
            fuzz_tables(folder, 300 if quick else 10_000),
            fuzz_models(folder, 300 if quick else 10_000),
        ]


def help_seconds() -> Verdict:
    seconds = sorted(_processor_seconds([sys.executable, "-m", "robustfourier.cli", "--help"])
                     for _ in range(6))[2]  # fmt: skip
    return Verdict(
        "`robustfourier --help`", f"≤ {HELP_SECONDS} s", f"{seconds:.2f} s", seconds <= HELP_SECONDS
    )


def report_seconds(folder: Path) -> list[Verdict]:
    """`fit` on 10⁴ samples, twice: the first run compiles."""
    from robustfourier.analysis.folder import read_run

    path = _hourly(folder)
    command = [sys.executable, "-m", "robustfourier.cli", "fit", str(path), "-q"]
    command += ["--out", str(folder / "out")]
    _processor_seconds(command)
    seconds = _processor_seconds(command)
    steps = (read_run(folder / "out") or {}).get("seconds", {})
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


def fuzz_tables(folder: Path, cases: int) -> Verdict:
    """Random damage to tables of many kinds: samples that are sound, or a `DataError`."""
    from robustfourier.errors import DataError
    from robustfourier.samples import read_samples

    rng = np.random.default_rng(0)
    seeds = [
        b"time,value\n" + b"".join(b"%d,%d.5\n" % (i, i % 7) for i in range(12)),
        b"Zeit;Wert\n" + b"".join(b"%d,25;%d,5\n" % (i, i % 7) for i in range(12)),
        b"when\tx\terr\n"
        + b"".join(b"2024-01-%02dT00:00Z\t%d\t1\n" % (i, i) for i in range(1, 12)),
        b"Category: All\n\nTime,tea: (World)\n2024-01-01T00,5\n2024-01-01T01,<1\n2024-01-01T02,7\n",
        "t,v\n1,2\n2,3\n3,4\n".encode("utf-16"),
    ]
    read = refused = broken = 0
    path = folder / "fuzz.csv"
    for _ in range(cases):
        path.write_bytes(_damaged(seeds[rng.integers(len(seeds))], rng))
        try:
            samples = read_samples(path)
            rising = samples.times[1:] > samples.times[:-1]
            sound = np.isfinite(samples.values).all() and rising.all()
            read, broken = read + 1, broken + (not sound)
        except DataError:
            refused += 1
        except Exception as error:  # what the fuzz is looking for
            broken += 1
            print(f"  {type(error).__name__}: {error}: {path.read_bytes()!r}")
    return Verdict(
        f"fuzz of the table reader, {cases:,} cases",
        "no crash, no unsound samples",
        f"{read:,} read, {refused:,} refused, {broken} broken",
        broken == 0,
    )


def fuzz_models(folder: Path, cases: int) -> Verdict:
    """Random damage to a model file: never loaded, always a `ModelFormatError`."""
    from robustfourier import PeriodicMixture
    from robustfourier.errors import ModelFormatError
    from robustfourier.persistence import load, save

    times = np.arange(60.0)
    path = folder / "fuzz.rfm"
    save(PeriodicMixture().fit(times, np.cos(2 * np.pi * times / 7)), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = loaded = broken = 0
    for _ in range(cases):
        damaged = _damaged(whole, rng)
        if damaged == whole:
            continue
        path.write_bytes(damaged)
        try:
            load(path)
            loaded += 1
        except ModelFormatError:
            refused += 1
        except Exception as error:  # what the fuzz is looking for
            broken += 1
            print(f"  {type(error).__name__}: {error}")
    return Verdict(
        f"fuzz of the model reader, {cases:,} cases",
        "each refused with a word",
        f"{refused:,} refused, {loaded} loaded, {broken} broken",
        loaded == broken == 0,
    )


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """One to three changes: bytes flipped, cut out, doubled, or replaced by nasty ones."""
    nasty = [
        *(b"\0", b'"', b",", b";", b"\n", b"\r", b"\t", b"\xff", b"#", b"-", b"=1", b"<1", b"nan"),
        *(b"1e999", b"99999999999999999999", b"2024-13-01", b"12:61", "−".encode()),
    ]
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(content) + 1))
        width = int(rng.choice([0, 1, 1, 2, 3, 10]))
        kind = rng.integers(4)
        if kind == 0:
            new = bytes(rng.integers(0, 256, width, dtype=np.uint8))
        elif kind == 1:
            new = b""
        elif kind == 2:
            new = content[at : at + width] * 2
        else:
            new = nasty[rng.integers(len(nasty))]
        content = content[:at] + new + content[at + width :]
    return content


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
