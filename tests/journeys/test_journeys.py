"""From a file or an object to the right answer in the field's form, with nothing but defaults."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.journeys import records as made

from robustfourier import PeriodicMixture, load

ROOT = Path(__file__).parents[2]


def test_observing_a_star(fitted, tmp_path):
    """Period with its error, epoch of maximum light, aliases with their odds, O-C in days."""
    made.star().to_csv(tmp_path / "rrlyr.csv", index=False)
    answer = fitted(tmp_path / "rrlyr.csv")
    assert answer.input["unit"] == "day"
    first = answer.components[0]
    assert abs(first["period"] - 0.5671) < 4 * first["period_error"] < 4e-5
    assert first["harmonics"] == "1 2 3 4 5"
    assert first["false_alarm"] < 1e-10
    assert first["snr"] > 20
    # Magnitudes count downwards: the maximum is the brightest.
    bright = load(answer.folder / "model.rfm").components_.to_frame().iloc[0]["epoch_max"]
    model = load(answer.folder / "model.rfm")
    assert bright == pytest.approx(first["epoch_max"])
    assert model.predict([bright], remainder=False)[0] < model.predict([bright + 0.28])[0] - 0.3
    assert any("times likelier than its next likeliest alias" in w for w in answer.remarks)
    assert not any("alias" in w for w in answer.warnings)
    late = pd.read_csv(answer.folder / "o_minus_c.csv")
    assert late.columns.tolist()[:6] == [
        *("label", "cycle", "observed", "computed", "difference", "error")
    ]
    assert set(late["unit"]) <= {"day"}


def test_circadian_genes(run, tmp_path):
    """A wide table is recognised and fitted as many series; rhythms are found there alone."""
    made.genes().to_csv(tmp_path / "genes.csv", index=False)
    out = tmp_path / "survey"
    code, told, _ = run("fit", tmp_path / "genes.csv", "-o", out, "--jobs", 1)
    assert code == 0
    assert "10 series: 4 with a pattern, 4 of them at q ≤ 0.05" in told
    patterns = pd.read_parquet(out / "patterns.parquet")
    assert set(patterns["id"].str.extract(r"(clock_\d\d)", expand=False)) == {
        *("clock_00", "clock_06", "clock_12", "clock_18")
    }
    assert np.all(np.abs(patterns["period"] - 24.0) < 1.0)
    # One gene alone, with the hour of its peak.
    options = ("--by", "gene=clock_06", "--no-files", "--json")
    code, answer, _ = run("fit", tmp_path / "genes.csv", *options)
    (component,) = json.loads(answer)["components"]
    assert (component["calendar"], component["peak"][-1]) == ("day", "h")
    assert component["acrophase"] == pytest.approx(6.0, abs=0.7)


def test_service_metrics(fitted, tmp_path):
    """A day and its weekends as one week, a spike that does not matter, a gap, the local peak."""
    made.requests().to_json(tmp_path / "requests.jsonl", orient="records", lines=True,
                            date_format="iso")  # fmt: skip
    answer = fitted(tmp_path / "requests.jsonl")
    assert answer.components[0]["calendar"] == "week"
    assert answer.explained > 0.9
    assert "with a strong daily shape" in answer.headline
    assert answer.components[0]["peak"][3:] in ("Mondays", "Tuesdays", "Wednesdays", "Thursdays",
                                                "Fridays")  # fmt: skip
    ahead = load(answer.folder / "model.rfm").forecast("1D")
    clock = pd.DatetimeIndex(ahead.times)
    assert abs((clock.hour + clock.minute / 60)[np.argmax(ahead.mean)] - 14) < 1.5


def test_retail_sales(fitted, tmp_path):
    """Dates as people write them in a workbook of two shops; Saturdays and August in words."""
    pytest.importorskip("openpyxl")
    book = tmp_path / "shops.xlsx"
    with pd.ExcelWriter(book) as writer:
        made.sales(0).to_excel(writer, sheet_name="north", index=False)
        made.sales(1).to_excel(writer, sheet_name="south", index=False)
    answer = fitted(book, "--sheet", "south")
    peaks = {row["calendar"]: row["peak"] for row in answer.components}
    assert peaks["week"] == "on Saturdays"
    assert peaks["year"] == "in August"
    assert "on Saturdays" in answer.told
    assert "in August" in answer.told
    page = (answer.folder / "report.html").read_text(encoding="utf-8")
    for words in ("highest <b>on Saturdays</b>", "highest <b>in August</b>", ">Mon<", ">Dec<"):
        assert words in page


def test_a_sheet_must_be_chosen_and_the_error_says_how(run, tmp_path):
    pytest.importorskip("openpyxl")
    book = tmp_path / "shops.xlsx"
    with pd.ExcelWriter(book) as writer:
        for name in ("north", "south"):
            made.sales().to_excel(writer, sheet_name=name, index=False)
    code, _, complaints = run("fit", book)
    assert code == 3
    assert "'north', 'south' each hold a table; choose one with --sheet" in complaints


def test_a_bearing(fitted, tmp_path):
    """A MATLAB file with its rate: the envelope shows the outer race, by name, in hertz."""
    from scipy.io import savemat

    signal, rate = made.acceleration()
    path = tmp_path / "bearing.mat"
    savemat(path, {"bearing": {"sr": made.RATE, "gs": signal}})
    bearing = made.BEARING
    geometry = f"{bearing.elements},{bearing.diameter},{bearing.pitch}"
    answer = fitted(path, "--envelope", "auto", "--shaft", "25", "--bearing", geometry)
    first = answer.components[0]
    assert first["name"] == "BPFO"
    assert first["frequency"] == pytest.approx(rate, rel=5e-3)
    assert len(first["harmonics"].split()) >= 2
    assert "Frequency" in answer.told.split("Amplitude")[0]
    assert " Hz" in answer.told
    assert "BPFO" in (answer.folder / "report.html").read_text(encoding="utf-8")


def test_a_notebook():
    """Objects as they are, tables and figures back, a forecast of the next days."""
    rng = np.random.default_rng(3)
    index = pd.date_range("2023-01-01", periods=24 * 60, freq="h", name="when")
    wave = 2 * np.cos(2 * np.pi * (index.hour - 9) / 24) + np.cos(2 * np.pi * index.hour / 8)
    series = pd.Series(wave + 0.4 * rng.normal(size=len(index)), index=index, name="load")
    series.iloc[100:140] = np.nan
    model = PeriodicMixture().fit(series)
    assert any("40 of 1,440 rows lack" in note for note in model.notes_)
    frame = model.components_.to_frame()
    assert frame["calendar"][0] == "day"
    assert "highest" not in frame
    assert model._repr_html_()
    assert "day" in model.components_._repr_html_() or "d" in model.components_._repr_html_()
    ahead = model.forecast("2D")
    assert len(ahead.times) == 48
    polars = pytest.importorskip("polars")
    other = PeriodicMixture().fit(polars.DataFrame({"time": index, "load": series.to_numpy()}))
    np.testing.assert_allclose(other.components_.to_frame()["period"], frame["period"], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("circadian", "peak at another time, by -3.0 h (wild type − mutant)"),
        ("bearing", "BPFO"),
        ("workbook", "on Saturdays"),
    ],
)
def test_building_the_docs(name, words, tmp_path):
    """A page of the gallery runs from its first cell to its last, commands included."""
    text = (ROOT / "docs" / "gallery" / f"{name}.md").read_text(encoding="utf-8")
    cells = [part.split("```")[0] for part in text.split("```{code-cell} ipython3\n")[1:]]
    lines = ["import matplotlib, subprocess, sys", "matplotlib.use('Agg')", "_ = None"]
    for cell in cells:
        *body, last = cell.strip().split("\n")
        if last.startswith("!robustfourier "):
            command = last.removeprefix("!robustfourier ").removesuffix(" 2>/dev/null").split()
            shell = f"subprocess.run([sys.executable, '-m', 'robustfourier.cli', *{command!r}])"
            lines += [*body, shell]
        else:
            lines += [*body, last if last.startswith(" ") else f"_ = {last}", "print(_)"]
    (tmp_path / "page.py").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "page.py"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
