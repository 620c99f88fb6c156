"""Forecasts of many series in frames of ``unique_id, ds, y``, as the libraries of Nixtla have them.

Frames go in and come out as with `StatsForecast`: ``fit``, ``predict``, ``forecast`` and
``cross_validation``, columns ``-lo-90`` and ``-hi-90`` for intervals, other columns as regressors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import InputError
from robustfourier.estimators.forecasting import forecast_quantile
from robustfourier.estimators.mixture import PeriodicMixture


class PeriodicMixtureForecast:
    """`PeriodicMixture` for each series of a frame.

    Parameters
    ----------
    alias : str, default "PeriodicMixture"
        Name of the column of forecasts.
    id_col, time_col, target_col : str
        Names of the columns that tell series apart, of times and of values. All other columns
        are regressors, see `PeriodicMixture.fit`.
    **parameters
        Of `PeriodicMixture`.

    Examples
    --------
    >>> n = np.arange(96)
    >>> y = 10 + 3 * np.cos(2 * np.pi * n / 12) + 0.1 * np.random.default_rng(0).normal(size=96)
    >>> ds = pd.date_range("2016-01-01", periods=96, freq="MS")
    >>> frame = pd.DataFrame({"unique_id": "a", "ds": ds, "y": y})
    >>> ahead = PeriodicMixtureForecast().fit(frame).predict(h=2, level=[90])
    >>> list(ahead)
    ['unique_id', 'ds', 'PeriodicMixture', 'PeriodicMixture-lo-90', 'PeriodicMixture-hi-90']
    >>> ahead["ds"].dt.strftime("%Y-%m").tolist()
    ['2024-01', '2024-02']
    """

    def __init__(
        self,
        alias: str = "PeriodicMixture",
        *,
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
        **parameters: Any,
    ) -> None:
        self.alias = alias
        self.id_col, self.time_col, self.target_col = id_col, time_col, target_col
        self.parameters = parameters

    def fit(self, df: pd.DataFrame) -> PeriodicMixtureForecast:
        """Fit a model to each series; `models_` holds them by name."""
        self.models_ = {name: self._fitted(part) for name, part in self._series(df)}
        return self

    def predict(
        self,
        h: int,
        X_df: pd.DataFrame | None = None,
        level: Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> pd.DataFrame:
        """Return the next `h` steps of each series.

        Parameters
        ----------
        h : int
        X_df : DataFrame, optional
            Regressors at the times of the forecast, with the columns of series and times.
        level : sequence of float, optional
            Coverages of intervals in percent, such as [80, 95].
        quantiles : sequence of float, optional
            Between 0 and 1; columns ``-q-0.1``.
        """
        if not hasattr(self, "models_"):
            raise InputError("predict needs a fit before it; call fit(df)")
        frames = [
            self._ahead(name, model, h, X_df, level, quantiles)
            for name, model in self.models_.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def forecast(
        self,
        df: pd.DataFrame,
        h: int,
        X_df: pd.DataFrame | None = None,
        level: Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> pd.DataFrame:
        """Fit and predict."""
        return self.fit(df).predict(h, X_df, level, quantiles)

    def cross_validation(
        self,
        df: pd.DataFrame,
        h: int,
        n_windows: int = 1,
        step_size: int = 1,
        level: Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> pd.DataFrame:
        """Return forecasts from several origins beside what came: columns ``cutoff`` and ``y``.

        Parameters
        ----------
        df : DataFrame
        h : int
            Steps of each forecast.
        n_windows, step_size : int
            How many origins, and steps from one to the next; the last forecast ends with the
            series.
        level, quantiles
            As of `predict`.
        """
        windows = [
            self._window(name, part, h, (n_windows - 1 - w) * step_size, level, quantiles)
            for name, part in self._series(df)
            for w in range(n_windows)
        ]
        return pd.concat(windows, ignore_index=True)

    def _window(
        self,
        name: Any,
        part: pd.DataFrame,
        h: int,
        after: int,
        level: Sequence[float] | None,
        quantiles: Sequence[float] | None,
    ) -> pd.DataFrame:
        """One origin of one series: `after` rows follow the forecast."""
        end = len(part) - after
        if end - h < 2:
            raise InputError(
                f"{self.id_col}={name!r} has {len(part)} rows, too few for h={h} and {after} rows "
                "after; take fewer windows or a shorter h"
            )
        known, new = part.iloc[: end - h], part.iloc[end - h : end]
        model = self._fitted(known)
        frame = self._columns(model, level, quantiles, new[self.time_col], self._regressors(new))
        front = pd.DataFrame(
            {
                self.id_col: name,
                self.time_col: new[self.time_col].to_numpy(),
                "cutoff": known[self.time_col].iloc[-1],
                self.target_col: new[self.target_col].to_numpy(),
            }
        )
        return pd.concat([front, frame], axis=1)

    def _series(self, df: pd.DataFrame) -> Iterator[tuple[Any, pd.DataFrame]]:
        needed = (self.id_col, self.time_col, self.target_col)
        if missing := [name for name in needed if name not in df]:
            raise InputError(
                f"df has no column {missing[0]!r}; rename it, or give id_col, time_col, target_col"
            )
        for name, part in df.groupby(self.id_col, sort=True):
            yield name, part.sort_values(self.time_col)

    def _regressors(self, part: pd.DataFrame) -> pd.DataFrame | None:
        keys = {self.id_col, self.time_col, self.target_col}
        others = [name for name in part if name not in keys]
        return part[others].reset_index(drop=True) if others else None

    def _fitted(self, part: pd.DataFrame) -> PeriodicMixture:
        model = PeriodicMixture(**self.parameters)
        times = _times(part[self.time_col])
        values = part[self.target_col].to_numpy(dtype=float)
        return model.fit(times, values, regressors=self._regressors(part))

    def _ahead(
        self,
        name: Any,
        model: PeriodicMixture,
        h: int,
        X_df: pd.DataFrame | None,
        level: Sequence[float] | None,
        quantiles: Sequence[float] | None,
    ) -> pd.DataFrame:
        columns = None
        times = pd.Series(model.without_regressors().forecast(h).times)
        if X_df is not None:
            columns = self._regressors(self._rows(X_df, name, times))
        frame = self._columns(model, level, quantiles, times, columns)
        front = pd.DataFrame({self.id_col: name, self.time_col: times.to_numpy()})
        return pd.concat([front, frame], axis=1)

    def _rows(self, X_df: pd.DataFrame, name: Any, times: pd.Series) -> pd.DataFrame:
        """Rows of a frame of regressors for the times of one series."""
        own = X_df[X_df[self.id_col] == name].drop_duplicates(self.time_col)
        own = own.set_index(self.time_col)
        lacking = ~times.isin(own.index)
        if lacking.any():
            raise InputError(
                f"X_df lacks {int(lacking.sum())} of the {len(times)} times of "
                f"{self.id_col}={name!r}, the first is {times[lacking].iloc[0]}"
            )
        return own.loc[times].reset_index()

    def _columns(
        self,
        model: PeriodicMixture,
        level: Sequence[float] | None,
        quantiles: Sequence[float] | None,
        times: pd.Series,
        regressors: pd.DataFrame | None,
    ) -> pd.DataFrame:
        """Forecast, intervals and quantiles."""
        if model.regressors_ is None:
            regressors = None
        when = {"times": _times(times), "regressors": regressors}
        frame = {self.alias: model.forecast(**when).mean}
        for percent in level or ():
            ahead = model.forecast(**when, coverage=percent / 100.0)
            frame[f"{self.alias}-lo-{percent:g}"] = ahead.lower
            frame[f"{self.alias}-hi-{percent:g}"] = ahead.upper
        for q in quantiles or ():
            frame[f"{self.alias}-q-{q:g}"] = forecast_quantile(model, q, **when)
        return pd.DataFrame(frame)


def _times(column: pd.Series) -> Any:
    """Return times as `PeriodicMixture` takes them."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return pd.DatetimeIndex(column)
    return np.asarray(column, dtype=float)
