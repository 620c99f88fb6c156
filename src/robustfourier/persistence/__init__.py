"""Models and checkpoints in files: arrays and JSON, checked and versioned; never a pickle."""

from robustfourier.persistence.models import describe, load, save

__all__ = ["describe", "load", "save"]
