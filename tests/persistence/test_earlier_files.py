"""Model files that version 0.1 wrote: they name classes by module, and must load for ever."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustfourier.persistence import load, save

DATA = Path(__file__).parent / "data"
DATES = pd.date_range("2024-03-01T00:17", periods=20, freq="30min", tz="Europe/Berlin")
PHASES = np.linspace(0.0, 10.0, 20).reshape(-1, 1)


@pytest.fixture(scope="module")
def answers():
    with np.load(DATA / "answers.npz") as arrays:
        return dict(arrays)


@pytest.fixture(params=["as it was", "saved again"])
def loaded(request, tmp_path):
    """Load a file of version 0.1, or what today's code makes of it."""

    def loaded(name):
        model = load(DATA / name)
        if request.param == "as it was":
            return model
        save(model, tmp_path / name)
        return load(tmp_path / name)

    return loaded


def test_a_mixture_over_dates_predicts_what_it_did(loaded, answers):
    model = loaded("two-components-with-dates.rfm")
    value, std = model.predict(DATES, return_std=True)
    np.testing.assert_allclose(value, answers["dates_value"], rtol=1e-12)
    np.testing.assert_allclose(std, answers["dates_std"], rtol=1e-12)
    assert [round(c.period, 1) for c in model.components_] == [12.4, 5.1]
    assert [c.label for c in model.components_] == ["A", "B"]
    assert {"A", "B"} <= set(model.modes_.label)
    assert model.false_alarm == 0.01


def test_a_mixture_of_two_columns_and_two_outputs_predicts_what_it_did(loaded, answers):
    model = loaded("two-columns-two-outputs.rfm")
    value, std = model.predict(answers["columns_X"], return_std=True)
    np.testing.assert_allclose(value, answers["columns_value"], rtol=1e-12)
    np.testing.assert_allclose(std, answers["columns_std"], rtol=1e-12)


def test_a_network_predicts_what_it_did(loaded, answers):
    pytest.importorskip("torch")
    value = loaded("network.rfm").predict(PHASES)
    np.testing.assert_allclose(value, answers["network_value"], rtol=1e-12)
