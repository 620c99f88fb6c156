"""Detection: the lines of a series, with what decided about them.

The diagonal layer proposes modes, joint least squares places them, and the evidence of the whole
structure, noise and trend among it, keeps or drops them (`moves`). The search cannot run away:
nothing slower than 1.5 cycles over the record (that is trend), no two lines closer than 0.9 modes,
and no more lines than the samples can bear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.formatting import plural
from robustfourier.mixture.search.degenerate_frequencies import (
    Fringes,
    explains_little,
    fits_better_beyond,
    fits_worse_below,
    fringes_of,
)
from robustfourier.mixture.search.line_fit import Fit, fit_lines
from robustfourier.mixture.search.moves import Search
from robustfourier.mixture.search.noise_evidence import Assessment, NoiseModel, assess
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.aliases import Alias, alias_notes, sampling_aliases
from robustfourier.periodic.basis import Lines, Trend
from robustfourier.periodic.diagonal_flow import DiagonalFlow
from robustfourier.periodic.frequency_limits import MODES_AT_MOST, ModeLimit
from robustfourier.periodic.noise_spectrum import NoiseFloor

_EACH = 3  # so many lines with fringes are told one by one
SAME_LINE = 0.5  # modes, half of what a record resolves: lines that are nearer are one


@dataclass(frozen=True, eq=False)
class Detection:
    """The lines that noise cannot explain, the trend and the noise."""

    series: Series  # with the values that least squares was done on, outliers pulled in
    fit: Fit  # found and known lines, by ascending mode, in units of the series
    noise_model: NoiseModel | None  # white or coloured; None if there was nothing to search
    assessment: Assessment | None  # what the noise says of the lines; None likewise
    flow: DiagonalFlow | None  # the diagonal flow that proposed first
    huber: bool  # whether outliers were pulled in
    rounds: int  # rounds of propose, refine, test
    aliases: tuple[Alias, ...] = ()  # what each line could be instead
    #: lines that fit as well at other places, because the samples have long gaps
    fringes: tuple[Fringes, ...] = ()
    left_out: tuple[str, ...] = ()  # which lines were found and left out, and why

    @property
    def lines(self) -> Lines:
        """Lines in units of y."""
        lines, scale = self.fit.refined.lines, self.series.scale
        return Lines(lines.mode, lines.cosine * scale, lines.sine * scale)

    @property
    def known(self) -> BoolArray:
        """Lines that were given, shape (K,)."""
        return self.fit.known

    @property
    def mode_error(self) -> FloatArray:
        """Standard errors of the modes; zero for known and for integer modes, shape (K,)."""
        return self.fit.refined.mode_error

    @property
    def false_alarm(self) -> FloatArray:
        """How often noise alone shows a line as strong anywhere in the range searched, (K,)."""
        return np.ones(len(self.known)) if self.assessment is None else self.assessment.false_alarm

    @property
    def strength(self) -> FloatArray:
        """Power of each line over the noise floor, shape (K,)."""
        return np.zeros(len(self.known)) if self.assessment is None else self.assessment.ratio

    @property
    def noise_variance(self) -> FloatArray:
        """Variance of the residual in units of the series, shape (q,)."""
        return self.fit.refined.noise_variance

    @property
    def noise(self) -> FloatArray:
        """Standard deviation of the residual in units of y, shape (q,)."""
        return np.sqrt(self.noise_variance) * self.series.scale

    @property
    def floor(self) -> NoiseFloor:
        """Noise power against mode in units of the series; flat if nothing was searched."""
        if self.assessment is not None:
            return self.assessment.floor
        level = np.maximum(self.noise_variance, 1e-300)
        return NoiseFloor(np.ones(1), level[None], np.ones(1))

    @property
    def trend(self) -> Trend:
        """The trend in units of y."""
        coefficients = self.fit.refined.trend * self.series.scale
        coefficients[0] += self.series.centre
        return Trend(coefficients, self.series.breaks)

    @property
    def limit(self) -> ModeLimit:
        """Highest mode searched, and why."""
        return self.series.limit

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know, in words."""
        limit, n_lines = self.limit, len(self.known)
        notes = [f"searched up to mode {limit.max_mode:.6g}: {limit.rule}"]
        if n_lines and n_lines >= self.series.bearable_lines:
            notes.append(f"stopped at {plural(n_lines, 'line')}, as many as these samples support")
        notes.extend(alias_notes(self.aliases))
        notes.extend(self.left_out)
        notes.extend(str(fringes) for fringes in self.fringes[:_EACH])
        if limit.beyond is not None and n_lines:
            notes.append(
                f"nearly even sampling: modes {2 * limit.max_mode:.6g} apart are seen alike, and "
                "the lowest is reported"
            )
        if limit.nyquist is not None and n_lines:
            notes.append(
                f"even sampling: a mode k gives the same samples as {2 * limit.nyquist:.6g} − k; "
                "the lower one is reported"
            )
        return tuple(notes)

    def without(self, modes: FloatArray, why: str) -> Detection:
        """Return the same without the lines at some modes, the others fitted again."""
        near = np.abs(self.fit.modes[:, None] - modes).min(axis=1, initial=np.inf) < SAME_LINE
        kept = np.flatnonzero(~near | self.known)
        fit = fit_lines(self.series, self.fit.modes[kept], self.known[kept], self.fit.trend_size)
        index = {int(line): i for i, line in enumerate(kept)}
        return replace(
            self,
            fit=fit,
            assessment=None if (m := self.noise_model) is None else assess(self.series, fit, m),
            aliases=tuple(replace(a, line=index[a.line]) for a in self.aliases if a.line in index),
            fringes=tuple(replace(f, line=index[f.line]) for f in self.fringes if f.line in index),
            left_out=(*self.left_out, why),
        )

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return trend plus lines at `theta` in units of y, shape (n, q)."""
        return self.trend.evaluate(theta) + self.lines.evaluate(theta)


class LineSearch:
    """A search for the lines of a series, which can be looked at after its first round."""

    def __init__(self, series: Series) -> None:
        self.series, self._search = series, Search(series)
        self._rounds = self._search.run()

    @cached_property
    def first(self) -> Detection:
        """What passes of the lines that the diagonal flow proposes."""
        next(self._rounds, None)
        return _told(self._search)

    @cached_property
    def whole(self) -> Detection:
        """All lines, and what else they could be."""
        _ = self.first  # is what it is after one round, whichever of the two is asked for first
        search = _ended(self._search, self._rounds)
        better = fits_better_beyond(search.series, search.fit)
        if better or explains_little(search.series, search.fit):
            wider = self._beyond()
            search = wider if better or _tells_more(wider, search) else search
        fit, assessment, limit = search.fit, search.assessment, search.series.limit
        aliases: tuple[Alias, ...] = ()
        if len(fit.modes):
            strength = np.zeros(len(fit.modes)) if assessment is None else assessment.ratio
            aliases = sampling_aliases(fit.modes, strength, limit.nyquist, search.series.grid)
        return replace(_told(search), aliases=aliases, fringes=fringes_of(search.series, fit))

    def _beyond(self) -> Search:
        """Return a search of all that the samples could tell if they were not nearly even."""
        rule = f"{self.series.limit.rule}, but the samples resolve faster modes"
        limit = ModeLimit(self.series.limit.beyond or 0.0, None, rule, harmonics=MODES_AT_MOST)
        search = Search(replace(self.series, limit=limit))
        return _ended(search, search.run())


def _tells_more(wider: Search, search: Search) -> bool:
    """Whether a search of a wider range has found what one of a narrower range has not.

    Lines more must gain what their places in the range cost, and the strongest must not be as
    well within the narrower range, where it did not pass: slow noise is seen at its aliases too.
    """
    if not len(wider.fit.modes):
        return False
    least, lines = np.finfo(float).tiny, len(wider.fit.modes) - len(search.fit.modes)
    left = [np.maximum(each.fit.refined.rss, least) for each in (search, wider)]
    gain = search.series.total * np.sum(np.log(left[0] / left[1]))
    if gain <= 2.0 * lines * np.log(max(wider.series.max_mode, 2.0)):
        return False
    return fits_worse_below(wider.series, wider.fit, search.series.max_mode)


def _ended(search: Search, rounds: Iterator[None]) -> Search:
    """Return a search after the rest of its rounds."""
    for _ in rounds:
        pass
    search.finish()
    return search


def _told(search: Search) -> Detection:
    """Return what a search has found so far."""
    found = (search.series, search.fit, search.noise, search.assessment)
    return Detection(*found, search.flow, search.huber, search.rounds)


def search_lines(series: Series) -> Detection:
    """Find the lines of a series."""
    return LineSearch(series).whole


def detect(
    theta: FloatArray, y: FloatArray, weights: FloatArray | None = None, **settings: Any
) -> Detection:
    """Find the lines in noisy samples, without grouping them.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Positions in [-1, 1], in any order and spacing.
    y : ndarray of shape (n, q)
        Values; the outputs share the modes.
    weights : ndarray of shape (n,), optional
        Weight 2 is the row twice.
    **settings
        Fields of `Settings`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> theta = np.sort(rng.uniform(-1, 1, 500))
    >>> y = np.cos(np.pi * 7.3 * theta) + 0.5 * np.sin(np.pi * 31.8 * theta)
    >>> found = detect(theta, (y + 0.3 * rng.normal(size=500))[:, None])
    >>> found.lines.mode.round(1)
    array([ 7.3, 31.8])
    """
    with threadpool_limits(limits=1):
        return search_lines(Series.of(theta, y, weights, Settings(**settings)))
