"""The torch modules compute what the numpy functions compute, wherever torch lets them."""

import copy
import re

import numpy as np
import pytest
import torch

from robustfourier.errors import InputError
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import embed
from robustfourier.network.initial_weights import draw_weights
from robustfourier.nn import DiagonalLayer, FourierEmbedding, FourierNetwork, sliced

RNG = np.random.default_rng(0)

NETWORKS = [
    {"hidden_layer_sizes": hidden, "diagonal": diagonal, "activation": act, "embedding": kind}
    for hidden in ((), (5,), (5, 4))
    for diagonal in (True, False)
    for act in ("relu", "identity")
    for kind in ("signed", "symmetrised")
]
ids = [
    f"u{len(n['hidden_layer_sizes'])}-{'diag' if n['diagonal'] else 'standard'}-"
    f"{n['activation']}-{n['embedding']}"
    for n in NETWORKS
]


@pytest.fixture
def theta() -> torch.Tensor:
    values = np.random.default_rng(0).uniform(-3, 3, (4, 7, 2))
    return torch.from_numpy(values)


@pytest.mark.parametrize("kind", ["signed", "symmetrised"])
def test_the_embedding_module_equals_the_numpy_embedding(kind, theta):
    module = FourierEmbedding(9, kind, n_columns=2)
    expected = embed(theta.numpy(), 9, kind)
    np.testing.assert_allclose(module(theta).numpy(), expected, atol=1e-14)
    assert module.out_features == expected.shape[-1]


def test_times_one_period_apart_embed_identically_in_torch_too():
    theta = torch.arange(-32, 32)[:, None] / 32
    module = FourierEmbedding(50)
    assert torch.equal(module(theta), module(theta + 4.0))


def test_in_float32_the_phase_of_a_high_mode_is_still_right():
    theta = np.float32(0.7)
    module = FourierEmbedding(100_000)
    found = module(torch.tensor([theta])).numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, embed([float(theta)], 100_000), atol=1e-6)


@pytest.mark.parametrize("options", NETWORKS, ids=ids)
def test_a_network_equals_its_numpy_forward_pass(options, theta):
    network = FourierNetwork(
        3, n_columns=2, n_outputs=2, random_state=0, dtype=torch.float64, **options
    )
    expected = network.to_weights().predict(theta.reshape(-1, 2).numpy())
    found = network(theta)
    assert found.shape == (4, 7, 2)
    np.testing.assert_allclose(found.detach().reshape(-1, 2).numpy(), expected, atol=1e-13)


@pytest.mark.parametrize("options", NETWORKS, ids=ids)
def test_gradients_equal_finite_differences(options, theta):
    network = FourierNetwork(
        2, n_columns=2, init="glorot", random_state=1, dtype=torch.float64, **options
    )
    # biases start at zero, where a unit without input sits exactly on the kink of ReLU
    named = {k: v if "weight" in k else v + 0.1 for k, v in network.named_parameters()}
    names, values = zip(*named.items(), strict=True)
    y = torch.from_numpy(np.random.default_rng(2).normal(size=(4, 7, 1)))

    def losses(*parameters):
        named = dict(zip(names, parameters, strict=True))
        residual = torch.func.functional_call(network, named, theta) - y
        return residual.square().mean(), 0.5 * residual.square().mean()

    assert torch.autograd.gradcheck(losses, tuple(v.detach().requires_grad_() for v in values))


def test_state_dict_round_trip_and_deepcopy(theta):
    one, other = (FourierNetwork(3, (4,), n_columns=2, random_state=s) for s in (0, 1))
    x = theta.float()
    assert not torch.equal(one(x), other(x))
    other.load_state_dict(one.state_dict())
    assert torch.equal(one(x), other(x))
    assert torch.equal(copy.deepcopy(one)(x), one(x))


def test_the_names_of_the_parameters_are_those_of_the_architecture():
    network = FourierNetwork(3, (4, 5))
    shapes = {k: tuple(v.shape) for k, v in network.state_dict().items()}
    assert shapes == network.architecture.parameter_shapes()


def test_weights_go_in_and_out_unchanged():
    weights = draw_weights(Architecture(3, 2, 2, (4,)), random_state=0)
    back = FourierNetwork.from_weights(weights).to_weights()
    for name, array in weights.arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_network_computes_in_its_own_dtype(dtype):
    network = FourierNetwork(3, (4,), dtype=dtype)
    assert network(torch.zeros(2, 1)).dtype == dtype
    assert network.double()(torch.zeros(2, 1)).dtype == torch.float64


def test_a_network_goes_to_another_device_with_everything_it_needs():
    network = FourierNetwork(3, (4,)).to("meta")
    held = [*network.parameters(), *network.buffers()]
    assert len(held) == 5 + 3  # the buffers are feature, sign and mode
    assert {tensor.device.type for tensor in held} == {"meta"}


@pytest.mark.end_to_end
def test_a_network_compiles_as_one_graph_for_any_batch():
    network = FourierNetwork(3, (4,), random_state=0)
    compiled = torch.compile(network, backend="eager", fullgraph=True, dynamic=True)
    for shape in ((2, 1), (5, 3, 1)):
        x = torch.rand(shape)
        torch.testing.assert_close(compiled(x), network(x))


def test_a_network_is_a_layer_of_any_torch_model():
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 1), FourierEmbedding(4), DiagonalLayer(18), torch.nn.Linear(18, 2)
    )
    model(torch.rand(6, 3)).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_a_diagonal_layer_starts_with_the_stated_size():
    torch.manual_seed(0)
    layer = DiagonalLayer(10_000, "glorot", init_scale=0.5)
    assert layer.weight.std().item() == pytest.approx(0.005, rel=0.05)
    even = DiagonalLayer(10_000, init_scale=0.5).weight.detach()
    assert torch.equal(even, torch.full_like(even, 0.005))
    with pytest.raises(InputError, match=re.escape("init_scale=0.0 must be positive")):
        DiagonalLayer(4, init_scale=0.0)


