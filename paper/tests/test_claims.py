from dataclasses import replace

import numpy as np
import pytest

from paper.catalogue import Trial, trials
from paper.claims import QUOTATIONS, judge, network_claims, spread, start_table
from paper.network_runs import Results, Row
from paper.reproduction import claim_counts
from paper.theory_claims import log_slope, theory_claims
from paper.theory_runs import TheoryRow, theory_tasks
from robustfourier.network.embedding import embedding_layout


class Diagonals:
    """A store that knows the diagonal of every trial, or of none."""

    def __init__(self, modes=None):
        self.modes = modes

    def curves(self, key):  # noqa: ARG002
        if self.modes is None:
            return {}
        layout = embedding_layout(100, "signed")
        weights = np.random.default_rng(0).normal(0.0, 0.01, len(layout))
        weights[np.isin(layout.mode, self.modes)] = 0.5
        return {"diagonal": weights.astype(np.float16)}


NO_CURVES = Diagonals()


def row(trial, error=0.1, best=None, step=None, **fields):
    defaults = {
        "active": (5, 29, 61), "missed": (), "false_modes": (),
        "effective_modes": 3.0, "share_above_tenth": 0.05, "diagonal_effective": 3.0,
    }  # fmt: skip
    return Row(
        trial=trial, final_error=error, best_error=best if best is not None else error,
        best_step=step if step is not None else trial.n_steps, **(defaults | fields),
    )  # fmt: skip


def as_the_paper_says(trial):
    """A row that confirms everything the paper and we claim."""
    if not trial.diagonal:
        return row(trial, 0.2, best=0.15, step=1000, share_above_tenth=1.0, active=())
    errors = {"*u0_diag": 0.14, "u0_diag": 0.12, "u1_diag": 0.11, "u2_diag": 0.10}
    error = errors[trial.network] * (0.9 if trial.init == "symmetric" else 1.0)
    return row(trial, error, diagonal_effective=2.0 if trial.layerwise else 4.0)


def against_the_paper(trial):
    """A row that refutes it."""
    if not trial.diagonal:
        return row(trial, 0.05, share_above_tenth=0.3)
    return row(
        trial,
        (0.5 if trial.init == "symmetric" else 0.4)
        + (0.0 if trial.layerwise else 0.1)
        + (0.9 if trial.example == "2" else 0.0),
        missed=(61,),
        false_modes=(10, 20) if trial.init == "symmetric" else (10,),
        diagonal_effective=4.0 if trial.layerwise else 2.0,
    )


def judged(make_row):
    listed = trials(["1", "2", "3", "4"])
    return network_claims(Results(tuple(make_row(t) for t in listed), store=NO_CURVES))


def test_results_like_the_papers_confirm_every_claim():
    claims = judged(as_the_paper_says)
    assert len(claims) > 40
    assert {claim.verdict for claim in claims} == {"yes"}


def test_what_the_paper_says_of_modes_is_counted_by_the_diagonal_alone_too():
    rows = tuple(as_the_paper_says(t) for t in trials(["1"]))
    found = {}
    for modes in ((5, 29, 61), (5, 10, 29, 61), (5, 29)):
        claims = network_claims(Results(rows, store=Diagonals(modes)))
        about = [claim for claim in claims if claim.diagonal_holds is not None]
        assert {claim.source for claim in about} == {"paper"}
        assert {claim.verdict for claim in about} == {"yes"}
        assert "diagonal alone" in about[0].measured
        found[modes] = [(claim.diagonal_holds, claim.diagonal_verdict) for claim in about]
    # targets of both trainings, then "exclusively"
    assert found[5, 29, 61] == [(5, "yes")] * 3
    assert found[5, 10, 29, 61] == [(5, "yes")] * 2 + [(0, "no")]
    assert found[5, 29] == [(0, "no")] * 3
    counts = claim_counts(claims)
    assert "9 of 9 of its claims come out, and 6 of 9 where modes count by the diagonal" in counts


def test_results_unlike_the_papers_refute_every_claim():
    wrong = [claim for claim in judged(against_the_paper) if claim.verdict != "no"]
    assert wrong == []


def sources(part):
    return {
        claim.where: claim.source
        for claim in judged(as_the_paper_says)
        if claim.text.startswith(part)
    }


def test_a_claim_is_the_papers_only_where_the_paper_says_it():
    joint = sources("Joint training is more accurate")
    assert joint == {f"example {n}": "paper" if n == 1 else "ours" for n in (1, 2, 3, 4)}
    beats = sources("*u0_diag beats the standard network.")
    assert beats["example 1"] == beats["example 2"] == "paper"
    assert beats["example 3"] == beats["example 4"] == "ours"
    assert set(sources("Shifted phases do not hurt").values()) == {"ours"}
    assert (
        sources("With the diagonal layer the error is lower (u1)")["example 4"]
        == "paper, other data"
    )
    for claim in judged(as_the_paper_says):
        assert bool(claim.quotation) == claim.source.startswith("paper")


def test_the_papers_words_are_quoted_with_their_section():
    for by_example in QUOTATIONS.values():
        for example, words in by_example.items():
            assert words.endswith((f"(5.{example}).", "(5.1).", "(5.2)."))


