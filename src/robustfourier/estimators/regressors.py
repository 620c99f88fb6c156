r"""Regressors: other columns, such as temperature, price or holidays, in the joint fit.

.. math:: y = trend + lines + \sum_j β_j (x_j - \bar x_j) + residual

Lines and regressors share what they explain: a yearly line and temperature both have a year. So the
coefficients come from generalised least squares with trend, lines and regressors as columns and the
residual Gaussian process as noise, and lines are searched in what the regressors leave, in turn,
until the coefficients stay. A regressor stays if chance alone would hardly explain as much, at the
same level as a line. On the scale "log" effects are factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2
from sklearn.base import clone

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.errors import InputError, MissingDependencyError
from robustfourier.estimators.inputs import kept_rows, taken_apart
from robustfourier.estimators.times import time_index
from robustfourier.formatting import number, percent, probability
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.search.robust import robust_scale
from robustfourier.periodic.kernels import Kernel
from robustfourier.periodic.residual_process import redescending
from robustfourier.periodic.semidefinite import pseudo_inverse
from robustfourier.periodic.semiseparable import normal_equations

_SWEEPS = 4  # at most, of lines and regressors in turn
_SETTLED = 0.25  # standard errors: coefficients that change by less have settled


@dataclass(frozen=True, eq=False)
class RegressorEffects:
    """What regressors do to the values.

    Parameters
    ----------
    names : tuple of str
    centre : ndarray of shape (p,)
        Their means; at these the effects are zero.
    coefficients : ndarray of shape (p, q)
        Change of the values, or of their logarithms, for one unit; zero for those left out.
    covariance : ndarray of shape (q, p, p)
        Of the coefficients.
    false_alarm : ndarray of shape (p,)
        Probability that chance explains as much.
    share : ndarray of shape (p, q)
        Of the variance of the values that each accounts for.
    """

    names: tuple[str, ...]
    centre: FloatArray
    coefficients: FloatArray
    covariance: FloatArray
    false_alarm: FloatArray
    share: FloatArray

    @property
    def used(self) -> BoolArray:
        """Which regressors are part of the model, shape (p,)."""
        return np.any(self.coefficients != 0, axis=1)

    def mean(self, table: FloatArray) -> FloatArray:
        """Return the effect of all of them, shape (n, q), for a table of shape (n, p)."""
        return (table - self.centre) @ self.coefficients

    def variance(self, table: FloatArray) -> FloatArray:
        """Return its variance, shape (n, q)."""
        off = table - self.centre
        return np.einsum("ni,qij,nj->nq", off, self.covariance, off)

    def to_frame(self) -> pd.DataFrame:
        """Return a table by name: coefficient, its error, false-alarm probability and share."""
        errors = np.sqrt(np.einsum("qii->iq", self.covariance))
        columns = {"coefficient": self.coefficients, "error": errors, "share": self.share}
        several = self.coefficients.shape[1] > 1
        frame = {
            f"{name} {o}" if several else name: values[:, o]
            for name, values in columns.items()
            for o in range(values.shape[1])
        }
        return pd.DataFrame(
            {**frame, "false_alarm": self.false_alarm}, index=pd.Index(self.names, name="regressor")
        )

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on each regressor."""
        errors = np.sqrt(np.einsum("qii->iq", self.covariance))
        sentences = []
        for j, name in enumerate(self.names):
            chance = probability(float(self.false_alarm[j]))
            if not self.used[j]:
                sentences.append(
                    f"regressor {name!r} is left out: chance explains as much ({chance})"
                )
                continue
            pairs = zip(self.coefficients[j], errors[j], strict=True)
            values = ", ".join(f"{number(b, 3)} ± {number(e, 2)}" for b, e in pairs)
            shares = ", ".join(percent(float(share)) for share in self.share[j])
            sentences.append(
                f"regressor {name!r}: {values} for one unit, {shares} of the variance, "
                f"false alarm {chance}"
            )
        return tuple(sentences)


