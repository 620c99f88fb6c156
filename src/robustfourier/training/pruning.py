"""Select and go on: drop the modes that the data do not ask for, and fit the rest to the end.

Which modes stay is decided by the data; see `robustfourier.network.mode_selection`. Without dense
layers the rest is refitted exactly; with dense layers it is trained on, as long as before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.network.active_modes import active_modes, mode_strengths
from robustfourier.network.mode_selection import Kept, evident, refitted, without
from robustfourier.network.weights import Weights
from robustfourier.training.batches import FixedSample
from robustfourier.training.history import joined
from robustfourier.training.loop import Training
from robustfourier.training.losses import Loss
from robustfourier.training.sgd import train_jointly

_REWEIGHTINGS = 20  # of Huber's loss; each brings it closer by a constant factor


def select_and_go_on(
    training: Training, sample: FixedSample, loss: Loss, **options: Any
) -> tuple[Training, BoolArray | None]:
    """Return the training continued without the modes that the data do not ask for.

    `training`: of a network with diagonal layer; with dense layers, of one input column. `sample`:
    what it was trained on. `**options`: for `train_jointly`, used with dense layers. Returns shape
    (d, m): the modes that stayed; None if the data speak against it.
    """
    weights = training.weights
    shape, strengths = weights.architecture, mode_strengths(weights)
    trust = _trust(weights, sample, loss)
    kept = evident(sample.theta, sample.y, trust, strengths, absolute=shape.activation == "relu")
    if kept is None:
        return training, None
    if not shape.hidden_layer_sizes:
        fitted = _refit(weights, sample, loss, trust, kept)
        return replace(training, weights=fitted), kept.modes
    # A dense layer may use a mode in ways that neither φ nor |φ| shows: what stands out stays, too.
    modes = kept.modes | active_modes(strengths)
    further = train_jointly(without(weights, modes), sample, loss=loss, **options)
    history = joined(training.history, further.history, "selected")
    return replace(further, history=history, start=training.start), modes


def _trust(weights: Weights, sample: FixedSample, loss: Loss) -> FloatArray:
    """Row weights with which squares cost what the loss costs: slope(r)/r, for all outputs."""
    if loss.name != "huber":
        return sample.weight
    size = np.abs(weights.predict(sample.theta) - sample.y)
    return sample.weight * (loss.delta / np.maximum(size, loss.delta)).mean(axis=1)


def _refit(
    weights: Weights, sample: FixedSample, loss: Loss, trust: FloatArray, kept: Kept
) -> Weights:
    for _ in range(_REWEIGHTINGS if loss.name == "huber" else 1):
        fitted = refitted(weights.architecture, sample.theta, sample.y, trust, kept)
        trust = _trust(fitted, sample, loss)
    return fitted.astype(str(weights.dtype))
