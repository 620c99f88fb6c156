"""Fringes: other places at which a line fits as well, seen through long gaps or an even rhythm.

Two short stretches of samples far apart see a line as two telescopes see a star: through fringes
about one mode apart, as many as a stretch alone could not tell apart. Bursts of samples at an even
rhythm see it at its aliases too, unless a burst is long enough to tell. What fits as well is told,
and the errors of such a line count all its places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.search.line_fit import Fit, fit_lines
from robustfourier.mixture.timeseries import GAPPY, Series
from robustfourier.periodic.periodogram import PeriodogramGrid

_FRINGES = 10.0  # modes to either side of a line that are tried first,
_FARTHEST = 160.0  # and at most: sixteen times as many
_STEP = 0.1  # of a fringe one mode wide; a parabola finds its top to 2e-4 of the power
_AT_ONCE = 100  # places in one matrix of moments
_AS_GOOD = 9.0  # in χ²: three standard errors
_LITTLE = 0.5  # of the variance around the trend left over
_STRONGEST = 3  # lines for which the rest of the range is looked at


@dataclass(frozen=True)
class Fringes:
    """The places at which a line fits as well as at its own, or nearly."""

    line: int  # index of the line
    mode: float  # its own place
    others: FloatArray  # (m,): the other places
    error: float  # root mean square distance of all places from its own, each by its likelihood

    def __str__(self) -> str:
        many = len(self.others) > 1
        first, last = f"{self.others.min():.6g}", f"{self.others.max():.6g}"
        where = f"{len(self.others)} other places from mode {first} to {last}" if many else first
        return (
            f"mode {self.mode:.6g} fits as well at {where}: the samples have long gaps, and its "
            f"standard error counts {'them all' if many else 'both'}"
        )


def fringes_of(series: Series, fit: Fit) -> tuple[Fringes, ...]:
    """Return the fringes of every line that was found in a record with long gaps."""
    if series.integer or not len(fit.modes) or series.share > GAPPY:
        return ()
    every = [_fringes(series, fit, int(i)) for i in np.flatnonzero(~fit.known)]
    return tuple(fringes for fringes in every if len(fringes.others))


def _fringes(series: Series, fit: Fit, line: int) -> Fringes:
    """Try places ever farther away, until those at the ends do not fit any more."""
    mode, reach = float(fit.modes[line]), _FRINGES
    while True:
        place, gain = _tops(series, fit, line, reach)
        good = gain > gain.max() - _AS_GOOD
        farthest = np.max(np.abs(place[good] - mode), initial=0.0)
        if farthest < 0.5 * reach or reach >= _FARTHEST:
            break
        reach *= 2.0
    odds = np.exp(0.5 * (gain - gain.max()))
    error = float(np.sqrt(odds @ (place - mode) ** 2 / odds.sum()))
    return Fringes(line, mode, place[good & (np.abs(place - mode) > 0.5)], error)


def _tops(series: Series, fit: Fit, line: int, reach: float) -> tuple[FloatArray, FloatArray]:
    """Places of the highest fits around a line, and what each explains in units of the noise.

    The other lines stay as they are; the trend and this line are fitted again.
    """
    refined, p = fit.refined, series.trend(fit.trend_size).shape[1]
    tried = fit.modes[line] + np.arange(-reach, reach + 1e-9, _STEP)
    tried = tried[(tried >= series.lowest) & (tried <= series.reach)]
    part = series.with_values(
        _part(series, fit, line) + series.trend(fit.trend_size) @ refined.trend
    )
    gain = np.zeros(len(tried))
    for start in range(0, len(tried), _AT_ONCE):
        some = tried[start : start + _AT_ONCE]
        moments = part.moments(some, fit.trend_size)
        for k in range(len(some)):
            at = np.append(np.arange(p), [p + k, p + len(some) + k])
            cross = moments.cross[at]
            solved = np.linalg.lstsq(moments.gram[np.ix_(at, at)], cross, rcond=1e-12)[0]
            noise = np.maximum(refined.noise_variance, 1e-300)
            gain[start + k] = np.sum(cross * solved / noise)
    inner = np.flatnonzero((gain[1:-1] >= gain[:-2]) & (gain[1:-1] >= gain[2:])) + 1
    before, here, after = gain[inner - 1], gain[inner], gain[inner + 1]
    bend = np.minimum(before - 2.0 * here + after, -1e-300)
    offset = np.clip(0.5 * (before - after) / bend, -0.5, 0.5)
    top = here - 0.25 * (before - after) * offset
    own = np.argmin(np.abs(tried - fit.modes[line]))
    place = np.append(tried[inner] + offset * _STEP, fit.modes[line])
    return place, np.append(top, gain[own])


def _part(series: Series, fit: Fit, line: int) -> FloatArray:
    """What a line has to explain: itself and the residuals."""
    own = fit.refined.lines.select(np.array([line])).evaluate(series.theta)
    return np.asarray(fit.refined.residuals + own)


def fits_better_beyond(series: Series, fit: Fit) -> bool:
    """Tell whether a strong line, found on nearly even samples, fits better at one of its aliases.

    The samples then tell more than their rhythm promised, and the whole range is worth a search.
    """
    beyond = series.limit.beyond
    if beyond is None or series.integer or fit.known.all():
        return False
    grid = PeriodogramGrid.of(series.theta, series.weights, beyond, _STEP)
    noise = np.maximum(fit.refined.noise_variance, 1e-300)
    outside = grid.modes > series.max_mode
    chance = 2.0 * np.log(beyond / series.max_mode)  # the best of many aliases
    strongest = np.argsort(-fit.refined.lines.amplitude.max(axis=1), kind="stable")
    for line in (int(i) for i in strongest[:_STRONGEST] if not fit.known[i]):
        power = grid.power(grid.data_sums(_part(series, fit, line)))
        gain = 2.0 * np.sum(power / noise, axis=1)
        own = gain[np.abs(grid.modes - fit.modes[line]) < 0.5].max(initial=0.0)
        if gain[outside].max(initial=0.0) > own + chance:
            return True
    return False


def explains_little(series: Series, fit: Fit) -> bool:
    """Tell whether lines found on nearly even samples leave most of what is there unexplained.

    A season of every year, or a night of every day, makes samples nearly even without making them
    one for each step: what they tell may lie beyond.
    """
    if series.limit.beyond is None or series.integer:
        return False
    none = np.zeros(0)
    alone = fit_lines(series, none, none.astype(bool), fit.trend_size).refined.rss
    return bool(np.mean(fit.refined.rss / np.maximum(alone, 1e-300)) > _LITTLE)


def fits_worse_below(series: Series, fit: Fit, limit: float) -> bool:
    """Tell whether the strongest line of a fit fits clearly worse anywhere else up to a limit."""
    line = int(np.argmax(fit.refined.lines.amplitude.max(axis=1)))
    if fit.modes[line] <= limit:
        return True
    grid = PeriodogramGrid.of(series.theta, series.weights, limit, _STEP)
    noise, part = np.maximum(fit.refined.noise_variance, 1e-300), _part(series, fit, line)
    gain = 2.0 * np.sum(grid.power(grid.data_sums(part)) / noise, axis=1)
    own = np.sum(series.weights @ (part**2 - fit.refined.residuals**2) / noise)
    below = grid.modes >= series.lowest
    return bool(own > gain[below].max(initial=0.0) + _AS_GOOD)
