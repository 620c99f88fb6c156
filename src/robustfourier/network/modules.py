"""The networks as torch modules, for use inside any torch model.

They compute what the numpy functions of `embedding` and `weights` compute, on any device, in
float32 or float64, for any batch dimensions before the last.
"""

from __future__ import annotations

import copy
import math
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from robustfourier.errors import InputError
from robustfourier.network.activity import active_modes
from robustfourier.network.architecture import Activation, Architecture
from robustfourier.network.embedding import EmbeddingKind, embedding_layout, embedding_size
from robustfourier.network.initial import Init, draw_weights
from robustfourier.network.weights import Weights


class FourierEmbedding(nn.Module):
    """The Fourier embedding of each input column, joined.

    Parameters
    ----------
    n_modes : int
        Highest mode m.
    kind : {"signed", "symmetrised"}
        Order of the entries; see `robustfourier.network.embedding`.
    n_columns : int, default 1
        Input columns d.

    Attributes
    ----------
    modes : Tensor of int, shape (D,)
        Mode of each entry, and so of each weight of a `DiagonalLayer` behind it; 0 is the constant.
    out_features : int
        Entries D.

    Notes
    -----
    Input (..., d), output (..., D) in the dtype of the input. Inputs lie in [-1, 1]: that is one
    period, and mode k makes k cycles over it; `Domain.to_theta` brings times there. The phase is
    computed in float64 where the device has it: in float32 it is off by about 1 % at mode 10⁵.

    Examples
    --------
    >>> import torch
    >>> embedding = FourierEmbedding(1)
    >>> embedding(torch.tensor([[0.0]]))
    tensor([[ 1.,  0.,  1., -1., -0., -1.]])
    >>> embedding.modes
    tensor([0, 1, 1, 0, 1, 1])
    """

    feature: Tensor
    sign: Tensor
    modes: Tensor

    def __init__(self, n_modes: int, kind: EmbeddingKind = "signed", n_columns: int = 1) -> None:
        super().__init__()
        layout = embedding_layout(n_modes, kind, n_columns)
        self.n_modes = n_modes
        self.kind = kind
        self.n_columns = n_columns
        self.out_features = embedding_size(n_modes, kind, n_columns)
        # constants, not state: they follow the module to a device but not into its state_dict
        self.register_buffer("feature", torch.from_numpy(layout.feature), persistent=False)
        self.register_buffer("sign", torch.from_numpy(layout.sign), persistent=False)
        self.register_buffer("modes", torch.from_numpy(layout.mode), persistent=False)

    def forward(self, theta: Tensor) -> Tensor:
        """Return the embedding, shape (..., D)."""
        features = _fourier_features(theta, self.n_modes)
        return features[..., self.feature] * self.sign.to(theta.dtype)

    def extra_repr(self) -> str:
        """Return the arguments for the module's text."""
        return f"n_modes={self.n_modes}, kind={self.kind!r}, n_columns={self.n_columns}"


