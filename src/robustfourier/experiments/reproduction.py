"""The paper again: run what is missing, draw the figures, judge the claims, write the pages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from robustfourier.errors import InputError
from robustfourier.experiments import theory_runs
from robustfourier.experiments.catalogue import EXAMPLES, STEPS, Trial, trials
from robustfourier.experiments.claims import Claim, network_claims, spread
from robustfourier.experiments.figures import example_figures, networks_figure
from robustfourier.experiments.finished import Results, Row, load_results
from robustfourier.experiments.page import (
    Block,
    Heading,
    Paragraph,
    Picture,
    Table,
    claims_matrix,
    claims_table,
    write_pages,
)
from robustfourier.experiments.problems import example_data
from robustfourier.experiments.runner import Report, run_tasks
from robustfourier.experiments.starts import START_COLUMNS, STARTS, start_table
from robustfourier.experiments.store import ResultStore
from robustfourier.experiments.theory_claims import theory_claims
from robustfourier.experiments.theory_figures import comparison_figures, theory_figures
from robustfourier.experiments.theory_runs import (
    TheoryTask,
    load_theory,
    run_theory_task,
    theory_tasks,
)
from robustfourier.experiments.trial import COLUMNS, EARLY, run_trial

NAMES = ("1", "2", "3", "4", "simulated", "trends", "theory", "all")
_GROUPS = {"all": ("1", "2", "3", "4", "simulated", "theory"), "4": ("4", "simulated")}
PAGE = "reproduction"


def reproduce(
    names: Sequence[str] | None = None,
    *,
    out: Path,
    quick: bool = False,
    csv: Path | None = None,
    jobs: int = 2,
    rows: Path | None = None,
    progress: Report | bool | None = None,
) -> Path:
    """Run the paper's experiments and write a page with figures and verdicts.

    Interrupt it at any time: started again with the same folder, it goes on where it was.

    Parameters
    ----------
    names : sequence of str, optional
        Of "1", "2", "3", "4" (electricity demand, and with it "simulated"), "trends" (needs
        `csv`), "theory", "all". By default all but "trends".
    out : path
        Folder for rows, curves, figures and pages; made if it is not there.
    quick : bool
        Two seeds and few steps at ten times the rate: minutes instead of hours.
    csv : path, optional
        A Google Trends export, for "trends".
    jobs : int
        Worker processes.
    rows : path, optional
        Folder of finished rows in two small files each: what is there is not run again, and what
        finishes is added. Not for quick runs and own exports.
    progress : callable, bool or None
        Called with lines of text; True prints them.

    Returns
    -------
    Path
        The HTML page; a Markdown page lies beside it.

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
    report = print if progress is True else progress or None
    kept = None if quick or csv is not None else rows
    networks = ResultStore(Path(out), "networks" + _suffix(quick, csv), COLUMNS, kept)
    tests = ResultStore(Path(out), "theory" + _suffix(quick, None), theory_runs.COLUMNS, kept)
    listed = trials([name for name in chosen if name != "theory"], quick=quick)
    tasks = theory_tasks(quick=quick) if "theory" in chosen else []
    if listed:
        work = partial(run_trial, csv=csv, folder=networks.curves_folder)
        run_tasks(listed, work, networks, jobs=jobs, report=report)
    if tasks:
        run_tasks(tasks, run_theory_task, tests, jobs=jobs, report=report)
    if kept is not None:
        networks.keep(kept, [trial.key for trial in trials(STEPS)])
        tests.keep(kept, [task.key for task in theory_tasks()])
    return write_reproduction(Path(out), networks, tests, listed, tasks, quick=quick, csv=csv)


def write_reproduction(
    out: Path,
    networks: ResultStore,
    tests: ResultStore,
    listed: Sequence[Trial],
    tasks: Sequence[TheoryTask],
    *,
    quick: bool = False,
    csv: Path | None = None,
) -> Path:
    """Draw and write whatever has finished; figures go to ``out/figures``."""
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    results = load_results(networks, listed)
    rows = load_theory(tests, tasks)
    claims = [*network_claims(results), *theory_claims(rows)]
    blocks: list[Block] = [*_introduction(results, len(listed), quick)]
    blocks += [*_pictures(networks_figure(figures)), *_verdicts(claims)]
    for example in results.examples():
        blocks += _example(results, example, figures, csv)
    if results.rows:
        blocks.append(Heading("Other starts, and the open choices"))
        blocks += _starts(results)
        blocks += _pictures(comparison_figures(results, figures))
    if rows:
        blocks += [Heading("Theory"), Paragraph(_THEORY)]
        blocks += _pictures(theory_figures(rows, tests, figures))
    return write_pages(blocks, out, PAGE)


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


