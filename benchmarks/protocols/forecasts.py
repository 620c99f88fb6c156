"""Forecasts of real series: 40 of the M4 competition by hour, 60 of Australian tourism by quarter.

``python -m benchmarks.protocols forecasts --data DIR --rows FILE`` reads
``DIR/forecasts/m4_hourly_40.csv.gz`` and ``tourism_quarterly_60.csv.gz``, holds out the last 48
hours or 8 quarters, and measures as the M4 competition does: the mean absolute error over that of
the seasonal naive forecast within the record (MASE), the symmetric mean absolute percentage error
(sMAPE), the mean scaled interval score of 95 % intervals (MSIS), and the part of new values inside
the 90 % and 95 % intervals. Every second series, from the second one on, is also told apart
("second half"); results of both halves were seen while the method was made, so neither is a blind
test. statsforecast pins another pandas: run the same command with ``--methods`` in an environment
of its own and the same file of rows.

Settings. Ours: `PeriodicMixture()` with dates, told nothing. statsforecast: MSTL of 24 and 168
hours, or 4 quarters (its trend by AutoETS), AutoETS and SeasonalNaive of 24 hours or 4 quarters.
Prophet: its own choice of seasonalities from the dates.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.protocols.installed_methods import chosen
from benchmarks.rows import Row, keep
from benchmarks.verdicts import markdown

FloatArray = NDArray[np.float64]
#: Mean, and the ends of the 90 % and of the 95 % interval.
Ahead = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
LEVELS = (90, 95)


@dataclass(frozen=True, eq=False)
class Record:
    """A series: its set, dates, values, how many are held out, seasons in samples, frequency."""

    group: str
    name: str
    times: Any
    values: FloatArray
    ahead: int
    seasons: tuple[int, ...]
    frequency: str
    second_half: bool = False

    @property
    def known(self) -> FloatArray:
        """Values before those that are held out."""
        return self.values[: -self.ahead]


def records(data: Path) -> Iterator[Record]:
    """Read both sets."""
    sets = (
        ("M4 hourly", "m4_hourly_40.csv.gz", ("series_id", "timestamp", "value"), 48, (24, 168),
         "h"),
        ("tourism quarterly", "tourism_quarterly_60.csv.gz", ("id", "date_time", "Trips"), 8, (4,),
         "QS"),
    )  # fmt: skip
    for group, file, (name, when, value), ahead, seasons, frequency in sets:
        frame = pd.read_csv(data / "forecasts" / file, parse_dates=[when])
        for i, (series, part) in enumerate(frame.groupby(name)):
            part = part.sort_values(when)
            yield Record(group, str(series), part[when].to_numpy(), part[value].to_numpy(float),
                         ahead, seasons, frequency, i % 2 == 1)  # fmt: skip


def ours(record: Record) -> Ahead:
    """`PeriodicMixture`, told nothing."""
    from robustfourier import PeriodicMixture

    n = len(record.known)
    model = PeriodicMixture().fit(record.times[:n], record.known)
    each = [model.forecast(times=record.times[n:], coverage=level / 100) for level in LEVELS]
    return each[0].mean, *(end for told in each for end in (told.lower, told.upper))  # type: ignore[return-value]


def _statsforecast(record: Record, model: Any) -> Ahead:
    told = model.forecast(y=record.known, h=record.ahead, level=list(LEVELS))
    ends = (np.asarray(told[f"{end}-{n}"], float) for n in LEVELS for end in ("lo", "hi"))
    return np.asarray(told["mean"], float), *ends  # type: ignore[return-value]


def mstl(record: Record) -> Ahead:
    """MSTL of all seasons."""
    from statsforecast.models import MSTL, AutoETS

    return _statsforecast(record, MSTL(season_length=list(record.seasons),
                                       trend_forecaster=AutoETS(model="ZZN")))  # fmt: skip


def auto_ets(record: Record) -> Ahead:
    """AutoETS of the shortest season."""
    from statsforecast.models import AutoETS

    return _statsforecast(record, AutoETS(season_length=record.seasons[0]))


def seasonal_naive(record: Record) -> Ahead:
    """The last cycle of the shortest season again."""
    from statsforecast.models import SeasonalNaive

    return _statsforecast(record, SeasonalNaive(season_length=record.seasons[0]))


def prophet(record: Record) -> Ahead:
    """Prophet with what it chooses from the dates."""
    from prophet import Prophet

    for name in ("prophet", "cmdstanpy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    n = len(record.known)
    parts: list[FloatArray] = []
    for level in LEVELS:
        model = Prophet(interval_width=level / 100)
        model.fit(pd.DataFrame({"ds": record.times[:n], "y": record.known}))
        told = model.predict(pd.DataFrame({"ds": record.times[n:]}))
        parts += [told[k].to_numpy(float) for k in ("yhat_lower", "yhat_upper")]
    return told["yhat"].to_numpy(float), *parts  # type: ignore[return-value]


METHODS: dict[str, tuple[str, Callable[[Record], Ahead]]] = {
    "PeriodicMixture": ("robustfourier", ours),
    "MSTL": ("statsforecast", mstl),
    "AutoETS": ("statsforecast", auto_ets),
    "seasonal naive": ("statsforecast", seasonal_naive),
    "Prophet": ("prophet", prophet),
}


def scaled_error(record: Record, mean: FloatArray) -> float:
    """Mean absolute error over that of the seasonal naive forecast within the record (MASE)."""
    season = record.seasons[0]
    naive = np.mean(np.abs(record.known[season:] - record.known[:-season]))
    return float(np.mean(np.abs(record.values[-record.ahead :] - mean)) / naive)


def percentage_error(record: Record, mean: FloatArray) -> float:
    """Symmetric mean absolute percentage error (sMAPE), from 0 to 200; zero for zero is right."""
    after = record.values[-record.ahead :]
    size = np.abs(after) + np.abs(mean)
    return float(200.0 * np.mean(np.abs(after - mean) / np.where(size > 0, size, 1.0)))


def interval_score(record: Record, lower: FloatArray, upper: FloatArray) -> float:
    """Mean scaled interval score of 95 % intervals (MSIS): width, and 40 times what lies outside.

    Over the mean absolute error of the seasonal naive forecast within the record.
    """
    after, season = record.values[-record.ahead :], record.seasons[0]
    naive = np.mean(np.abs(record.known[season:] - record.known[:-season]))
    outside = np.maximum(lower - after, 0.0) + np.maximum(after - upper, 0.0)
    return float(np.mean(upper - lower + 40.0 * outside) / naive)


def measure(method: str, record: Record) -> Row:
    """Forecast one series; a method that fails has no error."""
    start = time.process_time()
    row: Row = {"method": method, "set": record.group, "series": record.name,
                "second_half": record.second_half}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mean, lower, upper, low, high = METHODS[method][1](record)
        except Exception as problem:
            return row | {"failed": f"{type(problem).__name__}: {problem}"[:120]}
    after = record.values[-record.ahead :]
    naive = np.mean(np.abs(np.diff(record.known)))
    return row | {
        "mase": round(scaled_error(record, mean), 4),
        "smape": round(percentage_error(record, mean), 4),
        "msis": round(interval_score(record, low, high), 4),
        "inside": float(np.mean((after >= lower) & (after <= upper))),
        "inside_95": float(np.mean((after >= low) & (after <= high))),
        "width": round(float(np.mean(upper - lower) / naive), 3),
        "seconds": round(time.process_time() - start, 3),
    }


def table(rows: Sequence[Row]) -> str:
    """One line per set and method: errors, coverage, bad series, seconds."""
    lines = []
    for group in dict.fromkeys(row["set"] for row in rows):
        for method in METHODS:
            mine = [r for r in rows if r["set"] == group and r["method"] == method]
            done = [r for r in mine if "mase" in r]
            if not done:
                continue
            mase, inside, wide, smape, msis = (
                np.array([r[key] for r in done])
                for key in ("mase", "inside", "inside_95", "smape", "msis")
            )
            other = [r["mase"] for r in done if r["second_half"]] or [np.nan]
            lines.append((
                group, method, f"{mase.mean():.3f}", f"{np.mean(other):.3f}",
                f"{np.median(mase):.3f}", f"{smape.mean():.2f}", f"{msis.mean():.2f}",
                f"{inside.mean():.1%}", f"{wide.mean():.1%}",
                f"{np.sum(inside < 0.6)} of {len(done)}",
                len(mine) - len(done), f"{np.mean([r['seconds'] for r in done]):.2f}",
            ))  # fmt: skip
    head = ("set", "method", "MASE, mean", "MASE, second half", "MASE, median", "sMAPE", "MSIS",
            "in the 90 % interval", "in the 95 % interval", "series below 60 %", "failed",
            "seconds")  # fmt: skip
    return markdown(head, lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the forecasts and print the table of all rows in the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.protocols forecasts",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder that holds forecasts/")
    parser.add_argument("--every", type=int, default=1, help="take every so many-th series")
    parser.add_argument("--methods", default="", help=f"of {'; '.join(METHODS)}, by semicolons")
    parser.add_argument("--rows", type=Path, help="file of rows, one JSON object per line")
    options = parser.parse_args(arguments)
    if not (options.data / "forecasts").is_dir():
        parser.error(f"--data {options.data}: there is no folder forecasts in it")
    packages = {name: package for name, (package, _) in METHODS.items()}
    methods = chosen(parser, options.methods, packages)
    everything: list[Row] = []
    for method in methods:
        series = list(records(options.data))[:: options.every]
        measure(method, series[0])  # what is compiled or loaded once is not counted
        rows = [measure(method, r) for r in series]
        everything = keep(options.rows, (*everything, *rows), ("method", "set", "series"))
        print(f"{method}: {sum('mase' in row for row in rows)} of {len(rows)}", flush=True)
    print("\n" + table(everything))
    return 0
