"""From significant lines to components: tie, refine, smooth.

The upper half of the mixture model in one function. Each step is a module of its own:
`periodic.harmonic_families` ties the lines, `fit_context` refines them with exact ties,
`waveform_prior` says which harmonics a waveform may have and how to smooth them, `penalised_fit`
makes the last fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from robustfourier.mixture.components.constraints import as_wished
from robustfourier.mixture.components.fit_context import FitContext
from robustfourier.mixture.components.penalised_fit import penalised_fit
from robustfourier.mixture.components.waveform_prior import (
    Prior,
    likely_harmonics,
    prior_of,
    waveform_rows,
)
from robustfourier.mixture.line_wings import CLEAR
from robustfourier.mixture.search.detection import SAME_LINE, Detection
from robustfourier.mixture.significance import false_alarm
from robustfourier.observers import emit, listening
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.harmonic_families import Families, density, tied
from robustfourier.periodic.priors import FAMILY, SMALLEST_MODE_ERROR, harmonic_share
from robustfourier.periodic.semidefinite import pseudo_inverse
from robustfourier.periodic.uncertainty import mode_errors
from robustfourier.periodic.variable_projection import Refined


@dataclass(frozen=True)
class Separated:
    """Lines grouped into components, with everything needed for tables, waveforms and bands.

    Parameters
    ----------
    grouping : Families
        Bases and the integer rows of all lines.
    lines : Lines
        The K lines, those of smoothed waveforms included.
    trend : ndarray of shape (p, q)
        Coefficients of the trend columns.
    base_covariance : ndarray of shape (F, F)
    factor : ndarray of shape (q, p + 4K, r)
        See `robustfourier.periodic.uncertainty`.
    noise_variance : ndarray of shape (q,)
    false_alarm : ndarray of shape (K,)
        NaN for harmonics that only serve a smoothed waveform.
    shift : ndarray of shape (K,)
        Common shift of the line's component; NaN if its harmonics are not in phase.
    p_value : ndarray of shape (K,)
        Of the test for harmonics in phase; NaN where there was nothing to test.
    """

    grouping: Families
    lines: Lines
    trend: FloatArray
    base_covariance: FloatArray
    factor: FloatArray
    noise_variance: FloatArray
    false_alarm: FloatArray
    shift: FloatArray
    p_value: FloatArray

    @property
    def listed(self) -> BoolArray:
        """Lines that are significant."""
        return np.asarray(np.isfinite(self.false_alarm))

    @property
    def mode_error(self) -> FloatArray:
        """Standard error of each line's mode, shape (K,)."""
        return mode_errors(self.grouping.harmonics, self.base_covariance)


def separate(found: Detection) -> Separated:
    """Group the lines of a detection into components and estimate the waveform of each."""
    noise = found.noise_variance, found.fit.trend_size, found.noise_model
    context = FitContext(found.series, found.floor, *noise)
    modes, known = found.fit.modes, found.known
    covariance = found.fit.refined.base_covariance
    return compose(context, modes, covariance, found.strength, found.false_alarm, known)


