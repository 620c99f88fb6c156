"""The files of the pages, and what a report may run."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from functools import cache
from importlib.resources import files
from pathlib import Path

from robustfourier.result_folders import RHYTHM, RUN

#: Path in the address → name of the page and of its files, and its title.
PAGES = {
    "/": ("analyse", "robustfourier"),
    "/laboratory": ("laboratory", "The paper’s laboratory · robustfourier"),
}

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
# By the package: `files` of a room would load it, and with it all of numpy and pandas.
_PACKAGE = files("robustfourier")
_STATIC = _PACKAGE / "app" / "static"
_OWN = ("app.css", "app.js", "analyse.js", "laboratory.js")
_SHARED = ("style.css", "vendor/uPlot.min.css", "vendor/uPlot.iife.min.js")


def kind_of(name: str) -> str:
    """Return the content type of a file by its ending."""
    return _KINDS.get(Path(name).suffix, "application/octet-stream")


@cache
def examples() -> dict[str, Path]:
    """Return the series that come with the package, by name."""
    paths = (Path(str(path)) for path in (_PACKAGE / "datasets").iterdir())
    return {path.stem: path for path in paths if path.suffix == ".csv"}


@cache
def asset(name: str) -> bytes | None:
    """Return a file of a page: of this room, or shared with the report; by a list, no path."""
    if name in _SHARED:
        return (_PACKAGE / "report" / name).read_bytes()
    return (_STATIC / name).read_bytes() if name in _OWN else None


@cache
def page(path: str) -> str:
    """Return one of the pages: what is its own, in the frame that both have."""
    name, title = PAGES[path]
    parts = {one: ' aria-current="page"' if one == name else "" for one, _ in PAGES.values()}
    parts |= {"title": title, "name": name, "main": _text(f"{name}.html")}
    page = _text("frame.html")
    for place, words in parts.items():
        page = page.replace(f"{{{{{place}}}}}", words)
    return page


def _text(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")


def result_files(folder: Path) -> list[str]:
    """Return the names of the files that a finished run has written, by its own record."""
    names = RUN.own(folder) or RHYTHM.own(folder) or ()
    return [name for name in names if is_within(folder, name)]


def is_within(folder: Path, name: str) -> bool:
    """Whether a name is that of a regular file within a folder, reached through no link."""
    place, root = (folder / name).resolve(), folder.resolve()
    return place.is_file() and place == root / name and place.is_relative_to(root)


def zipped(folder: Path, names: list[str]) -> bytes:
    """Return files of a folder as one archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.write(folder / name, name)
    return packed.getvalue()


@cache
def report_policy() -> str:
    """Return the policy of a report: its two scripts are inside of its page, and no other runs."""
    from robustfourier.report.page import scripts

    digests = (hashlib.sha256(text.encode()).digest() for text in scripts())
    allowed = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
