"""The spectral likelihood against the exact one, and the optimisation that it starts."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from robustfourier.periodic.kernels import Kernel, sho, sho_of_logarithms
from robustfourier.periodic.noise_model import TaperedSpectrum
from robustfourier.periodic.optimise import maximise
from robustfourier.periodic.residual_process import OscillatorSearch
from robustfourier.periodic.semiseparable import Observations


def difference(function, at, step):
    return (function(at + step) - function(at - step)) / (2 * np.abs(step).max())


def test_the_optimum_is_found_within_its_bounds():
    bent = np.array([[3.0, 2.0], [2.0, 5.0]])
    top = np.array([1.0, -2.0])

    def parabola(x):
        return -0.5 * float((x - top) @ bent @ (x - top)), -bent @ (x - top)

    free, _ = maximise(parabola, np.zeros(2), [(-9.0, 9.0)] * 2, np.eye(2), 1e-9)
    assert free == pytest.approx(top, abs=1e-4)
    held, _ = maximise(parabola, np.zeros(2), [(-9.0, 9.0), (-1.0, 9.0)], np.eye(2), 1e-9)
    assert held == pytest.approx([1.0 - 2.0 / 3.0, -1.0], abs=1e-4)


def test_densities_of_oscillators_are_those_of_their_terms():
    spectrum = TaperedSpectrum(np.linspace(-1, 1, 400), np.ones(400), np.ones(400))
    # The first creeps back in two terms, and begins to swing in the second row.
    rows = np.log([[30.0, 0.49, 2.0, 90.0, 1.5, 0.7], [30.0, 0.51, 2.0, 90.0, 1.5, 0.7]])
    expected = [spectrum.density(sho_of_logarithms(row)) for row in rows]
    np.testing.assert_allclose(spectrum.sho_densities(rows), expected, rtol=1e-12)


def test_the_density_is_the_sum_of_the_covariance_over_all_steps():
    spectrum = TaperedSpectrum(np.linspace(-1, 1, 400), np.ones(400), np.ones(400))
    spectrum.blur = 0.0
    kernel = Kernel.sum([sho([[300.0, 2.0, 5.0]]), sho([[90.0, 0.3, 2.0]])])
    lags = np.arange(-4000, 4001)
    covariance = kernel(lags * spectrum.step)
    for j in (0, 50, 150):
        angle = np.pi * (j + 1) / 200
        assert spectrum.density(kernel)[j] == pytest.approx(covariance @ np.cos(angle * lags))


def test_gradient_and_information_of_the_spectrum_are_those_of_its_likelihood():
    theta, start = np.linspace(-1, 1, 400), np.log([90.0, 0.8, 2.0])
    spectrum = TaperedSpectrum(theta, drawn(theta, 1), np.ones(400))

    def density(parameters):
        return np.array([spectrum.density(sho_of_logarithms(p)) for p in parameters])

    def height(parameters):
        return float(spectrum.log_likelihoods(density([parameters]))[0])

    value, gradient = spectrum.gradient(density, start)
    information = spectrum.fisher_information(density, start)
    assert value == pytest.approx(height(start))
    steps = 1e-3 * np.eye(3)
    assert gradient == pytest.approx([difference(height, start, step) for step in steps], rel=1e-2)
    logs = [np.log1p(density([start + step])[0]) for step in (0.0, *steps)]
    rises = np.diff(np.array(logs)[[0, 1, 0, 2, 0, 3]], axis=0)[::2] / 1e-3
    assert information == pytest.approx((len(rises[0]) - 1) * np.cov(rises), rel=1e-2)


def drawn(theta, seed):
    """White noise and a creeping oscillator."""
    rng = np.random.default_rng(seed)
    covariance = sho([[60.0, 0.3, 4.0]])(theta[:, None] - theta) + np.eye(len(theta))
    return np.linalg.cholesky(covariance) @ rng.normal(size=len(theta))


@pytest.mark.parametrize("stretches", [1, 3])
def test_the_spectrum_of_even_stretches_tells_the_likelihood(stretches):
    theta = np.linspace(-1, 1, 900)
    kept = np.concatenate([part[:200] for part in np.split(np.arange(900), 3)])
    theta = theta if stretches == 1 else theta[kept]
    values, kernel = drawn(theta, 0), sho([[60.0, 0.3, 4.0]])
    spectrum = TaperedSpectrum(theta, values, np.ones(len(theta)))
    assert spectrum.is_even
    told, white = spectrum.log_likelihoods(np.stack([spectrum.density(kernel), 0 * spectrum.power]))
    told -= white
    samples = Observations(theta, values, np.ones(len(theta)))
    exact = samples.log_likelihood(kernel)[0] - samples.log_likelihood(Kernel.zero())[0]
    assert told == pytest.approx(exact, rel=0.15)


def test_irregular_samples_have_no_even_spectrum():
    theta = np.sort(np.random.default_rng(0).uniform(-1, 1, 300))
    assert not TaperedSpectrum(theta, theta, np.ones(300)).is_even


@pytest.mark.parametrize("sampling", ["even", "irregular"])
def test_the_search_ends_as_high_as_one_by_finite_differences(sampling):
    rng = np.random.default_rng(1)
    theta = np.linspace(-1, 1, 300) if sampling == "even" else np.sort(rng.uniform(-1, 1, 300))
    search = OscillatorSearch(theta, drawn(theta, 1), np.ones(300))
    start = np.log([60.0, 0.3, 4.0])  # the truth, near which the top is
    top = minimize(lambda x: -search.gain(x), start, method="L-BFGS-B", bounds=search.bounds)
    assert search.gain(search.run()) > -top.fun - 0.01


@pytest.mark.parametrize("last", [208.0, 500.0])
def test_a_lone_sample_beside_a_gap_has_no_ordinates(last):
    theta = np.append(np.arange(199.0), last) / 100.0 - 1.0
    spectrum = TaperedSpectrum(theta, drawn(theta, 2), np.ones(200))
    assert len(spectrum.power) == len(spectrum.cosine) > 90
    assert np.isfinite(spectrum.log_likelihoods(spectrum.density(sho([[60.0, 0.3, 4.0]]))[None]))


@example([199, 1], 10.0)
@example([1, 130], 1e4)
@example([1, 1, 300, 1, 2], 11.0)
@given(
    st.lists(st.sampled_from([1, 2, 3, 64, 200]), min_size=1, max_size=5).filter(
        lambda counts: sum(counts) > 2
    ),
    st.floats(1.0, 1e6),
)
def test_any_stretches_and_gaps_have_a_spectrum_of_finite_power(counts, gap):
    starts = np.cumsum([0.0, *(count - 1.0 + gap for count in counts[:-1])])
    times = np.concatenate(
        [start + np.arange(count) for start, count in zip(starts, counts, strict=True)]
    )
    theta = 2.0 * times / np.ptp(times) - 1.0
    spectrum = TaperedSpectrum(theta, np.sin(times), np.ones(len(times)))
    assert len(spectrum.power) == len(spectrum.cosine) > 0
    assert np.isfinite(spectrum.power).all()


def test_the_maximum_of_whittles_likelihood_is_where_its_gradient_is_zero_or_a_bound():
    theta = np.linspace(-1, 1, 600)
    spectrum = TaperedSpectrum(theta, drawn(theta, 3), np.ones(600))
    present, start = np.full(300, 0.1), np.log([20.0, 1.0, 1.0, 100.0, 0.3, 0.5])
    bounds = [(0.0, 8.0), (-4.0, 3.0), (-6.0, 9.0)] * 2

    def density(rows):
        return present + spectrum.sho_densities(rows)

    end, value = spectrum.maximise(present, start, bounds, 1e-9)
    told, gradient = spectrum.gradient(density, end)
    low, high = np.transpose(bounds)
    inside = (end > low) & (end < high)
    assert value == pytest.approx(told, abs=1e-9)
    assert value > spectrum.gradient(density, start)[0]
    assert np.all(np.abs(gradient[inside]) < 0.02)
    assert np.all((end >= low) & (end <= high))