def compose(
    context: FitContext,
    mode: FloatArray,
    covariance: FloatArray,
    strength: FloatArray,
    alarm: FloatArray,
    known: BoolArray,
) -> Separated:
    """Group lines into components and estimate the waveform of each.

    Parameters
    ----------
    context : FitContext
    mode, strength, alarm : ndarray of shape (K,)
        Significant lines, any measure of their strength, and false-alarm probabilities.
    covariance : ndarray of shape (K, K)
        Of the modes.
    known : ndarray of bool of shape (K,)
        Lines whose modes were given.
    """
    series, highest = context.series, context.highest
    # What stands at a period of the calendar has that period.
    at = series.on_calendar(mode, strength) & ~known
    place = series.calendar.ravel()
    if at.any():
        nearest = place[np.argmin(np.abs(mode[at, None] - place), axis=1)]
        mode, covariance = mode.copy(), covariance * np.outer(~at, ~at)
        mode[at] = nearest
    grouping = tied(
        mode,
        covariance,
        strength,
        highest=highest,
        known=known,
        integer=series.integer,
        nyquist=series.nyquist,
    )
    grouping = as_wished(grouping, series.settings)
    # At the Nyquist mode a line is seen in one of its phases: no sample tells its frequency.
    fixed = grouping.fixed | series.integer | (grouping.bases == series.nyquist)
    grouping = replace(grouping, fixed=fixed)
    grouping, alarm, known, refined = _resolved(context, grouping, alarm, known)
    if listening():
        facts = {"components": grouping.component, "orders": grouping.order}
        emit("patterns", "grouped", modes=refined.lines.mode, **facts)
    if not len(refined.lines):
        return _sinusoids(grouping, refined, alarm)
    richer, alarm = _with_weak_harmonics(context, grouping, refined, alarm)
    if richer is not grouping:
        known = np.append(known, np.zeros(len(alarm) - len(known), bool))
        grouping, refined = _tied_again(context, richer, context.refined(richer), known)
    return _smoothed(context, grouping, alarm, refined)


def _resolved(
    context: FitContext, grouping: Families, alarm: FloatArray, known: BoolArray
) -> tuple[Families, FloatArray, BoolArray, Refined]:
    """Refine with ties, without lines that this moves through zero or onto another.

    What moved through zero was no line but a slope. Two lines closer than the record resolves grow
    against each other without bound: a given one stays, then the one of the larger family, then
    the one less likely to be noise.
    """
    while True:
        refined = context.refined(grouping)
        grouping, mode = replace(grouping, bases=refined.bases), refined.lines.mode
        size = np.bincount(grouping.component)[grouping.component]
        rank = np.argsort(np.lexsort((alarm, -size, ~known)))
        twin = (np.abs(mode[:, None] - mode) < SAME_LINE) & (rank[:, None] > rank)
        free = ~known & (not context.series.integer)
        drop = (mode <= 0.0) | (free & twin.any(axis=1))
        if not drop.any():
            return grouping, alarm, known, refined
        grouping, alarm, known = grouping.kept(~drop), alarm[~drop], known[~drop]


def _further(context: FitContext, grouping: Families) -> IntArray:
    """Return the harmonics that waveforms may have beyond the lines there are.

    Those that are seen in one phase only tell nothing of a waveform, and what the user took apart
    is no harmonic of the rest.
    """
    limit = context.series.distinct // 8 - len(grouping.harmonics)
    rows = waveform_rows(grouping, context.highest, limit)
    taken = len(context.series.settings.split) > 0
    return rows[~_deficient(context, rows @ grouping.bases) & ~(taken & _hidden(grouping, rows))]


def _hidden(grouping: Families, rows: IntArray) -> BoolArray:
    """Mark harmonics that are too close to a line to be lines of their own."""
    away = np.abs((rows @ grouping.bases)[:, None] - grouping.modes)
    return np.asarray(away.min(axis=1, initial=np.inf) < SAME_LINE)


def _with_weak_harmonics(
    context: FitContext, grouping: Families, refined: Refined, alarm: FloatArray
) -> tuple[Families, FloatArray]:
    """Add the harmonics that the samples show, with their false-alarm probabilities.

    A search over thousands of frequencies must set its threshold high. A harmonic of prior p has
    1/p places instead, and p counts from the next lower order: a long series is followed to its
    end. The strongest output counts, as one of q, since outputs may share their noise.
    """
    while len(rows := _further(context, grouping)):
        estimate = _Estimate.of(context, _with(grouping, rows), refined)
        power = 0.5 * np.abs(estimate.coefficient) ** 2 / estimate.variance
        base, order = np.argmax(rows, axis=1), np.max(rows, axis=1)
        lower = np.where(grouping.harmonics[:, base] < order, grouping.harmonics[:, base], 0)
        gap = order - np.max(lower * grouping.pure[:, None], axis=0, initial=0)
        chance = context.noise.size * false_alarm(
            power[len(alarm) :].max(axis=1),
            width=1.0 / np.array([harmonic_share(int(each)) for each in gap]),
            dof=context.floor.dof_at(rows @ grouping.bases),
            continuous=False,
        )
        shown = (chance <= context.series.settings.level) & ~_hidden(grouping, rows)
        if not shown.any():
            break
        grouping, alarm = _with(grouping, rows[shown]), np.append(alarm, chance[shown])
    return grouping, alarm


