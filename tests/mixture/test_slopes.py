"""Likelihoods with slopes against finite differences of the dense twin; starts by the spectrum."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from robustfourier.mixture.abreast import each_summed
from robustfourier.mixture.climbing import climb
from robustfourier.mixture.process import Waves, log_likelihood, oscillator
from robustfourier.mixture.remainder import OscillatorSearch, oscillators_of
from robustfourier.mixture.slopes import Likelihood, along_oscillators
from robustfourier.mixture.spectrum import Spectrum


def dense(waves, theta, values, noise, still=None):
    covariance = waves(theta[:, None] - theta) + np.diag(noise)
    covariance += 0.0 if still is None else still(theta[:, None] - theta)
    factor = values @ np.linalg.solve(covariance, values) / len(theta)
    return -0.5 * (len(theta) * np.log(factor) + np.linalg.slogdet(covariance)[1])


def rise(height, at, step):
    return (height(at + step) - height(at - step)) / (2 * np.abs(step).max())


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(3)
    theta = np.sort(np.append(rng.uniform(-1, 1, 149), 0.3))
    theta[40] = theta[41]  # equal times too
    return theta, rng.normal(size=150), rng.uniform(0.1, 0.3, 150)


@pytest.mark.parametrize("lines", [0, 2])
def test_slopes_are_those_of_the_dense_twin(samples, lines):
    zero = np.zeros(lines)
    still = Waves(np.full(lines, 2.0), zero, zero, 70.0 * np.arange(1, lines + 1), zero.astype(int))
    samples = (*samples, still)
    living = Waves(*np.array([[0.4], [0.0], [3.0], [200.0]]), np.zeros(1, int))
    waves = Waves.joined([oscillator(20.0, 0.3, 1.5), oscillator(60.0, 4.0, 0.7), living])
    columns = still.columns(samples[0])
    value, slopes = Likelihood(*samples[:3], columns)(waves)
    assert value == pytest.approx(dense(waves, *samples), abs=1e-8)
    for name, found in zip("abcd", slopes, strict=True):
        numbers = getattr(waves, name)
        for i in range(len(numbers)):
            if waves.d[i] == 0.0 and name in "bd":
                continue  # a plain exponential has neither
            step = 1e-5 * max(1.0, abs(numbers[i])) * (np.arange(len(numbers)) == i)
            expected = rise(
                lambda x, name=name: dense(replace(waves, **{name: x}), *samples), numbers, step
            )
            assert found[i] == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3, 4])  # loops over up to three are unrolled
@pytest.mark.parametrize("quality", [0.05, 0.3, 0.6, 20.0])
def test_slopes_along_oscillators_are_those_of_the_dense_twin(samples, quality, count):
    parameters = np.log([30.0, quality, 2.0, 90.0, 1.5, 0.7, 9.0, 0.4, 1.3, 50.0, 3.0, 0.2])
    parameters = parameters[: 3 * count]
    found = along_oscillators(parameters, Likelihood(*samples)(oscillators_of(parameters))[1])
    expected = [
        rise(lambda x: dense(oscillators_of(x), *samples), parameters, step)
        for step in 1e-5 * np.eye(3 * count)
    ]
    assert found == pytest.approx(np.array(expected), rel=1e-5, abs=1e-6)


def test_slopes_are_the_same_where_other_terms_stand_still(samples):
    parameters = np.log([30.0, 0.3, 2.0, 90.0, 1.5, 0.7, 9.0, 0.4, 1.3, 50.0, 3.0, 0.2])
    waves, likelihood = oscillators_of(parameters), Likelihood(*samples)
    value, slopes = likelihood(waves)
    for still in range(1, len(waves.a)):
        same, moving = likelihood(waves, still=still)
        assert same == value
        assert moving[:, still:] == pytest.approx(slopes[:, still:], rel=1e-9)


@pytest.mark.parametrize("kind", ["irregular", "even", "gaps"])
@pytest.mark.parametrize("quality", [0.3, 4.0])  # creeps: two terms; swings: one
@pytest.mark.parametrize("present", [Waves.none(), oscillator(20.0, 0.3, 1.5)])
def test_many_processes_abreast_are_what_each_is_alone(samples, kind, quality, present):
    theta, values, noise = samples
    if kind != "irregular":
        places = np.arange(150.0) + (0 if kind == "even" else 7 * (np.arange(150) // 41))
        theta = places / 100.0 - 1.0
    columns = np.column_stack([values, theta, theta**2])
    each = [oscillator(f, quality, 0.5) for f in np.geomspace(3.0, 300.0, 11)]
    grams, logs = each_summed(theta, noise, columns, present, Waves.joined(each), len(each))
    for one, gram, log in zip(each, grams, logs, strict=True):
        waves = Waves.joined([present, one])
        covariance = waves(theta[:, None] - theta) + np.diag(noise)
        expected = columns.T @ np.linalg.solve(covariance, columns)
        np.testing.assert_allclose(gram, expected, rtol=1e-8, atol=1e-8)
        assert log == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-7)
        value = Likelihood(theta, values, noise).value(waves)[0]
        assert value == pytest.approx(dense(waves, theta, values, noise), abs=1e-7)


def test_what_is_no_covariance_does_not_disturb_those_beside_it(samples):
    theta, values, noise = samples
    good = oscillator(20.0, 0.3, 1.0)
    both = Waves.joined([good.scaled(-9.0), good])
    grams, _ = each_summed(theta, noise, values[:, None], Waves.none(), both, 2)
    alone, _ = each_summed(theta, noise, values[:, None], Waves.none(), good, 1)
    assert np.isinf(grams[0, 0, 0])
    assert grams[1, 0, 0] == alone[0, 0, 0]


def test_no_covariance_has_no_likelihood(samples):
    waves = Waves(*np.array([[-5.0], [0.0], [3.0], [10.0]]), np.zeros(1, int))
    assert Likelihood(*samples)(waves)[0] == -np.inf


def test_a_climb_ends_at_the_top_within_its_bounds():
    bent = np.array([[3.0, 2.0], [2.0, 5.0]])
    top = np.array([1.0, -2.0])

    def hill(x):
        return -0.5 * float((x - top) @ bent @ (x - top)), -bent @ (x - top)

    free, _ = climb(hill, np.zeros(2), [(-9.0, 9.0)] * 2, np.eye(2), 1e-9)
    assert free == pytest.approx(top, abs=1e-4)
    held, _ = climb(hill, np.zeros(2), [(-9.0, 9.0), (-1.0, 9.0)], np.eye(2), 1e-9)
    assert held == pytest.approx([1.0 - 2.0 / 3.0, -1.0], abs=1e-4)


def test_densities_of_oscillators_are_those_of_their_terms():
    spectrum = Spectrum(np.linspace(-1, 1, 400), np.ones(400), np.ones(400))
    # The first creeps back in two terms, and begins to swing in the second row.
    rows = np.log([[30.0, 0.49, 2.0, 90.0, 1.5, 0.7], [30.0, 0.51, 2.0, 90.0, 1.5, 0.7]])
    expected = [spectrum.density(oscillators_of(row)) for row in rows]
    np.testing.assert_allclose(spectrum.of_oscillators(rows), expected, rtol=1e-12)


def test_the_density_is_the_sum_of_the_covariance_over_all_steps():
    spectrum = Spectrum(np.linspace(-1, 1, 400), np.ones(400), np.ones(400))
    spectrum.blur = 0.0
    waves = Waves.joined([oscillator(300.0, 2.0, 5.0), oscillator(90.0, 0.3, 2.0)])
    lags = np.arange(-4000, 4001)
    covariance = waves(lags * spectrum.step)
    for j in (0, 50, 150):
        angle = np.pi * (j + 1) / 200
        assert spectrum.density(waves)[j] == pytest.approx(covariance @ np.cos(angle * lags))


def test_slopes_and_information_of_the_spectrum_are_those_of_its_likelihood():
    theta, start = np.linspace(-1, 1, 400), np.log([90.0, 0.8, 2.0])
    spectrum = Spectrum(theta, drawn(theta, 1), np.ones(400))

    def density(parameters):
        return np.array([spectrum.density(oscillators_of(p)) for p in parameters])

    def height(parameters):
        return float(spectrum.likelihoods(density([parameters]))[0])

    value, slopes = spectrum.sloped(density, start)
    information = spectrum.information(density, start)
    assert value == pytest.approx(height(start))
    steps = 1e-3 * np.eye(3)
    assert slopes == pytest.approx([rise(height, start, step) for step in steps], rel=1e-2)
    logs = [np.log1p(density([start + step])[0]) for step in (0.0, *steps)]
    rises = np.diff(np.array(logs)[[0, 1, 0, 2, 0, 3]], axis=0)[::2] / 1e-3
    assert information == pytest.approx((len(rises[0]) - 1) * np.cov(rises), rel=1e-2)


def drawn(theta, seed):
    """White noise and a creeping oscillator."""
    rng = np.random.default_rng(seed)
    covariance = oscillator(60.0, 0.3, 4.0)(theta[:, None] - theta) + np.eye(len(theta))
    return np.linalg.cholesky(covariance) @ rng.normal(size=len(theta))


@pytest.mark.parametrize("stretches", [1, 3])
def test_the_spectrum_of_even_stretches_tells_the_likelihood(stretches):
    theta = np.linspace(-1, 1, 900)
    kept = np.concatenate([part[:200] for part in np.split(np.arange(900), 3)])
    theta = theta if stretches == 1 else theta[kept]
    values, waves = drawn(theta, 0), oscillator(60.0, 0.3, 4.0)
    spectrum = Spectrum(theta, values, np.ones(len(theta)))
    assert spectrum.fair
    told, white = spectrum.likelihoods(np.stack([spectrum.density(waves), 0 * spectrum.power]))
    told -= white
    exact = log_likelihood(waves, theta, values, np.ones(len(theta)))[0]
    exact -= log_likelihood(Waves.none(), theta, values, np.ones(len(theta)))[0]
    assert told == pytest.approx(exact, rel=0.15)


def test_irregular_samples_have_no_fair_spectrum():
    theta = np.sort(np.random.default_rng(0).uniform(-1, 1, 300))
    assert not Spectrum(theta, theta, np.ones(300)).fair


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
    spectrum = Spectrum(theta, np.sin(times), np.ones(len(times)))
    assert len(spectrum.power) == len(spectrum.cosine) > 0
    assert np.isfinite(spectrum.power).all()
    assert np.isfinite(spectrum.likelihoods(np.ones((1, len(spectrum.power))))).all()


@pytest.mark.parametrize("sampling", ["even", "irregular"])
def test_the_search_ends_as_high_as_one_by_finite_differences(sampling):
    rng = np.random.default_rng(1)
    theta = np.linspace(-1, 1, 300) if sampling == "even" else np.sort(rng.uniform(-1, 1, 300))
    search = OscillatorSearch(theta, drawn(theta, 1), np.ones(300))
    start = np.log([60.0, 0.3, 4.0])  # the truth, near which the top is
    top = minimize(lambda x: -search.gain(x), start, method="L-BFGS-B", bounds=search.bounds)
    assert search.gain(search.run()) > -top.fun - 0.01
