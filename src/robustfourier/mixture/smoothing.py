"""Smoothing: an even record's forecast follows what changed of late, as far as a back-test says.

Beside the forecast of lines and Gaussian processes stand models of exponential smoothing. All of
them forecast parts of the record from what came before, and their errors there weigh them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.exponential_smoothing import (
    FEWEST,
    STEPS,
    BackTest,
    EvenGrid,
    LastShift,
    Smoothing,
    SmoothingMixture,
    mixed,
    smoothed,
    usable_seasons,
)
from robustfourier.periodic.forecast import HORIZONS, forecast_after, inflation_of

_SEASONS = 2  # at most: their combinations are all tried
_CALENDAR = ("day", "week", "year")


def with_smoothing(model: ColumnModel, series: Series) -> ColumnModel:
    """Return a model whose forecast is a mixture with exponential smoothing, if times are even."""
    grid = EvenGrid.of(series.theta) if len(series.theta) >= FEWEST else None
    if grid is None:
        return model
    many = int(grid.places[-1]) + 1
    places = np.arange(max(many - STEPS, 0), many)
    values = series.original * series.scale + series.centre
    shifts, lines = model._trend.shifted(grid.at(places)), model.strict_at(grid.at(places))
    seasons = seasons_of(model, grid, len(places))
    each = [
        _one_output(
            *(model, series.theta, values[:, o], grid, places),
            *(lines[:, o], shifts[:, o], seasons, o),
        )
        for o in range(values.shape[1])
    ]
    own, models, factors, last_shifts = zip(*each, strict=True)
    last = float(series.theta[-1])
    return replace(
        model,
        smoothing=SmoothingMixture(last, grid.step, np.array(own), models, last_shifts),
        inflation=np.stack(factors),
    )


def seasons_of(model: ColumnModel, grid: EvenGrid, steps: int) -> tuple[int, ...]:
    """Return seasons in steps: those of the calendar where times are dates, then those found."""
    calendar = calendar_lengths(model.domain, grid.step) if model.domain.dates else []
    found = 2.0 / (np.maximum(model.rows @ model.bases, 1e-12) * grid.step)
    every = [usable_seasons(np.array([length]), steps) for length in [*calendar, *found]]
    return tuple(sorted(list(dict.fromkeys(s for some in every for s in some))[:_SEASONS]))


def calendar_lengths(domain: Domain, step: float) -> list[float]:
    """Return a day, a week and a year in steps of θ.

    Examples
    --------
    >>> hours = Domain(start=0, span=100.0, unit="hour", dates=True)
    >>> calendar_lengths(hours, 2.0 / 100)[:2]
    [24.0, 168.0]
    """
    seconds = 0.5 * step * domain.span * DATE_UNITS[domain.unit]
    return [DATE_UNITS[name] / seconds for name in _CALENDAR]


def _one_output(
    model: ColumnModel,
    theta: FloatArray,
    values: FloatArray,
    grid: EvenGrid,
    places: IntArray,
    lines: FloatArray,
    shifts: FloatArray,
    seasons: tuple[int, ...],
    o: int,
) -> tuple[float, tuple[Smoothing, ...], FloatArray, LastShift]:
    """Return the weight of the own forecast, models beside it, factors of the error, the shift."""
    even = np.full(len(places), np.nan)
    rows = grid.places >= places[0]
    even[grid.places[rows] - places[0]] = values[rows]
    test = BackTest.of(even)
    own, variance = _own(model, theta, values, grid, places, test, o)
    own = own - test.foreseen(shifts)
    known = len(model.trend) + 2 * len(model.lines) + len(model.bases)
    weight, fitted = mixed(test, own, known, smoothed(test, lines, shifts, seasons, known))
    mean = weight * own + sum(one.model.weight * one.forecasts for one in fitted)
    spread = weight * (variance + (own - mean) ** 2)
    for one in fitted:
        spread = spread + one.model.weight * (one.variances + (one.forecasts - mean) ** 2)
    squares = test.squares(mean, spread)
    last = LastShift.of(even - lines + shifts, shifts, test.rows.shape[1])
    return weight, tuple(one.model for one in fitted), _inflation(squares, len(places)), last


def _inflation(squares: FloatArray, steps: int) -> FloatArray:
    """Return factors of the standard error at the horizons by squares of shape (O, H)."""
    which = np.searchsorted(HORIZONS, np.arange(1, squares.shape[1] + 1) / steps)
    bins = (squares[:, which == i] for i in range(len(HORIZONS)))
    return inflation_of([some[np.isfinite(some)] for some in bins])


def _own(
    model: ColumnModel,
    theta: FloatArray,
    values: FloatArray,
    grid: EvenGrid,
    places: IntArray,
    test: BackTest,
    o: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the own forecasts in the back-test, and variances of new values, shape (O, H)."""
    at, process = grid.at(places), model.process
    if process is None:
        strict = model.evaluate(at)[test.rows, o]
        return strict, np.full(strict.shape, float(model.noise[o]) ** 2)
    base, record = (model.around(x)[:, o] for x in (at, theta))
    before = np.searchsorted(grid.places, places[test.origins]) - 1
    mean, variance = forecast_after(process.parts[o], values - record, before, at[test.rows])
    return mean + base[test.rows], variance + float(process.white[o]) ** 2
