"""Modes found by detection: accuracy against the limit and the rivals, false alarms, speed.

"Limit" is nonlinear least squares started at the true modes, which no method can know. Medians
over noise seeds; every row ends in a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter

from benchmarks.peers.face import Told
from benchmarks.peers.methods import fft_threshold, lasso_cv, lombscargle, omp_cv
from benchmarks.speed import speed_rows
from benchmarks.verdicts import Verdict, judged, unseen_seeds
from robustfourier.mixture.judge import Judge, false_alarm
from robustfourier.mixture.search.detection import Detection, detect
from robustfourier.periodic.uncertainty import amplitude_errors, phase_errors
from robustfourier.periodic.variable_projection import refine
from robustfourier.synthetic import Problem, paper_example, random_mixture, relative_error

GRID = np.linspace(-1.0, 1.0, 10_001)
TRUE_MODES = np.array([5.0, 29.0, 61.0])
RIVALS: dict[str, Any] = {
    "Lomb-Scargle": lombscargle,
    "LassoCV": lasso_cv,
    "OMP-CV": omp_cv,
    "FFT": fft_threshold,
}


def main(quick: bool = False) -> list[Verdict]:
    seeds = 1 if quick else 20
    rows: list[Callable[[], Iterable[Verdict]]] = [
        lambda: paper_rows(1, seeds),
        lambda: paper_rows(2, seeds),
        lambda: mixture_rows(seeds),
        lambda: two_tone_rows(3 if quick else 100),
        lambda: noise_rows(3 if quick else 500),
        lambda: outlier_rows(seeds),
        lambda: coverage_rows(5 if quick else 400),
        lambda: speed_rows(quick),
    ]
    verdicts: list[Verdict] = []
    for row in rows:
        for verdict in row():
            print(f"{verdict.word}: {verdict.case}: {verdict.measured}", flush=True)
            verdicts.append(verdict)
    return verdicts


@dataclass(frozen=True)
class Errors:
    """Relative errors of one problem: ours, the limit's and each rival's."""

    ours: float
    limit: float
    rivals: dict[str, float]


def error_of(found: Detection, problem: Problem) -> float:
    return relative_error(found.evaluate(GRID)[:, 0], problem.function(GRID))


def limit_error(problem: Problem, modes: np.ndarray, *, fixed: bool = False) -> float:
    """Error of least squares started at the true modes, or on them."""
    known = np.full(len(modes), fixed)
    fit = refine(problem.theta, problem.y[:, None], np.ones(len(problem.y)), modes, fixed=known)
    prediction = fit.trend[0, 0] + fit.lines.evaluate(GRID)[:, 0]
    return relative_error(prediction, problem.function(GRID))


def rival_errors(problem: Problem, highest: float, *, periodic: bool) -> dict[str, float]:
    """Errors of the rivals; those with a dictionary are told the band, our method is not."""
    even = np.ptp(np.diff(problem.theta)) < 1e-9
    told = Told(periods=np.empty(0), highest_mode=highest, periodic=periodic, span=2.0)
    errors = {}
    for name, rival in RIVALS.items():
        if rival.EVEN_ONLY and not even:
            continue
        prediction = rival.fit(problem.theta, problem.y, told).predict(GRID)
        errors[name] = relative_error(prediction, problem.function(GRID))
    return errors


def listed(errors: list[Errors]) -> str:
    """Median errors in words."""
    names = errors[0].rivals
    rivals = [f"{name} {np.median([e.rivals[name] for e in errors]):.4f}" for name in names]
    ours = f"ours {np.median([e.ours for e in errors]):.4f}"
    return ", ".join([ours, f"limit {np.median([e.limit for e in errors]):.4f}", *rivals])


# -- the paper's examples ------------------------------------------------------------------------


def paper_rows(number: int, seeds: int) -> Iterable[Verdict]:
    exact, errors, ratios = [], [], []
    for seed in unseen_seeds(seeds):
        problem = paper_example(number, random_state=seed)
        found = detect(problem.theta, problem.y[:, None])
        exact.append(
            len(found.lines) == 3
            and bool(np.all(np.abs(found.lines.mode - TRUE_MODES) <= 3.0 * found.mode_error))
        )
        rivals = rival_errors(problem, 200.0, periodic=True) if len(errors) < 5 else {}
        errors.append(Errors(error_of(found, problem), limit_error(problem, TRUE_MODES), rivals))
        whole = detect(problem.theta, problem.y[:, None], frequencies="integer")
        ratios.append(error_of(whole, problem) / limit_error(problem, TRUE_MODES, fixed=True))
    case = f"example {number}, {seeds} seeds"
    share = float(np.mean(exact))
    yield Verdict(
        case, "modes 5, 29, 61 within 3 standard errors in ≥ 95 %", f"{share:.0%}", share >= 0.95
    )
    ratio = float(np.median([e.ours / e.limit for e in errors]))
    with_rivals = [e for e in errors if e.rivals]
    yield Verdict(
        case, "error ≤ 1.1 × limit", f"{ratio:.4f} × ({listed(with_rivals)})", ratio <= 1.1
    )
    ratio = float(np.median(ratios))
    yield Verdict(
        f"{case}, integer", "≤ 1.05 × least squares on the true modes", f"{ratio:.4f} ×",
        ratio <= 1.05,
    )  # fmt: skip


# -- random mixtures -----------------------------------------------------------------------------


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    return random_mixture(
        int(rng.integers(3, 11)),
        max_mode=100.0,
        integer_modes=False,
        amplitudes=(0.2, 1.0),
        n_samples=int(rng.integers(1000, 3001)),
        sampling="gappy",
        noise=0.6,
        random_state=seed,
    )


def above_limit(problem: Problem, found: Detection) -> np.ndarray:
    """Mark tones whose expected power has a false-alarm probability below the level of 1 %.

    The noise can take a deviation of the power away: √(2z) for an expected ratio z.
    """
    modes = np.array([c.mode for c in problem.components])
    amplitude = np.array([c.amplitude for c in problem.components])
    z = len(problem.theta) * amplitude**2 / (4.0 * problem.noise**2)
    series, highest = found.series, found.limit.max_mode
    width = Judge(series.theta, series.weights, 1.5, highest).widths(modes)
    return np.asarray(false_alarm(np.maximum(z - np.sqrt(2.0 * z), 0.0), width=width) < 0.01)


def mixture_rows(seeds: int) -> Iterable[Verdict]:
    errors, hits, false, total = [], [], 0, 0
    for seed in unseen_seeds(seeds):
        problem = random_problem(seed)
        modes = np.array([c.mode for c in problem.components])
        found = detect(problem.theta, problem.y[:, None])
        distance = np.abs(modes[:, None] - found.lines.mode)
        hits += list(distance.min(axis=1, initial=np.inf)[above_limit(problem, found)] < 0.5)
        false += int(np.sum(distance.min(axis=0) >= 0.5))
        total += len(found.lines)
        rivals = rival_errors(problem, 102.0, periodic=False)
        errors.append(Errors(error_of(found, problem), limit_error(problem, modes), rivals))
    case = f"random mixtures, {seeds} draws"
    ratio = float(np.median([e.ours / e.limit for e in errors]))
    yield Verdict(case, "error ≤ 1.1 × limit", f"{ratio:.4f} × ({listed(errors)})", ratio <= 1.1)
    share = float(np.mean(hits))
    yield Verdict(case, "≥ 90 % of the tones above the limit", f"{share:.1%}", share >= 0.9)
    share = false / max(total, 1)
    yield Verdict(case, "≤ 2 % false lines", f"{share:.1%} of {total}", share <= 0.02)
    for name in errors[0].rivals:
        ratio = float(np.median([e.ours / e.rivals[name] for e in errors]))
        yield Verdict(f"{case}, {name}", "≤ half of its error", f"{ratio:.3f} ×", ratio <= 0.5)


def two_tone_rows(seeds: int) -> Iterable[Verdict]:
    found = []
    for seed in unseen_seeds(seeds):
        rng = np.random.default_rng(seed)
        theta = np.linspace(-1, 1, 2000) if seed % 2 else np.sort(rng.uniform(-1, 1, 2000))
        modes = rng.uniform(10, 100) + np.array([0.0, 1.5])
        pure = np.cos(np.pi * np.outer(theta, modes) - rng.uniform(0, 2 * np.pi, 2)).sum(axis=1)
        lines = detect(theta, (pure + rng.normal(size=2000))[:, None]).lines
        found.append(len(lines) == 2 and bool(np.all(np.abs(lines.mode - modes) < 0.5)))
    share = float(np.mean(found))
    yield Verdict(
        f"two tones 1.5 modes apart, {seeds} seeds", "both, and only both, in ≥ 80 %",
        f"{share:.0%}", share >= 0.8,
    )  # fmt: skip


# -- noise, outliers, coverage -------------------------------------------------------------------


def draw_noise(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "AR(1) 0.7":
        return np.asarray(lfilter([1.0], [1.0, -0.7], rng.normal(size=n + 200))[200:])
    return rng.standard_t(3, size=n) if kind == "Student t(3)" else rng.normal(size=n)


def nightly(n: int, rng: np.random.Generator) -> np.ndarray:
    """Samples within two hours of midnight, in as many nights of four seasons of 200 days."""
    season, night = np.divmod(rng.permutation(800)[:n], 200)
    day = np.sort(365.0 * season + night + rng.uniform(-1.0 / 12.0, 1.0 / 12.0, n))
    return 2.0 * (day - day[0]) / np.ptp(day) - 1.0


def noise_rows(seeds: int, n: int = 500) -> Iterable[Verdict]:
    for kind in ("white", "AR(1) 0.7", "Student t(3)"):
        for sampling in ("even", "irregular", *(["nightly"] if kind != "AR(1) 0.7" else [])):
            alarms = 0
            for seed in unseen_seeds(seeds):
                rng = np.random.default_rng(seed)
                even = sampling == "even"
                theta = np.linspace(-1, 1, n) if even else np.sort(rng.uniform(-1, 1, n))
                theta = nightly(n, rng) if sampling == "nightly" else theta
                alarms += len(detect(theta, draw_noise(kind, n, rng)[:, None]).lines) > 0
            yield Verdict(
                f"noise alone: {kind}, {sampling}, {seeds} seeds", "a mode in ≤ 2 %",
                f"{alarms} of {seeds}", judged(alarms <= 0.02 * seeds, seeds),
            )  # fmt: skip


def outlier_rows(seeds: int) -> Iterable[Verdict]:
    for sign in ("either sign", "one sign"):
        ratios = []
        for seed in unseen_seeds(seeds):
            problem = paper_example(2, random_state=seed)
            rng = np.random.default_rng(1000 + seed)
            hit = rng.random(len(problem.y)) < 0.05
            side = rng.choice([-1.0, 1.0], len(problem.y)) if sign == "either sign" else 1.0
            clean = detect(problem.theta, problem.y[:, None])
            spoiled = detect(problem.theta, (problem.y + 10.0 * side * hit)[:, None])
            ratios.append(error_of(spoiled, problem) / error_of(clean, problem))
        ratio = float(np.median(ratios))
        yield Verdict(
            f"example 2, 5 % outliers of size 10, {sign}, {seeds} seeds",
            "≤ 1.5 × the error without", f"{ratio:.2f} ×", ratio <= 1.5,
        )  # fmt: skip


def coverage_rows(seeds: int) -> Iterable[Verdict]:
    """Share of 90 % intervals that cover the truth, in white and in coloured noise."""
    for kind in ("white", "AR(1) 0.7"):
        inside: dict[str, list[bool]] = {"frequency": [], "amplitude": [], "phase": []}
        for seed in unseen_seeds(seeds):
            rng = np.random.default_rng(seed)
            theta = np.linspace(-1, 1, 800)
            mode, phase = rng.uniform(20, 100), rng.uniform(-3, 3)
            pure = np.cos(np.pi * mode * theta - phase)
            found = detect(theta, (pure + draw_noise(kind, 800, rng))[:, None])
            nearest = np.argmin(np.abs(found.lines.mode - mode)) if len(found.lines) else None
            if nearest is None or abs(found.lines.mode[nearest] - mode) > 1:
                continue
            i = int(nearest)
            refined = found.fit.refined
            fit = (refined.lines, refined.factor, len(refined.trend))
            turn = np.angle(np.exp(1j * (found.lines.phase[i, 0] - phase)))
            for name, off, error in (
                ("frequency", found.lines.mode[i] - mode, found.mode_error[i]),
                (
                    "amplitude",
                    found.lines.amplitude[i, 0] - 1.0,
                    float(amplitude_errors(*fit)[i, 0] * found.series.scale[0]),
                ),
                ("phase", turn, phase_errors(*fit)[i, 0]),
            ):
                inside[name].append(bool(abs(off) <= 1.6449 * error))
        for name, hits in inside.items():
            share = float(np.mean(hits))
            yield Verdict(
                f"90 % interval of the {name}, {kind} noise, {len(hits)} seeds",
                "covers in 85 to 95 %", f"{share:.1%}", judged(0.85 <= share <= 0.95, len(hits)),
            )  # fmt: skip
