"""Exponential smoothing: what changed of late goes on, as far as the back-test says."""

from dataclasses import replace

import numpy as np
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.periodic import exponential_smoothing as smoothing
from robustfourier.periodic.exponential_smoothing import (
    BackTest,
    EvenGrid,
    LastShift,
    Smoothing,
    SmoothingMixture,
)


def _slow_pass(gains, season_gains, values, seasons, waveforms, state):
    """The innovations form as it is written in the module's docstring."""
    follow, memory = gains
    level, error = state
    waveforms = [list(part) for part in np.split(waveforms, np.cumsum(seasons)[:-1])]
    errors = []
    for t, value in enumerate(values):
        error = memory * error
        if np.isnan(value):
            continue
        season = sum(part[t % len(part)] for part in waveforms)
        surprise = value - level - season - error
        errors.append(surprise)
        level, error = level + follow * surprise, error + surprise
        for part, gain in zip(waveforms, season_gains, strict=True):
            part[t % len(part)] += gain * surprise
    return np.mean(np.square(errors)), np.array([level, error]), np.concatenate(waveforms)


def test_the_compiled_pass_is_the_innovations_form():
    rng = np.random.default_rng(0)
    values, seasons = rng.normal(size=100), np.array([4, 7])
    values[[5, 30]] = np.nan
    gains, season_gains = np.array([0.3, 0.4]), np.array([0.2, 0.1])
    waveforms, state = rng.normal(size=11), np.array([1.0, 0.2])
    slow = _slow_pass(gains, season_gains, values, seasons, waveforms, state)
    state = np.append(state, 0.0)
    every, none = np.append(gains, season_gains), np.zeros(0, int)
    smoothing._pass(every, values, False, seasons, waveforms, state, none, np.zeros((0, 9)))
    for fast, obvious in zip((state[2], state[:2], waveforms), slow, strict=True):
        assert fast == pytest.approx(obvious, rel=1e-12)


def test_forecasts_within_the_record_are_those_of_what_came_before():
    rng = np.random.default_rng(5)
    values, seasons, origins = rng.normal(size=60), np.array([4, 7]), np.array([40, 55])
    gains, start = np.array([0.3, 0.4, 0.2, 0.1]), rng.normal(size=11)
    forecasts, state, waveforms = np.zeros((2, 9)), np.array([1.0, 0.2, 0.0]), start.copy()
    total = smoothing._pass(gains, values, False, seasons, waveforms, state, origins, forecasts)
    errors = []
    for origin, forecast in zip(origins, forecasts, strict=True):
        before = (values[:origin], seasons, start, np.array([1.0, 0.2]))
        _, last, ends = _slow_pass(gains[:2], gains[2:], *before)
        ends = smoothing._rolled(ends, seasons, origin)
        model = Smoothing(1.0, seasons, gains[:2], gains[2:], last, ends, 1.0)
        assert forecast == pytest.approx(model.mean(np.arange(1, 10)), rel=1e-12)
        errors += np.abs(values[origin : origin + 9] - forecast[: 60 - origin]).tolist()
    assert total == pytest.approx(np.sum(errors))


def test_a_pass_from_the_end_to_the_start_is_that_of_the_record_turned_round():
    rng = np.random.default_rng(6)
    values, seasons, none = rng.normal(size=50), np.array([4, 7]), np.zeros(0, int)
    gains, start = np.array([0.3, 0.4, 0.2, 0.1]), rng.normal(size=11)
    turned = np.concatenate([part[(49 - np.arange(len(part))) % len(part)]
                             for part in (start[:4], start[4:])])  # fmt: skip
    state, waveforms = np.array([1.0, 0.2, 0.0]), start.copy()
    smoothing._pass(gains, values, True, seasons, waveforms, state, none, np.zeros((0, 9)))
    slow = _slow_pass(gains[:2], gains[2:], values[::-1], seasons, turned, np.array([1.0, 0.2]))
    assert state[[2, 0, 1]] == pytest.approx(np.append(slow[0], slow[1]), rel=1e-12)
    ends = [part[(49 - np.arange(len(part))) % len(part)] for part in np.split(slow[2], [4])]
    assert waveforms == pytest.approx(np.concatenate(ends), rel=1e-12)


