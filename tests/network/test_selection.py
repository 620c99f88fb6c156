import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.network.active_modes import mode_strengths
from robustfourier.network.architecture import Architecture
from robustfourier.network.mode_selection import Kept, evident, refitted

RNG = np.random.default_rng(5)
THETA = RNG.uniform(-1, 1, (600, 2))
NOISE = RNG.normal(size=(600, 1))
ONES = np.ones(600)


def wave(column, mode, phase=0.4):
    return np.cos(np.pi * mode * THETA[:, [column]] - phase)


def only(n_columns, n_modes, *places):
    chosen = np.zeros((n_columns, n_modes), dtype=bool)
    for place in places:
        chosen[place] = True
    return chosen


def test_the_modes_that_are_there_stay_even_where_the_diagonal_ranks_them_last():
    y = wave(0, 7) + 0.4 * wave(1, 3) + 0.5 * NOISE
    strengths = np.ones((2, 12))
    strengths[0, 6] = strengths[1, 2] = 0.1
    kept = evident(THETA, y, ONES, strengths)
    np.testing.assert_array_equal(kept.linear, only(2, 12, (0, 6), (1, 2)))
    assert not kept.absolute.any()


def test_a_rectified_wave_is_recognised_by_its_absolute_value():
    y = np.abs(wave(0, 9, 0.0)) + 0.2 * NOISE
    kept = evident(THETA[:, :1], y, ONES, np.ones((1, 12)))
    np.testing.assert_array_equal(kept.absolute, only(1, 12, (0, 8)))
    # without absolute values its harmonics lie above the highest mode, and nothing is left to keep
    plain = evident(THETA[:, :1], y, ONES, np.ones((1, 12)), absolute=False)
    assert not plain.modes.any()


def test_of_pure_noise_nothing_stays_and_pruning_is_rarely_refused():
    answers = []
    for seed in range(60):
        noise = np.random.default_rng([seed, 3]).normal(size=(300, 1))
        answers.append(evident(THETA[:300, :1], noise, ONES[:300], np.ones((1, 15))))
    # at a level of 1 % more than three refusals of 60 come up by chance once in 300 such tests
    assert sum(answer is None for answer in answers) <= 3
    # the charge of 2(log 300 + 2 log 30) lets one pair of 30 through once in 2 600 draws
    assert sum(answer is not None and answer.modes.any() for answer in answers) == 0


def test_a_mode_of_one_output_stays_and_exact_data_leave_nothing_to_explain():
    y = np.hstack([wave(0, 4), 0.5 * NOISE])
    kept = evident(THETA[:, :1], y, ONES, np.ones((1, 10)))
    np.testing.assert_array_equal(kept.modes, only(1, 10, (0, 3)))


def test_rows_of_large_weight_count():
    left = THETA[:, 0] < 0
    y = np.where(left[:, None], wave(0, 4), wave(0, 6)) + 0.1 * NOISE
    weight = np.where(left, 1.0, 1e-6)
    kept = evident(THETA[:, :1], y, weight, np.ones((1, 10)))
    assert kept is None or kept.linear[0, 3]
    fit = refitted(
        Architecture(10), THETA[:, :1], y, weight, Kept(only(1, 10, (0, 3)), only(1, 10))
    )
    off = fit.predict(THETA[left, :1]) - wave(0, 4)[left]
    assert np.abs(off).max() < 0.05


@pytest.mark.parametrize("kind", ["signed", "symmetrised"])
@pytest.mark.parametrize("activation", ["relu", "identity"])
def test_the_refitted_network_is_the_least_squares_fit(kind, activation):
    shape = Architecture(5, n_columns=2, n_outputs=2, activation=activation, embedding=kind)
    y = np.hstack([2 + wave(0, 3), wave(1, 2) - 1]) + 0.3 * NOISE
    kept = Kept(only(2, 5, (0, 2), (1, 1)), only(2, 5, (1, 4)))
    x0, x1 = np.pi * THETA.T
    columns = [np.ones(600), np.sin(3 * x0), np.cos(3 * x0), np.sin(2 * x1), np.cos(2 * x1)]
    if activation == "relu":
        columns += [np.abs(np.sin(5 * x1)), np.abs(np.cos(5 * x1))]
    else:
        kept = Kept(kept.linear, np.zeros((2, 5), dtype=bool))
    design, root = np.stack(columns, axis=1), np.sqrt(ONES + THETA[:, 0] ** 2)
    best, *_ = np.linalg.lstsq(root[:, None] * design, root[:, None] * y, rcond=None)
    fit = refitted(shape, THETA, y, root**2, kept)
    np.testing.assert_allclose(fit.predict(THETA), design @ best, atol=1e-12)
    np.testing.assert_array_equal(mode_strengths(fit) > 0, kept.modes)


torch = pytest.importorskip("torch")
from robustfourier.nn import DiagonalLayer, FourierEmbedding, FourierNetwork, sliced  # noqa: E402


def test_a_sliced_model_computes_what_the_whole_one_does_with_the_rest_at_zero():
    embedding, diagonal = FourierEmbedding(6, n_columns=2), DiagonalLayer(52)
    dense = torch.nn.Linear(52, 3)
    keep = torch.rand(52, generator=torch.Generator().manual_seed(0)) < 0.4
    theta = torch.linspace(-1, 1, 14).reshape(7, 2)
    small = [sliced(layer, keep) for layer in (embedding, diagonal, dense)]
    with torch.no_grad():
        diagonal.weight *= keep
        whole = dense(torch.relu(diagonal(embedding(theta))))
        part = small[2](torch.relu(small[1](small[0](theta))))
    torch.testing.assert_close(part, whole)
    assert small[1].weight.requires_grad
    assert [layer.extra_repr() for layer in small[1:]] == [
        f"n_features={int(keep.sum())}",
        f"in_features={int(keep.sum())}, out_features=3, bias=True",
    ]


def test_the_active_entries_are_those_that_stand_out_by_what_they_pass_on():
    diagonal = DiagonalLayer(400)
    with torch.no_grad():
        diagonal.weight.normal_(0, 0.01, generator=torch.Generator().manual_seed(1))
        diagonal.weight[[3, 50]] = torch.tensor([0.9, -0.7])
    assert torch.nonzero(diagonal.active()).flatten().tolist() == [3, 50]
    behind = torch.nn.Linear(400, 2)
    with torch.no_grad():
        behind.weight.fill_(1.0)
        behind.weight[:, 50] = 0.0
    assert torch.nonzero(diagonal.active(behind)).flatten().tolist() == [3]


def test_what_cannot_be_sliced_is_refused():
    with pytest.raises(InputError, match=re.escape("layer is a ReLU; give a FourierEmbedding")):
        sliced(torch.nn.ReLU(), torch.ones(3, dtype=torch.bool))
    with pytest.raises(InputError, match=re.escape("give one bool for each of the 4 entries")):
        sliced(DiagonalLayer(4), torch.ones(3, dtype=torch.bool))
    with pytest.raises(InputError, match=re.escape("keep is torch.float32")):
        sliced(FourierNetwork(1).diagonal, torch.ones(6))