def _introduction(results: Results, n_trials: int, quick: bool) -> list[Block]:
    seeds = sorted({row.trial.seed for row in results.rows})
    text = (
        "Section 5 of “Robust Fourier Neural Networks” (Jeong and Han) run again, with "
        f"{len(seeds)} seeds of noise, initial weights and batches. A network u_n has n dense "
        "layers; “diag” means a diagonal layer behind the Fourier embedding, “standard” none, and "
        "the star layer-wise training. The error is the paper's relative L² error against the "
        "noiseless truth on the sample points. Every training is a row of networks.csv and every "
        "run of Algorithm 1 one of theory.csv, with all that is needed to repeat it."
    )
    choices = (
        "The rates (α₀, γ, m₀) = (2e-3, 0.95, 5e4) and batches of 201 rows are the paper's for "
        "examples 1 and 2, and taken over for the others. Chosen where the paper is silent: 100 "
        "modes; dense layers of width 100 with biases; the loss r², not the theory's ½r², which "
        "doubles the step; the diagonal drawn from a normal distribution of standard deviation "
        "1/√D, not truncated; for layer-wise training λ = 0, no boxes, as many steps in the second "
        "phase as in the first (T′ = T) and reshuffled passes over the samples instead of fresh "
        "batches; and "
        + "; ".join(_steps_told(name) for name in results.examples())
        + " (for each of the two phases of layer-wise training). Networks are trained in float32; "
        "float64 is among the varied choices, which are trained for fewer steps with one seed."
    )
    if quick:
        choices += " This is the quick form: few steps at ten times the rate, two seeds."
    blocks: list[Block] = [Heading("The paper again", 1), Paragraph(text), Paragraph(choices)]
    if len(results.rows) < n_trials:
        blocks.append(
            Paragraph(f"Not finished yet: {len(results.rows)} of {n_trials} trainings are done.")
        )
    return blocks


def _steps_told(example: str) -> str:
    dense, linear = STEPS[example]
    return f"{dense} steps for example {example}, {linear} without dense layers"


def _verdicts(claims: Sequence[Claim]) -> list[Block]:
    papers = [claim for claim in claims if claim.said]
    ours = [claim for claim in claims if not claim.said]
    return [
        Heading("Claims"),
        Paragraph(
            f"{counted(claims)} A claim is put to each seed as a yes-or-no question, and its "
            "verdict is yes if at least four of five answers are. Numbers are medians with the "
            "smallest and largest value. A mode is called active if it stands out from those that "
            "carry nothing, by one rule for all networks (robustfourier.network.activity). What "
            "the paper says of modes is counted twice: by the product of diagonal and output "
            "weights, which is what a network computes with and what the verdicts are about, and "
            "by the diagonal alone, which is what the paper draws."
        ),
        claims_matrix(claims),
        Heading("What the paper says"),
        Paragraph(
            "With its words. The series of its example 4 is not public, so what it says there is "
            "put to other data: electricity demand, and a simulated series. The modes 18, 40 and "
            "63 that it finds there belong to that series, and are checked where it is given "
            "(robustfourier reproduce trends --csv FILE draws the diagonal)."
        ),
        claims_table(papers, "the paper's words"),
        Heading("What theory and we say"),
        Paragraph(
            "The theorems, the paper's questions put to examples where it does not answer them, "
            "and our own claims. The factor 1.25 for shifted phases is ours."
        ),
        claims_table(ours),
    ]


def counted(claims: Sequence[Claim]) -> str:
    """How many claims come out, in sentences: the paper's on its own data by both readings."""

    def told(group: Sequence[Claim], verdict: str = "verdict") -> str:
        return f"{sum(getattr(claim, verdict) == 'yes' for claim in group)} of {len(group)}"

    own = [claim for claim in claims if claim.source == "paper"]
    other = [claim for claim in claims if claim.source == "paper, other data"]
    ours = [claim for claim in claims if not claim.said]
    return (
        f"On the paper's own data {told(own)} of its claims come out, and "
        f"{told(own, 'diagonal_verdict')} where modes count by the diagonal alone. What it says "
        f"of a series that is not public comes out in {told(other)} cases on other data. Of the "
        f"theorems' and our own claims {told(ours)} do."
    )


def _starts(results: Results) -> list[Block]:
    rows = start_table(results)
    if not rows:
        return []
    return [
        Paragraph(
            "Which of three claims of the paper come out from which start. With equal signs of "
            "c⁰ on +φ and −φ, layer-wise training leaves one half-wave of a mode empty; section "
            "2.4 asks for opposite signs."
        ),
        Table(START_COLUMNS, tuple(rows)),
    ]


def _example(results: Results, example: str, figures: Path, csv: Path | None) -> list[Block]:
    data = example_data(example, 0, csv=csv)
    return [
        Heading(data.title),
        Paragraph(data.note),
        networks_table(results, example),
        *_pictures(example_figures(results, example, figures, csv=csv)),
    ]


def networks_table(results: Results, example: str) -> Table:
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
    columns = (
        "network",
        "start",
        "seeds",
        "steps",
        "error after 60 000",
        "error at the end",
        "lowest error",
        "active modes",
        "which (first seed)",
    )
    return Table(columns, tuple(rows))


def _early_error(results: Results, row: Row) -> float | None:
    """Error on the way, for joint training: layer-wise training begins with half a network."""
    curves = results.curves(row)
    at = np.flatnonzero(curves["step"] == EARLY)
    if row.trial.layerwise or row.trial.n_steps <= EARLY or not at.size:
        return None
    return float(curves["error"][at[0]])


def _pictures(drawn: dict[str, Path]) -> list[Picture]:
    return [Picture(path, caption) for caption, path in drawn.items()]
