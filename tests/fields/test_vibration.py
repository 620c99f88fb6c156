"""Vibration: the envelope of a resonance shows the strikes of a bearing, and lines have names."""

import re

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.errors import DataError, InputError
from robustfourier.fields import Bearing, characteristic_lines, envelope_signal
from robustfourier.fields.vibration import band_of, strongest_resonance
from robustfourier.samples import from_arrays

RATE, SHAFT = 12_000.0, 29.0
BEARING = Bearing(9, 7.94, 39.04)


def struck(seconds=1.0, seed=0):
    """A resonance of 3 kHz that rings at each strike of the outer race, in noise and shaft."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    rate = SHAFT * BEARING.orders()["BPFO"]
    y = 0.5 * rng.normal(size=len(t)) + np.cos(2 * np.pi * SHAFT * t)
    for strike in np.arange(0.003, seconds, 1 / rate):
        after = np.maximum(t - strike, 0)
        y += 2 * np.exp(-800 * after) * np.sin(2 * np.pi * 3000 * after)
    return from_arrays(t, y, unit="second", value_name="acceleration"), rate


def test_the_resonance_is_found():
    samples, _ = struck()
    low, high = strongest_resonance(samples.values, RATE)
    assert low < 3000 < high < 5000


def test_the_envelope_repeats_at_the_rate_of_the_strikes():
    samples, rate = struck()
    envelope = envelope_signal(samples)
    assert len(envelope) < len(samples)
    assert "found by spectral kurtosis" in envelope.notes[-1]
    model = PeriodicMixture(max_frequency=600.0).fit(envelope.times, envelope.values)
    assert model.components_[0].frequency == pytest.approx(rate, rel=2e-3)


def test_a_pure_tone_has_a_flat_envelope():
    t = np.arange(4000) / 1000
    even = from_arrays(t, np.cos(2 * np.pi * 100 * t), unit="second")
    envelope = envelope_signal(even, (80.0, 120.0)).values
    np.testing.assert_allclose(envelope[5:-5], 1.0, atol=1e-6)


def test_lines_of_a_machine_have_names():
    orders = BEARING.orders()
    lines = SHAFT * np.array(
        [1.0, 2.0, orders["BPFO"], 2 * orders["BPFI"], orders["BPFI"] - 1, 24.0]
    )
    names = characteristic_lines(lines, SHAFT, BEARING, teeth=24)
    assert names == ["1×shaft", "2×shaft", "BPFO", "2×BPFI", "BPFI - 1×shaft", "mesh"]
    assert characteristic_lines(np.array([13.37]), SHAFT) == [""]


def test_races_share_the_elements_between_them():
    orders = BEARING.orders()
    assert orders["BPFO"] + orders["BPFI"] == pytest.approx(BEARING.elements)
    assert orders["BPFO"] == pytest.approx(BEARING.elements * orders["FTF"])


@pytest.mark.parametrize("text", ["", "4000-2000", "fast", "1-2-3", "nan-5"])
def test_a_band_that_is_none_is_refused(text):
    with pytest.raises(InputError, match=re.escape("give LOW-HIGH in Hz")):
        band_of(text)


def test_uneven_samples_have_no_envelope():
    t = np.sort(np.random.default_rng(0).uniform(0, 1, 500))
    with pytest.raises(DataError, match="evenly spaced"):
        envelope_signal(from_arrays(t, t))


def test_a_band_beyond_the_nyquist_frequency_is_refused():
    samples, _ = struck(0.1)
    with pytest.raises(InputError, match="below half of the 12000 samples per second"):
        envelope_signal(samples, (5000.0, 7000.0))
