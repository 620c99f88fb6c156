"""No drawn curve deviates from the model by more than 2 % of its range between its points."""

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from robustfourier import PeriodicMixture, plots
from robustfourier.results.drawing_points import PER_CYCLE, curve_grid, wave_grid
from robustfourier.results.figure_axes import robust_limits


@pytest.fixture(scope="module")
def eclipses():
    """An eclipsing binary: narrow minima, so that many harmonics are needed."""
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0.0, 60.0, 1500))
    y = -np.exp(-0.5 * ((t / 1.7 % 1.0 - 0.5) / 0.03) ** 2) + 0.01 * rng.normal(size=1500)
    return PeriodicMixture(scale="linear").fit(t, y)


def axes():
    return Figure().add_subplot()


def deviation(x, y, exact):
    """Largest distance of straight lines between points from the model, over its range."""
    between = np.linspace(x[0], x[-1], 40_001)
    return np.abs(np.interp(between, x, y) - exact(between)).max() / np.ptp(y)


def test_the_fit_of_many_harmonics_follows_the_model(eclipses):
    assert max(eclipses.components_[0].harmonics) >= 8
    line = plots.plot_fit(eclipses, ax=axes()).lines[0]
    exact = lambda x: eclipses.predict(x, remainder=False)  # noqa: E731
    assert deviation(*line.get_data(), exact) < 0.02


def test_a_forecast_follows_the_model(eclipses):
    line = plots.plot_forecast(eclipses, 300, ax=axes()).lines[-1]
    assert deviation(*line.get_data(), lambda x: eclipses.forecast(times=x).mean) < 0.02
    ahead = eclipses.result().forecast
    assert deviation(ahead.x, ahead.mean, lambda x: eclipses.forecast(times=x).mean) < 0.02


def test_correlated_noise_follows_the_model():
    rng = np.random.default_rng(2)
    t = np.arange(400.0)
    left = np.convolve(rng.normal(size=430), 0.7 ** np.arange(31), "valid")
    model = PeriodicMixture(scale="linear").fit(t, 5 * np.cos(2 * np.pi * t / 7) + left)
    assert model.remainder_ is not None
    line = plots.plot_remainder(model, ax=axes()).lines[0]
    exact = lambda x: model.predict(x) - model.predict(x, remainder=False)  # noqa: E731
    assert deviation(*line.get_data(), exact) < 0.02


def test_a_shape_follows_the_model(eclipses):
    wave = eclipses.result().patterns[0].waveform
    line = plots.plot_component(eclipses, ax=axes()).lines[1]
    np.testing.assert_array_equal(line.get_ydata()[: len(wave.y)], wave.y)
    one = eclipses.components_[0]
    fine = np.linspace(0.0, 1.0, 20_001)
    shift = fine[np.argmax(one.waveform(fine))]
    off = np.interp(fine, wave.x, wave.y) - one.waveform(fine + shift)
    assert np.abs(off).max() < 0.02 * np.ptp(wave.y)


def test_a_small_waveform_in_a_notebook_shows_both_eclipses_to_their_depth(eclipses):
    path = re.search(r'<path d="M([^"]+)"', eclipses._repr_html_())[1]
    x, y = np.array([point.split() for point in path.split("L")], float).T
    lows = [y[x < 55].max(), y[x >= 55].max()]  # pixels count downwards, 1 to 29
    assert lows == pytest.approx([29.0, 29.0], abs=0.02 * 28)
    assert y.min() == pytest.approx(1.0, abs=0.02 * 28)


def test_the_strip_over_a_record_shows_every_eclipse_to_its_depth(eclipses):
    from robustfourier.plots.fit_figures import draw_curve

    result, ax = eclipses.result(), axes()
    draw_curve(ax, result.axis, result.curve.x, result.curve.y, dense=True)
    corners = ax.collections[0].get_paths()[0].vertices
    exact = eclipses.predict(np.linspace(10.0, 50.0, 40_001), remainder=False)
    for start in np.arange(10.0, 48.0, 1.7 * 2):
        here = (corners[:, 0] >= start) & (corners[:, 0] < start + 1.7 * 2)
        assert corners[here, 1].min() == pytest.approx(exact.min(), abs=0.02 * np.ptp(exact))