def regressor_table(given: Any, count: int) -> pd.DataFrame:
    """Return regressors, a column for each, as a table of numbers with names and `count` rows."""
    frame = given.to_frame() if isinstance(given, pd.Series) else given
    if not isinstance(frame, pd.DataFrame):
        made = frame if isinstance(frame, dict) else np.asarray(frame)
        made = made[:, None] if isinstance(made, np.ndarray) and made.ndim == 1 else made
        frame = pd.DataFrame(made)
        if not isinstance(given, dict):
            frame.columns = [f"x{j + 1}" for j in range(frame.shape[1])]
    if len(frame) != count:
        raise InputError(
            f"regressors has {len(frame)} rows for {count} times; give a row for each time"
        )
    columns = {}
    for name in frame.columns:
        try:
            columns[str(name)] = frame[name].to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            raise InputError(
                f"regressors has the column {name!r}, which is no number; give numbers, such as "
                "0 and 1 for no and yes"
            ) from None
    return pd.DataFrame(columns, index=frame.index)


def fit_with_regressors(
    estimator: Any, X: Any, y: Any, sample_weight: Any, y_err: Any, regressors: Any
) -> Any:
    """Fit a `PeriodicMixture` and the effects of regressors in turn; parameters as of its `fit`."""
    if y is None:
        X, y, own = taken_apart(X)
        y_err = own if y_err is None else y_err
    y = np.asarray(y, dtype=float)
    table = with_holidays(estimator.holidays, X, regressors, len(y))
    whole = np.isfinite(table.to_numpy()).all(axis=1)
    if not whole.any():
        raise InputError("regressors has a missing number in every row; leave such columns out")
    rows = np.flatnonzero(whole)
    columns = (X, y, sample_weight, y_err)
    X, y, sample_weight, y_err = (kept_rows(column, rows, len(whole)) for column in columns)
    table = table[whole]
    if np.ndim(X) > 1 and np.shape(X)[1] > 1:
        raise InputError(f"regressors go with one column of times; X has {np.shape(X)[1]}")
    model = clone(estimator).set_params(holidays=None).fit(X, y, sample_weight, y_err)
    effects = joint_effects(model, X, y, table)
    for _ in range(_SWEEPS):
        model.set_params(scale=model.scale_)
        model.fit(X, _without(y, effects, table, model.scale_), sample_weight, y_err)
        before, effects = effects, joint_effects(model, X, y, table, effects)
        if _settled(before, effects):
            break
    own = estimator.get_params(deep=False)
    vars(estimator).update({k: v for k, v in vars(model).items() if k not in own})
    estimator.regressors_ = effects
    estimator.notes_ = (*model.notes_, *effects.sentences())
    if missing := int((~whole).sum()):
        estimator.notes_ += (f"{missing} of {len(whole)} rows lack a regressor: left out",)
    return estimator


def with_holidays(country: str | None, times: Any, regressors: Any, count: int) -> pd.DataFrame:
    """Return the regressors, those of the calendar behind those that are given."""
    table = pd.DataFrame(index=range(count))
    if regressors is not None:
        table = regressor_table(regressors, count)
    if country is None:
        return table
    days = holiday_column(time_index(times), country)
    return table.assign(**{f"holiday {country}": np.asarray(days)})


def holiday_column(times: pd.Index, country: str) -> FloatArray:
    """Return 1 for times on a public holiday, on the clock of the times, and 0 for others.

    `country` is an ISO code, such as "DE", or one with a part of the country, such as "DE-BY".
    """
    if isinstance(times, pd.PeriodIndex):
        times = times.to_timestamp()
    if not isinstance(times, pd.DatetimeIndex):
        raise InputError(f"holidays={country!r} needs dates; times are {times.dtype}")
    try:
        import holidays
    except ImportError:
        raise MissingDependencyError(
            f"holidays={country!r} needs the package holidays; install it with: "
            'pip install "robustfourier[holidays]"'
        ) from None
    name, _, part = country.partition("-")
    years = range(int(times.year.min()), int(times.year.max()) + 1)
    try:
        days = holidays.country_holidays(name, subdiv=part or None, years=years)
    except NotImplementedError:
        raise InputError(
            f'holidays={country!r} is no country that holidays knows; give a code such as "DE"'
        ) from None
    known = {day.toordinal() for day in days}
    return np.array([float(day.toordinal() in known) for day in times.date])


def _settled(before: RegressorEffects, after: RegressorEffects) -> bool:
    errors = np.sqrt(np.einsum("qii->iq", after.covariance))
    change = np.abs(after.coefficients - before.coefficients)
    return bool(np.all(change <= _SETTLED * errors))


def _without(
    values: FloatArray, effects: RegressorEffects, table: pd.DataFrame, scale: str
) -> FloatArray:
    """Return values with the effects taken off."""
    effect = effects.mean(table.to_numpy()).reshape(values.shape)
    return values / np.exp(effect) if scale == "log" else values - effect


