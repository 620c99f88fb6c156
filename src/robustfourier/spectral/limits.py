"""The highest mode worth searching, from the sample positions alone.

Samples on an even grid, with or without missing ones, cannot tell modes above the Nyquist mode
(one over the grid's spacing in θ) from their mirror images. Irregular samples have no such limit,
but their close pairs decide how fast an oscillation can still be followed: the rule is one over
the 10 % quantile of the spacings, at least the average Nyquist mode n/2, at most 5 n and 50 000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ModeLimit", "even_spacing", "highest_mode"]

FloatArray = NDArray[np.float64]

_MODES_PER_SAMPLE = 5.0
_MODES_AT_MOST = 50_000


@dataclass(frozen=True)
class ModeLimit:
    """The highest mode and the reason for it.

    Parameters
    ----------
    max_mode : int
        Highest mode to search; 0 if the samples bear none.
    nyquist : float or None
        Nyquist mode if the samples lie on an even grid, else None.
    rule : str
        The rule that gave `max_mode`, in words for the user.
    """

    max_mode: int
    nyquist: float | None
    rule: str


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


def highest_mode(theta: FloatArray, limit: float | None = None) -> ModeLimit:
    """Return the highest mode to search for samples at `theta`.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Positions in [-1, 1]; repeated positions count once.
    limit : float, optional
        An explicit highest mode; taken as it is.

    Examples
    --------
    >>> import numpy as np
    >>> highest_mode(np.linspace(-1, 1, 101)).max_mode
    50
    """
    distinct = np.unique(theta)
    spacing = even_spacing(distinct)
    nyquist = None if spacing is None else 1.0 / spacing
    if limit is not None:
        return ModeLimit(int(limit), nyquist, f"the given limit of {int(limit)} modes")
    if len(distinct) < 4:
        return ModeLimit(0, nyquist, "fewer than four distinct times bear no mode")
    if nyquist is not None:
        top = min(int(np.floor(nyquist + 1e-6)), _MODES_AT_MOST)
        return ModeLimit(top, nyquist, f"the Nyquist mode {nyquist:.6g} of even sampling")
    return _irregular_limit(distinct)


def _irregular_limit(theta: FloatArray) -> ModeLimit:
    """Apply the rule for irregular samples."""
    n = len(theta)
    close = float(np.quantile(np.diff(theta), 0.10))
    top = min(max(1.0 / close, n / 2.0), _MODES_PER_SAMPLE * n, _MODES_AT_MOST)
    rule = (
        f"irregular sampling: one over the 10 % quantile of the spacings is {1.0 / close:.6g} "
        f"modes, kept between n/2 and min(5 n, {_MODES_AT_MOST})"
    )
    return ModeLimit(int(top), None, rule)
