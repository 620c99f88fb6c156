"""What a model takes from and shows in a notebook."""

import pickle
import re
import warnings
from datetime import timedelta
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from robustfourier import FourierFeatures, PeriodicMixture, load
from robustfourier.errors import InputError

DAYS = 140
INDEX = pd.date_range("2024-01-01", periods=DAYS, freq="D", name="day")
NOISE = 0.2 * np.random.default_rng(5).normal(size=DAYS)
VALUES = 3.0 + 2.0 * np.cos(2 * np.pi * np.arange(DAYS) / 7.0) + NOISE
SERIES = pd.Series(VALUES, index=INDEX, name="sales")


@pytest.fixture(scope="module")
def model():
    return PeriodicMixture().fit(SERIES)


def week_of(model):
    (component,) = model.components_
    return component.period


@pytest.mark.parametrize(
    "given",
    [
        SERIES,
        SERIES.to_frame(),
        SERIES.tz_localize("Europe/Berlin"),
        SERIES.set_axis(INDEX.to_period("D")),
        SERIES.set_axis(INDEX - INDEX[0]),
        SERIES.set_axis(INDEX.strftime("%Y-%m-%d")),
        SERIES.set_axis(INDEX.strftime("%d.%m.%Y %H:%M")),
        SERIES.reset_index(),
        pl.DataFrame({"day": INDEX.to_numpy(), "sales": VALUES}),
    ],
    ids=["dates", "frame", "zone", "period", "duration", "text", "german", "table", "polars"],
)
def test_a_series_brings_its_own_times(given):
    model = PeriodicMixture().fit(given)
    assert week_of(model) == pytest.approx(7.0, abs=0.02)
    assert model.domains_[0].unit == "day"


def test_every_kind_of_time_gives_the_same_fit(model):
    for times in (INDEX, list(INDEX.to_pydatetime()), INDEX.strftime("%Y-%m-%d").tolist(),
                  pl.Series(INDEX.to_numpy()), INDEX.to_numpy()):  # fmt: skip
        other = PeriodicMixture().fit(times, VALUES)
        np.testing.assert_array_equal(other.predict(times), model.predict(INDEX))
    spans = [timedelta(days=int(day)) for day in range(DAYS)]
    durations = PeriodicMixture().fit(spans, VALUES)
    np.testing.assert_allclose(durations.predict(spans), model.predict(INDEX), atol=1e-9)
    np.testing.assert_allclose(durations.predict(np.arange(3.0)), model.predict(INDEX[:3]))


