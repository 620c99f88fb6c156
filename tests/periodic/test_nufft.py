"""Fourier sums: the fast way equals the definition, and chunks add up."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.periodic.nufft import (
    NufftPlan,
    RealModeSums,
    direct_sums,
    weighted_sums,
)


@pytest.fixture
def samples():
    rng = np.random.default_rng(1)
    theta = np.concatenate([[-1.0, 1.0], rng.uniform(-1, 1, 198)])
    return theta, rng.normal(size=(200, 3)), rng.uniform(0.1, 3, 200)


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_nufft_sums_equal_the_definition(samples, n_outputs):
    theta, y, weights = samples
    columns = weights[:, None] * y[:, :n_outputs]
    direct = direct_sums(theta, columns, np.arange(81.0))
    np.testing.assert_allclose(NufftPlan(theta, 81)(columns), direct, atol=1e-11 * weights.sum())


def test_the_same_sums_have_the_same_bits(samples):
    theta, y, _ = samples
    first, again = (NufftPlan(theta, 1001)(y) for _ in range(2))
    assert first.tobytes() == again.tobytes()


@pytest.mark.parametrize("spacing", [1.0, 0.25])
def test_sums_on_a_finer_grid_equal_the_definition(samples, spacing):
    theta, y, _ = samples
    modes = spacing * np.arange(50)
    np.testing.assert_allclose(
        weighted_sums(theta, y, 50, spacing), direct_sums(theta, y, modes), atol=1e-10
    )


@pytest.mark.parametrize("count", [1, 2, 7, 9_999, 10_001, 70_000])
@pytest.mark.parametrize("spacing", [1.0, 0.5])
def test_sums_of_any_number_of_modes_equal_the_definition(samples, count, spacing):
    theta, y, _ = samples
    some = np.unique(np.linspace(0, count - 1, 300).astype(int))
    direct = direct_sums(theta, y, spacing * some)
    read = weighted_sums(theta, y, count, spacing)[some]
    # A position is known to 1e-16 of the span, and turns as many times as its mode says.
    np.testing.assert_allclose(read, direct, atol=(1e-13 + 1e-16 * count) * np.abs(y).sum())


def test_positions_outside_the_span_are_turned_back(samples):
    theta, y, _ = samples
    far = theta + 4.0 * np.arange(-100, 100)
    direct = direct_sums(theta, y, 0.5 * np.arange(90))
    np.testing.assert_allclose(weighted_sums(far, y, 90, 0.5), direct, atol=1e-9)
    far[3] = np.nan
    with pytest.raises(InputError, match="finite"):
        weighted_sums(far, y, 90)


def test_sums_can_be_read_at_any_real_mode_of_either_sign(samples):
    theta, y, _ = samples
    rng = np.random.default_rng(2)
    modes = np.concatenate([rng.uniform(-300, 300, 200), [0.0, 300.0, -300.0, 0.1, -0.1]])
    read = RealModeSums.of(theta, y, 300.0).at(modes)
    np.testing.assert_allclose(read, direct_sums(theta, y, modes), atol=1e-12 * np.abs(y).sum())


def test_reading_many_modes_at_once_changes_nothing(samples):
    theta, y, _ = samples
    modes = np.random.default_rng(4).uniform(-300, 300, 5000)
    sums = RealModeSums.of(theta, y, 300.0)
    np.testing.assert_allclose(sums.at(modes)[::97], sums.at(modes[::97]), atol=1e-12)
    assert sums.at(modes[:0]).shape == (0, y.shape[1])


@pytest.mark.parametrize("spacing", [0.1, 0.125, 0.25, 0.3, 0.5, 1.0])
def test_sums_at_even_modes_equal_their_definition(samples, spacing):
    theta, y, _ = samples
    count = int(60.0 / spacing)
    read = RealModeSums.of(theta, y, 60.0).on_grid(spacing, count)
    np.testing.assert_allclose(read, direct_sums(theta, y, spacing * np.arange(count)), atol=1e-10)


def test_sums_at_fixed_places_are_the_same_bits_every_time(samples):
    theta, y, _ = samples
    at = NufftPlan(theta, 40, 0.5)
    for columns in (y, 2.0 * y, y[:, :1], np.hstack([y, y, y])):
        assert at(columns).tobytes() == weighted_sums(theta, columns, 40, 0.5).tobytes()


def test_sums_are_those_of_finufft(samples):
    finufft = pytest.importorskip("finufft")
    theta, y, _ = samples
    values = y[:, 0].astype(complex)
    theirs = finufft.nufft1d1(np.pi * theta, values, 401, isign=-1, eps=1e-14)[200:]
    ours = weighted_sums(theta, y[:, :1], 201)[:, 0]
    np.testing.assert_allclose(ours, theirs, atol=1e-11 * np.abs(y[:, 0]).sum())
