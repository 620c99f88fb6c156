"""Relocation: move a line to where the data fit better.

With a strong side peak of the spectral window at distance d (nightly data: one cycle per day), a
proposal can as well be mode k ± d. Refinement only looks nearby and stays at whichever was
proposed; here the sums of squares decide, line by line, the strongest first.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.mixture.search.line_fit import APART, Fit, fit_lines, refine_lines
from robustfourier.mixture.significance import line_power
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.priors import SMALLEST_MODE_ERROR, harmonic_share, known_place_price
from robustfourier.periodic.semidefinite import solve_positive

_TOPS = 30  # highest places of a sinusoid that are looked at
_TURNS = 4  # of the sampling's rhythm by which a place may lie beyond the range
_PLACES = 6  # bases that are fitted as a whole
_ORDERS = 6  # harmonics by which they are chosen
AT_MOST = 12  # lines that are tried, the strongest: the others are mostly aliases of these


def relocate(series: Series, fit: Fit) -> Fit:
    """Try the aliases of every line that was found, and keep what fits better."""
    peaks = [] if series.integer else series.grid.side_peaks
    if not peaks:
        return fit
    strength = np.sum(fit.refined.lines.amplitude**2, axis=1)
    order = np.argsort(-strength, kind="stable")[:AT_MOST]
    distances = [distance for distance, _ in peaks]
    for mode in fit.modes[order]:  # once each: what others make of it, the next round asks
        line = int(np.argmin(np.abs(fit.modes - mode)))
        if abs(fit.modes[line] - mode) < 0.5 * APART and not fit.known[line]:
            fit = _best_place(series, fit, line, distances)
    return fit


def _best_place(series: Series, fit: Fit, line: int, distances: list[float]) -> Fit:
    """Return the likeliest fit with one line at its place or at one of its aliases.

    A place where a stronger line has a harmonic is likelier beforehand: among places that the noise
    lets fit equally well, the one that needs no new frequency is taken. Two aliases on both sides
    of a true line fit it together; so at each place those of that place are left out once, too, and
    what they would have to gain to pass the test is not counted against it.
    """
    mode, others = fit.modes[line], np.delete(fit.modes, line)
    best, height = fit, _log_likelihood(series, fit) + _log_prior(series, fit, line)
    for place in (place for d in distances for place in (abs(mode - d), mode + d)):
        taken = np.min(np.abs(others - place), initial=np.inf) < APART
        if taken or not series.lowest <= place <= series.max_mode:
            continue
        modes = fit.modes.copy()
        modes[line] = place
        for left_out in _left_out(fit, line, place, distances):
            keep = np.setdiff1d(np.arange(len(modes)), left_out)
            trial = fit_lines(series, modes[keep], fit.known[keep], fit.trend_size)
            price = series.judge.price(series.settings.level, modes[left_out]).sum()
            moved = int(np.searchsorted(keep, line))
            value = _log_likelihood(series, trial) + _log_prior(series, trial, moved) + price
            if value > height:
                best, height = trial, value
    return best


def _left_out(fit: Fit, line: int, place: float, distances: list[float]) -> list[IndexArray]:
    """Return sets of other lines to leave out beside a line at `place`: none, and its aliases."""
    away = np.abs(np.abs(fit.modes - place)[:, None] - distances).min(axis=1)
    aliases = np.flatnonzero((away < APART) & ~fit.known)
    aliases = aliases[aliases != line]
    return [aliases[:0], aliases] if len(aliases) else [aliases]


def _log_prior(series: Series, fit: Fit, line: int) -> float:
    """Log odds that a line is a harmonic of a stronger one, against a line anywhere; at least 0.

    Half of the prior for harmonics, 1/(n(n − 1)) of it for order n ≥ 2; a free line is as likely in
    every octave, as in `periodic.harmonic_families`. Modes are known to √6/(2π√z), with z the power
    over the noise (Cramér and Rao).
    """
    amplitude = np.sum(fit.refined.lines.amplitude**2 / fit.refined.noise_variance, axis=1)
    error = np.sqrt(6.0) / np.pi / np.sqrt(np.maximum(series.total * amplitude, 1.0))
    stronger = np.flatnonzero(amplitude > amplitude[line])
    order = np.round(fit.modes[line] / fit.modes[stronger])
    kept = order >= 2
    order, stronger = order[kept], stronger[kept]
    variance = error[line] ** 2 + (order * error[stronger]) ** 2 + SMALLEST_MODE_ERROR**2
    distance = fit.modes[line] - order * fit.modes[stronger]
    room = fit.modes[line] * np.log(series.max_mode / series.lowest)
    density = np.exp(-0.5 * distance**2 / variance) / np.sqrt(2.0 * np.pi * variance)
    odds = 0.5 * room * density / (order * (order - 1.0)) / max(len(fit.modes) - 1, 1)
    return float(np.log(max(np.max(odds, initial=1.0), 1.0)))


def relocated_families(series: Series, fit: Fit, lines: IndexArray) -> list[Fit]:
    """Return fits with some lines, and what is left over, explained by one family.

    Samples with gaps see a line at its aliases and through fringes, and each of its harmonics
    apart may fit better at another one of them: only the sum over harmonics tells. Candidates are
    the places at which a sinusoid explains at least half of what the best place does, those places
    as seen through the strongest side peak of the window, and half of each, as a base may be weaker
    than its second harmonic. The other lines stay unless they are aliases of the family.
    """
    own = fit.refined.lines.select(lines).evaluate(series.theta)
    part = series.with_values(fit.refined.residuals + own)
    bases = _candidate_bases(part)
    if not len(bases):
        return []
    gains = np.array([_family_gain(part, base) for base in bases])
    best = bases[np.argsort(-gains, kind="stable")[:_PLACES]]
    fits = [_family_fit(series, fit, lines, float(base)) for base in best]
    return [trial for trial in fits if trial is not None]


def _candidate_bases(series: Series) -> FloatArray:
    """Return modes that could be the base of the strongest family of a series."""
    grid = series.grid
    power = grid.power(grid.data_sums(series.values)).sum(axis=1)
    power[: int(np.ceil(series.lowest / grid.spacing))] = 0.0
    top = np.flatnonzero((power[1:-1] >= power[:-2]) & (power[1:-1] > power[2:])) + 1
    top = top[power[top] >= 0.5 * power.max(initial=0.0)]
    top = top[np.argsort(-power[top], kind="stable")[:_TOPS]]
    before, here, after = power[top - 1], power[top], power[top + 1]
    bend = np.minimum(before - 2.0 * here + after, -1e-300)
    places = grid.modes[top] + grid.spacing * np.clip(0.5 * (before - after) / bend, -0.5, 0.5)
    step = grid.side_peaks[0][0] if grid.side_peaks else 0.0
    farther = np.ravel(places[:, None] + step * np.arange(1.0, _TURNS + 1.0))
    places = np.append(places, farther[farther > series.max_mode])
    bases = np.concatenate([places, 0.5 * places])
    bases = np.sort(bases[(bases >= series.lowest) & (bases <= series.max_mode)])
    return bases[np.append(True, np.diff(bases) > 0.1)[: len(bases)]]


def _family_gain(series: Series, base: float) -> float:
    """Return how much the first harmonics of a base explain."""
    orders = np.arange(1.0, _ORDERS + 1.0)
    modes = base * orders[base * orders <= series.reach]
    moments = series.moments(modes, 1)
    linear = 1 + 2 * len(modes)
    gram, cross = moments.gram[:linear, :linear], moments.cross[:linear]
    return float(np.sum(cross * solve_positive(gram, cross)))


def _family_fit(series: Series, fit: Fit, lines: IndexArray, base: float) -> Fit | None:
    """Return the fit with the first harmonics of a base in place of lines and of its aliases."""
    orders = np.arange(1, _ORDERS + 1)
    distances = np.array([0.0, *(distance for distance, _ in series.grid.side_peaks)])
    away = np.abs(np.abs(fit.modes[:, None, None] - base * orders[:, None]) - distances)
    stay = fit.known | (away.min(axis=(1, 2)) >= APART)
    stay[lines] = False
    others, known = fit.modes[stay], fit.known[stay]
    orders = orders[base * orders <= series.reach]
    orders = orders[: max(series.bearable_lines - len(others), 0)]
    if not len(orders):
        return None
    while True:
        ties = np.zeros((len(others) + len(orders), len(others) + 1), np.int64)
        ties[: len(others), 1:] = np.eye(len(others), dtype=np.int64)
        ties[len(others) :, 0] = orders
        bases, fixed = np.append(base, others), np.append(False, known)
        refined = refine_lines(series, bases, fixed, fit.trend_size, ties=ties)
        deviation = np.sqrt(np.maximum(refined.noise_variance, 1e-300))
        cosine, sine = refined.lines.cosine / deviation, refined.lines.sine / deviation
        ratio = line_power(refined.gram, cosine, sine).sum(axis=1)[len(others) :]
        weak = ratio < known_place_price(np.array(1.0 / harmonic_share(1)), series.settings.level)
        if not weak.any() or len(orders) == 1:
            if not series.lowest <= refined.bases[0] <= series.max_mode:
                return None  # the user, or the sampling, allows no such base
            known = np.append(known, np.zeros(len(orders), bool))
            return Fit(refined, known, fit.trend_size)
        orders, base = orders[np.arange(len(orders)) != np.argmin(ratio)], float(refined.bases[0])


def _log_likelihood(series: Series, fit: Fit) -> float:
    """Of the residual, each output with a noise of its own."""
    return -0.5 * series.total * _misfit(fit)


def _misfit(fit: Fit) -> float:
    """Sum over outputs of the log of the residual sum of squares."""
    return float(np.sum(np.log(np.maximum(fit.refined.rss, 1e-300))))


def resolved(fit: Fit, lowest: float, highest: float, integer: bool) -> BoolArray:
    """Mark lines to keep: in range, and the stronger one of any two that are too close."""
    modes, strength = fit.modes, np.sum(fit.refined.lines.amplitude**2, axis=1)
    keep = fit.known | ((modes >= lowest) & (modes <= highest))
    order = np.argsort(modes, kind="stable")
    close = np.flatnonzero((np.diff(modes[order]) < APART) & (not integer))
    for i, j in zip(order[close], order[close + 1], strict=True):
        if keep[i] and keep[j] and not (fit.known[i] and fit.known[j]):
            weaker = j if fit.known[i] or (strength[j] <= strength[i] and not fit.known[j]) else i
            keep[weaker] = False
    return keep


def weakest_apart(modes: FloatArray, strength: FloatArray, bad: BoolArray) -> IndexArray:
    """Choose lines to drop at once: the weakest of the bad, and others far from those chosen.

    Two bad lines next to each other may be one good one, so only the weaker is dropped now.
    """
    candidates = np.flatnonzero(bad)
    candidates = candidates[np.argsort(strength[candidates], kind="stable")]
    chosen: list[int] = []
    for i in candidates:
        if all(abs(modes[i] - modes[j]) > 4.0 for j in chosen):
            chosen.append(int(i))
    return np.array(chosen, dtype=np.intp)


def allowed(
    proposed: FloatArray, taken: FloatArray, lowest: float, highest: float, integer: bool
) -> FloatArray:
    """Keep proposals in range that are apart from each other and from lines already there."""
    apart = 0.5 if integer else APART
    kept: list[float] = []
    for mode in proposed:
        others = np.concatenate([taken, kept])
        if lowest <= mode <= highest and np.all(np.abs(others - mode) >= apart):
            kept.append(float(mode))
    return np.array(kept)
