"""Relocation: a line at an alias moves to where the data fit better."""

import numpy as np
import pytest

from robustfourier.mixture.search.alias_relocation import relocate, relocated_families
from robustfourier.mixture.search.line_fit import fit_lines
from robustfourier.mixture.timeseries import Series, Settings


def nightly(seed=0, nights=200):
    """One sample per night within six hours, over 300 nights: aliases one cycle per day apart."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.choice(300, nights, replace=False)) + rng.uniform(0, 0.25, nights)
    return 2.0 * (day - day[0]) / (day[-1] - day[0]) - 1.0, day[-1] - day[0], rng


def series_of(theta, y):
    return Series.of(theta, y[:, None], None, Settings(trend="level", max_mode=900.0))


def test_a_line_at_a_daily_alias_moves_to_its_place():
    theta, span, rng = nightly()
    true = 0.74 * span
    series = series_of(theta, np.cos(np.pi * true * theta) + 0.3 * rng.normal(size=len(theta)))
    start = fit_lines(series, np.array([span - true]), np.zeros(1, bool), 1)
    assert abs(start.modes[0] - true) > 50
    assert relocate(series, start).modes == pytest.approx([true], abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_two_aliases_that_stand_for_one_line_become_it(seed):
    """Both sides of a line fit it together, with three numbers more."""
    theta, span, rng = nightly(seed)
    true = 1.3 * span
    series = series_of(theta, np.cos(np.pi * true * theta) + 0.5 * rng.normal(size=len(theta)))
    both = np.array([true - span, true + span])
    start = fit_lines(series, both, np.zeros(2, bool), 1)
    assert relocate(series, start).modes == pytest.approx([true], abs=0.2)
    two = np.cos(np.pi * both[0] * theta) + np.sin(np.pi * both[1] * theta)
    series = series_of(theta, two + 0.3 * rng.normal(size=len(theta)))
    start = fit_lines(series, both, np.zeros(2, bool), 1)
    assert len(relocate(series, start).modes) == 2, "two lines that are there stay two"


def test_a_line_in_its_place_stays_and_known_lines_are_never_moved():
    theta, span, rng = nightly()
    true = 0.74 * span
    series = series_of(theta, np.cos(np.pi * true * theta) + 0.3 * rng.normal(size=len(theta)))
    right = fit_lines(series, np.array([true]), np.zeros(1, bool), 1)
    assert relocate(series, right) is right
    known = fit_lines(series, np.array([span - true]), np.ones(1, bool), 1)
    assert relocate(series, known) is known


def test_without_side_peaks_of_the_window_nothing_is_tried():
    rng = np.random.default_rng(1)
    theta = np.sort(rng.uniform(-1, 1, 200))
    series = series_of(theta, np.cos(np.pi * 40 * theta))
    fit = fit_lines(series, np.array([40.2]), np.zeros(1, bool), 1)
    assert relocate(series, fit) is fit


def test_a_family_is_moved_to_an_alias_as_a_whole():
    """A sharp pattern of few nights: each line alone fits an alias as well, their sum does not."""
    theta, span, rng = nightly(3, nights=70)
    true = 0.74 * span
    y = sum(np.cos(np.pi * n * true * theta + n) / n for n in (1, 2, 3))
    series = series_of(theta, y + 0.05 * rng.normal(size=len(theta)))
    start = fit_lines(series, np.array([span - true]), np.zeros(1, bool), 1)
    fits = relocated_families(series, start, np.array([0]))
    best = min(fits, key=lambda fit: float(fit.refined.rss.sum()))
    np.testing.assert_allclose(np.sort(best.modes)[:3], true * np.arange(1, 4), atol=0.1)
