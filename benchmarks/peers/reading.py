"""What the verdicts say to a user: when to use something else."""

from __future__ import annotations

from benchmarks.peers.comparisons import LOSES, Comparison, number


def reading(lines: list[Comparison]) -> str:
    """Write the paragraph that follows from the losing lines."""
    lost = [line for line in lines if line.verdict == LOSES]
    if not lost:
        return "## When to use something else\n\nNo line was lost in this run."
    items = "\n".join(
        f"- {line.case}: {line.rival_name} has {number(line.rival)}, ours {number(line.ours)}."
        for line in lost
    )
    return f"## When to use something else\n\n{items}"
