"""Records at the edge of what can be: each still gets a page and figures, without a warning."""

import numpy as np
import pytest

from robustfourier.analysis import fit_model
from robustfourier.plots.figure_files import save_figures
from robustfourier.report import render
from robustfourier.results import summarise
from robustfourier.samples import from_arrays

N = 60
T = np.arange(float(N))
WAVE = np.cos(2 * np.pi * T / 7.0)
NOISE = np.random.default_rng(0).normal(size=N)
RECORDS = {
    "a constant": (T, np.full(N, 5.0)),
    "zeros": (T, np.zeros(N)),
    "a pure wave without noise": (T, WAVE),
    "huge values": (T, 1e300 * (WAVE + 0.1 * NOISE)),
    "tiny values": (T, 1e-300 * (WAVE + 0.1 * NOISE)),
    "a huge offset": (T, 1e12 + WAVE + 0.1 * NOISE),
    "one huge outlier": (T, WAVE + 0.1 * NOISE + 1e9 * (T == 30)),
    "times in nanoseconds": (1_700_000_000_000_000_000 + T.astype(np.int64), WAVE + 0.1 * NOISE),
    "tiny steps of time": (1e-9 * T, WAVE + 0.1 * NOISE),
    "negative times": (-1e6 + T, WAVE + 0.1 * NOISE),
    "a straight line": (T, 3.0 * T + 0.01 * NOISE),
    "few samples": (T[:8], WAVE[:8]),
    "dates within a second": (
        np.datetime64("2024-01-01", "us") + (T * 1000).astype("timedelta64[us]"),
        WAVE + 0.1 * NOISE,
    ),
    "dates over centuries": (
        np.datetime64("1600-01-01", "us") + (T * 86400e6 * 3000).astype("timedelta64[us]"),
        WAVE + 0.1 * NOISE,
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_gets_a_page(name):
    samples = from_arrays(*RECORDS[name], source="edge.csv")
    result = summarise(samples, fit_model(samples))
    page = render(result, {})
    assert "<h1>" in page
    assert "nan" not in page.split('<script type="application/json"', 1)[0].lower()
    words = page.replace("&#39;", "'").replace("\N{NO-BREAK SPACE}", " ")
    assert result.headline in words


@pytest.mark.parametrize("name", ["zeros", "huge values", "tiny values", "dates over centuries"])
def test_every_record_gets_figures(name, tmp_path):
    samples = from_arrays(*RECORDS[name], source="edge.csv")
    assert save_figures(summarise(samples, fit_model(samples)), tmp_path)
