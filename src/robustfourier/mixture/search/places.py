"""Relocation: move a line to where the data fit better.

With a strong side peak of the spectral window at distance d (nightly data: one cycle per day), a
proposal can as well be mode k ± d. Refinement only looks nearby, so whoever proposed decides;
here the sums of squares decide, line by line, the strongest first. Likewise a weak line may stand
on the flank of one that is still missing: it is exchanged for the highest peak that the residual
shows without it.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import IndexArray
from robustfourier.mixture.search.aliases import window_peaks
from robustfourier.mixture.search.workbench import Fit, Workbench

__all__ = ["exchange", "relocate"]

AT_MOST = 12  # lines; the strongest decide what the others are aliases of
APART = 0.9  # modes; as in detection


def relocate(bench: Workbench, fit: Fit) -> Fit:
    """Try the aliases of every line that was found, and keep what fits better.

    Parameters
    ----------
    bench : Workbench
    fit : Fit
        Lines refined together.
    """
    peaks = [] if bench.integer else window_peaks(bench.grid)
    if not peaks:
        return fit
    strength = np.sum(fit.refined.lines.amplitude**2, axis=1)
    for i in np.argsort(-strength, kind="stable")[:AT_MOST]:
        if not fit.known[i]:
            fit = _best_place(bench, fit, int(i), [distance for distance, _ in peaks])
    return fit


def exchange(bench: Workbench, fit: Fit, weak: IndexArray, lowest: float) -> Fit:
    """Offer each of the weak lines the highest peak of the residual that is left without it.

    Parameters
    ----------
    bench : Workbench
    fit : Fit
        Lines refined together.
    weak : ndarray of int
        Which lines to exchange, in this order; the first few are tried.
    lowest : float
        Lowest mode to offer.
    """
    misfit = _misfit(bench, fit)
    for i in weak[:AT_MOST]:
        keep = np.arange(len(fit.modes)) != i
        rest = bench.fit(fit.modes[keep], fit.known[keep], fit.rung)
        power = bench.grid.power(bench.grid.data_sums(rest.refined.residuals)).sum(axis=1)
        power[bench.grid.modes < lowest] = 0.0
        for mode in rest.modes:
            power[np.abs(bench.grid.modes - mode) < APART] = 0.0
        peak = float(bench.grid.modes[np.argmax(power)])
        if abs(peak - fit.modes[i]) < APART:
            continue
        trial = bench.fit(np.insert(rest.modes, i, peak), fit.known, fit.rung)
        if (value := _misfit(bench, trial)) < misfit:
            fit, misfit = trial, value
    return fit


def _best_place(bench: Workbench, fit: Fit, line: int, distances: list[float]) -> Fit:
    """Return the best fit with one line at its place or at one of its aliases."""
    mode, others = fit.modes[line], np.delete(fit.modes, line)
    best, misfit = fit, _misfit(bench, fit)
    for distance in distances:
        for other in (abs(mode - distance), mode + distance):
            taken = np.min(np.abs(others - other), initial=np.inf) < APART
            if taken or not bench.lowest <= other <= bench.max_mode:
                continue
            modes = fit.modes.copy()
            modes[line] = other
            trial = bench.fit(modes, fit.known, fit.rung)
            if (value := _misfit(bench, trial)) < misfit:
                best, misfit = trial, value
    return best


def _misfit(bench: Workbench, fit: Fit) -> float:
    """Sum over outputs of the log of the residual sum of squares."""
    squares = bench.weights @ fit.refined.residuals**2
    return float(np.sum(np.log(np.maximum(squares, 1e-300))))
