"""Families keep their bases; what loses its base stands alone."""

from __future__ import annotations

import numpy as np

from robustfourier import PeriodicMixture
from robustfourier.periodic.harmonic_families import Families

ROWS = np.array([[1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 2], [0, 0, 3]])
FAMILIES = Families(np.array([5.0, 7.1, 20.0]), ROWS, np.array([True, False, False]))


def without(*lines):
    keep = ~np.isin(np.arange(len(ROWS)), lines)
    left = FAMILIES.kept(keep)
    np.testing.assert_allclose(left.harmonics @ left.bases, (ROWS @ FAMILIES.bases)[keep])
    return left


def test_a_base_without_lines_goes():
    left = without(4, 5)
    np.testing.assert_array_equal(left.bases, [5.0, 7.1])
    np.testing.assert_array_equal(left.fixed, [True, False])


def test_a_line_that_is_left_alone_is_a_base_unless_its_own_is_known():
    np.testing.assert_array_equal(without(4).bases, [5.0, 7.1, 60.0])
    np.testing.assert_array_equal(without(0).bases, FAMILIES.bases)


def test_a_combination_tone_whose_base_is_gone_is_a_free_line():
    left = without(2)
    np.testing.assert_allclose(left.bases, [5.0, 20.0, 12.1])
    np.testing.assert_array_equal(left.harmonics[2], [0, 0, 1])
    np.testing.assert_array_equal(left.fixed, [True, False, False])
    assert set(left.component) == {0, 1, 2}


def test_a_harmonic_that_is_seen_in_one_phase_is_no_part_of_a_waveform():
    t = 2.0 * np.pi * np.arange(241.0) / 12.0
    y = np.cos(t - 1.0) + 0.5 * np.cos(2.0 * t) + 0.2 * np.cos(3.0 * t - 2.0)
    y += 0.01 * np.random.default_rng(0).normal(size=241)
    (component,) = PeriodicMixture(scale="linear").fit(np.arange(241.0), y).components_
    assert component.order.tolist() == [1, 2, 3, 4, 5]  # the sixth is the Nyquist mode
