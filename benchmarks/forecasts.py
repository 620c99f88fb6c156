"""Forecasts of the last tenth of real series, against the usual forecasters.

``python -m benchmarks.forecasts [--data DIR]`` fits each method to the first nine tenths, writes
``benchmarks/results/forecasts/rows.csv``, and `section` makes the table of `docs/benchmarks.md`
from it. All rivals are told the season; we are told nothing. Errors are root mean squares over
the series' standard deviation; coverage is the part of measurements in the 90 % interval.
"""

from __future__ import annotations

import argparse
import csv
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.verdicts import markdown
from robustfourier import PeriodicMixture
from robustfourier.datasets import load_electricity_demand, load_sunspots

FloatArray = NDArray[np.float64]
Ahead = tuple[FloatArray, FloatArray | None, FloatArray | None]

ROWS = Path(__file__).parent / "results" / "forecasts" / "rows.csv"
PART = 0.1
#: Parts of each record after which is forecast as well: one origin says little of an interval.
ORIGINS = (1.0, 0.9, 0.8, 0.7)
ROLLING = "robustfourier, rolling"
RIVALS = ("AutoETS", "MSTL", "seasonal naive", "Prophet")


@dataclass(frozen=True, eq=False)
class Record:
    """An even series and its seasons in samples, the longest last."""

    name: str
    values: FloatArray
    seasons: tuple[int, ...]


def records(data: Path | None) -> Iterator[Record]:
    """Real series: bundled ones, those of statsmodels, and the tide if it is at hand."""
    from statsmodels.datasets import co2, elnino, macrodata, nile

    yield Record("sunspots", load_sunspots().values, (11,))
    yield Record("electricity demand", load_electricity_demand().values, (48, 336))
    weekly = co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    yield Record("CO2 at Mauna Loa", weekly.to_numpy(float), (12,))
    months = elnino.load_pandas().data.iloc[:, 1:]
    yield Record("sea temperature (El Niño)", months.to_numpy(float).ravel(), (12,))
    gdp = macrodata.load_pandas().data["realgdp"]
    yield Record("GDP of the USA", gdp.to_numpy(float), (4,))
    yield Record("flow of the Nile", nile.load_pandas().data["volume"].to_numpy(float), (1,))
    if data is not None and (data / "tide_honolulu_2010").is_dir():
        level = np.loadtxt(data / "tide_honolulu_2010" / "HNL2010.asc", usecols=1)
        yield Record("tide at Honolulu, 3 months", level[:2160], (25,))


def ours(y: FloatArray, ahead: int, seasons: tuple[int, ...]) -> Ahead:  # noqa: ARG001
    """`PeriodicMixture`, told nothing."""
    n = len(y)
    told = PeriodicMixture().fit(np.arange(n, dtype=float), y)
    result = told.forecast(times=np.arange(n, n + ahead, dtype=float))
    return result.mean, result.lower, result.upper


def auto_ets(y: FloatArray, ahead: int, seasons: tuple[int, ...]) -> Ahead:
    """Exponential smoothing; error, trend, damping and season by the corrected AIC."""
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    season = seasons[0] if seasons[0] > 1 else None
    kinds = ["add", "mul"] if y.min() > 0 else ["add"]
    seasonal: list[str | None] = [None, *kinds] if season and season <= 24 else [None]
    if season and season > 24:
        seasonal = ["add"]
    best: Any = None
    for error, trend, cycle in product(kinds, (None, "add", "damped"), seasonal):
        options: dict[str, Any] = {"error": error, "trend": trend and "add", "seasonal": cycle}
        options |= {"damped_trend": trend == "damped"}
        options |= {"seasonal_periods": season} if cycle else {}
        try:
            fit = ETSModel(pd.Series(y), **options).fit(disp=False, maxiter=200)
        except (ValueError, np.linalg.LinAlgError):
            continue
        if np.isfinite(fit.aicc) and (best is None or fit.aicc < best.aicc):
            best = fit
    told = best.get_prediction(start=len(y), end=len(y) + ahead - 1, simulate_repetitions=500)
    frame = told.summary_frame(alpha=0.1)
    return frame["mean"].to_numpy(), frame["pi_lower"].to_numpy(), frame["pi_upper"].to_numpy()


