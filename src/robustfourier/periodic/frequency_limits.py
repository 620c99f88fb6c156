"""The highest mode worth searching, from the sample positions alone.

Samples on an even grid, with or without missing ones, cannot tell modes above the Nyquist mode
(one over the grid's spacing in θ) from their mirror images. Irregular samples have no such limit:
a star seen once a night tells periods of an hour. They are searched up to ten modes per sample, at
least 12 000 (a quarter of a second) and at most 50 000, and to periods of half a typical step: a
few samples in each of some nights tell what happens within a night. If their spectral window comes
back to 0.9 of its height at some mode D (a jittered grid), they are as good as even: D/2 is the
limit, unless little or nothing is found below it (seasons of years come back as well).
Months, quarters and years of the calendar are such a grid, and nothing is looked for beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.periodic.nufft import RealModeSums, weighted_sums

WindowTo = Callable[[float], RealModeSums]

_MODES_PER_STEP = 2.0  # of a typical length, so that nights far apart show what one of them shows
_MODES_PER_SAMPLE = 10.0  # see above; short periods are looked for, at a cost that is bounded:
_MODES_AT_LEAST, MODES_AT_MOST = 12_000, 50_000  # a quarter of a second, and one second
_NEARLY_EVEN = 0.9  # of the window: an alias then has four fifths of the line's power
# Months in a step of the calendar, and the days that most such steps have.
_STEPS = ((1, 31), (3, 92), (6, 184), (6, 181), (12, 365))
_MONTH = 365.2425 / 12.0  # days
_WANDER = 3.2  # days by which so many months differ from mean ones: at most 3.16 from 1900 to 2100
_CLOCK = 0.06  # days: an hour of summer time, and some


@dataclass(frozen=True)
class ModeLimit:
    """The highest mode and the reason for it."""

    max_mode: float  # highest mode to search; 0 if the samples bear none
    nyquist: float | None  # Nyquist mode if the samples lie on an even grid, else None
    rule: str  # the rule that gave `max_mode`, in words for the user
    #: where the search would end if the samples did not lie nearly on an even grid, if they do
    beyond: float | None = None
    #: highest mode that a harmonic may have where the samples are irregular, else 0
    harmonics: float = 0.0


def even_spacing(theta: FloatArray, tolerance: float = 1e-3) -> float | None:
    """Return the spacing of the even grid that all samples lie on, or None.

    Missing samples are allowed; `tolerance` is the largest deviation from the grid in units of its
    spacing. A grid with more than ten empty places per sample counts as irregular sampling.

    Examples
    --------
    >>> import numpy as np
    >>> even_spacing(np.array([-1.0, -0.5, 0.5, 1.0]))
    0.5
    >>> even_spacing(np.array([-1.0, -0.5, 0.2, 1.0])) is None
    True
    """
    theta = np.unique(theta)
    if len(theta) < 2:
        return None
    gaps = np.diff(theta)
    span = theta[-1] - theta[0]
    count = np.round(span / gaps.min())
    if count > 10.0 * len(theta):
        return None
    spacing = span / count
    places = (theta - theta[0]) / spacing
    return float(spacing) if np.all(np.abs(places - np.round(places)) <= tolerance) else None


def calendar_step(theta: FloatArray) -> float | None:
    """Return the mean step of samples at the same day of months, quarters or years, or None.

    Steps may be missing, and the unit of θ is not known: 28 to 31 of some unit are a month.

    Examples
    --------
    >>> import numpy as np
    >>> starts = np.cumsum([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    >>> float(round(calendar_step(starts / 100.0), 4))
    0.3044
    >>> calendar_step(np.array([0.0, 31.0, 60.0, 75.0, 106.0])) is None
    True
    """
    gaps = np.diff(theta)
    lengths, count = np.unique(np.round(gaps / gaps.max(), 4), return_counts=True)
    usual = float(lengths[np.argmax(count)] * gaps.max())
    for months, most in _STEPS if usual > 0 else ():  # else most gaps are as good as none
        days = gaps * most / usual
        step = months * _MONTH
        off = days - step * np.round(days / step)
        whole = np.abs(days - np.round(days)) <= _CLOCK
        if days.min() > 0.5 * step and np.all(whole & (np.abs(off) <= _WANDER)):
            return step * usual / most
    return None


def highest_mode(
    theta: FloatArray, limit: float | None = None, window: WindowTo | None = None
) -> ModeLimit:
    """Return the highest mode to search for samples at `theta`.

    `theta` (n,): positions in [-1, 1]; repeated positions count once. `limit`: an explicit highest
    mode; taken as it is. `window`: ``mode -> RealModeSums`` of equal weights up to twice that mode,
    for who needs them later.

    Examples
    --------
    >>> import numpy as np
    >>> highest_mode(np.linspace(-1, 1, 101)).max_mode
    50.0
    """
    distinct = np.unique(theta)
    spacing = even_spacing(distinct)
    nyquist = None if spacing is None else 1.0 / spacing
    if limit is not None:
        return ModeLimit(float(limit), nyquist, f"the given limit of {limit:.6g} modes")
    if len(distinct) < 4:
        return ModeLimit(0.0, nyquist, "no mode can be fitted to fewer than four distinct times")
    if spacing is None and (months := calendar_step(distinct)) is not None:
        return ModeLimit(1.0 / months, None, "the steps of the calendar: two for a period")
    if nyquist is not None:
        top = float(min(nyquist, MODES_AT_MOST))
        return ModeLimit(top, nyquist, f"the Nyquist mode {nyquist:.6g} of even sampling")
    return _irregular_limit(distinct, window if len(distinct) == len(theta) else None)


def _irregular_limit(theta: FloatArray, window_to: WindowTo | None) -> ModeLimit:
    """Apply the rule for irregular samples."""
    n = len(theta)
    usual = _MODES_PER_STEP * float(theta[-1] - theta[0]) / float(np.median(np.diff(theta)))
    wanted = max(_MODES_PER_SAMPLE * n, usual)
    top = int(np.clip(wanted, _MODES_AT_LEAST, MODES_AT_MOST))
    if window_to is None:
        window = np.abs(weighted_sums(theta, np.ones((n, 1)), 2 * top + 1)[:, 0]) / n
    else:
        window = np.abs(window_to(float(top)).on_grid(1.0, 2 * top + 1)[:, 0])
        window /= window[0]
    # The main peak is left out: it falls below the threshold within the first few modes.
    first = int(np.argmax(window < _NEARLY_EVEN))
    again = np.flatnonzero(window[first:] >= _NEARLY_EVEN)
    if again.size:
        half = max((first + int(again[0])) // 2, 1)
        rule = f"nearly even sampling: the spectral window peaks at {2 * half}"
        return ModeLimit(half, None, rule, float(top))
    rule = (
        "irregular sampling: ten times the number of samples, but at least "
        f"{_MODES_AT_LEAST:,} and at most {MODES_AT_MOST:,}"
    )
    if wanted == usual > _MODES_AT_LEAST:
        rule = f"irregular sampling: half a typical step, up to mode {MODES_AT_MOST}"
    return ModeLimit(top, None, rule, harmonics=MODES_AT_MOST)
