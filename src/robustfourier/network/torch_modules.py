"""The networks as torch modules, for use inside any torch model.

They compute what the numpy functions of `embedding` and `weights` compute, on any device, in
float32 or float64, for any batch dimensions before the last.
"""

from __future__ import annotations

import copy
import math
from dataclasses import asdict
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError, require_choice
from robustfourier.network.active_modes import active_modes
from robustfourier.network.architecture import Activation, Architecture
from robustfourier.network.embedding import (
    EmbeddingKind,
    axis_modes,
    embedding_layout,
    lattice_modes,
)
from robustfourier.network.initial_weights import Init, draw_weights
from robustfourier.network.weights import Weights


class FourierEmbedding(nn.Module):
    """Sines and cosines of the input, each with both signs.

    Parameters
    ----------
    n_modes : int, optional
        Highest mode m: modes 1 … m of each column, one after the other.
    kind : {"signed", "symmetrised"}
        Order of the entries; see `robustfourier.network.embedding`.
    n_columns : int, default 1
        Input columns d.
    modes : array_like, shape (F,) or (F, d), optional
        Exactly these modes instead of 1 … m. Any real numbers; a row k of d numbers is the wave
        along k, with phase π(k·θ), so that products and plane waves of several inputs are modes.
    period : float, default 2.0
        Length of the domain, over which mode k makes k cycles.
    learnable : bool, default False
        Whether the modes are parameters, to be trained with the rest.
    device : torch device, optional

    Attributes
    ----------
    frequency : Tensor, shape (F, d)
        The modes that are computed, float64 (a parameter if `learnable`).
    modes : Tensor, shape (D,) or (D, d)
        Mode of each entry, and so of each weight of a `DiagonalLayer` behind it; 0 is the constant.
    out_features : int
        Entries D.

    Notes
    -----
    Input (..., d), output (..., D) in the dtype of the input. Without `period` inputs lie in
    [-1, 1]: that is one period, and mode k makes k cycles over it; `Domain.to_theta` brings times
    there. The phase is computed in float64 where the device has it: in float32 it is off by about
    1 % at mode 10⁵. Derivatives of any order are those of sine and cosine everywhere. Modes that
    were given, learnt or sliced are in the `state_dict`, and loading one brings its modes along.

    Examples
    --------
    >>> import torch
    >>> embedding = FourierEmbedding(1)
    >>> embedding(torch.tensor([[0.0]]))
    tensor([[ 1.,  0.,  1., -1., -0., -1.]])
    >>> embedding.modes
    tensor([0, 1, 1, 0, 1, 1])
    >>> FourierEmbedding(modes=[[3, 5], [3, -5]])(torch.zeros(4, 2)).shape
    torch.Size([4, 10])
    """

    frequency: Tensor
    feature: Tensor
    sign: Tensor

    def __init__(
        self,
        n_modes: int | None = None,
        kind: EmbeddingKind = "signed",
        n_columns: int = 1,
        *,
        modes: ArrayLike | None = None,
        period: float = 2.0,
        learnable: bool = False,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if (n_modes is None) == (modes is None):
            raise InputError(
                f"n_modes={n_modes!r} and modes={modes!r}: give the highest mode, or the modes"
            )
        if not (math.isfinite(period) and period > 0):
            raise InputError(f"period={period!r} must be a positive length")
        given = modes is not None
        highest = 0 if n_modes is None else n_modes
        frequency = _given_modes(modes) if given else axis_modes(highest, n_columns)
        self.kind, self.n_columns, self.period = kind, frequency.shape[1], float(period)
        layout = embedding_layout(len(frequency), kind) if given else None
        layout = layout or embedding_layout(highest, kind, n_columns)
        # the constant of every column is one and the same feature
        of_column = 2 * highest * layout.column
        place = np.where(layout.mode == 0, 0, of_column + 2 * layout.mode - layout.is_sine)
        self.whole = bool(np.all(frequency == np.round(frequency))) and not learnable
        # what follows from the arguments is no state: it goes to a device, not into state_dict
        kept = {"persistent": given or learnable}
        if learnable:
            self.frequency = nn.Parameter(torch.tensor(frequency, device=device))
        else:
            self.register_buffer("frequency", torch.tensor(frequency, device=device), **kept)
        self.register_buffer("feature", torch.tensor(place, device=device), **kept)
        self.register_buffer("sign", torch.tensor(layout.sign, device=device), **kept)

    @classmethod
    def of(cls, architecture: Architecture) -> FourierEmbedding:
        """Return the embedding of a network, its mixed modes included."""
        made = cls(architecture.n_modes, architecture.embedding, architecture.n_columns)
        if architecture.mixed_modes:
            rows = lattice_modes(architecture.n_columns, architecture.mixed_modes)
            layout = architecture.layout()
            mixed = layout.column < 0
            place = 2 * (len(made.frequency) + layout.mode[mixed]) - layout.is_sine[mixed]
            more_of = {"frequency": rows, "feature": place, "sign": layout.sign[mixed]}
            for name, more in more_of.items():
                joined = torch.cat([getattr(made, name), torch.tensor(more)])
                made.register_buffer(name, joined, persistent=False)
        return made

    @property
    def out_features(self) -> int:
        """Entries D."""
        return len(self.feature)

    @property
    def modes(self) -> Tensor:
        """Mode of each entry: one number for each column that it belongs to."""
        entry = torch.div(self.feature - 1, 2, rounding_mode="floor")
        zero = torch.zeros_like(self.frequency[:1])
        rows = torch.cat([self.frequency.detach(), zero])[entry]
        alone = (self.frequency != 0).sum(dim=1).max() < 2 if len(self.frequency) else True
        rows = rows.to(torch.int64) if self.whole else rows
        return rows.sum(dim=1) if alone else rows

    def forward(self, theta: Tensor) -> Tensor:
        """Return the embedding, shape (..., D)."""
        low = theta.device.type == "mps"
        exact = (theta if low else theta.to(torch.float64)) * (2.0 / self.period)
        if self.whole:
            exact = _wrap(exact)  # whole modes are the same one period apart, to the last digit
        cycles = _wrap(exact @ self.frequency.to(exact.dtype).mT)
        sines, cosines = _sine_cosine(cycles)
        pairs = torch.stack([sines, cosines], dim=-1).flatten(-2)
        features = torch.cat([torch.ones_like(pairs[..., :1]), pairs], dim=-1)
        return (features[..., self.feature] * self.sign.to(exact.dtype)).to(theta.dtype)

    def sliced(self, keep: Tensor) -> FourierEmbedding:
        """Return the embedding of some entries only, which computes their modes only."""
        copied = copy.deepcopy(self)
        feature, sign = self.feature[keep], self.sign[keep]
        row = torch.div(feature - 1, 2, rounding_mode="floor")  # −1 for the constant
        rows = torch.unique(row[row >= 0])
        shift = torch.where(row >= 0, row - torch.searchsorted(rows, row), 0)
        copied._adopt(self.frequency.detach()[rows], feature - 2 * shift, sign)
        return copied

    def _adopt(self, frequency: Tensor, feature: Tensor, sign: Tensor) -> None:
        """Take over modes and entries, as state that `state_dict` holds."""
        if isinstance(self.frequency, nn.Parameter):
            self.frequency = nn.Parameter(frequency)
        else:
            self.register_buffer("frequency", frequency)
        self.register_buffer("feature", feature)
        self.register_buffer("sign", sign)
        self.whole = not isinstance(self.frequency, nn.Parameter) and bool(
            (frequency == frequency.round()).all()
        )

    def _apply(self, fn: Any, recurse: bool = True) -> FourierEmbedding:
        frequency = self.frequency
        super()._apply(fn, recurse)
        if not isinstance(frequency, nn.Parameter) and self.frequency.device.type != "mps":
            # phases are computed in float64, whatever the network's own dtype is
            self.frequency = frequency.to(self.frequency.device)
        return self

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *arguments: Any, **options: Any
    ) -> None:
        names = [prefix + name for name in ("frequency", "feature", "sign")]
        found = [state_dict[name] for name in names if isinstance(state_dict.get(name), Tensor)]
        if len(found) == len(names):
            device = self.feature.device
            self._adopt(*(torch.empty_like(each, device=device).copy_(each) for each in found))
        super()._load_from_state_dict(state_dict, prefix, *arguments, **options)

    def extra_repr(self) -> str:
        """Return what distinguishes it for the module's text."""
        words = f"{len(self.frequency)} modes, out_features={self.out_features}"
        return f"{words}, kind={self.kind!r}, n_columns={self.n_columns}, period={self.period:g}"


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
        ``|w_i|·‖A_i‖``, by the rule of `robustfourier.network.active_modes`; else by ``|w_i|``.
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
        See `robustfourier.network.initial_weights`.
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
        dtype = torch.from_numpy(np.empty(0, weights.dtype)).dtype
        network = cls(**asdict(weights.architecture), init="glorot", dtype=dtype)
        network.load_weights(weights)
        return network


def _given_modes(modes: Any) -> FloatArray:
    """The modes as rows, shape (F, d)."""
    table = np.array(modes, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise InputError(
            f"modes={modes!r} is not usable; give finite numbers, shape (F,) or (F, columns)"
        )
    return table


def _sine_cosine(cycles: Tensor) -> tuple[Tensor, Tensor]:
    """Return sin πc and cos πc, exact at quarter turns and with every derivative everywhere.

    c = q/2 + r with q whole and |r| ≤ 1/4, both exact, so that sin 0 = 0 is met exactly; sine and
    cosine of the quarter turns q are 0 and ±1.
    """
    quarters = torch.round(2.0 * cycles.detach())
    rest = math.pi * (cycles - 0.5 * quarters)
    sine, cosine = torch.sin(rest), torch.cos(rest)
    turn = torch.remainder(quarters, 4.0)
    even, odd = (1.0 - turn) * (turn % 2 == 0), (2.0 - turn) * (turn % 2 == 1)
    return even * sine + odd * cosine, even * cosine - odd * sine


def _wrap(x: Tensor) -> Tensor:
    return x - 2.0 * torch.floor((x + 1.0) / 2.0)
