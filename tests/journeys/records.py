"""Records of eight kinds of users, made with their truth known."""

import numpy as np
import pandas as pd

from robustfourier.fields import Bearing


def star(seed=0):
    """A season of nights of an RR Lyrae star, in magnitudes: 0.5671 d, steep rise."""
    rng = np.random.default_rng(seed)
    night = rng.choice(140, 220)
    days = np.sort(2_459_000.5 + night + rng.uniform(0.0, 0.3, len(night)))
    cycle = 2 * np.pi * (days - 2_459_100.25) / 0.5671
    wave = sum(0.35 / n * np.cos(n * cycle + 0.4 * (n - 1)) for n in range(1, 6))
    error = rng.uniform(0.01, 0.03, len(days))
    return pd.DataFrame(
        {"JD": days, "V_mag": 12.4 - wave + error * rng.normal(size=len(days)), "e_V": error}
    )


def genes(seed=0):
    """Genes against hours with two replicates; those named clock… peak at the hour they say."""
    rng = np.random.default_rng(seed)
    hours = np.arange(0, 48, 2)
    names = [f"clock_{h:02d}" for h in (0, 6, 12, 18)] + [f"other_{i}" for i in range(6)]
    columns = {f"ZT{hour:02d}_{r}": [] for hour in hours for r in (1, 2)}
    for name in names:
        peak = int(name[-2:]) if name.startswith("clock") else None
        for column, cells in columns.items():
            hour = int(column[2:4])
            wave = 0.0 if peak is None else 2.0 * np.cos(2 * np.pi * (hour - peak) / 24)
            cells.append(round(8.0 + wave + 0.4 * rng.normal(), 3))
    return pd.DataFrame({"gene": names, **columns})


def requests(seed=0):
    """Requests of a service, every ten minutes for four weeks: days, weekends, a spike, a gap."""
    rng = np.random.default_rng(seed)
    stamps = pd.date_range("2024-03-04", periods=4 * 7 * 144, freq="10min", tz="UTC")
    hour = stamps.hour + stamps.minute / 60.0
    day = 1.0 + 0.6 * np.cos(2 * np.pi * (hour - 14.0) / 24)
    rate = 200.0 * day * np.where(stamps.day_of_week >= 5, 0.5, 1.0)
    counts = rng.poisson(rate)
    counts[2000:2006] *= 12
    keep = (np.arange(len(stamps)) < 3000) | (np.arange(len(stamps)) > 3090)
    return pd.DataFrame({"timestamp": stamps, "requests": counts})[keep]


def sales(seed=0):
    """Daily sales of two shops over three years: Saturdays, August, growth."""
    rng = np.random.default_rng(seed)
    days = pd.date_range("2021-01-01", periods=3 * 365)
    week = np.array([0.0, 0.0, 0.0, 0.1, 0.4, 1.0, 0.2])[days.day_of_week]
    year = 0.25 * np.cos(2 * np.pi * (days.day_of_year - 227) / 365.25)
    grown = 100.0 * np.exp(0.0003 * np.arange(len(days)))
    values = grown * np.exp(0.5 * week + year + 0.06 * rng.normal(size=len(days)))
    return pd.DataFrame({"date": days.strftime("%d.%m.%Y"), "sales": values.round(2)})


RATE, SHAFT = 20_000.0, 25.0
BEARING = Bearing(8, 0.235, 1.245)


def acceleration(seconds=1.0, seed=0):
    """A damaged outer race: a resonance of 4 kHz rings at each strike, with some slip, in noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    rate = SHAFT * BEARING.orders()["BPFO"]
    strikes = np.cumsum((1.0 + 0.005 * rng.normal(size=int(seconds * rate) - 2)) / rate)
    y = rng.normal(size=len(t)) + 1.5 * np.cos(2 * np.pi * SHAFT * t)
    for strike in strikes:
        after = t - strike
        ring = (after > 0) & (after < 0.01)
        y[ring] += 4.0 * np.exp(-900 * after[ring]) * np.sin(2 * np.pi * 4000 * after[ring])
    return y, rate
