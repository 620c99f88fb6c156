"""A forecaster and an estimator of seasonality for sktime, which is an extra.

Use the forecaster in sktime's pipelines, tuning and evaluation; use the seasonality where a method
needs to be told how many steps a season has.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from robustfourier.errors import MissingDependencyError
from robustfourier.estimators.forecasting import forecast_quantile
from robustfourier.estimators.mixture import PeriodicMixture

try:
    from sktime.forecasting.base import BaseForecaster
    from sktime.param_est.base import BaseParamFitter
except ImportError:
    raise MissingDependencyError(
        "robustfourier.frameworks.sktime_estimators needs sktime; install it with: "
        'pip install "robustfourier[sktime]"'
    ) from None


class PeriodicMixtureForecaster(BaseForecaster):
    """Forecasts by `PeriodicMixture`, with quantiles and other columns.

    Parameters
    ----------
    false_alarm : float, default 0.01
        Probability that noise makes one line.
    scale : {"auto", "linear", "log"}, default "auto"
        Whether patterns add or multiply.
    periods : list, optional
        Periods that are known to be there, in the unit of the index.
    holidays : str, optional
        A country whose public holidays are a regressor.

    Attributes
    ----------
    model_ : PeriodicMixture

    Examples
    --------
    >>> from robustfourier.frameworks.sktime_estimators import PeriodicMixtureForecaster
    >>> from sktime.datasets import load_airline
    >>> forecaster = PeriodicMixtureForecaster().fit(load_airline())
    >>> forecaster.predict(fh=[1, 12]).index.astype(str).tolist()
    ['1961-01', '1961-12']
    """

    _tags = {  # noqa: RUF012
        "authors": "robustfourier",
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": False,
        "capability:exogenous": True,
        "capability:missing_values": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": True,
        "capability:insample": True,
        "capability:random_state": False,
        "property:randomness": "deterministic",
        "requires-fh-in-fit": False,
        "X-y-must-have-same-index": True,
    }

    def __init__(
        self,
        false_alarm: float = 0.01,
        scale: Literal["auto", "linear", "log"] = "auto",
        periods: Any = None,
        holidays: str | None = None,
    ) -> None:
        self.false_alarm = false_alarm
        self.scale = scale
        self.periods = periods
        self.holidays = holidays
        super().__init__()

    def _fit(self, y: pd.Series, X: pd.DataFrame | None, fh: Any) -> PeriodicMixtureForecaster:  # noqa: ARG002
        model = PeriodicMixture(
            false_alarm=self.false_alarm,
            scale=self.scale,
            periods=self.periods,
            holidays=self.holidays,
        )
        values = y.to_numpy(dtype=float)
        self._name: Any = y.name
        self._seen: pd.DataFrame | None = X
        self.model_ = model.fit(times_of(y.index), values, regressors=_plain(X))
        return self

    def _predict(self, fh: Any, X: pd.DataFrame | None) -> pd.Series:
        index = fh.to_absolute_index(self.cutoff)
        ahead = self.model_.forecast(times=times_of(index), regressors=self._columns(X, index))
        return pd.Series(ahead.mean, index=index, name=self._name)

    def _predict_quantiles(
        self, fh: Any, X: pd.DataFrame | None, alpha: list[float]
    ) -> pd.DataFrame:
        index = fh.to_absolute_index(self.cutoff)
        times, columns = times_of(index), self._columns(X, index)
        name = self._get_varnames()[0]
        quantiles = {
            (name, level): forecast_quantile(self.model_, level, times=times, regressors=columns)
            for level in alpha
        }
        frame = pd.DataFrame(quantiles, index=index)
        frame.columns = pd.MultiIndex.from_tuples(list(quantiles))
        return frame

    def _columns(self, X: pd.DataFrame | None, index: pd.Index) -> pd.DataFrame | None:
        """Rows of X for times; those of the record are remembered."""
        if X is None or self.model_.regressors_ is None:
            return None
        known = pd.concat([part for part in (self._seen, X) if part is not None])
        known = known[~known.index.duplicated(keep="last")]
        return _plain(known.reindex(index))

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return parameters with which sktime tests the class."""
        return [{}, {"false_alarm": 0.05, "scale": "linear"}]


class PeriodicMixtureSeasonality(BaseParamFitter):
    """The seasons of a series in steps: base periods that noise cannot explain, no harmonics.

    Parameters
    ----------
    false_alarm : float, default 0.01
        Probability that noise makes one line.

    Attributes
    ----------
    sp_ : int
        The strongest season in steps; 1 if there is none.
    sp_significant_ : ndarray of int
        All of them, the strongest first.
    periods_ : ndarray of float
        The same before rounding.
    model_ : PeriodicMixture

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from robustfourier.frameworks.sktime_estimators import PeriodicMixtureSeasonality
    >>> n = np.arange(120)
    >>> sawtooth = (n % 12) / 12 + 0.05 * np.random.default_rng(0).normal(size=120)
    >>> PeriodicMixtureSeasonality().fit(pd.Series(sawtooth)).sp_
    12
    """

    _tags = {  # noqa: RUF012
        "authors": "robustfourier",
        "X_inner_mtype": "pd.Series",
        "scitype:X": "Series",
        "capability:missing_values": True,
        "capability:multivariate": False,
        "capability:random_state": False,
        "property:randomness": "deterministic",
    }

    def __init__(self, false_alarm: float = 0.01) -> None:
        self.false_alarm = false_alarm
        super().__init__()

    def _fit(self, X: pd.Series) -> PeriodicMixtureSeasonality:
        model = PeriodicMixture(false_alarm=self.false_alarm)
        self.model_ = model.fit(times_of(X.index), X.to_numpy(dtype=float))
        step = model.domains_[0].span / (len(X) - 1)
        periods = np.array([part.period for part in model.components_ if len(part.label) == 1])
        self.periods_ = periods / step
        whole = np.rint(self.periods_).astype(int)
        self.sp_significant_ = np.array([sp for sp in dict.fromkeys(whole) if sp > 1], dtype=int)
        self.sp_ = int(self.sp_significant_[0]) if len(self.sp_significant_) else 1
        return self

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return parameters with which sktime tests the class."""
        return [{}, {"false_alarm": 0.05}]


def times_of(index: pd.Index) -> Any:
    """Return an index as `PeriodicMixture` takes times: dates as they are, others as numbers."""
    if isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
        return index
    return index.to_numpy(dtype=float)


def _plain(X: pd.DataFrame | None) -> pd.DataFrame | None:
    return None if X is None else X.reset_index(drop=True)
