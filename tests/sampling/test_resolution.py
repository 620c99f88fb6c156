import numpy as np
import pytest

from robustfourier.samples import from_arrays
from robustfourier.sampling import check_sampling, spectral_window


class TestSampling:
    def test_even_sampling_is_recognised_with_its_nyquist_period(self):
        quality = check_sampling(from_arrays(np.arange(100.0), np.ones(100)))
        assert quality.even
        assert quality.filled == 1.0
        assert quality.shortest == pytest.approx(2.0, rel=0.02)
        assert quality.resolution == pytest.approx(1 / 99)

    def test_missing_places_are_not_taken_for_irregular_times(self):
        times = np.delete(np.arange(100.0), [3, 50, 51, 77])
        quality = check_sampling(from_arrays(times, np.ones(96)))
        assert quality.even
        assert quality.filled == pytest.approx(0.96)

    @pytest.mark.parametrize("n", [2, 3])
    def test_a_handful_of_samples_promises_no_period(self, n):
        words = [f.text for f in check_sampling(from_arrays(np.arange(n), np.ones(n))).findings]
        assert words[-1] == f"Only {n} samples: too few for any period."
        assert not any("–" in text for text in words)

    def test_a_gap_is_found_with_its_length(self):
        times = np.concatenate([np.arange(50.0), np.arange(150.0, 200.0)])
        quality = check_sampling(from_arrays(times, np.ones(100)))
        assert len(quality.gaps) == 1
        assert quality.gaps[0].length == 101.0

    def test_a_nightly_rhythm_shows_in_the_window(self):
        rng = np.random.default_rng(0)
        nights = np.repeat(np.arange(120.0), 3) + rng.uniform(0.0, 0.2, 360)
        quality = check_sampling(from_arrays(np.sort(nights), np.ones(360), unit="day"))
        rhythm = quality.domain.period(quality.window.peak_mode[0])
        assert rhythm == pytest.approx(1.0, rel=0.01)
        assert any("has a rhythm of" in finding.text for finding in quality.findings)

    def test_the_window_is_its_definition(self):
        theta = np.random.default_rng(0).uniform(-1, 1, 50)
        window = spectral_window(theta, 20)
        direct = np.abs(np.exp(-1j * np.pi * np.outer(window.mode, theta)).mean(axis=1))
        np.testing.assert_allclose(window.height, direct, atol=1e-9)