EXACT = {"quarter turns": np.linspace(-1, 1, 201), "anywhere": RNG.uniform(-3, 3, 300)}


@pytest.mark.parametrize("points", EXACT.values(), ids=EXACT)
def test_first_and_second_derivatives_are_those_of_sine_and_cosine_everywhere(points):
    theta = torch.tensor(points)[:, None].requires_grad_()
    module = FourierEmbedding(100)
    modes = module.modes.numpy() * np.pi
    x = embed(points[:, None], 100)
    turned = np.zeros_like(x)  # the derivative of each entry: its partner, with a sign
    for half in (x.shape[1] // 2 * np.arange(2))[:, None] + np.arange(1, 201, 2):
        turned[:, half], turned[:, half + 1] = x[:, half + 1], -x[:, half]

    def derivative(values):
        columns = [
            torch.autograd.grad(values[:, i].sum(), theta, create_graph=True)[0]
            for i in range(values.shape[1])
        ]
        return torch.cat(columns, dim=1)

    few = [1, 2, 5, 6, 99, 100, 199, 200, 230]  # sines and cosines of low and high modes
    first = derivative(module(theta)[:, few])
    second = derivative(first)
    size = modes[few]
    np.testing.assert_allclose(first.detach().numpy() / size, turned[:, few], atol=1e-12)
    np.testing.assert_allclose(second.detach().numpy() / size**2, -x[:, few], atol=1e-12)


def test_given_modes_are_waves_of_any_real_number_along_any_direction():
    theta = RNG.uniform(-1, 1, (20, 2))
    rows = np.array([[3, 5], [2.5, 0], [0, -1.25]])
    x = FourierEmbedding(modes=rows)(torch.tensor(theta)).numpy()
    phase = np.pi * theta @ rows.T
    np.testing.assert_allclose(x[:, 1:7:2], np.sin(phase), atol=1e-13)
    np.testing.assert_allclose(x[:, 2:7:2], np.cos(phase), atol=1e-13)
    np.testing.assert_allclose(x[:, 7:], -x[:, :7])


def test_a_network_with_mixed_modes_equals_its_numpy_forward_pass():
    network = FourierNetwork(3, n_columns=3, mixed_modes=2, random_state=0, dtype=torch.float64)
    theta = RNG.uniform(-2, 2, (30, 3))
    expected = network.to_weights().predict(theta)
    found = network(torch.tensor(theta)).detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-13)
    again = FourierNetwork.from_weights(network.to_weights())
    torch.testing.assert_close(again(torch.tensor(theta)), network(torch.tensor(theta)))


def test_a_period_is_where_a_mode_has_made_its_cycles():
    t = torch.linspace(0, 365.25, 40, dtype=torch.float64)[:, None]
    yearly = FourierEmbedding(modes=[1.0], period=365.25)(t)[:, 2]
    torch.testing.assert_close(yearly, torch.cos(2 * torch.pi * t[:, 0] / 365.25))


def test_learnable_modes_follow_the_data():
    t = torch.linspace(-1, 1, 400, dtype=torch.float64)[:, None]
    embedding = FourierEmbedding(modes=[7.1], learnable=True)
    model = torch.nn.Sequential(embedding, torch.nn.Linear(6, 1, bias=False).double())
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(200):
        loss = (model(t)[:, 0] - torch.cos(torch.pi * 7.35 * t[:, 0])).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert embedding.frequency.item() == pytest.approx(7.35, abs=1e-3)


def test_neither_modes_nor_both_ways_to_give_them_are_refused():
    with pytest.raises(InputError, match=re.escape("give the highest mode, or the modes")):
        FourierEmbedding()
    with pytest.raises(InputError, match=re.escape("give the highest mode, or the modes")):
        FourierEmbedding(3, modes=[1.0])
    with pytest.raises(InputError, match=re.escape("modes=[] is not usable")):
        FourierEmbedding(modes=[])
    with pytest.raises(InputError, match=re.escape("period=0.0 must be a positive length")):
        FourierEmbedding(3, period=0.0)


def test_a_pruned_model_lives_in_its_state_dict():
    whole = FourierEmbedding(6), DiagonalLayer(26)
    keep = torch.rand(26, generator=torch.Generator().manual_seed(2)) < 0.3
    small = torch.nn.Sequential(*(sliced(layer, keep) for layer in whole))
    again = torch.nn.Sequential(FourierEmbedding(6), DiagonalLayer(26))
    again.load_state_dict(small.state_dict())
    theta = torch.rand(9, 1)
    torch.testing.assert_close(again(theta), small(theta))
    assert again[0].out_features == again[1].n_features == int(keep.sum())
    assert len(again[0].frequency) < 6  # only the sines and cosines that are left are computed


def test_a_network_is_exported_whole():
    network = FourierNetwork(3, (4,), random_state=0)
    x = torch.rand(5, 1)
    exported = torch.export.export(network, (x,)).module()
    torch.testing.assert_close(exported(x), network(x))


def test_modes_stay_exact_in_a_network_of_low_precision():
    embedding = FourierEmbedding(modes=[4099.3]).half()
    found = embedding(torch.tensor([[0.731]], dtype=torch.float64))
    assert found[0, 1].item() == pytest.approx(np.sin(np.pi * 4099.3 * 0.731), abs=1e-10)
