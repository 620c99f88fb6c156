"""Planted tones in a record's own noise, searched for by the whole estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robustfourier.analysis.fitting import fit_model
from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.injection import Completeness, inject
from robustfourier.samples import Samples
from robustfourier.sampling import check_sampling

__all__ = ["measure_completeness"]


def measure_completeness(
    samples: Samples,
    *,
    n_periods: int = 6,
    amplitudes: Sequence[float] | None = None,
    trials: int = 4,
    level: float = 0.01,
    seed: int = 0,
    observe: Callable[[int, int], Any] | None = None,
) -> tuple[Completeness, Domain]:
    """Fit a record, plant tones into what is left, and search for them.

    Parameters
    ----------
    samples : Samples
    n_periods, amplitudes, trials, observe
        As in `robustfourier.injection.inject`.
    level : float
        False-alarm probability of the search.
    seed : int

    Returns
    -------
    completeness : Completeness
    domain : Domain
        For the unit of its periods.
    """
    model = fit_model(samples, level=level, random_state=seed)
    domain = model.domains_[0]
    axis = samples.axis
    residual = samples.values - model.predict(axis)

    def search(values: FloatArray) -> FloatArray:
        from robustfourier.estimators.mixture import PeriodicMixture

        again = PeriodicMixture(unit=samples.unit or None, level=level, random_state=seed)
        return np.asarray(again.fit(axis, values, y_err=samples.errors).modes_.mode)

    found = inject(
        search,
        domain.to_theta(axis),
        residual,
        span=domain.span,
        max_mode=check_sampling(samples).max_mode,
        n_periods=n_periods,
        amplitudes=None if amplitudes is None else np.asarray(amplitudes, np.float64),
        trials=trials,
        random_state=seed,
        observe=observe,
    )
    return found, domain
