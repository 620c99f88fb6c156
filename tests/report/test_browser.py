"""The report in headless Chromium: figures drawn, console clean, nothing fetched."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from robustfourier.report import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr"),
    "--virtual-time-budget=5000",
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def browse(page, folder, *options):
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    profile = folder / "profile"
    return subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", *options, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


@pytest.fixture(scope="module")
def opened(small_result, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    log = folder / "net.json"
    page = render(small_result, {}) + "<script>console.log('we are listening')</script>"
    done = browse(page, folder, "--dump-dom", f"--log-net-log={log}")
    return done, log.read_text(encoding="utf-8")


def test_the_interactive_figures_are_drawn(opened):
    document = opened[0].stdout
    assert 'data-drawn="3"' in document
    assert document.count("<canvas") == 3
    assert document.count('class="tools"') == 3


def test_the_console_hears_our_own_word_and_nothing_else(opened):
    said = re.findall(r"CONSOLE.*", opened[0].stderr)
    assert len(said) == 1, said
    assert "we are listening" in said[0]


def test_nothing_is_fetched(opened):
    hosts = set(re.findall(r'"url":"(?:https?|wss?|ftp)://([^/"]+)', opened[1]))
    # Chromium itself asks its maker for the time, whatever page is open.
    own = {host for host in hosts if host.endswith((".google.com", ".googleapis.com"))}
    assert hosts - own == set()


HOVER = """<script>
var over = document.querySelector("#plot-fit .u-over"), box = over.getBoundingClientRect();
["mouseenter", "mousemove"].forEach(function (name) { over.dispatchEvent(new MouseEvent(name,
  {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2})); });
</script>"""


def test_hover_tells_times_in_full_and_values_to_the_digits_of_the_noise(noise_result, tmp_path):
    start = 2_450_000.0
    late = replace(
        noise_result,
        position=noise_result.position + start,
        curve=replace(noise_result.curve, x=noise_result.curve.x + start),
        samples=replace(noise_result.samples, values=noise_result.samples.values + 20_000.0),
        fitted=noise_result.fitted + 20_000.0,
    )
    document = browse(render(late, {}) + HOVER, tmp_path, "--dump-dom").stdout
    (words,) = re.findall(r'class="hint" style="display: block[^>]*>(.*?)</div>', document)
    time, value, fit, rest = words.split("<br>")
    assert re.fullmatch(r"2,450,0(29|30)\.0+", time)
    assert re.fullmatch(r"value (19|20),\d{3}\.\d", value)
    assert re.fullmatch(r"fit (19|20),\d{3}\.\d", fit)
    assert re.fullmatch(r"left over -?\d\.\d", rest)


WIDTHS = """<script>
var cut = Array.prototype.filter.call(document.querySelectorAll("main *, header *"), function (e) {
  return !e.closest(".static") && e.getBoundingClientRect().right > innerWidth + 1; });
console.log("width " + innerWidth + ", cut off: " + cut.map(function (e) { return e.className; }));
</script>"""


def test_nothing_is_cut_off_on_a_phone(small_result, tmp_path):
    page = render(small_result, {"Estimator": "PeriodicMixture(" + 40 * "x" + ")"})
    (tmp_path / "inner.html").write_text(page + WIDTHS, encoding="utf-8")
    frame = '<iframe src="inner.html" style="width:390px;height:5000px;border:0"></iframe>'
    said = re.findall(r'"(width .*?)"', browse(frame, tmp_path, "--dump-dom").stderr)
    assert said == ["width 390, cut off: "]


def test_a_screenshot_is_not_blank(small_result, tmp_path):
    image = pytest.importorskip("PIL.Image")
    shot = tmp_path / "shot.png"
    browse(render(small_result, {}), tmp_path, f"--screenshot={shot}", "--window-size=420,2600")
    colours = image.open(shot).convert("RGB").getcolors(maxcolors=10**6)
    assert len(colours) > 100
