"""Gaussian processes in linear time against dense matrices and against celerite2."""

from dataclasses import replace

import celerite2
import numpy as np
import pytest
from celerite2 import terms as celerite_terms

from robustfourier.periodic.kernels import (
    Kernel,
    QuasiPeriodic,
    lines_of_powers,
    sho,
    sho_of_logarithms,
    sho_pullback,
)
from robustfourier.periodic.semiseparable import (
    BLOCK,
    EVEN,
    ConditionedProcess,
    FilteredState,
    MarginalLikelihood,
    Observations,
    _steps,
    marginal_log_likelihood,
    normal_equations,
)


def damped_wave(variance, rate, frequency):
    return Kernel(*np.array([[variance], [0.0], [rate], [frequency]]), np.zeros(1, int))


@pytest.fixture
def kernel():
    return Kernel.sum(
        [sho([[20.0, 0.3, 1.5]]), sho([[60.0, 4.0, 0.7]]), damped_wave(0.4, 3.0, 200.0)]
    )


@pytest.fixture
def odd_kernel():
    """Three exponentials: an odd number has a zero column beside it."""
    zero = np.zeros(3)
    return Kernel(
        np.array([1.0, 0.5, 2.0]), zero, np.array([2.0, 9.0, 50.0]), zero, zero.astype(int)
    )


@pytest.fixture
def samples():
    rng = np.random.default_rng(3)
    theta = np.sort(np.concatenate([rng.uniform(-1, 0.2, 300), rng.uniform(0.5, 1.0, 98)]))
    theta = np.concatenate([theta, theta[-2:]])  # equal times too
    theta.sort()
    return Observations(theta, rng.normal(size=400), rng.uniform(0.1, 0.3, 400))


def dense(kernel, theta, noise):
    return kernel(theta[:, None] - theta) + np.diag(noise)


def dense_log_likelihood(kernel, samples, columns=None):
    covariance = dense(kernel, samples.theta, samples.noise)
    covariance += 0.0 if columns is None else columns @ columns.T
    n = len(samples.theta)
    scale = samples.values @ np.linalg.solve(covariance, samples.values) / n
    return -0.5 * (n * np.log(scale) + np.linalg.slogdet(covariance)[1]), scale


def difference(function, at, step):
    return (function(at + step) - function(at - step)) / (2 * np.abs(step).max())


@pytest.mark.parametrize("name", ["kernel", "odd_kernel"])
def test_mean_and_variance_equal_the_dense_ones(request, name, samples):
    kernel, (theta, values, noise) = request.getfixturevalue(name), samples
    covariance = dense(kernel, theta, noise)
    at = np.concatenate([np.linspace(-1.5, 1.5, 101)[::-1], theta[::50]])
    across = kernel(at[:, None] - theta)
    solved = np.linalg.solve(covariance, values)
    process = ConditionedProcess.on(kernel, theta, noise, values)
    assert process.alpha == pytest.approx(solved, abs=1e-8)
    assert process.mean(at) == pytest.approx(across @ solved, abs=1e-8)
    known = np.einsum("ij,ji->i", across, np.linalg.solve(covariance, across.T))
    assert process.variance(at) == pytest.approx(kernel.variance - known, abs=1e-8)


def test_mean_and_variance_of_some_terms_equal_the_dense_ones(kernel, samples):
    theta, values, noise = samples
    covariance, at = dense(kernel, theta, noise), np.linspace(-1.2, 1.2, 50)
    process = ConditionedProcess.on(kernel, theta, noise, values)
    own = kernel.component == 0
    part = kernel.select(own)
    across = part(at[:, None] - theta)
    assert process.mean(at, own) == pytest.approx(across @ process.alpha, abs=1e-8)
    known = np.einsum("ij,ji->i", across, np.linalg.solve(covariance, across.T))
    assert process.variance(at, own) == pytest.approx(part.variance - known, abs=1e-8)
    total = process.mean(at, own) + process.mean(at, ~own)
    assert total == pytest.approx(process.mean(at), abs=1e-10)


