"""O-C: cycle by cycle, how late a component is."""

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.errors import InputError
from robustfourier.fields import o_minus_c

T = np.linspace(0.0, 200.0, 1600)
RNG = np.random.default_rng(0)
PERIOD = 5.0


def fitted(late):
    y = np.cos(2 * np.pi * (T - late) / PERIOD) + 0.05 * RNG.normal(size=len(T))
    return PeriodicMixture(periods=[PERIOD]).fit(T, y)


def test_a_steady_clock_is_never_late():
    table = o_minus_c(fitted(np.zeros(len(T))))
    assert len(table) > 35
    assert np.all(np.abs(table["difference"]) < 5 * table["error"])
    assert np.std(table["difference"] / table["error"]) == pytest.approx(1.0, abs=0.35)


def test_computed_times_are_one_period_apart():
    table = o_minus_c(fitted(np.zeros(len(T))))
    steps = np.diff(table["computed"]) / np.diff(table["cycle"])
    np.testing.assert_allclose(steps, PERIOD, rtol=1e-3)
    np.testing.assert_allclose(
        table["observed"] - table["computed"], table["difference"], atol=1e-9
    )


def test_a_jump_of_the_phase_is_seen_where_it_is():
    model = fitted(np.zeros(len(T)))
    jump = np.where(T > 100, 0.2, 0.0)
    values = np.cos(2 * np.pi * (T - jump) / PERIOD)
    table = o_minus_c(model, times=T, values=values)
    late = table["difference"][table["computed"] > 105]
    early = table["difference"][table["computed"] < 95]
    assert np.mean(late) - np.mean(early) == pytest.approx(0.2, rel=0.05)


def test_a_label_that_is_not_there_is_named():
    with pytest.raises(InputError, match="there are: A"):
        o_minus_c(fitted(np.zeros(len(T))), "Q")
