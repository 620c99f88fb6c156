import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.analysis import fit_model
from robustfourier.domain import Domain
from robustfourier.errors import DataError
from robustfourier.formatting import percent, readable_period, with_error
from robustfourier.mixture.fit import fit_column
from robustfourier.mixture.search.degenerate_frequencies import Fringes
from robustfourier.mixture.timeseries import Settings
from robustfourier.modes import ModeTable
from robustfourier.results import summarise
from robustfourier.results.drawing_points import extreme_points, peak_bins
from robustfourier.results.figure_axes import TimeAxis
from robustfourier.results.patterns import pattern_columns
from robustfourier.results.result import outline
from robustfourier.results.spectrum import amplitude_spectrum
from robustfourier.samples import from_arrays


def test_the_headline_says_how_many_how_much_and_how_long(small_result):
    assert re.fullmatch(
        r"Two repeating patterns explain 9\d(\.\d)? % of the variation: 11\.0\d* hours \(\d\d %\) "
        r"and 3\.(70|700|699) hours \(\d\d %\)\.",
        small_result.headline,
    )


def test_there_is_one_share_and_it_is_the_models(small_result, small_model):
    shares = [component.share for component in small_model.components_]
    assert [pattern.share for pattern in small_result.patterns] == shares
    assert small_result.explained == pytest.approx(sum(shares))
    assert list(pattern_columns(small_result.patterns)["share"]) == shares
    for share in shares:
        assert percent(share) in small_result.headline


@pytest.mark.parametrize("which", ["small_result", "noise_result"])
def test_the_range_searched_is_the_one_of_the_fit(which, request):
    result = request.getfixturevalue(which)
    words = {
        "small_result": "from 35.7 s to 3.306 d",
        "noise_result": "from 2 to 39.33",
    }
    assert result.searched_words == f"Searched periods {words[which]}."


def test_noise_alone_gets_a_plain_word(noise_result):
    assert noise_result.headline == "No repeating pattern stands out from the noise."
    assert noise_result.patterns == ()


def test_trend_patterns_and_residual_add_up_to_the_data(small_result):
    total = small_result.trend + small_result.parts.sum(0) + small_result.residual
    np.testing.assert_allclose(total, small_result.samples.values, atol=1e-9)


def test_waveforms_run_through_the_folded_data(small_result):
    for pattern in small_result.patterns:
        wave = np.interp(pattern.folded.x, pattern.waveform.x, pattern.waveform.y)
        left = pattern.folded.y - wave
        np.testing.assert_allclose(left, small_result.residual, atol=0.05)


def test_the_sawtooth_is_the_one_with_harmonics(small_result):
    saw = next(p for p in small_result.patterns if len(p.harmonics) > 2)
    assert abs(24.0 * saw.period - 3.7) < 0.005
    assert saw.share > 0.2


def test_a_jump_of_the_level_is_told_with_its_time_and_size():
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + np.arange(200)
    values = rng.normal(size=200) + 8.0 * (np.arange(200) >= 120)
    samples = from_arrays(days, values)
    result = summarise(samples, fit_model(samples))
    assert re.fullmatch(
        r"The level jumps by [78]\.\d+ ± 0\.\d+ at 2024-04-29 12:00; jumps are fitted apart from "
        r"the patterns\.",
        result.warnings[0],
    )


def test_gaps_are_mentioned(small_result):
    assert any("gap without samples" in words for words in small_result.warnings)


N_SPECTRUM = 500


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    theta = np.sort(rng.uniform(-1.0, 1.0, N_SPECTRUM))
    noise = rng.normal(size=N_SPECTRUM)
    tone = 0.8 * np.cos(np.pi * 40.3 * theta - 1.0)
    model, found = fit_column(
        Domain(0.0, 2.0), theta, (tone + noise)[:, None], np.ones(N_SPECTRUM), Settings()
    )
    evidence = model.evidence
    return amplitude_spectrum(
        theta, tone + noise, noise, max_mode=evidence.highest, evidence=evidence
    ), found


@pytest.fixture(scope="module")
def spectrum(judged):
    return judged[0]


