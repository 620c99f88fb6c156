"""The report in Chromium, driven as a reader would: zoom, hover, toggles, downloads, no fault."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.altered import altered

from robustfourier.report import render
from robustfourier.report.next_steps import Place

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1100,900"),
]

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no Chromium on this machine"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder into which the browser saves."""
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def browser(tmp_path_factory, saved):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(saved)})
    service = webdriver.ChromeService(DRIVER)
    with webdriver.Chrome(options=options, service=service) as driver:
        yield driver


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def small_page(small_result, folder):
    """A page of two patterns, and what the browser asked for while it opened."""
    errors = np.full(len(small_result.samples), 0.2)
    measured = altered(small_result, samples=replace(small_result.samples, errors=errors))
    return written(folder / "small.html", render(measured, {"Seed": "0"}, Place("tank.csv", "out")))


def written(path, page):
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


def fresh(browser, page, *, dark=False, phone=False):
    """Open a page anew, wide or as on a phone, light or dark."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    wide = {"width": 1100, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size if phone else wide)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(page)


def button(browser, words, within="body"):
    for found in browser.find_elements("css selector", f"{within} button"):
        if (found.get_attribute("title") or found.text).startswith(words):
            return found
    raise AssertionError(f"no button {words!r}")


def window(browser):
    """Which part of the record the strip says is seen, as left and width in percent."""
    style = browser.find_element("css selector", ".strip .window").get_attribute("style")
    parts = dict(part.split(":") for part in style.strip("; ").replace(" ", "").split(";"))
    return float(parts["left"].rstrip("%")), float(parts["width"].rstrip("%"))


def pixels(browser, plot):
    """The canvas of a plot as one long text: equal if and only if it looks the same."""
    return browser.execute_script(
        "return document.querySelector(arguments[0] + ' canvas').toDataURL()", f"#{plot}"
    )


def test_it_opens_without_a_word_on_the_console_and_asks_for_nothing(browser, small_page):
    fresh(browser, "about:blank")
    browser.get_log("performance")
    fresh(browser, small_page)
    assert browser.find_element("css selector", "body").get_attribute("data-drawn") == "4"
    assert browser.get_log("browser") == []
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"
    ]
    assert [address for address in asked if not address.startswith("chrome:")] == [small_page]


def test_buttons_and_strip_zoom_all_figures_of_the_record_together(browser, small_page):
    fresh(browser, small_page)
    button(browser, "show all", "#plot-fit").click()
    assert window(browser) == (0.0, 100.0)
    before = pixels(browser, "plot-residual")
    button(browser, "closer", "#plot-fit").click()
    assert window(browser) == pytest.approx((25.0, 50.0))
    assert pixels(browser, "plot-residual") != before
    button(browser, "later", "#plot-residual").click()
    assert window(browser) == pytest.approx((45.0, 50.0))
    strip = browser.find_element("id", "strip")
    middle = webdriver.ActionChains(browser).move_to_element_with_offset
    middle(strip, -strip.size["width"] // 4, 0).click().perform()
    assert window(browser) == pytest.approx((0.0, 50.0), abs=1.0)


def test_a_drag_zooms_and_a_double_click_shows_all(browser, small_page):
    fresh(browser, small_page)
    button(browser, "show all", "#plot-fit").click()
    over = browser.find_element("css selector", "#plot-fit .u-over")
    act = webdriver.ActionChains(browser)
    act.move_to_element_with_offset(over, -200, 0).click_and_hold().move_by_offset(150, 0)
    act.release().perform()
    assert window(browser)[1] == pytest.approx(100.0 * 150 / over.size["width"], rel=0.02)
    webdriver.ActionChains(browser).double_click(over).perform()
    assert window(browser) == (0.0, 100.0)


def test_two_fingers_zoom_and_one_moves(browser, small_page):
    fresh(browser, small_page, phone=True)
    button(browser, "show all", "#plot-fit").click()
    touch = """
      var over = document.querySelector('#plot-fit .u-over'), box = over.getBoundingClientRect();
      var e = arguments[0]; over.dispatchEvent(new PointerEvent(e[0], {bubbles: true,
        pointerType: 'touch', pointerId: e[1], clientX: box.left + e[2] * box.width}));"""
    pinch = [["pointerdown", 1, 0.4], ["pointerdown", 2, 0.6], ["pointermove", 1, 0.3],
             ["pointermove", 2, 0.7], ["pointerup", 1, 0.3], ["pointerup", 2, 0.7]]  # fmt: skip
    for event in pinch:  # each in its own turn, as fingers are
        browser.execute_script(touch, event)
    left, width = window(browser)
    assert width == pytest.approx(50.0, abs=1.0)
    move = [["pointerdown", 1, 0.5], ["pointermove", 1, 0.7], ["pointerup", 1, 0.7]]
    for event in move:
        browser.execute_script(touch, event)
    assert window(browser) == pytest.approx((left - 0.2 * width, width), abs=0.5)


def test_hover_tells_the_moment_and_digits_that_follow_the_noise(browser, small_page):
    fresh(browser, small_page)
    over = browser.find_element("css selector", "#plot-fit .u-over")
    webdriver.ActionChains(browser).move_to_element(over).perform()
    moment, value, fit, rest = browser.find_element("css selector", "#plot-fit .hint").text.split(
        "\n"
    )
    assert moment.startswith("2024-03-0")
    assert len(moment) in (16, 19, 23)
    assert value.split()[2:] == ["±", "0.2"]
    assert len(fit.split(".")[1]) == len(rest.split(".")[1]) == 1


def test_julian_dates_are_told_in_full(browser, noise_result, folder):
    start = 2_450_000.0
    late = altered(
        noise_result,
        position=noise_result.position + start,
        curve=replace(noise_result.curve, x=noise_result.curve.x + start),
        samples=replace(noise_result.samples, values=noise_result.samples.values + 20_000.0),
        fitted=noise_result.fitted + 20_000.0,
    )
    fresh(browser, written(folder / "late.html", render(late, {})))
    over = browser.find_element("css selector", "#plot-fit .u-over")
    webdriver.ActionChains(browser).move_to_element(over).perform()
    moment, value, _, rest = browser.find_element("css selector", "#plot-fit .hint").text.split(
        "\n"
    )
    assert moment.split(".")[0] in ("2450029", "2450030")
    assert value.split()[1].startswith(("19,", "20,"))
    assert len(rest.split(".")[1]) == 1


def test_toggles_hide_what_they_name(browser, small_page):
    fresh(browser, small_page)
    for words in ("samples", "fit", "band"):
        knob, before = button(browser, words, "#plot-fit"), pixels(browser, "plot-fit")
        knob.click()
        assert knob.get_attribute("aria-pressed") == "false"
        assert pixels(browser, "plot-fit") != before, words
        knob.click()
        assert pixels(browser, "plot-fit") == before


def test_a_pattern_is_highlighted_everywhere(browser, small_page):
    fresh(browser, small_page)
    before = [pixels(browser, plot) for plot in ("plot-fit", "plot-spectrum")]
    chip = browser.find_elements("css selector", ".pick")[1]
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    picked = browser.find_elements("css selector", ".picked")
    assert {found.get_attribute("data-pattern") for found in picked} == {"1"}
    assert {found.tag_name for found in picked} == {"button", "article", "tr"}
    after = [pixels(browser, plot) for plot in ("plot-fit", "plot-spectrum")]
    assert all(a != b for a, b in zip(after, before, strict=True))
    browser.find_element("css selector", ".card.picked p").click()
    assert not browser.find_elements("css selector", ".picked")


def test_the_spectrum_goes_step_by_step(browser, small_page):
    fresh(browser, small_page)
    left = pixels(browser, "plot-spectrum")
    button(browser, "without A", "#plot-spectrum").click()
    assert pixels(browser, "plot-spectrum") != left
    button(browser, "residuals", "#plot-spectrum").click()
    assert pixels(browser, "plot-spectrum") == left


def test_the_fit_is_drawn_from_the_model_at_any_zoom(
    browser, small_page, small_result, small_model
):
    fresh(browser, small_page)
    x = np.linspace(small_result.curve.x[0], small_result.curve.x[-1], 997)
    drawn = browser.execute_script(
        "return arguments[0].map(function (x) { return window.robustfourier.fitted(x).y; })",
        x.tolist(),
    )
    times = (x * 1e6).astype("datetime64[us]")
    np.testing.assert_allclose(drawn, small_model.predict(times), atol=2e-4)


@pytest.mark.parametrize("words", ["patterns (CSV)", "modes (CSV)", "samples and fit (CSV)"])
def test_tables_are_saved_from_the_page(browser, small_page, small_result, saved, words):
    fresh(browser, small_page)
    text = download(saved, button(browser, words)).read_text(encoding="utf-8")
    rows = {"patterns": small_result.patterns, "modes": small_result.modes}
    expected = len(rows.get(words.split()[0], small_result.samples))
    assert len(text.splitlines()) == expected + 1
    assert len({line.count(",") for line in text.splitlines()}) == 1


def test_figures_are_saved_from_the_page(browser, small_page, saved):
    fresh(browser, small_page)
    for within, words in (("#plot-fit", "save as SVG"), (".card", "save as SVG")):
        svg = ElementTree.fromstring(download(saved, button(browser, words, within)).read_bytes())
        assert svg.tag.endswith("}svg")
        assert "--fit" in svg[0].text
    image = download(saved, button(browser, "save this view", "#plot-spectrum"))
    assert image.read_bytes()[:4] == b"\x89PNG"


def download(folder: Path, knob):
    before = set(folder.iterdir())
    knob.click()
    for _ in range(200):
        new = [p for p in set(folder.iterdir()) - before if p.suffix in (".csv", ".svg", ".png")]
        if new:
            return new[0]
        time.sleep(0.05)
    raise AssertionError("nothing was saved")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("phone", [False, True])
def test_axe_finds_no_fault(browser, small_page, dark, phone):
    axe = pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    fresh(browser, small_page, dark=dark, phone=phone)
    browser.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    told = [(v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in found["violations"]]
    assert told == []
    assert len(found["passes"]) > 20


CUT = """return Array.from(document.querySelectorAll("main *, header *")).filter(e =>
  !e.closest(".static, .scroll") && e.getBoundingClientRect().right > innerWidth + 1).length"""
SMALL = """return Array.from(document.querySelectorAll("button, summary, .downloads a"))
  .filter(e => e.offsetHeight > 0 && e.offsetHeight < 43).map(e => e.outerHTML)"""
SEEN = """return Array.from(document.querySelectorAll(arguments[0]))
  .filter(e => e.getBoundingClientRect().height > 0).map(e => e.getAttribute('aria-label'))"""


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(browser, small_result, folder):
    long = replace(small_result.samples, value_name="a name of a column " * 6, source="f" * 150)
    many = tuple(replace(small_result.patterns[i % 2], label=f"P{i}") for i in range(20))
    names = {"Estimator": "PeriodicMixture(" + 90 * "x" + ")"}
    busy = altered(small_result, samples=long, patterns=many)
    fresh(browser, written(folder / "busy.html", render(busy, names)), phone=True)
    assert browser.execute_script("return innerWidth") == 390
    assert browser.execute_script(CUT) == 0
    assert browser.execute_script(SMALL) == []
    assert browser.get_log("browser") == []


def test_print_has_every_figure_and_no_button(browser, small_page):
    fresh(browser, small_page)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(SEEN, "button") == []
    labels = browser.execute_script(SEEN, "svg[role]")
    assert {"Data and fit", "Residuals against time", "Spectrum without A"} <= set(labels)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
