"""Components and waveforms of `PeriodicMixture`: synthetic truths and real series.

``python -m benchmarks components``; or alone, ``python -m benchmarks.components --data DIR``. The
star of 1924 (``star_1924/star.csv``) and the tide (``tide_honolulu_2010/HNL2010.asc``) are not
shipped: point ``--data`` or the variable ROBUSTFOURIER_DATA to a folder that has them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.verdicts import Verdict, judged, print_verdicts, unseen_seeds
from robustfourier import PeriodicMixture
from robustfourier.datasets import load_double_mode_cepheid
from robustfourier.synthetic import paper_example, random_mixture, relative_error

NINETY = 1.6449  # half width of a 90 % interval in standard errors
CONSTITUENTS = {
    "M2": 12.4206012,
    "K1": 23.9344721,
    "O1": 25.8193387,
    "S2": 12.0,
    "P1": 24.0658877,
    "N2": 12.6583475,
}


def main(quick: bool = False, data: str | None = None) -> list[Verdict]:
    """Run all cases; `quick` takes few seeds."""
    seeds = unseen_seeds(2 if quick else 20)
    verdicts = [
        *example_three(seeds),
        *sawtooths(seeds),
        *coverage(unseen_seeds(2 if quick else 100)),
        *cepheid(),
    ]
    folder = data or os.environ.get("ROBUSTFOURIER_DATA")
    return [*verdicts, *star(folder), *tide(folder)]


def example_three(seeds: range) -> Iterator[Verdict]:
    """Three links of one cosine each, the paper's grid and noise."""
    errors, rivals, right, covered, seconds = [], [], [], [], []
    for seed in seeds:
        problem = paper_example(3, random_state=seed)
        start = time.perf_counter()
        model = PeriodicMixture().fit(problem.theta, problem.y)
        seconds.append(time.perf_counter() - start)
        values, band = model.predict(problem.theta, return_std=True)
        errors.append(relative_error(values, problem.truth))
        rivals.append(relative_error(_fft_threshold(problem.y), problem.truth))
        covered.append(np.mean(np.abs(values - problem.truth) < NINETY * band))
        found = sorted(component.mode for component in model.components_)
        right.append(len(found) == 3 and np.allclose(found, [5, 29, 61], atol=0.2))
    print(f"example 3: errors {np.round(errors, 4).tolist()}, {np.median(seconds):.1f} s per fit")
    median, share = float(np.median(errors)), float(np.mean(right))
    yield Verdict(
        f"example 3, {len(seeds)} seeds: components",
        "fundamentals 5, 29, 61 and no other in ≥ 80 %",
        f"{share:.0%}",
        share >= 0.8,
    )
    yield Verdict(
        "example 3: median relative error",
        "≤ 0.030 (aim 0.020)",
        f"{median:.4f}; FFT hard threshold {np.median(rivals):.4f}",
        median <= 0.030,
    )
    yield _coverage_verdict("example 3: coverage of predict", covered)


def _fft_threshold(y: np.ndarray) -> np.ndarray:
    """Keep the Fourier coefficients above the universal threshold of white noise."""
    spectrum = np.fft.rfft(y[:-1])
    size = len(y) - 1
    noise = np.median(np.abs(spectrum)) / np.sqrt(np.log(2.0))
    kept = np.abs(spectrum) > noise * np.sqrt(np.log(size / 2))
    smooth = np.fft.irfft(np.where(kept, spectrum, 0), size)
    return np.append(smooth, smooth[0])


def sawtooths(seeds: range) -> Iterator[Verdict]:
    """Linear trend, two sawtooths, 20 % of an even grid missing."""
    right = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        t = np.sort(rng.choice(1500, 1200, replace=False)) * 0.1
        periods = np.array([rng.uniform(6, 12), rng.uniform(2.5, 5)])
        y = 0.02 * t + sum(
            size * (2 * (t / period % 1) - 1)
            for size, period in zip((1.0, 0.7), periods, strict=True)
        )
        model = PeriodicMixture().fit(t, y + 0.4 * rng.normal(size=len(t)))
        found = np.array([component.period for component in model.components_])
        right.append(len(found) == 2 and np.allclose(np.sort(found), np.sort(periods), rtol=0.005))
    share = float(np.mean(right))
    yield Verdict(
        f"trend + two sawtooths, 20 % missing, {len(seeds)} seeds",
        "two components, the right fundamentals, in ≥ 90 %",
        f"{share:.0%}",
        share >= 0.9,
    )


def coverage(seeds: range) -> Iterator[Verdict]:
    """90 % intervals on random mixtures of sinusoids and of sharper patterns."""
    samplings: tuple[Literal["gappy", "even"], ...] = ("gappy", "even")
    for links, sampling in product((("identity",), ("tanh", "relu", "exp")), samplings):
        function, frequency, amplitude = [], [], []
        for seed in seeds:
            problem = random_mixture(
                4,
                links=links,
                max_mode=80,
                integer_modes=False,
                n_samples=1500,
                sampling=sampling,
                noise=0.5,
                random_state=seed,
            )
            model = PeriodicMixture().fit(problem.theta, problem.y)
            values, band = model.predict(problem.theta, return_std=True)
            function.append(np.mean(np.abs(values - problem.truth) < NINETY * band))
            if links == ("identity",):
                hits = list(_tone_hits(model, problem))
                frequency += [hit for hit, _ in hits]
                amplitude += [hit for _, hit in hits]
        case = f"{'/'.join(links)} mixtures, {sampling}, {len(seeds)} seeds: coverage of"
        yield _coverage_verdict(f"{case} predict", function)
        if frequency:
            yield _coverage_verdict(f"{case} frequency", frequency)
            yield _coverage_verdict(f"{case} amplitude", amplitude)


