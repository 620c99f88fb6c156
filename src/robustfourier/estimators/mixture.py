"""PeriodicMixture: the periods that are really there, and the shape of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.estimators.unmixed import Unmixed
from robustfourier.estimators.validation import (
    check_row_weights,
    check_targets,
    counted_rows,
    error_precision,
    seed_sequence,
    span_columns,
    theta_columns,
    time_columns,
    without_masked_rows,
)
from robustfourier.mixture.fit import fit_columns
from robustfourier.mixture.least_squares.error_bands import lengths
from robustfourier.mixture.model import LevelShift, mode_table, shares
from robustfourier.mixture.scale import fit_on_scale, from_log
from robustfourier.mixture.series import Settings
from robustfourier.rows import weighted_deviation

__all__ = ["PeriodicMixture", "Unmixed"]


MOST_MODES = 2_000_000  # a periodogram of more would not fit into memory
_TAILS = 1.5  # how much larger than its core the whole noise is when `summary` says so
_LEAST_MODE = 1e-3  # of a known period: one that is longer than a thousand records is a level


class PeriodicMixture(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A sum of repeating patterns with unknown periods and shapes, plus a trend and noise.

    From samples at any times it finds the periods that noise cannot explain, groups harmonics into
    patterns, and estimates the waveform of each. There is no bandwidth, threshold, number of modes
    or list of periods to give.

    Parameters
    ----------
    frequencies : {"real", "integer"}, default "real"
        "integer" for data known to be periodic over the span: only whole numbers of cycles.
    periods : array-like of float, optional
        Periods known to be there, in the unit of time; the rest is searched for. With several
        columns, for the first.
    max_frequency : float, optional
        Highest frequency to search, in cycles per unit of time. Default: the Nyquist frequency of
        even sampling; for irregular sampling a rule that `notes_` tells.
    level : float, default 0.01
        False-alarm probability: how often noise alone may show one mode or more.
    loss : {"auto", "squared", "huber"}, default "auto"
        "huber" pulls outliers in, "auto" does so where it lowers the variance of the estimates.
    scale : {"auto", "linear", "log"}, default "auto"
        "log" fits the logarithm of the values, where trend, patterns and noise multiply. "auto"
        does so where all values are positive, no ``y_err`` is given and held-out blocks prefer it
        by a thousand to one; `notes_` then says so. See Notes.
    span : float or timedelta, optional
        Length of the record where it is known, in the unit of time; by default the extent of the
        times. Matters for ``frequencies="integer"``.
    endpoint : {"included", "excluded"}, default "included"
        "excluded" if evenly spaced samples cover the span once and the last one is not its end,
        such as 24 hourly values of a day.
    unit : str, optional
        For dates one of second, minute, hour, day (default), week; for numbers a label.
    random_state : int, Generator or None, default 0
        Chooses the samples that stop the diagonal flow, the first proposer of modes.

    Attributes
    ----------
    modes_ : ModeTable
        Significant modes by component: period, frequency, amplitude, phase, each with its standard
        error; false_alarm, component, harmonic, label.
    components_ : tuple of Component
        One record per repeating pattern, the strongest first, combination tones last.
    noise_ : float, or ndarray of shape (q,)
        Standard deviation of what is left, with outliers pulled in: the core of the noise. On the
        scale "log" a part of the value, 0.05 for 5 %.
    scatter_ : float, or ndarray of shape (q,)
        Standard deviation of all that is left. Where it is larger than `noise_` there are
        outliers, or the noise has heavy tails.
    steps_ : tuple of LevelShift
        Jumps of the level, with time, size and standard error; part of the trend.
    scale_ : {"linear", "log"}
        The scale that was taken.
    notes_ : tuple of str
        How far was searched and why, possible aliases, limits that were met.
    domains_ : tuple of Domain
        One per column: user time to θ.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X had column names

    Notes
    -----
    Measurement errors of each sample go to `fit` as ``y_err``; only their ratios matter, since the
    noise level is estimated. ``predict(return_std=True)`` gives the standard error of the
    *function*, averaged over the noise and over what is unknown of frequencies and shapes; a new
    measurement scatters by ``noise_`` on top. Beyond the record patterns go on, the trend goes on
    as a straight line, and errors grow.

    On the scale "log", `modes_`, `components_`, `steps_` and `noise_` tell of log y: a waveform of
    0.1 is a factor of e^0.1, about 10 % more, and shares are shares of the variation of log y.
    `predict` and `unmix` speak in the unit of y. The prediction is then the *median* of new
    measurements, below and above which half of them lie; their mean is ``exp(noise_ ** 2 / 2)``
    times as high. Its standard error is the prediction times that of log y (delta method).
    ``y_err`` is always in the unit of y; with several outputs it belongs to the geometric mean of a
    row.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> t = np.sort(rng.uniform(0, 100, 600))
    >>> sawtooth = 2 * (t / 7 % 1) - 1
    >>> y = sawtooth + 0.5 * np.cos(2 * np.pi * t / 3.1) + 0.3 * rng.normal(size=600)
    >>> model = PeriodicMixture().fit(t, y)
    >>> [round(component.period, 1) for component in model.components_]
    [7.0, 3.1]
    >>> model.components_[0].harmonics[:3]
    array([1, 2, 3])
    >>> parts = model.unmix(t)
    >>> bool(np.allclose(parts.total, model.predict(t)))
    True
    """

    def __init__(
        self,
        *,
        frequencies: Literal["real", "integer"] = "real",
        periods: ArrayLike | None = None,
        max_frequency: float | None = None,
        level: float = 0.01,
        loss: Literal["auto", "squared", "huber"] = "auto",
        scale: Literal["auto", "linear", "log"] = "auto",
        span: Any = None,
        endpoint: Literal["included", "excluded"] = "included",
        unit: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.frequencies = frequencies
        self.periods = periods
        self.max_frequency = max_frequency
        self.level = level
        self.loss = loss
        self.scale = scale
        self.span = span
        self.endpoint = endpoint
        self.unit = unit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, y_err: Any = None) -> PeriodicMixture:
        """Find modes, components and trend.

        Parameters
        ----------
        X : array-like of shape (n,), (n, 1) or (n, d)
            Times: numbers or dates, in any order and spacing. Several columns add up: f(x₁) + …
        y : array-like of shape (n,) or (n, q)
            Values. Several outputs share the modes and have their own amplitudes.
        sample_weight : array-like of shape (n,), optional
            Weight 2 is the row twice; a row of weight 0 is not there. Only ratios matter: weights
            are scaled to sum to the number of rows that they are worth, (Σw)² / Σw² with equal
            rows added up. Rows that dominate all others are lowered, and `notes_` says so.
        y_err : array-like of shape (n,), optional
            Standard errors of the values, up to a common factor.

        Returns
        -------
        PeriodicMixture
        """
        with _input_errors():
            X, y, sample_weight, y_err = without_masked_rows(X, y, sample_weight, y_err)
            columns = time_columns(_as_table(X), self)
            values = check_targets(y, len(columns[0]), self)
        weights = check_row_weights(sample_weight, len(values))
        domains = span_columns(columns, weights > 0, self.span, self.endpoint, self.unit)
        precision = error_precision(weights, y_err, values if self.scale == "log" else None)
        theta, targets, weights, weighing = counted_rows(
            theta_columns(columns, domains), values.reshape(len(values), -1), weights, precision
        )
        settings = self._settings(domains)
        # Errors in the unit of y say that noise adds.
        scale = "linear" if self.scale == "auto" and y_err is not None else self.scale
        fit = fit_on_scale(
            scale,
            lambda values: fit_columns(domains, theta, values, weights, settings),
            theta,
            targets,
            weights,
        )
        models = fit.models

        _check_n_features(self, _as_table(X), reset=True)
        _check_feature_names(self, _as_table(X), reset=True)
        share = shares(models)
        bases = np.cumsum([0] + [len(model.bases) for model in models])
        self.models_ = tuple(models)
        self.domains_ = tuple(domains)
        self.single_output_ = values.ndim == 1
        self.components_ = tuple(
            component
            for column, model in enumerate(models)
            for component in model.components(share[column], int(bases[column]), column)
        )
        self.modes_ = mode_table(models, self.single_output_)
        self.noise_ = float(models[-1].noise[0]) if self.single_output_ else models[-1].noise
        left = fit.values - sum(m.evaluate(theta[:, j]) for j, m in enumerate(models))
        scatter = weighted_deviation(left, weights)
        self.scatter_ = float(scatter[0]) if self.single_output_ else scatter
        self.scale_ = fit.scale
        self.steps_ = tuple(shift for model in models for shift in model.level_shifts())
        steps = tuple(_step_note(shift, self._multiplies) for shift in self.steps_)
        searched = tuple(note for found in fit.found for note in found.notes)
        self.notes_ = weighing + fit.notes + steps + searched
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the function at new times, with standard errors if asked.

        On the scale "log" that is the median of new measurements, in the unit of y.

        Parameters
        ----------
        X : array-like of the kind given to `fit`
        return_std : bool
            Whether to return the standard error of the function too.

        Returns
        -------
        ndarray of shape (n,) or (n, q), or a pair of them
        """
        theta = self._theta(X)
        values = sum(m.evaluate(theta[:, j]) for j, m in enumerate(self.models_))
        values = from_log(values) if self._multiplies else values
        if not return_std:
            return self._shaped(values)
        errors = [m.errors_at(theta[:, j]) for j, m in enumerate(self.models_)]
        std = lengths(np.stack(errors, axis=-1))
        return self._shaped(values), self._shaped(values * std if self._multiplies else std)

    def unmix(self, X: Any) -> Unmixed:
        """Return the value of each component and of the trend at new times.

        Returns
        -------
        Unmixed
            With arrays `trend` and `components`, which add up to `predict`. On the scale "log" the
            trend is in the unit of y, components are factors, and their product is `predict`.
        """
        theta = self._theta(X)
        trend = sum(m.trend_at(theta[:, j]) for j, m in enumerate(self.models_))
        parts = [m.components_at(theta[:, j]) for j, m in enumerate(self.models_)]
        components = np.concatenate(parts, axis=1)
        if self.single_output_:
            components = components[:, :, 0]
        labels = tuple(component.label for component in self.components_)
        if self._multiplies:
            return Unmixed(self._shaped(from_log(trend)), from_log(components), labels, "log")
        return Unmixed(self._shaped(trend), components, labels)

    def summary(self) -> str:
        """Return what was found, in words and a table."""
        check_is_fitted(self)
        counts = f"components: {len(self.components_)}, modes: {len(self.modes_)}"
        lines = [f"PeriodicMixture, {counts}"]
        lines += [f"  {component!r}" for component in self.components_]
        relative = " of the value" if self._multiplies else ""
        lines.append(f"noise: {np.array2string(np.asarray(self.noise_), precision=4)}{relative}")
        scatter = getattr(self, "scatter_", self.noise_)  # models of version 0.1 have none
        if np.any(scatter > _TAILS * self.noise_):
            lines[-1] += f"; with its tails {np.array2string(np.asarray(scatter), precision=4)}"
        lines += [f"note: {note}" for note in self.notes_]
        return "\n".join([*lines, "", str(self.modes_)])

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw the fit; see `robustfourier.plots`."""
        from robustfourier import plots

        return plots.plot_model(self, *args, **kwargs)

    def save(self, path: Any) -> None:
        """Save the fitted model to a file that `robustfourier.load` reads."""
        from robustfourier.persistence import save

        check_is_fitted(self)
        save(self, path)

    def _settings(self, domains: list[Domain]) -> list[Settings]:
        """Check the parameters and turn units into modes, one record per column."""
        _require_number("level", self.level)
        if self.max_frequency is not None:
            _require_number("max_frequency", self.max_frequency)
        if not (self.unit is None or (isinstance(self.unit, str) and self.unit.isprintable())):
            raise InputError(f"unit={self.unit!r} must be text, such as 'day', or None")
        (seed,) = seed_sequence(self.random_state, 1)
        return [
            Settings(
                level=self.level,
                frequencies=self.frequencies,
                loss=self.loss,
                modes=_known_modes(domain, self.periods) if column == 0 else np.zeros(0),
                max_mode=_highest_mode(domain, self.max_frequency),
                seed=seed,
            )
            for column, domain in enumerate(domains)
        ]

    def _theta(self, X: Any) -> FloatArray:
        """Times as θ, one column per column of `fit`."""
        check_is_fitted(self)
        table = X if self.n_features_in_ > 1 else _as_table(X)
        _check_feature_names(self, table, reset=False)
        with _input_errors():
            columns = time_columns(table, self)
            _check_n_features(self, table, reset=False)
        return theta_columns(columns, list(self.domains_))

    @property
    def _multiplies(self) -> bool:
        """Whether the logarithm was fitted; models saved by version 0.1 know no scale."""
        return getattr(self, "scale_", "linear") == "log"

    def _shaped(self, values: Any) -> FloatArray:
        return np.asarray(values[:, 0] if self.single_output_ else values)


