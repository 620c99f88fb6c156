"""The wave that small networks learn."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def wave():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 10, 300))
    t[[0, -1]] = 0, 10
    return t[:, None], 2 + 3 * np.cos(np.pi * (t - 5)) + rng.normal(size=300)
