"""Systems are solved alike by Cholesky and by eigenvalues; singular ones leave out directions."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.periodic.semidefinite import (
    Positive,
    pseudo_inverse,
    pseudo_inverse_by_eigenvalues,
    solve_positive,
)


def positive(size, smallest, seed=0):
    """A matrix with eigenvalues from `smallest` to 1, in units that differ by a thousand."""
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.normal(size=(size, size)))
    units = 10.0 ** rng.uniform(-1.5, 1.5, size)
    matrix = (vectors * np.geomspace(smallest, 1.0, size)) @ vectors.T
    return matrix * np.outer(units, units)


@pytest.mark.parametrize("size", [0, 1, 7, 60])
@pytest.mark.parametrize("smallest", [0.5, 1e-5])
def test_cholesky_and_eigenvalues_agree(size, smallest):
    matrix = positive(size, smallest)
    slow = pseudo_inverse_by_eigenvalues(matrix)
    unit = np.sqrt(np.abs(np.diag(slow)))
    fast = pseudo_inverse(matrix)
    np.testing.assert_allclose(fast / np.outer(unit, unit), slow / np.outer(unit, unit), atol=1e-9)
    right = matrix @ np.ones((size, 2))
    np.testing.assert_allclose(solve_positive(matrix, right), 1.0, atol=1e-8)
    np.testing.assert_allclose(solve_positive(matrix, right[:, 0]), 1.0, atol=1e-8)


def test_a_regular_matrix_is_factored_and_a_singular_one_is_not():
    assert Positive.of(positive(20, 1e-3)).factor is not None
    twice = np.ones((2, 2))
    assert Positive.of(twice).factor is None
    np.testing.assert_allclose(solve_positive(twice, np.array([2.0, 2.0])), [1.0, 1.0])
    nearly = np.array([[1.0, 1.0 - 1e-14], [1.0 - 1e-14, 1.0]])
    np.testing.assert_allclose(solve_positive(nearly, np.array([2.0, 2.0])), [1.0, 1.0])


def test_directions_without_data_get_zero():
    matrix = np.diag([4.0, 0.0, 1.0])
    np.testing.assert_allclose(solve_positive(matrix, np.array([2.0, 0.0, 3.0])), [0.5, 0.0, 3.0])
    np.testing.assert_allclose(pseudo_inverse(matrix), np.diag([0.25, 0.0, 1.0]))


def test_a_column_that_vanishes_does_not_need_eigenvalues():
    matrix = np.zeros((21, 21))
    kept = np.arange(21) != 4
    matrix[np.ix_(kept, kept)] = positive(20, 1e-3)
    assert Positive.of(matrix).factor is not None
    right = np.random.default_rng(0).normal(size=(21, 3))
    slow = pseudo_inverse_by_eigenvalues(matrix) @ right
    np.testing.assert_allclose(solve_positive(matrix, right), slow, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("rank", [6, 4], ids=["regular", "singular"])
def test_half_of_a_right_side_squares_to_it_over_the_matrix(rank):
    rng = np.random.default_rng(3)
    columns, right = rng.normal(size=(6, rank)), rng.normal(size=(6, 3))
    matrix = Positive.of(columns @ columns.T)
    half = matrix.half(right)
    assert (matrix.factor is not None) == (rank == 6)
    np.testing.assert_allclose(half.T @ half, right.T @ matrix.inverse() @ right, rtol=1e-9)
