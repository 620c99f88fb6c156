"""One record and one run of the program that all tests of the command line read."""

import csv
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.cli.toys import HOSTILE
from tests.program import PROGRAM

import robustfourier


@pytest.fixture(scope="session")
def record(tmp_path_factory):
    """Half-hourly values with a period of 12.4 hours, and a column with an ugly name."""
    rng = np.random.default_rng(5)
    n = 160
    hours = 0.5 * np.arange(n)
    level = 2.0 * np.cos(2 * np.pi * hours / 12.4) + 0.3 * rng.normal(size=n)
    times = np.datetime64("2024-03-01T00:00") + (30 * np.arange(n)).astype("timedelta64[m]")
    path = tmp_path_factory.mktemp("record") / "tank.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["when", HOSTILE])
        writer.writerows(zip(times.astype(str), level.round(4), strict=True))
    return path


@pytest.fixture(scope="session")
def finished(record, tmp_path_factory):
    """One run as on a bare machine: no HOME, no locale, no terminal."""
    folder = tmp_path_factory.mktemp("run")
    bare = {
        **{"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        "PYTHONPATH": str(Path(robustfourier.__file__).parents[1]),
    }
    done = subprocess.run(
        [*PROGRAM, "fit", str(record), "--out", "out"],
        cwd=folder, env=bare, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done, folder / "out"
