"""Where training starts: equal weights, Glorot's draw, two that keep pairs together, the theory's.

* ``"even"`` (ours): all diagonal weights s/√D, and nothing in the output yet. Then every feature
  grows by the same law, z = P sinh(v b t); see `robustfourier.training.calibration`. Only the
  constants start awake, at weights of norm 1: every function has a level, and the mean of y is not
  it where samples lie unevenly. With dense layers, which zero would keep still, the layer behind
  the diagonal is drawn as in "symmetric", and constants are as all others.
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

All but the theory's may be shrunk: `init_scale` multiplies the diagonal and the layer behind it,
and so its square the products, on whose size it depends how sparse the training ends.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import IndexArray
from robustfourier.errors import InputError, require_choice
from robustfourier.memory_limits import require_bytes
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights

Init: TypeAlias = Literal["even", "symmetric", "glorot", "antisymmetric", "theory"]
INITS: tuple[str, ...] = get_args(Init)

# Theorem 1 holds for any w⁰, whose trace fades like (1 − ηλ)^T; it must only not be zero, where
# the derivative of ReLU is taken as 0 and no unit would ever move.
_THEORY_DIAGONAL = 1e-3

_DRAWING_BYTES = 24  # per weight: the draw, its symmetric copy, the result in its dtype


def draw_weights(
    architecture: Architecture,
    init: Init = "symmetric",
    *,
    init_scale: float = 1.0,
    r_c: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    dtype: str = "float64",
) -> Weights:
    """Draw the initial weights of a network.

    `init`: see the module's text. A network without diagonal layer has no pairs of rectified units
    to keep together: there all but "theory" are the Glorot draw. `init_scale`: factor on the
    diagonal and the layer behind it. `r_c`: the theory's scale of c⁰; used by "theory" only.

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
    if not (np.isfinite(init_scale) and init_scale > 0):
        raise InputError(
            f"init_scale={init_scale!r} must be positive: at zero all gradients vanish"
        )
    n_numbers = sum(math.prod(shape) for shape in architecture.parameter_shapes().values())
    require_bytes(
        _DRAWING_BYTES * n_numbers,
        what=f"a {architecture.name} network with n_modes={architecture.n_modes}",
        remedy="use fewer modes or narrower layers",
    )
    rng = np.random.default_rng(random_state)
    drawn = (
        _theory(architecture, rng, r_c)
        if init == "theory"
        else _glorot(architecture, rng, init, init_scale)
    )
    return Weights(architecture, drawn).astype(dtype)


def _glorot(
    architecture: Architecture, rng: np.random.Generator, init: Init, scale: float
) -> dict[str, NDArray[Any]]:
    """Glorot's draw, in which all others keep the pairs of units together."""
    arrays: dict[str, NDArray[Any]] = {
        name: rng.normal(0.0, _glorot_scale(name, shape), shape)
        for name, shape in architecture.parameter_shapes().items()
    }
    if architecture.diagonal and init != "glorot":
        twins, reader = _twins(architecture), architecture.reader
        arrays[reader] = arrays[reader][:, twins] * architecture.layout().sign
        if init == "symmetric":
            arrays[DIAGONAL] = np.abs(arrays[DIAGONAL])[twins]
        if init == "even":
            arrays[DIAGONAL] = np.full(len(twins), 1.0 / np.sqrt(len(twins)))
            arrays[OUTPUT] = arrays[OUTPUT] * (0.0 if reader == OUTPUT else 1.0)
    if architecture.diagonal:
        for name in (DIAGONAL, architecture.reader):
            arrays[name] = scale * arrays[name]
    if architecture.diagonal and init == "even" and architecture.reader == OUTPUT:
        constant = architecture.layout().mode == 0
        arrays[DIAGONAL][constant] = 1.0 / np.sqrt(constant.sum())
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
