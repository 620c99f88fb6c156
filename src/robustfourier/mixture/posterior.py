"""The posterior of a fitted model: its Gaussian processes, and errors of all that it states.

What trend and lines leave over is given its residual process, patterns their quasi-periodic parts
(`periodic.residual_process`, `periodic.quasi_periodic`), and the trend its extrapolation. A pattern
that is nothing beside the processes of others goes: a tone whose rate drifts is one pattern of
finite coherence, not as many as the search had lines for. Errors of periods are those of the fit,
in the noise that the processes leave around each line and the harmonics that were not fitted at
jumps; seen through long gaps a line may fit as well at other places, and its error counts them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.components.component import QuasiPeriodicTrace
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.search.detection import SAME_LINE, Detection
from robustfourier.mixture.smoothing import with_smoothing
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import Lines, line_columns
from robustfourier.periodic.forecast import Known, backtest_inflation, extrapolated
from robustfourier.periodic.harmonic_families import Families
from robustfourier.periodic.kernels import Kernel, lines_of_powers, sho_of_logarithms
from robustfourier.periodic.quasi_periodic import (
    ROWS,
    QuasiPeriodicFit,
    mean_variance,
    pattern_of,
    quasi_periodic_fit,
)
from robustfourier.periodic.residual_process import (
    FEWEST,
    ROUNDING,
    OscillatorSearch,
    Remainder,
    chosen_rows,
    remainder_of,
    robust_weights,
)
from robustfourier.periodic.semidefinite import Positive
from robustfourier.periodic.semiseparable import (
    ConditionedProcess,
    marginal_log_likelihood,
    normal_equations,
)

_CLEAR = 2.0  # deviations of the sandwich's error by which it must exceed the fit's
_LEAST = 0.02  # share left by the fit below which a residual says nothing any more
_CELLS = 1e7  # rows times columns that are worth it, a fifth of a second
_CANDIDATES = 4  # patterns that may be quasi-periodic, the strongest
_ROUNDED = 1e-3  # part of the white variance that rounding of a process may be
_PER_COHERENCE = 8  # places at which amplitude and phase of a quasi-periodic part are stated
_PLACES_AT_MOST = 2000  # as many as a figure has pixels
_LARGEST = 140.0  # powers of ten: beyond, variances in the unit of the values would overflow


def with_sandwich_errors(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; errors of periods count what the waveforms leave over.

    A square wave has harmonics without end; a fit has a few dozen. What is left over is large at
    the samples next to the jumps, the very ones that tell the period, so that errors in noise of
    one variance are too small. Where they are, the sandwich of the residuals themselves stands in
    for them (HC3 [1]_, the jackknife in its linear form: the residual of a sample is divided by the
    share that the fit has not absorbed).

    References
    ----------
    .. [1] J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix
       estimators with improved finite sample properties", J. Econometrics 29, 305 (1985).
    """
    several = np.bincount(model.component, model.order > 0, minlength=model.n_components) > 1
    free = np.diag(model.base_covariance) > 0.0
    free &= np.any(model.rows[several] != 0, axis=0)
    columns = len(model.trend) + 2 * len(model.lines)
    if not free.any() or model.lines.n_outputs > 1 or columns * len(series.theta) > _CELLS:
        return model
    formal = np.sqrt(np.diag(model.base_covariance)[free])
    errors, worth = _sandwich(model, series, free)
    ratio = np.ones(len(free))
    clear = errors > formal * (1.0 + _CLEAR / np.sqrt(2.0 * worth))
    ratio[free] = np.where(clear, errors / formal, 1.0)
    return _widened(model, ratio, np.ones(len(model.lines)))


