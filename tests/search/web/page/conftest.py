"""A served library of real icons, and a real browser that looks at its page."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Once, index_bundled
from known_screens import plain_sight, saved, screen
from site_of_icons import Open, serve_library, write_icons
from tools import lacking

from data.making.detector.browser import PROGRAMS, find_browser
from indexer.library.folder import Library
from indexer.screens.add import AddOptions, add
from search.engine import SearchEngine

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"),
    "--process-per-site",  # pages of one context share a process: to start one is half of what a page takes
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
def library_of_page(once: Once) -> Library:
    """A library of 100 icons."""
    built = once("page", lambda folder: index_bundled(folder / "library", *write_icons(folder)))
    return Library(built / "library")


@pytest.fixture(scope="package")
def site(browser: "Browser", request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of that library, served; without a browser nothing is built."""
    with serve_library(request.getfixturevalue("library_of_page")) as address:
        yield address


@pytest.fixture(scope="package")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of screenshots: both have a house, one of them two hearts."""
    folder = tmp_path_factory.mktemp("used-on-page") / "shots"
    folder.mkdir()
    return folder


@pytest.fixture(scope="package")
def used_site(shots: Path, library_of_page: Library) -> Iterator[str]:
    """Address of the library, served, that knows two screenshots."""
    library = Library(shutil.copytree(library_of_page.root, shots.parent / "library"))
    engine = SearchEngine.open(library.root)
    saved(screen(engine, ["house", "heart", "trash-2", "heart"]), shots / "account.png")
    saved(screen(engine, ["house", "settings"], ground=(18, 20, 26), ink=(235, 235, 240)), shots / "b.png")
    add(library, AddOptions(shots=[shots], workers=1), lambda *_: None, sight=plain_sight(library))
    with serve_library(library) as address:
        yield address


ANEW = """async (path) => {
  const find = (selector) => document.querySelector(selector);
  if (find(":popover-open:not(#toast), dialog[open]:not(#detail)")) return false;
  if (find("#look:not([hidden]), #drawing:not([hidden]), #screen > *")) return false;
  if (find("#select")?.ariaPressed !== "false") return false;
  if (![Storage.prototype.setItem, IDBObjectStore.prototype.put].every((one) => /native/.test(one))) return false;
  const go = (address) => { history.pushState(null, "", address); dispatchEvent(new PopStateEvent("popstate")); };
  dispatchEvent(new StorageEvent("storage"));
  go("/?collection=-"); // of no icons
  for (let n = 0; find("#grid .cell") || find("#found").ariaBusy !== "false"; n += 1) {
    if (n === 100) return false;
    await new Promise((resolve) => { setTimeout(resolve, 10); });
  }
  for (const said of ["#toast", "#live"]) find(said).textContent = "";
  scrollTo(0, 0);
  find("#words").focus();
  go(path);
  return true;
}"""
"""Go to an address without a reload, most of what a test takes, unless something is open that no address has."""


@pytest.fixture(scope="package")
def front(browser: "Browser", site: str) -> Iterator["Page"]:
    """The page that tests use one after another."""
    context = browser.new_context(permissions=GRANTED, **WINDOW)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(site)
    yield page
    context.close()


@pytest.fixture
def open_page(browser: "Browser", site: str, front: "Page") -> Iterator[Open]:
    """Open the page with nothing stored; a second one, or one that looks otherwise, in a context of its own.

    What the browser complains of fails the test, but for what it forgives.
    """
    complaints: list[str] = []
    pages: list[Page] = []
    with ExitStack() as ends:

        def open_path(
            path: str = "/", *, base: str = site, forgives: str = "\0", anew: bool = False, **options: object
        ) -> "Page":
            def hear(said: "ConsoleMessage") -> None:
                is_late_probe = said.location["url"].endswith("/health")  # two seconds are little on a busy machine
                if said.type in ("error", "warning") and not is_late_probe and forgives not in said.text:
                    complaints.append(said.text)

            page = front
            is_own = bool(options or base != site or pages)
            if is_own:
                context = browser.new_context(permissions=GRANTED, **{**WINDOW, **options})  # type: ignore[arg-type]
                ends.callback(context.close)
                page = context.new_page()
            pages.append(page)
            page.set_default_timeout(PATIENCE_MS)
            page.on("console", hear)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            if is_own or anew or not page.evaluate(ANEW, path):
                page.goto(f"{base}{path}")
            return page

        yield open_path
    front.unroute_all(behavior="ignoreErrors")
    front.evaluate("() => localStorage.clear()")
    front.mouse.move(0, 0)
    front.context.set_offline(False)
    assert complaints == []


@pytest.fixture
def page(open_page: Open) -> "Page":
    return open_page()
