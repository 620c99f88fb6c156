"""`robustfourier rhythm`: wide and long tables in; tables, figures and a page out."""

import json

import numpy as np
import pandas as pd
import pytest

from robustfourier import rhythm
from robustfourier.cosinor.series_tables import read_table

HOURS = np.arange(0, 48, 4)


@pytest.fixture
def genes(write):
    """Forty genes in two groups with two replicates; ten repeat, the mutant weaker and later."""
    rng = np.random.default_rng(0)
    columns = [f"{g}_ZT{h:02d}_{r}" for g in ("WT", "KO") for h in HOURS for r in (1, 2)]
    time, mutant = np.tile(np.repeat(HOURS, 2), 2), np.repeat([0, 1], 24)
    values = 8 + 0.5 * rng.normal(size=(40, 48))
    values[:10] += (3 - 2 * mutant) * np.cos(2 * np.pi * (time - 6 - 3 * mutant) / 24)
    names = ["=cmd()", "<b>x</b>", *(f"gene{i}" for i in range(2, 40))]
    table = pd.DataFrame(values.round(4), index=names, columns=columns)
    return write(table.to_csv(index_label="gene"))


@pytest.fixture
def diary(write):
    """Two markers of five people over four days, in a long table with dates."""
    rng = np.random.default_rng(1)
    rows = []
    for who in range(5):
        for hour in range(0, 96, 3):
            when = pd.Timestamp("2024-05-01") + pd.Timedelta(hours=hour)
            wave = np.cos(2 * np.pi * (hour - 8) / 24)
            rows.append((when, f"p{who}", "cortisol", 10 + (3 + 0.2 * who) * wave + rng.normal()))
            rows.append((when, f"p{who}", "nothing", 10 + rng.normal()))
    table = pd.DataFrame(rows, columns=["when", "person", "marker", "level"])
    return write(table.to_csv(index=False))


