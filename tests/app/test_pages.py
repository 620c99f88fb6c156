"""The pages in a real browser: what a user does, and what they then see."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

PATIENCE = 240.0  # seconds; only a page that hangs needs them


class Page:
    """A browser on one of the pages."""

    def __init__(self, browser, server, path="/"):
        self.browser, self.server = browser, server
        browser.get(server.fresh_address().replace("/?", f"{path}?"))
        self.until("location.pathname.startsWith('/s/') && document.readyState === 'complete'")
        self.base = self.js("location.href.replace(/[^/]*$/, '')")

    def js(self, code, *arguments):
        return self.browser.execute_script(f"return {code}", *arguments)

    def until(self, code, *arguments):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, PATIENCE, 0.05).until(
            lambda _: self.js(code, *arguments)
        )

    def find(self, name):
        return self.browser.find_element("id", name)

    def shown(self):
        """Wait for a result and return the id of its fit."""
        self.until("document.body.dataset.state === 'done' && document.body.dataset.shown || ''")
        self.until("document.body.dataset.shown === document.body.dataset.fit")
        return self.js("document.body.dataset.shown")

    def drop(self, path):
        """Drop a file on the page, as the mouse does."""
        self.browser.execute_script(
            """const data = new DataTransfer();
            data.items.add(new File([arguments[1]], arguments[0], {type: "text/csv"}));
            document.getElementById("drop").dispatchEvent(
              new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));""",
            path.name,
            path.read_text(),
        )

    def complaints(self):
        return [line for line in self.browser.get_log("browser") if line["level"] == "SEVERE"]


@pytest.fixture
def page(browser, server):
    return Page(browser, server)


def test_a_dropped_file_is_fitted_changed_taken_back_and_exported(page, server, record):
    page.until("document.querySelectorAll('#examples button').length >= 3")
    page.drop(record)
    page.until("Number(document.body.dataset.weights) >= 2")  # weights grow
    assert "level" in page.find("taken").text or page.until(
        "document.getElementById('taken').textContent.includes('level')"
    )
    first = page.shown()
    page.until("document.getElementById('report').contentDocument.body.dataset.drawn >= 3")
    assert page.js("document.getElementById('command').textContent").startswith(
        "robustfourier fit tank.csv"
    )

    form = page.find("controls")
    form.find_element("name", "period").send_keys("7")
    form.find_element("name", "forecast").send_keys("14")
    form.submit()
    page.until("document.body.dataset.fit !== arguments[0]", first)
    second = page.shown()
    exact = page.js("document.getElementById('python').textContent")
    assert "periods=[7.0]" in exact
    assert "--period 7" in page.js("document.getElementById('command').textContent")
    assert page.find("ahead").is_displayed()
    table = server.ask(f"/fits/{second}/forecast.csv").body.decode().splitlines()
    assert len(table) > 10
    assert float(table[1].split(",")[0]) > 99.0

    boxes = page.browser.find_elements("css selector", "#history input")
    assert len(boxes) == 2
    for i in range(2):
        page.browser.find_elements("css selector", "#history input")[i].click()
    page.find("compare").click()
    page.until("document.querySelectorAll('#compared .sides .card').length === 2")
    said = page.find("changed").text
    assert "changed" in said.lower() or "new" in said or "gone" in said
    assert "instead of" in said
    assert page.js("document.querySelector('#compared canvas').height") > 0

    page.find("undo").click()
    page.until("document.body.dataset.fit === arguments[0]", first)
    assert page.shown() == first
    href = page.js("[...document.querySelectorAll('#export a')].pop().getAttribute('href')")
    assert href == f"fits/{first}/everything.zip"
    names = zipfile.ZipFile(BytesIO(server.ask(f"/{href}").body)).namelist()
    assert {"report.html", "modes.csv", "model.rfm", "figures/fit.svg"} <= set(names)
    assert page.complaints() == []


def test_a_pattern_is_switched_off_a_family_split_and_two_merged_by_a_new_fit(page, server, fitted):
    page.browser.get(f"{page.base}#{fitted[0]}")
    page.browser.refresh()
    one = page.shown()
    answer = next(frame for frame in server.story(one) if frame.get("t") == "result")
    first, second = [p for p in answer["patterns"] if not p["combination"]][:2]
    family = next(p for p in answer["patterns"] if len(p["harmonics"]) > 1)
    boxes = [f"[name=merge][value='{p['exact']}']" for p in (first, second)]
    for name, clicks, wanted in (
        ("without", [f"[data-off={family['label']}]"], family["lines"]),
        ("split", [f"[data-split={family['label']}]"], [family["exact"]]),
        ("merge", [*boxes, "#merge"], [first["exact"], second["exact"]]),
    ):
        for place in clicks:
            page.until("document.querySelector(arguments[0])", place)
            page.browser.find_element("css selector", place).click()
        page.until("document.body.dataset.fit !== arguments[0]", one)
        later = page.js("document.body.dataset.fit")
        asked = "+".join(server.state(later)["asked"][name]).split("+")
        assert [float(text) for text in asked] == [float(line) for line in wanted]
        server.ask(f"/api/jobs/{later}/cancel", {})
        page.until("!document.getElementById('failed').hidden")
        page.browser.find_elements("css selector", "#history button")[0].click()
        page.until("document.body.dataset.fit === arguments[0]", one)
        page.shown()


def test_a_reload_in_the_middle_and_a_second_tab_find_the_fit_again(page, record):
    page.drop(record)
    page.until("document.body.dataset.state === 'running'")
    address, fit = page.js("location.href"), page.js("document.body.dataset.fit")
    page.browser.refresh()
    page.until("document.body.dataset.fit === arguments[0]", fit)
    page.browser.switch_to.new_window("tab")
    page.browser.get(address)
    assert page.shown() == fit
    page.browser.close()
    page.browser.switch_to.window(page.browser.window_handles[0])
    assert page.shown() == fit


def test_text_from_a_file_is_shown_and_never_run(page, tmp_path):
    name = "<img src=x onerror=alert(1)>.csv"
    rows = "\n".join(f"{i},{(i * 7) % 11}" for i in range(60))
    evil = tmp_path / "evil.csv"
    evil.write_text(f"t,<script>document.body.dataset.evil=1</script>\n{rows}\n")
    page.browser.execute_script("window.evilName = arguments[0]", name)
    page.drop(evil)
    page.shown()
    assert page.js("document.body.dataset.evil") is None
    inner = "document.getElementById('report').contentDocument"
    page.until(f"{inner}.body.dataset.drawn")
    assert page.js(f"{inner}.body.dataset.evil") is None
    assert page.js(f"{inner}.querySelectorAll('script').length") == 3
    assert "<script>" in page.find("taken").text


def test_what_cannot_be_read_is_said_and_other_columns_can_be_chosen(page, tmp_path):
    rows = "\n".join(f"{i},{(i * 7) % 11},{i % 3}" for i in range(60))
    (tmp_path / "three.csv").write_text(f"t,first,second\n{rows}\n")
    page.drop(tmp_path / "three.csv")
    page.until("!document.getElementById('failed').hidden")
    assert page.find("failed").text.startswith("The fit failed")
    assert "choose with “Time”" in page.find("why").text
    assert "--" not in page.find("why").text
    assert page.find("preview").text.splitlines()[:2] == ["t first second", "0 0 0"]
    page.browser.execute_script(
        "document.querySelector('[name=column-time]').value = 't';"
        "document.querySelector('[name=column-value]').value = 'second';"
        "document.getElementById('controls').requestSubmit()"
    )
    page.until("document.getElementById('taken').textContent.includes('second')")


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_is_wider_than_the_window_and_axe_finds_no_fault(page, fitted, width):
    page.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    wide = "document.documentElement.scrollWidth"
    assert page.js(wide) <= width
    page.browser.get(f"{page.base}#{fitted[0]}")
    page.browser.refresh()
    page.shown()
    assert page.js(wide) <= width
    assert page.complaints() == []
    for path in ("/", "/laboratory"):
        assert faults(page, f"{page.base}{path[1:]}") == []
        assert page.js(wide) <= width


def faults(page, address):
    """What axe-core says of a page, whose policy would not let it in."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    page.browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    page.browser.get(address)
    page.browser.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = page.browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    page.browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    assert len(found["passes"]) > 10
    return [(v["id"], [n["html"][:100] for n in v["nodes"][:3]]) for v in found["violations"]]