def test_a_series_of_months_is_placed_at_their_start():
    months = pd.period_range("1990-01", periods=240, freq="M")
    values = np.cos(2 * np.pi * np.arange(240) / 12.0) + 0.2 * np.resize(NOISE, 240)
    model = PeriodicMixture(unit="year").fit(pd.Series(values, index=months))
    assert week_of(model) == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pl.Series(VALUES), "a polars Series, which has no index"),
        (SERIES.set_axis([f"day {i}" for i in range(DAYS)]), "X is text that is not read as dates"),
        (SERIES.set_axis(["01/02/2024", "03/04/2024"] * (DAYS // 2)), "can be read as"),
        (pd.concat({"a": SERIES}), "an index of 2 levels"),
    ],
)
def test_what_is_no_time_is_refused_with_a_remedy(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        PeriodicMixture().fit(given)


@pytest.mark.parametrize("periods", [["7D"], "1W", [timedelta(days=7)], [np.timedelta64(168, "h")]])
def test_periods_may_be_words_or_durations(periods):
    known = PeriodicMixture(periods=periods).fit(SERIES)
    assert week_of(known) == week_of(PeriodicMixture(periods=[7.0]).fit(SERIES))


@pytest.mark.parametrize(
    ("periods", "words"),
    [(["7 parsec"], "'parsec' is no unit"), (["-1D"], "give a positive length")],
)
def test_periods_that_are_none_are_refused(periods, words):
    with pytest.raises(InputError, match=re.escape(words)):
        PeriodicMixture(periods=periods).fit(SERIES)


def test_words_for_periods_need_a_unit_of_time():
    with pytest.raises(InputError, match=re.escape("the times have no known unit")):
        PeriodicMixture(periods=["7D"]).fit(np.arange(float(DAYS)), VALUES)


def test_predicting_at_other_kinds_of_times_warns_of_nothing():
    table = pd.DataFrame({"when": INDEX})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PeriodicMixture().fit(table[["when"]], VALUES)
        expected = model.predict(table)
        for times in (INDEX, table["when"], INDEX.to_numpy(), INDEX.strftime("%Y-%m-%d")):
            np.testing.assert_array_equal(model.predict(times), expected)


def test_the_text_of_a_model_says_what_was_found(model):
    assert repr(PeriodicMixture()) == "PeriodicMixture()"
    first, headline = repr(model).split("\n")
    assert first == "PeriodicMixture()"
    assert re.fullmatch(r"One repeating pattern explains 9\d(\.\d)? % of .*: a week\.", headline)
    assert headline == model.result().headline


def test_several_outputs_have_a_text_too():
    two = PeriodicMixture().fit(SERIES.index, np.column_stack([VALUES, -VALUES]))
    assert "One repeating pattern in several columns or outputs." in repr(two)
    with pytest.raises(InputError, match=re.escape("only one output can be shown")):
        two.plot()


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, _):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_startendtag(self, tag, _):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_notebook_shows_headline_table_and_waveforms(model):
    page = model._repr_mimebundle_()["text/html"]
    assert page == model._repr_html_()
    tags = Tags(page)
    assert not tags.open
    assert tags.seen.count("svg") == len(model.components_)
    assert not {"script", "style", "link"} & set(tags.seen)
    assert model.result().headline in page
    assert "sk-estimator" in PeriodicMixture()._repr_html_()


def test_components_are_a_table(model):
    frame = model.components_.to_frame()
    assert frame.shape[0] == 1
    assert frame["period"][0] == week_of(model)
    assert frame["epoch_max"][0] == model.result().patterns[0].epoch_max
    assert "7.0" in model.components_._repr_html_()
    assert isinstance(model.components_, tuple)


def test_a_decomposition_keeps_the_times(model):
    frame = model.decompose(INDEX[:5]).to_frame()
    assert frame.index.equals(INDEX[:5])
    zoned = SERIES.tz_localize("Europe/Berlin")
    frame = PeriodicMixture().fit(zoned).decompose(zoned.index).to_frame()
    assert frame.index.equals(zoned.index)


def test_a_model_draws_its_own_data(model):
    ax = model.plot()
    assert any(len(line.get_xdata()) == DAYS for line in ax.lines)
    assert ax.get_ylabel() == "sales"
    ax.figure.canvas.draw()
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert any(re.search(r"2024|Jan|Feb", label) for label in labels)
    assert len(model.plot_components().ravel()) == 1
    assert model.plot_spectrum().get_yscale() == "log"
    pyplot.close("all")


def test_a_model_writes_its_report(model, tmp_path):
    path = model.report(tmp_path / "weekly.html")
    page = path.read_text(encoding="utf-8")
    assert f"<h1>{model.result().headline}</h1>" in page.replace("\u00a0", " ")
    assert "PeriodicMixture()" in page


def test_data_are_neither_in_pickles_nor_in_files(model, tmp_path):
    copy = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.rfm")
    for other in (copy, load(tmp_path / "model.rfm")):
        assert not hasattr(other, "_seen")
        assert repr(other) == repr(model)
        assert other.components_.to_frame().equals(model.components_.to_frame())
        assert "<svg" in other._repr_html_()
        with pytest.raises(InputError, match=re.escape("times and values are needed")):
            other.result()
        assert other.result(INDEX, VALUES).headline == model.result().headline


class TestFeatures:
    def test_a_fitted_model_gives_its_real_valued_frequencies(self, model):
        features = FourierFeatures(model).fit(INDEX)
        columns = features.transform(INDEX)
        assert features.get_feature_names_out().tolist() == ["A_cos", "A_sin"]
        angle = np.pi * model.modes_.mode[0] * model.domains_[0].to_theta(INDEX)
        np.testing.assert_allclose(columns, np.column_stack([np.cos(angle), np.sin(angle)]))

    def test_in_a_pipeline_they_explain_what_the_model_explains(self, model):
        pipe = make_pipeline(FourierFeatures(), LinearRegression())
        table = pd.DataFrame({"when": INDEX})
        fitted = pipe.fit(table, VALUES)
        assert fitted.score(table, VALUES) == pytest.approx(model.score(INDEX, VALUES), abs=1e-3)

    def test_they_stand_beside_other_columns(self):
        table = pd.DataFrame({"when": INDEX, "price": np.arange(DAYS) % 5})
        both = make_column_transformer(
            (FourierFeatures(), ["when"]), ("passthrough", ["price"])
        ).set_output(transform="pandas")
        frame = both.fit_transform(table, VALUES)
        assert list(frame) == ["fourierfeatures__A_cos", "fourierfeatures__A_sin",
                               "passthrough__price"]  # fmt: skip

    def test_a_model_of_two_columns_is_refused(self):
        times = np.column_stack([np.arange(DAYS), np.arange(DAYS)[::-1] ** 2])
        two = PeriodicMixture().fit(times, VALUES)
        with pytest.raises(InputError, match=re.escape("model was fitted to 2 columns")):
            FourierFeatures(two).fit(INDEX)
