"""A user who never types: a workbook is dropped, a sheet chosen, and two fits are compared."""

import base64

import pandas as pd
import pytest
from tests.app.conftest import browser, chromium, server, start  # noqa: F401 - fixtures
from tests.app.test_pages import Page
from tests.journeys import records as made


def drop(page, path):
    """Drop a file of bytes, as the mouse does."""
    page.browser.execute_script(
        """const bytes = Uint8Array.from(atob(arguments[1]), (c) => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], arguments[0]));
        document.getElementById("drop").dispatchEvent(
          new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));""",
        path.name,
        base64.b64encode(path.read_bytes()).decode(),
    )


def choose(page, name, value):
    """Choose an option of a control of reading."""
    box = f"[name='{name}'] option[value='{value}']"
    page.until("document.querySelector(arguments[0])", box)
    page.browser.find_element("css selector", box).click()


def test_never_typing(browser, server, tmp_path):  # noqa: F811 - fixtures
    pytest.importorskip("openpyxl")
    book = tmp_path / "shops.xlsx"
    with pd.ExcelWriter(book) as writer:
        for seed, name in enumerate(("north", "south")):
            made.sales(seed).to_excel(writer, sheet_name=name, index=False)
    page = Page(browser, server)
    page.until("document.querySelectorAll('#examples button').length >= 3")

    drop(page, book)
    page.until("!document.getElementById('failed').hidden")
    assert page.find("failed").text.startswith("The fit failed")
    why = page.find("why").text
    assert "'north', 'south' each hold a table; choose one with “Sheet”" in why
    assert "--" not in why

    choose(page, "read-sheet", "south")
    page.browser.find_element("css selector", "#reading button.main").click()
    first = page.shown()
    assert "sales" in page.find("taken").text
    page.browser.execute_script("document.getElementById('reading').open = true")
    assert page.find("preview").text.splitlines()[0] == "date sales"
    assert page.find("taken-rows").text.splitlines()[1].startswith("2021-01-01")
    inner = "document.getElementById('report').contentDocument"
    page.until(f"{inner}.body.innerText.includes('on Saturdays')")
    assert page.js(f"getComputedStyle({inner}.getElementById('theme')).display") == "none"
    python = page.js("document.getElementById('python').textContent")
    assert "from robustfourier import PeriodicMixture, read_samples" in python

    choose(page, "false_alarm", "0.0001")
    choose(page, "scale", "linear")
    again = page.browser.find_element("css selector", "aside .again")
    assert again.is_displayed()
    again.click()
    page.until("document.body.dataset.fit !== arguments[0]", first)
    page.shown()
    for i in range(2):
        page.browser.find_elements("css selector", "#history input:not(:disabled)")[i].click()
    page.find("compare").click()
    page.until("document.getElementById('changed')")
    assert "instead of" in page.find("changed").text
    assert page.complaints() == []
