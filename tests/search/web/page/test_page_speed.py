"""How long is it from a keystroke to painted results? Prints the figures.

Of the bundled samples:      pytest -m slow -s tests/search/web/page/test_page_speed.py
Of a library that is served: ICONS_PAGE=http://127.0.0.1:8000 pytest -m slow -s tests/search/web/page/test_page_speed.py
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from site_of_icons import Open, build_library, serve_library

WORDS = ("settings", "arrow left", "shopping cart", "go back", "a cup with steam", "danger", "moon")
_WATCH = """() => {
  window.keystrokes = [];
  const inSight = (image) => {
    const { top, bottom } = image.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const settled = () => document.querySelector("#found").getAttribute("aria-busy") === "false"
    && [...document.images].every((image) => !inSight(image) || (image.src && image.complete));
  document.querySelector("#words").addEventListener("input", (event) => {
    if (!event.target.value) return; // what is cleared is no keystroke
    const look = () => {
      if (!settled()) return void requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => window.keystrokes.push(performance.now() - event.timeStamp)));
    };
    setTimeout(look); // after the page's own listener has begun to ask
  }, true);
}"""
"""A keystroke counts until every name and every picture in sight is there, and a frame with them was painted."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    served = os.environ.get("ICONS_PAGE")
    if served:
        yield served.rstrip("/")
    else:
        with serve_library(build_library(tmp_path / "samples")) as address:
            yield address


@pytest.mark.slow
def test_results_are_painted_soon_after_a_keystroke(address: str, open_page: Open) -> None:
    page = open_page("/", base=address)
    page.evaluate(_WATCH)
    box = page.locator("#words")
    for words in WORDS:
        box.fill("")
        expect(page.locator("#start")).to_be_visible()
        page.wait_for_load_state("networkidle")
        for letter in words:
            before = page.evaluate("() => window.keystrokes.length")
            box.press_sequentially(letter)
            page.wait_for_function("before => window.keystrokes.length > before", arg=before)
    times = np.array(page.evaluate("() => window.keystrokes"))
    assert len(times) == sum(map(len, WORDS))
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    print(
        f"\nkeystroke to painted results, {len(times)} keystrokes: p50 {p50:.0f} ms, p90 {p90:.0f} ms, p99 {p99:.0f} ms"
    )
    assert p50 < 1000  # the goal is 100 on a quiet machine; this holds on a busy one too
