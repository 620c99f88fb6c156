"""The index page of ten thousand series in headless Chromium."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustfourier.many.index_page import write_index

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr"),
    *("--window-size=1200,800", "--virtual-time-budget=8000", "--dump-dom"),
]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

COUNT = 10_000
EVIL = "<img src=x onerror=document.title='broken'>/../<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    (folder / "index").mkdir()
    rng = np.random.default_rng(0)
    found = rng.uniform(size=COUNT) < 0.3
    q = np.where(found, rng.uniform(size=COUNT) ** 4, np.nan)
    q[7] = 1e-300
    found[7] = True
    table = pd.DataFrame(
        {
            "id": [EVIL if i == 7 else f"V{i:05d}" for i in range(COUNT)],
            "status": np.where(np.arange(COUNT) == 3, "DataError", "ok"),
            "message": np.where(np.arange(COUNT) == 3, "too short", ""),
            "headline": "words of the headline",
            "unit": "day",
            "used": 200,
            "patterns": found.astype(int),
            "period": np.where(found, 7.3, np.nan),
            "period_error": 0.01,
            "share": np.where(found, rng.uniform(size=COUNT), np.nan),
            "false_alarm": q,
            "q_value": q,
            "noise": 1.0,
            "report": [f"reports/{i}.html" if found[i] else None for i in range(COUNT)],
            "spark": [[0.0, None, 1.0, 0.5]] * COUNT,
            "shape": [[0.0, 1.0, 0.0] if found[i] else None for i in range(COUNT)],
        }
    )
    write_index(folder, table)
    return folder


def opened(folder, script="", name="page"):
    page = (folder / "index.html").read_text(encoding="utf-8")
    place = folder / f"{name}.html"
    place.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / name}", place.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_ten_thousand_series_are_told_but_only_those_in_sight_are_drawn(folder):
    done = opened(folder)
    assert '<h1 id="title">10,000 series, ' in done.stdout
    assert "1 not fitted" in done.stdout
    assert 10 < len(re.findall(r'<div class="row(?: bad)?" role="row"', done.stdout)) < 60
    assert done.stdout.count('class="spark"') > 10  # the first chunk has come
    assert done.stdout.count('<script src="index/') < 4  # and the other thirty-nine have not
    assert 'href="reports/7.html"' in done.stdout
    assert "CONSOLE" not in done.stderr


def test_names_are_text_whatever_they_say(folder):
    done = opened(folder, name="evil")
    assert "<title>10,000 series" in done.stdout
    assert "&lt;img src=x" in done.stdout
    assert "<img" not in done.stdout


def test_it_sorts_searches_and_filters(folder):
    script = """
    document.getElementById("filter").value = "0.05";
    document.getElementById("filter").dispatchEvent(new Event("change"));
    Array.from(document.querySelectorAll("#head button")).find(b => b.textContent == "q").click();
    document.body.dataset.first = document.querySelector("#body .row .id").textContent;
    document.body.dataset.count = document.getElementById("count").textContent;
    document.getElementById("filter").value = "all";
    document.getElementById("search").value = "v00123";
    document.getElementById("search").dispatchEvent(new Event("input"));
    document.body.dataset.hits = document.getElementById("count").textContent;
    """
    text = opened(folder, script, "tools").stdout
    assert re.search(r'data-first="&lt;img', text) or 'data-first="<img' in text
    count = int(re.search(r'data-count="([\d,]+) of 10,000', text)[1].replace(",", ""))
    assert 500 < count < 2500
    assert 'data-hits="1 of 10,000 series"' in text


def few(folder, names):
    """An index of some series."""
    (folder / "index").mkdir()
    count = len(names)
    numbers = dict.fromkeys(("period", "period_error", "share", "false_alarm", "q_value"), 0.5)
    words = {"status": "ok", "message": "", "headline": "words", "unit": "day", "report": None}
    more = {"used": 200, "patterns": 1, "noise": 1.0}
    pictures = {"spark": [[0.0, 1.0]] * count, "shape": [[0.0, 1.0]] * count}
    write_index(folder, pd.DataFrame({"id": names, **words, **numbers, **more, **pictures}))
    return folder


def test_what_all_names_share_does_not_hide_what_differs(tmp_path):
    names = [f"survey/OGLE-LMC-CEP-{i:04d}.csv" for i in range(3)]
    shown = re.findall(
        r'<div class="id"[^>]*><span[^>]*>([^<]*)<', opened(few(tmp_path, names)).stdout
    )
    assert shown == ["…0000.csv", "…0001.csv", "…0002.csv"]


def test_names_that_fit_are_shown_whole(tmp_path):
    names = [f"gene_with_a_name_{i:02d}" for i in range(3)]
    page = opened(few(tmp_path, names)).stdout
    assert re.findall(r'<div class="id"[^>]*><span[^>]*>([^<]*)<', page) == names


def test_axe_finds_no_fault(tmp_path):
    axe = pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    run = "axe.run().then(r => { document.title = JSON.stringify(r.violations.map(v => v.id)); });"
    page = opened(few(tmp_path, ["A", "B"]), source.replace("</", "<\\/") + ";" + run).stdout
    assert re.search(r"<title>(.*?)</title>", page)[1] == "[]"
