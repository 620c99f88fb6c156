"""Known periods tested in every series of a file, from the page."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from tests.app.test_pages import Page


@pytest.fixture(scope="module")
def genes(tmp_path_factory):
    """Thirty genes in two groups, every four hours for two days; six repeat in the wild type."""
    rng = np.random.default_rng(1)
    hours = np.tile(np.arange(0, 48, 4), 2)
    names = [f"{g}_ZT{h:02d}" for g in ("WT", "KO") for h in range(0, 48, 4)]
    values = 8 + 0.5 * rng.normal(size=(30, 24))
    values[:6, :12] += 3 * np.cos(2 * np.pi * (hours[:12] - 6) / 24)
    table = pd.DataFrame(values.round(4), [f"<i>g{i}</i>" for i in range(30)], names)
    path = tmp_path_factory.mktemp("genes") / "genes.csv"
    table.to_csv(path, index_label="gene")
    return path


def test_every_series_of_a_file_is_tested_and_its_tables_are_there(server, genes):
    file = server.upload(genes)
    one = server.fit(file, rhythm={"periods": ["24h"]})
    assert server.wait(one)["state"] == "done"
    assert server.state(one)["rhythm"]["noise"] == "auto"
    result = next(frame for frame in server.story(one) if frame["t"] == "result")
    assert "6 of 30 series in WT" in result["headline"]
    assert result["command"].startswith("robustfourier rhythm genes.csv")
    table = pd.read_csv(io.BytesIO(server.ask(f"/fits/{one}/rhythm.csv").body))
    assert {"p", "q", "amplitude", "acrophase"} <= set(table)
    assert "rhythm.csv" in result["tables"]
    if "rhythm.xlsx" in result["tables"]:
        book = server.ask(f"/fits/{one}/rhythm.xlsx?save=1")
        assert book.headers["content-disposition"].endswith('"rhythm.xlsx"')
        stored = pd.read_excel(io.BytesIO(book.body))
        pd.testing.assert_frame_equal(stored, table, check_dtype=False)
    page = server.ask(f"/fits/{one}/report.html")
    assert b"<i>g" not in page.body
    assert b"genes.csv" in page.body
    assert "script-src 'sha256-" in page.headers["content-security-policy"]
    names = zipfile.ZipFile(io.BytesIO(server.ask(f"/fits/{one}/everything.zip").body)).namelist()
    assert {"report.html", "rhythm.csv", "acrophases.png"} <= set(names)


def test_a_long_table_is_told_apart_by_its_column(server, tmp_path):
    hours = np.arange(0.0, 96.0, 2.0)
    rows = [
        (hour, name, np.cos(2 * np.pi * hour / 24) * (name == "a") + 0.1 * np.sin(hour**2))
        for name in "ab"
        for hour in hours
    ]
    path = tmp_path / "long.csv"
    pd.DataFrame(rows, columns=["hour", "sensor", "level"]).to_csv(path, index=False)
    one = server.fit(server.upload(path), rhythm={"periods": ["24"], "by": "sensor"})
    assert server.wait(one)["state"] == "done"
    table = pd.read_csv(io.BytesIO(server.ask(f"/fits/{one}/rhythm.csv").body))
    assert table["id"].tolist() == ["a", "b"]
    assert table["p"][0] < 1e-6 < table["p"][1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "“Period” is missing"),
        ({"periods": ["24h"], "noise": "red"}, "Noise='red'"),
        ({"periods": ["24h"], "harmonics": 0}, "Harmonics=0 must be a number from 1 to 50"),
    ],
)
def test_what_cannot_be_asked_is_refused(server, genes, asked, words):
    answer = server.ask(f"/api/files/{server.upload(genes)}/fits", {"rhythm": asked})
    assert answer.status == 400
    assert words in answer.json["detail"]


def test_what_the_file_cannot_show_is_said(server, genes):
    one = server.fit(server.upload(genes), rhythm={"periods": ["4h"]})
    told = server.wait(one)
    assert told["state"] == "failed"
    assert "cannot show a period of 4" in told["words"]


@pytest.mark.browser
@pytest.mark.parametrize("width", [1300, 390])
def test_a_known_period_is_tested_on_the_page(browser, server, genes, width):
    page = Page(browser, server)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.until("document.querySelectorAll('#examples button').length >= 3")
    page.find("known").send_keys("24h")
    page.drop(genes)
    first = page.shown()
    assert "6 of 30 series in WT" in page.find("taken").text
    page.until("document.getElementById('report').contentDocument.images.length >= 2")
    assert not page.js("document.documentElement.scrollWidth > innerWidth")
    links = page.js("[...document.querySelectorAll('#export a')].map((a) => a.textContent)")
    assert {"Page", "Table", "Differences", "Everything, with figures"} <= set(links)

    page.browser.execute_script("document.getElementById('rhythm').open = true")
    form = page.find("rhythm-form")
    form.find_element("name", "periods").send_keys(", 12h")
    form.find_element("css selector", "button").click()
    page.until("document.body.dataset.fit !== arguments[0]", first)
    second = page.shown()
    assert server.state(second)["rhythm"]["periods"] == ["24h", "12h"]
    assert "24h, 12h tested in every series" in page.js(
        "document.getElementById('history').textContent"
    )
    assert page.complaints() == []
