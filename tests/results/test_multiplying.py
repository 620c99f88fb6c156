"""What is shown of a fit of logarithms: everything in the unit of the values."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from robustfourier import plots
from robustfourier.analysis.fitting import fit_model
from robustfourier.results import summarise
from robustfourier.samples import from_arrays

T = np.arange(120) / 12.0
LEVEL, HEIGHT, NOISE = 300.0, 0.2, 0.03  # typical value; season and noise as parts of it


@pytest.fixture(scope="module")
def result():
    logs = np.log(LEVEL) + 0.1 * (T - T.mean()) + HEIGHT * np.cos(2 * np.pi * T)
    values = np.exp(logs + NOISE * np.random.default_rng(0).normal(size=len(T)))
    samples = from_arrays(T, values)
    return summarise(samples, fit_model(samples, scale="log"))


def test_parts_multiply_and_the_residual_is_what_is_left(result):
    product = result.trend * result.parts.prod(axis=0)
    np.testing.assert_allclose(product, result.fitted, rtol=1e-9)
    np.testing.assert_allclose(result.fitted + result.residual, result.samples.values, rtol=1e-12)


def test_heights_and_noise_are_told_at_the_typical_level(result):
    (pattern,) = result.patterns
    assert pattern.amplitude == pytest.approx(HEIGHT * LEVEL, rel=0.1)
    assert result.modes.amplitude[0] == pytest.approx(HEIGHT * LEVEL, rel=0.1)
    assert result.noise == pytest.approx(NOISE * LEVEL, rel=0.2)
    assert result.spectrum.data.max() == pytest.approx(HEIGHT * LEVEL, rel=0.1)
    assert np.median(result.spectrum.floor) == pytest.approx(
        2.0 * NOISE * LEVEL / np.sqrt(len(T)), rel=0.5
    )


def test_the_amplitude_over_time_is_that_of_the_typical_level(result):
    line = plots.plot_life(result.model, ax=Figure().add_subplot()).lines[0]
    np.testing.assert_allclose(line.get_ydata(), HEIGHT * LEVEL, rtol=0.1)


def test_waveforms_run_through_the_folded_data(result):
    (pattern,) = result.patterns
    wave = np.interp(pattern.folded.x, pattern.waveform.x, pattern.waveform.y)
    left = LEVEL * np.log(result.samples.values / result.fitted)
    np.testing.assert_allclose(pattern.folded.y - wave, left, atol=0.05 * NOISE * LEVEL)


def test_the_reader_is_told_that_parts_multiply(result):
    assert "logarithms were fitted" in result.warnings[0]
    assert "level of 30" in result.warnings[0]


def test_a_jump_is_told_as_a_factor_by_the_model_and_in_the_unit_of_the_values_here():
    rng = np.random.default_rng(1)
    after = np.arange(200) >= 120
    logs = 5.0 + np.log(1.5) * after + 0.05 * rng.normal(size=200)
    samples = from_arrays(np.arange(200.0), np.exp(logs))
    model = fit_model(samples, scale="log")
    (note,) = [note for note in model.notes_ if note.startswith("level shift by a factor of ")]
    assert float(note.split()[6]) == pytest.approx(1.5, rel=0.02)
    (jump,) = [words for words in summarise(samples, model).warnings if "jumps" in words]
    told = float(jump.split("by ")[1].split(" ")[0])
    assert told == pytest.approx(0.5 * np.exp(5.0), rel=0.05)
