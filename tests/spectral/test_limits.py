"""The highest mode: Nyquist for even samples, a stated rule for all others."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.spectral.limits import even_spacing, highest_mode


def test_even_samples_are_searched_up_to_the_nyquist_mode():
    limit = highest_mode(np.linspace(-1, 1, 1001))
    assert limit.max_mode == pytest.approx(500)
    assert limit.nyquist == pytest.approx(500)
    assert "Nyquist" in limit.rule


def test_missing_and_repeated_samples_leave_the_grid_even():
    theta = np.linspace(-1, 1, 101)
    kept = np.delete(theta, [3, 4, 50, 77])
    assert highest_mode(np.repeat(kept, 2)).nyquist == pytest.approx(50)


def test_irregular_samples_have_no_nyquist_mode_but_a_cap_and_a_word():
    theta = np.random.default_rng(0).uniform(-1, 1, 200)
    limit = highest_mode(theta)
    assert limit.nyquist is None
    assert limit.max_mode == 12_000
    many = np.random.default_rng(0).uniform(-1, 1, 2000)
    assert highest_mode(many).max_mode == 10 * 2000
    assert "irregular" in limit.rule


def test_a_given_limit_is_taken_as_it_is():
    limit = highest_mode(np.linspace(-1, 1, 101), limit=17)
    assert limit.max_mode == 17
    assert "given" in limit.rule


@pytest.mark.parametrize("theta", [[0.0], [-1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 0.0, 1.0]])
def test_too_few_distinct_samples_bear_no_mode(theta):
    assert highest_mode(np.array(theta)).max_mode == 0


def test_a_jitter_below_a_thousandth_of_the_spacing_is_even_and_above_is_not():
    theta = np.linspace(-1, 1, 101)
    rng = np.random.default_rng(0)
    jitter = rng.uniform(-1, 1, 101) * np.diff(theta)[0]
    jitter[[0, -1]] = 0
    assert even_spacing(theta + 2e-4 * jitter) == pytest.approx(0.02)
    assert even_spacing(theta + 5e-2 * jitter) is None
