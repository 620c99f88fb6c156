"""Draw `docs/figures/calibrated_time.png`: how modes awake, and what the stopping time costs.

The diagonal layer in the limit of exact gradients on the paper's example 1 (modes 5, 29 and 61 of
100, noise of standard deviation 0.4), 40 draws of the noise; ``python docs/calibrated_time.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.periodic.diagonal_flow import START
from robustfourier.plots.figure_files import save_figure
from robustfourier.plots.style import palette
from robustfourier.synthetic import paper_example
from robustfourier.theory import grown_amplitude, stopping_time
from robustfourier.training.calibration import noise_gradient

FIGURE = Path(__file__).parent / "figures" / "calibrated_time.png"
MODES, DRAWS, FALSE_ALARM = 100, 40, 0.01
TIMES = np.geomspace(0.01, 30.0, 240)  # in units of the stopping time


def draw_of(seed: int) -> tuple[FloatArray, FloatArray, float, FloatArray]:
    """Amplitudes (100, 240), relative errors (240,), error of least squares, modes of the truth."""
    problem = paper_example(1, noise=0.4, random_state=seed)
    modes = np.arange(1, MODES + 1)
    waves = np.exp(-1j * np.pi * np.outer(modes, problem.theta)) / len(problem.theta)
    data, truth = waves @ problem.y, waves @ problem.truth
    gradient = np.abs(data)
    sigma = float(np.median(gradient) * np.sqrt(len(problem.theta) / np.log(2.0)))
    x = noise_gradient(sigma, len(problem.theta), MODES, FALSE_ALARM)
    times = TIMES * stopping_time(x, START * x)
    size = grown_amplitude(gradient[:, None], times, START * x)
    fitted = size * (data / gradient)[:, None]
    norm = np.linalg.norm(2.0 * truth)
    error = np.linalg.norm(fitted - 2.0 * truth[:, None], axis=0) / norm
    true = np.asarray(problem.modes, np.intp)
    best = float(np.linalg.norm(2.0 * (data - truth)[true - 1]) / norm)
    return size, error, best, true


def draw(figure: Any) -> None:
    """Draw both panels."""
    left, right = figure.subplots(1, 2)
    draws = [draw_of(seed) for seed in range(DRAWS)]
    size, _, _, true = draws[0]
    ink = palette(left)
    for mode in range(1, MODES + 1):
        real = mode in true
        style = {"color": ink.fit, "lw": 1.8} if real else {"color": ink.dots, "lw": 0.5}
        left.plot(TIMES, np.maximum(size[mode - 1], 1e-9), **style)
    left.set_yscale("log")
    left.set_ylim(1e-6, 2.0)
    left.set_ylabel("amplitude of a mode")
    left.set_title("Modes of the signal (blue) and of noise")
    errors = np.array([error for _, error, _, _ in draws])
    right.fill_between(TIMES, *np.quantile(errors, [0.05, 0.95], axis=0), color=ink.fit, alpha=0.2)
    right.plot(TIMES, np.median(errors, axis=0), color=ink.fit, label="diagonal layer")
    best = float(np.median([best for _, _, best, _ in draws]))
    right.axhline(best, color=ink.floor, ls=":", label="least squares on the true modes")
    right.set_yscale("log")
    right.set_ylabel("relative error")
    right.set_title(f"Error over {DRAWS} draws of the noise")
    for ax in (left, right):
        ax.set_xscale("log")
        ax.axvline(1.0, color=ink.alarm, ls="--", label="calibrated time (false alarm 0.01)")
        ax.set_xlabel("training time / calibrated time")
    right.legend(loc="upper right", fontsize=8, frameon=True, framealpha=1.0)
    at = int(np.argmin(np.abs(TIMES - 1.0)))
    print(f"error at the calibrated time {np.median(errors[:, at]):.4f}, least squares {best:.4f}, "
          f"smallest on the way {np.median(errors.min(axis=1)):.4f}, "
          f"at the end {np.median(errors[:, -1]):.4f}")  # fmt: skip


if __name__ == "__main__":
    save_figure(FIGURE, (9.0, 3.3), draw)
    FIGURE.with_suffix(".pdf").unlink()
