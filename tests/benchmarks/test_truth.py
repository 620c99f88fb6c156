"""The referee's page is what its rows say."""

from benchmarks import truth


def test_the_page_is_drawn_from_the_rows_that_are_kept():
    assert truth.PAGE.read_text(encoding="utf-8") == truth.page()


def test_the_command_writes_the_page(tmp_path, capsys):
    assert truth.main(["--page", str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8").startswith("# The referee")
    assert "wrote" in capsys.readouterr().out
