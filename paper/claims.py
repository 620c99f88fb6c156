"""The paper's claims and ours, each with measured numbers and a verdict that can be "no".

A claim is put as a yes-or-no question to each seed (and network, where it speaks of several). The
verdict is yes if at least four of five answers are yes, else no. Medians are given with the
smallest and largest value over seeds.

A claim is the paper's where the paper says it, and carries its words (`QUOTATIONS`); everywhere
else the same question is ours. The series of the paper's example 4 is not public: what it says
there is put to other data, and its source says so.

What the paper says of modes can be read in two ways: a mode counts by what the network passes on,
the product of diagonal and output weights, or by the diagonal weights alone, which is what the
paper draws. Both are counted; the verdict is that of the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paper.catalogue import EXAMPLES, NETWORKS
from paper.network_runs import Results, Row
from robustfourier.network.active_modes import active_modes, diagonal_sizes
from robustfourier.synthetic import PAPER_COMPONENTS

ENOUGH = 0.8  # four of five seeds
RISE = 1.02  # the standard network's error must end this much above its lowest
NO_HARM = 1.25  # ours: an error this much larger still counts as "does not hurt"
NEARLY_ALL = 0.9

DIAGONAL = tuple(name for name, (_, diagonal) in NETWORKS.items() if diagonal)
STANDARD = tuple(name for name, (_, diagonal) in NETWORKS.items() if not diagonal)

_SUPERIOR = "The cases with the diagonal layer […] exhibit superior performance (5.1)."
_SHIFTED = "The effectiveness of the diagonal layer is clearly demonstrated […] (5.2)."
_IMPACT = (
    "the regularization impact of the diagonal layer is evident, while the standard case exhibits "
    "overfitting to the noise (5.4)."
)
_BEST = "the network with two additional layers u2_diag outperform the other cases (5.3)."
QUOTATIONS: dict[str, dict[str, str]] = {
    "u1": {"1": _SUPERIOR, "2": _SHIFTED, "4": _IMPACT},
    "u2": {"3": _BEST, "4": _IMPACT},
    "u0": {"1": _SUPERIOR, "2": _SHIFTED},
    "best": {"3": _BEST},
    "joint": {
        "1": "simultaneous adjustments in the diagonal layer and output layer still yield superior "
        "regression performance compared to sequential learning (5.1)."
    },
    "overfitting": {
        "3": "rapid convergence initially gives way to increased error due to overfitting (5.3).",
        "4": _IMPACT,
    },
    "sparser": {
        "1": "layer-wise training promoted sparsity in the distribution of the diagonal layer "
        "[…] more effectively than standard training (5.1).",
        "4": "Layer-wise training, in particular, results in more sparse distribution (5.4).",
    },
    "all modes": {
        "1": "nearly all frequencies are activated (5.1).",
        "2": "nearly all frequencies are activated (5.1).",
        "3": "As previous examples, all Fourier modes in the standard network […] are activated "
        "(5.3).",
    },
    "targets": {
        "1": "displays activation in only a few frequencies including the target frequencies "
        "(5.1).",
        "2": "captures the target frequencies (5.2).",
        "3": "the diagonal layer consistently captures the corresponding Fourier modes (5.3).",
    },
    "exclusively": dict.fromkeys(
        ("1", "2"),
        "similar to the previous example, training only the diagonal layer in a layer-wise manner "
        "can activate the target frequency modes exclusively (5.2).",
    ),
}
"""Claim → example → the paper's words and section."""


