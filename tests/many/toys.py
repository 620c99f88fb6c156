"""Daily values of a few weeks, with or without a weekly pattern."""

import numpy as np
import pandas as pd

NAMES = ["a/b", "<script>alert(1)</script>", "plain", "ünïcode", "'; drop", "=1+1"]


def series(name, weekly, rows=60):
    rng = np.random.default_rng(list(name.encode()))
    day = np.arange(rows, dtype=float)
    value = rng.normal(size=rows) + weekly * 3.0 * np.cos(2 * np.pi * day / 7.3 + rng.uniform())
    return pd.DataFrame({"sensor": name, "day": day, "level": value})
