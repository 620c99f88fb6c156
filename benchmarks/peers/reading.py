"""What the verdicts say to a user: when to use something else.

Each piece of advice belongs to a kind of line and is given only if such a line was lost; the
numbers beside it are those of the lost lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.catalogue import HARD, LINKED, MIXTURES, NOISE, NOTHING, PAPER, REAL
from benchmarks.peers.comparisons import LOSES, MARGIN, Comparison, number

SHOWN = 3
MISSED = 1.3  # times the rival's error: a tone is missing, not merely less exact


@dataclass(frozen=True)
class Advice:
    """A sentence and the lost lines it follows from."""

    applies: Callable[[Comparison], bool]
    words: str


def _error_in(*groups: str) -> Callable[[Comparison], bool]:
    return lambda line: line.kind == "error" and line.group in groups


ADVICE = (
    Advice(
        lambda line: line.kind == "error" and line.case.endswith("told whole modes"),
        "**The data repeats over its span, or nearly, and the grid is even.** Then modes are whole "
        "numbers, and an FFT with a threshold or best-subset selection over whole modes has "
        "nothing left to estimate but amplitudes.",
    ),
    Advice(
        _error_in(PAPER),
        "**The grid is even and modes are known to be whole.** `PeriodicMixture()` estimates "
        "frequencies that these rivals know; say `frequencies=\"integer\"` (the lines *whole "
        "modes*), or use the FFT.",
    ),
    Advice(
        lambda line: _error_in(MIXTURES, NOISE)(line) and line.factor > MISSED,
        "**Many tones in a record with gaps.** `PeriodicMixture` may take strong tones for a "
        "continuum there: what it names is right, but some are missing. Prewhitening with joint "
        "refinement of all frequencies finds them; where both do, both are at the limit.",
    ),
    Advice(
        _error_in(MIXTURES, NOISE),
        "**Only sinusoids are wanted and the error counts to the last percent.** On pure tones "
        "others reach the same limit, and at times come closer to it.",
    ),
    Advice(
        _error_in(LINKED),
        "**Sharp waveforms.** The shapes we assume do not suit every waveform.",
    ),
    Advice(
        _error_in(HARD),
        "**Coloured noise, outliers or a trend.** Look at the lines below before you trust the "
        "defaults.",
    ),
    Advice(
        _error_in(REAL),
        "**Series that are not strictly periodic.** Where a cycle wanders, or the aim is to fill "
        "gaps rather than to know the periods, a model with many weak terms predicts better than "
        "one that keeps only what is significant.",
    ),
    Advice(
        lambda line: line.kind == "false periods" or _error_in(NOTHING)(line),
        "**Nothing may be there at all.** Some rivals are even more silent on pure noise.",
    ),
    Advice(
        lambda line: line.kind == "periods",
        "**Periods.** In these groups another method names them better.",
    ),
    Advice(
        lambda line: line.kind == "seconds",
        "**Many short series, or a first look.** Others are done sooner; "
        "what the longer time buys is in the tables of errors and components.",
    ),
    Advice(
        lambda line: line.kind == "memory",
        "**Memory is short.** Others keep less of their work in memory at once.",
    ),
)  # fmt: skip


def reading(lines: list[Comparison]) -> str:
    """Write the section that follows from the losing lines."""
    lost = [line for line in lines if line.verdict == LOSES]
    parts = ["## When to use something else"]
    for advice in ADVICE:
        mine = [line for line in lost if advice.applies(line)]
        lost = [line for line in lost if line not in mine]
        if mine:
            parts.append(f"- {advice.words} {_evidence(mine)}")
    parts += [f"- {_evidence([line])}" for line in lost]
    told = _told(lines)
    if told:
        parts.append(told)
    if len(parts) == 1:
        parts.append("No line was lost in this run.")
    return "\n\n".join([parts[0], "\n".join(parts[1:])])


def _evidence(lines: list[Comparison]) -> str:
    """The lost lines, the worst ones with their numbers."""
    lines = sorted(lines, key=lambda line: -line.factor)
    cases = "; ".join(
        f"{line.case} {number(line.ours)} against {number(line.rival)} ({line.rival_name})"
        for line in lines[:SHOWN]
    )
    more = "; ".join(line.case for line in lines[SHOWN:])
    return f"Lost: {cases}" + (f"; and {more}." if more else ".")


def _told(lines: list[Comparison]) -> str:
    """Advice for those who know the periods, if knowing them helped."""
    errors = [line for line in lines if line.kind == "error" and np.isfinite(line.told)]
    users = [line for line in errors if not line.told_name.startswith("limit")]
    better = [line for line in users if line.ours > MARGIN * line.told]
    if not better:
        return ""
    names = ", ".join(sorted({line.told_name for line in better}))
    return (
        f"- **You know the periods.** Told them, {names} came closer than ours did without on "
        f"{len(better)} of {len(errors)} lines, at best by a factor of "
        f"{number(max(line.ours / line.told for line in better))}. Tell ours with `periods=`, too."
    )
