"""A person looks at a mapping, chooses another icon, and saves what was chosen."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from search.code.choices import mapping_page
from search.code.map import Candidate, IconMapping, Mapped, Name

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    b'<script>document.title="no"</script><path d="M2 2h9v9z"/></svg>'
)
NAMES = ("home", "bell", 'a"<b>')
HOME, BELL, STAR = (Candidate(Name("to", name), number, number) for number, name in enumerate(NAMES))


@pytest.fixture
def mapped() -> Mapped:
    sure = IconMapping(Name("from", "house"), 9, [HOME, BELL], 0.95, is_doubtful=False)
    odd = IconMapping(Name("from", 'x,"<i>'), None, [BELL, STAR, HOME], 0.4, is_doubtful=True)
    return Mapped("to", [sure, odd])


def test_a_person_chooses_and_saves(browser: "Browser", mapped: Mapped, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(mapping_page(mapped, lambda images: [(image, SVG) for image in images]))
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(file.as_uri())
    expect(page).to_have_title("from to to")
    rows = page.locator("li")
    expect(rows.first).to_contain_text("doubtful 40%")
    expect(rows.first).to_contain_text("by name alone")
    expect(page.locator("#count")).to_have_text("1 doubtful left, 0 chosen")
    page.get_by_label("doubtful only").check()
    expect(rows.nth(1)).to_be_hidden()
    rows.first.get_by_label('a"<b>').check(force=True)
    expect(page.locator("#count")).to_have_text("0 doubtful left, 1 chosen")
    page.get_by_label("doubtful only").uncheck()
    rows.nth(1).get_by_label("none").press("Space")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as CSV").click()
    saving.value.save_as(tmp_path / "mapping.csv")
    with (tmp_path / "mapping.csv").open(newline="") as lines:
        saved = {row["source"]: row for row in csv.DictReader(lines)}
    assert saved['from:x,"<i>']["target"] == 'to:a"<b>'
    assert saved['from:x,"<i>']["doubtful"] == ""
    assert saved["from:house"]["target"] == ""
    assert complaints == []
    page.close()
