"""Ten icons for a settings page, by hand on the page: the steps of docs/tasks.md. Writes docs/tasks-tray.png."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from site_of_icons import Open, build_library, serve_library

DOCS = Path(__file__).parents[4] / "docs"
_NEEDS = [line for line in (DOCS / "needs.txt").read_text("utf-8").splitlines() if line and not line.startswith("#")]


@pytest.mark.slow
def test_ten_icons_are_chosen_and_copied_as_code_in_as_many_steps_as_told(open_page: Open, tmp_path: Path) -> None:
    with serve_library(build_library(tmp_path / "samples")) as site:
        page = open_page("/", base=site, viewport={"width": 1280, "height": 800})
        page.set_default_timeout(60_000)
        steps = 0
        for number, need in enumerate(_NEEDS):
            page.keyboard.type(need)
            expect(page.locator("#summary")).to_contain_text(f"“{need}”")
            for key in ("Enter", "x", "/"):
                page.keyboard.press(key)
            steps += 4
            expect(page.locator("#tray strong")).to_have_text(re.compile(rf"^{number + 1} icons?$"))
        page.wait_for_timeout(500)  # for pictures that fade in
        page.screenshot(path=DOCS / "tasks-tray.png")
        page.get_by_role("button", name="Copy all as …").click()
        page.get_by_role("menuitemradio", name="Lucide for React", exact=True).click()
        steps += 2
        expect(page.locator("#toast")).to_contain_text("Copied")
        code = page.evaluate("navigator.clipboard.readText()")
        assert len(re.findall(r"<[A-Z]\w+ />", code)) == len(_NEEDS) == 10
        assert "User, Bell, EyeOff, Moon" in code
        [told] = re.findall(r"\| (\d+) steps \|", (DOCS / "tasks.md").read_text("utf-8"))
        assert steps == int(told)
