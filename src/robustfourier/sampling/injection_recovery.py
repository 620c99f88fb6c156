"""Which tones would have been found in this very record: they are planted, searched and counted.

Known tones are planted into what the fit leaves over, at the record's own times: the noise and the
gaps are the user's. Each planted record goes through the whole search again. A tone counts as found
if a mode lies within half a mode (half a Rayleigh width) of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.samples import Samples
from robustfourier.sampling.resolution import check_sampling

#: Fits values at the record's times and returns the modes that were found.
Search = Callable[[FloatArray], FloatArray]

FOUND_WITHIN = 0.5  # modes
LIMIT_MULTIPLES = (0.5, 0.75, 1.0, 1.5, 2.5)


@dataclass(frozen=True)
class Completeness:
    """Share of planted tones that were found.

    Parameters
    ----------
    mode : ndarray of shape (P,)
        Modes around which tones were planted, ascending.
    period : ndarray of shape (P,)
        Their periods in the domain's unit.
    amplitude : ndarray of shape (A,)
        Amplitudes planted, ascending.
    found : ndarray of shape (P, A)
        Share found.
    trials : int
        Tones planted per cell.
    false_modes : float
        Modes per trial that were found elsewhere.
    """

    mode: FloatArray
    period: FloatArray
    amplitude: FloatArray
    found: FloatArray
    trials: int
    false_modes: float

    def amplitude_for(self, share: float) -> FloatArray:
        """Smallest amplitude from which on the given share is found, NaN if none, shape (P,)."""
        limits = np.full(len(self.mode), np.nan)
        for i, row in enumerate(np.minimum.accumulate(self.found[:, ::-1], axis=1)[:, ::-1]):
            enough = np.flatnonzero(row >= share)
            if not enough.size:
                continue
            j = enough[0]
            if j == 0:
                limits[i] = self.amplitude[0]
                continue
            part = (share - row[j - 1]) / (row[j] - row[j - 1])
            low, high = np.log(self.amplitude[j - 1 : j + 1])
            limits[i] = np.exp(low + part * (high - low))
        return limits


def measure_completeness(model: Any, samples: Samples, **planting: Any) -> Completeness:
    """Plant tones into what a fit leaves over, and search for them with the same estimator.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to the samples.
    samples : Samples
        The record.
    **planting
        `n_periods`, `amplitudes`, `trials`, `random_state` and `observe` of `inject`.
    """
    from sklearn.base import clone

    axis, domain = samples.axis, model.domains_[0]

    def search(values: FloatArray) -> FloatArray:
        again = clone(model).fit(axis, values, y_err=samples.errors)
        return np.asarray(again.modes_.mode)

    return inject(
        search,
        domain.to_theta(axis),
        samples.values - model.predict(axis, remainder=False),
        span=domain.span,
        max_mode=check_sampling(samples).max_mode,
        **planting,
    )


def detection_limit(noise: float, n: int, max_mode: float, false_alarm: float = 0.01) -> float:
    """Amplitude that is detected in white noise of that deviation.

    A tone of amplitude a has power n a²/4; noise passes power z·σ² somewhere among M modes with a
    probability of about M e^{-z}.

    Examples
    --------
    >>> round(detection_limit(1.0, 400, 200), 3)
    0.315
    """
    return float(2.0 * noise * np.sqrt(np.log(max(max_mode, 2.0) / false_alarm) / n))


def inject(
    search: Search,
    theta: FloatArray,
    residual: FloatArray,
    *,
    span: float,
    max_mode: float,
    n_periods: int = 6,
    amplitudes: ArrayLike | None = None,
    trials: int = 4,
    random_state: int | None = 0,
    observe: Callable[[int, int], Any] | None = None,
) -> Completeness:
    """Plant tones and count how many come back.

    Parameters
    ----------
    search : callable
        Takes values (n,) and returns modes (K,).
    theta, residual : ndarray of shape (n,)
        The record's positions and its noise.
    span : float
        Length of the domain, from which periods follow.
    max_mode : float
        Highest mode to plant.
    n_periods : int
        Number of periods, spread evenly in the logarithm of the mode from 3 to `max_mode`.
    amplitudes : array-like of shape (A,), optional
        Amplitudes to plant; by default around the expected detection limit.
    trials : int
        Tones per cell, each with its own phase and a mode moved by up to half a mode.
    random_state : int
        Seed.
    observe : callable, optional
        Called with (done, total) after each trial.
    """
    if n_periods < 1 or trials < 1:
        raise InputError(f"periods={n_periods} and trials={trials} must be at least 1")
    lowest = min(3.0, max_mode)
    modes = np.geomspace(lowest, max(max_mode * 0.98 - 0.5, lowest), n_periods)
    modes = np.unique(modes)
    if amplitudes is None:
        limit = detection_limit(float(np.std(residual)), len(residual), max_mode)
        amplitudes = limit * np.array(LIMIT_MULTIPLES)
    amplitudes = np.sort(np.asarray(amplitudes, np.float64))
    if not (np.all(np.isfinite(amplitudes)) and np.all(amplitudes > 0)):
        raise InputError(f"amplitudes={amplitudes.tolist()} must be positive")
    hits = np.zeros((len(modes), len(amplitudes)))
    false, total = 0, hits.size * trials
    # the same modes and phases at every amplitude, so that rows compare
    generator = np.random.default_rng(random_state)
    moved = modes[:, None] + generator.uniform(-0.5, 0.5, (len(modes), trials))
    phases = generator.uniform(-np.pi, np.pi, (len(modes), trials))
    cells = np.ndindex(*hits.shape, trials)
    for done, (i, j, k) in enumerate(cells, start=1):
        planted = amplitudes[j] * np.cos(np.pi * moved[i, k] * theta - phases[i, k])
        near = np.abs(search(residual + planted) - moved[i, k]) <= FOUND_WITHIN
        hits[i, j] += bool(near.any())
        false += int((~near).sum())
        if observe is not None:
            observe(done, total)
    return Completeness(modes, span / modes, amplitudes, hits / trials, trials, false / total)
