"""What a network looks like, without its numbers.

u_n^diag is embedding → diagonal → activation → n dense layers with activation → linear output;
u_n^standard is the same without the diagonal and its activation. Both are an `Architecture`.

Biases: a hidden dense layer has one, and so has the output behind dense layers. The diagonal has
none, and an output that reads the embedding or the diagonal directly has none either, as in
eq. (2) of the paper; the embedding contains the constant.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from robustfourier.errors import require_choice, require_count
from robustfourier.network.embedding import (
    EMBEDDINGS,
    EmbeddingKind,
    EmbeddingLayout,
    embedding_layout,
    embedding_size,
    lattice_modes,
)

Activation: TypeAlias = Literal["relu", "identity"]
ACTIVATIONS: tuple[str, ...] = get_args(Activation)

DIAGONAL = "diagonal.weight"
"""Name of the diagonal layer's parameter, w of shape (D,)."""

OUTPUT = "output.weight"
"""Name of the output layer's parameter, c of shape (q, D) or (q, last hidden size)."""


@dataclass(frozen=True)
class Architecture:
    """The shape of a Fourier network.

    Parameters
    ----------
    n_modes : int
        Highest mode m of the embedding.
    n_columns : int, default 1
        Input columns d, embedded one by one.
    n_outputs : int, default 1
        Outputs q.
    hidden_layer_sizes : tuple of int, default ()
        Widths of the dense layers; their number is the n of u_n.
    diagonal : bool, default True
        Whether a diagonal layer follows the embedding.
    activation : {"relu", "identity"}
    embedding : {"signed", "symmetrised"}
    mixed_modes : int, default 0
        Highest |k_j| of modes k across several columns; see `embedding.lattice_modes`.

    Examples
    --------
    >>> Architecture(n_modes=100).parameter_shapes()
    {'diagonal.weight': (402,), 'output.weight': (1, 402)}
    >>> Architecture(n_modes=1, hidden_layer_sizes=(5,), diagonal=False).name
    'u1_standard'
    """

    n_modes: int
    n_columns: int = 1
    n_outputs: int = 1
    hidden_layer_sizes: tuple[int, ...] = ()
    diagonal: bool = True
    activation: Activation = "relu"
    embedding: EmbeddingKind = "signed"
    mixed_modes: int = 0

    def __post_init__(self) -> None:
        require_choice("embedding", self.embedding, EMBEDDINGS)
        require_choice("activation", self.activation, ACTIVATIONS)
        for name in ("n_modes", "n_columns", "n_outputs"):
            require_count(name, getattr(self, name))
        require_count("mixed_modes", self.mixed_modes, at_least=0)
        given: Any = self.hidden_layer_sizes
        given = [given] if np.ndim(given) == 0 else given
        sizes = tuple(require_count("hidden_layer_sizes", size) for size in given)
        object.__setattr__(self, "n_modes", int(self.n_modes))
        object.__setattr__(self, "hidden_layer_sizes", sizes)

    @property
    def name(self) -> str:
        """The paper's name, such as ``u0_diag`` or ``u2_standard``."""
        return f"u{len(self.hidden_layer_sizes)}_{'diag' if self.diagonal else 'standard'}"

    @property
    def embedding_size(self) -> int:
        """Entries D of the embedding, all columns together."""
        return embedding_size(self.n_modes, self.embedding, self.n_columns, self.mixed_modes)

    @property
    def n_features(self) -> int:
        """Features of φ, all columns and mixed modes: the embedding without mirror images."""
        return self.n_axis_features + 2 * self.n_mixed

    @property
    def n_axis_features(self) -> int:
        """Features d(2m+1) of the columns apart."""
        return self.n_columns * (2 * self.n_modes + 1)

    @property
    def n_mixed(self) -> int:
        """Number of mixed modes L."""
        return len(lattice_modes(self.n_columns, self.mixed_modes)) if self.mixed_modes else 0

    @property
    def reader(self) -> str:
        """Name of the parameter that reads the embedding, or the diagonal layer if there is one."""
        return "dense.0.weight" if self.hidden_layer_sizes else OUTPUT

    def layout(self) -> EmbeddingLayout:
        """Return which feature stands at each entry of the embedding."""
        return embedding_layout(self.n_modes, self.embedding, self.n_columns, self.mixed_modes)

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name → shape of every parameter, in the order of the forward pass.

        The names are those of the torch module's `state_dict`.
        """
        fan_in = self.embedding_size
        shapes: dict[str, tuple[int, ...]] = {DIAGONAL: (fan_in,)} if self.diagonal else {}
        for i, fan_out in enumerate(self.hidden_layer_sizes):
            shapes[f"dense.{i}.weight"] = (fan_out, fan_in)
            shapes[f"dense.{i}.bias"] = (fan_out,)
            fan_in = fan_out
        shapes[OUTPUT] = (self.n_outputs, fan_in)
        if self.hidden_layer_sizes:
            shapes["output.bias"] = (self.n_outputs,)
        return shapes

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        return {**asdict(self), "hidden_layer_sizes": list(self.hidden_layer_sizes)}
