"""Known periods tested: exact where noise is white, calibrated where it is AR(1)."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from robustfourier import rhythm
from robustfourier.cosinor.ar1_noise import CORRELATIONS, first_prior, learned_prior, weights_of
from robustfourier.cosinor.design_matrix import Terms, TimeBase
from robustfourier.cosinor.series_fits import Factorisation
from robustfourier.errors import InputError

HOURS = np.arange(0.0, 48.0, 4.0)


def cosine(times, amplitude=1.0, peak=6.0, period=24.0):
    return amplitude * np.cos(2 * np.pi * (np.asarray(times, float) - peak) / period)


def ar1(rng, n, m, rho):
    found = rng.normal(size=(n, m))
    for i in range(1, n):
        found[i] = rho * found[i - 1] + np.sqrt(1 - rho**2) * found[i]
    return found


def plain_p(times, values, period=24.0):
    """The cosinor F-test in ten lines."""
    angle = 2 * np.pi * times / period
    full = np.stack([np.ones_like(times), np.cos(angle), np.sin(angle)], axis=1)
    freedom = len(times) - 3
    rest = np.sum((values - full @ np.linalg.lstsq(full, values, rcond=None)[0]) ** 2, axis=0)
    total = np.sum((values - values.mean(axis=0)) ** 2, axis=0)
    return stats.f.sf((total - rest) / 2 / (rest / freedom), 2, freedom)


def test_white_noise_gives_the_plain_f_test():
    values = np.random.default_rng(0).normal(5.0, 1.0, size=(12, 40))
    table = rhythm(HOURS, values, 24.0, noise="white").table
    np.testing.assert_allclose(table["p"], plain_p(HOURS, values), rtol=1e-9)


@pytest.mark.parametrize("rho", [0.0, CORRELATIONS[5], CORRELATIONS[12]])
def test_a_known_correlation_gives_dense_generalised_least_squares(rho):
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 72, 30))
    base, terms = TimeBase.of(times), Terms((24.0,))
    values = rng.normal(size=(30, 4))
    step = np.median(np.diff(times))
    dense = rho ** (np.abs(times[:, None] - times) / step) if rho else np.eye(30)
    x, q = terms.columns(times), np.linalg.inv(dense)
    beta = np.linalg.solve(x.T @ q @ x, x.T @ q @ values)
    rest = values - x @ beta
    square = np.einsum("nm,nk,km->m", rest, q, rest) / 27
    prior = (rho == CORRELATIONS).astype(float)
    found = Factorisation(base, terms, "auto").estimates(values, prior)
    np.testing.assert_allclose(found.beta, beta.T, rtol=1e-8)
    inverse = np.linalg.inv(x.T @ q @ x)
    np.testing.assert_allclose(found.covariance, square[:, None, None] * inverse, rtol=1e-8)
    gain = np.einsum("cm,cd,dm->m", beta[1:], np.linalg.inv(inverse[1:, 1:]), beta[1:]) / 2
    np.testing.assert_allclose(found.p[:, 0], stats.f.sf(gain / square, 2, 27), rtol=1e-8)


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9])
def test_p_values_of_noise_are_uniform_whatever_its_correlation(rho):
    times = np.arange(0.0, 48.0, 2.0)
    values = ar1(np.random.default_rng(2), 24, 2000, rho)
    p = rhythm(times, values, 24.0).table["p"]
    assert stats.kstest(p, "uniform").pvalue > 0.01


@pytest.mark.statistical
@pytest.mark.parametrize("times", [HOURS, np.arange(0.0, 48.0, 2.0), np.repeat(HOURS, 2)])
def test_the_power_is_that_of_the_plain_test_where_noise_is_white(times):
    rng = np.random.default_rng(3)
    peaks = rng.uniform(0, 24, 2000)
    values = rng.normal(size=(len(times), 2000)) + cosine(times[:, None], 2.0, peaks)
    p, plain = rhythm(times, values, 24.0).table["p"], plain_p(times, values)
    for level in (0.05, 0.01, 0.001):
        assert (p < level).mean() >= (plain < level).mean() - 0.01


def test_the_false_discovery_rate_holds():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(24, 3000))
    values[:, :600] += cosine(np.arange(0.0, 48.0, 2.0), 1.5)[:, None]
    found = rhythm(np.arange(0.0, 48.0, 2.0), values, 24.0).significant(0.05)
    false = (found["id"].astype(int) >= 600).mean()
    assert len(found) > 300
    assert false < 0.08


@pytest.mark.statistical
def test_intervals_cover_what_they_say():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(24, 3000)) + 7.0
    times = np.arange(0.0, 48.0, 2.0)
    values += cosine(times, 2.0, 23.5)[:, None]
    table = rhythm(times, values, 24.0, coverage=0.9).table
    for name, truth in (("mesor", 7.0), ("amplitude", 2.0)):
        inside = (table[f"{name}_low"] <= truth) & (truth <= table[f"{name}_high"])
        assert abs(inside.mean() - 0.9) < 0.02
    off = (23.5 - table["acrophase"] + 12) % 24 - 12
    inside = off.abs() <= table["acrophase_high"] - table["acrophase"]
    assert abs(inside.mean() - 0.9) < 0.02
    assert abs(np.std(off) / table["acrophase_error"].median() - 1.0) < 0.1


def test_a_series_is_not_moved_by_level_scale_or_order_of_rows():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(12, 5)) + cosine(HOURS)[:, None]
    mixed = rng.permutation(12)
    one = rhythm(HOURS, values, 24.0).table
    other = rhythm(HOURS[mixed], 1e6 + 100 * values[mixed], 24.0).table
    np.testing.assert_allclose(other["p"], one["p"], rtol=1e-6)
    np.testing.assert_allclose(other["amplitude"], 100 * one["amplitude"], rtol=1e-6)
    np.testing.assert_allclose(other["acrophase"], one["acrophase"], rtol=1e-6)


def test_constant_series_have_no_rhythm_and_exact_ones_do():
    values = np.stack([np.full(12, 3.7), cosine(HOURS) + 1e3, np.zeros(12)], axis=1)
    for noise in ("white", "auto"):
        table = rhythm(HOURS, values, 24.0, noise=noise).table
        assert table["p"].tolist() == [1.0, 0.0, 1.0]
        np.testing.assert_allclose(table["amplitude"], [0.0, 1.0, 0.0], atol=1e-9)


def test_missing_values_are_left_out_as_if_the_rows_were_not_there():
    rng = np.random.default_rng(7)
    values = rng.normal(size=(12, 6))
    values[[2, 5], 1], values[7, 3], values[3:, 4] = np.nan, np.inf, np.nan
    table = rhythm(HOURS, values, 24.0, noise="white").table
    for i in (1, 3):
        kept = np.isfinite(values[:, i])
        alone = rhythm(HOURS[kept], values[kept, i], 24.0, noise="white").table
        np.testing.assert_allclose(table["p"][i], alone["p"][0], rtol=1e-9)
        assert table["rows"][i] == kept.sum()
    assert np.isnan(table["p"][4])
    assert np.isnan(table["q"][4])
    assert table["rows"][4] == 3
    known = table["p"].drop(index=4)
    np.testing.assert_allclose(table["q"].drop(index=4), stats.false_discovery_control(known))


def test_one_replicate_missing_leaves_the_others():
    times = np.repeat(HOURS, 2)
    values = np.random.default_rng(8).normal(size=24)
    values[3] = np.nan
    table = rhythm(times, values, 24.0, noise="replicates").table
    kept = np.isfinite(values)
    means = pd.Series(values[kept]).groupby(times[kept]).transform("mean").to_numpy()
    pure = np.sqrt(np.sum((values[kept] - means) ** 2) / (23 - 12))
    np.testing.assert_allclose(table["noise"][0], pure)


def test_replicates_show_a_wrong_shape():
    times = np.repeat(np.arange(0.0, 24.0, 2.0), 3)
    rng = np.random.default_rng(9)
    square = np.where(times % 24 < 4, 3.0, 0.0)
    values = np.stack([square, cosine(times)], axis=1) + 0.3 * rng.normal(size=(36, 2))
    table = rhythm(times, values, 24.0).table
    assert table["lack_of_fit"][0] < 1e-6
    assert table["lack_of_fit"][1] > 0.01
    sharp = rhythm(times, values, 24.0, noise="replicates").table
    assert sharp["p"][0] < 1e-3 * table["p"][0]


def test_harmonics_and_further_periods_are_tested_each_given_the_others():
    rng = np.random.default_rng(10)
    times = np.arange(0.0, 200.0, 1.0)
    values = cosine(times, 1.0, 3.0, 24.0) + cosine(times, 1.0, 2.0, 12.0)
    values = values + cosine(times, 0.0, 0.0, 17.0) + 0.5 * rng.normal(size=200)
    table = rhythm(times, values, [24.0, 17.0], harmonics=2, trend=1).table
    assert table["period"].tolist() == [24.0, 17.0]
    assert table["p"][0] < 1e-12
    assert table["p"][1] > 0.01
    np.testing.assert_allclose(table["amplitude_2"][0], 1.0, atol=0.2)
    np.testing.assert_allclose(table["acrophase_2"][0], 2.0, atol=0.4)


def test_acrophases_of_dates_are_read_from_clock_and_calendar():
    hours = pd.date_range("2023-03-07 05:00", periods=24 * 28, freq="h")
    clock = hours.hour + hours.minute / 60
    day = np.cos(2 * np.pi * (clock - 14.5) / 24)
    weekday = hours.day_of_week + clock / 24
    week = np.cos(2 * np.pi * (weekday - 2.25) / 7)
    found = rhythm(hours, np.asarray(day + week), ["1d", "1 week"])
    np.testing.assert_allclose(found.table["acrophase"], [14.5, 2.25], atol=1e-6)
    assert found.clock.counted_from(0) == "hours after midnight"
    assert found.clock.counted_from(1) == "days after Monday, 0:00"
    zoned = rhythm(hours.tz_localize("Asia/Tokyo"), np.asarray(day), "24h")
    np.testing.assert_allclose(zoned.table["acrophase"], 14.5, atol=1e-6)


def test_acrophases_of_years_count_from_the_first_of_january():
    days = pd.date_range("2001-06-01", periods=365 * 6, freq="D")
    since = (days - pd.Timestamp("2001-01-01")) / pd.Timedelta("365.25D")
    found = rhythm(days, np.cos(2 * np.pi * (np.asarray(since) - 0.25)), "1 year")
    np.testing.assert_allclose(found.table["acrophase"], 365.25 / 4, atol=1e-6)
    assert found.clock.counted_from(0) == "days after 1 January, 0:00"


def test_subjects_are_a_population():
    rng = np.random.default_rng(11)
    k, m = 6, 400
    times, who = np.tile(HOURS, k), np.repeat(np.arange(k), 12)
    own = rng.normal(size=(k, 2, m))  # subjects differ by as much as a standard deviation of one
    angle = 2 * np.pi * times / 24
    values = own[who, 0] * np.cos(angle)[:, None] + own[who, 1] * np.sin(angle)[:, None]
    values += 0.3 * rng.normal(size=values.shape)
    table = rhythm(times, values, 24.0, subjects=who).table
    assert stats.kstest(table["p"], "uniform").pvalue > 0.01
    ignoring = rhythm(times, values, 24.0, noise="white").table
    assert (ignoring["p"] < 0.01).mean() > 0.3  # rows taken as independent find what is not there
    np.testing.assert_allclose(table["noise"].mean(), 0.3, rtol=0.05)
    np.testing.assert_allclose((table["between"] ** 2).mean(), 2 / 3, rtol=0.1)


def test_a_population_of_equal_subjects_is_hotellings_test():
    rng = np.random.default_rng(12)
    who = np.repeat(np.arange(5), 12)
    values = rng.normal(size=60) + cosine(np.tile(HOURS, 5))
    table = rhythm(np.tile(HOURS, 5), values, 24.0, subjects=who, noise="white").table
    each = np.array([[values[who == i] @ f(2 * np.pi * HOURS / 24) / 6 for f in (np.cos, np.sin)]
                     for i in range(5)])  # fmt: skip
    mean, spread = each.mean(axis=0), np.cov(each.T)
    square = 5 * mean @ np.linalg.solve(spread, mean)
    np.testing.assert_allclose(table["p"][0], stats.f.sf(square * 3 / (2 * 4), 2, 3), rtol=1e-9)


def test_groups_of_unequal_design_are_compared():
    rng = np.random.default_rng(13)
    first, second = np.arange(0.0, 48.0, 2.0), np.arange(1.0, 60.0, 3.0)
    times = np.concatenate([first, second])
    group = np.repeat(["WT", "KO"], [len(first), len(second)])
    truth = np.where(group == "WT", 5 + cosine(times, 2.0, 6.0), 6 + cosine(times, 1.0, 9.0))
    values = truth[:, None] + 0.3 * rng.normal(size=(len(times), 300))
    differences = rhythm(times, values, 24.0, groups=group, unit="hour").differences
    assert (differences["first"] == "KO").all()
    for name, expected in (("mesor", -1.0), ("amplitude", 1.0), ("acrophase", -3.0)):
        found = differences[f"{name}_difference"]
        np.testing.assert_allclose(found.mean(), expected, atol=0.1)
        low, high = (differences[f"{name}_difference_{end}"] for end in ("low", "high"))
        assert abs(((low <= expected) & (expected <= high)).mean() - 0.95) < 0.04
        assert (differences[f"p_{name}_difference"] < 0.01).mean() > 0.9


@pytest.mark.statistical
def test_groups_that_are_alike_differ_as_rarely_as_they_should():
    rng = np.random.default_rng(14)
    times = np.tile(np.arange(0.0, 48.0, 2.0), 2)
    group = np.repeat(["a", "b"], 24)
    values = cosine(times, 2.0)[:, None] + rng.normal(size=(48, 2000))
    found = rhythm(times, values, 24.0, groups=group).differences
    for name in ("mesor", "amplitude", "acrophase", "rhythm"):
        assert abs((found[f"p_{name}_difference"] < 0.05).mean() - 0.05) < 0.02
    noise = rhythm(times, rng.normal(size=(48, 2000)), 24.0, groups=group).differences
    assert (noise["p_acrophase_difference"] < 0.05).mean() < 0.05


def test_chunks_do_not_change_the_answer(monkeypatch, tmp_path):
    values = np.random.default_rng(15).normal(size=(12, 50))
    whole = rhythm(HOURS, values, 24.0).table
    stored = np.lib.format.open_memmap(tmp_path / "cells.npy", "w+", np.float64, values.shape)
    stored[:] = values
    monkeypatch.setattr("robustfourier.cosinor.rhythms._BYTES", 12 * 8 * 7)
    done = []
    table = rhythm(HOURS, stored, 24.0, observe=lambda n, of: done.append((n, of))).table
    pd.testing.assert_frame_equal(whole, table)
    assert done[0] == (7, 50)
    assert done[-1] == (50, 50)


def test_one_series_learns_no_prior_from_itself():
    evidence = np.linspace(0.0, 5.0, len(CORRELATIONS))[:, None]
    np.testing.assert_array_equal(learned_prior(evidence), first_prior())
    assert learned_prior(np.repeat(evidence, 50, axis=1))[-1] > 0.5
    assert weights_of(evidence, first_prior()).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"periods": 0.0}, "periods=0.0 must all be positive finite numbers"),
        ({"periods": []}, "periods is empty; give at least one"),
        ({"periods": 8.0}, "cannot show a period of 8"),
        ({"periods": [24.0, 24.0]}, "24 is given twice"),
        ({"harmonics": 6}, "12 rows at 12 different times cannot determine 13 coefficients"),
        ({"noise": "red"}, "noise='red'"),
        ({"noise": "replicates"}, "needs times that occur more than once"),
        ({"coverage": 95}, "coverage=95 must lie between 0 and 1"),
        ({"names": ["a", "b"]}, "names has 2 entries for 1 series"),
        ({"groups": ["a"]}, "groups has shape (1,); give one label for each of 12 times"),
        ({"subjects": [1] * 6 + [2] * 6}, "subjects: 2; a population needs at least 3"),
        ({"values": np.zeros((3, 12))}, "values has shape (3, 12); give a row for each of the 12"),
        ({"values": np.zeros((12, 0))}, "values has no series"),
    ],
)
def test_what_cannot_be_tested_is_refused(given, message):
    asked = {"values": HOURS % 5, "periods": 24.0, **given}
    with pytest.raises(InputError, match=re.escape(message)):
        rhythm(HOURS, asked.pop("values"), asked.pop("periods"), **asked)


@pytest.mark.statistical
def test_a_series_alone_holds_its_level_on_average_over_what_its_noise_may_be():
    rng, prior = np.random.default_rng(16), first_prior()
    fit = Factorisation(TimeBase.of(HOURS), Terms((24.0,)), "auto")
    share = sum(
        chance * (fit.estimates(ar1(rng, 12, 2000, rho), prior).p < 0.05).mean()
        for chance, rho in zip(prior, CORRELATIONS, strict=True)
    )
    assert abs(share - 0.05) < 0.01


def test_what_is_assumed_of_the_noise_is_said():
    values = np.random.default_rng(17).normal(size=(12, 2))
    assert "equally likely beforehand" in rhythm(HOURS, values[:, 0], 24.0).assumed
    assert "learned from all 2 series" in rhythm(HOURS, values, 24.0).assumed
    assert rhythm(HOURS, values, 24.0, noise="white").assumed == "The noise was taken to be white."


def test_series_without_values_and_groups_without_a_series_are_answered_by_nan():
    rng = np.random.default_rng(18)
    times, group = np.tile(HOURS, 2), np.repeat(["a", "b"], 12)
    values = np.repeat(cosine(times, 3.0)[:, None], 3, axis=1) + 0.1 * rng.normal(size=(24, 3))
    values[:, 1] = np.nan  # measured nowhere
    values[12:, 2] = np.nan  # measured in one group alone
    found = rhythm(times, values, 24.0, groups=group)
    table = found.table.set_index(["id", "group"])
    assert np.isnan(table.loc[("1", "a"), "p"])
    assert table.loc[("1", "a"), "rows"] == 0
    assert table.loc[("2", "a"), "p"] < 1e-6
    assert np.isnan(table.loc[("2", "b"), "p"])
    differences = found.differences.set_index("id")
    assert np.isfinite(differences.loc["0", "p_rhythm_difference"])
    assert np.isnan(differences.loc[["1", "2"], "p_rhythm_difference"]).all()
    assert found.significant()["id"].tolist().count("1") == 0


def test_a_survey_in_which_nothing_was_measured_is_answered():
    table = rhythm(HOURS, np.full((12, 2), np.nan), 24.0).table
    assert table["p"].isna().all()
    assert table["q"].isna().all()
    assert (table["rows"] == 0).all()


def test_rows_in_words_are_the_most_certain_ones_each_number_with_its_error():
    times = np.arange(0.0, 48.0, 4.0)
    values = np.random.default_rng(0).normal(size=(12, 4))
    values[:, 2] += cosine(times, 8.0)
    found = rhythm(times, values, ["24h"], unit="hour")
    first, second = found.in_words(2)
    assert (first["id"], first["group"], first["period"]) == ("2", "", "24 h")
    assert all(" ± " in first[name] for name in ("mesor", "amplitude", "acrophase"))
    assert float(first["p"]) < float(second["p"])
    assert "between" not in first
