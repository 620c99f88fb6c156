"""What samples tell of a process after them, against the whole covariance matrix."""

import numpy as np
import pytest

from robustfourier.mixture.process import Waves, oscillator
from robustfourier.mixture.told import Told


@pytest.mark.parametrize("even", [True, False])
def test_one_pass_tells_what_the_whole_matrix_does(even):
    rng, rows = np.random.default_rng(0), np.array([1, 30, 79])
    theta = np.linspace(-1, 1, 80) if even else np.sort(rng.uniform(-1, 1, 80))
    waves = Waves.joined([oscillator(3.0, 0.3, 4.0), oscillator(40.0, 5.0, 1.0)])
    noise, y = rng.uniform(0.1, 0.3, 80), rng.normal(size=(80, 2))
    whole = waves(theta[:, None] - theta) + np.diag(noise)
    c, _, u, v = waves.matrices(theta, noise)

    def expected(at, some, side):
        divided = np.linalg.inv(whole[some, some])
        near = np.exp(-np.abs(theta[some, None] - theta[at]) * c) * side[some]
        return near.T @ divided @ y[some], near.T @ divided @ near, y[some].T @ divided @ y[some]

    told = Told.after(rows, waves, theta, noise, y)
    for i, row in enumerate(rows):
        values, known, gram = expected(row, slice(0, row + 1), v)
        assert told.values[i] == pytest.approx(values, rel=1e-7, abs=1e-9)
        assert told.known[i] == pytest.approx(known, rel=1e-7, abs=1e-9)
    assert told.gram == pytest.approx(gram, rel=1e-7)
    ends = Told.from_ends(waves, theta, noise, y)
    for i, (row, side) in enumerate(((0, u), (79, v))):
        values, known, gram = expected(row, slice(0, 80), side)
        assert ends.values[i] == pytest.approx(values, rel=1e-7, abs=1e-9)
        assert ends.known[i] == pytest.approx(known, rel=1e-7, abs=1e-9)
    assert ends.gram == pytest.approx(gram, rel=1e-7)
