"""Breakpoints of long records: found to a group of rows, and none in noise."""

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.mixture.search import breakpoints

N = 20_000


@pytest.fixture
def noise():
    return 0.5 * np.random.default_rng(4).standard_normal(N)


def test_a_shift_and_a_bend_of_a_long_record_are_found_to_a_group_of_rows(noise):
    t = np.arange(float(N))
    y = (t > 7_000) + np.maximum(t - 14_000, 0.0) / 1_500 + np.sin(2 * np.pi * t / 57) + noise
    model = PeriodicMixture().fit(t, y)
    assert [round(c.period, 1) for c in model.components_] == [57.0]
    shift, bend = model.breakpoints_
    assert (shift.kind, bend.kind) == ("level", "slope")
    assert abs(shift.time - 7_000) < 20  # four groups
    assert abs(bend.time - 14_000) < 200
    assert abs(shift.size[0] - 1.0) < 5 * shift.error[0]


def test_noise_of_many_rows_has_no_breakpoint(noise):
    assert PeriodicMixture().fit(np.arange(float(N)), noise).breakpoints_ == ()


def test_groups_change_what_is_known_of_the_noise_by_nothing(noise):
    """The gain of a break in means of groups is that in all rows, but for the place."""
    t = np.linspace(-1.0, 1.0, N)
    rows = breakpoints._Groups(t, (noise + (t > 0.1))[:, None], np.ones(N), np.zeros(1))
    place, _, gain = breakpoints._best_break(rows, 1, breakpoints.Breaks())
    series = type("Series", (), {"theta": t, "weights": rows.weights})
    grouped = breakpoints._Groups.of(series, rows.y)
    assert len(grouped.theta) == breakpoints._GROUPS
    again, _, less = breakpoints._best_break(grouped, 1, breakpoints.Breaks())
    assert again == pytest.approx(place, abs=2e-3)
    assert less == pytest.approx(gain, rel=0.01)
