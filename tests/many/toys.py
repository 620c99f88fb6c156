"""Daily values of a few weeks, with or without a weekly pattern."""

import os
import sys
import textwrap

import numpy as np
import pandas as pd

NAMES = ["a/b", "<script>alert(1)</script>", "plain", "ünïcode", "'; drop", "=1+1"]


def series(name, weekly, rows=60):
    rng = np.random.default_rng(list(name.encode()))
    day = np.arange(rows, dtype=float)
    value = rng.normal(size=rows) + weekly * 3.0 * np.cos(2 * np.pi * day / 7.3 + rng.uniform())
    return pd.DataFrame({"sensor": name, "day": day, "level": value})


def poisoned(folder):
    """A PYTHONPATH with which every new process is killed when it fits a series called poison."""
    site = folder / "site"
    site.mkdir()
    code = """
    import os, signal
    import robustfourier.many.series_rows as rows
    import robustfourier.many.shards as shards
    honest = rows.rows_of
    def rows_of(item, task, samples):
        if "poison" in item.id:
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(item, task, samples)
    shards.rows_of = rows_of
    """
    (site / "sitecustomize.py").write_text(textwrap.dedent(code))
    return os.pathsep.join([str(site), *sys.path])
