"""Folding: on an even grid, harmonics beyond the Nyquist mode are seen at lower modes.

A square wave has harmonics without end. Where its period is 55½ samples, say, those beyond the
Nyquist mode are seen halfway between the others, as if the wave repeated every 111 samples.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray

HARMONICS = 64  # orders up to which folded harmonics are looked for
FOLDED = 0.25  # modes: the sixtieth harmonic of a base known to 0.004
# Cycles of a wave that jumps differ by a sample where a jump comes sooner or later. If it jumps by
# h in all, a line between its harmonics has at most the amplitude h over the L samples of a cycle:
# of the power of a square wave 8/L², of a pulse of a sixth of the cycle 14/L². Twice that is
# allowed: of square waves of 55½ samples 16/L² was seen, while other lines were not yet in the fit.
_JUMPS = 32.0
_STRONG = 128  # orders of the strongest line: of a square wave the 97th was still found
_FEWEST = 20.0  # samples of a cycle: with fewer that is more than a twelfth, and may be anything
_BETWEEN = 0.1  # of the base; fundamentals are up to seven times slower, and have lines at sevenths


def folded_harmonics(base: float, nyquist: float, highest: int = HARMONICS) -> FloatArray:
    """Return where harmonics beyond the Nyquist mode of an even grid are seen.

    >>> folded_harmonics(40.0, 100.0)[:3]
    array([80., 40.,  0.])
    """
    modes = base * np.arange(1, highest + 1)
    beyond = modes[modes > nyquist]
    return np.asarray(nyquist - np.abs(np.mod(beyond, 2.0 * nyquist) - nyquist))


def is_folded(mode: FloatArray, base: float, nyquist: float, highest: int = HARMONICS) -> BoolArray:
    """Whether lines stand where a folded harmonic of a base is seen.

    >>> is_folded(np.array([80.1, 70.0]), 40.0, 100.0)
    array([ True, False])
    """
    distance = np.abs(mode[:, None] - folded_harmonics(base, nyquist, highest))
    return np.any(distance < FOLDED, axis=1)


def folded_lines(mode: FloatArray, power: FloatArray, nyquist: float) -> BoolArray:
    """Mark lines between harmonics of the strongest line that are its folded harmonics, (K,).

    A slower pattern would have lines at the same places. So none is marked where one of them has
    more power than folded harmonics can have, even those of a wave that jumps.

    Examples
    --------
    >>> mode, power = np.array([10.0, 5.0, 30.0]), np.array([100.0, 1.0, 9.0])
    >>> folded_lines(mode, power, nyquist=277.5)  # the 55th, 550, is seen at 2 · 277.5 − 550
    array([False,  True, False])
    >>> folded_lines(mode, np.array([100.0, 20.0, 9.0]), nyquist=277.5)
    array([False, False, False])
    """
    base = float(mode[np.argmax(power)]) if len(mode) else np.inf
    samples = 2.0 * nyquist / base  # of a cycle
    if not _FEWEST <= samples < np.inf:
        return np.zeros(len(mode), bool)
    between = np.abs(mode / base - np.round(mode / base)) > _BETWEEN
    folded = between & is_folded(mode, base, nyquist, _STRONG)
    highest = power[folded].max(initial=0.0)
    return folded & (highest < _JUMPS / samples**2 * power.sum())
