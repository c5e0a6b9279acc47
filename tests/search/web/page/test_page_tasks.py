"""Ten icons for a settings page, by hand on the page: the steps of docs/tasks.md. Writes docs/tasks-tray.png.

ICONS_NODE_MODULES names a folder of npm packages: `npm install @iconify-json/fa6-solid @iconify-json/lucide`.
"""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from site_of_icons import Open, build_library, serve_library

from indexer.library.folder import Library

DOCS = Path(__file__).parents[4] / "docs"
_NEEDS = [line for line in (DOCS / "needs.txt").read_text("utf-8").splitlines() if line and not line.startswith("#")]


@pytest.fixture
def two_sets(tmp_path: Path) -> Library:
    """The library of the tasks: Font Awesome and Lucide."""
    packages = os.environ.get("ICONS_NODE_MODULES")
    if not packages:
        pytest.skip("ICONS_NODE_MODULES names no folder of npm packages; the first lines of this file say which")
    sources = [Path(packages, "@iconify-json", key) for key in ("fa6-solid", "lucide")]
    return build_library(tmp_path / "library", *sources)


@pytest.mark.slow
def test_ten_icons_are_chosen_and_copied_as_code_in_as_many_steps_as_told(open_page: Open, two_sets: Library) -> None:
    with serve_library(two_sets) as site:
        page = open_page("/", base=site, viewport={"width": 1280, "height": 800})
        page.locator('#filters [data-kind="set"]').click()
        page.locator("#menu .option", has_text="Lucide").click()
        expect(page).to_have_url(re.compile("set=lucide"))
        page.locator("#words").click()
        steps = 3
        for number, need in enumerate(_NEEDS):
            page.keyboard.type(need)
            expect(page.locator("#summary")).to_contain_text(f"“{need}”")
            for key in ("Enter", "x", "/"):
                page.keyboard.press(key)
            steps += 4
            expect(page.locator("#tray strong")).to_have_text(re.compile(rf"^{number + 1} icons?$"))
        expect(page.locator("#grid .set").filter(has_not_text="Lucide")).to_have_count(0)
        page.wait_for_timeout(500)  # for pictures that fade in
        page.screenshot(path=DOCS / "tasks-tray.png")
        page.get_by_role("button", name="Copy all as …").click()
        page.get_by_role("menuitemradio", name="Lucide for React", exact=True).click()
        steps += 2
        expect(page.locator("#toast")).to_contain_text("Copied")
        code = page.evaluate("navigator.clipboard.readText()")
        text = (DOCS / "tasks.md").read_text("utf-8")
        [told] = re.findall(r"\| (\d+) steps \|", text)
        assert steps == int(told)
        [pasted] = re.findall(r"^import .*lucide-react.*$", text, re.MULTILINE)
        assert code.splitlines()[0] == pasted
