"""Training of the networks: schedules, losses, batches, engines, the two trainings.

`train_jointly` moves all parameters at once, `train_layerwise` is Algorithm 1 of the paper. Torch
is loaded only by the engine that needs it.
"""

from robustfourier.training.batches import FixedSample, fixed_sample
from robustfourier.training.callbacks import (
    Progress,
    ProgressBar,
    SaveCheckpoint,
    StopWhenStalled,
)
from robustfourier.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from robustfourier.training.history import History
from robustfourier.training.loop import Training
from robustfourier.training.losses import Loss
from robustfourier.training.many_networks import BatchedTraining, train_batched, train_many
from robustfourier.training.schedule import InverseDecay
from robustfourier.training.sgd import train_jointly, train_layerwise

__all__ = [
    "BatchedTraining",
    "Checkpoint",
    "FixedSample",
    "History",
    "InverseDecay",
    "Loss",
    "Progress",
    "ProgressBar",
    "SaveCheckpoint",
    "StopWhenStalled",
    "Training",
    "fixed_sample",
    "load_checkpoint",
    "save_checkpoint",
    "train_batched",
    "train_jointly",
    "train_layerwise",
    "train_many",
]
