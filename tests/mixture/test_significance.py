"""The judge keeps its level: false alarms on noise alone, counted over seeds."""

import numpy as np
import pytest
from scipy.stats import binom

from robustfourier.mixture.evidence import Evidence
from robustfourier.mixture.search.detection import search_lines
from robustfourier.mixture.search.line_fit import fit_lines
from robustfourier.mixture.significance import Judge, false_alarm
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.noise_spectrum import NoiseFloor

LEVEL, SEEDS = 0.05, 400
FLAT = NoiseFloor(np.array([1.0, 1000.0]), np.ones((2, 6)), np.full(2, 1e6))


def noise_series(seed, outputs, frequencies):
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(-1, 1, 120))
    theta[[0, -1]] = -1.0, 1.0
    y = rng.normal(size=(120, outputs))
    settings = Settings(frequencies=frequencies, max_mode=40.0, trend="level", loss="squared")
    weights = np.ones(120)
    one = np.ones(outputs)
    limit = Series.of(theta, y, None, settings).limit
    return Series(theta, y, y, weights, 0.0 * one, one, settings, limit)


def allowed(trials):
    """The most false alarms that a true level of 5 % gives with odds of 10,000 to 1."""
    return int(binom.ppf(0.9999, trials, LEVEL))


@pytest.mark.parametrize("outputs", [1, 6])
@pytest.mark.parametrize("frequencies", ["real", "integer"])
def test_the_highest_peak_of_noise_passes_no_more_often_than_the_level(outputs, frequencies):
    """The floor is known here, so that the law of the highest peak alone is tested."""
    floor = NoiseFloor(FLAT.mode, FLAT.level[:, :outputs], FLAT.dof)
    passed = 0
    for seed in range(SEEDS):
        series = noise_series(seed, outputs, frequencies)
        power = series.grid.power(series.grid.data_sums(series.values)).sum(axis=1)
        power[series.grid.modes < series.lowest] = 0.0
        best = series.grid.modes[[int(np.argmax(power))]]
        fit = fit_lines(series, best, np.zeros(1, bool), 1)
        passed += series.judge.lines(fit.refined, floor)[1][0] <= LEVEL
    assert passed <= allowed(SEEDS)
    # Six outputs with a whitener taken from 120 rows and a quarter-mode grid cost some power.
    assert passed >= 0.2 * LEVEL * SEEDS


def test_the_threshold_is_where_the_alarm_is_the_level():
    theta = np.linspace(-1, 1, 200)
    for judge in (Judge(theta, np.ones(200), 1.5, 90.0), Judge(theta, np.ones(200), 1, 90, True)):
        places, dof = np.array([49.0, 50.0, 51.0, 89.0]), np.array([12.0, 400.0, 400.0, 400.0])
        floor = NoiseFloor(places, np.ones((4, 1)), dof)
        ratio = judge.threshold(0.01, floor, floor.mode)
        np.testing.assert_allclose(judge.alarm(ratio, floor.mode, floor.dof, 1), 0.01, rtol=1e-6)
        assert ratio[0] > ratio[1], "a floor that knows itself badly asks for more"
        alarm = judge.alarm(judge.price(0.2, floor.mode), floor.mode, np.full(4, np.inf), 1)
        np.testing.assert_allclose(alarm, 0.2, rtol=1e-6)
    blind = NoiseFloor(np.ones(1), np.ones((1, 1)), np.zeros(1))
    assert judge.threshold(1e-9, blind, blind.mode) == np.inf, "no ratio in reach"
    assert judge.threshold(1.0, blind, blind.mode) == 0.0


def test_the_evidence_kept_is_what_the_search_used():
    rng = np.random.default_rng(0)
    theta = np.sort(rng.uniform(-1, 1, 400))
    y = 3.0 * np.cos(np.pi * 20.3 * theta) + rng.normal(size=400)
    y[::50] += 40.0
    found = search_lines(Series.of(theta, y[:, None], None, Settings()))
    kept = Evidence.of(found)
    assert kept.floor is found.assessment.floor
    np.testing.assert_array_equal(kept.diagonal, found.flow.weight)
    assert kept.robust
    np.testing.assert_array_equal(kept.outlier, theta[::50])
    at = np.array([30.0])
    alarm = false_alarm(
        kept.threshold_amplitude(at)[:, 0] ** 2 / kept.floor_amplitude(at)[:, 0] ** 2,
        width=found.series.judge.widths(at),
        dof=found.floor.dof_at(at),
    )
    assert alarm[0] == pytest.approx(0.01, rel=0.05)
