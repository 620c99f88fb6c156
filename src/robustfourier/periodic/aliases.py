"""Aliases: modes that samples see alike, or nearly so.

On an even grid mode k and mode 2N − k (N the Nyquist mode) agree at every sample, so harmonics
beyond the Nyquist mode are seen at lower modes. With gaps or a daily rhythm of sampling the
spectral window has strong side peaks at some distance d, and a line at k looks much like one at
k ± d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.periodic.periodogram import PeriodogramGrid

#: Orders up to which aliased harmonics are looked for.
HARMONICS = 64
_EACH = 3  # so many aliases are listed one by one; more are given by their distances
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


@dataclass(frozen=True)
class Alias:
    """One line could be another."""

    line: int  # index of the line
    mode: float  # the line's mode
    other: float  # the mode it could be instead
    distance: float  # the side peak of the spectral window that is between the two
    #: height of the spectral window between the two, 0 to 1; 1 means that no sample tells them
    #: apart
    likeness: float

    def __str__(self) -> str:
        if self.likeness > 1.0 - 1e-6:
            same = f"mode {self.mode:.6g} gives the same samples as mode {self.other:.6g}"
            return f"{same} (even sampling)"
        return (
            f"mode {self.mode:.6g} could be an alias of mode {self.other:.6g} "
            f"(spectral window {self.likeness:.2f})"
        )


def sampling_aliases(
    modes: FloatArray, power: FloatArray, nyquist: float | None, grid: PeriodogramGrid
) -> tuple[Alias, ...]:
    """List what each line could be instead.

    `modes` (K,): lines. `power` (K,): their strength; of two lines that are each other's alias only
    the weaker is doubtful. `nyquist`: Nyquist mode of an even grid. `grid`: positions and weights.
    """
    found: list[Alias] = []
    for i, mode in enumerate(modes):
        if nyquist is not None:
            found.append(Alias(i, float(mode), float(2.0 * nyquist - mode), 2.0 * nyquist, 1.0))
    for distance, height in grid.side_peaks:
        for i, mode in enumerate(modes):
            for other in (abs(mode - distance), mode + distance):
                if other < 1.5 or other > grid.modes[-1]:
                    continue
                nearest = np.abs(modes - other)
                known = nearest.min(initial=np.inf) < 1.0
                if known and power[int(np.argmin(nearest))] <= power[i]:
                    continue
                found.append(Alias(i, float(mode), float(other), distance, height))
    return tuple(found)


def alias_notes(aliases: Sequence[Alias]) -> list[str]:
    """Say in few lines what could be something else; aliases of an even grid are not told here."""
    doubtful = [alias for alias in aliases if alias.likeness < 1.0 - 1e-6]
    if len(doubtful) <= _EACH:
        return [str(alias) for alias in doubtful]
    notes = []
    for distance, likeness in dict.fromkeys((a.distance, a.likeness) for a in doubtful):
        lines = {alias.line for alias in doubtful if alias.distance == distance}
        notes.append(
            f"{len(lines)} of the modes could each be an alias {distance:.6g} modes away "
            f"(spectral window {likeness:.2f}); what fits better is reported"
        )
    return notes
