"""Shared by tests of plots, report and command line: one small fit, made once.

Property tests draw the same cases in every run, so that a change is what turns one red.
`pytest --hypothesis-profile=default` draws new ones; a case found that way belongs into its
test as an `example`.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

HERE = Path(__file__).parent
#: Files and folders whose tests carry a marker. `make quick` leaves all of them out.
MARKED = {
    "browser": ("app/test_pages.py", "journeys/test_never_typing.py", "report/test_browser.py"),
    "end_to_end": ("app", "cli", "journeys", "faults", "large", "many", "analysis", "plots",
                   "report", "persistence", "training/test_progress.py", "compiling",
                   "cosinor/test_command.py",
                   "training/test_many.py", "test_readme.py",
                   "benchmarks/test_page.py", "benchmarks/test_runner.py"),
    "statistical": ("mixture/test_significance.py", "mixture/test_statistics.py",
                    "mixture/test_detect.py", "mixture/test_continuum.py",
                    "periodic/test_quasi_periodic.py",
                    "periodic/test_forecast.py", "periodic/test_residual_process.py",
                    "mixture/test_components_waveform.py",
                    "mixture/test_ordinary.py", "benchmarks/test_ordinary.py", "theory",
                    "network/test_selection.py",
                    "estimators/test_forecasting.py", "estimators/test_scale.py",
                    "estimators/test_regressors.py",
                    "estimators/test_network_regressor.py",
                    "estimators/test_network_regressor_checks.py",
                    "estimators/test_periodic_mixture_checks.py",
                    "training/test_against_transcriptions.py"),
}  # fmt: skip


def pytest_collection_modifyitems(items):
    """Mark tests by their file or folder; the first marker that fits is theirs."""
    marks = [(mark, HERE / place) for mark, places in MARKED.items() for place in places]
    for item in items:
        for mark, place in marks:
            if item.path == place or place in item.path.parents:
                item.add_marker(mark)
                break


@pytest.fixture(scope="session")
def small_samples():
    """Two patterns with periods 3.7 h (a sawtooth) and 11 h, noise 0.2, a gap, dates."""
    from robustfourier.samples import from_arrays

    rng = np.random.default_rng(42)
    hours = np.sort(rng.uniform(0.0, 120.0, 420))
    hours = hours[(hours < 50.0) | (hours > 62.0)]
    values = 2.0 * (hours / 3.7 % 1.0) + np.cos(2 * np.pi * hours / 11.0)
    values += 0.2 * rng.normal(size=len(hours))
    times = np.datetime64("2024-03-01") + (hours * 3.6e9).astype("timedelta64[us]")
    return from_arrays(times, values, time_name="when", value_name="level", source="tank.csv")


@pytest.fixture(scope="session")
def small_model(small_samples):
    from robustfourier.analysis import fit_model

    return fit_model(small_samples)


@pytest.fixture(scope="session")
def small_result(small_samples, small_model):
    from robustfourier.results import summarise

    return summarise(small_samples, small_model)


@pytest.fixture(scope="session")
def noise_result():
    """A record of noise alone, with plain numbers as times."""
    from robustfourier.analysis import fit_model
    from robustfourier.results import summarise
    from robustfourier.samples import from_arrays

    noise = np.random.default_rng(3).normal(size=60)
    samples = from_arrays(np.arange(60.0), noise, value_name="hiss", source="noise.csv")
    return summarise(samples, fit_model(samples))


@pytest.fixture
def written_figures(monkeypatch):
    """Every figure that is written while the test runs."""
    from matplotlib.figure import Figure

    found, write = [], Figure.savefig

    def savefig(figure, *arguments, **options):
        if figure not in found:
            found.append(figure)
        return write(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return found


@pytest.fixture
def run(capsys):
    """The program in this process: its exit code, and what it said on both streams."""
    from robustfourier.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return stop.value.code, said.out, said.err

    return run


@pytest.fixture
def write(tmp_path):
    """Write a file of text or bytes; its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
