import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.sampling import Completeness, detection_limit, inject


class TestInjection:
    theta = np.linspace(-1.0, 1.0, 400)

    def search(self, limit):
        """A perfect searcher that finds what is stronger than a limit, and nothing else."""

        def search(values):
            modes = np.arange(1.0, 100.0, 0.5)
            waves = np.exp(-1j * np.pi * np.outer(modes, self.theta))
            amplitude = 2.0 * np.abs(waves @ values) / len(values)
            top = int(np.argmax(amplitude))
            return modes[[top]] if amplitude[top] > limit else np.empty(0)

        return search

    def test_the_map_shows_the_searchers_limit(self):
        found = inject(
            self.search(0.5),
            self.theta,
            np.zeros(400),
            span=10.0,
            max_mode=90.0,
            amplitudes=np.array([0.1, 0.3, 0.7, 1.0]),
            n_periods=3,
            trials=2,
        )
        np.testing.assert_array_equal(found.found, [[0, 0, 1, 1]] * 3)
        assert found.false_modes == 0
        np.testing.assert_allclose(found.period, 10.0 / found.mode)

    def test_the_amplitude_for_a_share_lies_between_its_neighbours(self):
        found = Completeness(
            np.ones(3), np.ones(3), np.array([1.0, 2.0, 4.0]),
            np.array([[0.0, 0.5, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.2]]), 10, 0.0,
        )  # fmt: skip
        half = found.amplitude_for(0.5)
        assert half[0] == 2.0
        assert half[1] == 1.0
        assert np.isnan(half[2])

    def test_the_seed_decides_which_tones_are_planted(self):
        def planted(seed):
            heard = []

            def listen(values):
                heard.append(values.copy())
                return np.empty(0)

            inject(listen, self.theta, np.zeros(400), span=1.0, max_mode=50.0, trials=1,
                   amplitudes=np.array([1.0]), random_state=seed)  # fmt: skip
            return np.array(heard)

        np.testing.assert_array_equal(planted(3), planted(3))
        assert np.abs(planted(3) - planted(4)).max() > 0.1

    def test_more_samples_show_weaker_tones(self):
        assert detection_limit(1.0, 400, 200) == pytest.approx(2 * detection_limit(1.0, 1600, 200))

    def test_amplitudes_must_be_positive(self):
        with pytest.raises(InputError, match=re.escape("must be positive")):
            inject(self.search(1.0), self.theta, np.zeros(400), span=1.0, max_mode=9.0,
                   amplitudes=np.array([0.0]))  # fmt: skip
