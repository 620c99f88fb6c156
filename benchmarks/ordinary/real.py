"""Real series with known answers: those of the package, two beside it, three of statsmodels.

They have no seed: each is fitted once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ordinary.problem import Period, Problem, Truth, resolution, strict
from robustfourier.datasets import (
    load_double_mode_cepheid,
    load_electricity_demand,
    load_sunspots,
)

# Beside the checkout, or beside a folder that holds several.
_ABOVE = [folder / "shared" / "data" for folder in Path(__file__).resolve().parents[3:]]
SHARED = next((folder for folder in _ABOVE if folder.is_dir()), _ABOVE[0])
# The six strongest constituents at Honolulu beside M2, in hours (NOAA's list of constituents), but
# for K2, 11.9672: it is the second harmonic of K1, 23.9345, and belongs to its pattern.
TIDES = (23.9345, 25.8193, 12.0, 24.0659, 12.6583)
M2, K2 = 12.4206, 11.9672


def electricity_demand() -> Problem:
    """Twelve weeks of half-hourly demand: a week with its day, drifting through the summer."""
    data = load_electricity_demand()
    t = data.times.copy()
    week = Period(7.0, resolution(7.0, t, 0.1), (0.8, 1.0))
    return Problem.of(t, data.values.copy(), Truth((week,), 2, (strict(1.0, t),)))


def double_mode_cepheid() -> Problem:
    """A star with two modes; sums and differences of their frequencies are allowed."""
    data = load_double_mode_cepheid()
    t = data.times.copy()
    fast, slow = data.periods
    sums = (1.0 / (1.0 / fast + 1.0 / slow), 1.0 / (1.0 / fast - 1.0 / slow))
    # The distributor's periods come from single sinusoids at a grid of frequencies.
    known = tuple(Period(p, resolution(p, t, 0.25)) for p in (fast, slow))
    allowed = tuple(Period(p, resolution(p, t, 0.25)) for p in sums)
    errors = None if data.errors is None else data.errors.copy()
    return Problem.of(t, data.values.copy(), Truth(known, 4, allowed), errors)


def sunspot_numbers() -> Problem:
    """Yearly sunspot numbers: one cycle that wanders, 10.5 to 11.3 years."""
    data = load_sunspots()
    return Problem.of(data.times.copy(), data.values.copy(), Truth((Period(10.9, 0.4),), 1))


def weekly_co2() -> Problem:
    """Carbon dioxide at Mauna Loa, weekly with gaps: a year on a rise that bends."""
    table = _statsmodels("co2").dropna()
    times = table.index.to_numpy().astype("datetime64[s]")
    return Problem.of(times, table["co2"].to_numpy(), Truth((strict(365.2425, times),), 1))


def sea_temperature() -> Problem:
    """Sixty years of monthly sea temperatures: a year, and El Niño, which has no period."""
    values = _statsmodels("elnino").iloc[:, 1:].to_numpy(dtype=float).ravel()
    times = (np.datetime64("1950-01", "M") + np.arange(len(values))).astype("datetime64[s]")
    return Problem.of(times, values, Truth((strict(365.2425, times),), 1))


def nile_flow() -> Problem:
    """A century of the Nile's flow: nothing that repeats."""
    table = _statsmodels("nile")
    return Problem.of(*table.to_numpy(dtype=float).T, Truth((), 0))


def _statsmodels(name: str) -> Any:
    return import_module(f"statsmodels.datasets.{name}").load_pandas().data


def star_1924() -> Problem:
    """Six hundred nights of a star of 29 and 24 days."""
    t, y = np.loadtxt(SHARED / "star_1924" / "star.csv", delimiter=",", skiprows=1, unpack=True)
    return Problem.of(t, y, Truth((strict(29.0, t), strict(24.0, t)), 2))


def tide_honolulu() -> Problem:
    """A year of hourly sea level: seven constituents, and sea level that wanders. In hours."""
    days, y = np.loadtxt(SHARED / "tide_honolulu_2010" / "HNL2010.asc", unpack=True)
    t = 24.0 * (days - days[0])
    # M2 has a weak companion M1 at exactly twice its period: both may be reported as one pattern.
    moon = replace(strict(M2, t), instead=(strict(2.0 * M2, t),))
    known = (moon, *(strict(period, t) for period in TIDES))
    # Above 1 % there are no others; a season of a year is one cycle, which is trend.
    return Problem.of(t, y, Truth(known, len(known) + 1, (strict(K2, t),)))


KINDS: dict[str, Callable[[], Problem]] = {
    kind.__name__: kind for kind in (electricity_demand, double_mode_cepheid, sunspot_numbers)
}


def shared_kinds() -> dict[str, Callable[[], Problem]]:
    """Real series that do not ship with the package; none where they are not at hand."""
    kinds = {"star_1924": star_1924, "tide_honolulu_2010": tide_honolulu}
    there = {name: kind for name, kind in kinds.items() if (SHARED / name).is_dir()}
    if find_spec("statsmodels") is not None:
        there |= {kind.__name__: kind for kind in (weekly_co2, sea_temperature, nile_flow)}
    return there