def _tied_again(
    context: FitContext, grouping: Families, refined: Refined, known: BoolArray
) -> tuple[Families, Refined]:
    """Tie lines that stand alone to a multiple beside them, by the odds of `harmonic_families`.

    A weak harmonic that was missing biases its neighbours: once it is there, a line that stood
    alone may turn out to belong to a family.
    """
    wished = len(context.series.settings.split) > 0
    for line in () if context.series.integer or wished else range(len(known)):
        component, modes = grouping.component, refined.lines.mode
        if known[line] or np.count_nonzero(component == component[line]) > 1:
            continue
        free = float(density(modes[[line]], np.delete(modes, line), context.highest)[0])
        for j, base in enumerate(refined.bases):
            order, there = round(modes[line] / base), grouping.harmonics[grouping.of_base(j), j]
            if order < 2 or order in there or abs(modes[line] - order * base) >= CLEAR:
                continue
            contrast = grouping.harmonics[line].astype(np.float64)
            contrast[j] -= order
            variance = float(contrast @ refined.base_covariance @ contrast)
            variance += SMALLEST_MODE_ERROR**2
            gap = order - int(there[there < order].max(initial=0))
            gain = np.log(harmonic_share(gap) / (free * np.sqrt(2.0 * np.pi * variance)))
            gain -= FAMILY + np.log((len(known) - 1) / len(there))
            if gain > 0.5 * float(contrast @ refined.bases) ** 2 / variance:
                rows = grouping.harmonics.copy()
                rows[line] = order * (np.arange(len(refined.bases)) == j)
                tied = replace(grouping, bases=refined.bases, harmonics=rows)
                tied = tied.kept(np.ones(len(rows), bool))
                return _tied_again(context, tied, context.refined(tied), known)
    return replace(grouping, bases=refined.bases), refined


def _sinusoids(grouping: Families, refined: Refined, alarm: FloatArray) -> Separated:
    """Nothing to smooth: the refined lines are the answer, each in phase with itself."""
    n_lines = len(refined.lines)
    single = refined.lines.n_outputs == 1
    return Separated(
        grouping=grouping,
        lines=refined.lines,
        trend=refined.trend,
        base_covariance=refined.base_covariance,
        factor=refined.factor,
        noise_variance=refined.noise_variance,
        false_alarm=alarm,
        shift=refined.lines.phase[:, 0] if single else np.full(n_lines, np.nan),
        p_value=np.full(n_lines, np.nan),
    )


def _smoothed(
    context: FitContext, grouping: Families, alarm: FloatArray, refined: Refined
) -> Separated:
    """Shrink the harmonics of every family by what the data say, all in one fit."""
    extra, found = _further(context, grouping), len(alarm)
    whole = _with(grouping, extra)
    if len(extra):
        estimate = _Estimate.of(context, whole, refined)
        facts = estimate.coefficient, estimate.variance, np.arange(len(whole.harmonics)) < found
        # Fewer columns, fewer doubts about those that stay.
        extra = extra[likely_harmonics(whole, *facts)[found:]]
        whole = _with(grouping, extra)
    if len(np.unique(whole.component)) == len(whole.component):
        return _sinusoids(grouping, refined, alarm)
    estimate, grouping = _Estimate.of(context, whole, refined), whole
    prior, p_value = estimate.prior(context, grouping, np.arange(len(grouping.harmonics)) < found)
    p, count = context.n_trend, len(grouping.harmonics)
    fit = penalised_fit(
        context.moments,
        grouping.harmonics,
        grouping.bases,
        ~grouping.fixed,
        prior,
        refined.noise_variance,
        squares=context.series.weights @ context.series.values**2,
        total=context.series.total,
    )
    return Separated(
        grouping=replace(grouping, bases=fit.bases),
        lines=Lines(
            grouping.harmonics @ fit.bases,
            fit.coefficients[p : p + count],
            fit.coefficients[p + count :],
        ),
        trend=fit.coefficients[:p],
        base_covariance=fit.base_covariance,
        factor=fit.factor,
        noise_variance=fit.noise_variance,
        false_alarm=np.concatenate([alarm, np.full(len(extra), np.nan)]),
        shift=_shifts(grouping, fit.shift, fit.coefficients[p:], count),
        p_value=p_value,
    )


