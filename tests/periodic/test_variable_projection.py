"""Joint refinement reaches the least-squares answer, keeps ties exact and knows its errors."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import least_squares

from robustfourier.periodic import variable_projection
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.gram_matrices import SpectralMoments, direct_moments
from robustfourier.periodic.uncertainty import amplitude_errors, phase_errors
from robustfourier.periodic.variable_projection import Problem, linear_fit, reduced_normal, refine


def dense_reference(theta, y, weights, bases, harmonics):
    """Nonlinear least squares on all parameters at once, dense; slow and obvious."""
    n_bases, n_lines = len(bases), len(harmonics)

    def model(parameters):
        phase = np.pi * np.outer(theta, harmonics @ parameters[:n_bases])
        level, cosine, sine = np.split(parameters[n_bases:], [1, 1 + n_lines])
        return level + np.cos(phase) @ cosine + np.sin(phase) @ sine

    def residual(parameters):
        return np.sqrt(weights) * (y[:, 0] - model(parameters))

    phase = np.pi * np.outer(theta, harmonics @ bases)
    design = np.column_stack([np.ones(len(theta)), np.cos(phase), np.sin(phase)])
    root = np.sqrt(weights)[:, None]
    start = np.linalg.lstsq(root * design, (root * y)[:, 0], rcond=None)[0]
    found = least_squares(residual, np.concatenate([bases, start]), xtol=1e-15, ftol=1e-15)
    jacobian = found.jac
    dof = weights.sum() - len(found.x)
    covariance = np.linalg.inv(jacobian.T @ jacobian) * (2 * found.cost / dof)
    return found.x, covariance


def noisy(seed=0, n=300):
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(-1, 1, n))
    y = np.cos(np.pi * 5.3 * theta - 1) + 0.5 * np.cos(np.pi * 10.6 * theta) + 0.3
    weights = rng.integers(1, 4, n).astype(float)
    return theta, (y + 0.4 * rng.normal(size=n))[:, None], weights


@pytest.mark.parametrize(
    "harmonics", [np.eye(2, dtype=int), np.array([[1], [2]])], ids=["free", "family"]
)
def test_it_agrees_with_dense_nonlinear_least_squares(harmonics):
    theta, y, weights = noisy()
    bases = np.array([5.2, 10.7])[: harmonics.shape[1]]
    found = refine(theta, y, weights, bases, harmonics)
    expected, covariance = dense_reference(theta, y, weights, bases, harmonics)
    coefficients = np.concatenate([found.trend, found.lines.cosine, found.lines.sine])[:, 0]
    np.testing.assert_allclose(found.bases, expected[: len(bases)], atol=1e-7)
    np.testing.assert_allclose(coefficients, expected[len(bases) :], atol=1e-6)
    np.testing.assert_allclose(found.covariance.joint(), covariance, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize(
    "ties", [np.eye(3, dtype=int), np.array([[1, 0], [2, 0], [1, 1]])], ids=["free", "tied"]
)
@pytest.mark.parametrize("most_columns", [0, 60], ids=["whole matrices", "compiled"])
@pytest.mark.parametrize("precision", [None, np.linspace(0.5, 400.0, 8)], ids=["free", "ridge"])
def test_the_hessian_is_the_change_of_the_gradient(ties, precision, most_columns, monkeypatch):
    monkeypatch.setattr(variable_projection, "MOST_COLUMNS", most_columns)
    theta, y, weights = noisy()
    trend = np.column_stack([np.ones(300), theta])
    bases = np.array([5.2, 10.7, 31.0])[: ties.shape[1]]

    def at(y, bases):
        moments_at = partial(direct_moments, theta, y, weights, trend)
        free = np.ones(len(bases), bool)
        problem = Problem(moments_at, ties, free, weights @ y**2, 2, precision)
        fit = linear_fit(problem, bases)
        gauss, _, _ = reduced_normal(fit, ties, False)
        newton, _, gradient = reduced_normal(fit, ties, True)
        return gauss, newton, gradient, fit.rss

    def slope(bases):
        _, _, gradient, rss = at(y, bases)
        return -gradient * rss

    gauss, newton, _, rss = at(y, bases)
    step = 1e-5 * np.eye(len(bases))
    change = np.stack([slope(bases + d) - slope(bases - d) for d in step], axis=1) / 2e-5
    np.testing.assert_allclose(newton * rss, change, rtol=1e-4, atol=1e-3)
    assert np.abs(newton - gauss).max() > 0.01 * np.abs(gauss).max()
    both, other = at(np.hstack([y, y[::-1]]), bases)[1], at(y[::-1], bases)[1]
    np.testing.assert_allclose(both, newton + other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_few_steps_are_enough_also_for_weak_lines_close_to_strong_ones(seed):
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(-1, 1, 2000))
    # Two tones that count as one, and a line for what that leaves over.
    pure = np.cos(np.pi * 40.0 * theta) + 0.7 * np.cos(np.pi * 40.4 * theta - 1)
    y = (pure + rng.normal(size=2000))[:, None]
    found = refine(theta, y, np.ones(2000), np.array([40.1, 41.9]))
    assert found.converged
    assert found.iterations <= 12


def test_ties_are_exact():
    theta, y, weights = noisy()
    harmonics = np.array([[1, 0], [2, 0], [0, 1], [1, 1]])
    found = refine(theta, y, weights, np.array([5.25, 31.0]), harmonics)
    np.testing.assert_array_equal(found.lines.mode, harmonics @ found.bases)


def test_fixed_bases_stay_where_they_are():
    theta, y, weights = noisy()
    fixed = np.array([True, False])
    found = refine(theta, y, weights, np.array([5.2, 10.7]), fixed=fixed)
    assert found.bases[0] == 5.2
    assert found.mode_error[0] == 0
    assert found.bases[1] != 10.7
    assert found.mode_error[1] > 0


def test_without_noise_the_answer_is_exact():
    theta = np.sort(np.random.default_rng(0).uniform(-1, 1, 500))
    truth = Lines(np.array([7.31, 40.02]), np.array([[1.0], [0.2]]), np.array([[0.5], [-0.1]]))
    found = refine(theta, 3.0 + truth.evaluate(theta), np.ones(500), np.array([7.1, 40.3]))
    np.testing.assert_allclose(found.bases, truth.mode, atol=1e-10)
    np.testing.assert_allclose(found.lines.cosine, truth.cosine, atol=1e-9)
    np.testing.assert_allclose(found.trend, 3.0, atol=1e-9)
    assert found.converged


def test_refining_on_sums_gives_the_same_lines():
    theta, y, weights = noisy()
    sums = SpectralMoments.of(theta, y, weights, np.ones((300, 1)), 20.0)
    slow = refine(theta, y, weights, np.array([5.2, 10.7]))
    fast = refine(theta, y, weights, np.array([5.2, 10.7]), moments_at=sums)
    np.testing.assert_allclose(fast.bases, slow.bases, atol=1e-9)
    np.testing.assert_allclose(
        fast.covariance.joint(), slow.covariance.joint(), rtol=1e-6, atol=1e-12
    )


def test_outputs_share_modes_and_rescaling_one_changes_nothing():
    rng = np.random.default_rng(5)
    theta = np.sort(rng.uniform(-1, 1, 300))
    shapes = np.cos(np.pi * 8.4 * theta)[:, None] * [1.0, 2.0]
    y = shapes + rng.normal(size=(300, 2)) * [0.3, 1.0]
    one = refine(theta, y, np.ones(300), np.array([8.2]))
    other = refine(theta, y * [1.0, 1000.0], np.ones(300), np.array([8.2]))
    np.testing.assert_allclose(one.bases, other.bases, atol=1e-8)
    np.testing.assert_allclose(one.mode_error, other.mode_error, rtol=1e-5)
    np.testing.assert_allclose(one.lines.cosine * [1, 1000], other.lines.cosine, rtol=1e-6)


def test_standard_errors_are_the_scatter_over_noise():
    rng = np.random.default_rng(6)
    theta = np.sort(rng.uniform(-1, 1, 200))
    pure = np.cos(np.pi * 5.3 * theta - 1)[:, None] * [1.0, 0.5]
    found = [
        refine(theta, pure + 0.3 * rng.normal(size=(200, 2)), np.ones(200), np.array([5.2]))
        for _ in range(200)
    ]
    scatter = np.std([f.bases[0] for f in found])
    assert np.mean([f.mode_error[0] for f in found]) == pytest.approx(scatter, rel=0.2)
    for name, errors in (("amplitude", amplitude_errors), ("phase", phase_errors)):
        scatter = np.std([getattr(f.lines, name)[0] for f in found], axis=0)
        claimed = np.mean([errors(f.lines, f.factor, 1)[0] for f in found], axis=0)
        np.testing.assert_allclose(claimed, scatter, rtol=0.2)


def test_louder_noise_at_a_line_widens_its_errors_alone():
    theta, y, weights = noisy()
    plain = refine(theta, y, weights, np.array([5.2, 10.7]))
    loud = refine(theta, y, weights, np.array([5.2, 10.7]), relative_psd=np.array([4.0, 1.0]))
    ratio = loud.mode_error / plain.mode_error
    assert ratio[0] == pytest.approx(2.0, rel=0.05)
    assert ratio[1] == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("bases", [[6.0, 6.0], [10.0, 3.0]], ids=["twice the same", "Nyquist"])
def test_singular_designs_are_survived(bases):
    theta = np.linspace(-1, 1, 21)
    y = np.cos(np.pi * 6 * theta)[:, None]
    found = refine(theta, y, np.ones(21), np.array(bases), fixed=np.array([True, True]))
    assert np.isfinite(found.residuals).all()
    assert np.isfinite(found.covariance.joint()).all()


def test_no_lines_leave_the_trend_alone():
    theta = np.linspace(-1, 1, 11)
    found = refine(theta, np.full((11, 1), 2.5), np.ones(11), np.zeros(0))
    np.testing.assert_allclose(found.trend, 2.5)
    assert len(found.lines) == 0
    assert found.mode_error.shape == (0,)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_lines", [3, 30])
def test_many_lines_on_many_samples_are_evaluated_alike(n_lines, n_outputs):
    rng = np.random.default_rng(7)
    theta = rng.uniform(-1.5, 1.5, 20_000)
    shape = n_lines, n_outputs
    lines = Lines(rng.uniform(1, 500, n_lines), rng.normal(size=shape), rng.normal(size=shape))
    phase = np.pi * np.outer(theta, lines.mode)
    expected = np.cos(phase) @ lines.cosine + np.sin(phase) @ lines.sine
    np.testing.assert_allclose(lines.evaluate(theta), expected, atol=1e-9)
    np.testing.assert_allclose(lines.evaluate(theta[:500]), expected[:500], atol=1e-9)


def test_compiled_steps_are_those_of_whole_matrices(monkeypatch):
    rng = np.random.default_rng(3)
    theta = np.sort(rng.uniform(-1, 1, 500))
    weights, trend = rng.uniform(0.5, 2, 500), np.column_stack([np.ones(500), theta])
    modes = np.array([5.2, 11.4, 30.3])
    clean = np.cos(np.pi * np.outer(theta, modes)) @ rng.normal(size=(3, 2))
    y = clean + 0.3 * rng.normal(size=(500, 2))
    for bases, harmonics in ((modes + 0.1, None), (np.array([5.3]), np.array([[1], [2]]))):
        few = refine(theta, y, weights, bases, harmonics, trend=trend)
        monkeypatch.setattr(variable_projection, "MOST_COLUMNS", 0)
        whole = refine(theta, y, weights, bases, harmonics, trend=trend)
        monkeypatch.undo()
        assert few.iterations == whole.iterations
        np.testing.assert_allclose(few.bases, whole.bases, atol=1e-11)
        np.testing.assert_allclose(few.rss, whole.rss, rtol=1e-10)


def test_a_sine_that_vanishes_on_the_samples_has_no_coefficient():
    theta = np.linspace(-1, 1, 401)
    y = np.cos(np.pi * 200 * theta)[:, None] + 0.1 * np.cos(np.pi * 17.3 * theta)[:, None]
    sums = SpectralMoments.of(theta, y, np.ones(401), np.ones((401, 1)), 202.0)
    fixed = np.array([True, False])
    found = refine(theta, y, np.ones(401), np.array([200.0, 17.2]), fixed=fixed, moments_at=sums)
    assert found.lines.sine[0, 0] == 0.0
    np.testing.assert_allclose(found.lines.amplitude[:, 0], [1.0, 0.1], atol=1e-9)


def with_prior_rows(theta, y, weights, bases, harmonics, precision):
    """Nonlinear least squares with one row more for each coefficient: the prior as data."""

    def residual(parameters):
        phase = np.pi * np.outer(theta, harmonics @ parameters[: len(bases)])
        design = np.column_stack([np.ones(len(theta)), np.cos(phase), np.sin(phase)])
        coefficients = parameters[len(bases) :]
        misfit = np.sqrt(weights) * (y[:, 0] - design @ coefficients)
        return np.concatenate([misfit, np.sqrt(precision) * coefficients])

    start = np.concatenate([bases, np.zeros(len(precision))])
    start[len(bases) + 1 :] = 0.3
    return least_squares(residual, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)


@pytest.mark.parametrize("harmonics", [np.eye(2, dtype=int), np.array([[1], [2]])])
@pytest.mark.parametrize("most_columns", [0, 60], ids=["whole matrices", "compiled"])
def test_a_prior_precision_is_rows_of_data(harmonics, most_columns, monkeypatch):
    monkeypatch.setattr(variable_projection, "MOST_COLUMNS", most_columns)
    theta, y, weights = noisy()
    bases = np.array([5.2, 10.7])[: harmonics.shape[1]]
    precision = np.array([0.0, 10.0, 300.0, 10.0, 300.0])
    found = refine(theta, y, weights, bases, harmonics, precision=precision)
    expected = with_prior_rows(theta, y, weights, bases, harmonics, precision)
    coefficients = np.concatenate([found.trend, found.lines.cosine, found.lines.sine])[:, 0]
    np.testing.assert_allclose(found.bases, expected.x[: len(bases)], atol=1e-6)
    np.testing.assert_allclose(coefficients, expected.x[len(bases) :], atol=1e-5)
    assert found.rss[0] == pytest.approx(2.0 * expected.cost, rel=1e-9)
    covariance = np.linalg.inv(expected.jac.T @ expected.jac) * found.noise_variance[0]
    np.testing.assert_allclose(found.covariance.joint(), covariance, rtol=1e-3, atol=1e-7)


def test_a_strong_prior_leaves_no_coefficient_and_a_weak_one_changes_nothing():
    theta, y, weights = noisy()
    bases = np.array([5.2, 10.7])
    free = refine(theta, y, weights, bases)
    for size, amplitude in ((1e-9, free.lines.amplitude), (1e12, np.zeros((2, 1)))):
        precision = np.array([0.0, *np.full(4, size)])
        found = refine(theta, y, weights, bases, precision=precision, fixed=np.ones(2, bool))
        loose = refine(theta, y, weights, bases, fixed=np.ones(2, bool))
        expected = loose.lines.amplitude if size < 1 else amplitude
        np.testing.assert_allclose(found.lines.amplitude, expected, atol=1e-8)
