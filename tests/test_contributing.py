"""The pages for contributors: their examples run from top to bottom, in an empty folder."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "docs" / "contributing").glob("*.md"))


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_example_of_a_page_runs(page, tmp_path, monkeypatch):
    from benchmarks.ordinary import catalogue

    from robustfourier.samples import file_formats

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(file_formats, "FORMATS", dict(file_formats.FORMATS))
    monkeypatch.setattr(catalogue, "_DRAWN", dict(catalogue._DRAWN))
    names = {}
    for block in blocks(page):
        assert "assert " in block or "def " in block, "an example shows that it is true"
        exec(compile(block, str(page), "exec"), names)


def test_there_is_a_page_for_each_way_to_extend_the_package():
    assert {page.stem for page in PAGES} == {"file_format", "kernel", "truth"}
