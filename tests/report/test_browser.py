"""The report in headless Chromium: figures drawn, console clean, nothing fetched."""

import re
import shutil
import subprocess

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


def test_a_screenshot_is_not_blank(small_result, tmp_path):
    image = pytest.importorskip("PIL.Image")
    shot = tmp_path / "shot.png"
    browse(render(small_result, {}), tmp_path, f"--screenshot={shot}", "--window-size=420,2600")
    colours = image.open(shot).convert("RGB").getcolors(maxcolors=10**6)
    assert len(colours) > 100
