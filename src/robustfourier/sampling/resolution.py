"""Sampling quality: what a record can and cannot show, before anything is fitted.

From the times alone: the resolution, the longest and shortest period that can be trusted, gaps,
and the spectral window, whose side peaks say which frequencies could be mistaken for each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.errors import DataError
from robustfourier.formatting import counted, number, percent, plural
from robustfourier.periodic.frequency_limits import even_spacing, highest_mode
from robustfourier.periodic.nufft import weighted_sums
from robustfourier.samples import Samples

_GAP = 5.0  # on an even grid a pause is a gap if it lasts so many steps …
_CHANCE = 2.0  # … at irregular times if it is so many times what chance makes the longest …
_GAP_SHARE = 0.01  # … and always at least this share of the record
_SIDE_PEAK = 0.3  # relative height from which a peak of the window makes aliases
_TRUSTED_CYCLES = 2.0  # a period seen fewer times than this could be a trend
_POINTS_AT_MOST = 200_000  # of the grid of the spectral window; more than any screen has
_FEW = 30  # samples below which a fit says little


@dataclass(frozen=True)
class Gap:
    """A pause in the record: where it begins, its length in the domain's unit and as a share."""

    start: Any
    length: float
    share: float


@dataclass(frozen=True)
class Finding:
    """One statement about the sampling; `level` is "good", "note" or "warning"."""

    level: str
    text: str


@dataclass(frozen=True)
class Window:
    """The spectral window |Σ e^{-iπkθ}| / n and its side peaks."""

    mode: FloatArray  # shape (K,); the window on a fine grid of modes, for a figure
    height: FloatArray
    peak_mode: FloatArray  # shape (P,); side peaks that make aliases, the highest first
    peak_height: FloatArray


@dataclass(frozen=True)
class Sampling:
    """What the times of a record allow.

    Parameters
    ----------
    n : int
        Samples.
    domain : Domain
        Their extent and unit.
    step : float
        Ordinary (median) time between samples.
    even : bool
        Whether all samples lie on an even grid, some perhaps missing.
    filled : float
        Share of the grid's places that have a sample; of ordinary steps for irregular times.
    resolution : float
        Difference of two frequencies that can just be resolved, 1 / span.
    longest, shortest : float
        Longest and shortest period that can be found.
    max_mode : float
        The highest mode a search would try, and `rule` says why.
    gaps : tuple of Gap
        The longest first.
    window : Window
        Spectral window.
    findings : tuple of Finding
        In words.
    """

    n: int
    domain: Domain
    step: float
    even: bool
    filled: float
    resolution: float
    longest: float
    shortest: float
    max_mode: float
    rule: str
    gaps: tuple[Gap, ...]
    window: Window
    findings: tuple[Finding, ...]


def check_sampling(samples: Samples) -> Sampling:
    """Judge the times of a record.

    Parameters
    ----------
    samples : Samples
        At least two different times.
    """
    if len(np.unique(samples.times)) < 2:
        raise DataError(
            f"{samples.source or 'data'}: at least two different times are needed, "
            f"but there is {len(np.unique(samples.times))}"
        )
    domain = Domain.from_times(samples.axis, unit=samples.unit or None)
    offsets = domain.offsets(samples.axis)
    theta = domain.to_theta(samples.axis)
    steps = np.diff(np.unique(offsets))
    step = float(np.median(steps))
    spacing = even_spacing(np.unique(theta))
    limit = highest_mode(theta)
    places = 2.0 / spacing + 1 if spacing is not None else domain.span / step + 1
    gaps = _gaps(samples, domain, offsets, step if spacing is not None else None)
    # Where sampling is nearly even, the peak that ends the band must be seen to be one.
    window = spectral_window(theta, limit.max_mode + (0 if spacing is not None else 2))
    quality = Sampling(
        n=len(samples),
        domain=domain,
        step=step,
        even=spacing is not None,
        filled=min(len(np.unique(offsets)) / places, 1.0),
        resolution=1.0 / domain.span,
        longest=domain.span / _TRUSTED_CYCLES,
        shortest=float(domain.period(limit.max_mode)) if limit.max_mode else np.inf,
        max_mode=limit.max_mode,
        rule=limit.rule,
        gaps=gaps,
        window=window,
        findings=(),
    )
    return replace(quality, findings=tuple(_findings(quality, samples)))