def test_likelihood_mean_and_variance_equal_those_of_celerite2(kernel, samples):
    theta, values, noise = samples
    parts = [
        celerite_terms.SHOTerm(S0=s / (w * q), w0=w, Q=q)
        for w, q, s in ((20.0, 0.3, 1.5), (60.0, 4.0, 0.7))
    ]
    parts.append(celerite_terms.ComplexTerm(a=0.4, b=0.0, c=3.0, d=200.0))
    process = celerite2.GaussianProcess(sum(parts[1:], parts[0]), mean=0.0)
    process.compute(theta, diag=noise)
    products, log_determinant = normal_equations(kernel, theta, noise, values[:, None])
    ours = -0.5 * (products[0, 0] + log_determinant + 400 * np.log(2 * np.pi))
    assert ours == pytest.approx(process.log_likelihood(values), abs=1e-8)
    at = np.linspace(-1.2, 1.2, 40)
    mean, variance = process.predict(values, at, return_var=True)
    given = ConditionedProcess.on(kernel, theta, noise, values)
    assert given.mean(at) == pytest.approx(mean, abs=1e-8)
    assert given.variance(at) == pytest.approx(variance, abs=1e-8)


@pytest.mark.parametrize("name", ["kernel", "odd_kernel"])
@pytest.mark.parametrize("with_lines", [True, False])
def test_the_likelihood_equals_the_dense_one_at_the_best_scale(request, name, with_lines, samples):
    kernel = request.getfixturevalue(name)
    lines = np.array([9.0, 70.0, 71.0]) / np.pi, np.array([0.3, 5.0, 90.0])
    columns = lines_of_powers(samples.theta, *lines) if with_lines else None
    for one in (kernel, Kernel.zero()):
        value, scale = samples.log_likelihood(one, columns)
        expected, best = dense_log_likelihood(one, samples, columns)
        assert scale == pytest.approx(best, rel=1e-8)
        assert value == pytest.approx(expected, abs=1e-6)


def test_normal_equations_equal_the_dense_ones(kernel, samples):
    theta, values, noise = samples
    columns = np.column_stack([values, np.ones(400), theta, theta**2])
    products, log_determinant = normal_equations(kernel, theta, noise, columns)
    covariance = dense(kernel, theta, noise)
    assert products == pytest.approx(columns.T @ np.linalg.solve(covariance, columns), rel=1e-8)
    assert log_determinant == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-8)
    value = marginal_log_likelihood(products, log_determinant, 400)
    expected, _ = dense_log_likelihood(kernel, samples, columns[:, 1:])
    assert value == pytest.approx(expected, abs=1e-8)


def test_samples_left_out_equal_the_dense_ones(kernel, samples):
    theta, values, noise = samples
    covariance = dense(kernel, theta, noise)
    distance, variance = ConditionedProcess.on(kernel, theta, noise, values).leave_one_out()
    for i in (0, 17, 399):
        rest = np.arange(400) != i
        known = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
        assert distance[i] == pytest.approx(values[i] - known @ values[rest], abs=1e-8)
        expected = covariance[i, i] - known @ covariance[rest, i]
        assert variance[i] == pytest.approx(expected, abs=1e-8)


def test_a_wave_in_quadrature_is_the_sine_of_its_cosine(samples):
    theta, values, noise = samples
    process = ConditionedProcess.on(damped_wave(0.4, 3.0, 40.0), theta, noise, values)
    at = np.linspace(-1.2, 1.2, 50)
    far = at[:, None] - theta
    expected = (0.4 * np.exp(-3.0 * np.abs(far)) * np.sin(40.0 * far)) @ process.alpha
    quarter = process.cross_product(at, process.alpha[:, None], quadrature=True)[:, 0]
    assert quarter == pytest.approx(expected, abs=1e-8)


def test_what_is_no_covariance_has_no_likelihood(samples):
    likelihood, wrong = MarginalLikelihood(*samples), damped_wave(-5.0, 3.0, 10.0)
    assert likelihood.value(wrong) == (-np.inf, 1.0)
    assert likelihood.gradient(wrong)[0] == -np.inf
    assert np.isinf(normal_equations(wrong, *samples[::2], samples.values[:, None])[0]).all()


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("name", ["kernel", "odd_kernel"])
def test_one_pass_leaves_the_states_of_the_whole_matrix(request, name, even):
    kernel = request.getfixturevalue(name)
    rng, rows = np.random.default_rng(0), np.array([1, 30, 79])
    theta = np.linspace(-1, 1, 80) if even else np.sort(rng.uniform(-1, 1, 80))
    noise, y = rng.uniform(0.1, 0.3, 80), rng.normal(size=(80, 2))
    whole = dense(kernel, theta, noise)
    rates, (_, v) = kernel.per_column(kernel.c), kernel.generators(theta)

    def expected(row):
        some = slice(0, row + 1)
        inverse = np.linalg.inv(whole[some, some])
        near = np.exp(-np.abs(theta[some, None] - theta[row]) * rates) * v[some]
        return near.T @ inverse @ y[some], near.T @ inverse @ near, y[some].T @ inverse @ y[some]

    state = FilteredState.after(rows, kernel, theta, noise, y)
    for i, row in enumerate(rows):
        values, information, products = expected(row)
        assert state.values[i] == pytest.approx(values, rel=1e-7, abs=1e-9)
        assert state.information[i] == pytest.approx(information, rel=1e-7, abs=1e-9)
    assert state.products == pytest.approx(products, rel=1e-7)


