"""Pictures of reports, notebook and site for README and docs: ``make screenshots``.

Needs Chromium and its driver, and the built site (``make docs``) for pictures of it.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from pathlib import Path
from typing import Any

from selenium import webdriver

from robustfourier import PeriodicMixture
from robustfourier.analysis import analyse
from robustfourier.datasets import load_double_mode_cepheid

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
    driver: Any, page: Path, name: str, width: int, height: int | None, *, dark: bool = False
) -> None:
    """Save the top of a page, or all of it, as seen so wide."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.get(page.as_uri())
    seen = height or driver.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": seen, "scale": 1}
    taken = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    (FIGURES / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, browser() as driver:
        out = Path(folder) / "star"
        analyse(STAR, out=out, called="example:double_mode_cepheid")
        report = out / "report.html"
        shot(driver, report, "report", 1100, 1560)
        shot(driver, report, "report-phone", 390, 1400)
        shot(driver, report, "report-dark", 1100, 1560, dark=True)
        star = load_double_mode_cepheid()
        model = PeriodicMixture(unit="day").fit(star.times, star.values, y_err=star.errors)
        cell = Path(folder) / "cell.html"
        face = '<meta charset="utf-8"><body style="font-family:sans-serif;font-size:14px">'
        cell.write_text(face + model._repr_html_(), encoding="utf-8")
        shot(driver, cell, "notebook", 860, 330)
        for page, name in (("index", "site-home"), ("gallery/vibration", "site-gallery")):
            if (SITE / f"{page}.html").exists():
                shot(driver, SITE / f"{page}.html", name, 1200, 1000)


if __name__ == "__main__":
    main()
