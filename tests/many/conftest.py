"""A small survey: daily values of a few weeks, some of them with a weekly pattern."""

import os
import textwrap

import pandas as pd
import pytest
from tests.many.toys import NAMES, series


@pytest.fixture(scope="session")
def long_table():
    """Twelve series in rows without order, one of them of three rows."""
    names = [*NAMES, *(f"s{i}" for i in range(5))]
    frames = [series(name, i % 2) for i, name in enumerate(names)] + [series("short", 1, rows=3)]
    return pd.concat(frames, ignore_index=True).sample(frac=1.0, random_state=1)


@pytest.fixture
def poison(tmp_path, monkeypatch):
    """Whoever fits a series called poison is killed, in every process started from now on."""
    folder = tmp_path / "site"
    folder.mkdir()
    code = """
    import os, signal
    import robustfourier.many.rows as rows
    import robustfourier.many.shards as shards
    honest = rows.rows_of
    def rows_of(item, task, samples):
        if "poison" in item.id:
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(item, task, samples)
    shards.rows_of = rows_of
    """
    (folder / "sitecustomize.py").write_text(textwrap.dedent(code))
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
