"""How a fit is judged: error of the function, periods found, components right."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray
from benchmarks.peers.problems import Task

HALF_RAYLEIGH = 0.5  # of 1 / span, in frequency
STANDARD_ERRORS = 3.0


def matched(
    found: FloatArray, true: FloatArray, tolerance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Pair found with true frequencies one to one, nearest pairs first.

    Parameters
    ----------
    found : ndarray of shape (n_found,)
        Frequencies that were reported.
    true : ndarray of shape (n_true,)
        Frequencies that are there.
    tolerance : ndarray of shape (n_true,)
        How far off a found frequency may be from each true one.

    Returns
    -------
    right : ndarray of bool, shape (n_found,)
        Found frequencies that have a true partner; a second one near the same line has none.
    hit : ndarray of bool, shape (n_true,)
        True frequencies that were found.
    """
    right, hit = np.zeros(found.size, bool), np.zeros(true.size, bool)
    distance = np.abs(found[:, None] - true[None, :])
    close_i, close_j = np.nonzero(distance <= tolerance[None, :])
    for index in np.argsort(distance[close_i, close_j], kind="stable"):
        i, j = close_i[index], close_j[index]
        if not right[i] and not hit[j]:
            right[i] = hit[j] = True
    return right, hit


def function_error(prediction: FloatArray, task: Task) -> float:
    """Root mean square error over the root mean square of what is to be predicted.

    With a known truth this is the paper's relative L² error. Held-out values of a real series are
    taken about their mean (1 = as good as the mean); pure noise about its standard deviation.
    """
    off = float(np.sqrt(np.mean((prediction - task.y_test) ** 2)))
    return off / task.scale


def period_scores(fit: Fit, task: Task) -> dict[str, float]:
    """Precision and recall of the periods, and whether the components are right.

    A found period is right if it lies within the tolerance of a true line, where the harmonics of
    a true component are true lines. Recall is over the fundamentals. Real series: recall only.
    """
    if fit.periods is None:
        return {}
    found = _frequencies(fit.periods)
    scores: dict[str, float] = {"n_found": float(found.size)}
    half = HALF_RAYLEIGH / task.span
    fundamentals = 1.0 / task.fundamentals
    wide = np.full(fundamentals.size, half)
    if fundamentals.size:
        scores["recall"] = float(matched(found, fundamentals, wide)[1].mean())
    if task.scored == "measured":
        return scores
    lines = 1.0 / task.lines
    if found.size:
        right, _ = matched(found, lines, np.full(lines.size, half))
        scores["precision"] = float(right.mean())
    if fundamentals.size:
        narrow = STANDARD_ERRORS * task.fundamental_errors
        scores["recall_3se"] = float(matched(found, fundamentals, narrow)[1].mean())
        if found.size:
            right, _ = matched(found, lines, STANDARD_ERRORS * task.line_errors)
            scores["precision_3se"] = float(right.mean())
    reported = fit.periods if fit.fundamentals is None else fit.fundamentals
    components = _frequencies(reported)
    right, hit = matched(components, fundamentals, wide)
    scores["components_right"] = float(right.all() and hit.all())
    if fit.period_errors is not None and found.size:
        scores["own_3se"] = _own_coverage(fit, task, lines, half)
    return scores


def _own_coverage(fit: Fit, task: Task, lines: FloatArray, half: float) -> float:
    """Share of the right periods whose truth lies within 3 of the method's own errors."""
    periods = np.asarray(fit.periods, np.float64)
    errors = np.asarray(fit.period_errors, np.float64)
    nearest = np.abs(1.0 / periods[:, None] - lines[None, :]).argmin(axis=1)
    right = np.abs(1.0 / periods - lines[nearest]) <= half
    off = np.abs(periods - task.lines[nearest])
    return float(np.mean(off[right] <= STANDARD_ERRORS * errors[right])) if right.any() else np.nan


def _frequencies(periods: FloatArray) -> FloatArray:
    periods = np.atleast_1d(np.asarray(periods, np.float64))
    return np.unique(1.0 / periods[np.isfinite(periods) & (periods > 0)])
