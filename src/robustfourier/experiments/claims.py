"""The paper's claims and ours, each with measured numbers and a verdict that can be "no".

A claim is put as a yes-or-no question to each seed (and network, where it speaks of several). The
verdict is yes if at least four of five answers are yes, else no. Medians are given with the
smallest and largest value over seeds.

A claim is the paper's where the paper says it, and carries its words (`SAID`); everywhere else the
same question is ours. The series of the paper's example 4 is not public: what it says there is put
to other data, and its source says so.

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

from robustfourier.experiments.catalogue import EXAMPLES, NETWORKS
from robustfourier.experiments.finished import Results, Row
from robustfourier.experiments.said import SAID
from robustfourier.experiments.trial import diagonal_sizes
from robustfourier.network.activity import active_modes
from robustfourier.synthetic import PAPER_COMPONENTS

ENOUGH = 0.8  # four of five seeds
RISE = 1.02  # the standard network's error must end this much above its lowest
NO_HARM = 1.25  # ours: an error this much larger still counts as "does not hurt"
NEARLY_ALL = 0.9

DIAGONAL = tuple(name for name, (_, diagonal) in NETWORKS.items() if diagonal)
STANDARD = tuple(name for name, (_, diagonal) in NETWORKS.items() if not diagonal)


@dataclass(frozen=True)
class Claim:
    """A claim and how it came out.

    Attributes
    ----------
    source : str
        "paper", "paper, other data", "theory" or "ours".
    text : str
        The claim in a sentence.
    where : str
        Example or sweep that it was measured on.
    measured : str
        The numbers.
    holds, of : int
        In how many of how many answers it holds.
    said : str
        The paper's words, if it is the paper's.
    diagonal_holds : int or None
        In how many it holds where modes count by the diagonal alone; None if it is not about modes.
    """

    source: str
    text: str
    where: str
    measured: str
    holds: int
    of: int
    said: str = ""
    diagonal_holds: int | None = None

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
        told = f"{self.holds} of {self.of}"
        if self.diagonal_holds is None:
            return told
        return f"{told}; by the diagonal alone {self.diagonal_holds}"


def judge(
    source: str,
    text: str,
    where: str,
    measured: str,
    answers: Sequence[bool] | Iterator[bool],
    said: str = "",
) -> Claim:
    """Count the answers.

    Examples
    --------
    >>> judge("ours", "It is raining.", "here", "3 mm", [True, True, True, True, False]).verdict
    'yes'
    """
    listed = [bool(answer) for answer in answers]
    return Claim(source, text, where, measured, sum(listed), len(listed), said)


def _asked(
    name: str, example: str, text: str, measured: str, answers: Sequence[bool] | Iterator[bool]
) -> Claim:
    """Judge a question on an example: the paper's claim where `SAID` has its words, else ours."""
    said = SAID[name].get(example if example.isdigit() else "4", "")
    source = "ours" if not said else "paper" if example in "123" else "paper, other data"
    return judge(source, text, _where(example), measured, answers, said)


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
    return _asked(name, example, text, _errors(rows, (network, other)), answers)


def _best_network(results: Results, example: str, network: str) -> Claim:
    rows = _matched(results, example, EXAMPLES[example])
    position = EXAMPLES[example].index(network)
    medians = {
        name: float(np.median([row[i].final_error for row in rows])) if rows else np.nan
        for i, name in enumerate(EXAMPLES[example])
    }
    ranked = sorted(medians, key=lambda name: medians[name])
    return _asked(
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
    yield _asked(
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
    yield _asked(
        "sparser",
        example,
        "Layer-wise training gives a sparser diagonal layer than joint training.",
        f"effective number of modes: {measured}",
        (layerwise.diagonal_effective < joint.diagonal_effective for layerwise, joint in rows),
    )
    dense = _main(results, example, "u1_standard")
    sparse = _main(results, example, "u0_diag")
    # "active" is a mode that stands out (network.activity); here none does, as nearly all are alike
    yield _asked(
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
        claim = _asked(
            "targets",
            example,
            f"The target modes are among the active ones ({network}).",
            _active(rows),
            (not row.missed for row in rows),
        )
        yield _also_by_diagonal(results, claim, rows, lambda active, true: true <= active)
    if example in ("1", "2"):
        rows = _main(results, example, "*u0_diag")
        claim = _asked(
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
    """Put the question to the modes that stand out in the diagonal alone, too.

    Parameters
    ----------
    results : Results
    claim : Claim
    rows : sequence of Row
    answer : callable
        ``answer(active modes, target modes)``.
    """
    holds, shown = 0, []
    for row in rows:
        diagonal = results.curves(row).get("diagonal")
        if diagonal is None or not claim.said:
            return claim
        number = int(row.trial.example)
        true = {int(component.mode) for component in PAPER_COMPONENTS[number]}
        sizes = diagonal_sizes(diagonal, row.trial.n_modes)
        active = {int(mode) for mode in np.flatnonzero(active_modes(sizes)) + 1}
        holds += answer(active, true)
        shown.append(" ".join(map(str, sorted(active))) or "none")
    told = f"{claim.measured}; diagonal alone {_tally(shown)}"
    return replace(claim, measured=told, diagonal_holds=holds)


def _phases(results: Results) -> Iterator[Claim]:
    for network in ("*u0_diag", "u0_diag", "u1_diag"):
        rows = results.matched(main_of("1", network), main_of("2", network))
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
        symmetric = main_of(example, network) | {"init": "symmetric", "purpose": "init"}
        pairs = results.matched(symmetric, main_of(example, network))
        yield judge(
            "ours",
            f"The symmetric start lowers the error ({network}).",
            _where(example),
            _errors(pairs, ("symmetric", "Glorot")),
            (a.final_error < b.final_error for a, b in pairs),
        )
        both = results.matched(symmetric, main_of(example, "u1_standard"))
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


def main_of(example: str, network: str) -> dict[str, Any]:
    """What the trials of the paper's own experiment have in common."""
    return {"example": example, "network": network, "purpose": "main"}


def _main(results: Results, example: str, network: str) -> list[Row]:
    return results.select(**main_of(example, network))


def _matched(results: Results, example: str, networks: Sequence[str]) -> list[tuple[Row, ...]]:
    return results.matched(*(main_of(example, name) for name in networks))


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
