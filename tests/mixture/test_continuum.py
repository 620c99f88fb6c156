"""Peaks of a hump or of a drift are no lines; tones that stand on them are."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robustfourier import PeriodicMixture
from robustfourier.datasets import load_sunspots
from robustfourier.mixture.search.detection import search_lines
from robustfourier.mixture.timeseries import Series, Settings

N = 300
T = np.arange(N, dtype=float)


def hump(rng):
    """A resonance of ten samples that rings for one cycle, with white noise."""
    poles = [1.0, -1.8 * np.cos(2 * np.pi / 10), 0.81]
    return lfilter([1.0], poles, rng.normal(size=N + 200))[200:] + rng.normal(size=N)


def walk(rng):
    """A random walk and white noise."""
    return np.cumsum(rng.normal(size=N)) + 3.0 * rng.normal(size=N)


def found_in(y):
    theta = np.linspace(-1.0, 1.0, len(y))
    return search_lines(Series.of(theta, y[:, None], np.ones(len(y)), Settings()))


@pytest.mark.parametrize(
    ("noise", "kind", "seeds"), [(hump, 3, (1, 3, 4, 16, 19, 36)), (walk, 2, (7, 8, 57, 92, 99))]
)
def test_peaks_of_noise_that_rings_or_wanders_are_no_lines(noise, kind, seeds):
    """The floor alone lets each of these draws pass."""
    for seed in seeds:
        found = found_in(noise(np.random.default_rng([seed, kind])))
        assert len(found.known) == 0
        assert found.noise_model.coloured


@pytest.mark.parametrize("period", [10.0, 24.0])
@pytest.mark.parametrize("noise", [hump, walk])
def test_a_tone_that_stands_out_of_a_continuum_is_a_line(noise, period):
    for seed in range(3):
        y = noise(np.random.default_rng([seed, 11]))
        y = y + 2.0 * np.std(y) * np.cos(2 * np.pi * T / period)
        left = found_in(y)
        assert np.abs((N - 1) / left.fit.modes - period).min() < 0.02 * period


def test_what_keeps_its_phase_for_some_cycles_is_a_pattern():
    """Sunspots wander, and are told as one pattern."""
    data = load_sunspots()
    model = PeriodicMixture().fit(data.times, data.values)
    assert [10.5 < one.period < 11.3 for one in model.components_] == [True]
    assert np.isfinite(model.components_[0].coherence)
