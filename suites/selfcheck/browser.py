"""A real headless Chromium, for the selfchecks of pages and for whoever wants to see one.

``python -m suites.selfcheck.browser PAGE PICTURE [--width 1280] [--height 1400] [--dark] [--from SELECTOR]`` takes a
picture of a page, from its top or from the first element that the selector finds.
"""

import argparse
import base64
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from suites.selfcheck.skips import Missing, skip_missing

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

TOO_WIDE = """
    const edge = document.documentElement.clientWidth + 1;
    return [...document.querySelectorAll('body *')]
      .filter(e => e.getBoundingClientRect().right > edge && !e.closest('.filter, .scroll, .sprite'))
      .map(e => e.tagName + ' ' + e.className)
"""
CLIPPED = """
    return [...document.querySelectorAll('.picture text, .timeline text')].filter(text => {
      const word = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
      return word.right > frame.right || word.left < frame.left || word.bottom > frame.bottom || word.top < frame.top;
    }).map(text => text.textContent)
"""


@contextmanager
def opened(profile: Path, *more: str) -> Iterator[webdriver.Chrome]:
    """A browser with an empty profile of its own; the typed skip where this machine has none."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None:
        skip_missing(Missing.CHROMIUM, remedy="apt-get install chromium chromium-driver")
    if driver is None:
        skip_missing(Missing.CHROMEDRIVER, remedy="apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, *more, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield chromium
    finally:
        chromium.quit()


def visit(
    chromium: webdriver.Chrome, address: str, *, width: int = 1280, height: int = 900, scheme: str = "light"
) -> webdriver.Chrome:
    """Open a page at a width in CSS pixels, in light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preferred = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", preferred)
    chromium.get("about:blank")
    chromium.get(address)
    return chromium


def run(chromium: webdriver.Chrome, script: str) -> Any:
    """What a script in the page returns."""
    return chromium.execute_script(script)


def said(chromium: webdriver.Chrome) -> list[dict[str, Any]]:
    """What the page has put on the console since the last visit."""
    lines: list[dict[str, Any]] = chromium.get_log("browser")  # type: ignore[no-untyped-call]
    return lines


def shot(chromium: webdriver.Chrome, picture: Path, *, width: int, height: int, selector: str | None = None) -> None:
    """Write a PNG of the visited page, ``height`` CSS pixels from its top or from the element on."""
    top = 0.0
    if selector is not None:
        top = chromium.execute_script(
            "return document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY", selector
        )
    clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
    asked = {"format": "png", "clip": clip, "captureBeyondViewport": True}
    picture.write_bytes(base64.b64decode(chromium.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]))


def main() -> None:
    """See the module's docstring."""
    words = argparse.ArgumentParser(description="Take a picture of a page.")
    words.add_argument("page", type=Path)
    words.add_argument("picture", type=Path)
    words.add_argument("--width", type=int, default=1280)
    words.add_argument("--height", type=int, default=1400)
    words.add_argument("--dark", action="store_true")
    words.add_argument("--from", dest="selector", default=None)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as profile, opened(Path(profile), "--hide-scrollbars") as chromium:
        visit(chromium, given.page.absolute().as_uri(), width=given.width, scheme="dark" if given.dark else "light")
        shot(chromium, given.picture, width=given.width, height=given.height, selector=given.selector)


if __name__ == "__main__":
    main()
