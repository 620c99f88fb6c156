"""The peer benchmark: us and what a user would pick instead, on the same data in one run.

Problem × method × seed gives one row; `python -m benchmarks.peers` runs what is missing and draws
`docs/benchmarks.md` from the rows. A new rival is one file in `methods/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.verdicts import Verdict


def main(quick: bool) -> list[Verdict]:
    """Run as a suite of `python -m benchmarks`: a line is missed where we lose."""
    from benchmarks.peers.command import verdicts

    return verdicts(quick)
