"""Tied lines: families refined with exact ties, completed by harmonics too weak to pass alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.components.families import further_harmonics
from robustfourier.mixture.components.grouping import LOWEST, Grouping, group
from robustfourier.mixture.least_squares.moments import Moments
from robustfourier.mixture.least_squares.refine import Refined, refine
from robustfourier.mixture.search.cusps import cusp_ratio
from robustfourier.mixture.search.noise import NoiseFloor
from robustfourier.mixture.search.significance import false_alarm, line_power, search_widths

__all__ = ["Data", "Found", "alarms", "noise_colour", "refine_tied", "tied_lines"]


TWINS = 0.5  # in modes: lines closer than this are one
# Refinement stops when a step would lower χ² by less: 1e-4 and 1e-5 of a standard error.
ON_THE_WAY, AT_THE_END = 1e-8, 1e-10
ROUNDS = 5  # of searching within families; each can only follow what the last one found


@dataclass(frozen=True)
class Data:
    """The samples and what is known about noise and search; nothing here changes."""

    theta: FloatArray
    y: FloatArray
    weights: FloatArray
    trend: FloatArray
    floor: NoiseFloor
    noise: FloatArray
    highest: float
    level: float
    integer: bool
    moments_at: Callable[[FloatArray], Moments]


@dataclass(frozen=True)
class Found:
    """Lines so far: how they are tied, their false-alarm probabilities, which were given."""

    grouping: Grouping
    false_alarm: FloatArray
    known: BoolArray


def tied_lines(data: Data, found: Found) -> tuple[Found, Refined]:
    """Refine with ties, add harmonics found within families, group again; until nothing changes.

    A weak harmonic that was missing biases its neighbours: once it is there, a line that stood
    alone may turn out to belong to a family, or to be noise.
    """
    found, refined = _without_twins(data, found, _refine(data, found.grouping))
    for _ in range(ROUNDS if len(found.grouping.bases) else 0):
        found = replace(found, grouping=replace(found.grouping, bases=refined.bases))
        richer = _with_harmonics(data, found, refined)
        if richer is found:
            break
        found, refined = richer, _refine(data, richer.grouping)
        found = _grouped_again(data, found, refined)
        refined = _refine(data, found.grouping)
        found, refined = _without_noise(data, found, refined)
        found, refined = _without_twins(data, found, refined)
    return replace(found, grouping=replace(found.grouping, bases=refined.bases)), refined


def _with_harmonics(data: Data, found: Found, refined: Refined) -> Found:
    """Add the harmonics that the residual holds; the same object if there are none."""
    further = further_harmonics(
        data.theta,
        data.weights,
        refined.residuals,
        found.grouping,
        data.floor,
        highest=data.highest,
        level=data.level,
    )
    if not len(further.rows):
        return found
    rows = np.vstack([found.grouping.harmonics, further.rows])
    return Found(
        replace(found.grouping, harmonics=rows),
        np.concatenate([found.false_alarm, further.false_alarm]),
        np.concatenate([found.known, np.zeros(len(further.rows), bool)]),
    )


def _grouped_again(data: Data, found: Found, refined: Refined) -> Found:
    """Group the refined lines; taken if it needs fewer bases."""
    if data.integer:
        return replace(found, grouping=replace(found.grouping, bases=refined.bases))
    grouping = group(
        refined.lines.mode,
        refined.mode_error,
        _strength(data, refined),
        highest=data.highest,
        fixed=found.known,
    )
    fewer = len(grouping.bases) < len(refined.bases)
    return replace(
        found, grouping=grouping if fewer else replace(found.grouping, bases=refined.bases)
    )


def _without_noise(data: Data, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Drop lines that stand alone and no longer pass now that the harmonics are there."""
    alarm = alarms(data, refined)
    component = found.grouping.component
    alone = np.bincount(component)[component] == 1
    return _without(data, found, refined, alone & ~found.known & (alarm > data.level))


