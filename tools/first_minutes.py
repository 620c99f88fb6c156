"""What a newcomer waits for, measured in a fresh clone: `python tools/first_minutes.py`.

Clones this checkout's last commit into a temporary folder and times the two commands of the README
there, each from nothing: `make run` (environment, installation, kernels, the example) and, if
asked, `make test`. Then, in what `make run` installed: the import of the estimator, the first and
second fit, and the size. Ends in 1 if a bar is missed.

    python tools/first_minutes.py            make run and what follows
    python tools/first_minutes.py --test     make test as well
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from matrix import IMPORT, ROOT, bytecode, megabytes, output, surroundings

#: Seconds on two idle cores, and megabytes (docs/decisions/installed-size.md).
BARS = {"make run": 60.0, "make test": 480.0, "import": 1.0, "first fit": 5.0, "size": 350.0}


def measured(*command: str, where: Path) -> tuple[float, float]:
    """Run a command; seconds by the clock, and of the processor in all its processes."""
    begin, before = time.perf_counter(), os.times()
    subprocess.run(command, cwd=where, env=surroundings(), stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    spent = after.children_user + after.children_system
    return time.perf_counter() - begin, spent - before.children_user - before.children_system


def wheel_megabytes(environment: Path) -> float:
    """Return the size of what wheels bring: neither bytecode nor what the environment began with.

    The size of an environment with pip alone is taken away, bytecode of both left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        bare = Path(folder)
        return megabytes(environment) - bytecode(environment) - megabytes(bare) + bytecode(bare)


def reported(name: str, value: float, unit: str, note: str = "") -> bool:
    """Print one line; whether it is within its bar."""
    good = value <= BARS.get(name, value)
    bar = f" (at most {BARS[name]:.0f})" if name in BARS else ""
    print(f"{'ok  ' if good else 'MISS'} {name:12} {value:7.1f} {unit}{bar}{note}", flush=True)
    return good


def main() -> int:
    """Measure all; 0 if every bar is kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--test", action="store_true", help="make test as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        clock, spent = measured("make", "run", where=clone)
        good = [reported("make run", clock, "s", f", {spent:.1f} s of the processor")]
        scripts = clone / ".venv" / ("Scripts" if os.name == "nt" else "bin")
        whole, kept = megabytes(clone / ".venv"), wheel_megabytes(clone / ".venv")
        good.append(reported("size", kept, "MB", f", {whole:.0f} MB with bytecode and pip"))
        good.append(
            reported("import", float(output(str(scripts / "python"), "-c", IMPORT).split()[1]), "s")
        )
        fit = (str(scripts / "robustfourier"), "fit", "example:sunspots", "--no-files", "-q")
        for name in ("first fit", "second fit"):
            good.append(reported(name, measured(*fit, where=clone)[1], "s"))
        if given.test:
            clock, spent = measured("make", "test", where=clone)
            good.append(reported("make test", clock, "s", f", {spent:.0f} s of the processor"))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
