import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.toys import toy_tasks, toy_trials
from tests.looks import faults

from robustfourier import experiments
from robustfourier.errors import InputError, RunLockedError
from robustfourier.experiments import reproduction, theory_runs
from robustfourier.experiments.catalogue import STEPS, Trial, trials
from robustfourier.experiments.claims import Claim
from robustfourier.experiments.figures import example_figures, networks_figure
from robustfourier.experiments.finished import Results
from robustfourier.experiments.page import (
    Heading,
    Paragraph,
    Picture,
    Table,
    claims_matrix,
    claims_table,
    write_pages,
)
from robustfourier.experiments.store import ResultStore
from robustfourier.experiments.theory_figures import comparison_figures, theory_figures
from robustfourier.experiments.theory_runs import theory_tasks
from robustfourier.experiments.trial import COLUMNS
from robustfourier.network.architecture import Architecture
from robustfourier.plots.networks import network_layers

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


def test_the_table_of_networks_tells_seeds_steps_and_the_error_on_the_way(toy_results, tmp_path):
    table = reproduction.networks_table(toy_results, "1")
    starts = [row[:2] for row in table.rows]
    assert starts[:3] == [("*u0_diag", i) for i in ("glorot", "antisymmetric", "symmetric")]
    assert starts[-1] == ("u1_standard", "glorot")
    assert {row[2:5] for row in table.rows} == {("1", "40", "–")}
    trial = Trial("1", "u0_diag", 0, n_steps=500_000)
    row = replace(toy_results.rows[0], trial=trial, final_error=0.25, best_error=0.2)
    store = ResultStore(tmp_path, "networks", COLUMNS)
    with store.locked():
        steps = np.array([0, 60_000, 500_000], np.int32)
        store.save_curves(trial.key, {"step": steps, "error": np.array([1.0, 0.5, 0.25])})
    (line,) = reproduction.networks_table(Results((row,), store), "1").rows
    assert line[2:5] == ("1", "500 000", "0.500 [0.500, 0.500]")


def test_an_example_without_results_has_no_figures(toy_results, tmp_path):
    assert example_figures(toy_results, "trends", tmp_path) == {}


def test_the_theory_has_its_two_figures(toy_theory, tmp_path, written_figures):
    rows, store = toy_theory
    assert len(theory_figures(rows, store, tmp_path)) == 2
    assert [faults(figure) for figure in written_figures] == [[], []]


def test_both_pages_hold_the_same_blocks_and_escape_what_must_be(tmp_path):
    blocks = [
        Heading("Title", 1),
        Paragraph("*u0_diag < 3"),
        Table(("a|b", "verdict"), (("1 | 2", "no"),)),
        Picture(tmp_path / "figures" / "x.png", "A_B"),
    ]
    page = write_pages(blocks, tmp_path, "page")
    html, markdown = page.read_text(), (tmp_path / "page.md").read_text()
    assert "<h1>Title</h1>" in html
    assert "*u0_diag &lt; 3" in html
    assert '<td class="no">no</td>' in html
    assert '<img src="figures/x.png"' in html
    assert "# Title" in markdown
    assert r"\*u0\_diag < 3" in markdown
    assert r"| 1 \| 2 | no |" in markdown
    assert r"![A\_B](figures/x.png)" in markdown


def test_the_claims_table_shows_verdict_and_count():
    claim = Claim("paper", "It holds.", "example 1", "0.1", holds=3, of=5)
    assert claims_table([claim]).rows == (
        ("It holds.", "paper", "example 1", "0.1", "3 of 5", "no"),
    )
    quoted = Claim("paper", "It holds.", "example 1", "0.1", holds=3, of=5, said="It does (5.1).")
    table = claims_table([quoted], "the paper's words")
    assert table.columns[1] == "the paper's words"
    assert table.rows[0][1] == "It does (5.1)."


def test_the_matrix_of_claims_has_one_row_per_claim_and_one_cell_per_example():
    claims = [
        Claim("paper", "A.", "example 1", "", holds=5, of=5),
        Claim("paper", "A.", "example 2", "", holds=1, of=5),
        Claim("paper", "B.", "example 1", "", holds=4, of=5),
        Claim("theory", "C.", "all runs", "", holds=4, of=5),
    ]
    matrix = claims_matrix(claims)
    assert matrix.columns == ("claim", "whose", "example 1", "example 2")
    assert matrix.rows == (("A.", "paper", "yes (5/5)", "no (1/5)"),)
    claims[1] = replace(claims[1], source="ours")
    assert claims_matrix(claims).rows[0][1] == "paper (1), else ours"


@pytest.fixture
def toy_catalogue(monkeypatch):
    monkeypatch.setattr(reproduction, "trials", lambda names, **_: toy_trials(names))
    few = [task for task in toy_tasks() if task.n_output_steps < 60][:6]
    monkeypatch.setattr(reproduction, "theory_tasks", lambda **_: few)


@pytest.mark.usefixtures("toy_catalogue")
def test_reproduce_writes_a_page_with_all_its_figures_and_goes_on_where_it_was(tmp_path):
    lines: list[str] = []
    page = experiments.reproduce(["2", "theory"], out=tmp_path, jobs=1, progress=lines.append)
    html = page.read_text()
    for name in re.findall(r'<img src="([^"]+)"', html):
        assert (tmp_path / name).is_file()
    assert "Example 2" in html
    assert "Theorem 1" in html
    assert "Not finished yet" not in html
    again: list[str] = []
    experiments.reproduce(["theory"], out=tmp_path, jobs=1, progress=again.append)
    assert again == ["6 of 6 tasks are done already."]


@pytest.mark.usefixtures("toy_catalogue")
def test_kept_rows_are_gone_on_from_and_added_to(tmp_path, monkeypatch):
    few = reproduction.theory_tasks()
    monkeypatch.setattr(reproduction, "theory_tasks", lambda **_: few[:4])
    kept, lines = tmp_path / "kept", []
    experiments.reproduce(["theory"], out=tmp_path / "a", rows=kept, jobs=1)
    monkeypatch.setattr(reproduction, "theory_tasks", lambda **_: few)
    experiments.reproduce(["theory"], out=tmp_path / "b", rows=kept, jobs=1, progress=lines.append)
    assert lines[0] == "4 of 6 tasks are done already."
    assert len((kept / "theory.csv").read_text().splitlines()) == 7
    (tmp_path / "c").mkdir()
    again: list[str] = []
    experiments.reproduce(["theory"], out=tmp_path / "c", rows=kept, jobs=1, progress=again.append)
    assert again == ["6 of 6 tasks are done already."]
    pages = [(tmp_path / folder / "reproduction.html").read_text() for folder in "bc"]
    assert pages[0] == pages[1]


def test_the_kept_rows_belong_to_the_catalogue_and_are_small():
    """What is committed must be what `make reproduce` goes on from."""
    folder = Path(__file__).parents[2] / "docs" / "reproduction"
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
        experiments.reproduce(["1"], out=tmp_path, jobs=1)


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
        experiments.reproduce(["5"], out=tmp_path)
    with pytest.raises(InputError, match=re.escape("csv=None")):
        experiments.reproduce(["trends"], out=tmp_path)
    assert list(Path(tmp_path).iterdir()) == []
