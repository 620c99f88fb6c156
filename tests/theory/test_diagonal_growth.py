"""The growth of one mode in closed form, beside the gradient flow that it solves."""

import numpy as np
import pytest

from robustfourier.periodic.diagonal_flow import START, calibrated_time
from robustfourier.theory import grown_amplitude, stopping_time


@pytest.mark.parametrize("gradient", [0.02, 0.3, 2.0])
def test_the_closed_form_solves_the_gradient_flow(gradient):
    start, steps, end = 1e-3, 200_000, 20.0 / gradient
    w, c = np.sqrt(start), 0.0
    for _ in range(steps):
        g = gradient - 0.5 * w * c
        w, c = w + end / steps * c * g, c + end / steps * w * g
    assert grown_amplitude(gradient, end, start) == pytest.approx(w * c, rel=2e-3)


def test_strong_modes_awake_first_and_end_at_their_amplitude():
    strong, weak = grown_amplitude([[0.5], [0.05]], np.linspace(0.0, 400.0, 4001), 1e-4)
    assert np.argmax(strong > 0.02) < np.argmax(weak > 0.02)
    assert strong[-1] == pytest.approx(1.0)
    assert weak[-1] == pytest.approx(0.1)
    assert np.all(np.diff(strong) > -1e-9)


def test_a_smaller_false_alarm_stops_earlier():
    x = np.array([0.01, 0.02])  # what noise exceeds more often, and less often
    early, late = stopping_time(x, 1e-5)[::-1]
    assert early < late


def test_the_time_is_that_of_the_search():
    assert stopping_time(3.0, START * 3.0) == pytest.approx(calibrated_time(3.0))
