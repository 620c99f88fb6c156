"""What the figures of the theory and of our comparisons show, gathered from the results."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from robustfourier.experiments.finished import Results
from robustfourier.experiments.problems import TITLES
from robustfourier.experiments.store import ResultStore
from robustfourier.experiments.theory_claims import gap_by_samples, gaps_of_runs
from robustfourier.experiments.theory_runs import TARGETS, TheoryRow, leaky_prediction
from robustfourier.experiments.trial import diagonal_sizes
from robustfourier.plots.files import save_figure
from robustfourier.plots.theory import (
    BoundPanel,
    DecayPanel,
    PairedErrors,
    ViolationPanel,
    draw_bounds,
    draw_paired,
    draw_second_phase,
    draw_sweep,
)

_PANELS = (
    ("r_c", "r_c", "size of the start", "$r_c$", True, 1.0),
    ("B", "batch_size", "batch size", "$B$", True, -0.5),
    ("T", "n_steps", "steps, from a large start", "$T$", False, None),
    ("m", "n_modes", "number of modes", "$m$", True, -0.5),
)


def theory_figures(rows: list[TheoryRow], store: ResultStore, folder: Path) -> dict[str, Path]:
    """Draw the figures of the theory as far as there are results; caption → file."""
    drawn: dict[str, Path] = {}
    panels = [panel for spec in _PANELS if (panel := _bound_panel(rows, *spec)) is not None]
    if panels:
        caption = (
            "Theorem 1. Measured distance of the trained diagonal weights from the prediction, "
            "beside the theorem's bound with the constant from Hoeffding's inequality."
        )
        drawn[caption] = save_figure(
            folder / "theory_bounds.png", (10, 6.4), partial(draw_bounds, panels)
        )
    decays = _decay_panels(rows)
    violation = _violation_panel(rows, store)
    if decays:
        caption = (
            "The second phase against its number of steps, the generalisation gap against the "
            "number of samples, and the diagonal layer when Assumption 2 is violated: the even "
            "mode 28 raises the modes 14 and 7, which are not there."
        )
        drawn[caption] = save_figure(
            folder / "theory_second_phase.png",
            (11.5, 3.6),
            partial(draw_second_phase, decays, violation),
        )
    return drawn


def comparison_figures(results: Results, folder: Path) -> dict[str, Path]:
    """Draw the symmetric start against Glorot's, and the sweep of open choices."""
    drawn: dict[str, Path] = {}
    pairs = _paired(results)
    if pairs:
        caption = "Our symmetric start against the paper's Glorot start, seed by seed."
        drawn[caption] = save_figure(
            folder / "symmetric_start.png",
            (9, 1.1 + 0.42 * len(pairs)),
            partial(draw_paired, pairs),
        )
    sweep = results.select(purpose="sweep")
    if sweep:
        variations = list(dict.fromkeys(row.trial.variation for row in sweep))
        networks = list(dict.fromkeys(row.trial.network for row in sweep))
        found = {(row.trial.network, row.trial.variation): row.final_error for row in sweep}
        errors = {
            network: np.array([found.get((network, v), np.nan) for v in variations])
            for network in networks
        }
        caption = (
            "Example 3 with one of the choices changed that the paper leaves open; one seed, "
            + ", ".join(
                f"{row.trial.network} {row.trial.n_steps}" for row in sweep[: len(networks)]
            )
            + " steps."
        )
        drawn[caption] = save_figure(
            folder / "open_choices.png",
            (9, 1.2 + 0.3 * len(variations)),
            partial(draw_sweep, variations, errors),
        )
    return drawn


def _bound_panel(
    rows: list[TheoryRow],
    sweep: str,
    field: str,
    title: str,
    name: str,
    log_x: bool,
    guide: float | None,
) -> BoundPanel | None:
    chosen = [row for row in rows if row.task.sweep == sweep]
    if not chosen:
        return None
    return BoundPanel(
        title=title,
        name=name,
        x=np.array([float(getattr(row.task, field)) for row in chosen]),
        deviation=np.array([row.deviation for row in chosen]),
        bound=np.array([row.bound for row in chosen]),
        signal=np.array([row.signal for row in chosen]),
        log_x=log_x,
        guide=guide,
    )


def _decay_panels(rows: list[TheoryRow]) -> list[DecayPanel]:
    panels = []
    second = [row for row in rows if row.task.sweep == "second phase"]
    if second:
        panels.append(
            DecayPanel(
                title="(a) second phase",
                name="steps, $T'$",
                value_name=r"$\hat R(c^{T'}) - \hat R(\hat c)$",
                x=np.array([float(row.task.n_output_steps) for row in second]),
                y=np.array([row.empirical_risk - row.least_risk for row in second]),
                guide=-0.5,
            )
        )
    sizes, gaps = gap_by_samples(rows)
    if sizes.size:
        every, single = gaps_of_runs(rows)
        panels.append(
            DecayPanel(
                title="(b) generalisation gap",
                name="samples, $TB$",
                value_name=r"$|R - \hat R|$",
                x=sizes,
                y=gaps,
                guide=-0.5,
                runs=(every, np.abs(single)),
            )
        )
    return panels


def _violation_panel(rows: list[TheoryRow], store: ResultStore) -> ViolationPanel | None:
    chosen = [r for r in rows if r.task.sweep == "violation" and r.task.target == "even"]
    if not chosen:
        return None
    task = chosen[0].task
    curves = store.curves(task.key)
    w = curves["w"]
    with_leak = leaky_prediction(task, curves["alpha"], curves["c0"], w)
    by_mode = partial(diagonal_sizes, n_modes=task.n_modes, kind="symmetrised")
    return ViolationPanel(
        measured=by_mode(w),
        predicted=by_mode(curves["predicted"]),
        with_leak=by_mode(with_leak),
        true_modes=tuple(int(c.mode) for c in TARGETS[task.target].components),
    )


def _paired(results: Results) -> list[PairedErrors]:
    pairs = []
    for example in results.examples():
        networks = dict.fromkeys(
            row.trial.network for row in results.select(example=example, init="symmetric")
        )
        for network in networks:
            rows = results.matched(
                {"example": example, "network": network, "init": "symmetric"},
                {"example": example, "network": network, "purpose": "main"},
            )
            if rows:
                pairs.append(
                    PairedErrors(
                        label=TITLES[example].split(":")[0],
                        network=network,
                        before=np.array([theirs.final_error for _, theirs in rows]),
                        after=np.array([ours.final_error for ours, _ in rows]),
                    )
                )
    return pairs
