"""Pictures of reports, notebook and site for README and docs: ``make screenshots``.

Needs Chromium and its driver, and the built site (``make docs``) for pictures of it.
"""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver

from robustfourier import PeriodicMixture
from robustfourier.analysis import analyse
from robustfourier.datasets import load_double_mode_cepheid
from robustfourier.plots.figure_files import few_colours

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
SITE = DOCS.parent / "out" / "site"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)
STAR = DOCS.parent / "src" / "robustfourier" / "datasets" / "double_mode_cepheid.csv"


def browser() -> Any:
    """Headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chrome") or ""
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def shot(
    driver: Any, page: Path, name: str, width: int, height: int, *, looks: str = "light"
) -> None:
    """Save the top of a page as seen so wide: light, dark, or as it is printed."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if looks == "dark" else "light"}
    media = {"media": "print" if looks == "print" else "", "features": [scheme]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(page.as_uri())
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    taken = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    image = Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
    path = FIGURES / f"{name}.png"
    few_colours(image).save(path, optimize=True)
    print(f"{path} ({path.stat().st_size / 1e3:.0f} kB)")


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, browser() as driver:
        out = Path(folder) / "star"
        analyse(STAR, out=out, called="example:double_mode_cepheid")
        report = out / "report.html"
        shot(driver, report, "report", 1100, 1290)
        shot(driver, report, "report-phone", 390, 844)
        shot(driver, report, "report-dark", 1100, 1290, looks="dark")
        shot(driver, report, "report-print", 794, 1123, looks="print")
        star = load_double_mode_cepheid()
        model = PeriodicMixture(unit="day").fit(star.times, star.values, y_err=star.errors)
        cell = Path(folder) / "cell.html"
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


if __name__ == "__main__":
    main()