class TestSpectrum:
    def test_a_tone_has_its_amplitude_at_its_mode(self, spectrum):
        top = np.argmax(spectrum.data)
        assert abs(spectrum.mode[top] - 40.3) <= 0.25
        assert abs(spectrum.data[top] - 0.8) < 0.15

    def test_the_floor_is_what_noise_has(self, spectrum):
        assert np.median(spectrum.floor) == pytest.approx(2.0 / np.sqrt(N_SPECTRUM), rel=0.15)

    def test_noise_stays_below_the_line_and_the_tone_does_not(self, spectrum):
        assert (spectrum.residual < spectrum.line).mean() > 0.999
        assert spectrum.data.max() > spectrum.line.max()

    def test_the_line_is_the_threshold_that_decided(self, judged):
        """A peak exactly on the line drawn has exactly the false alarm that was asked for."""
        spectrum, found = judged
        series, floor = found.series, found.floor
        at = np.isin(spectrum.mode, floor.mode)
        assert at.sum() >= 8
        power, mode = (spectrum.line / spectrum.floor)[at] ** 2, spectrum.mode[at]
        alarm = series.judge.alarm(power, mode, floor.dof_at(mode), 1)
        np.testing.assert_allclose(alarm, series.settings.level, rtol=1e-6)

    def test_the_floor_is_the_one_that_decided(self, judged):
        spectrum, found = judged
        power = found.floor.at(spectrum.mode)[:, 0] * found.series.scale[0] ** 2
        np.testing.assert_allclose(spectrum.floor, 2.0 * np.sqrt(power / found.series.total))

    def test_where_no_power_is_enough_there_is_no_line(self, small_model):
        evidence = small_model.models_[0].evidence
        endless = np.where(evidence.floor.mode < 2.0, np.inf, evidence.threshold)
        theta = np.linspace(-1.0, 1.0, 50)
        drawn = amplitude_spectrum(
            theta, theta, theta, max_mode=20.0, evidence=replace(evidence, threshold=endless)
        )
        assert np.isnan(drawn.line[0])
        assert np.isfinite(drawn.line[-1])
        assert np.isfinite(drawn.line_top)

    def test_thinning_keeps_every_peak(self, spectrum):
        keep = peak_bins(spectrum.mode, spectrum.data, 100)
        assert spectrum.data[keep].max() == spectrum.data.max()
        assert len(keep) == 100

    def test_a_column_has_its_first_extremes(self):
        y = np.random.default_rng(0).integers(0, 5, 1003).astype(float)  # many are equal
        x = extreme_points(y, 100)
        edges = np.linspace(0, 1003, 101).astype(int)
        parts = [y[a:b] for a, b in pairwise(edges)]
        first = [sorted((p.argmin(), p.argmax())) for p in parts]
        assert x.tolist() == (np.array(first) + edges[:-1, None]).ravel().tolist()


class TestAxis:
    def test_local_time_is_shown_where_there_is_a_zone(self):
        import pandas as pd

        times = pd.DatetimeIndex(["2024-07-01T00:00Z", "2024-07-02T00:00Z"])
        local = times.tz_convert("Europe/Berlin")
        axis = TimeAxis.of(Domain.from_times(local), "when")
        assert axis.positions(local)[0] - axis.positions(times)[0] == 7200
        assert "Europe/Berlin" in axis.label


@pytest.mark.parametrize(
    ("period", "error", "words"),
    [(1.0, 0.001, "24.00 h"), (29.0, 0.03, "29.00 d"), (1 / 86400, 1e-8, "1.000 s"),
     (400.0, 0.5, "400.0 d"), (3652.5, 1.0, "10.00 yr"), (0.02, None, "28.8 min")],
)  # fmt: skip
def test_periods_of_dates_are_told_in_the_unit_people_use(period, error, words):
    assert readable_period(period, "day", error=error, dates=True) == words


def test_digits_follow_the_error():
    assert with_error(1.2345678, 0.01) == "1.235 ± 0.010"
    assert with_error(1.2345678, 0.3) == "1.2 ± 0.3"
    assert with_error(123456.0, 2000.0) == "123,456 ± 2,000"


def test_samples_that_bear_no_period_tell_no_range():
    """Two clusters far apart: the highest mode lies below the lowest."""
    rng = np.random.default_rng(0)
    t = np.concatenate([np.arange(100) * 0.01, 1e9 + np.arange(100)])
    samples = from_arrays(t, rng.normal(size=200))
    assert summarise(samples, PeriodicMixture().fit(t, samples.values)).searched is None


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ([2.0], "One mode stands out, of period 5."),
        ([2.0, 4.0], "Two modes stand out, of periods 5 and 2.5."),
    ],
)
def test_one_mode_stands_out_and_two_stand_out(modes, words):
    table = ModeTable.build(mode=modes, cosine=[3.0] * len(modes), sine=modes, span=10.0)
    table = replace(table, active=np.ones(len(modes), bool))
    table = replace(table, amplitude=np.arange(len(modes), 0.0, -1.0))
    model = SimpleNamespace(modes_=table, domains_=(Domain(0.0, 10.0),))
    assert outline(model).headline == words


def test_one_other_place_is_one_place():
    one = str(Fringes(0, 9687.3, np.array([9692.1]), 1.0))
    assert one.startswith("mode 9687.3 fits as well at 9692.1: ")
    two = str(Fringes(0, 9687.3, np.array([9692.1, 9682.5]), 1.0))
    assert two.startswith("mode 9687.3 fits as well at 2 other places from mode 9682.5 to 9692.1: ")


def test_one_sample_is_one_sample():
    with pytest.raises(DataError, match=re.escape("data: 1 sample is too few")):
        fit_model(from_arrays([1.0], [2.0]))