def with_tie_errors(model: ColumnModel, families: Families) -> ColumnModel:
    """Return the same model; errors of periods count that lines may not be tied after all.

    Of 70 pairs whose second frequency was one to five of its errors off twice the first, one period
    was beyond four of its errors with it and five without.
    """
    if families.doubt is None or not len(model.bases):
        return model
    same = np.abs(model.bases[:, None] - families.bases).argmin(axis=1)
    formal = np.diag(model.base_covariance)
    ratio = np.sqrt(1.0 + families.doubt[same] ** 2 / np.where(formal > 0.0, formal, np.inf))
    return _widened(model, ratio, np.ones(len(model.lines)))


def with_degenerate_errors(model: ColumnModel, found: Detection) -> ColumnModel:
    """Return the same model; errors of periods count all places that fit as well.

    A pattern with a harmonic that has no such places is known by that one. Of 31 tones seen in two
    bursts of samples far apart, one was beyond four of its errors with it and 15 without.
    """
    ratio = np.ones(len(model.bases))
    for c in range(model.n_components if found.fringes else 0):
        own = np.flatnonzero((model.component == c) & np.isfinite(model.false_alarm))
        errors = [
            max((f.error for f in found.fringes if abs(f.mode - mode) < SAME_LINE), default=0.0)
            for mode in model.lines.mode[own]
        ]
        error = min(np.array(errors) / np.maximum(model.order[own], 1), default=0.0)
        formal = model.mode_error(c)
        if 0.0 < formal < error:
            bases = model.rows[c] != 0
            ratio[bases] = np.maximum(ratio[bases], error / formal)
    return _widened(model, ratio, np.ones(len(model.lines)))


def unknown_period(model: ColumnModel) -> FloatArray:
    """Return the modes of all lines of patterns that are unknown: known to no better than half."""
    unknown = [c for c in range(model.n_components) if 2.0 * model.mode_error(c) > model.mode_of(c)]
    return model.lines.mode[np.isin(model.component, unknown)]


def _widened(model: ColumnModel, bases: FloatArray, lines: FloatArray) -> ColumnModel:
    """Return the same model with errors of its bases and of its lines' coefficients multiplied."""
    if np.all(bases == 1.0) and np.all(lines == 1.0):
        return model
    p, factor = len(model.trend), model.factor.copy()
    turned = np.max(np.where(model.rows[model.component] != 0, bases, 1.0), axis=1)
    factor[:, p:] *= np.concatenate([lines, lines, turned, turned])[None, :, None]
    return replace(
        model, base_covariance=model.base_covariance * np.outer(bases, bases), factor=factor
    )


