"""How the parameters of a `FourierNetworkRegressor` become a training, on targets of size one.

What "auto" means for networks that no closed form covers is measured, not derived. With dense
layers: start × 0.3, rate 0.02, 12 000 steps. Example 3 of the paper (noise 0.4, three seeds):
u2_diag 0.055 where the start as drawn gives 0.065 after 300 000 steps at a tenth of the rate, which
is what the paper trains with. Without a diagonal layer, and layer by layer, the scale of the start
decides nothing, and rate and steps are those of the paper's examples 1 and 2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.errors import InputError, require_choice
from robustfourier.estimators.validation import seed_sequence
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import highest_mixed_mode
from robustfourier.network.initial_weights import Init, draw_weights
from robustfourier.network.weights import Weights
from robustfourier.training import Training, train_jointly, train_layerwise
from robustfourier.training.batches import FixedSample
from robustfourier.training.calibrated_training import Calibrated, first_band, train_calibrated
from robustfourier.training.losses import Loss
from robustfourier.training.pruning import select_and_go_on
from robustfourier.training.schedule import InverseDecay
from robustfourier.weighted_rows import weighted_median

_CHOICES = {
    "training": ("joint", "layerwise"),
    "dtype": ("float64", "float32"),
    "select": ("ebic", None),
    "links": ("network", None),
}
_MOST_MIXED = 500  # modes across columns: a training of seconds
_N_MODES = 100  # the paper's number


def check_choices(model: Any) -> None:
    """Refuse parameters that are unknown or do not go together."""
    for name, choices in _CHOICES.items():
        require_choice(name, getattr(model, name), choices)
    if model.links is not None and not (is_bare(model) and is_calibrated(model)):
        raise InputError(
            f"links={model.links!r} needs a diagonal network without dense layers that is "
            "trained jointly with n_steps='auto'"
        )
    if model.training == "joint" and "theorem" in (model.diagonal_box, model.output_box):
        raise InputError(
            "diagonal_box='theorem' and output_box='theorem' belong to training='layerwise'; "
            "give numbers for joint training"
        )


def train_network(
    model: Any, sample: FixedSample
) -> tuple[Training, BoolArray | None, Calibrated | None]:
    """Return the training, the modes that a selection kept, and what was calibrated, if it was."""
    start_seed, batch_seed, later_seed = seed_sequence(model.random_state, 3)
    architecture = _architecture(model, sample)
    init, init_scale, learning_rate, n_steps = _defaults(architecture, model.training)
    loss = Loss(model.loss, model.delta)
    options: dict[str, Any] = {
        "batch_size": model.batch_size,
        "engine": model.engine,
        "observers": model.observers or (),
    }
    rule: dict[str, Any] = {
        "ridge": model.ridge,
        "diagonal_box": model.diagonal_box,
        "output_box": model.output_box,
    }

    def start(architecture: Architecture, scale: float) -> Weights:
        return draw_weights(
            architecture,
            _or(model.init, init),
            init_scale=scale,
            r_c=model.r_c,
            random_state=start_seed,
            dtype=model.dtype,
        )

    if is_bare(model) and is_calibrated(model):
        calibrated = train_calibrated(
            sample,
            architecture,
            start,
            loss=loss,
            init_scale=_or(model.init_scale, None),
            learning_rate=_or(model.learning_rate, None),
            grow_band=model.n_modes == "auto",
            random_state=batch_seed,
            **options,
            **rule,
        )
        trained = calibrated.training
    else:
        calibrated = None
        weights = start(architecture, _or(model.init_scale, init_scale))
        options["n_steps"] = _or(model.n_steps, n_steps)
        options["schedule"] = _schedule(model, _or(model.learning_rate, learning_rate))
        if model.training == "layerwise":
            options["n_output_steps"] = model.n_output_steps
            if model.output_learning_rate is not None:
                options["output_schedule"] = _schedule(model, model.output_learning_rate)
        train = train_jointly if model.training == "joint" else train_layerwise
        trained = train(weights, sample, loss=loss, random_state=batch_seed, **options, **rule)
    if not (trained.completed and _selects(model, architecture)):
        return trained, None, calibrated
    trained, kept = select_and_go_on(trained, sample, loss, random_state=later_seed, **options)
    return trained, kept, calibrated


def _architecture(model: Any, sample: FixedSample) -> Architecture:
    n_columns, calibrated = sample.theta.shape[1], is_bare(model) and is_calibrated(model)
    if model.links is not None and n_columns > 1:
        raise InputError(f"links={model.links!r} is for one column; X has {n_columns}")
    mixed = highest_mixed_mode(n_columns, _MOST_MIXED) if calibrated else 0
    architecture = Architecture(
        _or(model.n_modes, _N_MODES),
        n_columns,
        sample.y.shape[1],
        model.hidden_layer_sizes,
        model.diagonal,
        _or(model.activation, "identity" if is_bare(model) else "relu"),
        model.embedding,
        _or(model.mixed_modes, mixed) if n_columns > 1 else 0,
    )
    if model.n_modes == "auto" and calibrated:
        return replace(architecture, n_modes=first_band(sample))
    return architecture


def _defaults(architecture: Architecture, training: str) -> tuple[Init, float, float, int]:
    """Return the start, the factor on its size, the rate and the steps where nothing is given."""
    if architecture.diagonal and training == "joint":
        if architecture.hidden_layer_sizes:
            return "even", 0.3, 0.02, 12_000
        return "even", 0.1, 0.02, 8_000
    return "symmetric", 1.0, InverseDecay().initial, 40_000


def _schedule(model: Any, rate: float) -> InverseDecay:
    """Return a schedule that falls as fast as the paper's in its time, the sum of rates."""
    paper, initial = InverseDecay(), InverseDecay(rate).initial  # checked
    steps = paper.steps * paper.initial / initial
    return InverseDecay(initial, model.decay_rate, _or(model.decay_steps, steps))


