"""The paper's networks at the limit: training alone, links, several inputs, what each part does.

Examples 1 and 2 with u0_diag with defaults against least squares on the true modes; example 3
without and with links; products and plane waves of two inputs; the 22 problems that the networks
of the peers' page run on, against the same network selected and refitted from the paper's start;
and a table of what start, time, selection and refit each contribute. Seeds are unseen.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers.catalogue import NETWORK_GLIMPSES, NETWORK_PROBLEMS, catalogue
from benchmarks.peers.measures import function_error
from benchmarks.verdicts import Verdict, judged, unseen_seeds
from robustfourier import FourierNetworkRegressor
from robustfourier.network.embedding import mode_pair
from robustfourier.synthetic import Problem, paper_example, relative_error

TRUE_MODES = (5, 29, 61)
NEAR = 1.2  # times the error of least squares on the true modes, in the median
SECONDS = 0.5
EXAMPLE_3, EXAMPLE_3_LINKS, LINK_SECONDS = 0.045, 0.020, 5.0
WORSE = 1.1

#: What 40 000 steps from the paper's start and selection afterwards gave before training had a
#: time of its own: the paper's rate and schedule, 100 modes, rectified units.
BEFORE: dict[str, Any] = {
    "n_modes": 100,
    "activation": "relu",
    "init": "symmetric",
    "init_scale": 1.0,
    "learning_rate": 2e-3,
    "n_steps": 40_000,
    "select": "ebic",
}
PARTS: dict[str, dict[str, Any]] = {
    "start as drawn, 40 000 steps at 2e-3": {**BEFORE, "select": None},
    "the same, linear pairs": {**BEFORE, "select": None, "activation": "identity"},
    "small start, the same steps": {
        **BEFORE,
        "select": None,
        "activation": "identity",
        "init": "even",
        "init_scale": 0.1,
    },
    "small start, calibrated time (default)": {"n_modes": 100},
    "the same with rectified pairs": {"n_modes": 100, "activation": "relu"},
    "default, selected and refitted": {"n_modes": 100, "select": "ebic"},
    "no training, selected and refitted": {**BEFORE, "n_steps": 0},
    "start as drawn, selected and refitted": BEFORE,
}


def fitted(problem: Problem, **options: Any) -> tuple[float, list[int], float]:
    """Relative error, active modes and processor seconds of a network."""
    start = time.process_time()
    model = FourierNetworkRegressor(random_state=0, **options).fit(problem.theta, problem.y)
    seconds = time.process_time() - start
    active = model.modes_.mode[model.modes_.active].astype(int).tolist()
    return relative_error(model.predict(problem.theta), problem.truth), active, seconds


def limit(problem: Problem) -> float:
    """Relative error of least squares on the constant and the true modes."""
    pairs = [mode_pair(problem.theta, mode) for mode in TRUE_MODES]
    design = np.hstack([np.ones((problem.theta.size, 1)), *pairs])
    best, *_ = np.linalg.lstsq(design, problem.y, rcond=None)
    return relative_error(design @ best, problem.truth)


def linear_example(number: int, count: int, **options: Any) -> Verdict:
    ratios, exact, seconds = [], 0, []
    for seed in unseen_seeds(count):
        problem = paper_example(number, random_state=seed)
        error, active, spent = fitted(problem, **options)
        ratios.append(error / limit(problem))
        exact += active == list(TRUE_MODES)
        seconds.append(spent)
    bound = LINK_SECONDS if options else SECONDS
    good = median(ratios) <= NEAR and exact >= 0.95 * count and median(seconds) <= bound
    return Verdict(
        f"example {number}, u0_diag with defaults{', links' if options else ''}, {count} seeds",
        f"at most {NEAR} × least squares on the true modes, exactly these in 95 %, {bound} s",
        f"{median(ratios):.3f} × (worst {max(ratios):.2f}), {exact} of {count}, "
        f"{median(seconds):.2f} s",
        judged(good, count),
    )


def nonlinear_example(count: int, bar: float, **options: Any) -> Verdict:
    runs = [fitted(paper_example(3, random_state=s), **options) for s in unseen_seeds(count)]
    errors, seconds = [run[0] for run in runs], [run[2] for run in runs]
    good = median(errors) <= bar and median(seconds) <= LINK_SECONDS
    return Verdict(
        f"example 3, u0_diag{', links' if options else ' with defaults'}, {count} seeds",
        f"error at most {bar}, {LINK_SECONDS:g} s",
        f"{median(errors):.4f} (worst {max(errors):.4f}), {median(seconds):.1f} s",
        judged(good, count, enough=5),
    )


PLANES = {
    "product": (
        [(3, 5), (3, -5)],
        lambda z: np.cos(3 * np.pi * z[:, 0]) * np.sin(5 * np.pi * z[:, 1]),
    ),
    "plane wave": ([(3, 5)], lambda z: np.cos(np.pi * (3 * z[:, 0] + 5 * z[:, 1]))),
}


def two_inputs(name: str, count: int) -> Verdict:
    modes, function = PLANES[name]
    errors, limits = [], []
    for seed in unseen_seeds(count):
        rng = np.random.default_rng(seed)
        z, new = rng.uniform(-1, 1, (2, 4000, 2))
        y = function(z) + 0.4 * rng.normal(size=4000)
        model = FourierNetworkRegressor(period=[2.0, 2.0], random_state=0).fit(z, y)

        def columns(points: Any) -> Any:
            phase = np.pi * points @ np.array(modes).T
            return np.hstack([np.ones((len(points), 1)), np.cos(phase), np.sin(phase)])

        best, *_ = np.linalg.lstsq(columns(z), y, rcond=None)
        truth = function(new)
        limits.append(relative_error(columns(new) @ best, truth))
        errors.append(relative_error(model.predict(new), truth))
    # three or five numbers are fitted at the limit, whose luck would decide a ratio seed by seed
    ratio = float(np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(limits))))
    return Verdict(
        f"two inputs, {name}, {count} seeds",
        f"at most {NEAR} × least squares on the true modes, root mean square over seeds",
        f"{ratio:.3f} × (error {median(errors):.4f}, limit {median(limits):.4f})",
        judged(ratio <= NEAR, count, enough=5),
    )


def problems(count: int, names: frozenset[str]) -> Verdict:
    ratios = {}
    for entry in catalogue():
        if entry.name not in names:
            continue
        each = []
        for seed in unseen_seeds(count):
            task = entry.draw(seed)
            errors = []
            for options in ({}, BEFORE):
                model = FourierNetworkRegressor(random_state=0, **options).fit(task.t, task.y)
                errors.append(function_error(model.predict(task.t_test), task))
            each.append(errors[0] / errors[1])
        ratios[entry.name] = median(each)
        print(f"{entry.name}: {' '.join(f'{ratio:.3f}' for ratio in each)}", flush=True)
    worst = max(ratios, key=lambda name: ratios[name])
    middle = median(ratios.values())
    return Verdict(
        f"{len(ratios)} problems, defaults against start as drawn and selected, {count} seeds",
        f"better in the median, worse on none by more than {WORSE}",
        f"{middle:.2f} ×; worst {ratios[worst]:.2f} × ({worst})",
        judged(middle < 1.0 and ratios[worst] <= WORSE, len(ratios)),
    )


def contributions(count: int) -> None:
    """Print what start, time, selection and refit each do to the error over the limit."""
    print("\n| training | example 1 | example 2 | seconds |\n|---|---|---|---|")
    for name, options in PARTS.items():
        cells, seconds = [], []
        for number in (1, 2):
            ratios = []
            for seed in unseen_seeds(count):
                problem = paper_example(number, random_state=seed)
                error, _, spent = fitted(problem, **options)
                ratios.append(error / limit(problem))
                seconds.append(spent)
            cells.append(f"{median(ratios):.2f}")
        print(f"| {name} | {' | '.join(cells)} | {median(seconds):.2f} |", flush=True)


def main(quick: bool = False) -> list[Verdict]:
    """Fit, print what came out, and return one verdict for each promise."""
    if quick:
        return [linear_example(1, 2), nonlinear_example(1, EXAMPLE_3), two_inputs("product", 1)]
    contributions(5)
    return [
        linear_example(1, 20),
        linear_example(2, 20),
        nonlinear_example(5, EXAMPLE_3),
        nonlinear_example(5, EXAMPLE_3_LINKS, links="network"),
        linear_example(1, 20, links="network"),
        linear_example(2, 20, links="network"),
        *(two_inputs(name, 30) for name in PLANES),
        problems(7, NETWORK_PROBLEMS | NETWORK_GLIMPSES),
    ]