def mstl(y: FloatArray, ahead: int, seasons: tuple[int, ...]) -> Ahead:
    """MSTL told the seasons: the last cycle of each, and exponential smoothing of the trend."""
    from statsmodels.tsa.seasonal import MSTL

    usable = tuple(s for s in seasons if 1 < s < len(y) // 2)
    if not usable:
        return _holt(y, ahead), None, None
    parts = MSTL(pd.Series(y), periods=usable).fit()
    seasonal = np.asarray(parts.seasonal).reshape(len(y), -1)
    mean = _holt(y - seasonal.sum(axis=1), ahead)
    steps = np.arange(ahead)
    for column, season in zip(seasonal.T, sorted(usable), strict=True):
        mean = mean + column[len(y) - season + steps % season]
    return mean, None, None


def _holt(y: FloatArray, ahead: int) -> FloatArray:
    """Exponential smoothing with a damped trend."""
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    fit = ETSModel(pd.Series(y), trend="add", damped_trend=True).fit(disp=False)
    return np.asarray(fit.forecast(ahead))


def seasonal_naive(y: FloatArray, ahead: int, seasons: tuple[int, ...]) -> Ahead:
    """The last cycle of the longest season again."""
    season = seasons[-1]
    return y[len(y) - season + np.arange(ahead) % season], None, None


def prophet(y: FloatArray, ahead: int, seasons: tuple[int, ...]) -> Ahead:
    """Prophet told the seasons, a sample being a day."""
    from prophet import Prophet

    for name in ("prophet", "cmdstanpy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    days = pd.date_range("2000-01-01", periods=len(y) + ahead, freq="D")
    options = {f"{name}_seasonality": False for name in ("yearly", "weekly", "daily")}
    model = Prophet(interval_width=0.9, **options)
    for season in seasons:
        if season > 1:
            model.add_seasonality(f"s{season}", period=season, fourier_order=min(10, season // 2))
    model.fit(pd.DataFrame({"ds": days[: len(y)], "y": y}))
    told = model.predict(pd.DataFrame({"ds": days[len(y) :]}))
    ends = (told[name].to_numpy() for name in ("yhat_lower", "yhat_upper"))
    return (told["yhat"].to_numpy(), *ends)  # type: ignore[return-value]


METHODS: dict[str, Callable[[FloatArray, int, tuple[int, ...]], Ahead]] = {
    "robustfourier": ours,
    "AutoETS": auto_ets,
    "MSTL": mstl,
    "seasonal naive": seasonal_naive,
    "Prophet": prophet,
}


def measure(record: Record, method: str) -> dict[str, str]:
    """Fit to the first nine tenths and compare with the last."""
    ahead = round(PART * len(record.values))
    known, new = record.values[:-ahead], record.values[-ahead:]
    start = time.process_time()
    mean, lower, upper = METHODS[method](known, ahead, record.seasons)
    seconds = time.process_time() - start
    error = np.sqrt(np.mean((mean - new) ** 2)) / np.std(record.values)
    inside = "" if lower is None or upper is None else np.mean((new >= lower) & (new <= upper))
    return {
        "series": record.name,
        "method": method,
        "error": f"{error:.4f}",
        "coverage": inside if inside == "" else f"{inside:.3f}",
        "seconds": f"{seconds:.2f}",
    }


def rolling(record: Record) -> dict[str, str]:
    """Our forecasts from several origins, each of the last tenth of what is known by then."""
    start, errors, inside = time.process_time(), [], []
    for part in ORIGINS:
        values = record.values[: round(part * len(record.values))]
        ahead = round(PART * len(values))
        mean, lower, upper = ours(values[:-ahead], ahead, record.seasons)
        new = values[-ahead:]
        errors.append(np.mean((mean - new) ** 2) / np.var(record.values))
        inside.append(np.mean((new >= lower) & (new <= upper)))
    return {
        "series": record.name,
        "method": ROLLING,
        "error": f"{np.sqrt(np.mean(errors)):.4f}",
        "coverage": f"{np.mean(inside):.3f}",
        "seconds": f"{time.process_time() - start:.2f}",
    }


def section(rows_file: Path = ROWS) -> str:
    """The table of forecasts with its verdicts, in Markdown; empty if none were made."""
    if not rows_file.is_file():
        return ""
    rows = _read(rows_file)
    told = {(row["series"], row["method"]): row for row in rows}
    names = list(dict.fromkeys(row["series"] for row in rows))
    lines = ["## Forecasts of the last tenth", ""]
    lines += [
        "Root mean square error over the standard deviation of the series, and in brackets the",
        "part of the measurements inside the 90 % interval. Rivals are told the season (MSTL and",
        "Prophet all of them), we are told nothing. AutoETS takes the best of exponential",
        "smoothings by the corrected AIC (statsmodels). One forecast each, of the last tenth:",
        "`python -m benchmarks.forecasts`.",
        "",
    ]
    body = []
    for name in names:
        cells = [_cell(told.get((name, method))) for method in METHODS]
        errors = [float(told[name, m]["error"]) for m in RIVALS if (name, m) in told]
        own = float(told[name, "robustfourier"]["error"])
        word = "ahead" if own < 0.95 * min(errors) else "even" if own <= 1.05 * min(errors) else ""
        body.append((name, *cells, word or "behind"))
    lines.append(markdown(("series", *METHODS, "verdict"), body))
    lines += _rolled([row for row in rows if row["method"] == ROLLING])
    return "\n".join(lines) + "\n"


def _read(rows_file: Path) -> list[dict[str, str]]:
    """Rows of a file; none if there is no file."""
    if not rows_file.is_file():
        return []
    with rows_file.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(rows_file: Path, rows: list[dict[str, str]]) -> None:
    rows_file.parent.mkdir(parents=True, exist_ok=True)
    with rows_file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _rolled(rows: list[dict[str, str]]) -> list[str]:
    """The table of our intervals from several origins."""
    if not rows:
        return []
    lines = [
        "",
        f"Our forecasts of the last tenths of {', '.join(f'{p:.0%}' for p in ORIGINS)} of each",
        "record; the 90 % interval should hold at least 80 % of each series.",
        "",
    ]
    body = []
    for row in rows:
        inside = float(row["coverage"])
        word = "holds" if inside >= 0.8 else "falls short"
        body.append((row["series"], f"{float(row['error']):.3f}", f"{inside:.0%}", word))
    return [*lines, markdown(("series", "error", "inside", "verdict"), body)]


def _cell(row: dict[str, str] | None) -> str:
    if row is None:
        return "–"
    inside = f" ({float(row['coverage']):.0%})" if row["coverage"] else ""
    return f"{float(row['error']):.3f}{inside}"


def main(arguments: list[str] | None = None) -> int:
    """Measure all, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecasts", description=__doc__)
    parser.add_argument("--data", type=Path, default=None, help="folder of series not shipped")
    parser.add_argument("--out", type=Path, default=ROWS, help="file of rows")
    every = [*METHODS, ROLLING]
    parser.add_argument("--methods", nargs="*", choices=every, default=every)
    options = parser.parse_args(arguments)
    rows = []
    warnings.simplefilter("ignore")
    for record, method in product(records(options.data), options.methods):
        rows.append(rolling(record) if method == ROLLING else measure(record, method))
        print(rows[-1], flush=True)
    # Rows of methods that were not asked for stay.
    old = [row for row in _read(options.out) if row["method"] not in options.methods]
    _write(options.out, old + rows)
    print(section(options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
