"""HTML becomes pixels, and each icon the box of its painted pixels. One Chromium, one page, no network.

A picture with an icon and one without differ in its pixels, and nowhere else. The document tells where an icon's
element lies; what is painted there, under badges and edges, only pixels tell.
"""

import io
import shutil
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from data.making.detector.page import Viewport
from indexer.arrays import Pixels
from indexer.errors import RenderError
from search.evaluation.screens import ScreenIcon

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


_MARGIN = 2
"""Pixels around an element in which its icon may be painted, too."""
_LEAST_PEAK = 24
"""Of 255: an icon of less contrast than that isn't seen."""
_LEAST_CHANGE = 8
_SHARE_OF_PEAK = 0.1
"""A pixel belongs to an icon if it changes by that much of what the icon's strongest pixel does."""
_LEAST_SIDE = 4
_LEAST_PIXELS = 8

_MARKED = """() => [...document.querySelectorAll('[data-icon]')].map(element => {
  const box = element.getBoundingClientRect();
  return {key: element.dataset.icon, drawn: element.dataset.drawn, box: [box.left, box.top, box.right, box.bottom]};
})"""
_HIDE = """places => document.querySelectorAll('[data-icon]').forEach(
  (element, place) => element.classList.toggle('icon-off', places.includes(place)))"""


@dataclass(frozen=True, slots=True)
class Marked:
    """An icon's element: the icon, how it is drawn, and its rectangle in pixels of the picture, grown by a margin."""

    key: str
    drawn: str
    corners: tuple[int, int, int, int]


def painted_icons(browser: Browser, *, scale: float) -> tuple[Pixels, list[ScreenIcon]]:
    """Take a picture of what `browser` shows, and find the painted box of each icon that can be seen."""
    whole = browser.pixels()
    height, width = whole.shape[:2]
    marked = [_marked(one, scale, (width, height)) for one in browser.run(_MARKED)]
    icons: dict[int, ScreenIcon] = {}
    for places in without_touching([one.corners for one in marked]):
        browser.run(_HIDE, places)
        change = _change(whole, browser.pixels())
        for place in places:
            one = marked[place]
            if box := painted_box(change, one.corners):
                icons[place] = ScreenIcon(box=box, key=one.key, drawn=one.drawn)
    return whole, [icons[place] for place in sorted(icons)]


def without_touching(corners: list[tuple[int, int, int, int]]) -> list[list[int]]:
    """Share rectangles out so that no two of a group touch; those without an area are left out."""
    groups: list[list[int]] = []
    for place, box in enumerate(corners):
        if box[0] >= box[2] or box[1] >= box[3]:
            continue
        for group in groups:
            if not any(_touch(box, corners[other]) for other in group):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def painted_box(
    change: NDArray[np.uint8], corners: tuple[int, int, int, int]
) -> tuple[float, float, float, float] | None:
    """The tight box around what has changed inside a rectangle; None where that is too little to be seen."""
    left, top, right, bottom = corners
    inside = change[top:bottom, left:right]
    peak = int(inside.max(initial=0))
    if peak < _LEAST_PEAK:
        return None
    is_painted = inside >= max(_LEAST_CHANGE, peak * _SHARE_OF_PEAK)
    columns, rows = np.flatnonzero(is_painted.any(axis=0)), np.flatnonzero(is_painted.any(axis=1))
    width, height = columns[-1] + 1 - columns[0], rows[-1] + 1 - rows[0]
    if max(width, height) < _LEAST_SIDE or is_painted.sum() < _LEAST_PIXELS:
        return None
    at, down = left + int(columns[0]), top + int(rows[0])
    return float(at), float(down), float(at + width), float(down + height)


def _marked(one: dict[str, object], scale: float, size: tuple[int, int]) -> Marked:
    box = np.asarray(one["box"], np.float64) * scale
    low = np.clip(np.floor(box[:2]) - _MARGIN, 0, size).astype(int)
    high = np.clip(np.ceil(box[2:]) + _MARGIN, 0, size).astype(int)
    return Marked(str(one["key"]), str(one["drawn"]), (int(low[0]), int(low[1]), int(high[0]), int(high[1])))


def _touch(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _change(one: Pixels, other: Pixels) -> NDArray[np.uint8]:
    """How far each pixel has changed in the channel that has changed most, (height, width)."""
    return np.asarray((np.maximum(one, other) - np.minimum(one, other)).max(axis=2), np.uint8)
