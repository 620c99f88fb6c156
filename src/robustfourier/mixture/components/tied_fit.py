"""Completing: families refined with exact ties, and harmonics too weak to pass alone added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.components.fit_context import AT_THE_END, Ground
from robustfourier.mixture.components.weak_harmonics import further_harmonics
from robustfourier.mixture.line_wings import CLEAR
from robustfourier.mixture.search.detection import SAME_LINE
from robustfourier.periodic.harmonic_families import Families, density
from robustfourier.periodic.priors import FAMILY, SMALLEST_MODE_ERROR, harmonic_share
from robustfourier.periodic.variable_projection import Refined

ROUNDS = 5  # of searching within families; each looks beside what the last one found


@dataclass(frozen=True)
class Found:
    """Lines so far: how they are tied, their false-alarm probabilities, which were given."""

    grouping: Families
    false_alarm: FloatArray
    known: BoolArray


def tied_lines(ground: Ground, found: Found) -> tuple[Found, Refined]:
    """Refine with ties and add harmonics found within families, until nothing changes."""
    found, refined = _without_twins(ground, found, _refine(ground, found.grouping))
    for _ in range(ROUNDS if len(found.grouping.bases) else 0):
        found = replace(found, grouping=replace(found.grouping, bases=refined.bases))
        richer = _with_harmonics(ground, found, refined)
        if richer is found:
            break
        found, refined = richer, _refine(ground, richer.grouping)
        found, refined = _tied_again(ground, found, refined)
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


def _tied_again(ground: Ground, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Tie lines that stand alone to a multiple beside them, by the odds of `harmonic_families`.

    A weak harmonic that was missing biases its neighbours: once it is there, a line that stood
    alone may turn out to belong to a family.
    """
    series = ground.series
    wished = len(series.settings.split) > 0
    for line in () if series.integer or wished else range(len(refined.lines)):
        component, families = found.grouping.component, found.grouping
        if found.known[line] or np.count_nonzero(component == component[line]) > 1:
            continue
        mode = float(refined.lines.mode[line])
        for j, base in enumerate(refined.bases):
            order, there = round(mode / base), families.harmonics[families.of_base(j), j]
            if families.harmonics[line, j] or order < 2 or order in there:
                continue
            if abs(mode - order * base) >= CLEAR:
                continue
            contrast = families.harmonics[line].astype(np.float64)
            contrast[j] -= order
            variance = float(contrast @ refined.base_covariance @ contrast)
            variance += SMALLEST_MODE_ERROR**2
            gap = order - int(there[there < order].max(initial=0))
            others = np.delete(refined.lines.mode, line)
            free = float(density(np.array([mode]), others, ground.highest)[0])
            gain = np.log(harmonic_share(gap) / (free * np.sqrt(2.0 * np.pi * variance)))
            gain -= FAMILY + np.log(len(others) / len(there))
            if gain > 0.5 * float(contrast @ refined.bases) ** 2 / variance:
                rows = families.harmonics.copy()
                rows[line] = 0
                rows[line, j] = order
                trial = replace(families, bases=refined.bases, harmonics=rows)
                tied = _refine(ground, trial := trial.kept(np.ones(len(rows), bool)))
                found = replace(found, grouping=replace(trial, bases=tied.bases))
                return _tied_again(ground, found, tied)
    return found, refined


def _without_twins(ground: Ground, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Drop lines that the refinement moved closer to another than the record can resolve.

    Two such lines grow against each other without bound. A given line stays, then the one of the
    larger family, then the one less likely to be noise. What it moved through zero was no line
    but a slope, which lines grow against each other to imitate.
    """
    found, refined = _without(ground, found, refined, refined.lines.mode <= 0.0)
    while len(refined.lines) > 1:
        order = np.argsort(refined.lines.mode, kind="stable")
        closest = int(np.argmin(np.diff(refined.lines.mode[order])))
        pair = order[closest : closest + 2]
        twins = np.ptp(refined.lines.mode[pair]) < SAME_LINE
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
        replace(found.grouping, bases=refined.bases).kept(~drop),
        found.false_alarm[~drop],
        found.known[~drop],
    )
    return found, _refine(ground, found.grouping)


def _refine(ground: Ground, grouping: Families) -> Refined:
    """Refine with ties; the covariance is that for the noise around each line."""
    found = ground.refine(grouping, None, AT_THE_END)
    if not found.converged:  # a ridge, on which as many steps again may be taken
        found = ground.refine(replace(grouping, bases=found.bases), None, AT_THE_END)
    colour = ground.colour(found.lines.mode, found)
    return replace(found, relative_psd=colour, noise_gram=ground.noise_gram(found))