def joint_effects(
    model: Any,
    times: Any,
    values: FloatArray,
    table: pd.DataFrame,
    present: RegressorEffects | None = None,
) -> RegressorEffects:
    """Return the effects by generalised least squares, with trend and lines as columns.

    The model was fitted to the values, shape (n,) or (n, q), without the present effects.
    """
    y = values.reshape(len(values), -1)
    y = np.log(y) if model.scale_ == "log" else y
    theta, columns = model._theta(times)[:, 0], table.to_numpy()
    use = np.isfinite(y).all(axis=1) & np.isfinite(theta)
    order = np.flatnonzero(use)[np.argsort(theta[use], kind="stable")]
    theta, y, columns = theta[order], y[order], columns[order]
    centre = columns.mean(axis=0)
    taken = 0.0 if present is None else present.mean(columns)
    left = y - taken - model.models_[0].evaluate(theta)
    chosen = np.ptp(columns, axis=0) > 0
    p, q = columns.shape[1], y.shape[1]
    alarm = np.ones(p)
    while True:
        fits = [
            _least_squares(model.models_[0], theta, y[:, o], (columns - centre)[:, chosen], left, o)
            for o in range(q)
        ]
        squares = np.array([b**2 / np.diag(c) for b, c in fits]).sum(axis=0)
        alarm[chosen] = chi2.sf(squares, q)
        worst = int(np.argmax(np.where(chosen, alarm, -1.0)))
        if not chosen.any() or alarm[worst] <= model.false_alarm:
            break
        chosen[worst] = False
    coefficients, covariance = np.zeros((p, q)), np.zeros((q, p, p))
    for o, (b, c) in enumerate(fits):
        coefficients[chosen, o] = b
        covariance[o][np.ix_(chosen, chosen)] = c
    share = (coefficients * columns.std(axis=0)[:, None]) ** 2 / np.maximum(y.var(axis=0), 1e-300)
    return RegressorEffects(tuple(map(str, table)), centre, coefficients, covariance, alarm, share)


def _least_squares(
    model: ColumnModel,
    theta: FloatArray,
    values: FloatArray,
    columns: FloatArray,
    left: FloatArray,
    o: int,
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the columns and their covariance, trend and lines fitted along."""
    scale = robust_scale(left[:, [o]], np.ones(len(left)))
    kernel, white = Kernel.zero(), max(float(scale[0]), 1e-300)
    if model.remainder is not None:
        kernel, white = model.remainder.parts[o].kernel, float(model.remainder.white[o])
    around = left[:, o] - (0.0 if model.remainder is None else model.remainder.mean(theta)[:, o])
    noise = white**2 / redescending(around / white)
    phase = np.pi * np.multiply.outer(theta, model.lines.mode)
    beside = [model.trend_columns(theta), np.cos(phase), np.sin(phase)]
    design = np.column_stack([values, columns, *beside])
    products, _ = normal_equations(kernel, theta, noise, design)
    covariance = pseudo_inverse(products[1:, 1:])
    p = columns.shape[1]
    return (covariance @ products[1:, 0])[:p], covariance[:p, :p]


def effects_at(model: Any, times: Any, regressors: Any) -> tuple[FloatArray, FloatArray]:
    """Return the effect of regressors at times and its variance, shape (n, q) each."""
    effects: RegressorEffects = model.regressors_
    count = len(times)
    table = with_holidays(model.holidays, times, regressors, count)
    holiday = f"holiday {model.holidays}"
    if regressors is not None and not isinstance(regressors, pd.DataFrame | pd.Series | dict):
        given = [name for name in effects.names if name != holiday]
        table = table.rename(columns=dict(zip(table.columns, given, strict=False)))
    needed = [n for n, used in zip(effects.names, effects.used, strict=True) if used]
    if missing := [name for name in needed if name not in table]:
        raise InputError(
            f"the model needs {', '.join(map(repr, missing))} at the {count} times; give "
            "regressors=… with a row for each time"
        )
    table = table.reindex(columns=list(effects.names))
    unused = ~effects.used
    values = np.where(unused, effects.centre, table.to_numpy())
    if not np.isfinite(values).all():
        lacking = np.flatnonzero(~np.isfinite(values).all(axis=0))
        bad = [effects.names[j] for j in lacking]
        raise InputError(
            f"regressors has missing numbers in {', '.join(map(repr, bad))}; give all of them"
        )
    return effects.mean(values), effects.variance(values)
