"""The embeddings are the paper's, entry by entry."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustfourier import memory_limits as memory
from robustfourier.errors import InputError
from robustfourier.network.embedding import (
    embed,
    embedding_layout,
    embedding_size,
    fourier_features,
)

KINDS = ("signed", "symmetrised")


def literal_signed(theta: float, m: int) -> list[float]:
    """Φ of section 5, written out."""
    phi = [1.0]
    for k in range(1, m + 1):
        phi += [math.sin(k * math.pi * theta), math.cos(k * math.pi * theta)]
    return phi + [-value for value in phi]


def literal_symmetrised(theta: float, m: int) -> list[float]:
    """φ of section 2.1, written out."""
    entries = []
    for k in range(m, 0, -1):
        entries += [-math.sin(math.pi * k * theta), -math.cos(math.pi * k * theta)]
    entries.append(1.0)
    for k in range(1, m + 1):
        entries += [math.cos(math.pi * k * theta), math.sin(math.pi * k * theta)]
    return entries


@pytest.mark.parametrize("m", [1, 2, 7])
@given(theta=st.floats(-1, 1))
def test_both_embeddings_are_the_papers_entry_by_entry(m, theta):
    np.testing.assert_allclose(embed([theta], m), literal_signed(theta, m), atol=1e-13)
    np.testing.assert_allclose(
        embed([theta], m, "symmetrised"), literal_symmetrised(theta, m), atol=1e-13
    )


def test_the_symmetrised_index_j_is_minus_the_index_minus_j():
    x = embed(np.linspace(-1, 1, 9)[:, None], 5, "symmetrised")
    middle = 10
    for j in range(1, middle + 1):
        np.testing.assert_array_equal(x[:, middle - j], -x[:, middle + j])


@pytest.mark.parametrize("kind", KINDS)
def test_times_one_period_apart_embed_identically(kind):
    theta = np.arange(-32, 32) / 32  # numbers to which 2 and 4 are added without rounding
    here = embed(theta[:, None], 50, kind)
    for shift in (2.0, -2.0, 4.0):
        np.testing.assert_array_equal(embed(theta[:, None] + shift, 50, kind), here)


def test_high_modes_keep_their_digits():
    # the mode is a power of two, so that kθ is exact and so is the phase that is left of it
    theta, mode = 0.1, 2**16
    rest = math.fmod(mode * theta, 2.0)
    features = fourier_features(theta, mode)
    assert features[-2] == pytest.approx(math.sin(math.pi * rest), abs=1e-15)
    assert features[-1] == pytest.approx(math.cos(math.pi * rest), abs=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_the_layout_rebuilds_the_embedding_from_its_features(kind):
    theta = np.random.default_rng(0).uniform(-1, 1, (6, 3))
    layout = embedding_layout(4, kind, n_columns=3)
    features = fourier_features(theta, 4).reshape(6, -1)
    np.testing.assert_array_equal(features[:, layout.feature] * layout.sign, embed(theta, 4, kind))
    assert len(layout) == embedding_size(4, kind, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_layout_names_mode_column_and_mirror_image(kind):
    theta = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    layout = embedding_layout(3, kind, n_columns=2)
    x = embed(theta, 3, kind)
    for i in range(len(layout)):
        wave = np.sin if layout.is_sine[i] else np.cos
        expected = layout.sign[i] * wave(np.pi * layout.mode[i] * theta[:, layout.column[i]])
        np.testing.assert_allclose(x[:, i], expected, atol=1e-14)
        if layout.mirror[i] >= 0:
            np.testing.assert_array_equal(x[:, layout.mirror[i]], -x[:, i])
    alone = layout.mirror == -1
    assert alone.sum() == (0 if kind == "signed" else 2)
    assert (layout.mode[alone] == 0).all()


def test_columns_are_embedded_one_by_one():
    theta = np.random.default_rng(1).uniform(-1, 1, (5, 2))
    joined = np.hstack([embed(theta[:, :1], 3), embed(theta[:, 1:], 3)])
    np.testing.assert_array_equal(embed(theta, 3), joined)


@pytest.mark.parametrize("n_modes", [0, -3, 2.5, True, "7"])
def test_an_unusable_number_of_modes_is_refused(n_modes):
    with pytest.raises(InputError, match=re.escape(f"n_modes={n_modes!r}")):
        fourier_features(0.0, n_modes)


def test_the_machine_says_how_much_memory_is_left():
    available = memory.available_bytes()
    assert available is None or 1e6 < available < 1e15
