"""Noise without a period, and the counts of false alarms and dense tones."""

import numpy as np
import pytest
from benchmarks.dense_tones import Draw
from benchmarks.false_alarms import Cell, Count

from benchmarks import dense_tones, false_alarms, noises


def test_autoregressive_noise_has_variance_one_and_forgets_as_it_should():
    y = noises.autoregressive(np.random.default_rng(0), 200_000, 10.0)
    # 20,000 independent values: three standard errors of a variance are 0.03.
    assert np.var(y) == pytest.approx(1.0, abs=0.03)
    assert np.mean(y[10:] * y[:-10]) == pytest.approx(np.exp(-1.0), abs=0.03)


def test_a_resonance_has_variance_one_and_its_peak_at_its_period():
    y = noises.resonance(np.random.default_rng(0), 200_000, 20.0, 50.0)
    assert np.var(y) == pytest.approx(1.0, abs=0.06)
    power = np.abs(np.fft.rfft(y.reshape(1000, 200), axis=1)[:, 1:]) ** 2
    assert 1 + np.argmax(power.mean(axis=0)) == 10


def test_flicker_noise_loses_half_its_power_with_each_octave():
    rng = np.random.default_rng(0)
    power = np.mean([np.abs(np.fft.rfft(noises.flicker(rng, 512))) ** 2 for _ in range(400)], 0)
    assert power[8:16].mean() / power[16:32].mean() == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("sampling", noises.SAMPLINGS)
@pytest.mark.parametrize("kind", noises.KINDS)
def test_every_noise_is_drawn_at_every_sampling_and_again(kind, sampling):
    drawn = []
    for _ in range(2):
        rng = np.random.default_rng(3)
        t = noises.SAMPLINGS[sampling](rng, 60)
        drawn.append(noises.KINDS[kind](rng, t))
        assert len(t) == len(drawn[-1]) == 60
        assert (np.diff(t) > 0).all()
        assert 40 <= np.ptp(t) <= 60
    assert np.array_equal(*drawn)


def test_a_night_has_five_samples_within_a_third_of_the_day():
    t = noises.nightly(np.random.default_rng(0), 200) / 200.0 * 50  # 40 clear nights of 50
    night, hour = np.divmod(t, 1.0)
    assert set(np.unique(night, return_counts=True)[1]) == {5}
    assert hour.max() <= 1.0 / 3.0 + 1e-9


def test_the_bar_of_a_cell_is_the_level_and_two_standard_errors():
    assert false_alarms.allowed(99) == pytest.approx(0.03)
    counts = [Count(Cell(60, "hump", "even"), 99, 4, 0, 0.1, 0),
              Count(Cell(200, "hump", "even"), 99, 2, 0, 0.1, 0)]  # fmt: skip
    assert "| hump | even | **4 of 99** | 2 of 99 |" in false_alarms.table(counts)
    kind, everything = false_alarms.verdicts(counts)
    assert (kind.passed, kind.measured) == (
        False, "6 of 198 (3.03%); above in 60/hump/even")  # fmt: skip
    assert everything.case == "all"


def test_naive_prewhitening_finds_twelve_tones():
    assert dense_tones.draw(12, 700, "naive prewhitening").found == 12


def test_tones_are_found_once_and_lines_elsewhere_are_false(monkeypatch):
    truth = dense_tones.dense_mixture(12, 700).modes
    reported = np.concatenate([truth[:3] + 0.4, truth[:1] - 0.4, truth[-1:] + 3.0])
    monkeypatch.setitem(dense_tones.METHODS, "PeriodicMixture", lambda *_: reported)
    one = dense_tones.draw(12, 700)
    assert (one.found, one.false) == (3, 1)
    monkeypatch.setitem(dense_tones.METHODS, "PeriodicMixture", lambda *_: np.zeros(0))
    one = dense_tones.draw(12, 700)
    assert (one.found, one.false) == (0, 0)


def test_dense_tones_must_be_complete_in_nine_draws_of_ten():
    draws = [Draw(12, seed, 12 if seed else 0, 0, 0.1) for seed in range(25)]
    (verdict,) = dense_tones.verdicts(draws)
    assert verdict.passed is False  # 288 of 300 tones
    draws = [Draw(12, seed, 12 if seed > 1 else 11, 1, 0.1) for seed in range(25)]
    (verdict,) = dense_tones.verdicts(draws)
    assert verdict.passed
    assert "complete in 23 of 25, 298 of 300 tones, 25 false lines" in verdict.measured
