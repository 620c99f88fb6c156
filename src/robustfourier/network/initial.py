"""Where training starts: Glorot's draw, two that keep pairs together, and the theory's.

* ``"glorot"`` (the paper's experiments): normal, standard deviation √(2/(fan_in+fan_out)) for
  dense and output layers, 1/√D for a diagonal of length D, biases zero.
* ``"symmetric"`` (ours): the same sizes, but the two units on +φ_j and −φ_j start with equal
  positive diagonal weights and opposite weights in the layer behind, so that together they are
  the linear function x = σ(x) − σ(−x) of φ_j. Independent signs break this for half of all modes,
  and what is left over, |cos|, shows up as a false mode at 2k.
* ``"antisymmetric"``: Glorot's sizes with the signs of section 2.4. The layer behind the diagonal
  starts with opposite weights on +φ_j and −φ_j, c⁰_{−j} = −c⁰_j; the diagonal is Glorot's draw.
  With equal signs, layer-wise training leaves one of the two half-waves empty for ever.
* ``"theory"`` (section 2.4): c⁰_j = ±r_c/√m with c⁰_{−j} = −c⁰_j, for u0_diag only.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import IndexArray
from robustfourier.errors import InputError, require_choice
from robustfourier.memory import require_bytes
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights

Init: TypeAlias = Literal["glorot", "symmetric", "antisymmetric", "theory"]
INITS: tuple[str, ...] = get_args(Init)

# Theorem 1 holds for any w⁰, whose trace fades like (1 − ηλ)^T; it must only not be zero, where
# the derivative of ReLU is taken as 0 and no unit would ever move.
_THEORY_DIAGONAL = 1e-3

_DRAWING_BYTES = 24  # per weight: the draw, its symmetric copy, the result in its dtype


def draw_weights(
    architecture: Architecture,
    init: Init = "symmetric",
    *,
    r_c: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    dtype: str = "float64",
) -> Weights:
    """Draw the initial weights of a network.

    Parameters
    ----------
    architecture : Architecture
    init : {"glorot", "symmetric", "antisymmetric", "theory"}
        See the module's text. A network without diagonal layer has no pairs of rectified units
        to keep together: there "symmetric" and "antisymmetric" are the Glorot draw.
    r_c : float, default 0.1
        The theory's scale of c⁰; used by "theory" only.
    random_state : int, numpy Generator or None
    dtype : {"float64", "float32"}

    Examples
    --------
    >>> net = draw_weights(Architecture(n_modes=2), "symmetric", random_state=0)
    >>> w = net.diagonal
    >>> bool((w > 0).all() and (w[:5] == w[5:]).all())
    True
    """
    require_choice("init", init, INITS)
    if not r_c > 0:
        raise InputError(f"r_c={r_c!r} must be positive: it is the size of the theory's c⁰")
    _require_memory(architecture)
    rng = np.random.default_rng(random_state)
    drawn = (
        _theory(architecture, rng, r_c) if init == "theory" else _glorot(architecture, rng, init)
    )
    return Weights(architecture, drawn).astype(dtype)


def _require_memory(architecture: Architecture) -> None:
    n_numbers = sum(math.prod(shape) for shape in architecture.parameter_shapes().values())
    require_bytes(
        _DRAWING_BYTES * n_numbers,
        what=f"a {architecture.name} network with n_modes={architecture.n_modes}",
        remedy="use fewer modes or narrower layers",
    )


def _glorot(
    architecture: Architecture, rng: np.random.Generator, init: Init
) -> dict[str, NDArray[Any]]:
    """Glorot's draw, in which "antisymmetric" and "symmetric" keep the pairs of units together."""
    arrays: dict[str, NDArray[Any]] = {
        name: rng.normal(0.0, _glorot_scale(name, shape), shape)
        for name, shape in architecture.parameter_shapes().items()
    }
    if architecture.diagonal and init != "glorot":
        twins, reader = _twins(architecture), architecture.reader
        arrays[reader] = arrays[reader][:, twins] * architecture.layout().sign
        if init == "symmetric":
            arrays[DIAGONAL] = np.abs(arrays[DIAGONAL])[twins]
    return arrays


def _glorot_scale(name: str, shape: tuple[int, ...]) -> float:
    if name.endswith("bias"):
        return 0.0
    # a diagonal unit has one input and one output, but D of them share the vector
    return 1.0 / np.sqrt(shape[0]) if name == DIAGONAL else np.sqrt(2.0 / sum(shape))


def _twins(architecture: Architecture) -> IndexArray:
    """Position of each entry's image on +φ, which is itself for the entries that are +φ."""
    layout = architecture.layout()
    return np.where(layout.sign > 0, np.arange(len(layout)), layout.mirror)


def _theory(
    architecture: Architecture, rng: np.random.Generator, r_c: float
) -> dict[str, NDArray[Any]]:
    if architecture.hidden_layer_sizes or not architecture.diagonal:
        raise InputError(
            f"init='theory' is for the diagonal network without dense layers, not for "
            f"{architecture.name}; use init='symmetric'"
        )
    layout, scale = architecture.layout(), r_c / np.sqrt(architecture.n_modes)
    signs = rng.choice([-1.0, 1.0], size=(architecture.n_outputs, len(layout)))
    return {
        DIAGONAL: np.full(len(layout), _THEORY_DIAGONAL * scale),
        OUTPUT: scale * signs[:, _twins(architecture)] * layout.sign,
    }
