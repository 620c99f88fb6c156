"""Shrinkage of harmonics and the test for harmonics in phase."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.stats import norm

from robustfourier.mixture.components.harmonic_evidence import (
    POWERS,
    RATES,
    SCALES,
    SIZES,
    _templates,
)
from robustfourier.mixture.components.links import Link, _best_shift, phase_lock
from robustfourier.mixture.components.waveform import InPhase, prior_precision, shrinkage
from robustfourier.mixture.components.waveform_prior import likely_harmonics
from robustfourier.periodic.harmonic_families import Families

ORDER = np.arange(1, 31)


def chebyshev_coefficients(link, highest=30):
    """λ_n of g(cos x) by a fine sum."""
    x = 2 * np.pi * np.arange(4096) / 4096
    return np.array([2 * np.mean(link(np.cos(x)) * np.cos(n * x)) for n in range(1, highest + 1)])


def noisy_family(link, shift, sigma, seed):
    rng = np.random.default_rng(seed)
    wave = chebyshev_coefficients(link) * np.exp(1j * ORDER * shift)
    return wave, wave + sigma * (rng.normal(size=30) + 1j * rng.normal(size=30))


def slow_shrinkage(order, squares, variance, parts):
    """The same average by loops over the grid, with densities of normal variables."""
    total, factor = 0.0, np.zeros(len(order))
    for s in POWERS:
        for r in RATES:
            weight, kept = 1.0, np.zeros(len(order))
            for parity in (0, 1):
                same = np.flatnonzero(order % 2 == parity)
                if not len(same):
                    continue
                shape = order[same] ** (-2.0 * s) * np.exp(-2.0 * r * order[same])
                prior = shape / shape.max() * variance[same].min()
                mean, average = 0.0, np.zeros(len(same))
                for scale in SCALES:
                    spread = scale * prior + variance[same]
                    # `parts` equal coefficients share the sum of squares.
                    value = np.sqrt(squares[same] / parts)
                    density = norm.logpdf(value, scale=np.sqrt(spread))
                    noise = norm.logpdf(value, scale=np.sqrt(variance[same]))
                    likelihood = np.exp(parts * np.sum(density - noise))
                    mean += likelihood
                    average += likelihood * scale * prior / spread
                kept[same] = average / mean
                weight *= mean / len(SCALES)
            total += weight
            factor += weight * kept
    return factor / total, np.log(total / (len(POWERS) * len(RATES)))


@pytest.mark.parametrize("parts", [1, 2])
def test_shrinkage_equals_the_slow_average_over_the_grid(parts):
    rng = np.random.default_rng(0)
    order, variance = np.array([2, 3, 5, 6]), rng.uniform(0.5, 2.0, 4)
    squares = variance * np.array([1.0, 30.0, 12.0, 0.4])
    factor, evidence = shrinkage(order, squares, variance, parts)
    slow_factor, slow_evidence = slow_shrinkage(order, squares, variance, parts)
    assert factor == pytest.approx(slow_factor, rel=1e-10)
    assert evidence == pytest.approx(slow_evidence, rel=1e-10)


def slow_smoother(order, coefficient, variance):
    """The mixture of priors by loops, with dense matrices (one parity)."""

    def log_density(spread):
        quadratic = coefficient @ np.linalg.solve(spread, coefficient)
        return -0.5 * (np.linalg.slogdet(spread)[1] + quadratic)

    total, mean, second = 0.0, np.zeros(len(order)), np.zeros((len(order),) * 2)
    noise, templates = np.diag(variance), _templates(tuple(order))
    for s in POWERS:
        for r in RATES:
            shape = order ** (-2.0 * s) * np.exp(-2.0 * r * order)
            shape = shape / shape.max() * variance.min()
            for scale in SCALES:
                plain = scale * np.diag(shape)
                cells = [(0.5, plain)]
                for t in np.sqrt(shape) * templates:
                    weight = 0.5 / len(templates) / len(SIZES)
                    cells += [(weight, plain + size * np.outer(t, t)) for size in SIZES]
                for weight, prior in cells:
                    odds = weight * np.exp(log_density(prior + noise) - log_density(noise))
                    total += odds
                    one = prior @ np.linalg.solve(prior + noise, coefficient)
                    mean += odds * one
                    second += odds * np.outer(one, one)
    mean, second = mean / total, second / total
    evidence = np.log(total / (len(POWERS) * len(RATES) * len(SCALES)))
    return mean, second - np.outer(mean, mean), evidence


@pytest.mark.statistical
def test_the_smoother_equals_the_slow_mixture_of_dense_priors():
    order, variance = np.array([3, 5]), np.array([1.0, 1.3])
    coefficient = np.array([4.0, -2.0])
    fast, root = InPhase(order, coefficient, variance).smoothing(), np.sqrt(variance)
    mean = root * (fast.matrix @ (coefficient / root))
    slow_mean, slow_spread, slow_evidence = slow_smoother(order, coefficient, variance)
    # The dense matrices lose digits where a prior is 1e10 times the noise.
    assert mean == pytest.approx(slow_mean, rel=1e-5)
    assert root[:, None] * fast.spread * root == pytest.approx(slow_spread, abs=1e-5)
    assert fast.log_evidence == pytest.approx(slow_evidence, rel=1e-5)


def test_the_shift_is_that_of_the_least_quadrature_on_a_fine_grid():
    rng, order = np.random.default_rng(5), np.arange(1, 9)
    for _ in range(20):
        wave = rng.normal(size=8) * np.exp(1j * order * rng.uniform(0, np.pi)) / order
        wave += 0.05 * (rng.normal(size=8) + 1j * rng.normal(size=8))
        weight = rng.uniform(0.5, 2.0, 8)
        grid = np.linspace(0.0, np.pi, 20_000, endpoint=False)
        left = (wave * np.exp(-1j * np.outer(grid, order))).imag ** 2 @ weight
        off = _best_shift(order, wave, weight) - grid[np.argmin(left)]
        assert abs(np.angle(np.exp(2j * off))) < 1e-3  # half a turn turns all signs


def test_the_prior_of_a_smoother_gives_that_smoother_back():
    rng = np.random.default_rng(5)
    order, variance = np.arange(2, 9), rng.uniform(0.5, 2.0, 7)
    matrix = InPhase(order, rng.normal(size=7) * 3, variance).smoothing().matrix
    root = np.sqrt(variance)
    precision = prior_precision(matrix, variance)
    posterior = np.linalg.solve(np.diag(1 / variance) + precision, np.diag(1 / variance))
    assert posterior == pytest.approx(root[:, None] * matrix / root, abs=1e-8)


def test_pure_noise_is_shrunk_to_little_and_clear_harmonics_are_kept():
    rng = np.random.default_rng(1)
    order = np.arange(2, 12)
    noise = np.mean(
        [shrinkage(order, rng.normal(size=10) ** 2, np.ones(10), 1)[0] for _ in range(50)]
    )
    clear = shrinkage(order, 1e4 / order.astype(float) ** 2, np.ones(10), 1)[0]
    assert noise < 0.15
    assert np.all(clear > 0.95)


def test_shrinking_beats_keeping_all_and_cutting_at_the_significant():
    losses = {"shrunk": [], "all": [], "cut": []}
    for seed in range(20):
        wave, seen = noisy_family(lambda x: np.tanh(10 * x), 0.3, 0.006, seed)
        lock = phase_lock(ORDER, seen, np.full(30, 0.006**2), np.abs(seen) > 0.02)
        along = (seen * np.exp(-1j * ORDER * lock.phase)).real
        along[1:] = lock.smoothing.matrix @ along[1:]
        shrunk = along * np.exp(1j * ORDER * lock.phase)
        losses["shrunk"].append(np.sum(np.abs(shrunk - wave) ** 2))
        losses["all"].append(np.sum(np.abs(seen - wave) ** 2))
        losses["cut"].append(np.sum(np.abs(np.where(np.abs(seen) > 0.02, seen, 0) - wave) ** 2))
    median = {name: np.median(values) for name, values in losses.items()}
    assert median["shrunk"] < 0.6 * median["cut"]
    assert median["shrunk"] < 0.4 * median["all"]


@pytest.mark.parametrize("shift", [0.0, 0.7, -2.9, 3.1])
@pytest.mark.parametrize(
    "link",
    [lambda x: np.tanh(10 * x), lambda x: np.maximum(x, 0), lambda x: x**3],
    ids=["tanh", "relu", "cube"],
)
def test_a_function_of_one_cosine_is_in_phase_at_its_shift(link, shift):
    _, seen = noisy_family(link, shift, 1e-3, 0)
    lock = phase_lock(ORDER, seen, np.full(30, 1e-6), np.abs(seen) > 0.01)
    assert lock.accepted
    assert np.angle(np.exp(1j * (lock.phase - shift))) == pytest.approx(0.0, abs=0.01)


def test_a_sawtooth_which_is_no_function_of_a_cosine_with_many_phases_is_refused():
    rng = np.random.default_rng(4)
    wave = np.exp(1j * rng.uniform(-np.pi, np.pi, 30)) / ORDER
    lock = phase_lock(ORDER, wave, np.full(30, 1e-4), np.abs(wave) > 0.03)
    assert not lock.accepted
    assert lock.p_value < 1e-6


def test_harmonics_in_phase_are_rarely_refused():
    refused = 0
    for seed in range(40):
        _, seen = noisy_family(lambda x: np.maximum(x, 0), 0.5, 0.01, seed)
        clear = np.isin(ORDER, [1, 2, 4])
        refused += not phase_lock(ORDER, seen, np.full(30, 1e-4), clear).accepted
    assert refused <= 6


def test_turning_the_family_turns_the_shift_and_nothing_else():
    _, seen = noisy_family(lambda x: np.tanh(10 * x), 0.2, 0.006, 3)
    clear, variance = np.abs(seen) > 0.02, np.full(30, 0.006**2)
    one = phase_lock(ORDER, seen, variance, clear)
    other = phase_lock(ORDER, seen * np.exp(1j * ORDER * 0.9), variance, clear)
    assert other.phase == pytest.approx(one.phase + 0.9, abs=1e-6)
    assert np.allclose(one.smoothing.matrix, other.smoothing.matrix, atol=1e-5)


def test_a_link_is_its_chebyshev_series_without_its_mean():
    coefficients = np.concatenate([[0.0], chebyshev_coefficients(np.exp)])
    link = Link(coefficients, 0.0, 1.0, np.zeros((31, 1)))
    x = np.linspace(-1, 1, 101)
    mean = chebyshev.chebinterpolate(np.exp, 30)[0]
    assert link(x) == pytest.approx(np.exp(x) - mean, abs=1e-12)


def test_the_band_of_a_link_is_that_of_its_series():
    factor = np.zeros((3, 2))
    factor[1, 0], factor[2, 1] = 0.1, 0.2
    link = Link(np.array([0.0, 1.0, 0.0]), 0.0, 1.0, factor)
    _, error = link(np.array([0.0, 1.0]), return_std=True)
    assert error == pytest.approx([0.2, np.hypot(0.1, 0.2)])


def test_harmonics_that_contradict_a_common_phase_have_no_odds_for_it():
    order = np.arange(1, 5)
    wave = np.exp(1j * np.array([0.4, 2.0, 0.3, 1.9])) / order
    lock = phase_lock(order, wave, np.full(4, 1e-4), np.ones(4, bool))
    assert lock.p_value < 1e-3
    assert lock.log_odds == -np.inf
    assert not lock.accepted
    assert np.all(np.diag(lock.smoothing.matrix) > 0.9)


def test_a_line_alone_has_harmonics_where_they_are_likely_and_a_family_has_them_all():
    rng, orders = np.random.default_rng(2), np.arange(1, 7)
    harmonics = np.kron(np.eye(2, dtype=np.int64), orders[:, None])
    grouping = Families(np.array([10.3, 37.7]), harmonics, np.zeros(2, bool))
    noise = 0.01 * (rng.normal(size=(12, 1)) + 1j * rng.normal(size=(12, 1)))

    def told(heights, found):
        seen, variance = heights[:, None] + noise, np.full((12, 1), 1e-4)
        return likely_harmonics(grouping, seen, variance, found).tolist()

    clear, first = np.concatenate([1.0 / orders, 1.0 * (orders == 1)]), np.tile(orders == 1, 2)
    assert told(clear, first) == [True] * 7 + [False] * 5
    assert told(1.0 * first, first) == first.tolist()
    assert told(1.0 * first, first | (np.arange(12) == 8)) == [True] + [False] * 5 + [True] * 6
