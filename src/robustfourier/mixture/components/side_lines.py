"""Side lines: lines that a pattern has because it is not quite steady.

Two tones closer than two modes beat less than twice in the record, and nothing in it tells them
from one tone that swells and fades. One of less than half the height is then read as part of the
stronger one's pattern: it is kept in the fit and its power counts to the pattern, but it is no
pattern of its own. Samples that come in seasons or nights show the same beside the images of a
tone, one cycle per year or day away: there too a tone is hard to tell from one that changes from
season to season.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.periodic.aliases import is_folded
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.harmonic_families import Families

CLOSE = 1.9  # modes; the tides K1 and P1, or S2 and K2, are 2.0 apart in a year and are told
FEW = 2  # lines of a pattern that may be side lines of another one; more are a family
WEAKER = 0.25  # of the power of the line beside, or of the pattern's strongest: half its height


def with_side_lines(
    grouping: Families,
    lines: Lines,
    listed: BoolArray,
    nyquist: float = np.inf,
    images: FloatArray | None = None,
    split: FloatArray | None = None,
) -> tuple[IntArray, IntArray, IntArray]:
    """Give lines beside a stronger pattern to that pattern.

    Parameters
    ----------
    grouping : Families
        Bases with the strongest first.
    lines : Lines
        All lines.
    listed : ndarray of bool, shape (K,)
        Lines that are significant.
    nyquist : float
        Nyquist mode of an even grid; harmonics beyond it are seen folded, as side lines.
    images : ndarray of shape (J,), optional
        Distances of the side peaks of the spectral window, in modes.
    split : ndarray of shape (S,), optional
        Fundamentals that the user took apart from their harmonics.

    Returns
    -------
    component, order : ndarray of int of shape (K,)
        Component of each line, and its order there; 0 for a side line.
    rows : ndarray of int of shape (C, F)
        Fundamental of each component as a combination of the bases.
    """
    component, order = grouping.component.copy(), grouping.order.copy()
    power = np.sum(lines.amplitude**2, axis=1)
    rows = np.array(grouping.rows, dtype=np.int64)
    rows = rows.reshape(len(grouping.rows), len(grouping.bases))
    base = rows @ grouping.bases
    taken_apart = np.zeros(0) if split is None else split
    whole = np.abs(base[:, None] - taken_apart).min(axis=1, initial=np.inf) >= 1.0
    beside = np.abs(lines.mode[:, None] - lines.mode)
    for image in np.zeros(0) if images is None else images:
        beside = np.minimum(beside, np.abs(np.abs(lines.mode[:, None] - lines.mode) - image))
    for c in np.argsort(-np.bincount(component, power, minlength=len(rows)), kind="stable"):
        own = np.flatnonzero(listed & (component == c))
        if not 0 < len(own) <= FEW:
            continue
        hosts = {
            _host(
                int(line), lines.mode, beside[line], power, component, order, base, nyquist, whole
            )
            for line in own
        }
        if len(hosts) == 1 and (host := hosts.pop()) >= 0:
            mine = component == c
            component[mine], order[mine] = host, 0
    alive = np.isin(np.arange(len(rows)), component)
    return (np.cumsum(alive) - 1)[component], order, rows[alive]


def _host(
    line: int,
    mode: FloatArray,
    beside: FloatArray,
    power: FloatArray,
    component: IntArray,
    order: IntArray,
    base: FloatArray,
    nyquist: float,
    whole: BoolArray,
) -> int:
    """Return the component that a line is a side line of, −1 if it is none."""
    others = component != component[line]
    near = (beside < CLOSE) & others & (order > 0)
    near &= power[line] < WEAKER * power
    if near.any():
        return int(component[np.argmax(np.where(near, power, 0.0))])
    for c in np.unique(component[others & whole[component]]):
        members = component == c
        strong = np.sum(members) > 1 and power[line] <= WEAKER * np.max(power[members])
        if strong and is_folded(mode[[line]], float(base[c]), nyquist).any():
            return int(c)
    return -1
