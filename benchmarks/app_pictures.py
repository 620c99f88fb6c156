"""Pictures of the app: ``python -m benchmarks.app_pictures [--out docs/figures/app]``.

Screens of both pages, on a desktop and a phone, light and dark, and a fit as it happens as moving
pictures. Needs Chromium with its driver, and Pillow, which matplotlib brings.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops
from selenium import webdriver

from benchmarks.app import App, running
from robustfourier.plots.figure_files import few_colours

DESKTOP, PHONE = (1280, 860), (390, 844)
MOVING, FRAMES = 96, 9  # colours and pictures of the moving one, at most


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
    few_colours(image).save(path, optimize=True)
    print(f"{path} ({path.stat().st_size / 1e3:.0f} kB)")


def until(page: Any, code: str) -> None:
    while not page.execute_script(f"return {code}"):
        time.sleep(0.05)


def frames_of_a_fit(page: Any) -> list[Image.Image]:
    """Picture after picture from the click to the result."""
    page.find_element("css selector", "#examples button").click()
    until(page, "document.body.dataset.weights || document.body.dataset.shown")
    shots = []
    while not page.execute_script("return document.body.dataset.shown"):
        shots.append(picture(page))
    return shots


def save_moving(shots: list[Image.Image], path: Path) -> None:
    """Frames one after the other, smaller; what shows nothing new is left out."""
    small = [shot.resize((shot.width * 3 // 5, shot.height * 3 // 5)) for shot in shots]
    new = [small[0]] + [b for a, b in pairwise(small) if ImageChops.difference(a, b).getbbox()]
    chosen = sorted({round(i * (len(new) - 1) / (FRAMES - 1)) for i in range(FRAMES)})
    frames = [few_colours(new[i], MOVING) for i in chosen]
    milliseconds = [700] * (len(frames) - 1) + [3000]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)
    print(f"{path} ({path.stat().st_size / 1e3:.0f} kB, {len(frames)} of {len(new)} frames)")


def analyse(app: App, page: Any, out: Path, name: str) -> None:
    """The result of a fit, and on a bright desktop the way there."""
    page.get(app.fresh_address())
    until(page, "document.querySelectorAll('#examples button').length")
    if name == "desktop-light":
        app.warm()
        shots = frames_of_a_fit(page)
    elif page.find_elements("css selector", ".recent a"):
        page.find_element("css selector", ".recent a").click()
    else:
        page.find_element("css selector", "#examples button").click()
    until(page, "document.body.dataset.shown")
    until(page, "document.getElementById('report').contentDocument.body.dataset.drawn")
    time.sleep(1.0)
    page.execute_script("scrollTo(0, 0)")
    if name == "desktop-light":
        save_moving([*shots, picture(page)], out / "fit-as-it-happens.gif")
    save(picture(page), out / f"analyse-{name}.png")


def laboratory(app: App, page: Any, out: Path, name: str) -> None:
    """The diagonal network ahead of the other."""
    page.get(app.fresh_address().replace("/?", "/laboratory?"))
    page.find_element("id", "start").click()
    until(page, "document.body.dataset.state === 'done'")
    page.execute_script("scrollTo(0, arguments[0])", 400 if "phone" in name else 0)
    time.sleep(0.5)
    save(picture(page), out / f"laboratory-{name}.png")


SCREENS = tuple(
    (screen, size, dark)
    for screen in (analyse, laboratory)
    for size in (DESKTOP, PHONE)
    for dark in (False, True)
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
