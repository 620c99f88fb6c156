"""PeriodicMixture: the periods that are really there, and the shape of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from robustfourier.arrays import FloatArray
from robustfourier.concurrency import one_blas_thread
from robustfourier.errors import InputError
from robustfourier.estimators.base import EstimatorBase, all_or_nothing
from robustfourier.estimators.calendar_steps import CalendarStep
from robustfourier.estimators.components import Components, typical_level
from robustfourier.estimators.decomposition import Decomposition
from robustfourier.estimators.forecasting import Forecast, forecast_of, value_kind
from robustfourier.estimators.inputs import given_data
from robustfourier.estimators.parameters import settings_of
from robustfourier.estimators.regressors import RegressorEffects, effects_at, fit_with_regressors
from robustfourier.estimators.times import as_table, is_flat, time_index
from robustfourier.estimators.validation import (
    check_row_weights,
    check_targets,
    constant_outputs,
    counted_rows,
    error_precision,
    every_output,
    input_errors,
    span_columns,
    theta_columns,
    time_columns,
)
from robustfourier.mixture.fit import begin_columns
from robustfourier.mixture.model import mode_table, shares
from robustfourier.mixture.posterior import with_processes
from robustfourier.mixture.transform import fit_on_scale, from_log
from robustfourier.periodic.basis import Breakpoint
from robustfourier.periodic.residual_process import Remainder
from robustfourier.periodic.uncertainty import lengths
from robustfourier.weighted_rows import weighted_deviation

_TAILS = 1.5  # how much larger than its core the whole noise is when `summary` says so


class PeriodicMixture(MultiOutputMixin, RegressorMixin, EstimatorBase):
    """A sum of repeating patterns with unknown periods and shapes, plus a trend and noise.

    From samples at any times it finds the periods that noise cannot explain, groups harmonics into
    patterns, and estimates the waveform of each. There is no bandwidth, threshold, number of modes
    or list of periods to give.

    Parameters
    ----------
    frequencies : {"real", "integer"}, default "real"
        "integer" for data known to be periodic over the span: only whole numbers of cycles.
    periods : list of float, str or timedelta, optional
        Periods known to be there: in the unit of time, or as ``"7D"``, ``"12h"``, ``"1 year"``;
        the rest is searched for. With several columns, for the first.
    max_frequency : float, optional
        Highest frequency to search, in cycles per unit of time. Default: the Nyquist frequency of
        even sampling; for irregular sampling a rule that `notes_` names.
    min_frequency : float, optional
        Lowest frequency to search; by default 1.5 cycles over the record.
    without : list of float, str or timedelta, optional
        Periods at which no line is taken, with two modes to either side; what is there stays in the
        residual, and a strong line leaves its shadow beside the closed place.
    split : list of float, str or timedelta, optional
        Periods of patterns to be taken apart: each of their lines is a pattern of its own.
    merge : list of pairs, optional
        Periods of two patterns each that are to be one, with a common longer period.
    false_alarm : float, default 0.01
        Probability of a false alarm: how often noise alone may show one mode or more.
    loss : {"auto", "squared", "huber"}, default "auto"
        "huber" pulls outliers in, "auto" does so where it lowers the variance of the estimates.
    scale : {"auto", "linear", "log"}, default "auto"
        "log" fits the logarithm of the values, where trend, patterns and noise multiply. "auto"
        does so where all values are positive, no ``y_err`` is given and the evidence prefers it by
        a thousand to one; `notes_` then says so. See Notes.
    span : float or timedelta, optional
        Length of the record where it is known, in the unit of time; by default the extent of the
        times. Matters for ``frequencies="integer"``.
    endpoint : {"included", "excluded"}, default "included"
        "excluded" if evenly spaced samples cover the span once and the last one is not its end,
        such as 24 hourly values of a day.
    unit : str, optional
        For dates one of second, minute, hour, day (default), week, month, year; for numbers a
        label.
    random_state : int, Generator or None, default 0
        Has no effect: nothing in the fit is drawn at random. Both estimators take it.
    holidays : str, optional
        A country, such as "DE", or a part of one, such as "DE-BY", whose public holidays are a
        regressor; needs dates and the package `holidays`.

    Attributes
    ----------
    modes_ : ModeTable
        Significant modes by component: period, frequency, amplitude, phase, each with its standard
        error; false_alarm, component, harmonic, label.
    components_ : Components
        A tuple of one `Component` per repeating pattern, the strongest first, combination tones
        last; ``components_.to_frame()`` is its table.
    noise_ : float, or ndarray of shape (q,)
        Standard deviation of what trend and patterns leave over, with outliers pulled in: the core
        of the noise. On the scale "log" a part of the value, 0.05 for 5 %.
    scatter_ : float, or ndarray of shape (q,)
        Standard deviation of all that trend and patterns leave over. Where it is larger than
        `noise_` there are outliers, or the noise has heavy tails.
    remainder_ : Remainder or None
        What is left over as a Gaussian process: `deviation` of its correlated part and `white`, one
        number per output. None where the noise is white, and then nothing is added.
    breakpoints_ : tuple of Breakpoint
        Shifts of the level and changes of the slope, with time, size and standard error; part of
        the trend.
    scale_ : {"linear", "log"}
        The scale that was taken.
    constant_ : ndarray of shape (q,), or None
        Of several outputs, the values of those that never change, and NaN for the others; None if
        all change. A constant is left out of the fit: tables are of the other outputs.
    regressors_ : RegressorEffects or None
        Effects of regressors: ``regressors_.to_frame()`` is the table of coefficients, errors,
        shares and false-alarm probabilities. Patterns, noise and trend are those of the values
        without these effects.
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
    measurement scatters on top, by ``noise_``, or by ``remainder_.white`` where what is left over
    is correlated. Such a remainder is read as one or two damped oscillators driven by noise (a
    Gaussian process), and `predict` adds what neighbouring samples tell about it; far
    from any sample it adds nothing. Beyond 10,000 rows its parameters come from five stretches of
    2,000 neighbours, and the conditional mean still comes from all rows. Beyond the record patterns
    go on, the trend goes on as a straight line, and errors grow.

    On the scale "log", `modes_`, `components_`, `breakpoints_` and `noise_` tell of log y: a
    waveform of 0.1 is a factor of e^0.1, about 10 % more, and shares are shares of the variation of
    log y.
    `predict` and `decompose` speak in the unit of y. The prediction is then the *median* of new
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
    >>> parts = model.decompose(t)
    >>> bool(np.allclose(parts.total, model.predict(t)))
    True
    """

    def __init__(
        self,
        *,
        frequencies: Literal["real", "integer"] = "real",
        periods: Any = None,
        max_frequency: float | None = None,
        min_frequency: float | None = None,
        without: Any = None,
        split: Any = None,
        merge: Any = None,
        false_alarm: float = 0.01,
        loss: Literal["auto", "squared", "huber"] = "auto",
        scale: Literal["auto", "linear", "log"] = "auto",
        span: Any = None,
        endpoint: Literal["included", "excluded"] = "included",
        unit: str | None = None,
        random_state: Any = 0,
        holidays: str | None = None,
    ) -> None:
        self.frequencies = frequencies
        self.periods = periods
        self.max_frequency = max_frequency
        self.min_frequency = min_frequency
        self.without = without
        self.split = split
        self.merge = merge
        self.false_alarm = false_alarm
        self.loss = loss
        self.scale = scale
        self.span = span
        self.endpoint = endpoint
        self.unit = unit
        self.random_state = random_state
        self.holidays = holidays

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        y_err: Any = None,
        regressors: Any = None,
    ) -> PeriodicMixture:
        """Find modes, components and trend.

        Parameters
        ----------
        X : array-like of shape (n,), (n, 1) or (n, d)
            Times: numbers, dates (also as text), periods or durations, in any order and spacing.
            Several columns add up: f(x₁) + … Units (astropy, pint) are kept, and times for
            `predict` are converted. Without y, a pandas Series whose index is the time, or a
            table: of pandas, polars, pyarrow, duckdb, astropy (also `TimeSeries` and light
            curves) or xarray, or a dict of columns, with columns chosen by name as in files; a
            column named like an error ("err", "sigma", "e_mag") is then `y_err`. Or what
            `read_samples` returns.
        y : array-like of shape (n,) or (n, q)
            Values. Several outputs share the modes and have their own amplitudes; those that are
            constant are left out. Rows that lack a time, value or error are left out. `notes_`
            says both.
        sample_weight : array-like of shape (n,), optional
            Weight 2 is the row twice; a row of weight 0 is not there. Only ratios matter: weights
            are scaled to sum to the number of rows that they are worth, (Σw)² / Σw² with equal
            rows added up. Rows that dominate all others are lowered, and `notes_` says so.
        y_err : array-like of shape (n,), optional
            Standard errors of the values, up to a common factor.
        regressors : DataFrame, Series, dict or array-like of shape (n, p), optional
            Other columns of numbers, a row for each time: what they explain is fitted together with
            the patterns, see `regressors_`. `predict` and `forecast` then ask for their values.
        """
        if regressors is not None or self.holidays is not None:
            return fit_with_regressors(self, X, y, sample_weight, y_err, regressors)
        return self._fit(X, y, sample_weight, y_err)

    def _fit(self, X: Any, y: Any, sample_weight: Any, y_err: Any) -> PeriodicMixture:
        """Fit without regressors."""
        with input_errors():
            given = given_data(X, y, sample_weight, y_err, self.unit)
            X, y, y_err = given.times, given.values, given.errors
            table = as_table(X)
            columns = time_columns(table, self)
            values = check_targets(y, len(columns[0]), self)
        weights = check_row_weights(given.weights, len(values))
        unit = self.unit or given.unit or None
        domains = span_columns(columns, weights > 0, self.span, self.endpoint, unit)
        domains = [replace(domain, clock=given.clock) for domain in domains]
        precision = error_precision(weights, y_err, values if self.scale == "log" else None)
        varying, constant, left_out = constant_outputs(y, values, weights)
        theta, targets, weights, weighing = counted_rows(
            theta_columns(columns, domains), varying, weights, precision
        )
        settings = settings_of(self, domains)
        # Errors in the unit of y say that noise adds.
        scale = "linear" if self.scale == "auto" and y_err is not None else self.scale
        # One thread and two add up in different orders, and then differ in the last bits.
        with one_blas_thread():
            fit = fit_on_scale(
                scale,
                lambda values: begin_columns(domains, theta, values, weights, settings),
                theta,
                targets,
            )
            models = with_processes(fit.models, [found.series for found in fit.found])

        _check_n_features(self, table, reset=True)
        _check_feature_names(self, table, reset=True)
        self._remember(columns[0] if is_flat(X) or len(columns) == 1 else None, y, y_err)
        share = shares(models)
        bases = np.cumsum([0] + [len(model.bases) for model in models])
        self.models_ = tuple(models)
        self.domains_ = tuple(domains)
        self.single_output_ = values.ndim == 1
        self.components_ = Components(
            component
            for column, model in enumerate(models)
            for component in model.components(share[column], int(bases[column]), column)
        )
        self.modes_ = mode_table(models, self.single_output_)
        self.constant_ = constant
        noise = self._every_output(models[-1].noise)
        self.noise_ = float(noise[0]) if self.single_output_ else noise
        self.scale_, self.value_name_ = fit.scale, given.value_name
        self._restored()
        left = fit.values - sum(m.evaluate(theta[:, j]) for j, m in enumerate(models))
        scatter = self._every_output(weighted_deviation(left, weights))
        self.scatter_ = float(scatter[0]) if self.single_output_ else scatter
        breaks = tuple(_break_words(one, self._multiplies) for one in self.breakpoints_)
        searched = tuple(note for found in fit.found for note in found.notes)
        self.notes_ = left_out + given.notes + weighing + fit.notes + breaks + searched
        self.value_unit_ = given.value_unit
        self._remember_steps(columns[0], values)
        return self

    def _remember_steps(self, times: Any, values: FloatArray) -> None:
        """Keep what forecasts need of the record: its steps on the calendar, and possible values.

        Attributes `calendar_step_`, `period_frequency_`, `bounds_`, `rounding_` and, as there are
        none, `regressors_`.
        """
        self.regressors_: RegressorEffects | None = None
        dtype = getattr(times, "dtype", None)
        periods = isinstance(dtype, pd.PeriodDtype)
        self.period_frequency_ = str(dtype).removeprefix("period[")[:-1] if periods else ""
        step = None
        if self.domains_[0].dates and len(self.domains_) == 1:
            step = CalendarStep.of(time_index(times).unique().sort_values())
        self.calendar_step_ = None if step is None else (step.months, step.day)
        if self.period_frequency_ and step is None:
            self.period_frequency_ = ""
        kinds = [value_kind(column) for column in values.reshape(len(values), -1).T]
        low, high, rounding = (np.array(numbers) for numbers in zip(*kinds, strict=True))
        one = self.single_output_
        self.bounds_ = (float(low[0]), float(high[0])) if one else (low, high)
        self.rounding_ = float(rounding[0]) if one else rounding

    def predict(
        self, X: Any, return_std: bool = False, remainder: bool = True, regressors: Any = None
    ) -> Any:
        """Return the function at new times, with standard errors if asked.

        On the scale "log" that is the median of new measurements, in the unit of y.

        Parameters
        ----------
        X : array-like of the kind given to `fit`
        return_std : bool
            Whether to return the standard error of the function too.
        remainder : bool
            Whether the function is all that is known of a new measurement: trend, patterns and
            what neighbours tell about the rest. If False, trend and patterns alone.
        regressors : DataFrame, Series, dict or array-like of shape (n, p), optional
            Values at these times of what was given to `fit` by that name.

        Returns
        -------
        ndarray of shape (n,) or (n, q), or a pair of them
        """
        theta = self._theta(X)
        with one_blas_thread():
            values = sum(m.evaluate(theta[:, j]) for j, m in enumerate(self.models_))
            if remainder:
                values = values + self._remainder(theta)
            effect, unsure = self._effects(X, regressors)
            values = np.asarray(values) + effect
            values = self._every_output(from_log(values) if self._multiplies else values, None)
            if not return_std:
                return self._shaped(values)
            errors = [m.errors_at(theta[:, j], remainder) for j, m in enumerate(self.models_)]
            std = self._every_output(np.hypot(lengths(np.stack(errors, axis=-1)), unsure))
        return self._shaped(values), self._shaped(values * std if self._multiplies else std)

    def _effects(self, X: Any, regressors: Any) -> tuple[FloatArray | float, FloatArray | float]:
        """Effect of regressors at times and its standard error, shape (n, q) or zero."""
        if getattr(self, "regressors_", None) is None:
            if regressors is not None:
                raise InputError("regressors are given, but the model was fitted without any")
            return 0.0, 0.0
        effect, variance = effects_at(self, X, regressors)
        return effect, np.sqrt(variance)

    def forecast(
        self,
        horizon: Any = None,
        *,
        times: Any = None,
        coverage: float = 0.9,
        bounds: Any = "auto",
        regressors: Any = None,
    ) -> Forecast:
        """Return what comes next, how sure that is, and where a new measurement will lie.

        Parameters
        ----------
        horizon : int, str or timedelta, optional
            How many steps to go after the last sample, or how far, as text such as "30D". Steps are
            those of the record: months, quarters, years and business days on the calendar, else as
            long as they are on the whole.
        times : array-like, optional
            The times themselves, instead of a horizon.
        coverage : float
            Probability that a new measurement lies between `lower` and `upper`.
        bounds : "auto", None or pair, default "auto"
            Least and largest value that is possible. By default counts (whole numbers from zero
            on) stay above zero, and values that all lie between zero and one stay there.
        regressors : DataFrame, Series, dict or array-like of shape (n, p), optional
            Their values at the times of the forecast.

        Examples
        --------
        >>> t = np.arange(200.0)
        >>> y = np.cos(2 * np.pi * t / 12) + 0.1 * np.random.default_rng(0).normal(size=200)
        >>> ahead = PeriodicMixture().fit(t, y).forecast(12)
        >>> ahead.times[[0, -1]]
        array([200., 211.])
        >>> bool(np.abs(ahead.mean - np.cos(2 * np.pi * ahead.times / 12)).max() < 0.1)
        True
        """
        check_is_fitted(self)
        return forecast_of(self, horizon, times, coverage, bounds, regressors)

    def decompose(self, X: Any) -> Decomposition:
        """Return the value of each component, of the trend and of the remainder at new times.

        Returns
        -------
        Decomposition
            With arrays `trend`, `components` and `remainder`, which add up to `predict`. On the
            scale "log" the trend is in the unit of y, the others are factors, and their product is
            `predict`. `remainder` is None where the noise is white.
        """
        columns, theta = self._times(X)
        trend = sum(m.trend_at(theta[:, j]) for j, m in enumerate(self.models_))
        parts = [m.components_at(theta[:, j]) for j, m in enumerate(self.models_)]
        components = self._every_output(np.concatenate(parts, axis=1))
        if self.single_output_:
            components = components[:, :, 0]
        labels = tuple(component.label for component in self.components_)
        times = columns[0] if len(columns) == 1 else None
        rest = self._every_output(self._remainder(theta))
        left = self._shaped(rest) if self.remainder_ is not None or rest.any() else None
        if self._multiplies:
            trend, components = from_log(trend), from_log(components)
            left = None if left is None else from_log(left)
        trend = self._every_output(trend, None)
        scale = "log" if self._multiplies else "linear"
        return Decomposition(self._shaped(trend), components, labels, scale, times, left)

    def without_regressors(self) -> PeriodicMixture:
        """Return the same model of the values without the effects of regressors."""
        if getattr(self, "regressors_", None) is None:
            return self
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__ | {"regressors_": None, "holidays": None})
        return twin

    def summary(self) -> str:
        """Return what was found, in words and a table."""
        check_is_fitted(self)
        counts = f"components: {len(self.components_)}, modes: {len(self.modes_)}"
        lines = [f"PeriodicMixture, {counts}"]
        lines += [f"  {component!r}" for component in self.components_]
        relative = " of the value" if self._multiplies else ""
        lines.append(f"noise: {np.array2string(np.asarray(self.noise_), precision=4)}{relative}")
        if np.any(self.scatter_ > _TAILS * self.noise_):
            tails = np.array2string(np.asarray(self.scatter_), precision=4)
            lines[-1] += f"; with its tails {tails}"
        lines += [f"note: {note}" for note in self.notes_]
        return "\n".join([*lines, "", str(self.modes_)])

    def _restored(self) -> None:
        """Let the components know the modes, after a fit and after a file was read."""
        self.components_ = Components(self.components_)
        level = typical_level(self.models_[0]) if self._multiplies else 1.0
        spacing = 0.5 * self.models_[0].spacing * self.domains_[0].span
        self.components_.attach(self.modes_, level, spacing, getattr(self, "value_name_", ""))

    @property
    def remainder_(self) -> Remainder | None:
        """What is left over, where it is correlated; None for white noise."""
        return next((m.remainder for m in self.models_ if m.remainder is not None), None)

    def _remainder(self, theta: FloatArray) -> FloatArray:
        """What the samples tell about the remainder, shape (n, q)."""
        return np.sum([m.remainder_at(theta[:, j]) for j, m in enumerate(self.models_)], axis=0)

    @property
    def breakpoints_(self) -> tuple[Breakpoint, ...]:
        """Shifts of the level and changes of the slope, in order of the columns."""
        return tuple(one for model in self.models_ for one in model.breakpoints())

    @property
    def _multiplies(self) -> bool:
        """Whether the logarithm was fitted."""
        return self.scale_ == "log"

    def _every_output(self, values: Any, fill: Any = 0.0) -> FloatArray:
        """Return values of all outputs, (…, q): of constant ones `fill`, or themselves if None."""
        return every_output(self.constant_, values, fill)

    def _shaped(self, values: Any) -> FloatArray:
        return np.asarray(values[:, 0] if self.single_output_ else values)


def _break_words(change: Breakpoint, multiplies: bool) -> str:
    """When and by how much the level shifted or the slope changed."""
    level, factor = change.kind == "level", np.ones(1)
    if level and multiplies:
        factor = from_log(change.size)
    sizes, sign = (factor, "") if level and multiplies else (change.size, "+")
    pairs = zip(sizes, factor * change.error, strict=True)
    words = " and ".join(f"{size:{sign}.4g} ± {error:.2g}" for size, error in pairs)
    if level:
        return f"level shift {'by a factor of' if multiplies else 'of'} {words} at {change.time}"
    of = "slope of the logarithm" if multiplies else "slope"
    return f"change of {of} by {words} per unit of time at {change.time}"
