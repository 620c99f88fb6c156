"""The paper again: run what is missing, draw the figures, judge the claims, write the page.

The page is Markdown; a block of it is a string.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from paper import theory_runs
from paper.catalogue import EXAMPLES, STEPS, trials
from paper.claims import START_COLUMNS, STARTS, Claim, network_claims, spread, start_table
from paper.examples import example_data
from paper.network_figures import example_figures, networks_figure
from paper.network_runs import COLUMNS, EARLY, Results, Row, load_results, run_trial
from paper.result_store import Report, ResultStore, run_tasks
from paper.theory_claims import theory_claims
from paper.theory_figures import comparison_figures, theory_figures
from paper.theory_runs import load_theory, run_theory_task, theory_tasks
from robustfourier.atomic_files import write_text
from robustfourier.errors import InputError

NAMES = ("1", "2", "3", "4", "simulated", "trends", "theory", "all")
_GROUPS = {"all": ("1", "2", "3", "4", "simulated", "theory"), "4": ("4", "simulated")}
PAGE = "results.md"


def reproduce(
    names: Sequence[str] | None = None,
    *,
    out: Path,
    quick: bool = False,
    csv: Path | None = None,
    jobs: int = 2,
    rows: Path | None = None,
    report: Report | None = None,
) -> Path:
    """Run the paper's experiments and write a page with figures and verdicts.

    Interrupt it at any time: started again with the same folder, it goes on where it was.

    Parameters
    ----------
    names : sequence of str, optional
        Of "1", "2", "3", "4" (electricity demand, and with it "simulated"), "trends" (needs
        `csv`), "theory", "all". By default all but "trends".
    out : path
        Folder for rows, curves, figures and page; made if it is not there.
    quick : bool
        Two seeds and few steps at ten times the rate: minutes instead of hours.
    csv : path, optional
        A Google Trends export, for "trends".
    jobs : int
        Worker processes.
    rows : path, optional
        Folder of finished rows in two small files each: what is there is not run again, and what
        finishes is added. Not for quick runs and own exports.
    report : callable, optional
        Called with lines of text.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        If a name is unknown, or "trends" comes without `csv`.
    RunLockedError
        If another run uses the folder.
    """
    chosen = _chosen(names)
    if "trends" in chosen:
        example_data("trends", 0, csv=csv)  # a bad file is refused before anything is run
    kept = None if quick or csv is not None else rows
    networks = ResultStore(Path(out), "networks" + _suffix(quick, csv), COLUMNS, kept)
    theory = ResultStore(Path(out), "theory" + _suffix(quick, None), theory_runs.COLUMNS, kept)
    listed = trials([name for name in chosen if name != "theory"], quick=quick)
    tasks = theory_tasks(quick=quick) if "theory" in chosen else []
    if listed:
        work = partial(run_trial, csv=csv, folder=networks.curves_folder)
        run_tasks(listed, work, networks, jobs=jobs, report=report)
    if tasks:
        run_tasks(tasks, run_theory_task, theory, jobs=jobs, report=report)
    if kept is not None:
        networks.keep(kept, [trial.key for trial in trials(STEPS)])
        theory.keep(kept, [task.key for task in theory_tasks()])
    figures = Path(out) / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    results, runs = load_results(networks, listed), load_theory(theory, tasks)
    claims = [*network_claims(results), *theory_claims(runs)]
    blocks = [*_introduction(results, quick), *_pictures(networks_figure(figures))]
    blocks += _verdicts(claims)
    for example in results.examples():
        data = example_data(example, 0, csv=csv)
        blocks += [f"## {data.title}", data.note, networks_table(results, example)]
        blocks += _pictures(example_figures(results, example, figures, csv=csv))
    if results.rows:
        blocks += ["## Other starts, and the open choices", _STARTS]
        blocks.append(table(START_COLUMNS, start_table(results)))
        blocks += _pictures(comparison_figures(results, figures))
    if runs:
        blocks += ["## Theory", _THEORY, *_pictures(theory_figures(runs, theory, figures))]
    write_text(Path(out) / PAGE, "\n\n".join(blocks) + "\n")
    return Path(out) / PAGE


_STARTS = (
    "Which of three claims of the paper come out from which start. With equal signs of c⁰ on +φ "
    "and −φ, layer-wise training leaves one half-wave of a mode empty; section 2.4 asks for "
    "opposite signs."
)
_THEORY = (
    "Algorithm 1 with fresh batches, on example 1 with uniform noise of standard deviation 0.4 "
    "(bounded, as the theorems ask), m = 64, λ = 0.5, η = 0.1, T = 200 unless varied. The "
    "prediction is w^T = (1 − (1 − ηλ)^T)/λ · c⁰⊙α/2 with α_j = E[f x_j]."
)


def _suffix(quick: bool, csv: Path | None) -> str:
    """Keep the rows of quick runs and of different exports apart."""
    digest = "" if csv is None else "_" + hashlib.sha256(Path(csv).read_bytes()).hexdigest()[:8]
    return ("_quick" if quick else "") + digest


def _chosen(names: Sequence[str] | None) -> list[str]:
    wanted: list[str] = []
    for name in names or ["all"]:
        if name not in NAMES:
            raise InputError(f"names: {name!r} is unknown; choose from {', '.join(NAMES)}.")
        wanted += _GROUPS.get(name, (name,))
    return list(dict.fromkeys(wanted))


def _introduction(results: Results, quick: bool) -> list[str]:
    seeds = {row.trial.seed for row in results.rows}
    text = (
        "Section 5 of “Robust Fourier Neural Networks” (Jeong and Han) run again, with "
        f"{len(seeds)} seeds of noise, initial weights and batches. A network u_n has n dense "
        "layers; “diag” means a diagonal layer behind the Fourier embedding, “standard” none, and "
        "the star layer-wise training. The error is the paper's relative L² error against the "
        "noiseless truth on the sample points. Every training is a row of networks.csv and every "
        "run of Algorithm 1 one of theory.csv, with all that is needed to repeat it."
    )
    steps = "; ".join(
        f"{dense} steps for example {name}, {linear} without dense layers"
        for name, (dense, linear) in STEPS.items()
        if name in results.examples()
    )
    choices = (
        "The rates (α₀, γ, m₀) = (2e-3, 0.95, 5e4) and batches of 201 rows are the paper's for "
        "examples 1 and 2, and taken over for the others. Chosen where the paper is silent: 100 "
        "modes; dense layers of width 100 with biases; the loss r², not the theory's ½r², which "
        "doubles the step; the diagonal drawn from a normal distribution of standard deviation "
        "1/√D, not truncated; for layer-wise training λ = 0, no boxes, as many steps in the second "
        "phase as in the first (T′ = T) and reshuffled passes over the samples instead of fresh "
        f"batches; and {steps} (for each of the two phases of layer-wise training). Networks are "
        "trained in float32; float64 is among the varied choices, which are trained for fewer "
        "steps with one seed."
    )
    if quick:
        choices += " This is the quick form: few steps at ten times the rate, two seeds."
    return ["# What came out", _plain(text), _plain(choices)]


def _verdicts(claims: Sequence[Claim]) -> list[str]:
    papers = [claim for claim in claims if claim.quotation]
    ours = [claim for claim in claims if not claim.quotation]
    return [
        "## Claims",
        f"{claim_counts(claims)} A claim is put to each seed as a yes-or-no question, and its "
        "verdict is yes if at least four of five answers are. Numbers are medians with the "
        "smallest and largest value. A mode is called active if it stands out from those that "
        "carry nothing, by one rule for all networks (robustfourier.network.active_modes). What "
        "the paper says of modes is counted twice: by the product of diagonal and output "
        "weights, which is what a network computes with and what the verdicts are about, and "
        "by the diagonal alone, which is what the paper draws.",
        claims_matrix(claims),
        "## What the paper says",
        "With its words. The series of its example 4 is not public, so what it says there is "
        "put to other data: electricity demand, and a simulated series. The modes 18, 40 and "
        "63 that it finds there belong to that series, and are checked where it is given "
        "(`python -m paper trends --csv FILE` draws the diagonal).",
        claims_table(papers, "the paper's words"),
        "## What theory and we say",
        "The theorems, the paper's questions put to examples where it does not answer them, "
        "and our own claims. The factor 1.25 for shifted phases is ours.",
        claims_table(ours),
    ]


def claim_counts(claims: Sequence[Claim]) -> str:
    """How many claims come out, in sentences: the paper's on its own data by both readings."""

    def count(group: Sequence[Claim], verdict: str = "verdict") -> str:
        return f"{sum(getattr(claim, verdict) == 'yes' for claim in group)} of {len(group)}"

    own = [claim for claim in claims if claim.source == "paper"]
    other = [claim for claim in claims if claim.source == "paper, other data"]
    ours = [claim for claim in claims if not claim.quotation]
    return (
        f"On the paper's own data {count(own)} of its claims come out, and "
        f"{count(own, 'diagonal_verdict')} where modes count by the diagonal alone. What it says "
        f"of a series that is not public comes out in {count(other)} cases on other data. Of the "
        f"theorems' and our own claims {count(ours)} do."
    )


