"""The torch modules compute what the numpy functions compute, wherever torch lets them."""

import copy

import numpy as np
import pytest
import torch

from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import embed
from robustfourier.network.initial import draw_weights
from robustfourier.nn import DiagonalLayer, FourierEmbedding, FourierNetwork

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


def test_a_diagonal_layer_starts_with_the_stated_spread():
    torch.manual_seed(0)
    layer = DiagonalLayer(10_000)
    assert layer.weight.std().item() == pytest.approx(0.01, rel=0.05)
