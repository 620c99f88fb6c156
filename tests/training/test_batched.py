"""Many series at once are what each is alone."""

import re

import numpy as np
import pytest

from robustfourier import FourierNetworkRegressor
from robustfourier.errors import InputError
from robustfourier.synthetic import relative_error
from robustfourier.training.many_networks import train_batched

THETA = np.linspace(-1, 1, 801)
MODES = np.array([[4, 17], [9, 30], [12, 25]])
TRUTH = 2.0 + np.stack(
    [np.cos(np.pi * a * THETA) + 0.6 * np.sin(np.pi * b * THETA) for a, b in MODES], axis=1
)
Y = TRUTH + 0.5 * np.random.default_rng(0).normal(size=TRUTH.shape)


def test_each_series_has_its_own_modes_level_and_noise():
    end = train_batched(THETA, Y, n_modes=40)
    assert [(np.flatnonzero(a) + 1).tolist() for a in end.active] == MODES.tolist()
    np.testing.assert_allclose(end.noise, 0.5, rtol=0.05)
    np.testing.assert_allclose(end.level, 2.0, atol=0.1)


def test_a_batch_fits_as_well_as_the_networks_one_by_one():
    together = train_batched(THETA, Y, n_modes=40).predict(THETA)
    for series, truth, y in zip(together.T, TRUTH.T, Y.T, strict=True):
        alone = FourierNetworkRegressor(n_modes=40, random_state=0).fit(THETA, y).predict(THETA)
        assert relative_error(series, truth) == pytest.approx(
            relative_error(alone, truth), abs=0.005
        )


def test_a_series_does_not_depend_on_its_neighbours_beyond_rounding():
    alone = train_batched(THETA, Y[:, :1], n_modes=40)
    beside = train_batched(THETA, Y, n_modes=40, n_jobs=2)
    np.testing.assert_allclose(alone.cosine[0], beside.cosine[0], atol=1e-9)
    assert alone.n_steps[0] == beside.n_steps[0]


def test_constants_and_several_inputs_are_handled():
    end = train_batched(THETA, np.full((801, 2), 3.0), n_modes=5)
    np.testing.assert_allclose(end.level, 3.0)
    assert not end.active.any()
    with pytest.raises(InputError, match=re.escape("theta has 2 columns; give one")):
        train_batched(np.zeros((801, 2)), Y)
