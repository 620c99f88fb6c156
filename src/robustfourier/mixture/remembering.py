"""Remembering: gives a fitted model its remainder with memory and its living patterns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.belonging import ways_to_live
from robustfourier.mixture.living import CANDIDATES, ROWS, Life, most_alive
from robustfourier.mixture.model import ColumnModel, Living
from robustfourier.mixture.remainder import (
    FEWEST,
    OscillatorSearch,
    Remainder,
    chosen_rows,
    remainder_of,
    say_of,
)
from robustfourier.mixture.search.robust import robust_scale
from robustfourier.mixture.smoothing import with_smoothing
from robustfourier.mixture.steadiness import unsteadiness
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.forecast import Known, backtest_inflation, extrapolated
from robustfourier.periodic.kernels import Kernel
from robustfourier.periodic.semiseparable import ConditionedProcess

_PER_COHERENCE = 8  # places at which amplitude and phase of a living pattern are told
_PLACES_AT_MOST = 2000  # as many as a figure has pixels
_LARGEST = 140.0  # powers of ten: beyond, variances in the unit of the values would overflow


def with_memory(models: list[ColumnModel], series: list[Series]) -> list[ColumnModel]:
    """Give what is left over to the column along which it has most memory, and patterns their life.

    Parameters
    ----------
    models : list of ColumnModel
    series : list of Series
        The samples that each was fitted to.
    """
    if any(np.any(np.abs(np.log10(one.scale)) > _LARGEST) for one in series):
        return models
    best, most = -1, 0.0
    told = [_remainder(*pair) for pair in zip(models, series, strict=True)]
    for j, remainder in enumerate(told):
        if remainder is not None and remainder.gain.sum() > most:
            best, most = j, float(remainder.gain.sum())
    models = [replace(m, remainder=told[j] if j == best else None) for j, m in enumerate(models)]
    if len(models) > 1:
        return models
    if series[0].values.shape[1] == 1:
        models = [_with_life(models[0], series[0])]
    return [with_smoothing(_backtested(_extrapolated(models[0], series[0]), series[0]), series[0])]


def _extrapolated(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; beyond its ends a trend follows the last samples."""
    steady = {"level": True, "slope": model.remainder is None, "smooth": False}
    if steady[model.trend_kind] or len(series.theta) < FEWEST:
        return model
    values = series.original * series.scale + series.centre - model.strict_at(series.theta)
    known = [_known_of(model, series, o) for o in range(values.shape[1])]
    return replace(model, onward=extrapolated(series.theta, values, known, chosen_rows))


def _known_of(model: ColumnModel, series: Series, o: int) -> Known:
    """Return what the model knows of one output, beside trend and strict lines."""
    left = model.remainder
    if left is not None:
        white, kernel = float(left.white[o] ** 2), left.parts[o].kernel
        living = kernel.select(kernel.component >= 0).scaled(1.0 / white)
        return Known(left.parts[o].noise / white, white, living, np.log(left.oscillators[o]))
    weights, values = series.weights, series.original[:, [o]] * series.scale[o] + series.centre[o]
    off = values - model.evaluate(series.theta)[:, [o]]
    if series.settings.loss != "squared":
        scale = max(float(robust_scale(off, weights)[0]), 1e-300)
        weights = weights * say_of(off[:, 0] * np.sqrt(weights) / scale)
    white = float(np.mean(weights * off[:, 0] ** 2))
    return Known(1.0 / weights, white, Kernel.zero(), np.zeros((0, 3)))


