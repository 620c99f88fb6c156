"""`summarise`: samples and a fitted model to a `Result`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.results.alias_words import alias_words
from robustfourier.results.axis import TimeAxis
from robustfourier.results.calendar import alias_notes, named
from robustfourier.results.drawing_grid import curve_grid
from robustfourier.results.record import Curve, Pattern, Result, is_magnitude, listed
from robustfourier.results.spectrum import amplitude_spectrum
from robustfourier.results.spread import deviation, share_of_variance
from robustfourier.results.verdicts import break_words, headline, plain_warnings
from robustfourier.results.views import Flat, MixtureView, NetworkView
from robustfourier.samples import Samples
from robustfourier.sampling import check_sampling

_ERRORS = (
    12_000  # points at which standard errors of a curve are computed; between, they are smooth
)
_BLOCK = 20_000  # times predicted at once
_FALSE_ALARM = 0.01  # of networks, which have no such parameter
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
    aliases = alias_words(brief, sampling, weights, getattr(model, "false_alarm", _FALSE_ALARM))
    return Result(
        samples=samples,
        view=view,
        method=view.method,
        parameters=model.get_params(deep=False),
        domain=domain,
        axis=axis,
        position=axis.positions(times),
        fitted=brief.fitted,
        residual=brief.residual,
        trend=brief.trend,
        trend_kind=view.trend_kind,
        parts=brief.parts,
        curve=_curve(view, domain, axis),
        modes=view.modes,
        patterns=patterns,
        spectrum=spectrum,
        diagonal=view.diagonal(),
        noise=brief.noise,
        noise_kind=_noise_kind(spectrum.floor),
        explained=brief.explained,
        trend_share=share_of_variance(flat.trend, flat.values),
        # The shortest period first, which is that of the highest mode.
        searched=view.range and tuple(float(domain.period(mode)) for mode in reversed(view.range)),
        headline=brief.headline,
        lines=view.lines(),
        downwards=brief.downwards,
        memory=view.memory(axis, horizon),
        remarks=tuple(aliases.excluded),
        warnings=plain_warnings(
            *(listed(patterns), sampling, flat.residual),
            explained=brief.explained,
            allowed=brief.allowed,
            first=[
                *view.warnings(),
                *break_words(view.breaks, axis),
                *alias_notes(listed(patterns), samples, domain),
                *aliases.possible,
            ],
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
    allowed = float(getattr(model, "false_alarm", 1.0))
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
