"""`python -m paper.software_tables`: the tables of `software.md`, taken from the pages of `docs`.

Those pages are written by the commands that measure; nothing is typed twice. A mark in the text
names the page, the heading, which table below it, and perhaps columns:

    <!-- docs/truth.md, "Forecasts", table 1, columns set; method; MASE, mean -->
    <!-- end -->
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "paper" / "software.md"
_MARKED = re.compile(
    r'(<!-- (\S+), "([^"]+)", table (\d+)(?:, columns ([^>]+))? -->\n).*?(<!-- end -->)', re.DOTALL
)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def table(page: str, heading: str, number: int, columns: str | None = None) -> str:
    """Return a table of a page in Markdown.

    Parameters
    ----------
    page : str
        Path within the repository.
    heading : str
        The section that it stands in.
    number : int
        Which of the section's tables, from 1.
    columns : str, optional
        Names of those that are wanted, set apart by semicolons.
    """
    sections = re.split(r"^#+ ", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = [text for text in sections if text.startswith(f"{heading}\n")]
    tables = _TABLE.findall(found[0] if found else "")
    if not 1 <= number <= len(tables):
        raise SystemExit(f"{page} has no table {number} under {heading!r}")
    lines = tables[number - 1].splitlines()
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    if columns is not None:
        wanted = [rows[0].index(name.strip()) for name in columns.split(";")]
        rows = [[row[i] for i in wanted] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def filled(text: str) -> str:
    """Return a text with the tables between its marks as the pages have them now."""
    return _MARKED.sub(
        lambda m: f"{m[1]}\n{table(m[2], m[3], int(m[4]), m[5])}\n{m[6]}",
        text,
    )


def main() -> int:
    """Write the page."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
