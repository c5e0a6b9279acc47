"""A served library of real icons, and a real browser that looks at its page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from site_of_icons import Open, build_library, serve_library, write_icons
from tools import lacking

from data.making.detector.browser import PROGRAMS, find_browser
from indexer.library.folder import Library

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"),
    "--process-per-site",  # pages of one context share a process: to start one is half of what a page takes
    *(
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
    ),  # a camera that sees a pie, once a test lets the page use it
)
PATIENCE_MS = 120_000
"""Until a page is said to hang: no test is about the speed of the machine."""
GRANTED = ["clipboard-read", "clipboard-write"]
WINDOW = {"viewport": {"width": 1280, "height": 860}}


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    """A browser for this folder alone: while playwright is open, no other test can run an event loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Python's playwright: pip install '.[test]'")
    program = find_browser()
    if program is None:
        lacking(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    playwright.expect.set_options(timeout=PATIENCE_MS)
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def library_of_page(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library of 100 icons."""
    root = tmp_path_factory.mktemp("page")
    return build_library(root / "library", *write_icons(root))


@pytest.fixture(scope="package")
def site(browser: "Browser", request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of that library, served; without a browser nothing is built."""
    with serve_library(request.getfixturevalue("library_of_page")) as address:
        yield address


@pytest.fixture(scope="package")
def kept(browser: "Browser", site: str) -> Iterator["Page"]:
    """A page that stays, in the context that tests use one after another: it keeps the process of the others alive."""
    context = browser.new_context(permissions=GRANTED, **WINDOW)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{site}/health")
    yield page
    context.close()


@pytest.fixture
def used_context(kept: "Page") -> Iterator["BrowserContext"]:
    """The context that tests use one after another: each leaves it with nothing stored and nothing allowed."""
    context = kept.context
    yield context
    for page in context.pages:
        if page != kept:
            page.close()
    context.set_offline(False)
    context.clear_permissions()
    context.grant_permissions(GRANTED)
    context.clear_cookies()
    kept.evaluate("() => localStorage.clear()")


@pytest.fixture
def open_page(browser: "Browser", site: str, used_context: "BrowserContext") -> Iterator[Open]:
    """Open the page with nothing stored; a second one, or one that looks otherwise, in a context of its own.

    What the browser complains of fails the test, but for what it forgives.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_path(path: str = "/", *, base: str = site, forgives: str = "\0", **options: object) -> "Page":
        def is_complaint(said: "ConsoleMessage") -> bool:
            is_late_probe = said.location["url"].endswith("/health")  # two seconds are little on a busy machine
            return said.type in ("error", "warning") and not is_late_probe

        def note(text: str) -> None:
            if forgives not in text:
                complaints.append(text)

        context = used_context
        if options or base != site or len(context.pages) > 1:
            context = browser.new_context(permissions=GRANTED, **{**WINDOW, **options})  # type: ignore[arg-type]
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