def _without_twins(data: Data, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Drop lines that the refinement moved closer to another than the record can resolve.

    Two such lines grow against each other without bound. A given line stays, then the one of the
    larger family, then the one less likely to be noise.
    """
    while len(refined.lines) > 1:
        order = np.argsort(refined.lines.mode, kind="stable")
        closest = int(np.argmin(np.diff(refined.lines.mode[order])))
        pair = order[closest : closest + 2]
        twins = np.ptp(refined.lines.mode[pair]) < TWINS
        if not twins or found.known[pair].all() or data.integer:
            break
        component = found.grouping.component
        size = np.bincount(component)[component]
        worst = max(pair, key=lambda i: (not found.known[i], -size[i], found.false_alarm[i]))
        drop = np.arange(len(order)) == worst
        found, refined = _without(data, found, refined, drop)
    return found, refined


def _without(data: Data, found: Found, refined: Refined, drop: BoolArray) -> tuple[Found, Refined]:
    """Refine again without some lines, and without bases that no line is left of."""
    if not drop.any():
        return found, refined
    found = Found(
        _supported(found.grouping, refined.bases, ~drop),
        found.false_alarm[~drop],
        found.known[~drop],
    )
    return found, _refine(data, found.grouping)


def _supported(grouping: Grouping, bases: FloatArray, keep: BoolArray) -> Grouping:
    """Return the grouping of some of its lines; every base has a harmonic of its own among them.

    A combination tone of a base that has none left is a combination of nothing known: it is free.
    """
    rows = grouping.harmonics[keep]
    pure = np.count_nonzero(rows, axis=1) == 1
    alive = rows[pure].any(axis=0)
    orphans = np.flatnonzero((rows[:, ~alive] != 0).any(axis=1))
    own = np.zeros((len(rows), len(orphans)), dtype=rows.dtype)
    own[orphans, np.arange(len(orphans))] = 1
    kept = rows[:, alive]
    kept[orphans] = 0
    return Grouping(
        np.concatenate([bases[alive], rows[orphans] @ bases]),
        np.hstack([kept, own]),
        np.concatenate([grouping.fixed[alive], np.zeros(len(orphans), bool)]),
    )


def alarms(data: Data, refined: Refined) -> FloatArray:
    """Return the false-alarm probability of each line, shape (K,)."""
    modes = refined.lines.mode
    width = search_widths(data.theta, data.weights, LOWEST, data.highest, modes)
    return false_alarm(_strength(data, refined), width=width, dof=data.floor.dof_at(modes))


def _strength(data: Data, refined: Refined) -> FloatArray:
    """Power of each line over the noise floor, the strongest output, shape (K,)."""
    lines, root = refined.lines, np.sqrt(data.floor.at(refined.lines.mode))
    return line_power(refined.gram, lines.cosine / root, lines.sine / root).max(axis=1)


def _refine(data: Data, grouping: Grouping) -> Refined:
    """Refine with ties; the covariance is that for the noise around each line."""
    first = refine_tied(data, grouping, None, ON_THE_WAY)
    settled = replace(grouping, bases=first.bases)
    colour = noise_colour(data, first.lines.mode, first.residuals)
    return refine_tied(data, settled, colour)


def refine_tied(
    data: Data, grouping: Grouping, colour: FloatArray | None, gain: float = AT_THE_END
) -> Refined:
    """Refine with ties until a step promises to lower χ² by no more than `gain`."""
    return refine(
        data.theta,
        data.y,
        data.weights,
        grouping.bases,
        grouping.harmonics,
        trend=data.trend,
        fixed=grouping.fixed,
        colour=colour,
        moments_at=data.moments_at,
        tolerance=gain / float(data.weights.sum()),
    )


def noise_colour(data: Data, modes: FloatArray, residuals: FloatArray) -> FloatArray:
    """Noise power at the modes over the variance of the noise, shape (K,).

    The local floor is worth a dozen ordinates or two, and low where the fit of many lines has
    emptied them. Where it does not clearly differ from white noise, it is white noise: its
    logarithm is shrunk to zero by the James-Stein factor.
    """
    variance = np.maximum(data.noise, np.finfo(float).tiny)
    cusps = cusp_ratio(data.theta, data.weights, residuals, modes, modes, data.floor)
    local = np.log((data.floor.at(modes) / variance).mean(axis=1))
    chance = 1.0 / np.maximum(data.floor.dof_at(modes), 1.0)
    kept = 1.0 - chance / np.maximum(local**2, chance)
    return np.asarray(cusps * np.exp(kept * local))