def test_the_outline_of_a_dense_record_holds_the_model():
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0.0, 400.0, 3000))
    y = -np.exp(-0.5 * ((t / 1.7 % 1.0 - 0.5) / 0.06) ** 2) + 0.01 * rng.normal(size=3000)
    model = PeriodicMixture(scale="linear").fit(t, y)
    ax = plots.plot_fit(model, ax=axes())
    corners = ax.collections[0].get_paths()[0].vertices
    inner = corners[(corners[:, 0] > 5.0) & (corners[:, 0] < 395.0)]
    x = np.linspace(20.0, 380.0, 50_001)
    exact = model.predict(x, remainder=False)
    # A column is 0.44 long, a cycle 1.7: most columns hold no eclipse, each eclipse lies in one.
    for start in np.arange(20.0, 380.0, 1.7 * 3):
        here = (x >= start) & (x < start + 1.7 * 3)
        near = (inner[:, 0] >= start) & (inner[:, 0] < start + 1.7 * 3)
        assert inner[near, 1].min() == pytest.approx(exact[here].min(), abs=0.02 * np.ptp(exact))
        assert inner[near, 1].max() == pytest.approx(exact[here].max(), abs=0.02 * np.ptp(exact))


@pytest.mark.parametrize("top", [1.0, 40.0, 700.0, 9000.0])
def test_the_fastest_line_has_sixteen_points_a_cycle(top):
    grid = curve_grid(top)
    assert np.diff(grid).max() <= 1.0 / (PER_CYCLE * top) * (1.0 + 1e-9)
    assert (grid[0], grid[-1]) == (0.0, 1.0)


def test_more_cycles_than_points_are_seen_at_random_places():
    grid = curve_grid(1e6)
    assert len(grid) == 200_001
    assert np.all(np.diff(grid) > 0)
    assert np.abs(np.mean(np.exp(2j * np.pi * 1e6 * grid))) < 0.02  # an even grid would give 1


def test_a_shape_with_many_harmonics_has_more_points():
    assert len(wave_grid(168)) == PER_CYCLE * 168 + 1


def test_outliers_do_not_set_the_axis_and_are_marked(eclipses):
    seen = eclipses._seen
    values = np.asarray(seen[1]).copy()
    values[[100, 200]] = 50.0, -70.0
    ax = plots.plot_fit(eclipses.result(np.asarray(seen[0]), values), ax=axes())
    low, high = ax.get_ylim()
    assert low > -2.0
    assert high < 1.0
    marks = [line for line in ax.lines if line.get_marker() in ("^", "v")]
    assert sorted(line.get_ydata()[0] for line in marks) == [low, high]


def test_limits_hold_every_curve():
    values, curve = np.random.default_rng(0).normal(size=500), np.array([-30.0, 40.0])
    low, high = robust_limits(values, curve)
    assert low < -30.0
    assert high > 40.0
    assert robust_limits(np.zeros(0)) == (0.0, 1.0)


def test_a_dark_style_of_the_user_is_kept(eclipses):
    import matplotlib
    from matplotlib import pyplot

    with matplotlib.style.context("dark_background"):
        ax = plots.plot_fit(eclipses)
        assert matplotlib.colors.to_hex(ax.figure.get_facecolor()) == "#000000"
        assert ax.lines[0].get_color() == "#6db8f2"
    pyplot.close(ax.figure)
    assert plots.plot_fit(eclipses, ax=axes()).lines[0].get_color() == "#0b62a8"


def test_keywords_reach_the_curve(eclipses):
    line = plots.plot_fit(eclipses, ax=axes(), color="red", lw=3).lines[0]
    assert (line.get_color(), line.get_linewidth()) == ("red", 3)


def test_dates_on_six_inches_do_not_touch():
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from tests.looks import faults

    t = np.datetime64("2023-11-20", "h") + np.arange(24 * 60).astype("timedelta64[h]")
    y = np.cos(np.arange(24 * 60) * 2 * np.pi / 24) + 0.1 * np.random.default_rng(0).normal(
        size=24 * 60
    )
    model = PeriodicMixture(scale="linear").fit(t, y)
    figure = Figure(figsize=(6.0, 3.0))
    FigureCanvasAgg(figure)
    model.plot(ax=figure.add_subplot())
    figure.canvas.draw()
    assert faults(figure) == []


def test_the_residual_spectrum_agrees_with_its_line_where_there_are_outliers():
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0.0, 30.0, 2000))
    y = np.cos(2 * np.pi * t / 1.3) + 0.2 * rng.normal(size=2000)
    y[rng.random(2000) < 0.03] += 8.0 * rng.normal()
    result = PeriodicMixture(scale="linear").fit(t, y).result()
    spectrum = result.spectrum
    assert np.mean(spectrum.residual > spectrum.line) == 0.0
    assert len(spectrum.above()) == 0
