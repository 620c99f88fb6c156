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
from robustfourier.datasets import (
    Dataset,
    load_electricity_demand,
    read_trends,
    simulate_trends,
)
from robustfourier.errors import InputError
from robustfourier.synthetic import paper_example

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
        "1", "2", "3", "4", "simulated" or "trends".
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
        return _semi_synthetic(example, load_electricity_demand(weekdays=WEEKDAYS), seed, noise)
    if example == "simulated":
        return _semi_synthetic(example, simulate_trends(weekdays=WEEKDAYS), seed, noise)
    if example == "trends":
        if csv is None:
            raise InputError("csv=None: give the path of a Google Trends export.")
        return _semi_synthetic(example, read_trends(csv, weekdays=WEEKDAYS), seed, noise)
    raise InputError(f"example={example!r}: choose from {', '.join(TITLES)}.")


def _semi_synthetic(example: str, series: Dataset, seed: int, noise: float) -> ExampleData:
    """Time and values to [-1, 1], then noise: the paper's protocol of section 5.4."""
    theta = np.interp(series.times, series.times[[0, -1]], [-1.0, 1.0])
    low, high = series.values.min(), series.values.max()
    if high == low:
        raise InputError(f"{series.name}: all values are equal, so they cannot be scaled.")
    truth = np.interp(series.values, [low, high], [-1.0, 1.0])
    y = truth + noise * np.random.default_rng(seed).standard_normal(truth.size)
    note = " ".join([f"Source: {series.source} ({series.licence}).", *series.notes])
    return ExampleData(theta, y, truth, (WEEKDAYS,), TITLES[example], note)
