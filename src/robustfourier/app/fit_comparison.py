"""What changed between two fits, in a sentence and in numbers for a picture.

A process of its own (``python -m robustfourier.app.fit_comparison A B``): the server itself loads
neither numpy nor models.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from robustfourier.analysis.comparing import Match, compare, in_a_sentence
from robustfourier.atomic_files import plain
from robustfourier.persistence import load


def comparison(first: Path, second: Path) -> dict[str, Any]:
    """Compare the models of two result folders, in a sentence and pattern by pattern."""
    matches = compare(load(first / "model.rfm"), load(second / "model.rfm"))
    return {"sentence": in_a_sentence(matches), "patterns": [_pattern(match) for match in matches]}


def _pattern(match: Match) -> dict[str, Any]:
    one = match.second if match.first is None else match.first
    assert one is not None
    shares = [0.0 if side is None else float(side.share) for side in (match.first, match.second)]
    return {
        "verdict": match.verdict,
        "period": one.domain.period_words(one.period, one.period_error),
        "exact": float(one.period),
        "shares": shares,
    }


if __name__ == "__main__":
    print(json.dumps(plain(comparison(Path(sys.argv[1]), Path(sys.argv[2])))))
