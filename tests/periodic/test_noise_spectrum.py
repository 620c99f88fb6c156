"""The noise floor as a function of the mode."""

import numpy as np
import pytest

from robustfourier.periodic import noise_spectrum as noise


@pytest.mark.parametrize("centres", [[3.0], [1.0, 4.0, 9.0, 30.0]])
def test_between_centres_the_level_is_geometric_and_side_peaks_lift_it(centres):
    rng = np.random.default_rng(5)
    centres, modes = np.array(centres), rng.uniform(0.0, 40.0, 60)
    level = rng.uniform(0.1, 10.0, (len(centres), 2))
    for side in (np.zeros((0, 2)), np.array([[7.0, 0.9], [11.0, 0.6]])):
        floor = noise.NoiseFloor(centres, level, np.ones(len(centres)), *side.T)
        for at in (modes, np.sort(modes), centres):
            for o, column in enumerate(np.log(level).T):
                expected = np.exp(np.interp(at, centres, column))
                for distance, height in side:
                    for image in (np.abs(at - distance), at + distance):
                        seen = height**2 * np.exp(np.interp(image, centres, column))
                        expected = np.maximum(expected, seen)
                np.testing.assert_allclose(floor.at(at)[:, o], expected, rtol=1e-12)
