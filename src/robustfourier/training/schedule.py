"""The step size over time: the paper's inverse decay α_0 / (1 + γ·step/m_0)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError


@dataclass(frozen=True)
class InverseDecay:
    """Inverse decay of the learning rate (section 5 of the paper).

    Parameters
    ----------
    initial : float, default 2e-3
        α_0, the rate of step 0.
    decay : float, default 0.95
        γ; 0 keeps the rate constant.
    steps : float, default 50_000
        m_0, the steps after which the rate has fallen to α_0 / (1 + γ).

    Examples
    --------
    >>> InverseDecay(2e-3, 0.95, 50_000).rates(50_000, 1)
    array([0.00102564])
    >>> InverseDecay(0.1, decay=0).rates(7, 2)
    array([0.1, 0.1])
    """

    initial: float = 2e-3
    decay: float = 0.95
    steps: float = 50_000

    def __post_init__(self) -> None:
        if not (np.isfinite(self.initial) and self.initial > 0):
            raise InputError(f"learning_rate={self.initial!r} must be a positive number")
        if not (np.isfinite(self.decay) and self.decay >= 0):
            raise InputError(f"decay_rate={self.decay!r} must be 0 (constant rate) or positive")
        if not (np.isfinite(self.steps) and self.steps > 0):
            raise InputError(f"decay_steps={self.steps!r} must be a positive number of steps")

    def rates(self, first: int, n_steps: int) -> FloatArray:
        """Return the rates of steps first, first+1, …, shape (n_steps,)."""
        step = np.arange(first, first + n_steps, dtype=np.float64)
        return self.initial / (1.0 + self.decay * step / self.steps)
