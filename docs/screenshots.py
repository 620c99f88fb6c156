"""Pictures of reports, notebook, app and site for README and docs: ``make screenshots``.

``python -m docs.screenshots --only TEXT`` makes those whose names hold a text. The app's are
screens of both pages, on a desktop and a phone, light and dark, and a fit as it happens.
Needs Chromium and its driver, and the built site (``make docs``) for pictures of it.
"""

from __future__ import annotations

import argparse
import base64
import io
import shutil
import tempfile
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from benchmarks.app import App, running
from PIL import Image, ImageChops
from selenium import webdriver

from robustfourier import PeriodicMixture
from robustfourier.analysis import analyse
from robustfourier.datasets import load_double_mode_cepheid
from robustfourier.plots.figure_files import few_colours

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
SITE = DOCS.parent / "out" / "site"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--disable-dev-shm-usage"),
)
STAR = DOCS.parent / "src" / "robustfourier" / "datasets" / "double_mode_cepheid.csv"
SCREENS = {"desktop": (1280, 860), "phone": (390, 844)}
MOVING, FRAMES = 96, 9  # colours and pictures of the moving one, at most


def browser() -> Any:
    """Headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chrome") or ""
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def show(driver: Any, width: int, height: int, looks: str) -> None:
    """Make the screen so large, and pages light, dark, or as they are printed."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if looks == "dark" else "light"}
    media = {"media": "print" if looks == "print" else "", "features": [scheme]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def save(image: Image.Image, name: str) -> None:
    """Keep a picture in few colours."""
    path = FIGURES / f"{name}.png"
    few_colours(image).save(path, optimize=True)
    print(f"{path} ({path.stat().st_size / 1e3:.0f} kB)")


def shot(
    driver: Any, page: Path, name: str, width: int, height: int, *, looks: str = "light"
) -> None:
    """Save the top of a page as seen so wide."""
    show(driver, width, 900, looks)
    driver.get(page.as_uri())
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    taken = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    save(Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB"), name)


def pages(driver: Any, folder: Path) -> None:
    """The report, what a notebook shows, and the site."""
    out = folder / "star"
    analyse(STAR, out=out, called="example:double_mode_cepheid")
    report = out / "report.html"
    shot(driver, report, "report", 1100, 1290)
    shot(driver, report, "report-phone", 390, 844)
    shot(driver, report, "report-dark", 1100, 1290, looks="dark")
    shot(driver, report, "report-print", 794, 1123, looks="print")
    star = load_double_mode_cepheid()
    model = PeriodicMixture(unit="day").fit(star.times, star.values, y_err=star.errors)
    cell = folder / "cell.html"
    face = '<meta charset="utf-8"><body style="font-family:sans-serif;font-size:14px">'
    cell.write_text(face + model._repr_html_(), encoding="utf-8")
    height = height_of(driver, cell, 860)
    shot(driver, cell, "notebook", 860, height)
    for page, name in (("index", "site-home"), ("gallery/vibration", "site-gallery")):
        if (SITE / f"{page}.html").exists():
            shot(driver, SITE / f"{page}.html", name, 1200, 1000)


def height_of(driver: Any, page: Path, width: int) -> int:
    """How high the content of a page is."""
    driver.set_window_size(width, 900)
    driver.get(page.as_uri())
    return int(driver.execute_script("return document.body.offsetHeight")) + 16


def picture(page: Any) -> Image.Image:
    """What the screen shows."""
    return Image.open(io.BytesIO(page.get_screenshot_as_png())).convert("RGB")


def until(page: Any, code: str) -> None:
    """Wait until a piece of JavaScript is true."""
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


def save_moving(shots: list[Image.Image]) -> None:
    """Frames one after the other, smaller; what shows nothing new is left out."""
    small = [shot.resize((shot.width * 3 // 5, shot.height * 3 // 5)) for shot in shots]
    new = [small[0]] + [b for a, b in pairwise(small) if ImageChops.difference(a, b).getbbox()]
    chosen = sorted({round(i * (len(new) - 1) / (FRAMES - 1)) for i in range(FRAMES)})
    frames = [few_colours(new[i], MOVING) for i in chosen]
    milliseconds = [700] * (len(frames) - 1) + [3000]
    path = FIGURES / "app" / "fit-as-it-happens.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)
    print(f"{path} ({path.stat().st_size / 1e3:.0f} kB, {len(frames)} of {len(new)} frames)")


def analysis(app: App, page: Any, name: str) -> None:
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
        save_moving([*shots, picture(page)])
    save(picture(page), f"app/analyse-{name}")


def laboratory(app: App, page: Any, name: str) -> None:
    """The diagonal network ahead of the other."""
    page.get(app.fresh_address().replace("/?", "/laboratory?"))
    page.find_element("id", "start").click()
    until(page, "document.body.dataset.state === 'done'")
    page.execute_script("scrollTo(0, arguments[0])", 400 if "phone" in name else 0)
    time.sleep(0.5)
    save(picture(page), f"app/laboratory-{name}")


def main() -> None:
    """Make all pictures, or some."""
    parser = argparse.ArgumentParser(prog="python -m docs.screenshots", description=__doc__)
    parser.add_argument("--only", default="", help="report, or as laboratory-phone-dark of the app")
    only = parser.parse_args().only
    if only in "report":
        with tempfile.TemporaryDirectory() as folder, browser() as driver:
            pages(driver, Path(folder))
    screens = {"analyse": analysis, "laboratory": laboratory}
    wanted = [w for w in product(screens, SCREENS, ("light", "dark")) if only in "-".join(w)]
    if not wanted:
        return
    with running() as app:
        for screen, device, looks in wanted:
            with browser() as driver:
                show(driver, *SCREENS[device], looks)
                screens[screen](app, driver, f"{device}-{looks}")


if __name__ == "__main__":
    main()
