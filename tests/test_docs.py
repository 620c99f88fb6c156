"""README and site: links lead somewhere, every page is reachable, examples are executed."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.stem)
def test_links_within_the_repository_lead_to_files(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http:", "https:", "#", "mailto:")):
            assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.stem)
def test_links_to_places_within_pages_lead_to_headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", text):
        if not target.startswith(("http:", "https:")):
            name, place = target.split("#")
            other = page.parent / name if name else page
            headings = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.M)
            assert place in {anchor(heading) for heading in headings}, target


def anchor(heading):
    """The place of a heading, as GitHub and the site name it."""
    words = re.sub(r"[^\w\s-]", "", heading.lower().replace("`", ""))
    return words.strip().replace(" ", "-")


def test_every_picture_is_used_and_there():
    pages = [ROOT / "README.md", *PAGES, *DOCS.glob("*.html")]
    said = {page: page.read_text(encoding="utf-8") for page in pages}
    for picture in (DOCS / "figures").rglob("*"):
        if picture.suffix in (".png", ".gif", ".svg"):
            assert any(picture.name in text for text in said.values()), picture
    for page, text in said.items():
        for target in re.findall(r"```\{image\} (\S+)", text):
            assert (page.parent / target).exists(), target


def test_every_page_is_in_a_table_of_contents():
    named = set()
    for page in PAGES:
        for tree in re.findall(r"```\{toctree\}(.*?)```", page.read_text(encoding="utf-8"), re.S):
            words = [re.sub(r".*<(.*)>", r"\1", line) for line in tree.split("\n")]
            named |= {(page.parent / f"{w.strip()}.md") for w in words if w and w[0] != ":"}
    assert {page for page in PAGES if page.name != "index.md" or page.parent != DOCS} <= named


def test_the_gallery_has_eight_executed_pages_and_never_needs_a_file():
    gallery = [page for page in PAGES if page.parent.name == "gallery" and page.stem != "index"]
    assert len(gallery) >= 8
    for page in gallery:
        text = page.read_text(encoding="utf-8")
        assert "{code-cell}" in text
        assert not re.search(r"read_csv|open\(|/work|/home", text)


ROOMS = ("analysis", "datasets", "errors", "fields", "large", "many", "nn", "plots", "results")


@pytest.mark.parametrize("room", [*ROOMS, "sampling", "samples", "theory", "training"])
def test_nothing_public_is_missing_from_the_reference(room):
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    whole = re.search(rf"automodule:: robustfourier\.{room}\n +:members:\n", text)
    names = [] if whole else importlib.import_module(f"robustfourier.{room}").__all__
    assert [n for n in names if not re.search(rf"\b{n}\b", text)] == []


def test_the_list_of_messages_is_current():
    """After a change of any sentence: ``python docs/messages.py``."""
    done = subprocess.run([sys.executable, DOCS / "messages.py", "--check"], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_the_list_of_messages_has_errors_with_their_codes_and_sentences():
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    assert re.search(r"^\| 3 \| `DataError` \| `", page, re.M)
    assert re.search(r"^\| 2 \| `InputError` \| `", page, re.M)
    assert "drifts out of step after about {count} cycles (quasi-periodic)" in page
    for riddle in ("strongest beat", "forgets", "has a memory", "are told for", "as it comes"):
        assert riddle not in page
