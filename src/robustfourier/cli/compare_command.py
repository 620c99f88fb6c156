"""`robustfourier compare`: two results side by side."""

from __future__ import annotations

from typing import Any

from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.cli.model_commands import Model, model_file


@options.with_options
def compare(first: Model, second: Model, *, console: Console) -> None:
    """Print which patterns of two results agree, and which differ."""
    from robustfourier.analysis.comparing import compare as matched
    from robustfourier.estimators.components import in_words
    from robustfourier.formatting import counted, listed, with_error
    from robustfourier.persistence import load

    models = load(model_file(first)), load(model_file(second))
    matches = matched(*models)
    if console.as_json:
        console.json([_record(match) for match in matches])
        return
    verdicts = [match.verdict for match in matches]
    counts = [
        f"{counted(count, 'pattern')} {'agree' if verdict == 'agrees' and count > 1 else verdict}"
        for verdict in ("agrees", "drifted", "gone", "new")
        if (count := verdicts.count(verdict))
    ]
    sentence = f"{listed(counts)}.".capitalize() if counts else "No pattern in either."
    console.print(sentence, style="bold")

    none, rows = {"period": "–", "share": "–"}, []
    for match in matches:
        one = none if match.first is None else in_words(match.first)
        two = none if match.second is None else in_words(match.second)
        both = match.first is not None and match.second is not None
        change = with_error(match.amplitude, match.amplitude_error) if both else ""
        sides = (one["period"], two["period"], one["share"], two["share"])
        rows.append((match.verdict, *sides, change))
    if rows:
        heads = ("", "Period A", "Period B", "Share A", "Share B", "Amplitude B − A")
        console.table([(head, "left" if not head else "right") for head in heads], rows)


def _record(match: Any) -> dict[str, Any]:
    names = ("label", "period", "period_error", "share")
    changes = ("verdict", "period", "period_error", "amplitude", "amplitude_error")
    shown: dict[str, Any] = {name: getattr(match, name) for name in changes}
    for side in ("first", "second"):
        one = getattr(match, side)
        shown[side] = None if one is None else {name: getattr(one, name) for name in names}
    return shown
