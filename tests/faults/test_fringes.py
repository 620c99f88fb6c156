"""Two short stretches of samples far apart: places that fit as well are told."""

import re

import numpy as np

from robustfourier.estimators.mixture import PeriodicMixture


def test_places_that_fit_as_well_are_told_and_the_true_one_is_among_them():
    rng = np.random.default_rng(1)
    t = np.concatenate([rng.uniform(0, 5, 200), rng.uniform(495, 500, 200)])
    model = PeriodicMixture().fit(t, np.sin(2 * np.pi * t / 1.3) + 0.3 * rng.normal(size=400))
    (note,) = [note for note in model.notes_ if "fits as well at" in note]
    low, high = map(float, re.search(r"from mode (\S+) to (\S+):", note).groups())
    assert low - 0.5 < float(np.ptp(t)) / 1.3 < high + 0.5


def test_samples_without_long_gaps_have_no_such_places():
    rng = np.random.default_rng(1)
    t = rng.uniform(0, 50, 400)
    model = PeriodicMixture().fit(t, np.sin(2 * np.pi * t / 1.3) + 0.3 * rng.normal(size=400))
    assert len(model.components_) == 1
    assert not [note for note in model.notes_ if "fits as well at" in note]
