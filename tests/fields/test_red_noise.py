"""The colour of what is left over, as climatologists and neuroscientists state it."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robustfourier.fields import noise_colour

T = np.arange(6000.0)


def noise(coefficient, seed=0):
    return lfilter([1.0], [1.0, -coefficient], np.random.default_rng(seed).normal(size=len(T)))


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 0.9])
def test_the_coefficient_of_an_autoregression_is_read(coefficient):
    assert noise_colour(T, noise(coefficient)).coefficient == pytest.approx(coefficient, abs=0.04)


def test_gaps_do_not_count_as_steps():
    keep = np.random.default_rng(1).uniform(size=len(T)) > 0.4
    colour = noise_colour(T[keep], noise(0.8)[keep])
    assert colour.coefficient == pytest.approx(0.8, abs=0.05)


def test_a_random_walk_has_exponent_two_and_white_noise_none():
    assert noise_colour(T, np.cumsum(noise(0.0))).exponent == pytest.approx(2.0, abs=0.2)
    assert noise_colour(T, noise(0.0)).exponent == pytest.approx(0.0, abs=0.1)


def test_the_knee_of_an_autoregression_is_where_its_memory_ends():
    colour = noise_colour(T / 100.0, noise(0.98))  # a hundred samples in a unit of time
    assert colour.knee == pytest.approx(100 * 0.02 / (2 * np.pi), rel=0.4)
    assert colour.exponent == pytest.approx(2.0, abs=0.4)


def test_a_share_of_noise_stays_below_its_curve():
    values = noise(0.7)
    colour = noise_colour(T, values)
    scaled = (values - values.mean()) / values.std()
    power = np.abs(np.fft.rfft(scaled))[1:-1] ** 2 / len(T)
    for share in (0.9, 0.95, 0.99):
        assert np.mean(power < colour.curve(share)) == pytest.approx(share, abs=0.015)
