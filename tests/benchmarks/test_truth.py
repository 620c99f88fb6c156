"""The referee's page is what its rows say."""

from benchmarks import truth


def test_the_page_is_drawn_from_the_rows_that_are_kept():
    assert truth.PAGE.read_text(encoding="utf-8") == truth.page()
