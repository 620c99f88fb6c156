"""Pictures of the app: ``python -m benchmarks.app_pictures [--out docs/figures/app]``.

Screens of both pages, on a desktop and a phone, light and dark, and one strip of frames of a fit as
it happens. Needs Chromium with its driver, and Pillow, which matplotlib brings.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver

from benchmarks.app import App, running

DESKTOP, PHONE = (1280, 860), (390, 844)
COLOURS = 200  # of a palette: flat pages lose nothing that is seen


def browser(folder: str, size: tuple[int, int], dark: bool) -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for word in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *("hide-scrollbars", f"user-data-dir={folder}/{size[0]}{dark}"),
    ):
        options.add_argument(f"--{word}")
    one = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1}
    one.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**metrics, "mobile": size == PHONE})
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    one.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return one


def picture(page: Any) -> Image.Image:
    return Image.open(io.BytesIO(page.get_screenshot_as_png())).convert("RGB")


def save(image: Image.Image, path: Path) -> None:
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path} ({path.stat().st_size / 1e3:.0f} kB)")


def until(page: Any, code: str) -> None:
    while not page.execute_script(f"return {code}"):
        time.sleep(0.05)


def frames_of_a_fit(page: Any) -> list[Image.Image]:
    """Four moments: weights small, weights grown, lines tested, patterns."""
    moments = [
        "Number(document.body.dataset.weights) >= 1",
        "document.querySelector('[data-stage=lines].now, [data-stage=lines].done')",
        "document.getElementById('counted').textContent",
        "!document.getElementById('shaping').hidden",
    ]
    page.find_element("css selector", "#examples button").click()
    shots = []
    for code in moments:
        until(page, f"({code}) || document.body.dataset.shown")
        shots.append(picture(page))
    return shots


def strip(shots: list[Image.Image]) -> Image.Image:
    """Frames beside each other, two by two, half as large."""
    small = [shot.resize((shot.width // 2, shot.height // 2)) for shot in shots]
    width, height = small[0].size
    joined = Image.new("RGB", (2 * width + 8, 2 * height + 8), "#8b95a3")
    for i, shot in enumerate(small):
        joined.paste(shot, ((i % 2) * (width + 8), (i // 2) * (height + 8)))
    return joined


def analyse(app: App, page: Any, out: Path, name: str) -> None:
    """The result of a fit, and on a bright desktop the way there."""
    page.get(f"http://{app.host}/?token={app.token}")
    until(page, "document.querySelectorAll('#examples button').length")
    app.warm()
    shots = frames_of_a_fit(page)
    if name == "desktop-light":
        save(strip(shots), out / "fit-as-it-happens.png")
    until(page, "document.body.dataset.shown")
    until(page, "document.getElementById('report').contentDocument.body.dataset.drawn")
    time.sleep(1.0)
    save(picture(page), out / f"analyse-{name}.png")


def laboratory(app: App, page: Any, out: Path, name: str) -> None:
    """The diagonal network ahead of the other."""
    page.get(f"http://{app.host}/laboratory?token={app.token}")
    page.find_element("id", "start").click()
    until(page, "Number(document.body.dataset.step) >= 9000")
    page.find_element("id", "pause").click()
    page.execute_script("scrollTo(0, arguments[0])", 400 if "phone" in name else 0)
    time.sleep(0.5)
    save(picture(page), out / f"laboratory-{name}.png")


SCREENS = (
    (analyse, DESKTOP, False),
    (analyse, PHONE, True),
    (laboratory, DESKTOP, True),
    (laboratory, PHONE, False),
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app_pictures", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/figures/app"))
    parser.add_argument("--only", default="", help="screens whose names hold this text")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with running() as app, tempfile.TemporaryDirectory() as folder:
        for screen, size, dark in SCREENS:
            name = f"{'phone' if size == PHONE else 'desktop'}-{'dark' if dark else 'light'}"
            if options.only in f"{screen.__name__}-{name}":
                page = browser(folder, size, dark)
                screen(app, page, options.out, name)
                page.quit()


if __name__ == "__main__":
    main()