def test_a_wide_table_with_groups_is_tested_and_compared(run, genes, tmp_path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    kinds = [word for kind in ("csv", "excel", "parquet") for word in ("--table", kind)]
    code, shown, _ = run("rhythm", genes, "--period", "24h", "--out", str(out), *kinds)
    assert code == 0
    assert "of 40 series in WT repeat every 24 h" in shown
    table = pd.read_csv(out / "rhythm.csv")
    found = table[(table["group"] == "WT") & (table["q"] <= 0.05)]
    assert {f"gene{i}" for i in range(2, 10)} <= set(found["id"])
    differences = pd.read_csv(out / "differences.csv").set_index("id")
    assert abs(differences.loc["gene5", "acrophase_difference"] + 3.0) < 1.5  # WT before KO
    assert abs(differences.loc["gene5", "amplitude_difference"] - 2.0) < 1.0
    book = pd.read_excel(out / "rhythm.xlsx", sheet_name=None)
    assert list(book) == ["rhythm", "differences"]
    assert book["rhythm"]["id"][0] == "'=cmd()"
    np.testing.assert_allclose(pd.read_parquet(out / "rhythm.parquet")["p"], table["p"])
    page = (out / "report.html").read_text("utf-8")
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page
    assert page.count("data:image/png;base64,") == 3
    assert 'href="rhythm.xlsx"' in page


def test_a_file_gives_what_arrays_give(genes):
    table = read_table(genes)
    assert table.notes[0].startswith("a wide table")
    assert table.unit == "hour"
    frame = pd.read_csv(genes, index_col=0)
    times = np.array([int(name.split("_")[1][2:]) for name in frame], float)
    groups = [name.split("_")[0] for name in frame]
    from_file = rhythm(table.times, table.matrix, 24.0, groups=table.groups, names=table.names)
    from_arrays = rhythm(times, frame.to_numpy().T, 24.0, groups=groups, names=list(frame.index))
    np.testing.assert_allclose(from_file.table["p"], from_arrays.table["p"], rtol=1e-9)
    assert list(from_file.table["id"]) == list(from_arrays.table["id"])


def test_people_are_a_population_and_hours_are_those_of_the_clock(run, diary):
    asked = ("--by", "marker", "--subject", "person", "--value", "level")
    code, shown, _ = run("rhythm", diary, "--period", "24h", *asked, "--json")
    assert code == 0
    answer = json.loads(shown)
    assert answer["acrophase"] == ["hours after midnight"]
    cortisol, nothing = answer["rhythm"]
    assert cortisol["id"] == "cortisol"
    assert abs(cortisol["acrophase"] - 8.0) < 0.5
    assert cortisol["p"] < 0.01 < nothing["p"]
    assert cortisol["between"] is not None


def test_a_series_without_a_value_is_answered_and_not_lost(run, write, tmp_path):
    hours = ",".join(f"ZT{h:02d}" for h in HOURS)
    rows = [f"g{i}," + ",".join(f"{np.cos(h / 4 + i):.3f}" for h in HOURS) for i in range(3)]
    path = write("\n".join([f"gene,{hours}", *rows, "nothing" + ",NA" * len(HOURS), ""]))
    code, _, _ = run("rhythm", path, "--period", "24h", "--out", str(tmp_path / "out"))
    assert code == 0
    table = pd.read_csv(tmp_path / "out" / "rhythm.csv", keep_default_na=False, na_values=[""])
    assert table["id"].tolist() == ["g0", "g1", "g2", "nothing"]
    assert table["rows"].tolist() == [12, 12, 12, 0]
    assert table["p"].isna().tolist() == [False, False, False, True]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "tests impossible: too few values" in page


def test_columns_of_one_table_are_series(run, write):
    rng = np.random.default_rng(2)
    hours = np.arange(0.0, 72.0)
    lines = [f"{h},{np.cos(2 * np.pi * h / 24) + 0.1 * rng.normal()},{rng.normal()}" for h in hours]
    file = write("hour,level,noise\n" + "\n".join(lines) + "\n")
    code, shown, _ = run("rhythm", file, "--period", "24", "--value", "all", "--json")
    assert code == 0
    assert [row["id"] for row in json.loads(shown)["rhythm"]] == ["level", "noise"]


def test_series_with_times_of_their_own_are_tested_each_on_its_own():
    rng = np.random.default_rng(3)
    rows = [
        (who, t, np.cos(2 * np.pi * t / 24) + 0.3 * rng.normal())
        for who in ("a", "b", "c")
        for t in np.sort(rng.uniform(0, 72, 30))
    ]
    frame = pd.DataFrame(rows, columns=["id", "time", "value"])
    table = read_table(frame, by="id")
    assert table.matrix.shape == (90, 3)
    found = rhythm(table.times, table.matrix, 24.0, names=table.names, noise="white").table
    for name, own in frame.groupby("id"):
        alone = rhythm(own["time"].to_numpy(), own["value"].to_numpy(), 24.0, noise="white").table
        np.testing.assert_allclose(found.set_index("id").loc[name, "p"], alone["p"][0], rtol=1e-6)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((), "--period is missing"),
        (("--period", "24h", "--by", "gene=Dbp"), "give the one column that tells series apart"),
        (
            ("--period", "24h", "--noise", "pink"),
            "--noise 'pink' is unknown; use one of auto, white, replicates",
        ),
        (
            ("--period", "24h", "--table", "ods"),
            "--table 'ods' is unknown; use one of csv, excel, parquet",
        ),
        (("--period", "24h", "--group", "sex"), "'sex'"),
    ],
)
def test_what_is_asked_wrongly_is_refused(run, genes, asked, words):
    code, _, error = run("rhythm", genes, *asked)
    assert code in (2, 3)
    assert words in error


def test_another_result_is_not_replaced_unasked(run, genes, tmp_path):
    out = tmp_path / "out"
    assert run("rhythm", genes, "--period", "24h", "--out", str(out))[0] == 0
    code, _, error = run("rhythm", genes, "--period", "12h", "--out", str(out))
    assert code == 1
    assert "--overwrite" in error
    assert run("rhythm", genes, "--period", "12h", "--out", str(out), "--overwrite")[0] == 0
