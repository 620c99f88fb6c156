"""Periods of real stars with catalogue periods: exact, half or double, alias, false or none.

``python -m benchmarks.protocols stars --data DIR`` reads ``DIR/stars/light_curves.csv.gz`` and
``catalogue.csv``: RR Lyrae of SDSS Stripe 82 and variables of EROS-2. A period is exact if its
frequency is within half a mode of the catalogue's, 1/(2T); half or double likewise at 2 or 1/2 of
it; an alias if the frequencies differ by whole numbers of cycles a day and a year (n ≤ 3, m ≤ 2).

Settings. Ours: `PeriodicMixture()` as it is, its strongest pattern; and given the same range as
the others. astropy and nifty-ls: the highest peak of a Lomb-Scargle periodogram of one sinusoid
with a floating mean, errors given, between 0.1 d and 0.6 T, ten frequencies per mode; "none" where
Baluev's false-alarm probability is above 1 %.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.protocols.installed_methods import chosen
from benchmarks.rows import Row, keep
from benchmarks.verdicts import markdown
from robustfourier.arrays import FloatArray

SHORTEST, LONGEST, PER_MODE, LEVEL = 0.1, 0.6, 10, 0.01
DAY, SIDEREAL, YEAR = 1.0, 0.99727, 365.25
ANSWERS = ("exact", "half or double", "alias", "false", "none")


def answer(period: float | None, truth: float, span: float) -> str:
    """Name what a reported period is.

    Examples
    --------
    >>> answer(0.5, 0.5, 1000.0), answer(1.0, 0.5, 1000.0), answer(None, 0.5, 1000.0)
    ('exact', 'half or double', 'none')
    >>> answer(1.0, 1 / 3, 1000.0), answer(0.7, 0.5, 1000.0)
    ('alias', 'false')
    """
    if period is None:
        return "none"
    found, true, near = 1.0 / period, 1.0 / truth, 0.5 / span
    if abs(found - true) <= near:
        return "exact"
    if min(abs(found - 2.0 * true), abs(found - 0.5 * true)) <= near:
        return "half or double"
    for sign, day, n, m in product((-1, 1), (DAY, SIDEREAL), range(-3, 4), range(-2, 3)):
        if abs(sign * found + n / day + m / YEAR - true) <= near:
            return "alias"
    return "false"


def ours(t: FloatArray, y: FloatArray, error: FloatArray, **given: float) -> float | None:
    """The strongest pattern of `PeriodicMixture`."""
    from robustfourier import PeriodicMixture

    found = PeriodicMixture(**given).fit(t, y, y_err=error).components_
    return float(max(found, key=lambda c: c.share).period) if len(found) else None


def ours_in_range(t: FloatArray, y: FloatArray, error: FloatArray) -> float | None:
    """The same, given the range of the others."""
    span = float(np.ptp(t))
    return ours(t, y, error, min_frequency=1.0 / (LONGEST * span), max_frequency=1.0 / SHORTEST)


def _highest(t: FloatArray, y: FloatArray, error: FloatArray, method: str) -> float | None:
    from astropy.timeseries import LombScargle

    span = float(np.ptp(t))
    low, high = 1.0 / (LONGEST * span), 1.0 / SHORTEST
    grid = np.linspace(low, high, int(PER_MODE * (high - low) * span))
    search = LombScargle(t, y, error)
    power = np.asarray(search.power(grid, method=method, assume_regular_frequency=True))
    best = int(np.argmax(power))
    chance = search.false_alarm_probability(power[best], method="baluev", minimum_frequency=low,
                                            maximum_frequency=high)  # fmt: skip
    return float(1.0 / grid[best]) if float(chance) <= LEVEL else None


def astropy_peak(t: FloatArray, y: FloatArray, error: FloatArray) -> float | None:
    """Return the highest peak of astropy."""
    return _highest(t, y, error, "fast")


def nifty_peak(t: FloatArray, y: FloatArray, error: FloatArray) -> float | None:
    """The highest peak of nifty-ls, through astropy."""
    import nifty_ls  # noqa: F401

    return _highest(t, y, error, "fastnifty")


Method = Callable[[FloatArray, FloatArray, FloatArray], "float | None"]
METHODS: dict[str, tuple[str, Method]] = {
    "PeriodicMixture": ("robustfourier", ours),
    "PeriodicMixture, given the range": ("robustfourier", ours_in_range),
    "astropy": ("astropy", astropy_peak),
    "nifty-ls": ("nifty_ls", nifty_peak),
}


def load(data: Path) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the catalogue and the light curve of each star, by time."""
    folder = data / "stars"
    catalogue = pd.read_csv(folder / "catalogue.csv")
    curves = pd.read_csv(folder / "light_curves.csv.gz").sort_values("time")
    return catalogue, {str(star): curve for star, curve in curves.groupby("star")}


def measure(method: str, star: Any, curve: pd.DataFrame) -> Row:
    """Search one star; an error is an answer of its own."""
    t, y, error = (curve[name].to_numpy(float) for name in ("time", "magnitude", "error"))
    start = time.process_time()
    period: float | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            period = METHODS[method][1](t, y, error)
            named = answer(period, float(star.period), float(np.ptp(t)))
        except Exception as problem:
            named = f"failed: {type(problem).__name__}"
    return {
        "method": method, "star": star.star, "group": f"{star.survey.split()[0]} {star.type}",
        "n": len(t), "truth": float(star.period), "period": period, "answer": named,
        "seconds": round(time.process_time() - start, 3),
    }  # fmt: skip


def table(rows: Sequence[Row]) -> str:
    """One line per method: answers, exact ones by group, seconds."""
    groups = sorted({row["group"] for row in rows})
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        counts = [sum(row["answer"] == name for row in mine) for name in ANSWERS]
        exact = [
            f"{sum(r['answer'] == 'exact' for r in mine if r['group'] == group)}"
            f" of {sum(r['group'] == group for r in mine)}"
            for group in groups
        ]
        failed = len(mine) - sum(counts)
        seconds = f"{np.mean([row['seconds'] for row in mine]):.2f}"
        lines.append([method, *counts, failed, *exact, seconds])
    head = ["method", *ANSWERS, "failed", *(f"exact: {group}" for group in groups), "seconds"]
    return markdown(head, lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the stars and print the table of all rows in the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.protocols stars",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder that holds stars/")
    parser.add_argument("--every", type=int, default=1, help="take every so many-th star")
    parser.add_argument("--methods", default="", help=f"of {'; '.join(METHODS)}, by semicolons")
    parser.add_argument("--rows", type=Path, help="file of rows, one JSON object per line")
    options = parser.parse_args(arguments)
    if not (options.data / "stars").is_dir():
        parser.error(f"--data {options.data}: there is no folder stars in it")
    packages = {name: package for name, (package, _) in METHODS.items()}
    methods = chosen(parser, options.methods, packages)
    catalogue, curves = load(options.data)
    everything: list[Row] = []
    for method in methods:
        stars = catalogue.iloc[:: options.every].itertuples()
        rows = [measure(method, star, curves[str(star.star)]) for star in stars]
        everything = keep(options.rows, (*everything, *rows), ("method", "star"))
        exact = sum(row["answer"] == "exact" for row in rows)
        print(f"{method}: exact {exact} of {len(rows)}", flush=True)
    print("\n" + table(everything))
    return 0