def _backtested(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the model that knows how far off its own record its forecasts were."""
    memory = model.remainder if model.onward is None else model.onward
    if memory is None:
        return model
    values = series.original * series.scale + series.centre
    if model.onward is not None:
        values -= model.strict_at(series.theta) + model.onward.line_at(series.theta)
    else:
        values -= replace(model, remainder=None).evaluate(series.theta)
    pairs = zip(memory.parts, values.T, strict=True)
    return replace(model, surprise=np.stack([backtest_inflation(*pair) for pair in pairs]))


def _left(model: ColumnModel, series: Series) -> FloatArray:
    return series.original * series.scale + series.centre - model.evaluate(series.theta)


def _remainder(model: ColumnModel, series: Series) -> Remainder | None:
    robust = series.settings.loss != "squared"
    left = _left(model, series)
    return remainder_of(series.theta, left, series.weights, series.scale, robust=robust)


def _with_life(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the model with those patterns alive that the evidence says are."""
    theta, rows = series.theta, chosen_rows(len(series.theta), ROWS)
    left = _left(replace(model, remainder=None), series)[:, 0]
    if len(theta) < FEWEST or not model.n_components or not left.any():
        return model
    noise, white, oscillators = _ground(model.remainder, left, series)
    search = OscillatorSearch(theta[rows], left[rows], 1.0 / noise[rows])
    score = search.likelihood(oscillators)[0] - search.price(oscillators)
    mode = model.rows @ model.bases
    power = np.bincount(model.component, model.lines.amplitude[:, 0] ** 2, len(mode))
    lives: list[Life] = []
    around = left[:, None]
    gone = np.zeros(len(model.lines), bool)
    waiting = [int(c) for c in np.argsort(-power, kind="stable")[:CANDIDATES]]
    while waiting:
        alive = []
        kept = np.flatnonzero(~gone)
        lines, component, order = model.lines.select(kept), model.component[kept], model.order[kept]
        beside = Kernel.sum([Kernel.zero(), *(life.kernel for life in lives)])
        for c in waiting:
            if gone[model.component == c].any():
                continue
            # Blocks of the record tell cheaply that a pattern is strict.
            steady = not any(unsteadiness(model, series, c, around))
            ways = ways_to_live(c, lines, component, order, float(mode[c]), left, theta, steady)
            if not ways:
                continue
            if series.integer or not _has_a_frequency_of_its_own(model, c):
                ways = ways[:1]  # who forgets its phase leaves the frequencies that hold it
            life = most_alive(ways, theta, noise, rows, beside, oscillators, white, score)
            alive += [life] if life is not None else []
        if not alive:
            break
        # Harmonics of one pattern may be those of another: the most alive comes first.
        life = max(alive, key=lambda one: one.score)
        lives.append(life)
        left, score, oscillators = life.candidate.values, life.score, life.oscillators
        gone[kept[life.candidate.taken]] = True
        waiting = [other.candidate.component for other in alive if other is not life]
    if not lives:
        return model
    beside = Kernel.sum([life.kernel for life in lives])
    search = OscillatorSearch(theta[rows], left[rows], 1.0 / noise[rows], beside)
    if len(oscillators):
        oscillators, _ = search.optimised(oscillators)
    process, factor = search.conditioned(oscillators, theta, left, 1.0 / noise)
    gain = np.array([search.gain(oscillators)])
    parameters = (np.exp(oscillators.reshape(-1, 3)),)
    remainder = Remainder((process,), np.sqrt([factor]), gain, parameters)
    return _alive(replace(model, remainder=remainder), lives, gone, factor).explaining(series)


def _has_a_frequency_of_its_own(model: ColumnModel, c: int) -> bool:
    """Whether a pattern is no combination of others, and no other is one with it."""
    bases = np.flatnonzero(model.rows[c])
    return len(bases) == 1 and np.count_nonzero(model.rows[:, bases[0]]) == 1


def _ground(
    remainder: Remainder | None, left: FloatArray, series: Series
) -> tuple[FloatArray, float, FloatArray]:
    """White variances up to a factor, that factor, and the parameters of the oscillators."""
    if remainder is not None:
        white = float(remainder.white[0] ** 2)
        return remainder.parts[0].noise / white, white, np.log(remainder.oscillators[0]).ravel()
    scale = max(float(robust_scale(left[:, None], series.weights)[0]), 1e-300)
    robust = series.settings.loss != "squared"
    say = say_of(left * np.sqrt(series.weights) / scale) if robust else np.ones(len(left))
    weights = series.weights * say
    return 1.0 / weights, float(np.mean(left**2 * weights)), np.zeros(0)


def _alive(model: ColumnModel, lives: list[Life], gone: BoolArray, white: float) -> ColumnModel:
    """Take lines that are part of living patterns out, and tell how these wander."""
    forgotten = np.zeros(len(gone), bool)
    owner = _process(model).kernel.component
    bases, covariance = model.bases.copy(), model.base_covariance.copy()
    cosine, sine = model.lines.cosine.copy(), model.lines.sine.copy()
    records: list[Living | None] = [None] * model.n_components
    for life in lives:
        way = life.candidate
        own = (model.component == way.component) & (model.order > 0)
        if _is_hump(model, life, own, gone):
            owner = np.where(owner == way.component, -1, owner)
            continue
        records[way.component] = _traced(model, life, white)
        if way.strict:
            continue
        forgotten |= own
        typical = np.sqrt(life.strength * white / way.own[1].sum())
        cosine[own] *= typical
        sine[own] *= typical
        (base,) = np.flatnonzero(model.rows[way.component])[:1]
        bases[base] += life.shift
        covariance[base], covariance[:, base] = 0.0, 0.0
        covariance[base, base] = life.shift_error**2
    moved = replace(
        model,
        bases=bases,
        base_covariance=covariance,
        lines=Lines(_harmonics(model) @ bases, cosine, sine),
        forgotten=forgotten,
        lives=tuple(records),
    )
    return _without(moved, gone, owner)


def _is_hump(model: ColumnModel, life: Life, own: BoolArray, gone: BoolArray) -> bool:
    """Whether lines of other patterns stand in the width of this one's: nothing tells whose it is.

    What is so broad is part of the remainder, and the lines stay strict.
    """
    others = model.lines.mode[(model.component != life.candidate.component) & ~gone]
    distance = np.abs(model.lines.mode[own][:, None] - others)
    return life.candidate.strict and bool(np.any(distance < 2.0 * life.half_width))


def _harmonics(model: ColumnModel) -> IntArray:
    if model.harmonics is not None:
        return model.harmonics
    return np.asarray(model.order[:, None] * model.rows[model.component])


def _without(model: ColumnModel, gone: BoolArray, owner: IntArray) -> ColumnModel:
    """Return the model without some lines, components that have none left, and their bases.

    `owner` says which component each term of the process belongs to.
    """
    p, keep = len(model.trend), np.flatnonzero(~gone)
    entries = np.concatenate([np.arange(p), *(p + j * len(gone) + keep for j in range(4))])
    left = np.isin(np.arange(model.n_components), model.component[keep])
    number = np.append(np.cumsum(left) - 1, -1)  # the last one is that of the remainder
    harmonics = _harmonics(model)[keep]
    used = np.any(harmonics != 0, axis=0) | np.any(model.rows[left] != 0, axis=0)
    process = _process(model)
    kernel = replace(process.kernel, component=number[owner])
    remainder = replace(_known(model.remainder), parts=(replace(process, kernel=kernel),))
    return replace(
        model,
        rows=model.rows[left][:, used],
        bases=model.bases[used],
        base_covariance=model.base_covariance[np.ix_(used, used)],
        component=number[model.component[keep]],
        order=model.order[keep],
        lines=model.lines.select(keep),
        factor=model.factor[:, entries],
        false_alarm=model.false_alarm[keep],
        shift=model.shift[keep],
        p_value=model.p_value[keep],
        harmonics=harmonics[:, used],
        lives=tuple(life for life, kept in zip(model.lives, left, strict=True) if kept),
        forgotten=None if model.forgotten is None else model.forgotten[keep],
        remainder=remainder,
    )


def _traced(model: ColumnModel, life: Life, white: float) -> Living:
    """Follow the strongest harmonic of a living pattern."""
    way, process = life.candidate, _process(model)
    own = np.flatnonzero((model.component == way.component) & (model.order == way.order[0]))[0]
    living = life.strength * white
    coherence = 0.5 * model.domain.span / life.rate
    strict = way.own[1].sum() if way.strict else 0.0
    count = int(np.clip(_PER_COHERENCE * 2.0 * life.rate, 50, _PLACES_AT_MOST))
    theta = np.linspace(-1.0, 1.0, count + 1)
    which = np.zeros(len(process.kernel.a), bool)
    which[np.flatnonzero(process.kernel.component == way.component)[0]] = True  # of the strongest
    solved = process.alpha[:, None]
    wave = process.cross_product(theta, solved, which)[:, 0]
    quarter = process.cross_product(theta, solved, which, quadrature=True)[:, 0]
    turning = np.exp(1j * process.kernel.d[which] * theta)
    coefficient = (wave - 1j * quarter) * turning
    line = model.lines.cosine[own, 0] + 1j * model.lines.sine[own, 0]
    # Relative to the phase of the strict pattern, or of the typical one.
    whole = (line + coefficient if way.strict else coefficient) * np.exp(-1j * np.angle(line))
    return Living(
        coherence=float(coherence),
        modulation=float(np.sqrt(living / (living + strict))),
        order=int(way.order[0]),
        theta=theta,
        cosine=whole.real,
        sine=whole.imag,
        error=np.sqrt(process.variance(theta, which)),
    )


def _process(model: ColumnModel) -> ConditionedProcess:
    return _known(model.remainder).parts[0]


def _known(remainder: Remainder | None) -> Remainder:
    if remainder is None:
        raise ValueError("a living pattern is part of a process")
    return remainder