def _tone_hits(model: PeriodicMixture, problem: object) -> Iterator[tuple[bool, bool]]:
    """Whether the intervals of each tone that was found hold the truth."""
    table = model.modes_
    for tone in problem.components:  # type: ignore[attr-defined]
        off = np.abs(table.frequency - 0.5 * tone.mode)  # mode k makes k cycles over two units
        near = int(np.argmin(off)) if len(table) else -1
        if near >= 0 and off[near] < 0.25:
            spread = abs(table.amplitude[near] - tone.amplitude)
            yield (
                bool(off[near] < NINETY * table.frequency_error[near]),
                bool(spread < NINETY * table.amplitude_error[near]),
            )


def _coverage_verdict(case: str, covered: list) -> Verdict:
    mean = float(np.mean(covered))
    passed = judged(0.85 <= mean <= 0.95, len(covered))
    return Verdict(case, "90 % intervals hold the truth in 85 to 95 %", f"{mean:.1%}", passed)


def cepheid() -> Iterator[Verdict]:
    """The double-mode Cepheid that the package ships."""
    series = load_double_mode_cepheid()
    model = PeriodicMixture().fit(series.times, series.values, y_err=series.errors)
    periods = [component.period for component in model.components_]
    labels = set(model.modes_.label)
    near = [min(abs(p - known) for p in periods) for known in (1.3495, 1.8405)]
    yield Verdict(
        "double-mode Cepheid",
        "1.3495 and 1.8405 d as components (to 0.001 d), A+B and 2A labelled",
        f"periods {', '.join(f'{p:.5g}' for p in periods)}; labels {', '.join(sorted(labels))}",
        max(near) < 1e-3 and {"A+B", "2A"} <= labels,
    )


def _file(folder: str | None, name: str) -> Path | None:
    path = Path(folder) / name if folder else None
    return path if path and path.exists() else None


def _skipped(case: str) -> Verdict:
    return Verdict(case, "(needs --data)", "skipped: the file is not there", None)


def star(folder: str | None) -> Iterator[Verdict]:
    """Brightness of a variable star on 600 nights."""
    path = _file(folder, "star_1924/star.csv")
    if path is None:
        yield _skipped("star of 1924")
        return
    day, magnitude = np.loadtxt(path, delimiter=",", skiprows=1).T
    model = PeriodicMixture().fit(day, magnitude)
    periods = sorted((component.period for component in model.components_), reverse=True)
    yield Verdict(
        "star of 1924",
        "two components, 29.00 ± 0.02 and 24.00 ± 0.02 days, all else harmonics",
        f"{', '.join(f'{p:.4f}' for p in periods)} days, {len(model.modes_)} modes",
        len(periods) == 2 and np.allclose(periods, [29, 24], atol=0.02),
    )


def tide(folder: str | None) -> Iterator[Verdict]:
    """A year of hourly sea level; utide knows the astronomy and 59 constituents."""
    path = _file(folder, "tide_honolulu_2010/HNL2010.asc")
    if path is None:
        yield _skipped("tide at Honolulu")
        return
    day, level = np.loadtxt(path).T
    table = PeriodicMixture().fit(24.0 * day, level).modes_
    rows = [int(np.argmin(np.abs(table.period - hours))) for hours in CONSTITUENTS.values()]
    off = table.period[rows] - np.array(list(CONSTITUENTS.values()))
    sigma = np.abs(off) / table.period_error[rows]
    yield Verdict(
        "tide: M2, K1, O1, S2, P1, N2",
        "each within 3 standard errors and 0.01 h",
        ", ".join(
            f"{name} {o:+.4f} h ({s:.1f} σ)"
            for name, o, s in zip(CONSTITUENTS, off, sigma, strict=True)
        ),
        bool(np.all(sigma < 3) and np.all(np.abs(off) < 0.01)),
    )
    whole = np.floor(day - day[0])
    held = np.random.default_rng(0).permutation(365)[:73]
    yield _against_utide("a random fifth of the days", day, level, np.isin(whole, held))
    yield _against_utide("the last third", day, level, whole >= 365 * 2 / 3)


def _against_utide(case: str, day: np.ndarray, level: np.ndarray, held: np.ndarray) -> Verdict:
    """Root mean square error on held-out samples, ours over utide's."""
    import utide

    model = PeriodicMixture().fit(24.0 * day[~held], level[~held])
    ours = model.predict(24.0 * day[held])
    options = {"epoch": "1700-01-01", "verbose": False}
    known = utide.solve(
        day[~held], level[~held], lat=21.3, method="ols", conf_int="none", **options
    )
    theirs = utide.reconstruct(day[held], known, **options).h
    error, reference = (
        float(np.sqrt(np.mean((values - level[held]) ** 2))) for values in (ours, theirs)
    )
    return Verdict(
        f"tide: predicting {case}",
        "error ≤ 1.15 × utide's",
        f"{error:.1f} mm against {reference:.1f} mm: {error / reference:.3f}",
        error <= 1.15 * reference,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few seeds")
    parser.add_argument("--data", help="folder with star_1924 and tide_honolulu_2010")
    arguments = parser.parse_args()
    print_verdicts("Components", main(arguments.quick, arguments.data))