def test_each_start_is_shown_with_the_claims_that_it_supports():
    rows = tuple(as_the_paper_says(t) for t in trials(["1"]))
    table = start_table(Results(rows, store=NO_CURVES))
    assert [line[0].split(" ")[0] for line in table] == ["Glorot's", "Glorot's", "symmetric"]
    assert [line[2:5] for line in table] == [("5 of 5",) * 3] * 3
    wrong = tuple(
        against_the_paper(t) if t.init == "antisymmetric" else as_the_paper_says(t)
        for t in trials(["1"])
    )
    assert start_table(Results(wrong, store=NO_CURVES))[1][2:5] == ("0 of 5",) * 3
    assert start_table(Results((), store=NO_CURVES)) == []


def test_a_verdict_needs_four_of_five():
    for holds, verdict in ((5, "yes"), (4, "yes"), (3, "no"), (0, "no")):
        answers = [True] * holds + [False] * (5 - holds)
        assert judge("ours", "", "", "", answers).verdict == verdict
    assert judge("ours", "", "", "", []).verdict == "not run"


def test_unfinished_seeds_are_left_out_of_a_comparison():
    listed = [t for t in trials(["1"]) if not (t.network == "u1_standard" and t.seed > 1)]
    claims = network_claims(Results(tuple(as_the_paper_says(t) for t in listed), store=NO_CURVES))
    first = next(claim for claim in claims if "error is lower (u1)" in claim.text)
    assert first.of == 2


def test_the_spread_of_nothing_is_a_dash():
    assert spread([]) == "–"


def test_one_bad_seed_does_not_overturn_but_two_do():
    for n_bad, verdict in ((1, "yes"), (2, "no")):
        rows = [
            replace(as_the_paper_says(t), final_error=0.9)
            if t.network == "u1_diag" and t.seed < n_bad
            else as_the_paper_says(t)
            for t in trials(["1"])
        ]
        claims = network_claims(Results(tuple(rows), store=NO_CURVES))
        assert claims[0].text == "With the diagonal layer the error is lower (u1)."
        assert claims[0].verdict == verdict


def theory_row(task, deviation):
    return TheoryRow(
        task, deviation, bound=1.0, signal=100 * deviation, signs_agree=1.0,
        leak_deviation=0.1 * deviation, false_weight=0.4 if task.target == "even" else 0.01,
        empirical_risk=0.1 + 1 / np.sqrt(max(task.n_output_steps, 1)) / 10, least_risk=0.1 - 1e-9,
        population_risk=0.2, relative_error=0.3, existing_risk=0.16, existing_bound=0.32,
        main_bound=9.0, rademacher=0.1, rademacher_exponent=-0.5, trace=task.n_steps**-2.0,
    )  # fmt: skip


def law(task):
    fade = 10 * np.exp(task.n_steps * np.log(0.95)) if task.large_start else 1.0
    return 1e-3 * task.r_c * task.batch_size**-0.5 * task.n_modes**-0.5 * fade


def test_runs_that_follow_the_theorem_confirm_it_and_others_do_not():
    good = [theory_row(task, law(task)) for task in theory_tasks()]
    by_text = {claim.text: claim for claim in theory_claims(good)}
    slopes = [claim for text, claim in by_text.items() if "error falls like" in text]
    assert [claim.verdict for claim in slopes] == ["yes", "yes"]
    assert by_text["Corollary 1: the error is of order r_c² if B ∝ 1/r_c²."].verdict == "yes"
    assert [claim.verdict for text, claim in by_text.items() if "nonlinear links" in text] == [
        "yes"
    ]
    assert by_text["Theorem 1: the start fades like (1 − ηλ)^T."].verdict == "yes"
    later = ("Corollary 3", "Lemma 2", "Rademacher lemma", "Main theorem: the population risk")
    assert [by_text[text].verdict for text in by_text if text.startswith(later)] == ["yes"] * 4
    wrong = {
        "bound": 1.0, "signs_agree": 0.5, "leak_deviation": 2.0, "existing_risk": 0.4,
        "population_risk": 5.0, "rademacher_exponent": -0.3, "trace": 0.1,
    }  # fmt: skip
    bad = [replace(theory_row(task, 2.0), **wrong) for task in theory_tasks()]
    refuted = theory_claims(bad)
    assert [claim.verdict for claim in refuted if claim.text.startswith(later)] == ["no"] * 5
    verdicts = {claim.text: claim.verdict for claim in theory_claims(bad)}
    assert verdicts["Theorem 1: the error falls like B^(−1/2)."] == "no"
    assert verdicts["Corollary 1: the error is of order r_c² if B ∝ 1/r_c²."] == "no"
    assert [v for t, v in verdicts.items() if "nonlinear links" in t] == ["no"]
    assert verdicts["Corollary: sign(w_j) = sign(w_−j) wherever α_j is not zero."] == "no"
    assert [v for t, v in verdicts.items() if "within the bound" in t] == ["no"]


def test_the_slope_of_a_power_law_is_its_exponent():
    x = np.array([1.0, 3.0, 10.0])
    assert log_slope(x, 7 * x**-1.5) == pytest.approx(-1.5)


def test_a_trial_of_the_sweep_is_judged_by_its_variation():
    rows = [
        row(Trial("3", network, 0, purpose="sweep", variation="width 50"), error)
        for network, error in (("u2_diag", 0.3), ("u2_standard", 0.2))
    ]
    (claim,) = network_claims(Results(tuple(rows), store=NO_CURVES))
    assert "width 50" in claim.text
    assert claim.verdict == "no"
