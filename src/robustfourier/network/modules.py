"""The networks as torch modules, for use inside any torch model.

They compute what the numpy functions of `embedding` and `weights` compute, on any device, in
float32 or float64, for any batch dimensions before the last.
"""

from __future__ import annotations

import copy
import math
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from robustfourier.errors import InputError, require_choice
from robustfourier.network.activity import active_modes
from robustfourier.network.architecture import Activation, Architecture
from robustfourier.network.embedding import EmbeddingKind
from robustfourier.network.embedding_module import FourierEmbedding
from robustfourier.network.initial import Init, draw_weights
from robustfourier.network.weights import Weights


class DiagonalLayer(nn.Module):
    """One weight for each entry: x ↦ w ⊙ x, without bias.

    Parameters
    ----------
    n_features : int
        Entries D.
    init : {"symmetric", "glorot"}
        All weights equal, so that both signs of a feature stay together; or the paper's draw,
        normal with standard deviation `init_scale`/√D.
    init_scale : float, default 1.0
        Size of the start: the weights begin at `init_scale`/√D. Where the layer behind starts as
        small, what the data do not ask for stays below the noise (0.1 to 0.3 for ten thousand
        samples; see `robustfourier.training.calibration`).
    device, dtype
        As for any torch module.

    Examples
    --------
    >>> DiagonalLayer(4, init_scale=0.1).weight.detach()
    tensor([0.0500, 0.0500, 0.0500, 0.0500])
    """

    def __init__(
        self,
        n_features: int,
        init: Literal["symmetric", "glorot"] = "symmetric",
        init_scale: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        require_choice("init", init, ("symmetric", "glorot"))
        if not (math.isfinite(init_scale) and init_scale > 0):
            raise InputError(
                f"init_scale={init_scale!r} must be positive: at zero all gradients vanish"
            )
        self.init, self.init_scale = init, init_scale
        self.weight = nn.Parameter(torch.empty(n_features, device=device, dtype=dtype))
        self.reset_parameters()

    @property
    def n_features(self) -> int:
        """Entries D."""
        return len(self.weight)

    def reset_parameters(self) -> None:
        """Start anew; "glorot" draws with torch's generator."""
        size = self.init_scale / math.sqrt(self.n_features)
        if self.init == "symmetric":
            nn.init.constant_(self.weight, size)
        else:
            nn.init.normal_(self.weight, std=size)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *arguments: Any, **options: Any
    ) -> None:
        found = state_dict.get(f"{prefix}weight")
        if isinstance(found, Tensor) and found.ndim == 1 and found.shape != self.weight.shape:
            # a pruned layer comes with the size it has
            self.weight = nn.Parameter(self.weight.new_empty(found.shape))
        super()._load_from_state_dict(state_dict, prefix, *arguments, **options)

    def forward(self, x: Tensor) -> Tensor:
        """Return w ⊙ x, same shape."""
        return x * self.weight

    def active(self, behind: nn.Linear | None = None) -> Tensor:
        """Return which entries stand out from those that carry nothing, bool of shape (D,).

        `behind`: the layer that reads this one: then an entry counts by what it passes on,
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
    if isinstance(layer, FourierEmbedding):
        return layer.sliced(keep)
    copied = copy.deepcopy(layer)
    copied.weight = nn.Parameter(copied.weight.detach()[..., keep])
    if isinstance(copied, nn.Linear):
        copied.in_features = int(keep.sum())
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
    init : {"symmetric", "even", "glorot", "antisymmetric", "theory"}
        See `robustfourier.network.initial`.
    n_columns, n_outputs : int, default 1
        Input columns d, embedded one by one, and outputs q.
    mixed_modes : int, default 0
        Highest |k_j| of modes across several columns.
    init_scale : float, default 1.0
        Factor on the diagonal and the layer behind it.
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
        mixed_modes: int = 0,
        init_scale: float = 1.0,
        r_c: float = 0.1,
        random_state: int | np.random.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.architecture = Architecture(
            n_modes,
            n_columns,
            n_outputs,
            hidden_layer_sizes,
            diagonal,
            activation,
            embedding,
            mixed_modes,
        )
        size = self.architecture.embedding_size
        self.embedding = FourierEmbedding.of(self.architecture)
        self.diagonal = DiagonalLayer(size) if diagonal else nn.Identity()
        widths = [size, *self.architecture.hidden_layer_sizes]
        self.dense = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        self.output = nn.Linear(widths[-1], n_outputs, bias=len(widths) > 1)
        self.activation = nn.ReLU() if activation == "relu" else nn.Identity()
        self.to(device=device, dtype=dtype or torch.get_default_dtype())
        self.load_weights(
            draw_weights(
                self.architecture,
                init,
                init_scale=init_scale,
                r_c=r_c,
                random_state=random_state,
            )
        )

    def forward(self, theta: Tensor) -> Tensor:
        """Return the network's values.

        `theta` (..., d). Returns shape (..., q).
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
    def from_estimator(cls, model: Any) -> FourierNetwork:
        """Make the module of a fitted `FourierNetworkRegressor`.

        It maps θ to standardised y: ``model.predict(X)`` is ``model.y_offset_ + model.y_scale_ *
        network(theta)`` with ``theta = model.domain_.to_theta(X)``. The way back, after further
        training, is ``model.weights_ = network.to_weights()``.
        """
        if getattr(model, "links_", None):
            raise InputError("model has links, which are no FourierNetwork; fit with links=None")
        return cls.from_weights(model.weights_)

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
            mixed_modes=shape.mixed_modes,
            dtype=torch.from_numpy(np.empty(0, weights.dtype)).dtype,
        )
        network.load_weights(weights)
        return network
