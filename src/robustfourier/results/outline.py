"""What can be shown of a model alone, and `result_of`: a model with the data of its fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.domain import Domain, to_array
from robustfourier.errors import InputError
from robustfourier.estimators.base import Face
from robustfourier.formatting import counted, listed
from robustfourier.results.calendar import named
from robustfourier.results.record import Pattern, Result
from robustfourier.results.summary import summarise
from robustfourier.results.verdicts import headline
from robustfourier.results.views import MixtureView
from robustfourier.samples import from_arrays

#: What figures are drawn of.
Source: TypeAlias = Result | Face

_NAMED = 5  # periods that the sentence on a network names


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
    return f"{counted(len(active), 'mode')} {stand} out, of {of} {listed([*periods, *more])}."


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
