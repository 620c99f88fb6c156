"""Blocks of the record, and what they say of a pattern that walks."""

from itertools import pairwise

import numpy as np
import pytest

from robustfourier.mixture.blocks import _add_blocks, blocks_of, walk_error
from robustfourier.mixture.timeseries import Series, Settings


def weighted_series(n=500):
    rng = np.random.default_rng(0)
    theta = np.sort(rng.uniform(-1, 1, n))
    return Series.of(theta, rng.normal(size=(n, 1)), rng.uniform(0.5, 1.5, n), Settings())


def test_blocks_share_the_weight_and_cover_all_rows():
    series = weighted_series()
    rows = blocks_of(series, 50.0)
    held = [series.weights[a:b].sum() for a, b in pairwise(rows)]
    assert (rows[0], rows[-1], len(held)) == (0, 500, 30)
    assert np.max(np.abs(np.array(held) - series.total / 30)) <= series.weights.max()


def test_a_pattern_of_three_cycles_has_no_blocks():
    assert blocks_of(weighted_series(), 3.9) is None


def test_blocks_are_added_up_as_their_rows_are():
    rng, series = np.random.default_rng(1), weighted_series()
    change, left = rng.normal(size=(2, 500, 2))
    rows = blocks_of(series, 7.0)
    sums = np.zeros((4, 7))
    _add_blocks(change, left, series.weights, series.theta, rows, *sums)
    w, w_theta = series.weights, series.weights * series.theta
    squares, products = (w[:, None] * change * other for other in (change, left))
    for plain, fast in zip((squares, products, w, w_theta), sums, strict=True):
        slow = [plain[a:b].sum() for a, b in pairwise(rows)]
        np.testing.assert_allclose(fast, slow, rtol=1e-12)


@pytest.mark.parametrize("rate", [1.0, 3.0, 10.0])
def test_nine_tenths_of_walks_are_within_their_errors_if_their_rate_is_known_as_badly(rate):
    # The end of a walk, and its rate from as many forgettings as the record holds.
    rng, count = np.random.default_rng(2), max(2.0 * rate, 2.0)
    told = rate * rng.chisquare(count, 20_000) / count
    off = np.sqrt(rate) / np.pi * rng.normal(size=20_000)
    ratio = walk_error(rate) / (np.sqrt(rate) / np.pi)
    inside = np.abs(off) <= 1.6449 * ratio * np.sqrt(told) / np.pi
    assert np.mean(inside) == pytest.approx(0.9, abs=0.01)
