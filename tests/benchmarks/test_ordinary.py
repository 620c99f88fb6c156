"""The truth set judges fairly."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.ordinary import command
from benchmarks.ordinary import judge as judge_room
from benchmarks.ordinary.catalogue import (
    every_kind,
    problem,
)
from benchmarks.ordinary.checks import faults
from benchmarks.ordinary.judge import Pattern, Reported, judge, pull
from benchmarks.ordinary.plain import FOUND_STEP, STEP
from benchmarks.ordinary.problem import Ahead, Period, Problem, Truth, nothing, part, strict
from benchmarks.ordinary.rows import Row, changes
from benchmarks.ordinary.runner import measure
from benchmarks.rows import read, write

WEEK = Truth((Period(7.0, 0.1, (0.3, 0.9)),), 2, (Period(1.0, 0.01),))
RIGHT = Reported((Pattern(7.02, 0.01, 0.8, (1, 2)), Pattern(1.0, 0.001, 0.1, (1,))), "", 1.0, 0.0)


def row(**changed):
    return replace(Row("a", 0, True, "", 1.0, 10, 0.5, "7±0.1 80.0%"), **changed)


@pytest.mark.parametrize("kind", every_kind())
def test_every_problem_is_finite_and_can_be_drawn_again(kind):
    first, again = problem(kind, 3), problem(kind, 3)
    assert np.array_equal(first.times, again.times)
    assert np.array_equal(first.values, again.values)
    assert np.isfinite(first.values).all()
    assert 26 <= len(first.values) <= 16_000
    assert first.times.shape == first.values.shape
    assert len(first.truth.fundamentals) <= first.truth.most


def test_tolerances_of_the_truths_never_let_two_fundamentals_be_one():
    for kind in every_kind():
        known = problem(kind, 0).truth.fundamentals
        for i, period in enumerate(known):
            assert not any(other.fits(period.value) for other in known[:i]), kind


def test_a_strict_period_is_known_to_a_tenth_of_the_resolution_or_to_five_errors():
    times = np.linspace(0.0, 100.0, 600)
    assert strict(10.0, times).tolerance == pytest.approx(0.1)
    error = np.sqrt(6.0 / 600.0) * 2.0 / np.pi
    assert strict(10.0, times, noise=2.0).tolerance == pytest.approx(5.0 * error)
    dates = np.datetime64("2020-01-01", "h") + np.arange(0, 2401, 4)
    assert strict(10.0, dates).tolerance == pytest.approx(0.1)


def test_the_judge_accepts_the_truth_and_what_is_allowed_beside_it():
    assert judge(WEEK, RIGHT).right
    weak = Pattern(3.3, 0.1, 0.009, (1,))
    assert judge(WEEK, replace(RIGHT, patterns=(*RIGHT.patterns, weak))).right


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (Pattern(7.2, 0.01, 0.8, (1,)), "missed 7"),
        (Pattern(7.0, 0.01, 0.2, (1,)), "share of 7 is 20.0%, not 30%–90%"),
        (Pattern(7.0, 0.01, 1.2, (1,)), "share of 7 is 120%"),
        (Pattern(7.0, 7.1, 0.8, (1,)), "error of 7 is larger than itself"),
        (Pattern(7.0, np.nan, 0.8, (1,)), "7 is not finite"),
        (Pattern(7.0, 0.1, np.nan, (1,)), "7 is not finite"),
    ],
)
def test_the_judge_says_what_is_wrong_with_a_pattern(pattern, reason):
    verdict = judge(WEEK, replace(RIGHT, patterns=(pattern,)))
    assert not verdict.right
    assert reason in verdict.reasons


def test_the_judge_counts_patterns_and_names_false_ones():
    third = Pattern(3.31, 0.1, 0.05, (1,))
    verdict = judge(WEEK, replace(RIGHT, patterns=(*RIGHT.patterns, third)))
    assert verdict.reasons == ("false 3.31 (5%)", "3 patterns for 2")


def test_the_judge_reads_words_trend_and_noise():
    truth = replace(WEEK, must_say=("step",), must_not_say=("weather",), rise=(2.0, 0.5),
                    noise=(0.1, 0.5))  # fmt: skip
    verdict = judge(truth, replace(RIGHT, words="the weather"))
    assert verdict.reasons == (
        "not said: step", "said: weather", "trend rises 0 for 2", "noise 1 not in 0.1–0.5",
    )  # fmt: skip
    assert judge(truth, replace(RIGHT, words="A STEP", noise=0.3, rise=1.6)).right


class Stub:
    """A fit that says what it is given to say: a level of 0, patterns, an interval of ± 1."""

    def __init__(self, amplitude=1.0, amplitude_error=0.1, noise=0.5, predicted=0.0, **more):
        self.modes_ = SimpleNamespace(
            amplitude=[amplitude],
            amplitude_error=[amplitude_error],
            period=[7.0],
            period_error=[0.1],
        )
        self.noise_, self.predicted = noise, predicted
        self.components_, self.breakpoints_, self.notes_ = (), (), ("a note",)
        self.trend, self.patterns, self.width, self.scale = (0.0, 2.0), None, 1.0, "linear"
        self.__dict__.update(more)

    def fit(self, *_, **__):
        return self

    def decompose(self, times):
        n = len(times)
        patterns = np.zeros((n, 0)) if self.patterns is None else self.patterns[:n, None]
        return SimpleNamespace(
            trend=np.linspace(*self.trend, n), components=patterns, scale=self.scale
        )

    def predict(self, times, return_std=False):
        given = np.full(len(times), self.predicted)
        return (given, np.ones(len(times))) if return_std else given

    def forecast(self, times):
        level = np.zeros(len(times))
        return SimpleNamespace(lower=level - self.width, upper=level + self.width)

    def summary(self):
        return "a summary"


WAVE = np.cos(2 * np.pi * np.arange(200) / 10.0)
WAVES = Problem.of(np.arange(200.0), WAVE, nothing())


def seen(pattern=WAVE, share=1.0, task=WAVES, **given):
    component = SimpleNamespace(share=share)
    return faults(Stub(trend=(0, 0), patterns=pattern, components_=(component,), **given), task)


def test_stated_shares_must_be_what_the_patterns_explain():
    assert seen() == ()
    assert seen(0.5 * WAVE, 0.75) == ()  # 1 − (1/2)²
    assert seen(0.5 * WAVE, 0.95) == ("shares add up to 95%, explained are 75%",)


def test_a_fit_may_not_be_worse_than_its_trend_or_the_mean():
    assert seen(-WAVE, -3.0) == ("in-sample error 1.41, of the trend 0.707",)
    offset = Problem.of(np.arange(200.0), WAVE + 9.0, nothing())
    assert seen(-WAVE, -3.0, offset, predicted=9.0) == ("in-sample error 9.11, of the trend 0.742",)


def test_what_is_wild_by_construction_does_not_count():
    wild = np.arange(200) % 20 == 0
    values = WAVE + 50.0 * wild
    drawn = Problem.of(np.arange(200.0), values, nothing())
    assert seen(task=drawn)[0] == "shares add up to 100%, explained are 4%"
    assert seen(task=replace(drawn, wild=wild)) == ()


def test_on_the_scale_of_logarithms_parts_multiply():
    drawn = Problem.of(np.arange(200.0), np.exp(WAVE), nothing())
    level = {"scale": "log", "predicted": 1.0}
    apart = Stub(trend=(1, 1), patterns=np.exp(WAVE), components_=(SimpleNamespace(share=1.0),))
    apart.__dict__.update(level)
    assert faults(apart, drawn) == ()


def test_a_prediction_between_samples_may_not_be_far_beyond_all_values():
    assert seen(predicted=6.9) == ()  # less than three ranges of 2 above 1
    assert seen(predicted=-1000.0) == ("prediction 5e+02 ranges beyond all values",)


def test_a_forecast_must_have_a_width_and_hold_what_comes():
    ahead = Ahead(np.arange(200.0, 210.0), np.repeat([0.5, 3.0], 5))
    task = replace(WAVES, ahead=ahead)
    assert seen(task=task) == ("50% in the 90 % forecast interval",)
    assert seen(task=task, width=4.0) == ()
    assert seen(task=task, width=0.0) == ("forecast interval of zero width",)


def test_a_period_that_is_known_must_lie_within_four_of_its_own_errors():
    truth = Truth((Period(7.0, 0.5, exact=True),), 1)
    for error, reasons in ((0.051, ()), (0.049, ("7.2 is 4 errors off",)),
                           (0.0, ("7.2 is inf errors off",))):  # fmt: skip
        said = replace(RIGHT, patterns=(Pattern(7.2, error, 0.8, (1,)),))
        assert judge(truth, said).reasons == reasons
    assert judge(Truth((Period(7.0, 0.5),), 1), said).right


def test_lines_are_looked_for_whatever_pattern_they_belong_to():
    truth = replace(WEEK, lines=(Period(3.5, 0.1, exact=True),))
    assert judge(truth, RIGHT).reasons == ("no line at 3.5",)
    assert judge(truth, replace(RIGHT, lines=((7.02, 0.01), (3.51, 0.01)))).right
    far = replace(RIGHT, lines=((3.51, 0.001),))
    assert judge(truth, far).reasons == ("3.51 is 10 errors off",)


def test_what_wanders_may_not_be_reported_as_strict_and_weak_patterns_count_in_all():
    truth = Truth((Period(7.0, 0.5, wanders=True),), 1, total=1)
    said = replace(RIGHT, patterns=(Pattern(7.0, 0.1, 0.8, (1,), strict=False),))
    assert judge(truth, said).right
    assert judge(truth, replace(RIGHT, patterns=RIGHT.patterns[:1])).reasons == (
        "7.02 is reported as strict",
    )
    weak = Pattern(3.0, 0.1, 0.0, (1,))
    assert judge(truth, replace(said, patterns=(*said.patterns, weak))).reasons == (
        "2 patterns in all for 1",
    )


def test_a_share_in_few_samples_is_what_a_signal_is_alone_or_what_is_missing_without_it():
    signal = np.array([1.0, -1.0, 1.0, -1.0])
    assert part(signal, signal) == (0.9, 1.0)
    assert part(signal, 1.5 * signal) == pytest.approx((1 / 2.25 - 0.1, 1 - 0.25 / 2.25 + 0.1))


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, ()),
        ({"amplitude_error": 2.0}, ("1 amplitudes below their errors",)),
        ({"amplitude": 0.01, "amplitude_error": 0.02}, ()),
        ({"amplitude": 3.0, "amplitude_error": 2.0}, ()),
        ({"amplitude_error": np.inf}, ("an amplitude is not finite",)),
        ({"noise": np.nan}, ("noise is nan",)),
        ({"predicted": np.nan}, ("a prediction is not finite",)),
    ],
)
def test_numbers_that_contradict_themselves_are_faults_of_any_fit(monkeypatch, given, wrong):
    monkeypatch.setattr(judge_room, "PeriodicMixture", lambda: Stub(**given))
    monkeypatch.setattr(judge_room, "_report", lambda *_: ())  # a stub has none
    values = np.linspace(0.0, 2.0, 200)
    said = judge_room.fit(Problem.of(np.arange(200.0), values, nothing()))
    assert said.faults == wrong
    assert said.rise == 2.0
    assert said.words == "a note\na summary"


def test_level_shifts_may_be_reported_as_an_attribute(monkeypatch):
    shift = SimpleNamespace(kind="level")
    monkeypatch.setattr(judge_room, "PeriodicMixture", lambda: Stub(breakpoints_=(shift,)))
    monkeypatch.setattr(judge_room, "_report", lambda *_: ())
    said = judge_room.fit(problem("step", 0))
    assert judge(nothing(must_say=(STEP,)), said).right
    assert not judge(nothing(must_not_say=(FOUND_STEP,)), said).right
    for words in ("evenly spaced, one step apart", "no level shift was found"):
        assert judge(nothing(must_not_say=(FOUND_STEP,)), replace(said, words=words)).right


def test_an_honest_other_reading_counts_as_the_fundamental():
    truth = Truth((Period(2.0, 0.1, instead=(Period(4.0, 0.1),)),), 1)
    said = replace(RIGHT, patterns=(Pattern(4.05, 0.1, 0.9, (2,)),))
    assert judge(truth, said).right
    assert pull(WEEK, RIGHT) == pytest.approx(2.0)


def test_a_fit_that_takes_too_long_or_fails_is_wrong_and_does_not_end_the_run():
    def forever(_):
        while True:
            np.ones(10).sum()

    def broken(_):
        raise ArithmeticError("no")

    task = problem("white", 0)
    slow = measure(task, limit=0.05, fit=forever)
    assert (slow.right, slow.reasons) == (False, "cut off after 0.05 s")
    assert measure(task, fit=broken).reasons == "failed: ArithmeticError: no"


def test_rows_come_back_from_their_file_and_say_what_changed(tmp_path):
    wrong = row(seed=1, right=False, reasons="missed 7; 2 patterns for 1")
    before = [row(), wrong, row(seed=2), row(seed=3), replace(wrong, seed=4)]
    write(tmp_path / "rows.jsonl", before)
    assert [Row(**one) for one in read(tmp_path / "rows.jsonl")] == before
    after = [row(right=False, reasons="false 3 (5%)"), row(seed=1), row(seed=9), *before[3:]]
    assert changes(before, after) == [
        "better: a 1",
        "worse:  a 0: false 3 (5%)",
        "1 better, 1 worse of 4 fits in both; 4 s then, 4 s now",
    ]
    assert changes([], after) == ["0 better, 0 worse of 0 fits in both; 0 s then, 0 s now"]


def test_the_bars_are_nine_in_ten_of_all_and_six_in_ten_of_each_kind():
    rows = [row(kind="a", seed=i) for i in range(16)]
    rows += [row(kind="b", seed=i, right=i > 1, reasons="" if i > 1 else "x|y") for i in range(4)]
    overall, each = command.verdicts(rows)
    assert (overall.passed, overall.measured) == (True, "90.0% of 20")
    assert (each.passed, each.measured) == (False, "below: b")
    assert "| b | 2/4 | 0: x/y<br>1: x/y | 10 | 1.0 |" in command.table(rows)
