import numpy as np
import pytest
from benchmarks.peers.catalogue import SIZE, catalogue
from benchmarks.peers.methods.privileged import yardstick
from benchmarks.peers.problems import harmonics
from benchmarks.peers.sinusoids import fitted, linear_trend, refined

from robustfourier.synthetic import Component

ENTRIES = [entry for entry in catalogue() if entry.group != SIZE]


def named(name):
    return next(entry for entry in ENTRIES if entry.name == name)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_same_seed_gives_the_same_task_and_another_seed_another(entry):
    one, again, other = entry.draw(0), entry.draw(0), entry.draw(1)
    assert np.array_equal(one.y, again.y)
    assert not np.array_equal(one.y, other.y)
    assert one.t.shape == one.y.shape
    assert one.t_test.shape == one.y_test.shape
    assert one.scale > 0


@pytest.mark.parametrize("name", ["electricity demand", "double-mode Cepheid", "sunspots"])
def test_held_out_samples_are_not_given(name):
    task = named(name).draw(3)
    assert not set(task.t) & set(task.t_test)
    assert 0.1 < task.t_test.size / (task.t.size + task.t_test.size) < 0.3


def test_the_noise_is_the_stated_multiple_of_the_signal():
    task = named("noise × 2").draw(0)
    signal = np.interp(task.t, task.t_test, task.y_test)
    assert np.std(task.y - signal) / np.std(signal) == pytest.approx(2.0, rel=0.1)


def test_the_noise_curve_changes_the_noise_alone():
    quiet, loud = named("noise × 0.1").draw(0), named("noise × 2").draw(0)
    assert np.array_equal(quiet.t, loud.t)
    assert np.array_equal(quiet.y_test, loud.y_test)


def test_harmonics_are_the_chebyshev_coefficients_of_the_link():
    # cos³x = (3 cos x + cos 3x) / 4
    mode, amplitude = harmonics(Component(5.0, link="cube", amplitude=2.0), 1000.0)
    assert mode.tolist() == [5.0, 15.0]
    assert amplitude == pytest.approx([1.5, 0.5])


def test_the_error_bars_are_those_of_least_squares():
    """Frequencies refined from the truth scatter as the Cramér-Rao errors say."""
    off = []
    for seed in range(12):
        task = named("5 tones, irregular").draw(seed)
        found = np.sort(1.0 / yardstick(task.t, task.y, task.hints).periods)
        order = np.argsort(1.0 / task.fundamentals)
        off.append((found - 1.0 / task.fundamentals[order]) / task.fundamental_errors[order])
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(1.0, abs=0.3)


def test_a_clear_slope_is_removed_and_a_doubtful_one_left():
    t = np.linspace(0.0, 1.0, 400)
    noise = np.random.default_rng(0).standard_normal(400)
    steep, flat = linear_trend(t, 5.0 + 3.0 * t + noise), linear_trend(t, 5.0 + noise)
    assert float(steep(np.array(1.0)) - steep(np.array(0.0))) == pytest.approx(3.0, abs=0.6)
    assert float(flat(np.array(1.0)) - flat(np.array(0.0))) == 0.0


def test_refinement_ends_at_the_least_squares_frequencies():
    t = np.sort(np.random.default_rng(1).uniform(0.0, 10.0, 300))
    true = np.array([1.23, 2.71])
    y = np.cos(2 * np.pi * true[0] * t) + 0.5 * np.sin(2 * np.pi * true[1] * t) + 4.0
    assert refined(t, y, true + 0.02) == pytest.approx(true, abs=1e-8)
    assert fitted(t, y, true)(t) == pytest.approx(y, abs=1e-9)
    tilted = y + 3.0 * t
    assert refined(t, tilted, true + 0.02, slope=True) == pytest.approx(true, abs=1e-8)
    assert fitted(t, tilted, true, slope=True)(t) == pytest.approx(tilted, abs=1e-9)