def test_the_laboratory_shows_the_diagonal_ahead_pauses_steps_and_gives_a_link(browser, server):
    page = Page(browser, server, "/laboratory")
    # A small pair of networks at a high rate: a second instead of the preset's minute.
    page.browser.execute_script(
        """const put = (name, value) => { document.getElementById("knobs")[name].value = value; };
        put("steps", 1200); put("layers0", 0); put("rate0", 0.05); put("rate1", 0.01);
        put("width1", 20); [0, 1].forEach((i) => { put("modes" + i, 64); put("batch" + i, 100); });
        document.getElementById("speed").value = 60;"""
    )
    page.find("start").click()
    page.until("Number(document.body.dataset.step) > 0")
    page.find("pause").click()
    page.until("document.getElementById('pause').textContent === 'Go on'")
    held = page.js("new Promise((done) => setTimeout(() => done(document.body.dataset.step), 400))")
    page.find("step").click()
    page.until("Number(document.body.dataset.step) > Number(arguments[0])", held)
    page.find("pause").click()
    link = page.js("location.href")
    assert "%22layers%22%3A0" in link
    page.until("document.body.dataset.state === 'done'")
    page.until("Number(document.body.dataset.step) === 1200")
    ours, theirs = (float(page.js(f"document.body.dataset.error{n}")) for n in (0, 1))
    assert ours < theirs / 2
    said = page.find("say").text
    assert said.startswith(f"After 1,200 steps: {100 * ours:.1f} % off the truth with the diagonal")
    assert "Of its 3 largest weights 3 belong to modes that are in the signal" in said
    assert set(page.js("document.body.dataset.awake").split()) >= {"5", "29", "61"}
    before = float(page.js("document.body.dataset.stop"))
    page.js(
        "(() => { const level = document.getElementById('level'); level.value = 0; "
        "level.dispatchEvent(new Event('input')); })()"
    )
    assert float(page.js("document.body.dataset.stop")) < before
    assert page.complaints() == []


def test_a_server_at_another_port_is_sent_no_cookie_of_ours(browser, server):
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    seen = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("cookie", ""), self.headers.get("referer")))
            self.send_response(200)
            self.send_header("set-cookie", "own=1")
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *_):
            pass

    page = Page(browser, server)
    assert page.base.startswith(f"http://{server.host}/s/")
    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{other.server_port}"
        for path in ("/", "/", "/s/", "/laboratory"):
            browser.get(address + path)
        page.browser.get(page.base)
        page.js(f"location.assign('{address}/left')")
        page.until("document.title === 'other'")
        other.shutdown()
    assert len(seen) >= 5
    assert all("robustfourier" not in cookie for _, cookie, _ in seen)
    assert any("own=1" in cookie for _, cookie, _ in seen), "cookies know no port"
    assert all(server.host not in (referer or "") for _, _, referer in seen)
