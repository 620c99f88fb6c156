"""One record of what is asked of a fit: the command line, the app and Python are refused alike."""

import re

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.errors import InputError
from robustfourier.fit_config import FitConfig, require_in_reach
from robustfourier.samples import from_arrays

TIMES = np.linspace(0.0, 100.0, 50)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("loss", "cubic", "is unknown; use one of auto, squared, huber"),
        ("scale", "sqrt", "is unknown; use one of auto, linear, log"),
        ("false_alarm", 7.0, "must lie between 0 and 1"),
        ("false_alarm", 0.0, "must lie between 0 and 1"),
        ("false_alarm", np.nan, "must lie between 0 and 1"),
    ],
)
def test_three_doors_refuse_the_same_and_each_names_it_as_its_user_does(name, value, words):
    option = f"--{name.replace('_', '-')}"
    with pytest.raises(InputError, match=re.escape(f"{option} {value!r} {words}")):
        FitConfig(**{name: value})
    with pytest.raises(InputError, match=re.escape(f"{name}={value!r} {words}")):
        PeriodicMixture(**{name: value}).fit(TIMES, np.sin(TIMES))
    if value == value:  # JSON has no NaN
        with pytest.raises(InputError, match=re.escape(f"{name}={value!r} {words}")):
            FitConfig.of({name: value})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"__class__": "x"}, "'__class__', which is no option here"),
        ({"written": True}, "'written', which is no option here"),
        ({"period": "12h"}, "period='12h' must be a list of short texts"),
        ({"period": ["x" * 201]}, "must be a short text"),
        ({"period": ["1"] * 51}, "must be a list of short texts"),
        ({"longest_period": 3}, "longest_period=3 must be a short text"),
        ({"longest_period": "  "}, "must be a short text"),
        ({"seed": "a"}, "seed='a' must be a number from 0"),
        ({"seed": True}, "seed=True must be a number from 0"),
        ({"seed": -1}, "seed=-1 must be a number from 0"),
        ({"seed": 2**40}, "must be a number from 0"),
        ({"seed": None}, "seed=None must be a number from 0"),
    ],
)
def test_a_request_of_anybody_is_checked_by_name_kind_and_size(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        FitConfig.of(given)


def test_a_request_becomes_the_config_that_the_command_line_makes():
    given = {"false_alarm": 0.001, "period": ["12h", "7"], "seed": 3, "longest_period": "30d"}
    config = FitConfig.of(given)
    same = FitConfig(false_alarm=0.001, period=("12h", "7"), seed=3, longest_period="30d")
    assert config == same
    assert config.words() == [
        *("--false-alarm", "0.001", "--longest-period", "30d"),
        *("--period", "12h", "--period", "7", "--seed", "3"),
    ]


def test_lengths_of_time_become_parameters_in_the_unit_of_the_record():
    samples = from_arrays(TIMES, np.sin(TIMES), unit="day")
    config = FitConfig(period=("12h",), shortest_period="6h", merge=("24h+12h",))
    asked = config.parameters(samples)
    assert asked["periods"] == [0.5]
    assert asked["max_frequency"] == pytest.approx(4.0)
    assert asked["merge"] == [(1.0, 0.5)]


@pytest.mark.parametrize("cycles", [1e-3, 2e6])
def test_a_period_is_in_reach_from_a_thousandth_to_two_million_cycles(cycles):
    require_in_reach(cycles, "--period '1'")
    beyond = 2.0 * cycles if cycles > 1 else cycles / 2.0
    with pytest.raises(InputError, match=re.escape("--period '1': ")):
        require_in_reach(beyond, "--period '1'")
