"""What ordinary files ask of the mixture, each by a small series that was once told wrongly."""

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.mixture.components.side_lines import with_side_lines
from robustfourier.mixture.search.alias_relocation import relocate
from robustfourier.mixture.search.detection import detect
from robustfourier.mixture.search.line_fit import fit_lines
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.harmonic_families import Families, tied
from robustfourier.periodic.noise_spectrum import NoiseFloor

TURN = 2.0 * np.pi


def nightly(rng, n, days, spread=0.14):
    """Times on n clear nights, within `spread` days of midnight."""
    night = np.sort(rng.choice(int(days), n, replace=False))
    return night + rng.uniform(-spread, spread, n)


def close(values, period, width):
    return sum(abs(value - period) < width for value in values)


class TestShares:
    def test_a_weekly_pattern_in_daily_values_has_its_share_and_no_slow_part(self):
        rng = np.random.default_rng(0)
        t = np.arange(400.0)
        week = 50.0 * np.isin(t.astype(int) % 7, (5, 6))
        y = week + 5.0 * rng.normal(size=400)
        model = PeriodicMixture().fit(t, y)
        (component,) = model.components_
        assert component.share == pytest.approx(np.var(week) / np.var(y), abs=0.02)
        assert component.order.max() <= 3, "no order beyond the Nyquist mode"

    def test_outliers_do_not_take_the_share_away(self):
        rng = np.random.default_rng(1)
        t = np.sort(rng.uniform(0, 100, 600))
        y = np.cos(TURN * t / 7.3) + 0.2 * rng.normal(size=600)
        y[rng.random(600) < 0.05] += 500.0
        (component,) = PeriodicMixture().fit(t, y).components_
        assert 0.85 < component.share <= 1.0

    def test_shares_never_exceed_one_on_a_handful_of_nights(self):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            t = nightly(rng, 60, 180)
            y = np.cos(TURN * t / 5.1) + 0.5 * np.cos(2 * TURN * t / 5.1 + 1)
            model = PeriodicMixture().fit(t, y + 0.05 * rng.normal(size=60))
            assert sum(c.share for c in model.components_) <= 1.0 + 1e-9


class TestNoise:
    def test_core_and_tails_are_both_told(self):
        """Of t(1.5) the core is some 0.4 here; all of it together is far more."""
        rng = np.random.default_rng(0)
        t = np.sort(rng.uniform(0, 100, 400))
        y = 3.0 * np.sin(TURN * t / 7.3) + 0.3 * rng.standard_t(1.5, 400)
        model = PeriodicMixture().fit(t, y)
        left = y - model.predict(t, remainder=False)
        assert model.scatter_ == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-6)
        assert 2.0 * model.noise_ < model.scatter_
        assert "with its tails" in model.summary()

    def test_noise_without_tails_is_one_number(self):
        rng = np.random.default_rng(0)
        t = np.sort(rng.uniform(0, 100, 400))
        model = PeriodicMixture().fit(t, np.sin(TURN * t / 7.3) + 0.3 * rng.normal(size=400))
        assert model.scatter_ == pytest.approx(model.noise_, rel=0.05)
        assert "tails" not in model.summary()


class TestBand:
    def test_a_period_of_an_hour_is_found_from_one_sample_a_night(self):
        rng = np.random.default_rng(0)
        t = nightly(rng, 170, 400)
        y = 0.15 * np.cos(TURN * t / 0.0653) + 0.01 * rng.normal(size=170)
        (component,) = PeriodicMixture().fit(t, y).components_
        assert component.period == pytest.approx(0.0653, abs=1e-5)

    def test_a_strong_line_through_an_uneven_window_is_not_its_own_noise_floor(self):
        """87 nights, a Cepheid's shape, in three draws of three."""
        for seed in range(3):
            rng = np.random.default_rng(seed)
            t = nightly(rng, 87, 205)
            x = TURN * t / rng.uniform(3, 10)
            y = 0.35 * np.cos(x) + 0.14 * np.cos(2 * x + 4.4) + 0.06 * np.cos(3 * x + 2.6)
            found = detect(2 * (t - t[0]) / (t[-1] - t[0]) - 1, y[:, None])
            assert len(found.lines) > 0