def spectral_window(theta: FloatArray, max_mode: float) -> Window:
    """Spectral window of samples at θ, up to twice the highest mode searched.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Positions in [-1, 1].
    max_mode : float
        Highest mode of a search; a side peak at k turns mode m into k ± m.
    """
    top = max(2 * max_mode, 4)
    spacing = max(0.25, top / _POINTS_AT_MOST)
    count = int(top / spacing) + 1
    sums = weighted_sums(theta, np.ones((len(theta), 1)), count, min(spacing, 1.0))[:, 0]
    height = np.abs(sums) / len(theta)
    modes = min(spacing, 1.0) * np.arange(count, dtype=np.float64)
    inner = (height[1:-1] >= height[:-2]) & (height[1:-1] > height[2:])
    at = np.flatnonzero(inner & (height[1:-1] > _SIDE_PEAK) & (modes[1:-1] > 2.0)) + 1
    order = at[np.argsort(-height[at])][:5]
    return Window(modes, height.astype(np.float64), modes[order], height[order])


def _gaps(
    samples: Samples, domain: Domain, offsets: FloatArray, step: float | None
) -> tuple[Gap, ...]:
    """Pauses that neither the grid nor chance explains."""
    pauses = np.diff(offsets)
    if step is not None:
        limit = _GAP * step
    else:  # the longest of n random pauses is about ln n times their mean
        limit = _CHANCE * domain.span / len(pauses) * np.log(len(pauses) + 1.0)
    long = np.flatnonzero(pauses > max(limit, _GAP_SHARE * domain.span))
    order = long[np.argsort(-pauses[long], kind="stable")]
    return tuple(
        Gap(samples.times[i], float(pauses[i]), float(pauses[i]) / domain.span) for i in order
    )


def _findings(quality: Sampling, samples: Samples) -> list[Finding]:
    period = quality.domain.period_words
    found = [_sampling_finding(quality, period(quality.step))]
    if not quality.shortest < quality.longest:
        few = f"Only {plural(quality.n, 'sample')}: too few for any period."
        return [*found, Finding("warning", few)]
    found.append(
        Finding(
            "good",
            f"Periods from {period(quality.shortest)} to {period(quality.longest)} can be found; "
            f"longer ones would be seen fewer than {_TRUSTED_CYCLES:g} times in the record of "
            f"{period(quality.domain.span)}.",
        )
    )
    if quality.n < _FEW:
        found.append(Finding("warning", f"Only {quality.n} samples: weak patterns cannot show."))
    if quality.gaps:
        lost = sum(gap.share for gap in quality.gaps)
        found.append(
            Finding(
                "warning" if lost > 0.2 else "note",
                f"{counted(len(quality.gaps), 'gap')} in the record, {percent(lost)} of its "
                f"length; the longest lasts {period(quality.gaps[0].length)}.",
            )
        )
    found.extend(_window_findings(quality, period))
    return found + [Finding("note", f"{words}.") for words in samples.counts.words()]


def _sampling_finding(quality: Sampling, step: str) -> Finding:
    if quality.even and quality.filled > 0.9995:
        return Finding("good", f"{quality.n:,} samples on an even grid, one every {step}.")
    if quality.even:
        filled = percent(quality.filled)
        return Finding(
            "good",
            f"{quality.n:,} samples on an even grid, {filled} of its places filled, "
            f"mostly one every {step}.",
        )
    return Finding("good", f"{quality.n:,} samples at irregular times, ordinarily {step} apart.")


def _window_findings(quality: Sampling, period: Any) -> list[Finding]:
    """Aliases: for even sampling the mirror at Nyquist, else the side peaks of the window."""
    if quality.even:
        return [
            Finding(
                "note",
                f"Sampling is even: anything faster than {period(quality.shortest)} would appear "
                "as a slower period (alias).",
            )
        ]
    if not len(quality.window.peak_mode):
        return [Finding("good", "No rhythm in the sampling times: aliases are unlikely.")]
    value = float(quality.domain.period(quality.window.peak_mode[0]))
    height = quality.window.peak_height[0]
    return [
        Finding(
            "warning" if height > 0.6 else "note",
            f"The sampling itself has a rhythm of {period(value)} (window {number(height, 2)}): a "
            f"frequency f can be mistaken for f ± 1/{period(value)}.",
        )
    ]