@dataclass(frozen=True)
class Claim:
    """A claim and how it came out."""

    source: str  # "paper", "paper, other data", "theory" or "ours"
    text: str  # the claim in a sentence
    where: str  # example or sweep that it was measured on
    measured: str  # the numbers
    holds: int  # in how many answers it holds
    of: int  # how many there are
    quotation: str = ""  # the paper's words, if it is the paper's
    diagonal_holds: int | None = None  # where modes count by the diagonal alone; None if not asked

    @property
    def verdict(self) -> str:
        """Return "yes", "no" or "not run"."""
        if self.of == 0:
            return "not run"
        return "yes" if self.holds >= ENOUGH * self.of else "no"

    @property
    def diagonal_verdict(self) -> str:
        """The verdict where modes count by the diagonal alone; else that of the product."""
        if self.diagonal_holds is None:
            return self.verdict
        return replace(self, holds=self.diagonal_holds, diagonal_holds=None).verdict

    @property
    def count(self) -> str:
        """In how many answers it holds, by both readings where there are two."""
        product = f"{self.holds} of {self.of}"
        if self.diagonal_holds is None:
            return product
        return f"{product}; by the diagonal alone {self.diagonal_holds}"


def judge(
    source: str,
    text: str,
    where: str,
    measured: str,
    answers: Sequence[bool] | Iterator[bool],
    quotation: str = "",
) -> Claim:
    """Count the answers.

    Examples
    --------
    >>> judge("ours", "It is raining.", "here", "3 mm", [True, True, True, True, False]).verdict
    'yes'
    """
    listed = [bool(answer) for answer in answers]
    return Claim(source, text, where, measured, sum(listed), len(listed), quotation)


def _judged(
    name: str, example: str, text: str, measured: str, answers: Sequence[bool] | Iterator[bool]
) -> Claim:
    """Judge a question on an example: the paper's claim where `QUOTATIONS` has it, else ours."""
    words = QUOTATIONS[name].get(example if example.isdigit() else "4", "")
    source = "ours" if not words else "paper" if example in "123" else "paper, other data"
    return judge(source, text, _where(example), measured, answers, words)


def spread(values: Sequence[float]) -> str:
    """Median and range of some numbers, as text.

    Examples
    --------
    >>> spread([0.1, 0.4, 0.2])
    '0.200 [0.100, 0.400]'
    """
    if not len(values):
        return "–"
    return f"{_short(np.median(values))} [{_short(min(values))}, {_short(max(values))}]"


def network_claims(results: Results) -> list[Claim]:
    """Judge all claims on the networks for the examples that were run."""
    claims: list[Claim] = []
    for example in results.examples():
        claims += _accuracy(results, example)
        claims += _overfitting(results, example)
        claims += _sparsity(results, example)
        claims += _modes(results, example)
    claims += _phases(results)
    for example in results.examples():
        claims += _symmetric_start(results, example)
    claims += _open_choices(results)
    return [claim for claim in claims if claim.of]


def _accuracy(results: Results, example: str) -> Iterator[Claim]:
    for depth in (1, 2):
        text = f"With the diagonal layer the error is lower (u{depth})."
        yield _lower(results, example, f"u{depth}", text, f"u{depth}_diag", f"u{depth}_standard")
    rows = _matched(results, example, ("u1_diag", "u1_standard"))
    best = spread([theirs.best_error for _, theirs in rows])
    yield judge(
        "ours",
        "It is lower even than the standard network's lowest error on the way (u1).",
        _where(example),
        f"u1_diag {spread([r.final_error for r, _ in rows])}, u1_standard at best {best}",
        (ours.final_error < theirs.best_error for ours, theirs in rows),
    )
    for network in ("*u0_diag", "u0_diag"):
        text = f"{network} beats the standard network."
        yield _lower(results, example, "u0", text, network, "u1_standard")
    text = "Joint training is more accurate than layer-wise training."
    yield _lower(results, example, "joint", text, "u0_diag", "*u0_diag")
    if example == "3":
        yield _best_network(results, example, "u2_diag")


def _lower(results: Results, example: str, name: str, text: str, network: str, other: str) -> Claim:
    rows = _matched(results, example, (network, other))
    answers = (one.final_error < two.final_error for one, two in rows)
    return _judged(name, example, text, _errors(rows, (network, other)), answers)


def _best_network(results: Results, example: str, network: str) -> Claim:
    rows = _matched(results, example, EXAMPLES[example])
    position = EXAMPLES[example].index(network)
    medians = {
        name: float(np.median([row[i].final_error for row in rows])) if rows else np.nan
        for i, name in enumerate(EXAMPLES[example])
    }
    ranked = sorted(medians, key=lambda name: medians[name])
    return _judged(
        "best",
        example,
        f"{network} is the best of all networks.",
        ", ".join(f"{name} {_short(medians[name])}" for name in ranked),
        (min(row, key=lambda r: r.final_error) is row[position] for row in rows),
    )


