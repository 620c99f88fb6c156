import pickle
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tests.altered import altered
from tests.looks import faults

from robustfourier import plots
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.plots.figure_files import save_as, save_figures
from robustfourier.sampling import Completeness, check_sampling

HOSTILE = r"cost $5 \frac{ 🌊 <b> %s"
ONE_AXES = [
    *("fit", "spectrum", "component", "diagonal", "residuals", "histogram"),
    "residual_spectrum",
]


@pytest.fixture
def ax():
    figure = Figure()
    FigureCanvasAgg(figure)
    return figure.add_subplot()


@pytest.mark.parametrize("name", ONE_AXES)
def test_each_figure_is_drawn_on_the_axes_it_is_given(small_result, ax, name):
    assert getattr(plots, f"plot_{name}")(small_result, ax=ax) is ax
    assert ax.lines or ax.collections or ax.patches
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ONE_AXES)
def test_odd_names_are_drawn_as_they_are(small_result, ax, name):
    from dataclasses import replace

    samples = replace(small_result.samples, value_name=HOSTILE)
    result = altered(small_result, samples=samples, axis=replace(small_result.axis, label=HOSTILE))
    getattr(plots, f"plot_{name}")(result, ax=ax)
    from robustfourier.plots.style import looks

    with looks():
        ax.figure.canvas.draw()


def test_a_model_draws_itself(small_model, small_samples, ax):
    assert small_model.plot(ax=ax) is ax
    n_lines = len(ax.lines)
    small_model.plot(small_samples.axis, small_samples.values, ax=ax)
    assert len(ax.lines) > n_lines


def test_a_network_draws_itself_too(small_samples, ax):
    pytest.importorskip("torch")
    from robustfourier.analysis import fit_model
    from robustfourier.results import summarise

    model = fit_model(small_samples, "network", n_modes=40, n_steps=500, random_state=0)
    assert plots.plot_model(model, ax=ax) is ax
    result = summarise(small_samples, model)
    assert result.diagonal.names == ("cosine", "sine")
    plots.plot_diagonal(result, ax=ax)


def test_a_model_and_its_data_do_for_every_figure(small_model, small_samples, ax):
    plots.plot_spectrum(small_model.result(small_samples.axis, small_samples.values), ax=ax)
    assert ax.get_yscale() == "log"


def test_a_model_without_its_data_says_what_is_needed(small_model):
    bare = pickle.loads(pickle.dumps(small_model))  # which keeps no data
    with pytest.raises(InputError, match=re.escape("times and values are needed")):
        plots.plot_spectrum(bare)


def test_components_share_one_figure(small_result):
    figure = Figure()
    axes = plots.plot_components(small_result, axes=figure.subplots(1, 2))
    assert all(ax.lines for ax in axes)


def test_a_pattern_that_is_not_there_is_refused(small_result, ax):
    with pytest.raises(InputError, match=re.escape("index=99 must be below")):
        plots.plot_component(small_result, 99, ax=ax)


def test_a_pattern_without_a_link_says_so(small_result, ax):
    unlinked = [i for i, p in enumerate(small_result.patterns) if p.link is None]
    assert unlinked, "a sawtooth has no link"
    with pytest.raises(InputError, match=re.escape("has no link")):
        plots.plot_link(small_result, unlinked[0], ax=ax)


@pytest.mark.parametrize("name", ["fit", "spectrum", "residuals", "histogram", "diagonal"])
def test_noise_alone_can_be_drawn(noise_result, ax, name):
    getattr(plots, f"plot_{name}")(noise_result, ax=ax)


def test_all_figures_are_saved_and_are_the_same_bytes_each_time(
    small_result, tmp_path, written_figures
):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        written = save_figures(small_result, tmp_path / folder, ("png", "svg", "pdf"))
    assert [faults(figure) for figure in written_figures] == [[]] * len(written_figures)
    names = {path.name for path in written}
    assert {"fit.png", "spectrum.svg", "components.png", "diagonal.png", "residuals.svg"} <= names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_surveys_are_saved(small_samples, tmp_path):
    found = check_sampling(small_samples)
    path = tmp_path / "window.png"
    save_as([path], (9.0, 2.8), lambda f: plots.plot_window(found, ax=f.add_subplot()))
    found = Completeness(
        np.array([3.0, 10.0]),
        np.array([10.0, 3.0]),
        np.array([0.1, 0.2]),
        np.array([[0.0, 1.0], [0.5, 1.0]]),
        4,
        0.0,
    )
    domain, path = Domain(0.0, 30.0, "day"), tmp_path / "map.png"
    save_as([path], (7, 4), lambda f: plots.plot_completeness(found, domain, ax=f.add_subplot()))
    assert (tmp_path / "window.png").stat().st_size > 1000
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_pyplot_is_not_needed_to_write_files():
    code = (
        "import sys, robustfourier.plots.figure_files; "
        "assert 'matplotlib' not in sys.modules, 'matplotlib is loaded late'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_pattern_is_drawn_for_two_cycles_with_the_name_of_the_values(small_result, ax):
    plots.plot_component(small_result, 0, ax=ax)
    assert ax.lines[-1].get_xdata()[-1] == 2.0
    assert ax.get_ylabel() == small_result.samples.value_name


@pytest.mark.parametrize("draw", [plots.plot_fit, plots.plot_residuals, plots.plot_component])
def test_magnitudes_are_drawn_with_the_bright_ones_on_top(small_result, draw):
    stars = altered(small_result, downwards=True)
    left, right = Figure().subplots(1, 2)
    assert draw(stars, ax=left).yaxis_inverted()
    assert not draw(small_result, ax=right).yaxis_inverted()


def test_patterns_below_one_percent_have_no_panel(small_result):
    a, b = small_result.patterns
    axes = plots.plot_components(altered(small_result, patterns=(a, replace(b, share=0.001))))
    assert axes.size == 1
    assert axes[0, 0].get_title(loc="left").startswith("A: ")
    pyplot.close(axes[0, 0].figure)


def test_a_result_prints_as_its_headline(small_result):
    assert str(small_result) == (
        f"<Result of {len(small_result.samples):,} samples: {small_result.headline}>"
    )


@pytest.mark.parametrize("name", ["fit", "spectrum", "component", "residual_spectrum", "diagonal"])
def test_keywords_reach_matplotlib(small_result, ax, name):
    getattr(plots, f"plot_{name}")(small_result, ax=ax, linewidth=7.5)
    assert 7.5 in [line.get_linewidth() for line in ax.lines]


def test_methods_of_a_model_pass_keywords_on(small_model, ax):
    small_model.plot(ax=ax, color="red")
    assert ax.lines[0].get_color() == "red"


def test_the_residual_spectrum_after_more_components_than_there_are_is_refused(small_result):
    with pytest.raises(InputError, match=re.escape("without=9 must be between 1 and")):
        plots.plot_residual_spectrum(small_result, 9)
