"""Aliases: other modes that the same samples could hardly tell from a line.

On an even grid mode k and mode 2N − k (N the Nyquist mode) agree at every sample. With gaps or a
daily rhythm of sampling, the spectral window has strong side peaks at some distance d, and a line
at k looks much like one at k ± d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.periodic.periodogram import PeriodogramGrid

_EACH = 3  # so many aliases are listed one by one; more are told by their distances


@dataclass(frozen=True)
class Alias:
    """One line could be another.

    Parameters
    ----------
    line : int
        Index of the line.
    mode : float
        The line's mode.
    other : float
        The mode it could be instead.
    distance : float
        The side peak of the spectral window that is between the two.
    likeness : float
        Height of the spectral window between the two, 0 to 1; 1 means that no sample tells them
        apart.
    """

    line: int
    mode: float
    other: float
    distance: float
    likeness: float

    def __str__(self) -> str:
        if self.likeness > 1.0 - 1e-6:
            return f"mode {self.mode:.6g} cannot be told from mode {self.other:.6g} (even sampling)"
        return (
            f"mode {self.mode:.6g} could be an alias of mode {self.other:.6g} "
            f"(spectral window {self.likeness:.2f})"
        )


def sampling_aliases(
    modes: FloatArray, power: FloatArray, nyquist: float | None, grid: PeriodogramGrid
) -> tuple[Alias, ...]:
    """List what each line could be instead.

    Parameters
    ----------
    modes : ndarray of shape (K,)
        Lines.
    power : ndarray of shape (K,)
        Their strength; of two lines that are each other's alias only the weaker is doubtful.
    nyquist : float or None
        Nyquist mode of an even grid.
    grid : PeriodogramGrid
        Positions and weights.
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