class TestImages:
    def test_slow_power_counts_at_its_images(self):
        mode, level = np.array([1.0, 10.0, 1000.0]), np.array([[100.0], [1.0], [1.0]])
        plain = NoiseFloor(mode, level, np.full(3, 50.0))
        seen = NoiseFloor(mode, level, np.full(3, 50.0), np.array([300.0]), np.array([0.9]))
        at = np.array([301.0, 299.0, 500.0])
        np.testing.assert_allclose(plain.at(at)[:, 0], 1.0)
        np.testing.assert_allclose(seen.at(at)[:, 0], [81.0, 81.0, 1.0])

    def test_a_place_that_is_a_harmonic_is_preferred_among_aliases(self):
        rng = np.random.default_rng(0)
        t = nightly(rng, 150, 600, 0.1)
        span = t[-1] - t[0]
        theta = 2 * (t - t[0]) / span - 1
        f = 0.4321 * span
        y = np.cos(np.pi * f * theta) + 0.05 * np.cos(2 * np.pi * f * theta + 1)
        y = y + 0.2 * rng.normal(size=150)
        series = Series.of(theta, y[:, None], None, Settings(trend="level", max_mode=3000.0))
        alias = fit_lines(series, np.array([f, 2 * f + span]), np.zeros(2, bool), 1)
        placed = relocate(series, alias)
        assert abs(placed.modes[1] - 2 * placed.modes[0]) < 0.5


