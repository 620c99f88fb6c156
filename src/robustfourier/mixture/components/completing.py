"""Completing: families refined with exact ties, and harmonics too weak to pass alone added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.components.families import further_harmonics
from robustfourier.mixture.components.ground import AT_THE_END, Ground
from robustfourier.mixture.components.grouping import Grouping, group
from robustfourier.mixture.components.resolving import resolved_families, without_bases
from robustfourier.mixture.components.wishes import as_wished
from robustfourier.periodic.variable_projection import Refined

TWINS = 0.5  # in modes: lines closer than this are one
ROUNDS = 5  # of searching within families; each looks beside what the last one found


@dataclass(frozen=True)
class Found:
    """Lines so far: how they are tied, their false-alarm probabilities, which were given."""

    grouping: Grouping
    false_alarm: FloatArray
    known: BoolArray


def tied_lines(ground: Ground, found: Found) -> tuple[Found, Refined]:
    """Refine with ties, add harmonics found within families, group again; until nothing changes.

    A weak harmonic that was missing biases its neighbours: once it is there, a line that stood
    alone may turn out to belong to a family, or to be noise.
    """
    found, refined = _without_twins(ground, found, _refine(ground, found.grouping))
    for _ in range(ROUNDS if len(found.grouping.bases) else 0):
        found = replace(found, grouping=replace(found.grouping, bases=refined.bases))
        richer = _with_harmonics(ground, found, refined)
        if richer is found:
            break
        found, refined = richer, _refine(ground, richer.grouping)
        again = _grouped_again(ground, found, refined)
        if again is not found:
            found, refined = again, _refine(ground, again.grouping)
        found, refined = _without_noise(ground, found, refined)
        found, refined = _without_twins(ground, found, refined)
    return replace(found, grouping=replace(found.grouping, bases=refined.bases)), refined


def _with_harmonics(ground: Ground, found: Found, refined: Refined) -> Found:
    """Add the harmonics that the residual holds; the same object if there are none."""
    further = further_harmonics(
        ground, found.grouping, partial(ground.series.residual_sums, refined)
    )
    if not len(further.rows):
        return found
    rows = np.vstack([found.grouping.harmonics, further.rows])
    return Found(
        replace(found.grouping, harmonics=rows),
        np.concatenate([found.false_alarm, further.false_alarm]),
        np.concatenate([found.known, np.zeros(len(further.rows), bool)]),
    )


def _grouped_again(ground: Ground, found: Found, refined: Refined) -> Found:
    """Group the refined lines; the same object unless that needs fewer bases."""
    if ground.series.integer:
        return found
    grouping = group(
        refined.lines.mode,
        refined.mode_error,
        ground.judge.lines(refined, ground.floor)[0],
        highest=ground.highest,
        fixed=found.known,
        nyquist=ground.series.nyquist,
    )
    grouping = as_wished(resolved_families(grouping), ground.series.settings)
    return replace(found, grouping=grouping) if len(grouping.bases) < len(refined.bases) else found


def _without_noise(ground: Ground, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Drop lines that stand alone and no longer pass now that the harmonics are there."""
    _, alarm = ground.judge.lines(refined, ground.floor)
    component = found.grouping.component
    alone = np.bincount(component)[component] == 1
    return _without(ground, found, refined, alone & ~found.known & (alarm > ground.level))


def _without_twins(ground: Ground, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Drop lines that the refinement moved closer to another than the record can resolve.

    Two such lines grow against each other without bound. A given line stays, then the one of the
    larger family, then the one less likely to be noise.
    """
    while len(refined.lines) > 1:
        order = np.argsort(refined.lines.mode, kind="stable")
        closest = int(np.argmin(np.diff(refined.lines.mode[order])))
        pair = order[closest : closest + 2]
        twins = np.ptp(refined.lines.mode[pair]) < TWINS
        if not twins or found.known[pair].all() or ground.series.integer:
            break
        component = found.grouping.component
        size = np.bincount(component)[component]
        worst = max(pair, key=lambda i: (not found.known[i], -size[i], found.false_alarm[i]))
        drop = np.arange(len(order)) == worst
        found, refined = _without(ground, found, refined, drop)
    return found, refined


def _without(
    ground: Ground, found: Found, refined: Refined, drop: BoolArray
) -> tuple[Found, Refined]:
    """Refine again without some lines, and without bases that no line is left of."""
    if not drop.any():
        return found, refined
    found = Found(
        _supported(found.grouping, refined.bases, ~drop),
        found.false_alarm[~drop],
        found.known[~drop],
    )
    return found, _refine(ground, found.grouping)


def _supported(grouping: Grouping, bases: FloatArray, keep: BoolArray) -> Grouping:
    """Return the grouping of some of its lines; every base has a harmonic of its own among them.

    A combination tone of a base that has none left is a combination of nothing known: it is free.
    """
    rows = grouping.harmonics[keep]
    pure = np.count_nonzero(rows, axis=1) == 1
    return without_bases(Grouping(bases, rows, grouping.fixed), rows[pure].any(axis=0))


def _refine(ground: Ground, grouping: Grouping) -> Refined:
    """Refine with ties; the covariance is that for the noise around each line."""
    found = ground.refine(grouping, None, AT_THE_END)
    if not found.converged:  # a ridge, on which as many steps again may be taken
        found = ground.refine(replace(grouping, bases=found.bases), None, AT_THE_END)
    return replace(found, relative_psd=ground.colour(found.lines.mode, found))
