"""Public protocols: series are drawn as written, answers are named fairly, rows add up."""

import numpy as np
import pytest
from benchmarks.ordinary.robust_period import SEVERITY, TRIPLE, protocol
from benchmarks.protocols import forecasts, periods, stars
from benchmarks.protocols.forecasts import Record

from benchmarks import rows


@pytest.mark.parametrize("severity", SEVERITY)
def test_robust_periods_series_are_drawn_as_its_protocol_says(severity):
    t, y, trend, wild = protocol(np.random.default_rng(0), TRIPLE, "square", *severity)
    assert len(t) == 1000
    assert wild.sum() == round(1000 * severity[1])
    assert trend.max() == pytest.approx(10.0, abs=0.02)
    assert trend[0] == trend[-1] == 0.0
    left = y - trend - sum(np.where((t / p) % 1.0 < 0.5, 1.0, -1.0) for p in TRIPLE)
    # Noise of 800 samples and more: three standard errors of a variance are 15 %.
    assert np.var(left[~wild]) == pytest.approx(severity[0], rel=0.15)
    assert np.abs(left[wild]).mean() == pytest.approx(10.0, abs=3.0 * np.sqrt(severity[0]))


def test_a_hodrick_prescott_filter_takes_slow_changes_and_leaves_fast_ones():
    t = np.arange(2000.0)
    for period, kept in ((100.0, 1.0), (400.0, 0.5), (2000.0, 0.0)):
        left = periods.without_trend(np.cos(2 * np.pi * t / period))[400:1600]
        assert np.std(left) * np.sqrt(2.0) == pytest.approx(kept, abs=0.02)


def test_precision_and_recall_count_each_true_period_once():
    assert periods.matched([100.3, 99.8], [100], 0.0) == 1
    assert periods.matched([19.5, 51.0, 102.1], TRIPLE, 0.02) == 1
    assert periods.matched([19.6, 51.0, 102.0], TRIPLE, 0.02) == 3
    counted = [{"right_2": 3, "reported": 4, "true": 6}]
    assert periods.f1(counted, "right_2") == pytest.approx((0.75, 0.5, 0.6))
    assert periods.f1([{"right_2": 0, "reported": 0, "true": 6}], "right_2") == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("period", "named"),
    [
        (0.6, "exact"),
        (0.6004, "false"),
        (0.3, "half or double"),
        (1.2, "half or double"),
        (1.0 / (1.0 / 0.6 - 1.0), "alias"),
        (1.0 / (3.0 - 1.0 / 0.6), "alias"),
        (1.0 / (1.0 / 0.6 + 1.0 / 365.25), "alias"),
        (0.77, "false"),
        (None, "none"),
    ],
)
def test_answers_about_stars_are_named_by_half_a_mode(period, named):
    assert stars.answer(period, 0.6, 2000.0) == named


def test_rows_of_a_run_replace_their_own_and_keep_the_others(tmp_path):
    file = tmp_path / "deep" / "rows.jsonl"
    rows.keep(file, [{"a": 1, "v": 1}, {"a": 2, "v": 2}], ("a",))
    assert rows.keep(file, [{"a": 2, "v": 3}], ("a",)) == [{"a": 1, "v": 1}, {"a": 2, "v": 3}]
    assert rows.read(file)[1]["v"] == 3
    assert rows.read(None) == []


def record(values, ahead=4, season=2):
    times = np.datetime64("2020-01-01", "h") + np.arange(len(values))
    return Record("set", "one", times, np.array(values, float), ahead, (season,), "h")


def test_a_scaled_error_of_one_is_that_of_the_naive_forecast():
    series = record([0, 10, 1, 11, 2, 12, 3, 13])
    assert np.array_equal(series.known, [0, 10, 1, 11])
    assert forecasts.scaled_error(series, np.array([3.0, 13.0, 4.0, 14.0])) == 1.0


def test_a_percentage_error_is_over_the_mean_of_both():
    series = record([0, 10, 1, 11, 1, 1, 1, 1])
    assert forecasts.percentage_error(series, np.full(4, 3.0)) == 100.0


def test_an_interval_score_is_the_width_and_forty_times_what_lies_outside():
    series = record([0, 10, 1, 11, 2, 12, 3, 13])
    after = series.values[-4:]
    assert forecasts.interval_score(series, after - 1.0, after + 2.0) == 3.0
    assert forecasts.interval_score(series, after + 1.0, after + 2.0) == 41.0


def test_a_forecast_is_measured_by_error_and_coverage(monkeypatch):
    series = record([0, 10, 1, 11, 2, 12, 3, 13])
    after = series.values[-4:]
    forecast = (
        after + 2.0,
        after - np.array([1.0, 1.0, 1.0, -1.0]),
        after + 3.0,
        after,
        after + 1.0,
    )
    monkeypatch.setitem(forecasts.METHODS, "stub", ("numpy", lambda _: forecast))
    row = forecasts.measure("stub", series)
    assert (row["mase"], row["inside"], row["inside_95"]) == (2.0, 0.75, 1.0)
    words = f"| set | stub | 2.000 | nan | 2.000 | {row['smape']:.2f} | 1.00 | 75.0% | 100.0% |"
    assert words in forecasts.table([row])

    def fails(_):
        raise ValueError("no")

    monkeypatch.setitem(forecasts.METHODS, "stub", ("numpy", fails))
    assert forecasts.measure("stub", series)["failed"] == "ValueError: no"