@contextmanager
def _input_errors() -> Iterator[None]:
    """Turn scikit-learn's complaints about arrays into `InputError`, which they already are."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


def _step_note(shift: LevelShift, multiplies: bool) -> str:
    if multiplies:
        factor = from_log(shift.size)
        words = _with_error(factor, factor * shift.error)
        return f"level shift by a factor of {words} at {shift.time}"
    return f"level shift of {_with_error(shift.size, shift.error, '+')} at {shift.time}"


def _with_error(values: FloatArray, errors: FloatArray, sign: str = "") -> str:
    """Numbers, one per output, in words."""
    pairs = zip(values, errors, strict=True)
    return " and ".join(f"{value:{sign}.4g} ± {error:.2g}" for value, error in pairs)


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InputError(f"{name}={value!r} must be a positive finite number")


def _known_modes(domain: Domain, periods: Any) -> FloatArray:
    """Modes of the known periods, each once, or a clear word."""
    try:
        values = np.asarray([] if periods is None else periods, np.float64).ravel()
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"periods={periods!r} must all be positive finite numbers")
    shortest, longest = domain.span / MOST_MODES, domain.span / _LEAST_MODE
    for value in values:
        if not shortest <= value <= longest:
            raise InputError(
                f"periods has {value:g}, but from times that span {domain.span:.6g} only periods "
                f"from {shortest:.3g} to {longest:.3g} can be fitted; check the unit of time"
            )
    _, first = np.unique(values, return_index=True)
    return domain.mode(1.0 / values[np.sort(first)])


def _highest_mode(domain: Domain, max_frequency: float | None) -> float | None:
    if max_frequency is None:
        return None
    mode = float(domain.mode(max_frequency))
    if mode > MOST_MODES:
        raise InputError(
            f"max_frequency={max_frequency!r} makes {mode:.3g} cycles over the record; at most "
            f"{MOST_MODES} can be searched: lower it"
        )
    return mode


def _as_table(X: Any) -> Any:
    """One column of times as a table of one column; anything else as it is."""
    if isinstance(X, pd.Index):
        X = X.to_series()
    if isinstance(X, pd.Series):
        return X.to_frame()
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):  # a polars series
        return X.to_frame()
    if isinstance(X, (list, tuple)) and len(X) and not np.ndim(X[0]):
        X = np.asarray(X)
    return X.reshape(-1, 1) if isinstance(X, np.ndarray) and X.ndim == 1 else X
