"""Markers reach the tests they are meant for, and the page of the API has all public names."""

import re
from pathlib import Path

import pytest

import robustfourier

ROOT = Path(__file__).parents[1]


def test_every_marked_place_is_there(request):
    conftest = next(
        plugin
        for plugin in request.config.pluginmanager.get_plugins()
        if getattr(plugin, "MARKED", None)
    )
    declared = {line.split(":")[0] for line in request.config.getini("markers")}
    assert set(conftest.MARKED) <= declared
    for places in conftest.MARKED.values():
        assert [place for place in places if not (ROOT / "tests" / place).exists()] == []


@pytest.mark.parametrize("name", [n for n in robustfourier.__all__ if n != "__version__"])
def test_the_page_of_the_api_has_every_public_name(name):
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert re.search(rf":: robustfourier\.{name}(\.\w+)*$", page, re.MULTILINE)


@pytest.mark.parametrize("room", ["training", "theory"])
def test_the_page_of_the_api_has_every_name_of_a_room(room):
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.search(rf"automodule:: robustfourier\.{room}\n   :members: (.+)", page)
    assert listed is not None
    assert set(listed.group(1).split(", ")) == set(getattr(robustfourier, room).__all__)


def test_the_page_of_the_api_has_forecasts():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert re.search(r"PeriodicMixture\n   :members: .*\bforecast\b", page)
