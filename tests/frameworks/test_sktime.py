"""The contract of sktime, checked by its own tests where it is installed."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from robustfourier.errors import MissingDependencyError

pytestmark = pytest.mark.filterwarnings("ignore")  # sktime's own: of what it will change


def test_without_sktime_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sktime"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sktime", None)
    monkeypatch.delitem(sys.modules, "robustfourier.frameworks.sktime_estimators", raising=False)
    words = 'needs sktime; install it with: pip install "robustfourier[sktime]"'
    with pytest.raises(MissingDependencyError, match=re.escape(words)):
        import robustfourier.frameworks.sktime_estimators  # noqa: F401


@pytest.fixture
def estimators():
    pytest.importorskip("sktime", reason="the extra sktime is not installed")
    from robustfourier.frameworks import sktime_estimators

    return sktime_estimators


@pytest.mark.parametrize("name", ["PeriodicMixtureForecaster", "PeriodicMixtureSeasonality"])
def test_the_checks_of_sktime_pass(estimators, name):
    from sktime.utils.estimator_checks import check_estimator

    results = check_estimator(getattr(estimators, name), verbose=False)
    assert {key: told for key, told in results.items() if told != "PASSED"} == {}


def test_the_season_is_the_base_period_without_harmonics(estimators):
    n = np.arange(240)
    sawtooth = (n % 12) / 12 + 0.05 * np.random.default_rng(0).normal(size=240)
    index = pd.period_range("2004-01", periods=240, freq="M")
    found = estimators.PeriodicMixtureSeasonality().fit(pd.Series(sawtooth, index=index))
    assert found.sp_ == 12
    assert found.sp_significant_.tolist() == [12]


def test_quantiles_surround_the_forecast(estimators):
    n = np.arange(120)
    y = 5 + np.cos(2 * np.pi * n / 12) + 0.2 * np.random.default_rng(1).normal(size=120)
    index = pd.period_range("2010-01", periods=120, freq="M")
    forecaster = estimators.PeriodicMixtureForecaster().fit(pd.Series(y, index=index))
    mean = forecaster.predict(fh=[1, 2, 12])
    ends = forecaster.predict_quantiles(fh=[1, 2, 12], alpha=[0.05, 0.5, 0.95]).to_numpy()
    assert mean.index.astype(str).tolist() == ["2020-01", "2020-02", "2020-12"]
    assert ends[:, 1] == pytest.approx(mean.to_numpy())
    assert (np.diff(ends, axis=1) > 0).all()
