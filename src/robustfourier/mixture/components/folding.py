"""Folding: on an even grid, harmonics beyond the Nyquist mode are seen at lower modes."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray

HARMONICS = 64  # orders up to which folded harmonics are looked for
FOLDED = 0.25  # modes: the sixtieth harmonic of a base known to 0.004


def folded_harmonics(base: float, nyquist: float) -> FloatArray:
    """Return where harmonics beyond the Nyquist mode of an even grid are seen.

    >>> folded_harmonics(40.0, 100.0)[:3]
    array([80., 40.,  0.])
    """
    modes = base * np.arange(1, HARMONICS + 1)
    beyond = modes[modes > nyquist]
    return np.asarray(nyquist - np.abs(np.mod(beyond, 2.0 * nyquist) - nyquist))


def is_folded(mode: FloatArray, base: float, nyquist: float) -> BoolArray:
    """Whether lines stand where a folded harmonic of a base is seen.

    >>> is_folded(np.array([80.1, 70.0]), 40.0, 100.0)
    array([ True, False])
    """
    if HARMONICS * base <= nyquist:
        return np.zeros(len(mode), bool)
    distance = np.abs(mode[:, None] - folded_harmonics(base, nyquist))
    return np.any(distance < FOLDED, axis=1)