class DiagonalLayer(nn.Module):
    """One weight for each entry: x ↦ w ⊙ x, without bias.

    Parameters
    ----------
    n_features : int
        Entries D.
    device, dtype
        As for any torch module.

    Notes
    -----
    Starts at the Glorot draw, standard deviation 1/√D.
    """

    def __init__(
        self,
        n_features: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_features = n_features
        self.weight = nn.Parameter(torch.empty(n_features, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew, with torch's generator."""
        nn.init.normal_(self.weight, std=1.0 / math.sqrt(self.n_features))

    def forward(self, x: Tensor) -> Tensor:
        """Return w ⊙ x, same shape."""
        return x * self.weight

    def active(self, behind: nn.Linear | None = None) -> Tensor:
        """Return which entries stand out from those that carry nothing, bool of shape (D,).

        Parameters
        ----------
        behind : Linear, optional
            The layer that reads this one: then an entry counts by what it passes on,
            ``|w_i|·‖A_i‖``, by the rule of `robustfourier.network.activity`; else by ``|w_i|``.
        """
        strength = self.weight.detach().abs()
        if behind is not None:
            strength = strength * behind.weight.detach().norm(dim=0)
        mask = active_modes(strength.cpu().numpy())
        return torch.from_numpy(mask).to(self.weight.device)

    def extra_repr(self) -> str:
        """Return the arguments for the module's text."""
        return f"n_features={self.n_features}"


def sliced(
    layer: FourierEmbedding | DiagonalLayer | nn.Linear, keep: Tensor
) -> FourierEmbedding | DiagonalLayer | nn.Linear:
    """Return a copy of a layer with some entries only, so that a model can go on without the rest.

    Slice the embedding, the diagonal and the layer behind it with the same `keep`, and make a new
    optimiser for the new parameters.

    Parameters
    ----------
    layer : FourierEmbedding, DiagonalLayer or Linear
        An embedding or a diagonal loses outputs, a linear layer inputs.
    keep : Tensor of bool, shape (D,)
        For example what `DiagonalLayer.active` returns.

    Examples
    --------
    >>> import torch
    >>> layers = FourierEmbedding(3), DiagonalLayer(14), torch.nn.Linear(14, 5)
    >>> keep = torch.arange(14) % 7 < 3  # the constant and mode 1, with both signs
    >>> small = torch.nn.Sequential(*(sliced(layer, keep) for layer in layers))
    >>> small(torch.zeros(2, 1)).shape, small[1].n_features
    (torch.Size([2, 5]), 6)
    """
    if not isinstance(layer, FourierEmbedding | DiagonalLayer | nn.Linear):
        raise InputError(
            f"layer is a {type(layer).__name__}; give a FourierEmbedding, DiagonalLayer or Linear"
        )
    name = {FourierEmbedding: "out_features", DiagonalLayer: "n_features"}
    size_name = name.get(type(layer), "in_features")
    if keep.dtype != torch.bool or keep.shape != (getattr(layer, size_name),):
        raise InputError(
            f"keep is {keep.dtype} of shape {tuple(keep.shape)}; give one bool for each of the "
            f"{getattr(layer, size_name)} entries"
        )
    copied = copy.deepcopy(layer)
    setattr(copied, size_name, int(keep.sum()))
    if isinstance(copied, FourierEmbedding):
        copied.feature, copied.sign = copied.feature[keep], copied.sign[keep]
        copied.modes = copied.modes[keep]
    else:
        copied.weight = nn.Parameter(copied.weight.detach()[..., keep])
    return copied


class FourierNetwork(nn.Module):
    """u_n^diag or u_n^standard of the paper.

    Parameters
    ----------
    n_modes : int
        Highest mode m.
    hidden_layer_sizes : tuple of int, default ()
        Widths of the dense layers; their number is the n of u_n.
    diagonal : bool, default True
        u_n^diag, or without the diagonal layer and its activation u_n^standard.
    activation : {"relu", "identity"}
    embedding : {"signed", "symmetrised"}
    init : {"symmetric", "glorot", "antisymmetric", "theory"}
        See `robustfourier.network.initial`.
    n_columns, n_outputs : int, default 1
        Input columns d, embedded one by one, and outputs q.
    r_c : float, default 0.1
        Scale of the theory's c⁰.
    random_state : int, numpy Generator or None
    device, dtype
        As for any torch module; dtype defaults to torch's default.

    Examples
    --------
    >>> import torch
    >>> network = FourierNetwork(100, (50,), random_state=0)
    >>> network(torch.zeros(7, 3, 1)).shape
    torch.Size([7, 3, 1])
    >>> sorted(network.state_dict())
    ['dense.0.bias', 'dense.0.weight', 'diagonal.weight', 'output.bias', 'output.weight']
    """

    def __init__(
        self,
        n_modes: int,
        hidden_layer_sizes: tuple[int, ...] = (),
        diagonal: bool = True,
        activation: Activation = "relu",
        embedding: EmbeddingKind = "signed",
        init: Init = "symmetric",
        *,
        n_columns: int = 1,
        n_outputs: int = 1,
        r_c: float = 0.1,
        random_state: int | np.random.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.architecture = Architecture(
            n_modes, n_columns, n_outputs, hidden_layer_sizes, diagonal, activation, embedding
        )
        size = self.architecture.embedding_size
        self.embedding = FourierEmbedding(n_modes, embedding, n_columns)
        self.diagonal = DiagonalLayer(size) if diagonal else nn.Identity()
        widths = [size, *self.architecture.hidden_layer_sizes]
        self.dense = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.output = nn.Linear(widths[-1], n_outputs, bias=len(widths) > 1)
        self.activation = nn.ReLU() if activation == "relu" else nn.Identity()
        self.to(device=device, dtype=dtype or torch.get_default_dtype())
        self.load_weights(draw_weights(self.architecture, init, r_c=r_c, random_state=random_state))

    def forward(self, theta: Tensor) -> Tensor:
        """Return the network's values.

        Parameters
        ----------
        theta : Tensor, shape (..., d)

        Returns
        -------
        Tensor, shape (..., q)
        """
        # phases are as exact as θ is, so a float64 θ may feed a float32 network
        x = self.embedding(theta).to(self.output.weight.dtype)
        if self.architecture.diagonal:
            x = self.activation(self.diagonal(x))
        for dense in self.dense:
            x = self.activation(dense(x))
        return self.output(x)

    def to_weights(self) -> Weights:
        """Return a copy of the parameters as numpy arrays."""
        arrays = {k: v.detach().cpu().numpy().copy() for k, v in self.state_dict().items()}
        return Weights(self.architecture, arrays)

    def load_weights(self, weights: Weights) -> None:
        """Take over numpy parameters, in this module's dtype and device."""
        self.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in weights.arrays.items()})

    @classmethod
    def from_weights(cls, weights: Weights) -> FourierNetwork:
        """Make the module that has these weights, in their dtype."""
        shape = weights.architecture
        network = cls(
            shape.n_modes,
            shape.hidden_layer_sizes,
            shape.diagonal,
            shape.activation,
            shape.embedding,
            init="glorot",
            n_columns=shape.n_columns,
            n_outputs=shape.n_outputs,
            dtype=torch.from_numpy(np.empty(0, weights.dtype)).dtype,
        )
        network.load_weights(weights)
        return network


def _fourier_features(theta: Tensor, n_modes: int) -> Tensor:
    """φ of each column, joined: (..., d) → (..., d(2m+1))."""
    exact = theta if theta.device.type == "mps" else theta.to(torch.float64)
    modes = torch.arange(1, n_modes + 1, dtype=exact.dtype, device=exact.device)
    cycles = _wrap(_wrap(exact).unsqueeze(-1) * modes)
    zero = torch.zeros_like(cycles)
    # exact zeros where the numpy embedding has them
    sines = torch.where(cycles.abs() == 1.0, zero, torch.sin(math.pi * cycles))
    cosines = torch.where(cycles.abs() == 0.5, zero, torch.cos(math.pi * cycles))
    pairs = torch.stack([sines, cosines], dim=-1).flatten(-2)
    features = torch.cat([torch.ones_like(pairs[..., :1]), pairs], dim=-1)
    return features.flatten(-2).to(theta.dtype)


def _wrap(x: Tensor) -> Tensor:
    return x - 2.0 * torch.floor((x + 1.0) / 2.0)
