"""A served library of real icons, and a real browser that looks at its page."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from site_of_icons import Open, build_library, serve_library, write_icons
from tools import lacking

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"),
    "--use-fake-device-for-media-stream",  # a camera that sees a pie, once a test lets the page use it
)
PATIENCE_MS = 120_000
"""Until a page is said to hang: no test is about the speed of the machine."""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    """A browser for this folder alone: while playwright is open, no other test can run an event loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Python's playwright: pip install '.[test]'")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        lacking(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    playwright.expect.set_options(timeout=PATIENCE_MS)
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture(scope="package")
def site(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a served library of 100 icons; without a browser nothing is built."""
    root = tmp_path_factory.mktemp("page")
    with serve_library(build_library(root / "library", *write_icons(root))) as address:
        yield address


@pytest.fixture
def open_page(browser: "Browser", site: str) -> Iterator[Open]:
    """Open the page in a context of its own. What the browser complains of fails the test, but for what it forgives."""
    contexts = []
    complaints: list[str] = []

    def open_path(path: str = "/", *, base: str = site, forgives: str = "\0", **options: object) -> "Page":
        def is_complaint(said: "ConsoleMessage") -> bool:
            is_late_probe = said.location["url"].endswith("/health")  # two seconds are little on a busy machine
            return said.type in ("error", "warning") and not is_late_probe

        def note(text: str) -> None:
            if forgives not in text:
                complaints.append(text)

        granted = ["clipboard-read", "clipboard-write"]
        context = browser.new_context(permissions=granted, **{"viewport": {"width": 1280, "height": 860}, **options})  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda said: note(said.text) if is_complaint(said) else None)
        page.on("pageerror", lambda error: note(str(error)))
        page.goto(f"{base}{path}")
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_page: Open) -> "Page":
    return open_page()
