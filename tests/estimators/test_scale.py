"""Logarithms where trend, patterns and noise multiply, and nowhere else."""

import re

import numpy as np
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.errors import InputError
from robustfourier.estimators import mixture
from robustfourier.mixture import fit as fits
from robustfourier.mixture import transform
from robustfourier.mixture.evidence import log_evidence
from robustfourier.mixture.search.detection import detect
from robustfourier.mixture.search.moves import Search

MONTHS = np.arange(144) / 12.0


def passengers(seed, months=MONTHS):
    """Growth times season, and noise that is a part of the value."""
    season = 0.2 * np.cos(2 * np.pi * months) + 0.08 * np.cos(4 * np.pi * months + 1.0)
    truth = 120.0 * np.exp(0.12 * months + season)
    return truth, truth * np.exp(0.04 * np.random.default_rng(seed).normal(size=len(months)))


def temperatures(seed):
    """A season and noise that add."""
    noise = np.random.default_rng(seed).normal(size=144)
    return 12.0 + 6.0 * np.cos(2 * np.pi * MONTHS) + noise


@pytest.fixture(scope="module")
def grown():
    """A model that took logarithms by itself."""
    return PeriodicMixture().fit(MONTHS, passengers(0)[1])


def counted(monkeypatch, place, name):
    """Count how often a function is called."""
    calls, function = [], getattr(place, name)
    monkeypatch.setattr(place, name, lambda *a: calls.append(1) or function(*a))
    return calls


def test_a_search_that_is_unlikely_as_factors_ends_after_its_first_round(monkeypatch):
    hours = np.arange(720.0)
    rng = np.random.default_rng(0)
    y = 4.2 + 2.0 * np.cos(2 * np.pi * hours / 24) + 0.5 * rng.normal(size=720)
    ended = counted(monkeypatch, Search, "finish")
    monkeypatch.setattr(transform, "may_multiply", lambda *_: True)
    assert PeriodicMixture().fit(hours, y).scale_ == "linear"
    assert len(ended) == 1


def test_what_is_asked_only_after_the_search_is_still_answered_by_its_first_round(monkeypatch):
    hours = np.arange(720.0)
    rng = np.random.default_rng(0)
    y = 4.2 + 2.0 * np.cos(2 * np.pi * hours / 24) + 0.5 * rng.normal(size=720)
    ended, asked = counted(monkeypatch, Search, "finish"), []
    monkeypatch.setattr(transform, "may_multiply", lambda *_: asked.append(1) or len(asked) > 1)
    assert PeriodicMixture().fit(hours, y).scale_ == "linear"
    assert len(asked) == 2
    assert len(ended) == 1


def test_one_search_is_left_after_a_round_where_that_leaves_no_doubt(monkeypatch):
    days = np.arange(600) / 10.0
    noise = 0.1 * np.random.default_rng(0).normal(size=600)
    y = np.exp(0.05 * days + np.cos(2 * np.pi * days / 7) + noise)
    searched = counted(monkeypatch, mixture, "begin_columns")
    ended, composed = (
        counted(monkeypatch, Search, "finish"),
        counted(monkeypatch, fits, "_patterns"),
    )
    assert PeriodicMixture().fit(days, y).scale_ == "log"
    assert (len(searched), len(ended), len(composed)) == (2, 1, 1)


def test_patterns_are_made_on_one_scale_alone(monkeypatch):
    noise = 0.2 * np.random.default_rng(0).normal(size=144)
    composed = counted(monkeypatch, fits, "_patterns")
    assert PeriodicMixture().fit(MONTHS, np.exp(0.5 * np.cos(2 * np.pi * MONTHS) + noise)).scale_
    assert len(composed) == 1


def test_the_evidence_is_a_density_of_the_values_whatever_their_unit():
    theta = np.linspace(-1, 1, 144)
    y = passengers(0)[1][:, None]
    one, other = (log_evidence(detect(theta, unit * y)) for unit in (1.0, 1000.0))
    assert one.total - other.total == pytest.approx(144 * np.log(1000.0), rel=1e-6)
    assert one.total == one.likelihood + one.noise + one.lines + one.breaks
    assert max(one.noise, one.lines, one.breaks) <= 0.0
    logs = np.log(y)
    log = log_evidence(detect(theta, logs), logs)
    plain = log_evidence(detect(theta, logs))
    assert plain.total - log.total == pytest.approx(logs.sum())
    assert log.total - one.total > np.log(1000.0)


def test_growth_times_season_is_fitted_by_logarithms_and_the_notes_say_so(grown):
    assert grown.scale_ == "log"
    assert "logarithms of the values were fitted" in grown.notes_[0]
    assert "more than a million to one" in grown.notes_[0]
    assert [round(c.period, 2) for c in grown.components_] == [1.0]
    assert grown.noise_ == pytest.approx(0.04, rel=0.2)
    assert "of the value" in grown.summary()


def test_logarithms_have_much_less_error_in_the_unit_of_the_values(grown):
    truth, y = passengers(0)
    linear = PeriodicMixture(scale="linear").fit(MONTHS, y)
    error, plain = (np.abs(m.predict(MONTHS) - truth).mean() for m in (grown, linear))
    assert error < 0.6 * plain  # whose season changes its shape as it grows


def test_the_log_scale_is_the_fit_of_the_logarithm(grown):
    plain = PeriodicMixture(scale="linear").fit(MONTHS, np.log(passengers(0)[1]))
    later = np.linspace(-1.0, 14.0, 40)
    values, std = grown.predict(later, return_std=True)
    logs, log_std = plain.predict(later, return_std=True)
    np.testing.assert_array_equal(values, np.exp(logs))
    np.testing.assert_array_equal(std, np.exp(logs) * log_std)
    assert grown.noise_ == plain.noise_