def _sandwich(model: ColumnModel, series: Series, free: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Errors of the free bases, and how many samples each rests on, shapes (F,)."""
    theta, lines, root = series.theta, model.lines, np.sqrt(series.weights)
    assert model.harmonics is not None
    waves = line_columns(theta, lines.mode)
    cosine, sine = waves[: len(lines)], waves[len(lines) :]
    # A base turns its lines: the sum over them of n b cos − n a sin.
    ties = model.harmonics[:, free]
    turned = (ties * lines.sine).T @ cosine - (ties * lines.cosine).T @ sine
    design = np.vstack([model.trend_columns(theta).T, waves, np.pi * theta * turned])
    design *= root
    system = Positive.of(design @ design.T)
    absorbed = np.einsum("pn,pn->n", half := system.half(design), half)
    values = series.values[:, 0] * series.scale[0] + series.centre[0]
    left = root * (values - model.evaluate(theta)[:, 0]) / np.maximum(1.0 - absorbed, _LEAST)
    ends = np.eye(len(design))[:, len(design) - int(free.sum()) :]
    squares = (system.solve(ends).T @ design * left) ** 2
    whole = squares.sum(axis=1)
    worth = whole**2 / np.maximum(np.sum(squares**2, axis=1), 1e-300)
    return np.sqrt(whole), np.maximum(worth, 1.0)


def with_processes(models: list[ColumnModel], series: list[Series]) -> list[ColumnModel]:
    """Give what is left over to the column along which it is least white, and patterns their parts.

    Parameters
    ----------
    models : list of ColumnModel
    series : list of Series
        The samples that each was fitted to.
    """
    if any(np.any(np.abs(np.log10(one.scale)) > _LARGEST) for one in series):
        return models
    best, most = -1, 0.0
    processes = [_residual_process(*pair) for pair in zip(models, series, strict=True)]
    for j, remainder in enumerate(processes):
        if remainder is not None and remainder.gain.sum() > most:
            best, most = j, float(remainder.gain.sum())
    models = [
        replace(m, remainder=processes[j] if j == best else None) for j, m in enumerate(models)
    ]
    if len(models) > 1:
        return models
    if series[0].values.shape[1] == 1:
        models = [_with_quasi_periodic(models[0], series[0])]
    return [with_smoothing(_backtested(_extrapolated(models[0], series[0]), series[0]), series[0])]


def _extrapolated(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; beyond its ends a trend follows the last samples."""
    steady = {"level": True, "slope": model.remainder is None, "smooth": False}
    if steady[model.trend_kind] or len(series.theta) < FEWEST:
        return model
    values = series.original * series.scale + series.centre - model.strict_at(series.theta)
    if not np.ptp(values, axis=0).all():  # equal to the last digit: there is nothing to follow
        return model
    known = [_known_of(model, series, o) for o in range(values.shape[1])]
    return replace(model, extrapolation=extrapolated(series.theta, values, known, chosen_rows))


def _known_of(model: ColumnModel, series: Series, o: int) -> Known:
    """Return what the model knows of one output, beside trend and strict lines."""
    left = model.remainder
    if left is not None:
        white, kernel = float(left.white[o] ** 2), left.parts[o].kernel
        others = kernel.select(kernel.component >= 0).scaled(1.0 / white)
        return Known(left.parts[o].noise / white, white, others, np.log(left.oscillators[o]))
    weights, values = series.weights, series.original[:, [o]] * series.scale[o] + series.centre[o]
    off = values - model.evaluate(series.theta)[:, [o]]
    if series.settings.loss != "squared":
        weights = weights * robust_weights(off[:, 0], weights)
    white = float(np.mean(weights * off[:, 0] ** 2))
    return Known(1.0 / weights, white, Kernel.zero(), np.zeros((0, 3)))


def _backtested(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the model that knows how far off its own record its forecasts were."""
    if model.process is None:
        return model
    values = series.original * series.scale + series.centre - model.around(series.theta)
    pairs = zip(model.process.parts, values.T, strict=True)
    return replace(model, inflation=np.stack([backtest_inflation(*pair) for pair in pairs]))


def _left(model: ColumnModel, series: Series) -> FloatArray:
    return series.original * series.scale + series.centre - model.evaluate(series.theta)


def _residual_process(model: ColumnModel, series: Series) -> Remainder | None:
    robust = series.settings.loss != "squared"
    left = _left(model, series)
    return remainder_of(series.theta, left, series.weights, series.scale, robust=robust)


def _with_quasi_periodic(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the model with those patterns quasi-periodic that the evidence says are."""
    theta, rows = series.theta, chosen_rows(len(series.theta), ROWS)
    left = _left(replace(model, remainder=None), series)[:, 0]
    exact = np.std(left) <= ROUNDING * series.scale[0]
    if len(theta) < FEWEST or not model.n_components or exact:
        return model
    noise, white, oscillators = _noise(model.remainder, left, series)
    mode = model.rows @ model.bases
    power = np.bincount(model.component, model.lines.amplitude[:, 0] ** 2, len(mode))
    parts: list[QuasiPeriodicFit] = []
    doubtful: dict[int, QuasiPeriodicFit] = {}  # strict ones, that may be quasi-periodic after all
    gone = np.zeros(len(model.lines), bool)
    waiting = np.argsort(-power, kind="stable")[:_CANDIDATES].tolist()
    before: dict[int, QuasiPeriodicFit] = {}
    while waiting:
        found = []
        # What is quasi-periodic already is no line any more, beside others or of them.
        known = np.isin(model.component, [part.pattern.component for part in parts])
        kept = np.flatnonzero(~gone & ~known)
        lines, owner, order = model.lines.select(kept), model.component[kept], model.order[kept]
        beside = Kernel.sum([Kernel.zero(), *(part.kernel for part in parts)])
        for c in waiting:
            pattern = pattern_of(c, lines, owner, order, float(mode[c]), left, theta)
            if pattern is None:
                continue
            others = np.setdiff1d(model.component[~gone], owner[pattern.taken])
            free = not series.integer and _has_a_frequency_of_its_own(model, c, others)
            context = (theta, noise, rows, beside, oscillators, white)
            part = quasi_periodic_fit(pattern, *context, may_lose_phase=free, before=before.get(c))
            if part is not None and part.gain > 0.0:
                found.append(part)
            elif part is not None:
                doubtful[c] = part
        if not found:
            break
        # Harmonics of one pattern may be those of another: the clearest comes first, but none whose
        # lines are part of a stronger one.
        inside = {
            c for one in found for c in owner[one.pattern.taken] if c != one.pattern.component
        }
        apart = [one for one in found if one.pattern.component not in inside]
        part = max(apart, key=lambda one: one.gain)
        parts.append(part)
        left, oscillators = part.values, part.oscillators
        gone[kept[part.pattern.taken]] = True
        kernel = Kernel.sum([beside, part.kernel, sho_of_logarithms(oscillators)])
        samples = theta[rows], left[rows], noise[rows]
        absent = _explained_by(kernel, model, parts, gone, samples, white, len(rows) / len(theta))
        left, gone = left + model.lines.select(absent).evaluate(theta)[:, 0], gone | absent
        before = {other.pattern.component: other for other in found if other is not part}
        waiting = [c for c in before if not gone[model.component == c].any()]
    strict = [part for c, part in doubtful.items() if c not in {p.pattern.component for p in parts}]
    model = _with_modulation_errors(model, strict, white)
    if not parts:
        return model
    least = (ROUNDING * float(series.scale[0])) ** 2
    found_beside = _remainder_beside(parts, oscillators, theta, left, noise, least)
    if found_beside is None:
        return model
    remainder, factor = found_beside
    joined = _joined(replace(model, remainder=remainder), parts, gone, factor)
    return joined.explaining(series) if _explains_as_much(joined, model, series) else model


def _remainder_beside(
    parts: list[QuasiPeriodicFit],
    oscillators: FloatArray,
    theta: FloatArray,
    left: FloatArray,
    noise: FloatArray,
    least: float,
) -> tuple[Remainder, float] | None:
    """Return all processes, conditioned on what the lines leave over, and the white variance.

    None if that is `least` or less, or lost in the rounding of the processes' variance: no noise is
    left to weigh them by.
    """
    beside, rows = Kernel.sum([part.kernel for part in parts]), chosen_rows(len(theta), ROWS)
    search = OscillatorSearch(theta[rows], left[rows], 1.0 / noise[rows], beside)
    if len(oscillators):
        oscillators, _ = search.optimised(oscillators)
    lost = np.finfo(np.float64).eps * float(np.sum(beside.a)) > _ROUNDED
    if lost or not search.likelihood(oscillators)[1] > least:
        return None
    process, factor = search.conditioned(oscillators, theta, left, 1.0 / noise)
    gain = np.array([search.gain(oscillators)])
    parameters = (np.exp(oscillators.reshape(-1, 3)),)
    return Remainder((process,), np.sqrt([factor]), gain, parameters), factor


def _explained_by(
    kernel: Kernel,
    model: ColumnModel,
    parts: list[QuasiPeriodicFit],
    gone: BoolArray,
    samples: tuple[FloatArray, FloatArray, FloatArray],
    white: float,
    seen: float,
) -> BoolArray:
    """Return the strict lines that are nothing beside the processes of others.

    They were lines in noise that knew of no process. One pattern after the other goes, the weakest
    first, if the evidence without it is higher: its mode and its power cost log n. `seen`: the part
    of the record that the samples are; the whole tells as much more of a line.
    """
    theta, left, noise = samples
    # Lines of a lost phase are in what is left; those that its process has no term for are lines.
    lost = [part.pattern.component for part in parts if not part.strict]
    kept = np.flatnonzero(~gone)
    lines, owner = model.lines.select(kept), model.component[kept]
    columns = lines_of_powers(theta, lines.mode, 0.5 * lines.amplitude[:, 0] ** 2 / white)
    values = left + lines.select(np.flatnonzero(~np.isin(owner, lost))).evaluate(theta)[:, 0]
    products = normal_equations(kernel, theta, noise, np.column_stack([values, columns]))

    def evidence(some: IntArray) -> float:
        own = np.flatnonzero(np.isin(owner, some))
        at = np.concatenate([[0], 1 + own, 1 + len(owner) + own])
        height = marginal_log_likelihood(products[0][np.ix_(at, at)], products[1], len(theta))
        return height / seen - len(some) * float(np.log(len(theta) / seen))

    present = np.unique(owner)
    whole = evidence(present)
    others = np.setdiff1d(present, [part.pattern.component for part in parts])
    while len(others):
        without = [evidence(np.setdiff1d(present, one)) for one in others]
        if max(without) <= whole:
            break
        whole, least = max(without), others[int(np.argmax(without))]
        present, others = np.setdiff1d(present, least), np.setdiff1d(others, least)
    return ~gone & ~np.isin(model.component, present)


def _explains_as_much(model: ColumnModel, before: ColumnModel, series: Series) -> bool:
    """Whether a model is as near to the samples as the one before it, or as its own trend.

    What the model itself leaves far off are outliers of all alike: a model that explains less sees
    more of them.
    """
    values = series.original * series.scale + series.centre
    fits = (model.evaluate, before.evaluate, model.trend_at)
    left = np.stack([(values - fitted(series.theta))[:, 0] for fitted in fits])
    weights = series.weights * robust_weights(left[0], series.weights)
    own, *others = left**2 @ weights
    return bool(own <= max(others))


def _has_a_frequency_of_its_own(model: ColumnModel, c: int, others: IntArray) -> bool:
    """Whether a pattern is no combination of others, and none of them is one with it."""
    bases = np.flatnonzero(model.rows[c])
    return len(bases) == 1 and not model.rows[np.setdiff1d(others, c), bases[0]].any()


def _noise(
    remainder: Remainder | None, left: FloatArray, series: Series
) -> tuple[FloatArray, float, FloatArray]:
    """White variances up to a factor, that factor, and the parameters of the oscillators."""
    if remainder is not None:
        white = float(remainder.white[0] ** 2)
        return remainder.parts[0].noise / white, white, np.log(remainder.oscillators[0]).ravel()
    weights = series.weights
    if series.settings.loss != "squared":
        weights = weights * robust_weights(left, weights)
    return 1.0 / weights, float(np.mean(left**2 * weights)), np.zeros(0)


def _joined(
    model: ColumnModel, parts: list[QuasiPeriodicFit], gone: BoolArray, white: float
) -> ColumnModel:
    """Take lines that are part of quasi-periodic patterns out, and state how these wander."""
    broad = [part for part in parts if _is_hump(model, part, gone, white)]
    humps = [part.pattern.component for part in broad]
    parts = [part for part in parts if part.pattern.component not in humps]
    for part in broad:
        gone = gone | ((model.component == part.pattern.component) & (not part.strict))
    owner = _process(model).kernel.component
    owner = np.where(np.isin(owner, humps), -1, owner)
    model = _with_modulation_errors(model, [part for part in parts if part.strict], white)
    lost = np.zeros(len(gone), bool)
    bases, covariance = model.bases.copy(), model.base_covariance.copy()
    cosine, sine = model.lines.cosine.copy(), model.lines.sine.copy()
    error = np.zeros(len(gone))  # of amplitudes of lost phases
    traces: list[QuasiPeriodicTrace | None] = [None] * model.n_components
    for part in parts:
        pattern = part.pattern
        traces[pattern.component] = _traced(model, part, white)
        if part.strict:
            continue
        own = (model.component == pattern.component) & (model.order > 0)
        lost |= own
        typical = np.sqrt(part.strength * white / pattern.lines[1].sum())
        cosine[own] *= typical
        sine[own] *= typical
        # The record holds 2γ independent draws of an amplitude, whose mean square is known to
        # one over their root: the amplitude to half of that.
        draws = max(2.0 * part.rate, 1.0)
        error[own] = 0.5 * np.hypot(cosine[own, 0], sine[own, 0]) / np.sqrt(draws)
        (base,) = np.flatnonzero(model.rows[pattern.component])[:1]
        bases[base] += part.shift
        covariance[base], covariance[:, base] = 0.0, 0.0
        covariance[base, base] = part.shift_error**2
    assert model.harmonics is not None
    moved = replace(
        model,
        bases=bases,
        base_covariance=covariance,
        lines=Lines(model.harmonics @ bases, cosine, sine),
        factor=_with_coefficient_errors(model.factor, len(model.trend), error),
        phase_lost=lost,
        traces=tuple(traces),
    )
    return _without(moved, gone, owner)


def _with_coefficient_errors(factor: FloatArray, p: int, error: FloatArray) -> FloatArray:
    """Return a root of the covariance in which some lines have errors of their own, if not zero."""
    lines = np.flatnonzero(error)
    at = np.concatenate([p + lines, p + len(error) + lines])
    own = np.zeros((*factor.shape[:2], len(at)))
    own[:, at, np.arange(len(at))] = np.tile(error[lines], 2)
    rest = factor.copy()
    rest[:, at] = 0.0
    return np.concatenate([rest, own], axis=2)


def _with_modulation_errors(
    model: ColumnModel, parts: list[QuasiPeriodicFit], white: float
) -> ColumnModel:
    """Return the same model; a process around strict lines is noise of their coefficients.

    Its mean over the record adds to the 2σ²/n of white noise. In place of the lines that mean is
    what the lines are, and no error of theirs; that the phase wanders is one of their modes still.
    Modes are weighted means of what their lines say, with weights n² A_n²: coefficients of variance
    v give a base the variance 3 v / (π² Σ n² A_n²), and no more of its error grows with them; what
    is unknown of ties does not. A process that the evidence has not taken counts by its
    probability, one over one plus e to its loss.
    """
    bases, lines = np.ones(len(model.bases)), np.ones(len(model.lines))
    for part in parts:
        kernel, orders = part.kernel, part.pattern.order
        own = np.flatnonzero((model.component == part.pattern.component) & (model.order > 0))
        doubt = 1.0 if part.gain > 0.0 else 1.0 / (1.0 + np.exp(-part.gain))
        mean = doubt * white * mean_variance(kernel)
        powers = np.array([mean[orders == order].sum() for order in model.order[own]])
        variance = model.noise_at(model.lines.mode[own])[:, 0]
        growth = powers / np.maximum(variance, np.finfo(float).tiny)
        lines[own] = np.sqrt(1.0 + growth * part.strict)
        formal = model.mode_error(part.pattern.component)
        if formal == 0.0:  # a known period has no error
            continue
        weights = (model.order[own] * model.lines.amplitude[own, 0]) ** 2
        noise = 3.0 * np.average(variance, weights=weights) / (np.pi**2 * weights.sum())
        grown = np.average(growth, weights=weights) * min(noise, formal**2)
        ratio = np.sqrt(1.0 + (grown + doubt * part.shift_error**2) / formal**2)
        held = model.rows[part.pattern.component] != 0
        bases[held] = np.maximum(bases[held], ratio)
    return _widened(model, bases, lines)


def _is_hump(model: ColumnModel, part: QuasiPeriodicFit, gone: BoolArray, white: float) -> bool:
    """Whether lines of other patterns stand in the width of this one's: nothing tells whose it is.

    What is so broad is part of the remainder, and the lines stay strict. A phase that is lost
    beside a stronger line is that line's modulation.
    """
    own = (model.component == part.pattern.component) & (model.order > 0)
    others = (model.component != part.pattern.component) & ~gone
    if not part.strict:
        others &= 0.5 * model.lines.amplitude[:, 0] ** 2 > part.strength * white
    place = model.lines.mode[own] + part.shift * model.order[own]
    distance = np.abs(place[:, None] - model.lines.mode[others])
    return bool(np.any(distance < 2.0 * part.half_width))


def _without(model: ColumnModel, gone: BoolArray, owner: IntArray) -> ColumnModel:
    """Return the model without some lines, components that have none left, and their bases.

    `owner` says which component each term of the process belongs to.
    """
    p, keep = len(model.trend), np.flatnonzero(~gone)
    entries = np.concatenate([np.arange(p), *(p + j * len(gone) + keep for j in range(4))])
    left = np.isin(np.arange(model.n_components), model.component[keep])
    number = np.append(np.cumsum(left) - 1, -1)  # the last one is that of the remainder
    assert model.harmonics is not None
    harmonics = model.harmonics[keep]
    used = np.any(harmonics != 0, axis=0) | np.any(model.rows[left] != 0, axis=0)
    assert model.remainder is not None
    (process,) = model.remainder.parts
    kernel = replace(process.kernel, component=number[owner])
    remainder = replace(model.remainder, parts=(replace(process, kernel=kernel),))
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
        traces=tuple(one for one, kept in zip(model.traces, left, strict=True) if kept),
        phase_lost=None if model.phase_lost is None else model.phase_lost[keep],
        remainder=remainder,
    )


def _traced(model: ColumnModel, part: QuasiPeriodicFit, white: float) -> QuasiPeriodicTrace:
    """Follow the strongest harmonic of a quasi-periodic pattern."""
    pattern, process = part.pattern, _process(model)
    mine = model.component == pattern.component
    own = np.flatnonzero(mine & (model.order == pattern.order[0]))[0]
    modulated = part.strength * white
    coherence = 0.5 * model.domain.span / part.rate
    all_lines = 0.5 * np.sum(model.lines.amplitude[mine & (model.order > 0), 0] ** 2)
    strict = float(all_lines) if part.strict else 0.0
    count = int(np.clip(_PER_COHERENCE * 2.0 * part.rate, 50, _PLACES_AT_MOST))
    theta = np.linspace(-1.0, 1.0, count + 1)
    own_terms = np.flatnonzero(process.kernel.component == pattern.component)
    which = np.arange(len(process.kernel.a)) == own_terms[0]  # of the strongest
    solved = process.alpha[:, None]
    wave = process.cross_product(theta, solved, which)[:, 0]
    quarter = process.cross_product(theta, solved, which, quadrature=True)[:, 0]
    turning = np.exp(1j * process.kernel.d[which] * theta)
    coefficient = (wave - 1j * quarter) * turning
    line = model.lines.cosine[own, 0] + 1j * model.lines.sine[own, 0]
    # Relative to the phase of the strict pattern, or of the typical one.
    whole = (line + coefficient if part.strict else coefficient) * np.exp(-1j * np.angle(line))
    return QuasiPeriodicTrace(
        coherence=float(coherence),
        modulation=float(np.sqrt(modulated / (modulated + strict))),
        order=int(pattern.order[0]),
        theta=theta,
        cosine=whole.real,
        sine=whole.imag,
        error=np.sqrt(process.variance(theta, which)),
    )


def _process(model: ColumnModel) -> ConditionedProcess:
    assert model.remainder is not None
    return model.remainder.parts[0]