def test_no_other_gain_within_half_a_step_has_a_smaller_loss():
    rng, seasons = np.random.default_rng(9), np.array([4])
    values = np.cumsum(0.3 * rng.normal(size=80)) + np.tile(rng.normal(size=4), 20)
    test, start = BackTest.of(values), np.array([-1.0, 0.6, -2.5])
    forecasts, waveforms = np.zeros(test.rows.shape), rng.normal(size=4)

    def loss(logits):
        every, ends, state = np.empty(3), waveforms.copy(), np.array([values[-1], 0.0, 0.0])
        smoothing._write_gains(logits, every)
        none = test.origins[:0]
        smoothing._pass(every, values, True, seasons, ends, state, none, forecasts)
        state[1] = 0.0
        off = smoothing._pass(every, values, False, seasons, ends, state, test.origins, forecasts)
        return 0.5 * np.log(state[2]) + np.log(off) + np.sum((logits - start) ** 2) / 80

    gains, state, ends = np.empty(3), np.empty(3), np.empty(4)
    args = (values, seasons, waveforms, values[-1], test.origins)
    smoothing._optimise(*args, gains, state, ends, np.empty(test.rows.shape))
    follow, memory, season = gains
    parts = np.array([follow, 0.5 * (1.0 + memory), season / (1.0 - follow)])
    found = np.log(parts / (1.0 - parts))
    assert not np.allclose(found, start, atol=0.1)
    for step in np.concatenate([0.125 * np.eye(3), -0.125 * np.eye(3)]):
        assert loss(found) <= loss(found + step)


def test_the_variance_ahead_is_that_of_simulated_futures():
    rng = np.random.default_rng(1)
    model = Smoothing(
        1.0, np.array([3]), np.array([0.3, 0.5]), np.array([0.2]), np.array([1.0, 0.3]),
        np.array([1.0, -2.0, 1.0]), 1.0,
    )  # fmt: skip
    futures = np.zeros((20_000, 8))
    for future in futures:
        level, error = model.state
        season = model.waveforms.copy()
        for h in range(8):
            error, surprise = 0.5 * error, rng.normal()
            future[h] = level + error + season[h % 3] + surprise
            level, error = level + 0.3 * surprise, error + surprise
            season[h % 3] += 0.2 * surprise
    steps = np.arange(1, 9)
    assert futures.mean(axis=0) == pytest.approx(model.mean(steps), abs=0.05)
    assert futures.var(axis=0) == pytest.approx(model.variance(steps), rel=0.05)