def is_bare(model: Any) -> bool:
    """Whether a diagonal layer and nothing else stands before the output."""
    return bool(model.diagonal) and not np.size(model.hidden_layer_sizes)


def is_calibrated(model: Any) -> bool:
    """Whether start, rate and length of the training are left to the data."""
    auto = isinstance(model.n_steps, str) and model.n_steps == "auto"
    return model.training == "joint" and auto and model.init != "theory"


def warn_of_columns(model: Any, architecture: Architecture) -> None:
    """Warn where a sum over columns found nothing, since a product would not show in it."""
    if architecture.n_columns > 1 and is_bare(model) and is_calibrated(model):
        warnings.warn(
            f"none of the {architecture.n_columns} columns explains anything by itself; if "
            "they act together, give mixed_modes, or hidden_layer_sizes",
            stacklevel=4,
        )


def _selects(model: Any, architecture: Architecture) -> bool:
    free = not model.ridge and model.diagonal_box is None and model.output_box is None
    separable = architecture.n_columns == 1 or is_bare(model)
    separable = separable and not architecture.mixed_modes
    return model.select == "ebic" and architecture.diagonal and free and separable


def _or(value: Any, default: Any) -> Any:
    """What a user gave, or the default in place of "auto"."""
    return default if isinstance(value, str) and value == "auto" else value


@dataclass(frozen=True)
class Scaling:
    """y = offset + scale · (what is trained on), both of shape (q,)."""

    offset: FloatArray
    scale: FloatArray

    @classmethod
    def none(cls, n_outputs: int) -> Scaling:
        """Leave y as it is."""
        return cls(np.zeros(n_outputs), np.ones(n_outputs))

    @classmethod
    def mean(cls, y: FloatArray, weight: FloatArray) -> Scaling:
        """Mean and standard deviation."""
        # squares of 1e300 overflow, of 1e-300 vanish; powers of two change no bit of the others
        _, exponent = np.frexp(np.max(np.abs(y), axis=0, initial=0.0))
        unit = np.ldexp(1.0, np.clip(exponent, -1020, 1020))
        offset = np.average(y / unit, axis=0, weights=weight)
        scale = np.sqrt(np.average((y / unit - offset) ** 2, axis=0, weights=weight))
        # a constant y leaves rounding behind, which must not be blown up to size one
        constant = scale <= 1e-12 * np.abs(offset)
        level = np.abs(offset) * unit
        size = np.where(level > 0, np.clip(1.0, 1e-12 * level, level), 1.0)
        return cls(offset * unit, np.where(constant | (scale == 0), size, scale * unit))

    @classmethod
    def robust(cls, y: FloatArray, weight: FloatArray) -> Scaling:
        """Median and 1.4826 times the median absolute deviation, which outliers do not move."""
        plain = cls.mean(y, weight)
        offset = np.array([weighted_median(column, weight) for column in y.T])
        spread = np.array([weighted_median(column, weight) for column in np.abs(y - offset).T])
        # where more than half of y is one number, the spread is that of the rest alone
        return cls(offset, np.where(spread > 0, 1.4826 * spread, plain.scale))

    def apply(self, y: FloatArray) -> FloatArray:
        """Return (y − offset) / scale, shape (n, q)."""
        return (y - self.offset) / self.scale