def _overfitting(results: Results, example: str) -> Iterator[Claim]:
    rows = [row for name in STANDARD for row in _main(results, example, name)]
    ends = [row.final_error / row.best_error for row in rows]
    when = [row.best_step / row.trial.n_steps for row in rows]
    yield _judged(
        "overfitting",
        example,
        "Without the diagonal layer the error falls fast, then rises.",
        f"lowest after {spread(when)} of the steps; end / lowest {spread(ends)}",
        (t <= 0.5 and end >= RISE for t, end in zip(when, ends, strict=True)),
    )


def _sparsity(results: Results, example: str) -> Iterator[Claim]:
    rows = _matched(results, example, ("*u0_diag", "u0_diag"))
    measured = "; ".join(
        f"{name} {spread([row[i].diagonal_effective for row in rows])}"
        f" (with output weights {spread([row[i].effective_modes for row in rows])})"
        for i, name in enumerate(("*u0_diag", "u0_diag"))
    )
    yield _judged(
        "sparser",
        example,
        "Layer-wise training gives a sparser diagonal layer than joint training.",
        f"effective number of modes: {measured}",
        (layerwise.diagonal_effective < joint.diagonal_effective for layerwise, joint in rows),
    )
    dense = _main(results, example, "u1_standard")
    sparse = _main(results, example, "u0_diag")
    # "active" is a mode that stands out; here none does, as nearly all are alike
    yield _judged(
        "all modes",
        example,
        "Nearly all modes of the standard network carry weight, so that none stands out.",
        "share of modes above a tenth of the strongest: u1_standard "
        f"{spread([r.share_above_tenth for r in dense])}, "
        f"u0_diag {spread([r.share_above_tenth for r in sparse])}; active modes of u1_standard "
        f"{spread([float(len(r.active)) for r in dense])}",
        (row.share_above_tenth >= NEARLY_ALL for row in dense),
    )


def _modes(results: Results, example: str) -> Iterator[Claim]:
    for network in ("*u0_diag", "u0_diag"):
        rows = _main(results, example, network)
        claim = _judged(
            "targets",
            example,
            f"The target modes are among the active ones ({network}).",
            _active(rows),
            (not row.missed for row in rows),
        )
        yield _also_by_diagonal(results, claim, rows, lambda active, true: true <= active)
    if example in ("1", "2"):
        rows = _main(results, example, "*u0_diag")
        claim = _judged(
            "exclusively",
            example,
            "Layer-wise training activates the target modes exclusively.",
            _active(rows),
            (wrong_modes(row) == 0 for row in rows),
        )
        yield _also_by_diagonal(results, claim, rows, lambda active, true: true == active)


def _also_by_diagonal(
    results: Results,
    claim: Claim,
    rows: Sequence[Row],
    answer: Callable[[set[int], set[int]], bool],
) -> Claim:
    """Put ``answer(active modes, target modes)`` to the modes of the diagonal alone, too."""
    holds, shown = 0, []
    for row in rows:
        diagonal = results.curves(row).get("diagonal")
        if diagonal is None or not claim.quotation:
            return claim
        number = int(row.trial.example)
        true = {int(component.mode) for component in PAPER_COMPONENTS[number]}
        sizes = diagonal_sizes(diagonal, row.trial.n_modes)
        active = {int(mode) for mode in np.flatnonzero(active_modes(sizes)) + 1}
        holds += answer(active, true)
        shown.append(" ".join(map(str, sorted(active))) or "none")
    measured = f"{claim.measured}; diagonal alone {_tally(shown)}"
    return replace(claim, measured=measured, diagonal_holds=holds)