def test_a_season_whose_waveform_changes_is_followed():
    rng, n = np.random.default_rng(2), 160
    t = np.arange(n + 8)
    waveform = rng.normal(size=(n // 4 + 2, 4)) * 0.5
    season = (5 * rng.normal(size=4) + np.cumsum(waveform, axis=0)).ravel()[: len(t)]
    y = 50 + season + 0.3 * rng.normal(size=len(t))
    test = BackTest.of(y[:n])
    followed, fixed = (
        smoothing._fitted(test, np.zeros(n), np.array(some, int)) for some in ((4,), ())
    )
    assert followed.model.season_gains[0] > 0.2
    assert test.error(followed.forecasts) < 0.5 * test.error(fixed.forecasts)
    ahead = followed.model.mean(np.arange(1, 9))
    assert np.sqrt(np.mean((ahead - y[n:]) ** 2)) < 1.5


def test_a_better_back_test_is_a_larger_weight_by_as_many_windows_as_fit():
    weights = smoothing.weights_of(np.array([1.0, 1.1]))
    assert weights[0] / weights[1] == pytest.approx(1.1**7)


def test_what_knows_all_of_the_record_counts_for_less_than_what_does_not():
    rng = np.random.default_rng(7)
    test = BackTest.of(rng.normal(size=100))
    forecasts = np.zeros(test.rows.shape)
    none = np.zeros(0)
    model = Smoothing(1.0, none.astype(int), np.array([0.1, 0]), none, np.zeros(2), none, 1.0)
    same = smoothing.BackTested(model, forecasts, np.ones_like(forecasts), 0.0)
    weights = [smoothing.mixed(test, forecasts, known, [same])[0] for known in (0.0, 20.0)]
    assert weights[0] == pytest.approx(0.5)
    ratio = np.sqrt(80 / 120) ** smoothing._WINDOWS
    assert weights[1] == pytest.approx(ratio / (1.0 + ratio))


def test_a_waveform_is_forgotten_by_one_minus_its_gain_with_each_cycle():
    test = BackTest.of(np.zeros(120))
    model = Smoothing(1.0, np.array([12]), np.zeros(2), np.array([0.2]), np.zeros(2),
                      np.zeros(12), 1.0)  # fmt: skip
    before = np.mean(test.origins) / 12
    assert smoothing._remembered(test, model) == pytest.approx(12 * 0.8**before)
    assert smoothing._remembered(test, replace(model, season_gains=np.zeros(1))) == 12.0


@pytest.mark.parametrize(("earlier", "low", "high"), [("none", 0.4, 0.7), ("ended", 0.0, 0.4),
                                                      ("stayed", 0.8, 1.0)])  # fmt: skip
def test_a_shift_stays_as_often_as_earlier_excursions_did(earlier, low, high):
    t = np.arange(600)
    before = {"none": t < 0, "ended": (t >= 200) & (t < 230), "stayed": t >= 250}[earlier]
    noise = 0.3 * np.random.default_rng(8).normal(size=600)
    shifts = 5.0 * before + 5.0 * (t >= 580)
    shift = LastShift.of(shifts + noise, shifts, 60)
    assert shift.size == pytest.approx(5.0)
    assert low < shift.stays < high
    assert shift.stays_for(np.array([0, 30, 60])) == pytest.approx(shift.stays ** np.arange(3))


def test_a_shift_that_has_lasted_stays_and_no_shift_changes_nothing():
    t = np.arange(600)
    ages = [LastShift.of(x := 5.0 * (t >= place), x, 60).stays for place in (590, 550, 300)]
    assert np.all(np.diff(ages) > 0)
    assert ages[-1] > 0.9
    assert LastShift.of(np.zeros(600), np.zeros(600), 60) == LastShift()


def test_a_forecast_is_the_likelier_of_a_level_that_stays_and_one_that_ended():
    """Its variance is that of both, around the one that is taken."""
    shift = LastShift(size=4.0, stays=0.6, ahead=20)
    mixture = SmoothingMixture(1.0, 0.1, np.array([1.0]), ((),), (shift,))
    own, none = np.full((2, 1), 10.0), np.zeros((2, 1))
    mean, variance = mixture.moments(np.array([2.0, 3.0]), own, none, none + 0.09, np.zeros(1))
    stays = np.array([0.6, 0.36])  # after 10 and 20 steps
    assert mean[:, 0] == pytest.approx([10.0, 6.0])
    assert variance[:, 0] == pytest.approx(0.09 + 16.0 * np.minimum(stays, 1.0 - stays))


def test_a_forecast_does_not_foresee_a_shift_that_comes_after_its_origin():
    t = np.arange(300)
    shifts = np.where(t >= 200, 3.0, 0.0)
    test = BackTest.of(shifts)
    seen = test.foreseen(shifts)
    before = test.origins <= 200
    assert np.all(seen[~before] == 0.0)
    later = np.broadcast_to(test.rows >= 200, seen.shape)
    assert np.array_equal(seen[before], np.where(later[before], 3.0, 0.0))


def test_months_lie_on_a_grid_and_replicates_on_none():
    months = np.cumsum([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]).astype(float)
    assert EvenGrid.of(months).places.tolist() == list(range(13))
    assert EvenGrid.of(np.array([0.0, 1.0, 1.0, 2.0])) is None
    assert EvenGrid.of(np.array([0.0, 1.0, 2.0, 10.0])) is None  # more gaps than samples


def test_a_forecast_by_smoothing_adds_up_and_comes_back_from_its_file(tmp_path):
    rng = np.random.default_rng(3)
    t = np.arange(200.0)
    y = np.cumsum(rng.normal(size=200)) + 3 * np.cos(2 * np.pi * t / 10)
    model = PeriodicMixture(scale="linear").fit(t, y)
    mixture = model.models_[0].smoothing
    total = mixture.own_weight[0] + sum(one.weight for one in mixture.models[0])
    assert total == pytest.approx(1.0)
    ahead, column = model.forecast(20), model.models_[0]
    theta = model.domains_[0].to_theta(ahead.times)
    parts = [mixture.own_weight[0] * (column.evaluate(theta) + column._own_remainder(theta))[:, 0]]
    for one in mixture.models[0]:
        lines = column.strict_at(theta)[:, 0] if one.around_lines else 0.0
        parts.append(one.weight * (one.mean(np.arange(1, 21)) + lines))
    assert np.sum(parts, axis=0) == pytest.approx(ahead.mean)
    assert model.decompose(ahead.times).total == pytest.approx(ahead.mean)
    model.save(tmp_path / "model.rfm")
    assert load(tmp_path / "model.rfm").forecast(20).to_frame().equals(ahead.to_frame())


def test_between_two_steps_a_forecast_is_between_their_values():
    t = np.arange(120.0)
    y = np.cumsum(np.random.default_rng(4).normal(size=120))
    model = PeriodicMixture(scale="linear").fit(t, y)
    low, middle, high = model.predict([121.0, 121.5, 122.0])
    assert middle == pytest.approx(0.5 * (low + high), abs=0.05 * np.std(y))