class TestTrend:
    def test_two_yearly_cycles_are_no_trend(self):
        rng = np.random.default_rng(0)
        t = np.arange(0.0, 730.0, 2.0)
        y = 8 * np.cos(TURN * (t - 200) / 365.25) + 2.0 * rng.normal(size=len(t))
        model = PeriodicMixture().fit(t, y)
        assert [round(c.period / 365.25, 1) for c in model.components_] == [1.0]

    def test_seasons_that_grow_are_no_slow_noise(self):
        """A height that trebles leaves power beside its own line, where the floor is measured."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            t, u = np.arange(157) * 7.0, np.arange(157) / 157.0
            y = 20.0 * u + (4.0 + 8.0 * u) * np.cos(TURN * (t / 365.25 + rng.uniform()))
            model = PeriodicMixture(scale="linear").fit(t, y + rng.normal(size=157))
            assert [round(c.period / 365.25, 1) for c in model.components_] == [1.0]

    def test_a_level_shift_is_found_with_its_time_and_size(self):
        rng = np.random.default_rng(0)
        t = np.arange(960) / 24.0
        y = np.cos(TURN * t) + np.where(t > 12.4, 2.5, 0.0) + 0.3 * rng.normal(size=960)
        model = PeriodicMixture().fit(t, y)
        (shift,) = model.breakpoints_
        assert shift.time == pytest.approx(12.4, abs=0.05)
        assert abs(shift.size[0] - 2.5) < 4 * shift.error[0] < 0.2
        assert model.noise_ == pytest.approx(0.3, rel=0.1)
        assert any(note.startswith("level shift of +2.4") for note in model.notes_)
        later = model.predict(np.array([60.0]), return_std=True)[0]
        assert later[0] == pytest.approx(3.5, abs=0.3), "it stays"

    def test_three_level_shifts_are_found_together(self):
        """One alone does not pass: the others are slow noise beside it."""
        rng = np.random.default_rng(3)
        t = np.arange(960) / 24.0
        level = 2.5 * (t > 10) - 4.0 * (t > 20) + 3.0 * (t > 31)
        model = PeriodicMixture().fit(t, np.cos(TURN * t) + level + 0.3 * rng.normal(size=960))
        assert [round(float(shift.time)) for shift in model.breakpoints_] == [10, 20, 31]

    @pytest.mark.parametrize("kind", ["white", "walk", "ramp", "heavy"])
    def test_what_does_not_break_has_no_breakpoint(self, kind):
        """Of 20 draws at most one."""
        found = 0
        for seed in range(20):
            rng = np.random.default_rng(seed)
            noise = rng.normal(size=300)
            heavy = rng.standard_t(3, size=300)
            y = {
                "white": noise,
                "walk": np.cumsum(noise),
                "ramp": np.linspace(0, 9, 300) + noise,
                "heavy": heavy,
            }[kind]
            found += len(detect(np.linspace(-1, 1, 300), y[:, None]).trend.breaks) > 0
        assert found <= 1

    def test_a_change_of_slope_is_found_with_its_time_and_size_and_goes_on(self):
        rng = np.random.default_rng(0)
        t = np.arange(400.0)
        y = 0.02 * t + 0.05 * np.maximum(t - 250.0, 0.0) + 0.5 * rng.normal(size=400)
        model = PeriodicMixture().fit(t, y)
        assert model.components_ == ()
        (change,) = model.breakpoints_
        assert change.kind == "slope"
        assert change.time == pytest.approx(250.0, abs=10.0)
        assert abs(change.size[0] - 0.05) < 4 * change.error[0] < 0.01
        assert any(note.startswith("change of slope by +0.05") for note in model.notes_)
        ahead = model.predict(np.array([450.0]))
        assert ahead[0] == pytest.approx(9.0 + 10.0, abs=0.6), "with its last slope"

    def test_square_waves_on_a_trend_with_a_kink_are_all_that_repeats(self):
        """A triangle is no cycle: one change of slope, at a lower price than slow lines."""
        rng = np.random.default_rng(1)
        t = np.arange(600.0)
        trend = 10.0 * (1.0 - np.abs(2.0 * t / 599.0 - 1.0))
        square = np.where(t % 60.0 < 30.0, 1.0, -1.0)
        model = PeriodicMixture().fit(t, trend + square + 0.3 * rng.normal(size=600))
        assert [round(c.period) for c in model.components_] == [60]
        assert [one.kind for one in model.breakpoints_] == ["slope"]

    @pytest.mark.parametrize("cycles", [2.0, 2.7, 3.5])
    def test_few_cycles_are_not_taken_for_changes_of_slope(self, cycles):
        rng = np.random.default_rng(2)
        t = np.linspace(0.0, 1.0, 200)
        y = np.cos(TURN * cycles * t) + t + 0.2 * rng.normal(size=200)
        model = PeriodicMixture().fit(t, y)
        assert [c.period for c in model.components_] == pytest.approx([1.0 / cycles], rel=0.1)
        assert model.breakpoints_ == ()


class TestFamilies:
    def test_a_year_with_a_badly_known_fundamental_stays_one_family(self):
        """Ties that are doubtful one by one, certain together."""
        mode = np.array([5.0412, 9.8591, 14.9748, 19.8809, 24.8001, 29.8045, 34.784])
        error = np.array([0.0358, 0.0396, 0.0494, 0.0606, 0.0635, 0.088, 0.077])
        power = np.array([206.0, 102, 96, 44, 31, 18, 23])
        found = tied(mode, np.diag(error**2), power, highest=130.0)
        assert found.harmonics.tolist() == [[n] for n in range(1, 8)]

    def test_a_week_of_which_only_day_and_half_week_are_lines_is_a_week(self):
        orders = np.array([2, 4, 6, 8, 7, 14, 21, 28, 10, 12, 16])
        rng = np.random.default_rng(0)
        mode = 6.0 * orders + 0.003 * rng.normal(size=len(orders))
        found = tied(mode, 0.003**2 * np.eye(len(mode)), 100.0 / orders, highest=1000.0)
        assert len(found.bases) == 1
        assert found.bases[0] == pytest.approx(6.0, abs=0.01)

    @pytest.mark.parametrize(
        "samples",
        [
            55.5,
            128.04 / 3.0,
        ],
    )
    def test_a_square_wave_between_two_samples_is_not_told_as_slower(self, samples):
        """Harmonics beyond the Nyquist mode are seen halfway, or a third, between the others."""
        for seed in range(3):
            t, wave, rng = square(samples, seed)
            strongest = PeriodicMixture().fit(t, wave + 0.01 * rng.normal(size=600)).components_[0]
            assert strongest.period == pytest.approx(samples, rel=1e-3)
            assert strongest.share > 0.9

    def test_a_square_wave_whose_every_second_is_lower_is_told_as_slower(self):
        t, wave, rng = square(55.5, 0)
        lower = np.where((t / 55.5).astype(int) % 2, 0.7, 1.0)
        (pattern,) = (
            PeriodicMixture().fit(t, lower * wave + 0.01 * rng.normal(size=600)).components_
        )
        assert pattern.period == pytest.approx(111.0, rel=1e-3)


def square(samples, seed):
    """A square wave of so many samples at 600 times."""
    rng, t = np.random.default_rng(seed), np.arange(600.0)
    return t, np.where((t / samples + rng.uniform()) % 1.0 < 0.5, 1.0, 0.0), rng


def rhythm(size, seed):
    """A fit of 90 s of a rhythm of 4 s whose rate walks by `size` in a second."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 90.0, 0.2)
    rate = 0.25 + size * np.cumsum(rng.normal(size=len(t))) * np.sqrt(0.2)
    y = np.cos(TURN * np.cumsum(rate) * 0.2) + 0.2 * rng.normal(size=len(t))
    return PeriodicMixture().fit(t, y)