@pytest.fixture
def few_samples():
    rng = np.random.default_rng(3)
    theta = np.sort(np.append(rng.uniform(-1, 1, 149), 0.3))
    theta[40] = theta[41]  # equal times too
    return Observations(theta, rng.normal(size=150), rng.uniform(0.1, 0.3, 150))


@pytest.mark.parametrize("lines", [0, 2])
@pytest.mark.parametrize("name", ["kernel", "odd_kernel"])
def test_the_gradient_along_coefficients_is_the_dense_one(request, name, few_samples, lines):
    kernel = request.getfixturevalue(name)
    modes = 70.0 * np.arange(1, lines + 1) / np.pi
    columns = lines_of_powers(few_samples.theta, modes, np.full(lines, 2.0)) if lines else None
    value, gradient = MarginalLikelihood(*few_samples, columns).gradient(kernel)
    expected, _ = dense_log_likelihood(kernel, few_samples, columns)
    assert value == pytest.approx(expected, abs=1e-8)
    for name, found in zip("abcd", gradient, strict=True):
        numbers = getattr(kernel, name)
        for i in range(len(numbers)):
            if kernel.d[i] == 0.0 and name in "bd":
                continue  # a plain exponential has neither

            def function(x, name=name):
                return dense_log_likelihood(replace(kernel, **{name: x}), few_samples, columns)[0]

            step = 1e-5 * max(1.0, abs(numbers[i])) * (np.arange(len(numbers)) == i)
            expected = difference(function, numbers, step)
            assert found[i] == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, 150])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("quality", [0.05, 0.3, 0.6, 20.0])
def test_the_gradient_along_oscillators_is_the_dense_one(few_samples, quality, count, n):
    few_samples = few_samples.select(np.arange(n))
    logs = np.log([30.0, quality, 2.0, 90.0, 1.5, 0.7, 9.0, 0.4, 1.3, 50.0, 3.0, 0.2])
    logs = logs[: 3 * count]
    _, gradient = MarginalLikelihood(*few_samples).gradient(sho_of_logarithms(logs))
    expected = [
        difference(lambda x: dense_log_likelihood(sho_of_logarithms(x), few_samples)[0], logs, step)
        for step in 1e-5 * np.eye(3 * count)
    ]
    assert sho_pullback(logs, gradient) == pytest.approx(np.array(expected), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("phase_diffusion", [True, False])
def test_the_gradient_along_a_family_is_the_dense_one(few_samples, phase_diffusion):
    family = QuasiPeriodic(np.array([1, 3]), np.array([3.0, 1.0]), 12.0, phase_diffusion)
    at = np.array([np.log(2.0), np.log(0.8), 0.1])
    kernel = family.kernel(at)
    _, gradient = MarginalLikelihood(*few_samples).gradient(kernel)
    expected = [
        difference(lambda x: dense_log_likelihood(family.kernel(x), few_samples)[0], at, step)
        for step in 1e-5 * np.eye(3)
    ]
    assert family.pullback(kernel, gradient) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kind", ["even", "gaps", "slowly changing"])
def test_steps_that_are_equal_are_taken_together(kernel, kind):
    i, rng = np.arange(300.0), np.random.default_rng(1)
    theta = {"even": i, "gaps": i + 7 * (i // 41), "slowly changing": i + 4e-10 * i**2}[kind]
    samples = Observations(theta / 200.0 - 1.0, rng.normal(size=300), np.ones(300))
    which, lengths = _steps(theta)
    assert np.diff(theta) == pytest.approx(lengths[which][1:], rel=1.1 * EVEN)
    assert len(lengths) == {"even": 2, "gaps": 16, "slowly changing": 300}[kind]
    value, _ = samples.log_likelihood(kernel)
    assert value == pytest.approx(dense_log_likelihood(kernel, samples)[0], abs=1e-8)
