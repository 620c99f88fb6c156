"""The benchmarks live beside the package, in the checkout, and are found from there."""

import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture
def task():
    """Five samples of nothing much, with two true lines: periods 0.5 and 0.25, a family."""
    import numpy as np
    from benchmarks.peers.method_interface import Hints
    from benchmarks.peers.problems import Task

    t = np.linspace(0.0, 10.0, 5)
    return Task(
        t=t,
        y=np.zeros(5),
        t_test=t,
        y_test=np.array([2.0, -2.0, 2.0, -2.0, 2.0]),
        scale=2.0,
        lines=np.array([0.5, 0.25]),
        line_errors=np.array([0.002, 0.002]),
        fundamentals=np.array([0.5]),
        fundamental_errors=np.array([0.002]),
        even=True,
        scored="truth",
        hints=Hints(np.array([0.5]), 10.0),
    )
