"""How does HTML become pixels? One Chromium, one page, no network."""

import io
import shutil
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from PIL import Image

from data.making.detector.page import Viewport
from indexer.arrays import Pixels
from indexer.errors import RenderError

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The first has no window to paint, and takes four fifths of the time."""
_ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"),
    *("--disable-lcd-text", "--force-color-profile=srgb", "--disable-dev-shm-usage"),
)
_PAINTED = "() => document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => done())))"


def find_browser() -> str | None:
    """The path of a Chromium of this machine."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A page that shows one document after another."""

    def __init__(self, page: Any, session: Any) -> None:
        self._page = page
        self._session = session

    @classmethod
    def of(cls, page: Any) -> "Browser":
        """What shows documents in a page of playwright's."""
        return cls(page, page.context.new_cdp_session(page))

    def resize(self, viewport: Viewport) -> None:
        """Give the window a size and a scale."""
        width, height, scale = viewport
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self._session.send("Emulation.setDeviceMetricsOverride", metrics)

    def show(self, document: str, viewport: Viewport) -> None:
        """Show a document, and wait until its pictures and fonts are there."""
        self.resize(viewport)
        self._page.set_content(document, wait_until="load")
        self._page.evaluate(_PAINTED)

    def run(self, script: str, argument: object = None) -> Any:
        """What a function of JavaScript says."""
        return self._page.evaluate(script, argument)

    def pixels(self) -> Pixels:
        """What is shown, RGB (height, width, 3)."""
        options = {"format": "png", "optimizeForSpeed": True}
        answer = self._session.send("Page.captureScreenshot", options)
        with Image.open(io.BytesIO(b64decode(answer["data"]))) as picture:
            return np.asarray(picture.convert("RGB"))


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium without a network.

    Raises:
        RenderError: playwright or a browser is missing.
    """
    with open_chromium() as chromium:
        context = chromium.new_context(offline=True, device_scale_factor=1)
        yield Browser.of(context.new_page())


@contextmanager
def open_chromium() -> Iterator[Any]:
    """Start Chromium, as playwright has it.

    Raises:
        RenderError: playwright or a browser is missing.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise RenderError("screens are drawn by playwright, which is not here; pip install -e '.[making]'") from error
    program = find_browser()
    if program is None:
        raise RenderError(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        try:
            yield chromium
        finally:
            chromium.close()
