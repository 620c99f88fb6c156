"""PeriodicMixture: known truths recovered, the face it shows, and what it leaves alone."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from robustfourier import load
from robustfourier.datasets import load_double_mode_cepheid
from robustfourier.errors import InputError
from robustfourier.estimators.inputs import taken_apart
from robustfourier.estimators.mixture import PeriodicMixture

SLOPE, LEVEL = 0.02, 3.0


def sawtooth(t, period):
    return 2.0 * (t / period % 1.0) - 1.0


@pytest.fixture(scope="module")
def times():
    rng = np.random.default_rng(7)
    return np.sort(rng.choice(1000, 800, replace=False)) * 0.1  # an even grid, a fifth missing


@pytest.fixture(scope="module")
def truth(times):
    return LEVEL + SLOPE * times + sawtooth(times, 7.3) + 0.6 * sawtooth(times, 3.1)


@pytest.fixture(scope="module")
def model(times, truth):
    noise = np.random.default_rng(8).normal(size=len(times))
    return PeriodicMixture().fit(times, truth + 0.3 * noise)


@pytest.fixture(scope="module")
def tone():
    """200 irregular samples of one sinusoid with period 2.5."""
    rng = np.random.default_rng(1)
    t = rng.uniform(0, 40, 200)
    return t, np.cos(2 * np.pi * t / 2.5) + 0.3 * rng.normal(size=200)


def test_two_sawtooth_components_on_a_trend_are_found(model, times, truth):
    assert [c.label for c in model.components_] == ["A", "B"]
    assert [c.period for c in model.components_] == pytest.approx([7.3, 3.1], rel=2e-3)
    for component, period in zip(model.components_, (7.3, 3.1), strict=True):
        assert abs(component.period - period) < 4 * component.period_error
        assert component.harmonics[:3].tolist() == [1, 2, 3]
    # Some fifty coefficients from 800 samples: 0.3 · √(50 / 800), and the jumps.
    assert np.std(model.predict(times) - truth) < 0.15
    assert model.noise_ == pytest.approx(0.3, rel=0.15)


def test_the_parts_add_up_to_the_prediction_also_beyond_the_record(model):
    t = np.linspace(-50, 250, 1001)
    parts = model.decompose(t)
    assert parts.components.shape == (1001, 2)
    assert parts.total == pytest.approx(model.predict(t), abs=1e-9)
    frame = parts.to_frame()
    assert list(frame) == ["trend", "A", "B", "remainder"]  # of what smoothing changes after it
    assert frame.sum(axis=1).to_numpy() == pytest.approx(model.predict(t), abs=1e-9)


def test_the_trend_is_apart_from_the_components_and_goes_on_as_a_line(model):
    parts = model.decompose([0.0, 50.0, 1000.0])
    slope = np.diff(parts.trend) / [50.0, 950.0]
    assert slope == pytest.approx([SLOPE, SLOPE], abs=5e-3)
    assert parts.trend[0] == pytest.approx(LEVEL, abs=0.2)


def test_a_component_is_its_waveform_at_its_phase(model):
    t = np.linspace(0, 100, 301)
    parts = model.decompose(t)
    for c, component in enumerate(model.components_):
        phase = (t - component.epoch) / component.period
        assert component.waveform(phase) == pytest.approx(parts.components[:, c], abs=1e-9)
        assert component.waveform(phase + 1.0) == pytest.approx(component.waveform(phase), abs=1e-9)
        assert np.mean(component.waveform(np.arange(400) / 400)) == pytest.approx(0.0, abs=1e-12)


def test_the_waveform_of_a_sawtooth_is_a_sawtooth_within_its_band(model):
    component = model.components_[0]
    phase = np.linspace(0.0, 1.0, 400, endpoint=False)
    values, errors = component.waveform(phase, return_std=True)
    # Where the ramp starts is where the wave jumps; compare away from the jump.
    start = phase[np.argmin(np.diff(values, append=values[0]))]
    truth = sawtooth(phase - start, 1.0)
    clear = np.abs((phase - start + 0.5) % 1.0 - 0.5) > 0.06
    assert np.mean(np.abs(values - truth)[clear] < 3 * errors[clear] + 0.05) > 0.9


def test_shares_are_those_of_the_variation_around_the_trend(model):
    variance = 1 / 3 + 0.36 / 3 + 0.09  # two sawtooths and the noise
    shares = [component.share for component in model.components_]
    assert shares == pytest.approx([1 / 3 / variance, 0.36 / 3 / variance], rel=0.15)


def test_the_mode_table_lists_significant_modes_with_errors(model):
    table = model.modes_
    frame = table.to_frame()
    assert {"period", "period_error", "amplitude_error", "false_alarm", "label"} <= set(frame)
    assert np.all(table.false_alarm <= 0.01)
    assert np.all(table.mode_error > 0)
    first = table.select(table.component == 0)
    assert np.allclose(first.frequency, first.harmonic * first.frequency[0])
    assert first.label[:2].tolist() == ["A", "2A"]
    assert first.amplitude[:3] == pytest.approx(2 / np.pi / np.arange(1, 4), abs=0.08)


def test_the_summary_names_what_was_found(model):
    text = model.summary()
    assert "components: 2" in text
    assert "A" in text
    assert "searched up to mode" in text


def test_the_link_of_a_clipped_sine_is_a_ramp_that_starts_at_zero():
    rng = np.random.default_rng(3)
    t = np.linspace(0, 60, 3000)
    y = np.maximum(np.cos(2 * np.pi * t / 4.7 - 1.1), 0) + 0.2 * rng.normal(size=3000)
    (component,) = PeriodicMixture().fit(t, y).components_
    x = np.linspace(-1, 1, 41)
    values, errors = component.link(x, return_std=True)
    expected = np.maximum(x, 0) - 1 / np.pi
    assert np.max(np.abs(values - expected)) < 0.08
    assert np.mean(np.abs(values - expected) < 3 * errors) > 0.9
    phase = rng.uniform(size=20)
    assert component.link(np.cos(2 * np.pi * phase)) == pytest.approx(component.waveform(phase))


def test_a_sawtooth_has_a_waveform_but_no_link(times):
    rng = np.random.default_rng(5)
    skew = np.where(times / 7.3 % 1 < 0.2, times / 7.3 % 1 / 0.2, 1.0) - (times / 7.3 % 1) ** 2
    model = PeriodicMixture().fit(times, skew + 0.05 * rng.normal(size=len(times)))
    assert model.components_[0].link is None


def test_pure_noise_and_a_constant_have_no_modes_and_no_warning(times):
    noise = np.random.default_rng(11).normal(size=len(times))
    for y in (noise, np.full(len(times), 4.2)):
        model = PeriodicMixture().fit(times, y)
        assert len(model.modes_) == 0
        assert model.components_ == ()
        assert model.decompose(times).components.shape == (800, 0)
    assert np.all(model.predict(times) == 4.2)
    assert model.noise_ == 0.0


def test_noiseless_data_are_reproduced(times):
    y = np.cos(2 * np.pi * times / 7.3) + 0.2 * np.cos(4 * np.pi * times / 7.3 + 1.0)
    model = PeriodicMixture().fit(times, y)
    assert model.components_[0].period == pytest.approx(7.3, rel=1e-6)
    assert model.predict(times) == pytest.approx(y, abs=1e-4)


def test_known_periods_are_kept_and_the_rest_is_found(tone):
    t, y = tone
    model = PeriodicMixture(periods=[11.0]).fit(t, y)
    assert sorted(model.modes_.period) == pytest.approx([2.5, 11.0], rel=3e-3)
    assert 11.0 in model.modes_.period
    assert model.modes_.period_error[model.modes_.period == 11.0] == 0.0


def test_integer_frequencies_are_whole_cycles_over_the_span():
    hours = np.arange(240)
    rng = np.random.default_rng(2)
    y = np.sin(2 * np.pi * hours / 24) + 0.4 * rng.normal(size=240)
    model = PeriodicMixture(frequencies="integer", endpoint="excluded").fit(hours, y)
    assert model.modes_.mode.tolist() == [10.0]
    assert model.modes_.period == pytest.approx([24.0])


def test_the_highest_frequency_can_be_given(tone):
    t, y = tone
    assert len(PeriodicMixture(max_frequency=0.3).fit(t, y).modes_) == 0


def test_several_outputs_share_modes_and_have_their_own_amplitudes(tone):
    t, y = tone
    rng = np.random.default_rng(4)
    other = 5.0 + 2.0 * np.sin(2 * np.pi * t / 2.5) + rng.normal(size=200)
    model = PeriodicMixture().fit(t, np.column_stack([y, other]))
    assert model.modes_.period == pytest.approx([2.5], rel=2e-3)
    assert model.modes_.amplitude[0] == pytest.approx([1.0, 2.0], abs=0.3)
    assert model.predict(t).shape == (200, 2)
    assert model.noise_ == pytest.approx([0.3, 1.0], rel=0.2)
    assert model.decompose(t).total == pytest.approx(model.predict(t), abs=1e-9)
    values, errors = model.predict(t, return_std=True)
    assert errors.shape == values.shape
    assert list(model.decompose(t).to_frame()) == ["trend_0", "trend_1", "A_0", "A_1"]


def test_several_columns_add_up(tone):
    t, y = tone
    rng = np.random.default_rng(6)
    u = rng.uniform(0, 10, 200)
    model = PeriodicMixture().fit(np.column_stack([t, u]), y + np.sin(2 * np.pi * u / 1.7))
    assert model.modes_.period == pytest.approx([2.5, 1.7], rel=5e-3)
    assert model.modes_.column.tolist() == [0, 1]
    assert [c.label for c in model.components_] == ["A", "B"]
    X = np.column_stack([t, u])
    assert model.decompose(X).total == pytest.approx(model.predict(X), abs=1e-9)


def test_an_additive_fit_equals_the_one_on_a_single_column_when_the_other_is_noise(tone):
    t, y = tone
    other = np.random.default_rng(9).uniform(size=200)
    alone = PeriodicMixture().fit(t, y)
    both = PeriodicMixture().fit(np.column_stack([t, other]), y)
    assert both.modes_.period == pytest.approx(alone.modes_.period, rel=1e-3)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda t: t,
        lambda t: list(t),
        lambda t: t.reshape(-1, 1),
        lambda t: pd.Series(t),
        lambda t: pd.DataFrame({"t": t}),
        lambda t: t.astype(object),
    ],
    ids=["array", "list", "column", "series", "frame", "objects"],
)
def test_times_may_come_in_any_usual_form(tone, wrap):
    t, y = tone
    model = PeriodicMixture().fit(wrap(t), y)
    assert model.modes_.period == pytest.approx([2.5], rel=3e-3)
    assert model.predict(wrap(t)) == pytest.approx(PeriodicMixture().fit(t, y).predict(t))


@pytest.mark.parametrize(("unit", "period"), [(None, 7.0), ("hour", 168.0)])
def test_periods_of_dates_are_given_in_their_unit(unit, period):
    dates = pd.date_range("2024-03-01", periods=300, freq="6h", tz="Europe/Berlin")
    rng = np.random.default_rng(0)
    y = np.cos(2 * np.pi * np.arange(300) / 28) + 0.3 * rng.normal(size=300)
    model = PeriodicMixture(unit=unit).fit(dates, y)
    assert model.components_[0].period == pytest.approx(period, rel=5e-3)
    assert model.modes_.unit == (unit or "day")
    assert model.components_[0].epoch in pd.DatetimeIndex([model.components_[0].epoch])
    with pytest.raises(InputError, match=re.escape("times are numbers")):
        model.predict([1.0, 2.0])


def test_measurement_errors_weigh_the_samples():
    rng = np.random.default_rng(3)
    t = rng.uniform(0, 40, 400)
    error = np.where(rng.random(400) < 0.5, 0.1, 1.5)
    y = 0.3 * np.cos(2 * np.pi * t / 2.5) + error * rng.normal(size=400)
    weighted = PeriodicMixture().fit(t, y, y_err=error)
    scaled = PeriodicMixture().fit(t, y, y_err=7.0 * error)
    assert weighted.modes_.period == pytest.approx([2.5], rel=2e-3)
    assert weighted.modes_.amplitude == pytest.approx([0.3], abs=0.04)
    # Only their ratios matter.
    assert scaled.modes_.amplitude == pytest.approx(weighted.modes_.amplitude, rel=1e-9)


def test_bands_widen_beyond_the_record_and_stop_at_the_amplitude(model):
    _, inside = model.predict(np.linspace(20, 80, 50), return_std=True)
    _, later = model.predict(np.linspace(400, 460, 50), return_std=True)
    tone_power = np.sqrt(sum(np.sum(m.lines.amplitude**2) for m in model.models_))
    values, far = model.predict([1e9], return_std=True)
    assert np.median(later) > 2 * np.median(inside)
    assert np.isfinite(values).all()
    trend = model.models_[0].errors_at(model.domains_[0].to_theta([1e9]))
    assert far[0] <= np.hypot(tone_power, trend[0, 0]) + 1e-9


def test_a_model_without_a_fit_says_so(times):
    for method in ("predict", "decompose"):
        with pytest.raises(NotFittedError, match=re.escape("not fitted yet")):
            getattr(PeriodicMixture(), method)(times)
    with pytest.raises(NotFittedError, match=re.escape("not fitted yet")):
        PeriodicMixture().summary()


def test_fit_leaves_the_parameters_alone_and_clone_copies_them(tone):
    t, y = tone
    model = PeriodicMixture(periods=[11.0], false_alarm=0.05, unit="s")
    before = dict(model.get_params())
    model.fit(t, y)
    assert model.get_params() == before
    assert clone(model).get_params() == before


def test_the_double_mode_cepheid_has_two_modes_their_sum_and_their_harmonics():
    series = load_double_mode_cepheid()
    model = PeriodicMixture().fit(series.times, series.values, y_err=series.errors)
    first, second = model.components_[:2]
    assert first.period == pytest.approx(1.3495, abs=1e-3)
    assert second.period == pytest.approx(1.8405, abs=1e-3)
    assert {"A", "B", "2A", "A+B"} <= set(model.modes_.label)
    assert "C" not in model.modes_.label, "2B and not its alias, two cycles per day faster"
    total = model.modes_.select(model.modes_.label == "A+B")
    assert total.frequency == pytest.approx([first.frequency + second.frequency], rel=1e-12)


def test_two_columns_keep_their_unit():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.sort(rng.uniform(0, 50, 300)), rng.uniform(0, 30, 300)])
    y = np.cos(2 * np.pi * X[:, 0] / 3) + 0.1 * rng.normal(size=300)
    assert PeriodicMixture(unit="h").fit(X, y).modes_.unit == "h"


def test_a_constant_output_hides_nothing_and_is_named():
    rng = np.random.default_rng(0)
    t = np.arange(300.0)
    y = np.sin(2 * np.pi * t / 17) + 0.5 * rng.normal(size=300)
    alone = PeriodicMixture().fit(t, y)
    table = pd.DataFrame({"level": y, "stuck": 7.0})
    model = PeriodicMixture().fit(t, table)
    assert "constant outputs are left out of the fit: stuck (always 7)" in model.notes_
    assert [c.period for c in model.components_] == [c.period for c in alone.components_]
    np.testing.assert_array_equal(model.predict(t), np.stack([alone.predict(t), 0 * t + 7.0], 1))
    np.testing.assert_array_equal(model.noise_, [alone.noise_, 0.0])
    parts, ahead = model.decompose(t), model.forecast(10)
    np.testing.assert_allclose(parts.total, model.predict(t))
    np.testing.assert_array_equal(ahead.lower[:, 1], 7.0)
    np.testing.assert_array_equal(ahead.upper[:, 0], alone.forecast(10).upper)


def test_a_model_with_a_constant_output_is_saved_as_it_is(tmp_path):
    t = np.arange(200.0)
    y = np.stack([0 * t + 3.0, np.sin(2 * np.pi * t / 17), np.cos(2 * np.pi * t / 17)], 1)
    y[:, 1:] += 0.3 * np.random.default_rng(0).normal(size=(200, 2))
    model = PeriodicMixture().fit(t, y)
    assert [round(c.period) for c in model.components_] == [17]
    model.save(tmp_path / "model.rfm")
    np.testing.assert_array_equal(load(tmp_path / "model.rfm").predict(t), model.predict(t))


def test_outputs_that_are_all_constant_have_no_modes():
    model = PeriodicMixture().fit(np.arange(30.0), np.tile([1.0, 2.0], (30, 1)))
    assert len(model.modes_) == 0
    np.testing.assert_allclose(model.predict([40.0]), [[1.0, 2.0]])


@pytest.mark.parametrize("index", [True, False])
def test_a_column_named_like_an_error_is_the_error(index):
    rng = np.random.default_rng(1)
    t = pd.date_range("2024-01-01", periods=200)
    error = rng.uniform(0.1, 2.0, 200)
    y = np.sin(2 * np.pi * np.arange(200) / 17) + error * rng.normal(size=200)
    for name in ("err", "y_err", "e_mag", "sigma"):
        table = pd.DataFrame({"t": t, "y": y, name: error})
        table = table.set_index("t") if index else table
        np.testing.assert_array_equal(taken_apart(table)[2], error)
    model = PeriodicMixture().fit(table)
    expected = PeriodicMixture().fit(t, y, y_err=error)
    assert model.single_output_
    np.testing.assert_array_equal(model.predict(t), expected.predict(t))


def test_of_several_columns_named_like_errors_none_is_an_output():
    table = pd.DataFrame({"t": np.arange(9.0), "y": np.arange(9.0) % 3, "e_a": 1.0, "e_b": 2.0})
    _, values, errors = taken_apart(table)
    assert values.name == "y"
    assert errors is None
