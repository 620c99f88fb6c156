"""Models and checkpoints in files: arrays and JSON, checked and versioned; never a pickle."""

from robustfourier.persistence.model_files import describe, load, save

__all__ = ["describe", "load", "save"]
