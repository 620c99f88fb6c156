"""The noise floor: power of the noise as a function of the mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robustfourier.arrays import FloatArray, Matrix, Vector
from robustfourier.compiling import compiled


@dataclass(frozen=True)
class NoiseFloor:
    """Noise power per output as a function of the mode."""

    mode: FloatArray  # (C,): window centres, ascending
    #: (C, q): noise power there: the variance of white noise that would have the same spectrum
    level: FloatArray
    dof: FloatArray  # (C,): how many exponential ordinates each level is worth
    #: (J,): side peaks of the spectral window: power at a mode k shows again at k ± distance, by
    #: the square of the height. Slow drift seen once a night is seen at one cycle per day too.
    distance: FloatArray = field(default_factory=lambda: np.zeros(0))
    height: FloatArray = field(default_factory=lambda: np.zeros(0))

    def at(self, modes: FloatArray) -> FloatArray:
        """Return the level at any modes, shape (len(modes), q); geometric between centres."""
        modes = np.ascontiguousarray(modes, np.float64)
        level = np.full((len(modes), self.level.shape[1]), -np.inf)
        side = self.distance, 2.0 * np.log(self.height)
        _log_levels(modes, self.mode, np.log(self.level), *side, level)
        return np.exp(level, out=level)

    def dof_at(self, modes: FloatArray) -> FloatArray:
        """Return the degrees of freedom at any modes, shape (len(modes),)."""
        return np.interp(modes, self.mode, self.dof)


@compiled
def _log_levels(
    modes: Vector, centres: Vector, logs: Matrix, distance: Vector, lift: Vector, level: Matrix
) -> None:
    """Raise log levels to those at modes: straight between centres, and beyond the ends the same.

    Side peaks show what is elsewhere, too. Most modes lie on the straight piece of the one before.
    """
    for image in range(1 + 2 * len(distance)):
        side = 0.0 if image == 0 else distance[(image - 1) // 2] * (1.0 if image % 2 else -1.0)
        up = 0.0 if image == 0 else lift[(image - 1) // 2]
        for o in range(level.shape[1]):
            begin, end, centre, value, slope = np.inf, -np.inf, 0.0, 0.0, 0.0
            for m in range(len(modes)):
                mode = abs(modes[m] + side)
                if mode < begin or mode >= end:
                    after, beyond = 0, len(centres)  # the first centre above the mode
                    while after < beyond:
                        middle = (after + beyond) // 2
                        if centres[middle] <= mode:
                            after = middle + 1
                        else:
                            beyond = middle
                    i = max(after - 1, 0)
                    begin = centres[i] if after else -np.inf
                    end = centres[after] if after < len(centres) else np.inf
                    centre, value, slope = centres[i], logs[i, o] + up, 0.0
                    if 0 < after < len(centres):
                        slope = (logs[after, o] - logs[i, o]) / (end - centre)
                level[m, o] = max(level[m, o], value + slope * (mode - centre))