def claims_table(claims: Iterable[Claim], words: str = "whose") -> str:
    """Return the table of claims: the paper's words or whose it is, what was measured, verdict."""
    return table(
        ("claim", words, "where", "measured", "holds in", "verdict"),
        [
            (c.text, c.quotation or c.source, c.where, c.measured, c.count, c.verdict)
            for c in claims
        ],
    )


def claims_matrix(claims: Iterable[Claim]) -> str:
    """Return the claims that were put to several examples in short: one row each, one cell each.

    A cell holds the verdict and in how many answers the claim holds.
    """
    listed = [claim for claim in claims if claim.where.startswith("example ")]
    places = list(dict.fromkeys(claim.where for claim in listed))
    rows = []
    for text in dict.fromkeys(claim.text for claim in listed):
        found = {claim.where: claim for claim in listed if claim.text == text}
        cells = [
            f"{c.verdict} ({c.holds}/{c.of})" if (c := found.get(place)) else "" for place in places
        ]
        if len(found) > 1:
            rows.append((text, _whose(found.values()), *cells))
    return table(("claim", "whose", *places), rows)


def _whose(claims: Iterable[Claim]) -> str:
    """Name the author, or the places where it is the paper if there are two."""
    sources = {claim.where: claim.source for claim in claims}
    papers = [where for where, source in sources.items() if source.startswith("paper")]
    if len(papers) in (0, len(sources)):
        return next(iter(sources.values())).split(",")[0]
    return f"paper ({', '.join(where.removeprefix('example ') for where in papers)}), else ours"