def test_parts_multiply_to_the_prediction_around_a_trend_in_the_unit_of_the_values():
    y = passengers(0)[1] * np.exp(0.1 * np.cos(2 * np.pi * MONTHS / 0.37))
    model = PeriodicMixture(scale="log").fit(MONTHS, y)
    parts = model.decompose(MONTHS)
    assert parts.scale == "log"
    np.testing.assert_allclose(parts.total, model.predict(MONTHS), rtol=1e-12)
    np.testing.assert_allclose(parts.trend, 120.0 * np.exp(0.12 * MONTHS), rtol=0.03)
    np.testing.assert_allclose(np.exp(np.log(parts.components).mean(axis=0)), 1.0, atol=0.01)
    assert list(parts.to_frame()) == ["trend", "A", "B"]


def test_half_of_new_measurements_lie_above_the_prediction(grown):
    truth, _ = passengers(0)
    noise = np.random.default_rng(9).normal(size=(200, 144))
    above = truth * np.exp(0.4 * noise) > grown.predict(MONTHS)
    assert above.mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_patterns_that_add_are_untouched_to_the_bit(seed):
    y = temperatures(seed)
    auto, plain = (PeriodicMixture(scale=s).fit(MONTHS, y) for s in ("auto", "linear"))
    assert y.min() > 0
    assert auto.scale_ == "linear"
    assert auto.notes_ == plain.notes_
    assert auto.predict(MONTHS).tobytes() == plain.predict(MONTHS).tobytes()


@pytest.mark.parametrize(
    ("kind", "errors"),
    [("far from zero", False), ("negative", False), ("noise", False), ("errors", True)],
)
def test_no_second_fit_where_it_cannot_pay(monkeypatch, kind, errors):
    calls = counted(monkeypatch, mixture, "begin_columns")
    truth, y = passengers(1)
    y = {
        "far from zero": 5000.0 + y,
        "negative": y - 1.01 * y.min(),
        "noise": np.exp(np.random.default_rng(0).normal(size=144)),
        "errors": y,
    }[kind]
    model = PeriodicMixture().fit(MONTHS, y, y_err=truth if errors else None)
    assert model.scale_ == "linear"
    assert len(calls) == 1


def test_growth_takes_one_fit_more(monkeypatch):
    calls = counted(monkeypatch, mixture, "begin_columns")
    PeriodicMixture().fit(MONTHS, passengers(1)[1])
    assert len(calls) == 2


def test_the_unit_of_the_values_does_not_matter(grown):
    wide = PeriodicMixture().fit(MONTHS, 1024.0 * passengers(0)[1])
    assert wide.scale_ == "log"
    np.testing.assert_allclose(wide.predict(MONTHS), 1024.0 * grown.predict(MONTHS), rtol=1e-6)


def test_several_outputs_are_on_one_scale():
    y = np.column_stack([passengers(0)[1], passengers(1)[1][::-1]])
    model = PeriodicMixture().fit(MONTHS, y)
    assert model.scale_ == "log"
    parts = model.decompose(MONTHS)
    assert parts.components.shape == (144, 1, 2)
    np.testing.assert_allclose(parts.total, model.predict(MONTHS), rtol=1e-12)


def test_errors_of_the_values_are_errors_of_the_logarithm_times_the_value():
    _, y = passengers(3)
    errors = y * np.random.default_rng(3).uniform(0.02, 0.06, 144)
    log = PeriodicMixture(scale="log").fit(MONTHS, y, y_err=errors)
    plain = PeriodicMixture(scale="linear").fit(MONTHS, np.log(y), y_err=errors / y)
    one, other = (model.predict(MONTHS, remainder=False) for model in (log, plain))
    # Noise, by which waveforms are smoothed, and the remainder are found by climbing a likelihood,
    # which ends at a hundredth of a standard error: far below what is known of the values.
    np.testing.assert_allclose(one, np.exp(other), rtol=1e-5)
    np.testing.assert_allclose(log.predict(MONTHS), np.exp(plain.predict(MONTHS)), rtol=1e-5)


def test_logarithms_need_positive_values_but_not_of_rows_without_weight():
    _, y = passengers(3)
    y[5] = -2.0
    with pytest.raises(InputError, match=re.escape('scale="log" needs positive values, but the')):
        PeriodicMixture(scale="log").fit(MONTHS, y)
    model = PeriodicMixture(scale="log").fit(MONTHS, y, sample_weight=np.arange(144) != 5)
    assert model.scale_ == "log"
    assert "logarithms were fitted, as asked" in model.notes_


def test_an_unknown_scale_is_refused():
    with pytest.raises(
        InputError, match=re.escape("scale='sqrt' is unknown; use one of auto, linear, log")
    ):
        PeriodicMixture(scale="sqrt").fit(MONTHS, temperatures(0))


def test_growth_extrapolated_for_ages_stays_finite(grown):
    values, std = grown.predict([1e9], return_std=True)
    assert np.isfinite(values).all()
    assert np.isfinite(std).all()


def test_a_saved_model_keeps_its_scale(grown, tmp_path):
    grown.save(tmp_path / "grown.rfm")
    again = load(tmp_path / "grown.rfm")
    assert again.scale_ == "log"
    assert again.predict(MONTHS).tobytes() == grown.predict(MONTHS).tobytes()
