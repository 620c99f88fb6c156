"""The data of each example, as the networks see it: θ and y in [-1, 1], and the truth.

Examples 1 to 3 are synthetic. Example 4 is a real series of the kind that the paper takes from
Google Trends, which is not public: 16 weekdays of electricity demand. "simulated" is a stand-in of
the paper's shape, and "trends" is the user's own Google Trends export.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.datasets import load_electricity_demand
from robustfourier.errors import DataError, InputError
from robustfourier.samples import read_samples
from robustfourier.synthetic import noisy_series, paper_example

WEEKDAYS = 16

TITLES = {
    "1": "Example 1: three sinusoids",
    "2": "Example 2: three sinusoids with shifted phases",
    "3": "Example 3: nonlinear links",
    "4": "Example 4: electricity demand on 16 weekdays (real series, noise added)",
    "simulated": "Example 4, stand-in: SIMULATED search interest on 16 weekdays (noise added)",
    "trends": "Example 4: Google Trends export (real series, noise added)",
}


@dataclass(frozen=True)
class ExampleData:
    """What a trial trains on and is judged by.

    Attributes
    ----------
    theta, y, truth : ndarray of shape (n,)
        Sample points, noisy and noiseless values. Errors are measured on the same points.
    targets : tuple of int
        Fundamental modes that are known to be there; for a series of D days, mode D and its
        multiples are the daily pattern, and D is the target.
    title, note : str
        Heading, and where the numbers come from.
    """

    theta: FloatArray
    y: FloatArray
    truth: FloatArray
    targets: tuple[int, ...]
    title: str
    note: str


def example_data(
    example: str, seed: int, *, noise: float = 0.4, csv: Path | None = None
) -> ExampleData:
    """Build the data of an example with one draw of noise.

    Parameters
    ----------
    example : str
        A key of `TITLES`.
    seed : int
        Seed of the noise.
    noise : float
        Its standard deviation.
    csv : path, optional
        The Google Trends export, for "trends".

    Examples
    --------
    >>> data = example_data("4", seed=0)
    >>> data.theta.shape, float(data.truth.min()), float(data.truth.max()), data.targets
    ((768,), -1.0, 1.0, (16,))
    """
    if example in ("1", "2", "3"):
        problem = paper_example(int(example), noise=noise, random_state=seed)
        targets = tuple(int(mode) for mode in problem.modes)
        note = "The paper's formula and grid of 10 001 points."
        return ExampleData(problem.theta, problem.y, problem.truth, targets, TITLES[example], note)
    if example == "4":
        demand = load_electricity_demand(weekdays=WEEKDAYS)
        days, values = demand.times, demand.values
        note = f"Source: {demand.source} ({demand.licence})."
    elif example == "simulated":
        days, values = simulated_interest()
        note = "Simulated: nobody measured this series."
    elif example == "trends":
        days, values = _weekdays_of_export(csv)
        note = f"Source: Google Trends export {csv} (the user's own download)."
    else:
        raise InputError(f"example={example!r}: choose from {', '.join(TITLES)}.")
    rows = noisy_series(days, values, noise=noise, random_state=seed)
    return ExampleData(*rows, (WEEKDAYS,), TITLES[example], note)


def simulated_interest(seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Simulate hourly search interest for a stock index, in days and in hundredths of its maximum.

    The shape of the paper's fourth example: a sharp rise at the opening of the exchange, a second
    peak at its close, quiet nights, and days of different height.
    """
    hour = np.arange(24.0)
    opening = np.exp(-0.5 * ((hour - 10.0) / 1.2) ** 2)
    closing = 0.8 * np.exp(-0.5 * ((hour - 16.0) / 1.6) ** 2)
    office = 0.45 / (1.0 + np.exp(-(hour - 8.0))) / (1.0 + np.exp(hour - 18.0))
    steps = np.random.default_rng(seed).standard_normal(WEEKDAYS)
    height = 1.0 + 0.15 * np.cumsum(steps) / np.sqrt(WEEKDAYS)
    values = np.outer(height, 0.08 + opening + closing + office).ravel()
    return np.arange(values.size) / 24.0, np.round(100.0 * values / values.max())


def _weekdays_of_export(csv: Path | None) -> tuple[FloatArray, FloatArray]:
    """The first 16 weekdays of an hourly export, weekends cut out and the days joined."""
    if csv is None:
        raise InputError("csv=None: give the path of a Google Trends export.")
    samples = read_samples(csv)
    if samples.times.dtype.kind != "M":
        raise DataError(f"{csv}: its times are no dates; is it a Google Trends export?")
    day = samples.times.astype("datetime64[D]")
    wanted = np.unique(day[np.is_busday(day)])[:WEEKDAYS]
    if wanted.size < WEEKDAYS:
        raise DataError(f"{csv}: holds {wanted.size} weekdays, {WEEKDAYS} are needed.")
    values = samples.values[np.isin(day, wanted)]
    step = float(np.median(np.diff(samples.times)) / np.timedelta64(1, "D"))
    return step * np.arange(values.size, dtype=np.float64), values
