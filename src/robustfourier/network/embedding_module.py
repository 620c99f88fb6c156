"""The Fourier embedding as a torch module: given or learnt modes, derivatives of any order."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import (
    EmbeddingKind,
    axis_modes,
    embedding_layout,
    lattice_modes,
)


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
        self.kind = kind
        self.n_columns = frequency.shape[1]
        self.period = float(period)
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
            for name, more in (
                ("frequency", rows),
                ("feature", place),
                ("sign", layout.sign[mixed]),
            ):
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
        rows = torch.unique(torch.div(feature[feature > 0] - 1, 2, rounding_mode="floor"))
        place = torch.zeros(len(self.frequency), dtype=torch.int64, device=feature.device)
        place[rows] = torch.arange(len(rows), device=feature.device)
        shift = 2 * (rows - place[rows])
        moved = torch.zeros(2 * len(self.frequency) + 1, dtype=torch.int64, device=feature.device)
        for part in (1, 2):
            moved[2 * rows + part] = 2 * rows + part - shift
        frequency = self.frequency.detach()[rows]
        copied._adopt(frequency, moved[feature], sign)
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
