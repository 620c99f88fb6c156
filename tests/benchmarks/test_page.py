import numpy as np
import pytest
from benchmarks.peers import comparisons, cost, page
from benchmarks.peers.catalogue import NOISE_LEVELS, SIZES, catalogue
from benchmarks.peers.comparisons import LEVEL, LOSES, WINS, Results
from benchmarks.peers.rows import Row, append
from tests.looks import faults


def row(problem, method, seed, error, **more):
    given = {
        "n_found": 3, "precision": 1, "recall": 1, "precision_3se": 1, "recall_3se": 1,
        "components_right": 1, "seconds": 0.5, "megabytes": 10, **more,
    }  # fmt: skip
    return Row(problem, method, seed, "ok", error, **given)


@pytest.fixture
def canned():
    """Rows in which ours wins on example 3, is level on example 2 and loses on example 1."""
    rows = []
    for seed in range(3):
        rows += [
            row("example 1", "ours", seed, 0.030),
            row("example 1", "lasso_cv", seed, 0.020),
            row("example 1", "limit", seed, 0.001),
            row("example 2", "ours", seed, 0.0205),
            row("example 2", "lasso_cv", seed, 0.020),
            row("example 3", "ours", seed, 0.010 + 0.001 * seed),
            row("example 3", "lasso_cv", seed, 0.050),
            Row("example 3", "lombscargle", seed, "too slow", note="more than 30 s"),
        ]
        for level in NOISE_LEVELS:
            rows.append(row(f"noise × {level:g}", "ours", seed, 0.1 * level))
            rows.append(row(f"noise × {level:g}", "lasso_cv", seed, 0.3 * level, precision=0.5))
    for size in SIZES[:3]:
        rows.append(row(f"n = {size}", "ours", 0, 0.1, seconds=size / 1e4))
        rows.append(row(f"n = {size}", "lasso_cv", 0, 0.1, seconds=size / 1e3))
    return rows


def verdict_of(lines, case):
    return next(line for line in lines if line.case == case)


def test_verdicts_say_who_is_better(canned):
    lines = page.comparisons(Results(canned), catalogue())
    assert verdict_of(lines, "example 1: error").verdict == LOSES
    assert verdict_of(lines, "example 2: error").verdict == LEVEL
    assert verdict_of(lines, "example 3: error").verdict == WINS
    assert verdict_of(lines, "n = 1000: seconds").verdict == WINS
    assert verdict_of(lines, "noise curve: precision of the periods").verdict == WINS


def test_a_privileged_method_is_shown_but_not_counted(canned):
    line = verdict_of(page.comparisons(Results(canned), catalogue()), "example 1: error")
    assert line.rival_name == "LassoCV (scikit-learn)"
    assert (line.privileged, line.privileged_name) == (0.001, "limit: least squares from the truth")


def test_medians_not_means_are_compared(canned):
    canned += [row("example 3", "ours", 3, 9.0), row("example 3", "lasso_cv", 3, 9.0)]
    line = verdict_of(page.comparisons(Results(canned), catalogue()), "example 3: error")
    assert line.ours == pytest.approx(0.0115)


def test_methods_are_compared_on_the_seeds_that_both_have(canned):
    canned += [row("example 3", "lasso_cv", seed, 1e-9) for seed in range(3, 9)]
    line = verdict_of(page.comparisons(Results(canned), catalogue()), "example 3: error")
    assert (line.rival, line.verdict) == (0.05, WINS)


def test_a_problem_without_our_number_is_lost(canned):
    canned = [each for each in canned if (each.problem, each.method) != ("example 3", "ours")]
    canned.append(Row("example 3", "ours", 0, "too slow"))
    line = verdict_of(page.comparisons(Results(canned), catalogue()), "example 3: error")
    assert (line.verdict, line.rival) == (LOSES, 0.05)


def test_duels_count_problems_and_take_the_geometric_mean(canned):
    duel = comparisons.duels(Results(canned), catalogue())["lasso_cv"]
    assert (duel.wins, duel.level, duel.losses) == (1 + len(NOISE_LEVELS), 1, 1)
    ratios = [1.5, 1.025, 0.22, *[1 / 3] * len(NOISE_LEVELS)]
    assert duel.ratio == pytest.approx(np.exp(np.mean(np.log(ratios))))


def test_the_page_and_its_figures_are_drawn_from_rows(canned, tmp_path, written_figures):
    for each in canned:
        append(tmp_path / "rows.jsonl", each)
    text = page.write_page(tmp_path / "rows.jsonl", tmp_path / "docs").read_text(encoding="utf-8")
    assert "| example 1: error | 0.03 | 0.02 | LassoCV (scikit-learn) | 1.5 | **loses** |" in text
    assert "too slow (more than 30 s) | example 3 |" in text
    assert "is given every true line" in text
    drawn = list((tmp_path / "docs/figures/benchmarks").glob("*.png"))
    assert {path.name for path in drawn} == {"noise.png", "rivals.png", "size.png"}
    assert [faults(figure) for figure in written_figures] == [[]] * 3
    for path in drawn:
        assert path.with_suffix(".pdf").exists()
        assert f"figures/benchmarks/{path.name}" in text


def test_transforms_of_a_fit_are_counted():
    from robustfourier import PeriodicMixture

    t, work = np.arange(50.0), cost.Work()
    with cost.counted(work):
        PeriodicMixture().fit(t, np.sin(t) + 0.1 * np.cos(t**2))
    assert len(work.nuffts) >= 3  # weights, values, a residual
    assert all(samples == 50 and modes > 25 for samples, modes in work.nuffts)
    assert min(work.calls[name] for name in cost.NEEDED) >= 1
    before = work.calls.total()
    PeriodicMixture().fit(t, np.sin(t))
    assert work.calls.total() == before  # no longer counted


def test_seeds_that_only_we_have_are_in_a_table_of_their_own(canned, tmp_path):
    for one in [*canned, *(row("example 3", "ours", seed, 5.0) for seed in range(3, 20))]:
        append(tmp_path / "rows.jsonl", one)
    text = page.write_page(tmp_path / "rows.jsonl", tmp_path / "docs").read_text(encoding="utf-8")
    assert "| example 3: error | 0.011 |" in text
    assert "| example 3 | 20 | 5 | 0.01" in text
