"""Detection: propose, refine, test, repeat, until noise alone could explain what is left.

The diagonal flow proposes modes, joint least squares places them, a false-alarm probability against
the local noise floor keeps or drops each, and the residual proposes again. The search cannot run
away: nothing slower than 1.5 cycles over the record (that is trend), no two lines closer than 0.9
modes, and no more lines than the samples can bear.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from robustfourier.arrays import FloatArray
from robustfourier.mixture.least_squares.lines import Lines
from robustfourier.mixture.rows import canonical_rows, centre_and_scale
from robustfourier.mixture.search.aliases import sampling_aliases
from robustfourier.mixture.search.choice import (
    SLOWEST,
    bearable_lines,
    check_settings,
    rungs_of,
)
from robustfourier.mixture.search.detection import Detection, notes_for
from robustfourier.mixture.search.rounds import Search
from robustfourier.mixture.search.workbench import Workbench
from robustfourier.mixture.trend import Trend
from robustfourier.spectral.limits import ModeLimit, highest_mode

__all__ = ["Detection", "detect"]


def detect(
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray | None = None,
    *,
    level: float = 0.01,
    max_mode: float | None = None,
    frequencies: str = "real",
    modes: FloatArray | None = None,
    loss: str = "auto",
    trend: str = "auto",
    max_lines: int | None = None,
    random_state: int = 0,
) -> Detection:
    """Find the lines in noisy samples.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Positions in [-1, 1], in any order and spacing.
    y : ndarray of shape (n, q)
        Values; the outputs share the modes.
    weights : ndarray of shape (n,), optional
        Weight 2 is the row twice.
    level : float
        Largest false-alarm probability of a line.
    max_mode : float, optional
        Highest mode to search. Default: `highest_mode`.
    frequencies : {"real", "integer"}
        "integer" for data known to be periodic over the span.
    modes : ndarray of shape (F,), optional
        Modes known to be there: kept as given, whatever their strength.
    loss : {"auto", "squared", "huber"}
        "auto" pulls outliers in when that lowers the variance of the estimates.
    trend : {"auto", "level", "slope", "smooth"}
        The richest trend allowed; "auto" is "smooth", or "level" for integer modes.
    max_lines : int, optional
        Largest number of lines. Default: one per nine samples, at most 500.
    random_state : int
        Chooses the fifth of the samples that the diagonal flow is stopped by.

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
    check_settings(level, frequencies, loss, trend)
    weights = np.ones(len(theta)) if weights is None else np.asarray(weights, float)
    theta, y, weights = canonical_rows(np.asarray(theta, float), np.asarray(y, float), weights)
    centre, scale = centre_and_scale(y, weights)
    integer = frequencies == "integer"
    limit = highest_mode(theta, max_mode)
    given = np.sort(np.asarray([] if modes is None else modes, float))
    bench = Workbench(
        theta=theta,
        values=(y - centre) / scale,
        weights=weights,
        max_mode=float(max(limit.max_mode, given.max(initial=0.0), 1.0)),
        nyquist=np.inf if limit.nyquist is None else limit.nyquist,
        lowest=1.0 if integer else SLOWEST,
        integer=integer,
        level=level,
        rungs=rungs_of(trend, integer),
    )
    bearable = bearable_lines(bench, max_lines) if limit.max_mode >= bench.lowest else 0
    # One thread and two add up in different orders, and then differ in the last bits.
    with threadpool_limits(limits=1):
        search = Search(bench, given, loss, max(bearable, 0), random_state)
        search.run()
        return _detection(search, centre, scale, limit)


def _detection(
    search: Search, centre: FloatArray, scale: FloatArray, limit: ModeLimit
) -> Detection:
    """Return everything in units of y, lines by ascending mode."""
    fit, bench, assessment = search.coloured(), search.bench, search.assessment
    refined = fit.refined
    order = np.argsort(refined.lines.mode, kind="stable")
    lines = refined.lines.select(order)
    if assessment is None:
        alarm, strength = np.ones(len(order)), np.zeros(len(order))
    else:
        alarm, strength = assessment.false_alarm[order], assessment.ratio[order]
    coefficients = refined.trend * scale
    coefficients[0] += centre
    aliases = (
        sampling_aliases(lines.mode, strength, limit.nyquist, bench.grid) if len(lines) else ()
    )
    return Detection(
        lines=Lines(lines.mode, lines.cosine * scale, lines.sine * scale),
        known=fit.known[order],
        mode_error=refined.mode_error[order],
        amplitude_error=refined.amplitude_error[order] * scale,
        phase_error=refined.phase_error[order],
        false_alarm=alarm,
        strength=strength,
        trend=Trend(coefficients),
        noise=np.sqrt(refined.noise_variance) * scale,
        floor=None if assessment is None else assessment.floor,
        scale=scale,
        theta=bench.theta,
        values=bench.values * scale + centre,
        weights=bench.weights,
        original=search.original * scale + centre,
        limit=limit,
        flow=search.flow,
        aliases=aliases,
        huber=search.huber,
        rounds=search.rounds,
        notes=notes_for(limit, aliases, len(lines), search.max_lines),
    )
