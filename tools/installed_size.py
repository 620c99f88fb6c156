"""What an environment's megabytes are: `python tools/installed_size.py`, run by its own Python.

For each distribution the size of its files as pip has installed them, and how much of it is
bytecode (which Python could make itself) and test suites. Sizes are those of the files' contents.

    .venv/bin/python tools/installed_size.py        distributions of a megabyte or more
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distributions


def parts(distribution: Distribution) -> tuple[float, float, float]:
    """Megabytes in all, of bytecode, and of test suites (with their bytecode)."""
    whole = bytecode = tests = 0
    for file in distribution.files or []:
        try:
            size = file.locate().stat().st_size  # type: ignore[attr-defined]
        except OSError:
            continue
        whole += size
        bytecode += size * (file.suffix == ".pyc")
        tests += size * bool({"tests", "testing"} & {*file.parts})
    return whole / 1e6, bytecode / 1e6, tests / 1e6


def main() -> int:
    """Print the table, the largest first."""
    found = {one.metadata["Name"]: (one.version, *parts(one)) for one in distributions()}
    rows = sorted(found.items(), key=lambda row: -row[1][1])
    print(f"Python {sys.version.split()[0]}\n{'':24}{'MB':>7}{'bytecode':>10}{'tests':>7}")
    small = [row for row in rows if row[1][1] < 1.0]
    for name, (version, *sizes) in rows[: len(rows) - len(small)]:
        print(f"{name + ' ' + version:24}{sizes[0]:7.1f}{sizes[1]:10.1f}{sizes[2]:7.1f}")
    for name, some in ((f"{len(small)} others", small), ("all", rows)):
        sums = [sum(sizes[i] for _, (_, *sizes) in some) for i in range(3)]
        print(f"{name:24}{sums[0]:7.1f}{sums[1]:10.1f}{sums[2]:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