def _phases(results: Results) -> Iterator[Claim]:
    for network in ("*u0_diag", "u0_diag", "u1_diag"):
        rows = results.matched(_main_of("1", network), _main_of("2", network))
        ratios = [shifted.final_error / plain.final_error for plain, shifted in rows]
        yield judge(
            "ours",
            f"Shifted phases do not hurt ({network}: error at most {NO_HARM} times as large).",
            "examples 1 and 2",
            f"error of example 2 / example 1: {spread(ratios)}",
            (ratio <= NO_HARM for ratio in ratios),
        )


def _symmetric_start(results: Results, example: str) -> Iterator[Claim]:
    for network in DIAGONAL:
        symmetric = _main_of(example, network) | {"init": "symmetric", "purpose": "init"}
        pairs = results.matched(symmetric, _main_of(example, network))
        yield judge(
            "ours",
            f"The symmetric start lowers the error ({network}).",
            _where(example),
            _errors(pairs, ("symmetric", "Glorot")),
            (a.final_error < b.final_error for a, b in pairs),
        )
        both = results.matched(symmetric, _main_of(example, "u1_standard"))
        yield judge(
            "ours",
            f"From the symmetric start, {network} beats the standard network.",
            _where(example),
            _errors(both, (network, "u1_standard")),
            (a.final_error < b.final_error for a, b in both),
        )
        if example in ("1", "2", "3"):
            counts = [sum(len(p[i].false_modes) for p in pairs) for i in (0, 1)]
            lost = [sum(len(p[i].missed) for p in pairs) for i in (0, 1)]
            yield judge(
                "ours",
                f"The symmetric start gives no more wrong modes ({network}).",
                _where(example),
                f"false modes over all seeds: symmetric {counts[0]}, Glorot {counts[1]}; "
                f"missed: {lost[0]}, {lost[1]}",
                (wrong_modes(a) <= wrong_modes(b) for a, b in pairs),
            )


def _open_choices(results: Results) -> Iterator[Claim]:
    variations = dict.fromkeys(row.trial.variation for row in results.select(purpose="sweep"))
    for variation in variations:
        rows = results.select(purpose="sweep", variation=variation)
        ends = {row.trial.network: row for row in rows}
        for depth in (1, 2):
            pair = (f"u{depth}_diag", f"u{depth}_standard")
            if not set(pair) <= set(ends):
                continue
            ours, theirs = (ends[name] for name in pair)
            yield judge(
                "ours",
                f"{pair[0]} beats {pair[1]} also with another choice: {variation}.",
                f"example 3, {ours.trial.n_steps} steps, one seed",
                f"{pair[0]} {_short(ours.final_error)}, {pair[1]} {_short(theirs.final_error)}",
                [ours.final_error < theirs.final_error],
            )


def _main_of(example: str, network: str) -> dict[str, Any]:
    """What the trials of the paper's own experiment have in common."""
    return {"example": example, "network": network, "purpose": "main"}


def _main(results: Results, example: str, network: str) -> list[Row]:
    return results.select(**_main_of(example, network))


def _matched(results: Results, example: str, networks: Sequence[str]) -> list[tuple[Row, ...]]:
    return results.matched(*(_main_of(example, name) for name in networks))


def _errors(rows: Sequence[tuple[Row, ...]], networks: Sequence[str]) -> str:
    return ", ".join(
        f"{name} {spread([row[i].final_error for row in rows])}" for i, name in enumerate(networks)
    )


def _active(rows: Sequence[Row]) -> str:
    return "active: " + _tally([" ".join(map(str, row.active)) or "none" for row in rows])


def _tally(texts: Sequence[str]) -> str:
    return "; ".join(
        f"{{{text}}}" + (f" ×{count}" if count > 1 else "")
        for text, count in Counter(texts).items()
    )


def wrong_modes(row: Row) -> int:
    """Return how many modes are false or missed."""
    return len(row.false_modes) + len(row.missed)


def _where(example: str) -> str:
    return f"example {example}" if example.isdigit() else f"example 4 ({example})"


def _short(value: float) -> str:
    return f"{value:.3f}" if 0.001 <= abs(value) < 1 else f"{value:.3g}"


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
                _main_of(example, "u1_standard"),
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
