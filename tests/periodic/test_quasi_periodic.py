"""Quasi-periodic patterns: sunspots are one cycle that wanders, strict patterns stay strict."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.datasets import load_sunspots
from robustfourier.mixture import posterior
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.kernels import Kernel
from robustfourier.periodic.quasi_periodic import foreign, pattern_of, quasi_periodic_fit


@pytest.fixture(scope="module")
def sunspots():
    data = load_sunspots()
    return data, PeriodicMixture().fit(data.times, data.values)


def test_sunspots_are_one_cycle_of_eleven_years_that_wanders(sunspots):
    _, model = sunspots
    (cycle,) = model.components_
    assert 10.5 < cycle.period < 11.3
    assert 0.05 < cycle.period_error < 0.4
    assert 2 * cycle.period < cycle.coherence < 20 * cycle.period
    assert cycle.modulation == pytest.approx(1.0)
    assert "drifts out of step after about" in cycle.wandering
    assert cycle.wandering in repr(cycle)


def test_a_coherence_beyond_the_record_is_told_as_the_change_over_it(sunspots):
    _, model = sunspots
    (cycle,) = model.components_
    slow = replace(cycle.quasi_periodic, coherence=50.0 * cycle.domain.span, modulation=1.0)
    words = replace(cycle, quasi_periodic=slow).wandering
    # √(2 (1 − e^{−1/50})) = 0.199
    assert words == "changes by 20 % of its size over the record (quasi-periodic)"


def test_the_parts_of_a_quasi_periodic_pattern_add_up(sunspots):
    data, model = sunspots
    parts = model.decompose(data.times)
    assert parts.total == pytest.approx(model.predict(data.times))
    assert parts.trend + parts.components[:, 0] == pytest.approx(
        model.predict(data.times, remainder=False)
    )


def test_amplitude_and_phase_make_the_pattern_again(sunspots):
    data, model = sunspots
    (cycle,) = model.components_
    middle = data.times[(data.times > 1750) & (data.times < 1960)]
    amplitude = cycle.amplitude_at(middle)
    late = cycle.phase_at(middle)
    first = np.arctan2(cycle.sine[0, 0], cycle.cosine[0, 0])
    angle = 2 * np.pi * (middle - cycle.epoch) / cycle.period - first - late
    told = model.decompose(middle).components[:, 0]
    assert np.corrcoef(amplitude * np.cos(angle), told)[0, 1] > 0.98
    assert np.std(amplitude) > 0.1 * np.mean(amplitude)
    value, std = cycle.amplitude_at(middle, return_std=True)
    assert np.array_equal(value, amplitude)
    assert (std > 0).all()


def test_a_pattern_that_forgets_fades_from_the_forecast(sunspots):
    data, model = sunspots
    years = data.times[-1] + np.arange(1, 400)
    ahead = model.forecast(times=years)
    (cycle,) = model.components_
    late = years > data.times[-1] + 6 * cycle.coherence
    pattern = model.decompose(years).to_frame()["A"].to_numpy()
    assert np.abs(pattern[late]).max() < 0.05 * np.std(data.values)
    assert np.abs(pattern[:11]).max() > 0.2 * np.std(data.values)
    assert ahead.std[late].min() > 0.5 * np.std(data.values)


def test_a_quasi_periodic_model_comes_back_from_its_file(sunspots, tmp_path):
    data, model = sunspots
    model.save(tmp_path / "model.rfm")
    again = load(tmp_path / "model.rfm")
    assert np.array_equal(model.predict(data.times), again.predict(data.times))
    assert again.components_[0].coherence == model.components_[0].coherence
    assert np.array_equal(
        again.components_[0].amplitude_at(data.times), model.components_[0].amplitude_at(data.times)
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_strict_pattern_stays_strict(seed):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 60, 500))
    y = np.cos(2 * np.pi * t) + 0.5 * np.cos(4 * np.pi * t - 1) + 0.3 * rng.normal(size=500)
    (component,) = PeriodicMixture().fit(t, y).components_
    assert component.coherence == np.inf
    assert component.modulation == 0.0
    assert component.wandering == ""
    assert component.amplitude_at([3.0, 50.0]) == pytest.approx([1.0, 1.0], abs=0.1)
    assert component.phase_at([3.0, 50.0]) == pytest.approx([0.0, 0.0])
    assert component.phase_at([3.0], return_std=True)[1] > 0


def test_a_pattern_whose_amplitude_wanders_keeps_its_phase():
    rng = np.random.default_rng(3)
    t = np.linspace(0, 60, 900)
    swell = np.zeros(900)
    for i in range(1, 900):
        swell[i] = (
            np.exp(-60 / 899 / 8.0) * swell[i - 1]
            + np.sqrt(1 - np.exp(-2 * 60 / 899 / 8.0)) * rng.normal()
        )
    y = (1 + 0.4 * swell) * np.cos(2 * np.pi * t) + 0.2 * rng.normal(size=900)
    model = PeriodicMixture(scale="linear").fit(t, y)
    (component,) = model.components_
    assert component.period == pytest.approx(1.0, abs=3 * component.period_error)
    assert np.isfinite(component.coherence)
    told = component.amplitude_at(t)
    assert np.corrcoef(told, 1 + 0.4 * swell)[0, 1] > 0.8


def test_strict_lines_do_not_make_a_long_coherence_short():
    """Lines take the slow part of what wanders: what they left forgot three times too soon."""
    theta, order = np.linspace(-1, 1, 400), np.array([1, 2])
    angle = np.multiply.outer(theta, 40.0 * np.pi * order)
    columns = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    life = Kernel(*np.array([[2.0, 0.5], [0, 0], [1, 1], 40.0 * np.pi * order]), np.zeros(2, int))
    root = np.linalg.cholesky(life(theta[:, None] - theta) + np.eye(400))  # half the record
    told = []
    for seed in range(30):
        values = root @ np.random.default_rng(seed).normal(size=400) + columns @ [4, 2, 0, 0]
        found, *_ = np.linalg.lstsq(columns, values, rcond=None)
        lines = Lines(40.0 * order, found[:2, None], found[2:, None])
        left = values - columns @ found
        pattern = pattern_of(0, lines, np.zeros(2, int), order, 40.0, left, theta)
        if pattern is None:
            continue
        known = (theta, np.ones(400), np.arange(400), Kernel.zero(), np.zeros(0), 1.0)
        part = quasi_periodic_fit(pattern, *known, may_lose_phase=False)
        told += [] if part is None else [1.0 / part.rate]
    assert len(told) > 20
    assert 0.5 < np.median(told) < 2.0


def test_a_period_asked_for_that_nothing_shows_does_not_make_a_pattern_near_it_quasi_periodic():
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0.0, 50.0, 500))
    periods = rng.uniform(1.5, 9.0, 2)
    wave = np.exp(np.cos(2 * np.pi * t / periods[0])) + np.sin(2 * np.pi * t / periods[1] + 5)
    y = wave * rng.uniform(0.5, 2.0) + 0.5 * rng.normal(size=500) + 0.05 * t
    model = PeriodicMixture(periods=[3.0]).fit(t, y + 15.0 * (rng.random(500) < 0.05))
    assert all(c.coherence == np.inf for c in model.components_)
    assert np.any(np.isclose(model.modes_.period, 3.0))


def test_harmonics_that_show_nothing_take_no_part_in_a_process():
    rng = np.random.default_rng(2)
    theta = np.sort(rng.uniform(-1, 1, 500))
    orders = np.arange(1, 6)
    size = np.array([1.0, 0.5, 0.25, 1e-3, 1e-3])
    lines = Lines(30.0 * orders, size[:, None], np.zeros((5, 1)))
    swell = Lines(np.array([31.7]), np.ones((1, 1)), np.zeros((1, 1)))  # beside the fundamental
    left = 0.3 * rng.normal(size=500) + 0.3 * swell.evaluate(theta)[:, 0]
    pattern = pattern_of(0, lines, np.zeros(5, int), orders, 30.0, left, theta)
    assert pattern.order.tolist() == [1, 2, 3]
    assert pattern.power / pattern.power[0] == pytest.approx([1.0, 0.25, 0.0625], rel=0.3)


def test_a_pattern_beside_whose_lines_is_noise_alone_is_not_asked_about():
    rng = np.random.default_rng(2)
    theta = np.sort(rng.uniform(-1, 1, 500))
    lines = Lines(np.array([30.0]), np.ones((1, 1)), np.zeros((1, 1)))
    left = 0.3 * rng.normal(size=500)
    assert pattern_of(0, lines, np.zeros(1, int), np.ones(1, int), 30.0, left, theta) is None


def test_a_clock_that_walks_is_one_pattern_with_its_own_coherence():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 60, 800)
    late = np.cumsum(np.sqrt(2.0 * np.diff(t, prepend=0.0) / 15.0) * rng.normal(size=800))
    y = np.cos(2 * np.pi * t - late) + 0.5 * np.cos(2 * (2 * np.pi * t - late) - 1.0)
    model = PeriodicMixture(scale="linear").fit(t, y + 0.3 * rng.normal(size=800))
    (component,) = model.components_
    assert 7.5 < component.coherence < 30.0
    assert component.period == pytest.approx(1.0, abs=2.5 * component.period_error)


def test_what_rings_at_harmonics_of_a_pattern_is_not_foreign():
    drift, ring, between, wide = (
        np.log([2.0 * np.pi, 0.5, 1.0]),
        np.log([59.0 * np.pi, 40.0, 1.0]),
        np.log([150.0 * np.pi, 40.0, 1.0]),
        np.log([60.0 * np.pi, 1.0, 1.0]),
    )
    told = foreign(np.concatenate([drift, ring, between, wide]), 60.0, np.array([1, 2]))
    assert np.array_equal(told, np.concatenate([drift, between, wide]))
    third = np.log([180.0 * np.pi, 40.0, 1.0])  # a harmonic that the pattern does not have
    assert np.array_equal(foreign(third, 60.0, np.array([1, 2])), third)


@pytest.mark.parametrize("combined", [True, False])
def test_patterns_whose_frequencies_hold_each_other_do_not_lose_their_phase(combined, monkeypatch):
    """A tide whose O1 = 2 M1 − K1 forgot its phase would move M1."""
    t, rng = np.arange(600.0), np.random.default_rng(0)
    tones = {0.0437: 1.0, 0.0791: 1.0, 0.0437 + 0.0791: 0.4 * combined}
    y = sum(a * np.cos(2 * np.pi * f * t) for f, a in tones.items())
    y += 0.3 * rng.normal(size=len(t))
    asked = []

    def keeps_strict(*_, may_lose_phase, **__):
        asked.append(may_lose_phase)

    monkeypatch.setattr(posterior, "quasi_periodic_fit", keeps_strict)
    pattern = SimpleNamespace(taken=np.zeros(0, int))
    monkeypatch.setattr(posterior, "pattern_of", lambda *_: pattern)
    assert len(PeriodicMixture().fit(t, y).components_) == 2 + combined
    assert asked
    assert all(asked) != combined


def test_a_shorter_coherence_makes_the_error_of_the_period_wider_by_what_it_scatters():
    theta = np.linspace(-1, 1, 300)
    stated, off = [], []
    for rate in (2.0, 20.0):
        kernel = Kernel(*np.array([[9.0], [0.0], [rate], [40.0 * np.pi]]), np.zeros(1, int))
        root = np.linalg.cholesky(kernel(theta[:, None] - theta) + np.eye(300))
        for seed in range(20):
            values = root @ np.random.default_rng(seed).normal(size=300)
            columns = np.stack([np.cos(40 * np.pi * theta), np.sin(40 * np.pi * theta)], axis=1)
            found, *_ = np.linalg.lstsq(columns, values, rcond=None)
            lines, left = Lines(np.array([40.0]), *found[:, None, None]), values - columns @ found
            one = (np.zeros(1, int), np.ones(1, int), 40.0, left, theta)
            known = (theta, np.ones(300), np.arange(300), Kernel.zero(), np.zeros(0), 1.0)
            part = quasi_periodic_fit(pattern_of(0, lines, *one), *known)
            stated.append(part.shift_error)
            off.append(part.shift)
    stated, off = np.reshape(stated, (2, 20)), np.reshape(off, (2, 20))
    assert np.median(stated[1]) > 2 * np.median(stated[0])
    assert np.sqrt(np.mean((off / stated) ** 2)) == pytest.approx(1.0, abs=0.35)


def test_pulses_that_a_quasi_periodic_part_explains_are_no_outliers_of_what_explains_less():
    """A minute of beats whose rate rises by a fifth: a tenth of the samples is a pulse."""
    t, rng = np.arange(3000) / 50.0, np.random.default_rng(1)
    beat = np.cumsum(1.15 * (1.0 + 0.2 * t / 60.0)) / 50.0 % 1.0
    y = np.exp(-0.5 * ((beat - 0.3) / 0.03) ** 2) + 0.05 * rng.normal(size=3000)
    (component,) = PeriodicMixture().fit(t, y).components_
    assert component.period == pytest.approx(1.0 / (1.15 * 1.1), rel=0.1)
    assert np.isfinite(component.coherence)


def test_the_amplitude_of_a_lost_phase_is_known_from_as_many_draws_as_the_record_holds(sunspots):
    _, model = sunspots
    (cycle,), column = model.components_, model.models_[0]
    assert column.phase_lost is not None
    first = np.flatnonzero(column.phase_lost[np.isfinite(column.false_alarm)])[0]
    draws = column.domain.span / cycle.coherence
    expected = 0.5 * model.modes_.amplitude[first] / np.sqrt(draws)
    assert model.modes_.amplitude_error[first] == pytest.approx(expected)


def test_harmonics_of_a_clock_that_is_off_go_with_the_strongest_of_them():
    """At the sixth harmonic 2.2 modes are thirteen: nearer to nothing, and of the same pattern."""
    order, owner = np.tile(np.arange(1, 7), 2), np.repeat([0, 1], 6)
    mode = order * np.where(owner == 0, 42.0, 44.2)
    amplitude = np.where(owner == 0, 1.0, 0.5) / order
    lines = Lines(mode, amplitude[:, None], np.zeros((12, 1)))
    theta = np.linspace(-1, 1, 2000)
    left = 0.1 * np.random.default_rng(0).normal(size=2000)
    stronger = pattern_of(0, lines, owner, order, 42.0, left, theta)
    assert stronger.taken.tolist() == [6, 7, 8, 9, 10, 11]
    assert stronger.nearby == 1
    weaker = pattern_of(1, lines, owner, order, 44.2, left, theta)
    assert weaker is None or len(weaker.taken) == 0


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("amplitude", [0.5, 3.0])
def test_a_phase_lost_beside_a_stronger_line_is_that_lines_modulation(strict, amplitude):
    lines = Lines(np.array([45.0, 42.0]), np.array([[1.0], [amplitude]]), np.zeros((2, 1)))
    model = SimpleNamespace(component=np.array([0, 1]), order=np.ones(2, int), lines=lines)
    pattern = SimpleNamespace(component=0)
    part = SimpleNamespace(pattern=pattern, strict=strict, shift=-2.7, half_width=1.8, strength=1.0)
    said = posterior._is_hump(model, part, np.zeros(2, bool), white=1.0)
    assert said == (strict or amplitude > 1.0)
    far = SimpleNamespace(**{**vars(part), "shift": 2.7})
    assert not posterior._is_hump(model, far, np.zeros(2, bool), white=1.0)


def test_a_process_in_place_of_lines_is_no_noise_of_theirs_and_one_beside_them_is():
    """A phase that is lost after a thousand records is the line: its power is no error of it."""
    rng = np.random.default_rng(4)
    t = np.linspace(0, 60, 600)
    y = np.cos(2 * np.pi * t) + 0.3 * rng.normal(size=600)
    model = PeriodicMixture().fit(t, y).models_[0]
    kernel = Kernel(np.array([5.0]), np.zeros(1), np.array([0.01]), np.ones(1), np.zeros(1, int))
    pattern = SimpleNamespace(component=0, order=np.ones(1, int))
    size = {}
    lines = slice(len(model.trend), len(model.trend) + 2 * len(model.lines))
    for strict in (True, False):
        part = SimpleNamespace(
            kernel=kernel, pattern=pattern, gain=-1.0, strict=strict, shift_error=0.0
        )
        wider = posterior._with_modulation_errors(model, [part], white=0.09)
        size[strict] = np.linalg.norm(wider.factor[:, lines])
        assert wider.mode_error(0) > 2.0 * model.mode_error(0)  # that it wanders is one of its mode
    assert size[False] == pytest.approx(np.linalg.norm(model.factor[:, lines]))
    assert size[True] > 2.0 * size[False]


@pytest.mark.parametrize("beside", [True, False])
def test_a_line_that_a_process_explains_goes_and_one_beside_it_stays(beside):
    """A tone of three deviations at 40 modes, and a process of a hundred at 40 or at 80 modes."""
    theta, rng = np.linspace(-1, 1, 400), np.random.default_rng(0)
    lines = Lines(np.array([40.0]), np.full((1, 1), 0.5), np.zeros((1, 1)))
    model = SimpleNamespace(lines=lines, component=np.zeros(1, int))
    place = np.pi * (80.0 if beside else 40.0)
    kernel = Kernel(*np.array([[100.0], [0.0], [2.0], [place]]), np.ones(1, int))
    samples = theta, rng.normal(size=400), np.ones(400)
    gone = posterior._explained_by(kernel, model, [], np.zeros(1, bool), samples, 1.0, 1.0)
    assert gone.tolist() == [not beside]


@pytest.mark.parametrize("seed", range(3))
def test_a_tone_whose_rate_drifts_is_one_pattern(seed):
    rng, t = np.random.default_rng(seed), np.arange(1200) / 20.0
    y = np.cos(np.pi * (t + t**2 / 120.0)) + 0.3 * rng.normal(size=1200)
    (component,) = PeriodicMixture().fit(t, y).components_
    assert 1.0 < component.period < 2.0
    assert np.isfinite(component.coherence)
    assert component.share > 0.5
