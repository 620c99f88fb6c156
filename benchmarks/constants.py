"""What happens at half and at double of each constant: ``python -m benchmarks.constants``.

Every number of the mixture that is neither derived nor a limit of the machine is listed here with
where it comes from. Each is halved and doubled, and small problems of the truth set are solved
again: how many come out right says whether the number matters, and whether it sits on an edge.
``--page docs/constants.md`` writes the page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.ordinary.catalogue import problem
from benchmarks.ordinary.judge import fit, judge

ROOM = "robustfourier.mixture"
#: Problems that a fit solves in less than a second, and that each of the constants can spoil.
KINDS = (
    *("cepheid", "eclipsing_binary", "double_mode", "quiet_star", "weekly_sales", "counts"),
    *("retail_week_and_year", "respiration", "two_hums", "close_hums", "day_with_steps", "step"),
    *("irregular_tones", "few_samples", "outliers", "tone_in_red", "random_walk", "sunspots"),
)


@dataclass(frozen=True)
class Constant:
    """One number: where it stands, and why it is what it is."""

    module: str
    name: str
    reason: str


CONSTANTS = (
    Constant("series", "SLOWEST", "1.5 cycles: with fewer a period and a bend look alike"),
    Constant("series", "_ROWS_PER_LINE", "three rows for each of a line's three numbers"),
    Constant("search.proposals", "APART", "0.9 modes: closer lines grow against each other"),
    Constant("search.rounds", "_WORTH_A_TEST", "a peak this likely from noise is not worth a fit"),
    Constant("search.assess", "_TREND_LEVEL", "a bend is tested in five rungs: 1 % in all"),
    Constant("search.steps", "FEWEST", "fewer samples between steps are a cluster of outliers"),
    Constant("cusps", "EXPECTED", "real lines change by some 3 % over a record"),
    Constant("cusps", "CERTAIN", "flat noise looks like a cusp in one of 1000 lines"),
    Constant("cusps", "REACH", "twice the distance at which cusps are measured"),
    Constant("noise", "_CLIP", "ordinates are clipped at three levels: 77 % efficient"),
    Constant("noise", "_REACH", "red noise: a window never grows beyond four times its mode"),
    Constant("search.robust", "_EXPLAINED", "random outliers explained 0.03, square waves 0.1"),
    Constant("search.fringes", "_AS_GOOD", "three standard errors: such a place fits as well"),
    Constant("period_errors", "_CLEAR", "two deviations: the jackknife's error is no chance"),
    Constant("search.robust", "FAR", "what neither Gaussian noise nor a sum of tones reaches"),
    Constant("components.grouping", "ODDS", "a tie must be ten times likelier than a free line"),
    Constant("components.grouping", "SLACK", "lines not yet found bias their neighbours"),
    Constant("components.grouping", "SMALLEST_ERROR", "a drift of one degree at the ends"),
    Constant("components.growing", "MISSING_PRIOR", "few patterns lack their fundamental"),
    Constant("components.completing", "TWINS", "half a resolution: such lines are one"),
    Constant("components.side_lines", "CLOSE", "two tones that beat less than twice"),
    Constant("components.side_lines", "WEAKER", "half the height of the pattern's strongest line"),
    Constant("blocks", "UNSTEADY", "a strict pattern is called unsteady in 1 %"),
)


def right(seeds: Sequence[int]) -> int:
    """Count the problems that come out right."""
    count = 0
    for kind in KINDS:
        for seed in seeds:
            task = problem(kind, seed)
            count += judge(task.truth, fit(task)).right
    return count


def at(constant: Constant, factor: float, seeds: Sequence[int]) -> int:
    """Count with one constant multiplied, in its own module and in those that import it."""
    value = getattr(import_module(f"{ROOM}.{constant.module}"), constant.name)
    changed = type(value)(value * factor)
    homes = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(ROOM) and getattr(module, constant.name, None) is value
    ]
    for module in homes:
        setattr(module, constant.name, changed)
    try:
        return right(seeds)
    finally:
        for module in homes:
            setattr(module, constant.name, value)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="seeds of each problem, from 1000 on")
    parser.add_argument("--page", type=Path, help="write the table to this page")
    options = parser.parse_args(arguments)
    seeds = range(1000, 1000 + options.seeds)
    whole, base = len(KINDS) * len(seeds), right(seeds)
    lines = [
        "# Constants",
        "",
        "Numbers of the mixture that are choices, where they stand, and what happens at half and",
        f"at double: problems of the truth set that come out right, of {whole}; {base} with the",
        "numbers as they are. Made by `python -m benchmarks.constants --page docs/constants.md`.",
        "Numbers with a derivation have it in a line beside them in the code.",
        "",
        "| constant | value | why | at half | at double |",
        "|---|---|---|---|---|",
    ]
    for constant in CONSTANTS:
        value = getattr(import_module(f"{ROOM}.{constant.module}"), constant.name)
        half, double = (at(constant, factor, seeds) for factor in (0.5, 2.0))
        name = f"`{constant.module}.{constant.name.strip('_')}`"
        lines.append(f"| {name} | {value:g} | {constant.reason} | {half} | {double} |")
        print(lines[-1], flush=True)
    if options.page is not None:
        options.page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
