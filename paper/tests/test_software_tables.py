"""The tables of our own paper are those that the commands wrote."""

import re

import pytest

from paper.software_tables import PAGE, filled, table


def test_the_tables_are_those_of_the_pages():
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text) == text, "run: python -m paper.software_tables"
    assert text.count("<!-- end -->") >= 5


def test_columns_are_chosen_by_their_names():
    whole, part = (table("docs/truth.md", "Forecasts", 1, c) for c in (None, "method; MASE, mean"))
    assert part.splitlines()[0] == "| method | MASE, mean |"
    assert len(part.splitlines()) == len(whole.splitlines())


def test_a_table_that_is_not_there_is_told():
    with pytest.raises(SystemExit, match=re.escape("docs/truth.md has no table 9")):
        table("docs/truth.md", "Forecasts", 9)