class TestLivingPatterns:
    @pytest.mark.parametrize("seed", range(3))
    def test_a_rhythm_that_wanders_is_one_pattern_and_said_to_wander(self, seed):
        """Without its own model of wandering, one draw of these has two patterns, none wanders."""
        (pattern,) = (c for c in rhythm(0.004, seed).components_ if c.share > 0.01)
        assert pattern.period == pytest.approx(4.0, rel=0.3)  # the rate walks by 15 %
        assert pattern.coherence < 90.0

    @pytest.mark.parametrize("seed", [0, 2])
    def test_a_rhythm_that_wanders_far_is_not_told_as_several(self, seed):
        """Its wings are noise to the lines beside it; without them these have three and two."""
        shares = [c.share for c in rhythm(0.008, seed).components_]
        assert sum(share > 0.01 for share in shares) <= 1

    def test_side_lines_belong_to_the_pattern_beside_them(self):
        lines = Lines(
            np.array([100.0, 200.0, 101.4, 60.0]),
            np.array([[1.0], [0.5], [0.2], [0.2]]),
            np.zeros((4, 1)),
        )
        rows = np.array([[1, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1]])
        grouping = Families(np.array([100.0, 101.4, 60.0]), rows, np.zeros(3, bool))
        component, order, kept = with_side_lines(grouping, lines, np.ones(4, bool))
        assert component.tolist() == [0, 0, 0, 1]
        assert order.tolist() == [1, 2, 0, 1]
        assert kept.tolist() == [[1, 0, 0], [0, 0, 1]]

    def test_side_lines_a_year_away_belong_to_the_pattern_in_seasonal_records(self):
        mode = np.array([160.0, 165.6, 154.1, 100.0])
        lines = Lines(mode, np.array([[1.0], [0.2], [0.1], [0.2]]), np.zeros((4, 1)))
        grouping = Families(mode, np.eye(4, dtype=np.int64), np.zeros(4, bool))
        images = np.array([6.0])
        told = with_side_lines(grouping, lines, np.ones(4, bool), images=images)[0]
        assert told.tolist() == [0, 0, 0, 1]
        assert with_side_lines(grouping, lines, np.ones(4, bool))[0].tolist() == [0, 1, 2, 3]

    def test_a_star_that_changes_from_season_to_season_is_one_pattern(self):
        """Six seasons of 170 days; heights and phases differ by 15 % from one to the next.

        Its side lines, a year away, are two patterns if they are not given to it.
        """
        rng = np.random.default_rng([77, 1])
        day = np.sort(rng.choice(2191, 1400, replace=False))
        day = day[day % 365.25 < 170]
        t = day + 0.15 * rng.uniform(-1, 1, len(day))
        period, season = rng.uniform(0.3, 20), (day // 365.25).astype(int)
        height, shift = (0.15 * rng.normal(size=7)[season] for _ in range(2))
        y = (1 + height) * np.cos(TURN * t / period + shift) + 0.1 * rng.normal(size=len(t))
        (component,) = (c for c in PeriodicMixture().fit(t, y).components_ if c.share > 0.01)
        assert component.period == pytest.approx(period, rel=1e-3)

    def test_tides_two_modes_apart_are_both_told(self):
        lines = Lines(np.array([366.0, 364.0]), np.array([[1.0], [0.3]]), np.zeros((2, 1)))
        grouping = Families(lines.mode, np.eye(2, dtype=np.int64), np.zeros(2, bool))
        component, order, _ = with_side_lines(grouping, lines, np.ones(2, bool))
        assert component.tolist() == [0, 1]
        assert order.tolist() == [1, 1]

    def test_the_error_of_a_period_counts_that_it_wanders(self):
        """The mean period lies within 2.5 errors in 7 of 8 draws; within strict errors in few."""
        inside, strict = 0, 0
        for seed in range(8):
            rng = np.random.default_rng(100 + seed)
            t = np.arange(300.0)
            phase = TURN * t / 12.0 + 0.05 * np.cumsum(rng.normal(size=300))
            y = np.cos(phase) + 0.2 * rng.normal(size=300)
            mean = TURN * (t[-1] - t[0]) / (phase[-1] - phase[0])
            part = PeriodicMixture().fit(t, y).components_[0]
            inside += abs(part.period - mean) < 2.5 * part.period_error
            crlb = np.sqrt(6.0 / 300) * 0.2 / (np.pi * 300) * 144.0
            strict += abs(part.period - mean) < 2.5 * crlb
        assert inside >= 7
        assert strict < 6

    def test_a_strict_pattern_keeps_the_errors_of_noise(self):
        """Called unsteady in 1 % for its phase: at most 2 of 20 (odds of 1000 to 1)."""
        wide = 0
        for seed in range(20):
            rng = np.random.default_rng(seed)
            t = np.sort(rng.uniform(0, 100, 200))
            y = np.cos(TURN * t / 7.3) + 0.4 * rng.normal(size=200)
            model = PeriodicMixture(max_frequency=1.0).fit(t, y)
            crlb = np.sqrt(6.0 / 200) * 0.4 / (np.pi * 100) * 7.3**2
            wide += model.components_[0].period_error > 1.5 * crlb
        assert wide <= 2

    def test_the_error_of_a_period_of_two_samples_stays_zero(self):
        """Its phase cannot move between even samples, whatever process might be beside it."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            y = np.cos(np.pi * np.arange(210)) + 0.5 * rng.normal(size=210)
            pattern = PeriodicMixture().fit(np.arange(210.0), y).components_[0]
            assert (pattern.period, pattern.period_error) == (2.0, 0.0)


class TestNarrowFeatures:
    def test_two_unlike_eclipses_are_one_orbit_and_not_half_of_it(self):
        for seed in range(3):  # the weak odd harmonics are found together, or not at all
            rng = np.random.default_rng(seed)
            t = np.sort(rng.uniform(0, 400, 500))
            phase = (t / 2.345 + rng.uniform()) % 1.0
            dips = 0.4 * np.exp(-0.5 * ((phase - 0.25) / 0.02) ** 2)
            dips += 0.2 * np.exp(-0.5 * ((phase - 0.75) / 0.02) ** 2)
            model = PeriodicMixture().fit(t, 1.0 - dips + 0.02 * rng.normal(size=500))
            (component,) = model.components_
            assert component.period == pytest.approx(2.345, rel=1e-3)

    def test_pulses_at_one_phase_are_a_pattern_and_no_outliers(self):
        t = np.arange(2000.0)
        for period in (45, 60):
            y = 3.0 * (t % period == 5) + 0.3 * np.random.default_rng(period).normal(size=2000)
            (component,) = PeriodicMixture().fit(t, y).components_
            assert component.period == pytest.approx(period, rel=1e-3)

    def test_bursts_of_outliers_are_no_period(self):
        t = np.arange(1000.0)
        for seed in range(4):
            rng = np.random.default_rng(seed)
            y = np.cos(TURN * t / 23.4) + 0.5 * rng.normal(size=1000)
            start = rng.integers(0, 985)
            y[start : start + 12] += 20.0
            (component,) = PeriodicMixture().fit(t, y).components_
            assert component.period == pytest.approx(23.4, rel=0.01)
            assert component.share > 0.5, "the burst is pulled in"
