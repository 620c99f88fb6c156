import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.looks import faults

from paper import __main__ as command
from paper import reproduction, theory_runs
from paper.catalogue import STEPS, Trial, trials
from paper.claims import Claim
from paper.network_figures import example_figures, network_layers, networks_figure
from paper.network_runs import COLUMNS, Results
from paper.result_store import ResultStore
from paper.tests.toys import toy_tasks, toy_trials
from paper.theory_figures import comparison_figures, theory_figures
from paper.theory_runs import theory_tasks
from robustfourier.errors import InputError, RunLockedError
from robustfourier.network.architecture import Architecture

PNG = b"\x89PNG"


@pytest.mark.parametrize("example", ["3", "simulated"])
def test_every_example_has_its_three_figures(toy_results, tmp_path, example, written_figures):
    drawn = example_figures(toy_results, example, tmp_path)
    assert len(drawn) == len(written_figures) == 3
    for path, figure in zip(drawn.values(), written_figures, strict=True):
        assert path.read_bytes().startswith(PNG)
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
        assert path.stat().st_size < 250_000
        assert faults(figure) == [], path


def test_the_same_results_draw_the_same_bytes(toy_results, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        comparison_figures(toy_results, tmp_path / folder)
    assert {path.suffix for path in (tmp_path / "a").iterdir()} == {".png", ".pdf"}
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_the_papers_two_networks_are_drawn_from_their_description(tmp_path):
    (path,) = networks_figure(tmp_path).values()
    assert path.read_bytes().startswith(PNG)
    deep = network_layers(Architecture(3, hidden_layer_sizes=(7, 5), diagonal=False))
    assert [size for _, size, _ in deep] == ["1", "14", "7", "5", "1"]
    assert "diagonal" not in " ".join(name for name, _, _ in deep)


def test_the_table_of_networks_has_seeds_steps_and_the_error_on_the_way(toy_results, tmp_path):
    rows = cells(reproduction.networks_table(toy_results, "1"))[2:]
    starts = [row[:2] for row in rows]
    assert starts[:3] == [["*u0_diag", i] for i in ("glorot", "antisymmetric", "symmetric")]
    assert starts[-1] == ["u1_standard", "glorot"]
    assert {tuple(row[2:5]) for row in rows} == {("1", "40", "–")}
    trial = Trial("1", "u0_diag", 0, n_steps=500_000)
    row = replace(toy_results.rows[0], trial=trial, final_error=0.25, best_error=0.2)
    store = ResultStore(tmp_path, "networks", COLUMNS)
    with store.locked():
        steps = np.array([0, 60_000, 500_000], np.int32)
        store.save_curves(trial.key, {"step": steps, "error": np.array([1.0, 0.5, 0.25])})
    line = cells(reproduction.networks_table(Results((row,), store), "1"))[2]
    assert line[2:5] == ["1", "500 000", "0.500 [0.500, 0.500]"]


def test_an_example_without_results_has_no_figures(toy_results, tmp_path):
    assert example_figures(toy_results, "trends", tmp_path) == {}


def test_the_theory_has_its_two_figures(toy_theory, tmp_path, written_figures):
    rows, store = toy_theory
    assert len(theory_figures(rows, store, tmp_path)) == 2
    assert [faults(figure) for figure in written_figures] == [[], []]


def cells(table):
    return [
        [cell.strip().replace("\\", "") for cell in line.strip("| ").split(" | ")]
        for line in table.splitlines()
    ]


def test_a_table_escapes_what_markdown_would_read():
    assert reproduction.table(("a|b", "*u0_diag"), [("1 | 2", "no")]) == (
        "| a\\|b | \\*u0\\_diag |\n| --- | --- |\n| 1 \\| 2 | no |"
    )


def test_the_claims_table_shows_verdict_and_count():
    claim = Claim("paper", "It holds.", "example 1", "0.1", holds=3, of=5)
    row = ["It holds.", "paper", "example 1", "0.1", "3 of 5", "no"]
    assert cells(reproduction.claims_table([claim]))[2] == row
    quoted = cells(
        reproduction.claims_table([replace(claim, quotation="It does (5.1).")], "the paper's words")
    )
    assert quoted[0][1] == "the paper's words"
    assert quoted[2][1] == "It does (5.1)."


def test_the_matrix_of_claims_has_one_row_per_claim_and_one_cell_per_example():
    claims = [
        Claim("paper", "A.", "example 1", "", holds=5, of=5),
        Claim("paper", "A.", "example 2", "", holds=1, of=5),
        Claim("paper", "B.", "example 1", "", holds=4, of=5),
        Claim("theory", "C.", "all runs", "", holds=4, of=5),
    ]
    head, _, *rows = cells(reproduction.claims_matrix(claims))
    assert head == ["claim", "whose", "example 1", "example 2"]
    assert rows == [["A.", "paper", "yes (5/5)", "no (1/5)"]]
    claims[1] = replace(claims[1], source="ours")
    assert cells(reproduction.claims_matrix(claims))[2][1] == "paper (1), else ours"


@pytest.fixture
def toy_catalogue(monkeypatch):
    monkeypatch.setattr(reproduction, "trials", lambda names, **_: toy_trials(names))
    few = [task for task in toy_tasks() if task.n_output_steps < 60][:6]
    monkeypatch.setattr(reproduction, "theory_tasks", lambda **_: few)


@pytest.mark.usefixtures("toy_catalogue")
def test_reproduce_writes_a_page_with_all_its_figures_and_goes_on_where_it_was(tmp_path):
    lines: list[str] = []
    page = reproduction.reproduce(["2", "theory"], out=tmp_path, jobs=1, report=lines.append)
    text = page.read_text()
    named = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert len(named) == 1 + 3 + 1 + 2
    for name in named:
        assert (tmp_path / name).is_file()
    assert "Example 2" in text
    assert "Theorem 1" in text
    again: list[str] = []
    reproduction.reproduce(["theory"], out=tmp_path, jobs=1, report=again.append)
    assert again == ["6 of 6 tasks are done already."]


@pytest.mark.usefixtures("toy_catalogue")
def test_kept_rows_are_gone_on_from_and_added_to(tmp_path, monkeypatch):
    few = reproduction.theory_tasks()
    monkeypatch.setattr(reproduction, "theory_tasks", lambda **_: few[:4])
    kept, lines = tmp_path / "kept", []
    reproduction.reproduce(["theory"], out=tmp_path / "a", rows=kept, jobs=1)
    monkeypatch.setattr(reproduction, "theory_tasks", lambda **_: few)
    reproduction.reproduce(["theory"], out=tmp_path / "b", rows=kept, jobs=1, report=lines.append)
    assert lines[0] == "4 of 6 tasks are done already."
    assert len((kept / "theory.csv").read_text().splitlines()) == 7
    (tmp_path / "c").mkdir()
    again: list[str] = []
    reproduction.reproduce(["theory"], out=tmp_path / "c", rows=kept, jobs=1, report=again.append)
    assert again == ["6 of 6 tasks are done already."]
    pages = [(tmp_path / folder / "results.md").read_text() for folder in "bc"]
    assert pages[0] == pages[1]


def test_the_kept_rows_belong_to_the_catalogue_and_are_small():
    """What is committed must be what `make reproduce` goes on from."""
    folder = Path(__file__).parents[1] / "rows"
    catalogue = {
        "networks": (COLUMNS, [trial.key for trial in trials(STEPS)]),
        "theory": (theory_runs.COLUMNS, [task.key for task in theory_tasks()]),
    }
    for name, (columns, keys) in catalogue.items():
        store = ResultStore(folder / "nowhere", name, columns, folder)
        rows = list(store.rows())
        assert rows
        assert rows == [key for key in keys if key in rows]
        for key in rows:
            assert name == "theory" or store.curves(key)["step"][0] == 0
    assert sum(path.stat().st_size for path in folder.iterdir()) < 700_000


@pytest.mark.usefixtures("toy_catalogue")
def test_a_locked_folder_is_refused(tmp_path):
    with (
        ResultStore(tmp_path, "networks", COLUMNS).locked(),
        pytest.raises(RunLockedError, match=re.escape(str(tmp_path))),
    ):
        reproduction.reproduce(["1"], out=tmp_path, jobs=1)


def test_rows_of_different_exports_are_kept_apart(tmp_path):
    names = set()
    for text in ("a", "b"):
        path = tmp_path / f"{text}.csv"
        path.write_text(text)
        names |= {reproduction._suffix(quick, path) for quick in (True, False)}
    assert len(names) == 4
    assert reproduction._suffix(False, None) == ""


def test_bad_names_and_a_missing_export_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match=re.escape("'5' is unknown; choose from 1, 2, 3")):
        reproduction.reproduce(["5"], out=tmp_path)
    with pytest.raises(InputError, match=re.escape("csv=None")):
        reproduction.reproduce(["trends"], out=tmp_path)
    assert list(Path(tmp_path).iterdir()) == []


def test_the_command_hands_on_its_options_and_a_mistake_is_its_exit_code(
    tmp_path, monkeypatch, capsys
):
    given = {}
    monkeypatch.setattr(command, "reproduce", lambda **options: given.update(options) or "a page")
    options = ["1", "theory", "--quick", "--out", str(tmp_path), "--jobs", "1"]
    assert command.main(options) == 0
    assert "a page" in capsys.readouterr().out
    rows = Path(command.__file__).parent / "rows"
    assert given == {
        "names": ["1", "theory"], "out": tmp_path, "quick": True, "csv": None, "jobs": 1,
        "rows": rows, "report": print,
    }  # fmt: skip
    monkeypatch.undo()
    assert command.main(["5", "--out", str(tmp_path)]) == 2
    assert "'5' is unknown" in capsys.readouterr().err
