import re
import subprocess
import sys
import typing

import numpy as np
import pandas as pd
import pytest

import robustfourier
from robustfourier import FourierNetworkRegressor, PeriodicMixture
from robustfourier.errors import InputError
from robustfourier.persistence import describe, load, save
from robustfourier.persistence.codec import _kinds, decode, encode
from robustfourier.persistence.registry import _PLACES, class_of, tag_of


@pytest.fixture(scope="module")
def record():
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0.0, 40.0, 250))
    values = np.sin(2 * np.pi * times / 3.7) + 0.3 * times / 40 + 0.2 * rng.normal(size=250)
    return times, values


@pytest.fixture(scope="module")
def mixture(record):
    return PeriodicMixture().fit(*record)


def test_a_mixture_predicts_bit_for_bit_after_loading(mixture, tmp_path):
    mixture.save(tmp_path / "model.rfm")
    again = robustfourier.load(tmp_path / "model.rfm")
    times = np.linspace(-5.0, 60.0, 500)
    for got, wanted in zip(
        again.predict(times, return_std=True), mixture.predict(times, return_std=True), strict=True
    ):
        assert got.tobytes() == wanted.tobytes()
    assert (
        again.decompose(times).components.tobytes() == mixture.decompose(times).components.tobytes()
    )
    assert again.get_params() == mixture.get_params()
    assert again.modes_.to_frame().equals(mixture.modes_.to_frame())
    assert again.components_[0].waveform(0.25) == mixture.components_[0].waveform(0.25)
    assert again.notes_ == mixture.notes_


def test_saving_twice_gives_the_same_bytes(mixture, tmp_path):
    for name in ("a", "b"):
        save(mixture, tmp_path / name)
    save(load(tmp_path / "a"), tmp_path / "c")
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1


def test_dates_with_a_zone_survive(record, tmp_path):
    hours = pd.Timestamp("2024-03-01", tz="Europe/Berlin") + pd.to_timedelta(record[0], unit="h")
    model = PeriodicMixture(unit="hour").fit(pd.DatetimeIndex(hours), record[1])
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict(hours).tobytes() == model.predict(hours).tobytes()


@pytest.mark.parametrize("widths", [(), (6,)])
def test_a_network_predicts_bit_for_bit_after_loading(record, tmp_path, widths):
    pytest.importorskip("torch")
    times, values = record
    model = FourierNetworkRegressor(
        n_modes=12, hidden_layer_sizes=widths, n_steps=300, random_state=0
    ).fit(times.reshape(-1, 1), values)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert (
        again.predict(times.reshape(-1, 1)).tobytes()
        == model.predict(times.reshape(-1, 1)).tobytes()
    )
    np.testing.assert_array_equal(again.diagonal_weights_, model.diagonal_weights_)


def test_a_mixture_loads_and_predicts_without_torch(mixture, tmp_path):
    save(mixture, tmp_path / "m")
    code = (
        f"import sys, robustfourier; m = robustfourier.load({str(tmp_path / 'm')!r}); "
        "print(repr(m.predict([1.5])[0])); assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(mixture.predict([1.5])[0])


def test_other_estimators_are_refused(tmp_path):
    with pytest.raises(InputError, match=re.escape("model is a dict; only PeriodicMixture")):
        save({}, tmp_path / "m")


def test_a_file_says_what_it_holds(mixture, tmp_path):
    save(mixture, tmp_path / "m")
    about = describe(tmp_path / "m")
    assert about["model"] == "PeriodicMixture"
    assert about["package"] == robustfourier.__version__


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2**80,
        0.1,
        float("inf"),
        "text",
        (1, [2.0, "x"], {"a": (None,)}),
        np.float32(1.5),
        np.array([1 + 2j]),
        np.array(["A", "A+B"]),
        np.array([], dtype="U1"),
        np.array(["2024-01-01"], "datetime64[ns]"),
        np.timedelta64(5, "s"),
        {1: 2, "b": 3},
    ],
)
def test_values_come_back_as_they_were(value):
    arrays: list = []
    again = decode(encode(value, arrays, "value"), arrays)
    assert type(again) is type(value)
    if isinstance(value, (np.ndarray, np.generic)):
        assert again.dtype == value.dtype
        np.testing.assert_array_equal(again, value)
    else:
        assert again == value


@pytest.mark.parametrize("tag", _PLACES)
def test_every_tag_names_a_class_that_names_its_tag(tag):
    if "estimators.network" in _PLACES[tag]:
        pytest.importorskip("torch")
    assert tag_of(class_of(tag)) == tag


def test_files_hold_tags_and_no_places(mixture, tmp_path):
    save(mixture, tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    assert b'"name":"ColumnModel"' in content
    assert b"robustfourier." not in content


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([object()]), lambda: 1, b"bytes"])
def test_values_of_other_types_are_refused(value):
    with pytest.raises(TypeError):
        encode(value, [], "value")


def test_a_field_declared_by_an_alias_holds_what_the_alias_stands_for():
    """`numpy.typing.NDArray` is such an alias from numpy 2.5 on, where Python has them."""
    alias_type = getattr(typing, "TypeAliasType", None)
    if alias_type is None:
        alias_type = pytest.importorskip("typing_extensions").TypeAliasType
    kind = typing.TypeVar("kind")
    array = alias_type("array", np.ndarray[typing.Any, kind], type_params=(kind,))
    assert list(_kinds(array[float])) == [np.ndarray]
    assert list(_kinds(typing.Optional[array[float]])) == [np.ndarray, type(None)]  # noqa: UP045
    assert list(_kinds(alias_type("either", int | str))) == [(int, np.integer), str]
