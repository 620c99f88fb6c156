"""Surprise: forecasts from inside the record, all origins at once, equal those made one by one."""

import numpy as np
import pytest

from robustfourier.mixture import surprise
from robustfourier.periodic.kernels import Kernel, sho
from robustfourier.periodic.semiseparable import ConditionedProcess


@pytest.fixture
def process():
    rng = np.random.default_rng(0)
    theta = np.sort(rng.uniform(-1, 1, 300))
    kernel = Kernel.sum([sho([[3.0, 0.3, 4.0]]), sho([[40.0, 5.0, 1.0]])])
    covariance = kernel(theta[:, None] - theta) + 0.1 * np.eye(300)
    values = np.linalg.cholesky(covariance) @ rng.normal(size=300)
    return ConditionedProcess.on(kernel, theta, np.full(300, 0.1), values), values


def test_all_origins_at_once_equal_each_alone(process, monkeypatch):
    whole, values = process
    theta = whole.theta
    monkeypatch.setattr(surprise, "_ORIGINS", np.array([0.3, 0.6]))
    told = surprise._standardised(whole, values)
    for bin_, squares in enumerate(told):
        slow = []
        for origin in (90, 180):
            past = slice(0, origin)
            known = ConditionedProcess.on(
                whole.kernel, theta[past], whole.noise[past], values[past]
            )
            rows, counts = surprise._ahead(theta, np.array([origin]))
            rows = rows.reshape(4, -1)[bin_, counts[0, bin_]]
            spread = known.variance(theta[rows]) + whole.noise[rows]
            slow.append((values[rows] - known.mean(theta[rows])) ** 2 / spread)
        assert squares == pytest.approx(np.concatenate(slow), rel=1e-6)


def test_a_true_process_is_little_surprised_and_a_quiet_one_much(process):
    whole, values = process
    assert (surprise.surprise_of(whole, values) < 1.4).all()
    quiet = ConditionedProcess.on(whole.kernel.scaled(0.05), whole.theta, whole.noise, values)
    assert (surprise.surprise_of(quiet, values) > 1.5).all()


def test_rows_ahead_are_spread_over_each_bin_and_count_once():
    theta = np.concatenate([np.linspace(-1.0, 0.2, 40), np.linspace(0.7, 1.0, 400)])
    origins = np.array([20, 40, 200, 430])
    rows, counts = surprise._ahead(theta, origins)
    for origin, some, which in zip(origins, rows.reshape(4, 4, -1), counts, strict=True):
        ends = theta[origin - 1] + 2.0 * np.array((0.0, *surprise.HORIZONS))
        edges = np.maximum(np.searchsorted(theta, ends, side="right"), origin)
        for bin_ in range(4):
            low, high = edges[bin_ : bin_ + 2]
            slow = np.unique(np.linspace(low, high - 1, 15).astype(int)) if high > low else []
            assert some[bin_][which[bin_]].tolist() == list(slow)
