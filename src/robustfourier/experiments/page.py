"""The results as pages: Markdown for the documentation, HTML with everything on one page.

A page is a list of blocks (headings, paragraphs, tables, figures); the two writers below turn the
same blocks into the two formats.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from robustfourier.experiments.claims import Claim
from robustfourier.writing import write_text


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the page's title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure with its caption."""

    path: Path
    caption: str


Block: TypeAlias = Heading | Paragraph | Table | Picture

_STYLE = """
body { max-width: 1180px; margin: 2rem auto; padding: 0 1rem; color: #20262e;
  font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.7rem } h2 { margin-top: 2.4rem } p { max-width: 52rem }
table { border-collapse: collapse; font-size: 13.5px }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid #e4e8ee }
th { color: #5b6675; font-weight: 600 }
td.yes { color: #007a59; font-weight: 600 } td.no { color: #c2410c; font-weight: 600 }
figure { margin: 1.2rem 0 } img { max-width: 100% } figcaption { color: #5b6675; font-size: 13.5px }
"""


def claims_table(claims: Iterable[Claim], words: str = "whose") -> Table:
    """Return the table of claims: the paper's words or whose it is, what was measured, verdict."""
    rows = tuple(
        (
            claim.text,
            claim.said or claim.source,
            claim.where,
            claim.measured,
            claim.count,
            claim.verdict,
        )
        for claim in claims
    )
    return Table(("claim", words, "where", "measured", "holds in", "verdict"), rows)


def claims_matrix(claims: Iterable[Claim]) -> Table:
    """Return the claims that were put to several examples in short: one row each, one cell each.

    A cell holds the verdict and in how many answers the claim holds.
    """
    listed = [claim for claim in claims if claim.where.startswith("example ")]
    places = list(dict.fromkeys(claim.where for claim in listed))
    rows = []
    for text in dict.fromkeys(claim.text for claim in listed):
        found = {claim.where: claim for claim in listed if claim.text == text}
        cells = [
            f"{found[place].verdict} ({found[place].holds}/{found[place].of})"
            if place in found
            else ""
            for place in places
        ]
        if len(found) > 1:
            rows.append((text, _whose(found.values()), *cells))
    return Table(("claim", "whose", *places), tuple(rows))


def _whose(claims: Iterable[Claim]) -> str:
    """Name the author, or the places where it is the paper if there are two."""
    sources = {claim.where: claim.source for claim in claims}
    papers = [where for where, source in sources.items() if source.startswith("paper")]
    if len(papers) in (0, len(sources)):
        return next(iter(sources.values())).split(",")[0]
    return f"paper ({', '.join(where.removeprefix('example ') for where in papers)}), else ours"


def write_pages(blocks: Sequence[Block], folder: Path, stem: str) -> Path:
    """Write ``<stem>.md`` and ``<stem>.html`` into a folder and return the HTML file."""
    write_text(folder / f"{stem}.md", _markdown(blocks, folder))
    page = folder / f"{stem}.html"
    write_text(page, _html(blocks, folder))
    return page


def _markdown(blocks: Sequence[Block], folder: Path) -> str:
    parts = []
    for block in blocks:
        match block:
            case Heading(text, level):
                parts.append(f"{'#' * level} {text}")
            case Paragraph(text):
                parts.append(_plain(text))
            case Table(columns, rows):
                lines = [columns, tuple("---" for _ in columns), *rows]
                parts.append(
                    "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)
                )
            case Picture(path, caption):
                text = _plain(caption)
                parts.append(f"![{text}]({_relative(path, folder)})\n\n*{text}*")
    return "\n\n".join(parts) + "\n"


def _html(blocks: Sequence[Block], folder: Path) -> str:
    title = next((b.text for b in blocks if isinstance(b, Heading)), "results")
    body = []
    for block in blocks:
        match block:
            case Heading(text, level):
                body.append(f"<h{level}>{html.escape(text)}</h{level}>")
            case Paragraph(text):
                body.append(f"<p>{html.escape(text)}</p>")
            case Table(columns, rows):
                head = "".join(f"<th>{html.escape(cell)}</th>" for cell in columns)
                lines = ["".join(map(_html_cell, row)) for row in rows]
                inner = "".join(f"<tr>{line}</tr>" for line in [head, *lines])
                body.append(f"<table>{inner}</table>")
            case Picture(path, caption):
                source, text = html.escape(_relative(path, folder)), html.escape(caption)
                body.append(
                    f'<figure><img src="{source}" alt="{text}">'
                    f"<figcaption>{text}</figcaption></figure>"
                )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style><body>"
        + "\n".join(body)
        + "</body></html>\n"
    )


def _html_cell(cell: str) -> str:
    verdict = cell.split(" ")[0]
    kind = f' class="{verdict}"' if verdict in ("yes", "no") and len(cell) < 12 else ""
    return f"<td{kind}>{html.escape(cell)}</td>"


def _cell(text: str) -> str:
    return _plain(text).replace("|", r"\|")


def _plain(text: str) -> str:
    """Keep Markdown from reading stars and underscores as emphasis."""
    return text.replace("*", r"\*").replace("_", r"\_")


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
