"""Aliases of stars: the likelihood of the whole family, and the odds of the runner-up."""

import re

import numpy as np
import pytest

from robustfourier.analysis import fit_model
from robustfourier.results import summarise
from robustfourier.samples import from_arrays
from robustfourier.sampling.alias_odds import runner_up

PERIOD = 0.567


def nights(hours=7.0, count=120, seed=0):
    """Days since an epoch of samples taken in the same hours of each night."""
    rng = np.random.default_rng(seed)
    night = np.sort(rng.choice(150, count))
    return np.sort(night + rng.uniform(0.0, hours / 24.0, count))


def star(t, noise=0.05, seed=1):
    cycle = 2 * np.pi * t / PERIOD
    wave = 0.5 * np.cos(cycle) + 0.3 * np.cos(2 * cycle + 0.7) + 0.15 * np.cos(3 * cycle + 1.5)
    return wave + noise * np.random.default_rng(seed).normal(size=len(t))


def odds(t, y, orders, mode, noise):
    middle, half = 0.5 * (t[0] + t[-1]), 0.5 * (t[-1] - t[0])
    return runner_up(
        *((t - middle) / half, y, np.ones(len(t)), noise, mode, np.array(orders)),
        np.array([2.0 * half]),
    )


def test_the_runner_up_is_a_day_away_and_far_less_likely():
    t = nights()
    span = t[-1] - t[0]
    found = odds(t, star(t), (1, 2, 3), span / PERIOD, 0.05)
    turns = (found.mode - span / PERIOD) / span
    assert abs(turns) == pytest.approx(round(abs(turns)), abs=0.02)
    assert found.log_odds > 100


def test_harmonics_decide_where_the_fundamental_alone_would_not():
    t = nights(hours=0.5, count=60)
    span, noise = t[-1] - t[0], 0.25
    y = star(t, noise)
    whole = odds(t, y, (1, 2, 3), span / PERIOD, noise)
    alone = odds(t, 0.5 * np.cos(2 * np.pi * t / PERIOD), (1,), span / PERIOD, noise)
    assert alone.log_odds < whole.log_odds


def test_odds_of_a_noisier_record_are_smaller():
    t = nights()
    span = t[-1] - t[0]
    sure, less = (odds(t, star(t, s), (1, 2, 3), span / PERIOD, s) for s in (0.05, 0.3))
    assert less.log_odds < sure.log_odds


def test_an_excluded_alias_is_a_remark_and_no_warning():
    t = nights(count=300)
    samples = from_arrays(t, star(t), unit="day", value_name="flux")
    result = summarise(samples, fit_model(samples))
    (words,) = result.remarks
    assert words.startswith("The samples come in a rhythm of 0.99")
    assert "pattern A (0.567 d) is 10^" in words or "is more than 10^" in words
    assert not any("alias" in w for w in result.warnings)


def test_a_possible_alias_is_a_warning():
    t = nights(hours=5.0, count=150)
    samples = from_arrays(t, star(t, 0.7), unit="day", value_name="flux")
    result = summarise(samples, fit_model(samples))
    (words,) = (w for w in result.warnings if "than its next likeliest alias" in w)
    assert re.search(r"pattern A \(.* d\) is (no|only \d+ times) likelier", words)
    assert result.remarks == ()


def test_even_samples_have_no_such_alias():
    t = np.arange(300.0)
    samples = from_arrays(t, np.cos(t), unit="day")
    result = summarise(samples, fit_model(samples))
    assert not any("next likeliest alias" in w for w in result.warnings)