def networks_table(results: Results, example: str) -> str:
    """Return how each network ended, from which start, over how many seeds and steps."""
    rows = []
    for network in EXAMPLES[example]:
        for init in STARTS:
            every = results.select(example=example, network=network, init=init)
            found = [row for row in every if row.trial.purpose != "sweep"]
            if not found:
                continue
            early = [error for row in found if (error := _early_error(results, row)) is not None]
            rows.append(
                (
                    network,
                    init,
                    str(len(found)),
                    f"{found[0].trial.n_steps:,}".replace(",", " "),
                    spread(early),
                    spread([row.final_error for row in found]),
                    spread([row.best_error for row in found]),
                    spread([float(len(row.active)) for row in found]),
                    " ".join(map(str, found[0].active)) or "none",
                )
            )
    columns = "network|start|seeds|steps|error after 60 000|error at the end|lowest error"
    return table((*columns.split("|"), "active modes", "which (first seed)"), rows)


def _early_error(results: Results, row: Row) -> float | None:
    """Error on the way, for joint training: layer-wise training begins with half a network."""
    curves = results.curves(row)
    at = np.flatnonzero(curves["step"] == EARLY)
    if row.trial.layerwise or row.trial.n_steps <= EARLY or not at.size:
        return None
    return float(curves["error"][at[0]])


def _pictures(drawn: Mapping[str, Path]) -> list[str]:
    """Caption → file, as Markdown; files lie in a folder beside the page."""
    return [
        f"![{_plain(caption)}]({os.path.join(path.parent.name, path.name)})\n\n*{_plain(caption)}*"
        for caption, path in drawn.items()
    ]


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([_plain(cell).replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _plain(text: str) -> str:
    """Keep Markdown from reading stars and underscores as emphasis."""
    return text.replace("*", r"\*").replace("_", r"\_")