def _with(grouping: Families, extra: IntArray) -> Families:
    """Return the lines and further ones of the same bases."""
    return replace(grouping, harmonics=np.vstack([grouping.harmonics, extra]))


@dataclass(frozen=True)
class _Estimate:
    """What least squares at all lines, found and extra, says of their coefficients."""

    coefficient: ComplexArray  # (K, q)
    variance: FloatArray  # (K, q)
    colour: FloatArray  # (K,): noise power at each line over the variance of the noise
    deficient: BoolArray

    @classmethod
    def of(cls, context: FitContext, grouping: Families, refined: Refined) -> _Estimate:
        modes = grouping.harmonics @ grouping.bases
        moments, colour, deficient = (
            context.moments(modes),
            context.colour(modes, refined),
            _deficient(context, modes),
        )
        p, count = context.n_trend, len(modes)
        linear = p + 2 * count
        # A ridge keeps at zero what the samples do not show.
        ridge = np.where(deficient, 0.5e-3 * context.series.total, 0.0)
        gram = moments.gram[:linear, :linear] + np.diag(np.append(np.zeros(p), [ridge, ridge]))
        inverse = pseudo_inverse(gram)
        given = inverse @ moments.cross[:linear]
        coefficient = given[p : p + count] + 1j * given[p + count :]
        unit = np.diag(inverse)[p:].reshape(2, count).max(0) * colour
        rounding = 1e-24 * np.abs(coefficient).max(initial=0.0) ** 2 + np.finfo(float).tiny
        variance = np.maximum(np.outer(unit, refined.noise_variance), rounding)
        return cls(coefficient, variance, colour, deficient)

    def prior(
        self, context: FitContext, grouping: Families, found: BoolArray
    ) -> tuple[Prior, FloatArray]:
        """Return what is assumed of the lines, and p-values of those in phase."""
        facts = self.coefficient, self.variance, self.colour, found, self.deficient
        prior, p_value = prior_of(grouping, *facts)
        ridge = context.ridge(grouping.order)
        wide = prior.precision + ridge[:, :, None] * np.eye(len(found))
        return replace(prior, precision=wide, ridge=ridge), p_value


def _deficient(context: FitContext, modes: FloatArray) -> BoolArray:
    """Return of which lines the samples show one direction only.

    At the Nyquist mode of an even grid a sinusoid is seen in one of its two phases. The weight of
    cos² and sin² in their own directions is half of the total, more or less by that of e^{2iπkθ}.
    """
    total, more = context.series.total, np.abs(context.series.window_sums(2.0 * modes))
    return np.asarray(total - more < 0.02 * (total + more))


def _shifts(
    grouping: Families, shift: FloatArray, coefficients: FloatArray, count: int
) -> FloatArray:
    """Shifts for all lines: a component with one line is in phase with itself."""
    if coefficients.shape[1] > 1:
        return shift
    alone = np.bincount(grouping.component)[grouping.component] == 1
    phase = np.arctan2(coefficients[count:, 0], coefficients[:count, 0])
    return np.where(alone, phase, shift)
