"""A small survey: daily values of a few weeks, some of them with a weekly pattern."""

import pandas as pd
import pytest
from tests.many.toys import NAMES, poisoned, series


@pytest.fixture(scope="session")
def long_table():
    """Twelve series in rows without order, one of them of three rows."""
    names = [*NAMES, *(f"s{i}" for i in range(5))]
    frames = [series(name, i % 2) for i, name in enumerate(names)] + [series("short", 1, rows=3)]
    return pd.concat(frames, ignore_index=True).sample(frac=1.0, random_state=1)


@pytest.fixture
def poison(tmp_path, monkeypatch):
    """Poison kills from now on."""
    monkeypatch.setenv("PYTHONPATH", poisoned(tmp_path))
