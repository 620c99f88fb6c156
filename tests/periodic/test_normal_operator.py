"""The normal operator by FFT equals the dense matrix and the sums it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.periodic.normal_operator import NormalOperator, dense_operator
from robustfourier.periodic.nufft import fourier_sums


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    theta = rng.uniform(-1, 0.7, 60)
    weights = rng.uniform(0.5, 2, 60)
    z = rng.normal(size=(16, 2)) + 1j * rng.normal(size=(16, 2))
    return theta, weights, z, fourier_sums(theta, np.ones((60, 2)), weights, 15)


def test_operator_equals_the_dense_matrix(problem):
    _, _, z, sums = problem
    image = NormalOperator.of(sums)(z)
    dense = dense_operator(sums) @ np.vstack([z.real, z.imag])
    np.testing.assert_allclose(np.vstack([image.real, image.imag]), dense, atol=1e-12)


def test_operator_is_what_the_samples_say(problem):
    theta, weights, z, sums = problem
    k = np.arange(16)
    values = (np.exp(1j * np.pi * np.outer(theta, k)) @ z).real
    expected = np.exp(-1j * np.pi * np.outer(k, theta)) @ (weights[:, None] * values)
    np.testing.assert_allclose(NormalOperator.of(sums)(z), expected * 2 / weights.sum(), atol=1e-11)
