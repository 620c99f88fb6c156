"""Dense tones, the paper's own model: how many of them are found, draw by draw.

``python -m benchmarks.dense_tones`` draws 12 tones within 60 modes and 20 within 100 (1500 samples
with gaps, noise of 0.5) and counts the tones that a fit with the defaults finds to within half a
mode, and the lines that are none. ``--rival`` runs naive prewhitening on the same draws: the
highest peak, all sinusoids refitted together, until the peak is likely from noise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.ordinary.tones import dense_mixture
from benchmarks.rows import write
from benchmarks.verdicts import Verdict, judged, markdown, print_verdicts
from robustfourier import PeriodicMixture
from robustfourier.arrays import FloatArray

START, DRAWS, TONES = 700, 25, (12, 20)
SAME = 0.5  # modes
COMPLETE, FOUND = 0.9, 0.98  # bars: draws in which all are found, and tones in all
LEVEL = 0.01


@dataclass(frozen=True)
class Draw:
    """What came out of one draw: tones found of how many, lines that are none, seconds."""

    tones: int
    seed: int
    found: int
    false: int
    seconds: float


def ours(t: FloatArray, y: FloatArray) -> FloatArray:
    """Modes found by `PeriodicMixture` as it is."""
    return np.asarray(PeriodicMixture().fit(t, y).modes_.mode, float)


def prewhitening(t: FloatArray, y: FloatArray) -> FloatArray:
    """Take the highest peak, refit all frequencies together, until a peak is likely from noise."""
    grid = np.arange(1.0, 150.0, 0.1)
    waves = np.exp(1j * np.pi * np.outer(t, grid))
    modes, left = np.zeros(0), y - y.mean()
    while len(modes) < 60:
        power = np.abs(waves.conj().T @ left) ** 2 / (len(y) * np.var(left))
        if 150.0 * np.exp(-power.max()) > LEVEL:
            break
        modes = np.append(modes, grid[int(np.argmax(power))])
        for _ in range(6):
            angle = np.pi * np.outer(t, modes)
            columns = np.c_[np.ones_like(t), np.cos(angle), np.sin(angle)]
            coefficients = np.linalg.lstsq(columns, y, rcond=None)[0]
            left = y - columns @ coefficients
            cosine, sine = np.split(coefficients[1:], 2)
            slopes = np.pi * t[:, None] * (sine * np.cos(angle) - cosine * np.sin(angle))
            step = np.linalg.lstsq(np.c_[columns, slopes], left, rcond=None)[0][-len(modes) :]
            modes = modes + np.clip(step, -0.25, 0.25)
    return modes


METHODS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "PeriodicMixture": ours,
    "naive prewhitening": prewhitening,
}


def draw(tones: int, seed: int, method: str = "PeriodicMixture") -> Draw:
    """Fit one draw and count."""
    problem = dense_mixture(tones, seed)
    start = time.process_time()
    modes = METHODS[method](problem.theta, problem.y)
    seconds = time.process_time() - start
    away = np.abs(problem.modes[:, None] - modes)
    found = int(np.sum(away.min(axis=1, initial=np.inf) < SAME))
    false = int(np.sum(away.min(axis=0, initial=np.inf) >= SAME))
    return Draw(tones, seed, found, false, seconds)


def verdicts(draws: list[Draw]) -> list[Verdict]:
    """All tones in nine draws of ten, and of all tones 98 in a hundred."""
    judgements = []
    for tones in sorted({one.tones for one in draws}):
        mine = [one for one in draws if one.tones == tones]
        complete = sum(one.found == tones for one in mine)
        found, false = sum(one.found for one in mine), sum(one.false for one in mine)
        seconds = sum(one.seconds for one in mine) / len(mine)
        measured = (
            f"complete in {complete} of {len(mine)}, {found} of {tones * len(mine)} tones, "
            f"{false} false lines, {seconds:.1f} s each"
        )
        kept = complete >= COMPLETE * len(mine) and found >= FOUND * tones * len(mine)
        bar = f"complete in ≥ {COMPLETE:.0%}, tones ≥ {FOUND:.0%}"
        judgements.append(Verdict(f"{tones} tones", bar, measured, judged(kept, len(mine))))
    return judgements


def main(arguments: list[str] | None = None) -> int:
    """Run the draws; the exit code is 0 when no bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dense_tones", description=__doc__)
    parser.add_argument("--tones", type=int, nargs="+", default=TONES, help="default: 12 20")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"default: {DRAWS}")
    parser.add_argument("--start", type=int, default=START, help=f"first seed (default: {START})")
    parser.add_argument("--rival", action="store_true", help="naive prewhitening instead of ours")
    parser.add_argument("--json", type=Path, help="file for one JSON object per draw and line")
    options = parser.parse_args(arguments)
    method = "naive prewhitening" if options.rival else "PeriodicMixture"
    draws = []
    for tones in options.tones:
        for seed in range(options.start, options.start + options.draws):
            one = draw(tones, seed, method)
            draws.append(one)
            print(f"seed {seed}: {one.found} of {tones}, {one.false} false, {one.seconds:.1f} s",
                  flush=True)  # fmt: skip
            write(options.json, draws)
    incomplete = [(d.tones, d.seed, f"{d.found} of {d.tones}", d.false) for d in draws
                  if d.found < d.tones or d.false]  # fmt: skip
    print(f"\n{method}, draws that are not complete:\n")
    print(markdown(("tones", "seed", "found", "false"), incomplete))
    return print_verdicts("Verdicts", verdicts(draws))


if __name__ == "__main__":
    sys.exit(main())
