"""`summarise`: samples and a fitted model to a `Result`; `outline`: what a model alone can show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain, to_array
from robustfourier.errors import InputError
from robustfourier.estimators.base import Face
from robustfourier.formatting import counted
from robustfourier.formatting import listed as listed_words
from robustfourier.results.axis import TimeAxis
from robustfourier.results.calendar import alias_notes, named
from robustfourier.results.drawing_grid import curve_grid
from robustfourier.results.record import Curve, Pattern, Result, is_magnitude, listed
from robustfourier.results.spectrum import amplitude_spectrum
from robustfourier.results.spread import deviation, share_of_variance
from robustfourier.results.verdicts import alias_words, break_words, headline, plain_warnings
from robustfourier.results.views import Flat, MixtureView, NetworkView
from robustfourier.samples import Samples, from_arrays
from robustfourier.sampling import check_sampling

#: What figures are drawn of.
Source: TypeAlias = Result | Face
_NAMED = 5  # periods that the sentence on a network names
_ERRORS = 12_000  # points of a curve with standard errors; between, they are smooth
_BLOCK = 20_000  # times predicted at once
_FALSE_ALARM = 0.01  # of networks, which have no such parameter
# What the result and the brief one have in common.
_SHARED = (
    *("domain", "fitted", "residual", "trend", "parts", "patterns", "explained", "noise"),
    *("headline", "downwards"),
)
_RED = 3.0  # a floor so much higher at long than at short periods is not white


def summarise(
    samples: Samples,
    model: Any,
    magnitudes: bool | None = None,
    brief: Brief | None = None,
    horizon: Any = None,
) -> Result:
    """Compute all that is shown of a fit.

    Parameters
    ----------
    samples : Samples
        The record, as it was given to `fit`.
    model : PeriodicMixture or FourierNetworkRegressor
        Fitted to one column of times and one of values.
    magnitudes : bool, optional
        Whether the values are magnitudes, of which the smallest is the brightest; by default the
        name of the column tells.
    brief : Brief, optional
        What `briefly` returned, where it was asked before.
    horizon : int, str or timedelta, optional
        How far the forecast goes, as of `PeriodicMixture.forecast`.
    """
    brief = briefly(samples, model, magnitudes) if brief is None else brief
    view, domain, theta, flat = brief.view, brief.domain, brief.theta, brief.flat
    times, patterns = samples.axis, brief.patterns
    sampling = check_sampling(samples)
    weights = None if samples.errors is None else samples.errors**-2.0
    spectrum = amplitude_spectrum(
        *(theta, flat.values - flat.trend, flat.residual),
        max_mode=view.max_mode or sampling.max_mode,
        parts=flat.parts,
        weights=weights,
        evidence=view.evidence,
    )
    axis = TimeAxis.of(domain, samples.time_name)
    notes = alias_notes(listed(patterns), samples, domain)
    aliases = alias_words(brief, sampling, weights, brief.allowed)
    return Result(
        **{name: getattr(brief, name) for name in _SHARED},
        samples=samples,
        view=view,
        method=view.method,
        parameters=model.get_params(deep=False),
        axis=axis,
        position=axis.positions(times),
        trend_kind=view.trend_kind,
        curve=_curve(view, domain, axis),
        modes=view.modes,
        spectrum=spectrum,
        diagonal=view.diagonal(),
        noise_kind=_noise_kind(spectrum.floor),
        trend_share=share_of_variance(flat.trend, flat.values),
        # The shortest period first, which is that of the highest mode.
        searched=view.range and tuple(float(domain.period(mode)) for mode in reversed(view.range)),
        lines=view.lines(),
        memory=view.memory(axis, horizon),
        remarks=tuple(aliases.excluded),
        warnings=plain_warnings(
            *(listed(patterns), sampling, flat.residual),
            explained=brief.explained,
            allowed=brief.allowed,
            first=[*view.warnings(), *break_words(view.breaks, axis), *notes, *aliases.possible],
        ),
    )


class Brief(NamedTuple):
    """What a line of a table tells of a fit; `summarise` goes on from it."""

    view: Any
    domain: Domain
    theta: FloatArray
    fitted: FloatArray
    trend: FloatArray
    parts: FloatArray
    residual: FloatArray
    flat: Flat
    patterns: tuple[Pattern, ...]
    explained: float
    noise: float
    headline: str
    downwards: bool
    allowed: float


def briefly(samples: Samples, model: Any, magnitudes: bool | None = None) -> Brief:
    """Patterns, noise and the headline of a fit, without spectra, errors and warnings.

    Takes a tenth of the time of `summarise`; parameters as there.
    """
    network = hasattr(model, "diagonal_weights_")
    down = is_magnitude(samples.value_name) if magnitudes is None else magnitudes
    view = NetworkView(model, samples.values) if network else MixtureView(model, down)
    domain = view.domain if view.domain.unit else replace(view.domain, unit=samples.unit)
    theta = domain.to_theta(samples.axis)
    trend, parts = view.decompose(samples.axis)
    fitted = view.fitted(samples.axis)
    residual = samples.values - fitted
    flat = view.flat(samples.values, trend, parts, residual)
    patterns = named(view.patterns(theta, flat.residual, flat.parts), domain, down)
    explained = min(sum(pattern.share for pattern in patterns), 1.0)
    noise = deviation(residual) if view.noise is None else view.noise
    allowed = float(getattr(model, "false_alarm", _FALSE_ALARM))
    said = headline(
        patterns, explained, domain, view.trend_kind, samples.time_name, allowed=allowed
    )
    if np.ptp(samples.values) == 0.0:
        said = f"The series is constant: all {len(samples):,} values are {samples.values[0]:.6g}."
    return Brief(
        *(view, domain, theta, fitted, trend, parts, residual, flat),
        *(patterns, explained, noise, said, down, allowed),
    )


def _curve(view: Any, domain: Domain, axis: TimeAxis) -> Curve:
    theta = 2.0 * curve_grid(float(view.modes.mode.max(initial=1.0))) - 1.0
    times = domain.from_theta(theta)
    if len(theta) <= _ERRORS:
        return Curve(axis.positions(times), *view.predict(times))
    values = [view.fitted(times[i : i + _BLOCK]) for i in range(0, len(times), _BLOCK)]
    few = np.linspace(-1.0, 1.0, _ERRORS)
    std = np.interp(theta, few, view.predict(domain.from_theta(few))[1])
    return Curve(axis.positions(times), np.concatenate(values), std)


def _noise_kind(floor: FloatArray | None) -> str:
    """White, or red if the floor is clearly higher at long periods."""
    if floor is None:
        return "white"
    low, high = floor[: max(len(floor) // 20, 1)], floor[len(floor) // 2 :]
    ratio = float(np.median(low) / max(np.median(high), 1e-300)) if len(high) else 1.0
    return "red: stronger at long periods" if ratio**2 > _RED else "white"


@dataclass(frozen=True)
class Outline:
    """Headline and patterns of a model, without any data.

    Parameters
    ----------
    headline : str
    patterns : tuple of Pattern
        Without folded data; empty where the model has several columns or outputs, or is a network.
    domain : Domain
    noise : float
        Standard deviation of the noise; NaN if unknown.
    """

    headline: str
    patterns: tuple[Pattern, ...]
    domain: Domain
    noise: float = np.nan


def outline(model: Any) -> Outline:
    """Tell what a fitted model says of itself.

    Parameters
    ----------
    model : PeriodicMixture or FourierNetworkRegressor
        Fitted, or loaded from a file.
    """
    domain = model.domains_[0]
    if not hasattr(model, "components_"):
        return Outline(_network_words(model, domain), (), domain)
    if len(model.models_) > 1 or not model.single_output_:
        many = counted(len(model.components_), "repeating pattern")
        return Outline(f"{many} in several columns or outputs.", (), domain)
    view = MixtureView(model)
    none = np.zeros(0)
    patterns = named(view.patterns(none, none, np.zeros((len(model.components_), 0))), domain)
    explained = min(sum(pattern.share for pattern in patterns), 1.0)
    kind, allowed = view.trend_kind, float(model.false_alarm)
    words = headline(patterns, explained, domain, kind, "time", allowed=allowed)
    return Outline(words, patterns, domain, float(view.noise or np.nan))


def _network_words(model: Any, domain: Domain) -> str:
    active = model.modes_.select(model.modes_.active)
    if not len(active):
        return "No mode stands out."
    order = np.argsort(-np.asarray(active.amplitude).reshape(len(active), -1).max(axis=1))
    periods = [domain.period_words(float(active.period[i])) for i in order[:_NAMED]]
    more = ["…"] if len(order) > _NAMED else []
    stand, of = ("stands", "period") if len(active) == 1 else ("stand", "periods")
    return f"{counted(len(active), 'mode')} {stand} out, of {of} {listed_words([*periods, *more])}."


def result_of(
    source: Source, times: ArrayLike | None = None, values: ArrayLike | None = None
) -> Result:
    """Return a `Result`: the given one, or that of a model and the data it was fitted to.

    Parameters
    ----------
    source : Result, PeriodicMixture or FourierNetworkRegressor
    times, values : array-like of shape (n,), optional
        Data to show; those that the model remembers if not given.
    """
    if isinstance(source, Result):
        return source
    errors = None
    if times is None and values is None:
        times, values, errors = getattr(source, "_seen", None) or (None, None, None)
    if times is None or values is None:
        raise InputError(
            "times and values are needed to show this of a model that was loaded from a file or "
            "fitted to several columns; give those it was fitted to: model.result(times, values)"
        )
    if np.ndim(values) > 1 and np.shape(values)[1] > 1:
        raise InputError(
            f"values has shape {np.shape(values)}, but only one output can be shown; fit one alone"
        )
    domain = source.domains_[0]
    durations = to_array(times).dtype.kind == "m"
    return summarise(
        from_arrays(
            domain.start + domain.offsets(times) if durations else times,
            np.ravel(values),
            errors,
            duplicates="keep",
            marks=False,  # what the fit took for measurements
            unit=domain.unit,
            time_name=_name(times, "time"),
            value_name=_name(values, "value"),
        ),
        source,
    )


def _name(column: Any, otherwise: str) -> str:
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else otherwise
