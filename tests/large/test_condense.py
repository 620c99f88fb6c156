import numpy as np
import pytest

from robustfourier.large.condense import NODES, Sums, bins_for
from robustfourier.periodic.nufft import weighted_sums

MODES = 300


@pytest.fixture(scope="module", params=["even", "clustered", "sparse"])
def rows(request):
    rng = np.random.default_rng(0)
    n = {"even": 40_000, "clustered": 40_000, "sparse": 700}[request.param]
    theta = np.sort(rng.uniform(-1, 1, n))
    if request.param == "even":
        theta = np.linspace(-1, 1, n)
    if request.param == "clustered":  # many rows at few places, and a gap
        theta[:3000] = rng.choice([-0.5, -0.49999, 0.25], 3000)
        theta = np.sort(theta[(theta < 0.3) | (theta > 0.6)])
    y = np.cos(np.pi * MODES * theta) + rng.normal(size=len(theta))
    return theta, y, rng.uniform(0.5, 2.0, len(theta))


def direct_sums(theta, y, w, bins):
    """What `Sums.of` adds up, from the definition."""
    place = 0.5 * bins * (theta + 1.0)
    b = np.clip(np.floor(place).astype(np.intp), 0, bins - 1)
    x = 2.0 * (place - b) - 1.0
    basis = np.polynomial.chebyshev.chebvander(x, 2 * NODES - 1)
    weight, value = np.zeros((bins, 2 * NODES)), np.zeros((bins, NODES))
    np.add.at(weight, b, w[:, None] * basis)
    np.add.at(value, b, (w * y)[:, None] * basis[:, :NODES])
    return Sums(0, bins, weight, value, float(w.sum()), float(w @ y**2))


def test_the_kernel_adds_up_what_the_definition_says(rows):
    bins = bins_for(MODES)
    fast, slow = Sums.of(*rows, bins), direct_sums(*rows, bins)
    at = slice(fast.first, fast.first + len(fast.weight))
    assert np.allclose(fast.weight, slow.weight[at], rtol=0, atol=1e-9)
    assert np.allclose(fast.value, slow.value[at], rtol=0, atol=1e-9)


def test_chunks_add_up_to_the_whole(rows):
    bins = bins_for(MODES)
    whole = Sums.of(*rows, bins)
    order = np.random.default_rng(1).permutation(len(rows[0]))
    chunks = np.array_split(order, 7)
    parts = [Sums.of(*(column[chunk] for column in rows), bins) for chunk in chunks]
    total = sum(parts[1:], parts[0])
    assert np.allclose(total.weight, whole.weight, rtol=0, atol=1e-9)
    assert np.isclose(total.squares, whole.squares)


def test_nodes_have_the_fourier_sums_of_the_rows(rows):
    theta, y, w = rows
    nodes = Sums.of(theta, y, w, bins_for(MODES)).nodes()
    assert len(nodes.theta) <= min(NODES * bins_for(MODES), len(theta))
    assert (nodes.weights > 0).all()

    def apart(columns, theirs, count):
        ours = weighted_sums(theta, columns[:, None], count)
        return np.abs(ours - weighted_sums(nodes.theta, theirs[:, None], count)).ravel()

    assert apart(w, nodes.weights, 2 * MODES).max() < 1e-5 * w.sum()
    error = np.sqrt(0.5 * np.sum(w**2))  # of a sum, for noise of variance one
    values = apart(w * y, nodes.weights * nodes.values, MODES)
    assert values.max() < 0.01 * error
    assert values[: MODES // 2].max() < 1e-4 * error


def test_noise_at_the_nodes_is_independent_with_variances_of_one_over_the_weights():
    theta, w = np.linspace(-1, 1, 4000), np.ones(4000)
    rng, bins = np.random.default_rng(2), 20
    draws = [Sums.of(theta, rng.normal(size=4000), w, bins).nodes() for _ in range(400)]
    scaled = np.array([draw.values * np.sqrt(draw.weights) for draw in draws])
    covariance = scaled.T @ scaled / len(scaled)
    assert abs(np.trace(covariance) / len(covariance) - 1.0) < 0.03  # 120 × 400 draws: ±0.0065
    beside = np.diag(covariance, 1)
    assert abs(beside.mean()) < 0.02  # ±0.0046
