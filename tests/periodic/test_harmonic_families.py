"""Harmonic families: places of harmonics, families of the calendar, periods within a period."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.periodic.harmonic_families import harmonic_places, nested_orders, tied


def test_a_multiple_of_a_slow_line_is_no_sign_of_a_family():
    """Multiples of two modes are everywhere; of three hundred they are not."""
    gain = np.array([60.0, 30.0])
    slow = harmonic_places(np.array([2.1, 4.2]), gain, np.ones(2, bool), 100.0)[1][1]
    fast = harmonic_places(np.array([300.0, 600.0]), gain, np.ones(2, bool), 1000.0)[1][1]
    assert slow < 10.0 < 100.0 < fast


def test_a_given_line_is_no_harmonic_of_another():
    free = np.array([True, False])
    share, odds = harmonic_places(np.array([70.0, 140.0]), np.full(2, 50.0), free, 500.0)
    assert not share.any()
    assert not odds.any()


def test_the_half_of_a_strong_line_is_its_base_less_often_than_its_double_is_a_harmonic():
    gain = np.array([90.0, 40.0])
    half = harmonic_places(np.array([300.0, 150.0]), gain, np.ones(2, bool), 1000.0)[0][1]
    double = harmonic_places(np.array([300.0, 600.0]), gain, np.ones(2, bool), 1000.0)[0][1]
    assert 0.0 < half < 0.1 * double


def test_three_nested_square_waves_are_seen_within_the_longest():
    time = np.arange(1000.0)
    y = sum(np.sign(np.sin(2 * np.pi * (time + 0.5) / period)) for period in (100, 50, 20))
    spectrum = np.abs(np.fft.rfft(y))[10:300:10]
    assert nested_orders(np.arange(1, 30), spectrum).tolist() == [2, 5]


def test_a_square_wave_alone_has_nothing_nested():
    y = np.sign(np.sin(2 * np.pi * (np.arange(1000.0) + 0.5) / 100.0))
    spectrum = np.abs(np.fft.rfft(y))[10:300:10]
    assert not len(nested_orders(np.arange(1, 30), spectrum))


def test_a_line_among_many_is_no_harmonic_because_it_is_near_a_multiple():
    """Three times 16.728 is two errors from 50.06; two lines alone are tied all the same."""
    alone = np.array([16.728, 50.06])
    dense = np.append(alone, [13.9, 23.3, 29.6, 37.0, 41.9, 44.4, 53.9, 59.9])
    for mode, bases in ((alone, 1), (dense, len(dense))):
        covariance = 0.02**2 * np.eye(len(mode))
        found = tied(mode, covariance, np.ones(len(mode)), highest=15000.0)
        assert len(found.bases) == bases


def test_a_doubtful_tie_widens_the_error_of_its_base():
    mode, covariance = np.array([16.728, 50.12]), 0.02**2 * np.eye(2)
    sure = tied(np.array([16.728, 50.184]), covariance / 25.0, np.ones(2), highest=15000.0)
    found = tied(mode, covariance, np.ones(2), highest=15000.0)
    assert sure.doubt[0] < 0.1 * 0.02 / 5.0
    assert 0.1 * 0.02 < found.doubt[0] < 0.02
    assert found.kept(np.array([True, False])).doubt == pytest.approx(found.doubt)
