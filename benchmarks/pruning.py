"""Prune and go on: networks that drop what the diagonal has left behind, beside the limit.

Examples 1 and 2 with u0_diag against least squares on the true modes, example 3 with u2_diag, and
the 22 problems that the networks of the peers' page run on, pruned against as trained. Everything
else is as it comes; seeds are unseen.
"""

from __future__ import annotations

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
NEAR = 1.15  # times the error of least squares on the true modes
U2_BAR = 0.045
HURT = 1.02  # a median ratio above this counts as hurting; rounding and ties stay below


def fitted(problem: Problem, **options: Any) -> tuple[float, list[int]]:
    """Relative error of a network as it comes, and the modes that pruning left in."""
    times = problem.theta[:, None]
    model = FourierNetworkRegressor(random_state=0, **options).fit(times, problem.y)
    kept = [] if model.kept_modes_ is None else (np.flatnonzero(model.kept_modes_[0]) + 1).tolist()
    return relative_error(model.predict(times), problem.truth), kept


def limit(problem: Problem) -> float:
    """Relative error of least squares on the constant and the true modes."""
    pairs = [mode_pair(problem.theta, mode) for mode in TRUE_MODES]
    design = np.hstack([np.ones((problem.theta.size, 1)), *pairs])
    best, *_ = np.linalg.lstsq(design, problem.y, rcond=None)
    return relative_error(design @ best, problem.truth)


def linear_example(number: int, count: int) -> Verdict:
    ratios, complete = [], 0
    for seed in unseen_seeds(count):
        problem = paper_example(number, random_state=seed)
        error, kept = fitted(problem)
        ratios.append(error / limit(problem))
        complete += not kept or set(TRUE_MODES) <= set(kept)
        print(f"example {number}, seed {seed}: {error:.4f}, kept {kept}", flush=True)
    near = sum(ratio <= NEAR for ratio in ratios)
    return Verdict(
        f"example {number}, u0_diag pruned, {count} seeds",
        f"at most {NEAR} × least squares on the true modes, and nothing true pruned, in 95 %",
        f"{near} and {complete} of {count}; ratio {median(ratios):.3f}, worst {max(ratios):.3f}",
        judged(min(near, complete) >= 0.95 * count, count),
    )


def nonlinear_example(count: int, **options: Any) -> Verdict:
    errors, complete = [], 0
    for seed in unseen_seeds(count):
        problem = paper_example(3, random_state=seed)
        error, kept = fitted(problem, hidden_layer_sizes=(100, 100), dtype="float32", **options)
        errors.append(error)
        complete += not kept or set(TRUE_MODES) <= set(kept)
        print(f"example 3, seed {seed}: {error:.4f}, kept {kept}", flush=True)
    return Verdict(
        f"example 3, u2_diag pruned, {count} seeds",
        f"error at most {U2_BAR}, nothing true pruned, every seed",
        f"{', '.join(f'{error:.4f}' for error in errors)}; true modes kept in {complete}",
        None if options else max(errors) <= U2_BAR and complete == count,
    )


def harm(count: int, names: frozenset[str]) -> Verdict:
    worst, pruned, better = ("", 0.0), 0, 0
    for entry in catalogue():
        if entry.name not in names:
            continue
        ratios = []
        for seed in unseen_seeds(count):
            task = entry.draw(seed)
            errors = []
            for prune in ("auto", None):
                model = FourierNetworkRegressor(random_state=0, prune=prune)
                model.fit(task.t[:, None], task.y)
                errors.append(function_error(model.predict(task.t_test[:, None]), task))
                pruned += model.kept_modes_ is not None
            ratios.append(errors[0] / errors[1])
        better += sum(ratio < 1.0 for ratio in ratios)
        print(f"{entry.name}: {' '.join(f'{ratio:.3f}' for ratio in ratios)}", flush=True)
        worst = max(worst, (entry.name, median(ratios)), key=lambda pair: pair[1])
    fits = count * len(names)
    return Verdict(
        f"{len(names)} problems, u0_diag pruned against as trained, {count} seeds",
        f"hurts nowhere: largest median ratio at most {HURT}",
        f"{worst[1]:.3f} ({worst[0]}); {pruned} of {fits} fits pruned, {better} better",
        worst[1] <= HURT,
    )


def main(quick: bool = False) -> list[Verdict]:
    """Fit, print what came out, and return one verdict for each promise."""
    if quick:
        few = frozenset({"3 tones, even", "3 tones, even, whole modes"})
        return [linear_example(1, 1), nonlinear_example(1, n_steps=500), harm(1, few)]
    return [
        linear_example(1, 20),
        linear_example(2, 20),
        nonlinear_example(3),
        harm(3, NETWORK_PROBLEMS | NETWORK_GLIMPSES),
    ]
