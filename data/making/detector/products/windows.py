"""How is a page of a product shown? In a window of a given size, with all but the product's own files refused."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from data.making.detector.browser import Browser
from data.making.detector.page import Viewport
from data.making.detector.products.files import ORIGIN, Files
from data.making.detector.products.table import View
from indexer.arrays import Pixels

_LOAD_SECONDS = 60
_MOST_PICTURES = 30
_LEAST_CHANGE = 24
"""Of 255: the contrast at which `data.making.detector.browser` sees an icon."""
_MOST_CHANGED = 32
"""Pixels, such as those at the rim of a round portrait."""


@contextmanager
def open_window(chromium: Any, files: Files, view: View, *, viewport: Viewport) -> Iterator[Browser]:
    """Open a product's page, do what its view says, and wait until it stands still."""
    context = chromium.new_context(device_scale_factor=1, service_workers="block")
    try:
        page = context.new_page()
        page.route("**/*", files.answer)
        if files.live:
            page.route_web_socket("**/*", _pass_on(files.live))
        page.emulate_media(color_scheme=view.theme, reduced_motion="reduce")
        browser = Browser.of(page)
        browser.resize(viewport)
        if view.before:
            page.add_init_script(view.before)
        page.goto((files.live or ORIGIN) + view.path, wait_until="load", timeout=_LOAD_SECONDS * 1000)
        if view.waits_for:
            page.wait_for_selector(view.waits_for, timeout=_LOAD_SECONDS * 1000)
        if view.script:
            page.evaluate(view.script)
        time.sleep(view.seconds)  # charts grow and panes slide in; no event tells when they are there
        page.evaluate("() => document.fonts.ready.then(() => 0)")
        yield browser
    finally:
        context.close()


def wait_until_still(browser: Browser) -> None:
    """Wait until two pictures, a second apart, are the same, or half a minute is over."""
    before = browser.pixels()
    for _ in range(_MOST_PICTURES):
        time.sleep(1)
        after = browser.pixels()
        if are_alike(before, after):
            return
        before = after


def are_alike(one: Pixels, other: Pixels) -> bool:
    """Whether two pictures differ by no more than edges that Chromium has smoothed anew."""
    change = (np.maximum(one, other) - np.minimum(one, other)).max(axis=2)
    return int((change >= _LEAST_CHANGE).sum()) <= _MOST_CHANGED


def _pass_on(live: str) -> Callable[[Any], None]:
    """Let the product's own program alone speak through web sockets."""

    def pass_on(opened: Any) -> None:
        if opened.url.startswith(live.replace("http", "ws", 1)):
            opened.connect_to_server()
        else:
            opened.close()

    return pass_on
