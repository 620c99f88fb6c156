"""Which claims of the paper come out from which start of the networks."""

from __future__ import annotations

from robustfourier.experiments.claims import main_of, spread, wrong_modes
from robustfourier.experiments.finished import Results

STARTS = {
    "glorot": "Glorot's draw (the paper's)",
    "antisymmetric": "Glorot's sizes, signs of section 2.4",
    "symmetric": "symmetric (ours)",
}
START_COLUMNS = (
    "start",
    "example",
    "*u0_diag beats u1_standard",
    "*u0_diag activates the target modes exclusively",
    "u0_diag is more accurate than *u0_diag",
    "error of *u0_diag",
    "error of u0_diag",
)


def start_table(results: Results) -> list[tuple[str, ...]]:
    """Rows of `START_COLUMNS`: which of three claims come out from which start, and the errors."""
    table = []
    for example in ("1", "2"):
        for init, name in STARTS.items():
            rows = results.matched(
                {"example": example, "network": "*u0_diag", "init": init},
                {"example": example, "network": "u0_diag", "init": init},
                main_of(example, "u1_standard"),
            )
            if not rows:
                continue
            answers = (
                [layerwise.final_error < standard.final_error for layerwise, _, standard in rows],
                [wrong_modes(layerwise) == 0 for layerwise, _, _ in rows],
                [joint.final_error < layerwise.final_error for layerwise, joint, _ in rows],
            )
            counts = [f"{sum(answer)} of {len(answer)}" for answer in answers]
            errors = [spread([row[i].final_error for row in rows]) for i in (0, 1)]
            table.append((name, example, *counts, *errors))
    return table
