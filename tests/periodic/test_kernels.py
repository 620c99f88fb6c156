"""Covariance functions: their spectra, their limits, and against celerite2."""

import numpy as np
import pytest
from celerite2 import terms as celerite_terms

from robustfourier.periodic.kernels import (
    Kernel,
    QuasiPeriodic,
    integrated_ornstein_uhlenbeck,
    lines_of_powers,
    sho,
)

TAU = np.linspace(0.0, 1.0, 20)


@pytest.mark.parametrize("quality", [0.05, 0.5, 0.5 + 1e-9, 6.0])
def test_an_oscillator_is_continuous_in_its_quality(quality):
    near = sho([[10.0, quality + 1e-6, 1.0]])(TAU)
    assert sho([[10.0, quality, 1.0]])(TAU) == pytest.approx(near, abs=1e-3)


@pytest.mark.parametrize("quality", [0.2, 3.0])
def test_an_oscillator_and_its_density_are_those_of_celerite2(quality):
    term = celerite_terms.SHOTerm(S0=2.0 / (10.0 * quality), w0=10.0, Q=quality)
    kernel, omega = sho([[10.0, quality, 2.0]]), np.linspace(0.1, 40.0, 9)
    assert kernel(TAU) == pytest.approx(term.get_value(TAU), rel=1e-9)
    # Their density is over √2π.
    assert kernel.psd(omega) == pytest.approx(term.get_psd(omega) * np.sqrt(2 * np.pi), rel=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        sho([[10.0, 0.2, 2.0], [30.0, 4.0, 1.0]]),
        QuasiPeriodic(np.array([1, 3]), np.ones(2), 4.0, True).kernel(np.log([2.0, 1.5, 1.0])),
    ],
)
def test_the_density_is_the_transform_of_the_kernel(kernel):
    tau = np.linspace(0.0, 40.0, 2_000_001)
    values = kernel(tau)
    for omega in (0.0, 7.0, 31.0):
        expected = 2.0 * np.trapezoid(values * np.cos(omega * tau), tau)
        assert kernel.psd(np.array(omega)) == pytest.approx(expected, abs=1e-6)


def test_the_density_of_an_oscillator_is_its_formula():
    omega = np.linspace(0.0, 50.0, 7)
    width = (omega**2 - 100.0) ** 2 + (omega * 10.0 / 3.0) ** 2
    expected = 2.0 * 5.0 * 10.0**3 / 3.0 / width
    assert sho([[10.0, 3.0, 5.0]]).psd(omega) == pytest.approx(expected, rel=1e-9)


def test_generators_give_the_kernel_below_the_diagonal():
    zero = np.zeros(1)
    exponential = Kernel(np.ones(1), zero, np.full(1, 3.0), zero, np.zeros(1, int))
    kernel = Kernel.sum([exponential, sho([[10.0, 0.2, 2.0], [30.0, 4.0, 1.0]])])
    theta = np.sort(np.random.default_rng(0).uniform(-1, 1, 9))
    (u, v), rates = kernel.generators(theta), kernel.per_column(kernel.c)
    assert u.shape == (9, kernel.n_columns) == (9, 6)
    for i in range(9):
        for j in range(i):
            faded = np.exp(-rates * (theta[i] - theta[j]))
            assert u[i] @ (faded * v[j]) == pytest.approx(kernel(theta[i] - theta[j]))


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
def test_a_drift_changes_in_the_lag_by_its_increment(rate):
    kernel = integrated_ornstein_uhlenbeck(rate, 0.2, 2.0, 0.03)
    before = np.array([-1e-4 / rate, 0.0])  # level and slope
    covariance = kernel(before[:, None] - before)
    across = kernel(0.2 - before)
    left = kernel.variance - across @ np.linalg.solve(covariance, across)
    assert left == pytest.approx(2.0, rel=0.01)


def test_columns_of_lines_have_the_covariance_of_cosines():
    theta = np.linspace(-1.0, 1.0, 11)
    columns = lines_of_powers(theta, np.array([1.3, 4.0]), np.array([2.0, 0.5]))
    tau = theta[:, None] - theta
    expected = 2.0 * np.cos(1.3 * np.pi * tau) + 0.5 * np.cos(4.0 * np.pi * tau)
    assert columns @ columns.T == pytest.approx(expected)
