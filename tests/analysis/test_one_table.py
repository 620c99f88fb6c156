"""The table of components is one, whichever of its six doors it is seen through."""

import csv
import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from robustfourier import load
from robustfourier.estimators.components import COLUMNS
from robustfourier.results.result_tables import HEADINGS, neutral


@pytest.fixture
def doors(run, write, tmp_path):
    """A week of hours: a day that is highest at 15:00, times 1.3, beside a drift and 5.5 h."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(2)
    hours = np.arange(24.0 * 21)
    day = 2 * np.pi * (hours - 15.0) / 24.0
    wave = np.cos(day) + 0.4 * np.cos(2 * day) + 0.6 * np.cos(2 * np.pi * hours / 5.5)
    stamps = pd.Timestamp("2024-05-06") + pd.to_timedelta(hours, unit="h")
    values = 50.0 + wave + 0.2 * rng.normal(size=len(hours))
    rows = "".join(f"{s:%Y-%m-%dT%H:%M},{v:.4f}\n" for s, v in zip(stamps, values, strict=True))
    file, folder = write("time,load\n" + rows), tmp_path / "out"
    code, told, _ = run("fit", file, "-o", folder, "--figures", "svg")
    assert code == 0
    code, answer, _ = run("fit", file, "--no-files", "--json")
    assert code == 0
    return folder, told, json.loads(answer)


def rows_of(folder, answer):
    """Rows of the four doors for programs, each value as text that a CSV file would hold."""
    frame = load(folder / "model.rfm").components_.to_frame()
    parquet = pd.read_parquet(folder / "components.parquet")
    with (folder / "components.csv").open(encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    return {
        "to_frame": frame.to_dict("records"),
        "csv": written,
        "parquet": parquet.to_dict("records"),
        "json": answer["components"],
    }


def text(value, name):
    """A cell of any door: numbers to nine digits, times without their precision."""
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if value is None or str(value) in ("", "nan", "inf"):  # JSON has neither: both are null
        return ""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    try:
        return f"{float(value):.9g}"
    except (TypeError, ValueError):
        pass
    return str(pd.Timestamp(value).round("ms")) if "epoch" in name else neutral(str(value))


def test_programs_see_the_same_columns_and_numbers_through_four_doors(doors):
    folder, _, answer = doors
    seen = rows_of(folder, answer)
    assert {tuple(rows[0]) for rows in seen.values()} == {COLUMNS}
    ours = [{name: text(row[name], name) for name in COLUMNS} for row in seen.pop("to_frame")]
    assert ours[0]["calendar"] == "day"
    assert re.fullmatch("at (14:5|15:0).", ours[0]["peak"])
    for door, rows in seen.items():
        assert [{name: text(row[name], name) for name in COLUMNS} for row in rows] == ours, door


def test_people_see_the_same_words_on_the_terminal_and_on_the_page(doors):
    folder, told, answer = doors
    page = html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    section = page.split("<h2>Table of components</h2>")[1].split("</section>")[0]
    heads = re.findall(r"<th(?: [^>]*)?>(.*?)</th>", section)
    assert tuple(heads) == tuple(head for head in HEADINGS if head in heads)
    assert {"Period", "Frequency", "Amplitude", "Share", "False alarm", "SNR"} < set(heads)
    assert {"Maximum", "Minimum", "Highest", "Name"} < set(heads)
    rows = [re.findall(r"<td(?: [^>]*)?>(.*?)</td>", row) for row in section.split("<tr>")[2:]]
    assert [row[0] for row in rows] == [row["label"] for row in answer["components"]]
    for row in rows[:2]:
        for cell in filter(None, row):
            assert cell in told, cell


def test_further_tables_are_files_of_the_folder(doors):
    folder, _, _ = doors
    waves = pd.read_csv(folder / "waveforms.csv")
    assert set(waves["label"]) >= {"A", "B"}
    assert waves.groupby("label")["value"].idxmax().isin(waves.index[waves["phase"] == 0]).all()
    late = pd.read_csv(folder / "o_minus_c.csv", parse_dates=["observed", "computed"])
    assert set(late["unit"]) == {"day"}
    days = (late["observed"] - late["computed"]) / pd.Timedelta(days=1)
    np.testing.assert_allclose(days, late["difference"], atol=1e-9)
    assert np.mean(np.abs(late["difference"]) < 4 * late["error"]) > 0.95
