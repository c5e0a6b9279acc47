from pathlib import Path
from random import Random

import pytest

from indexer.screens.browser import Browser
from indexer.screens.icon_pool import IconPool
from indexer.screens.page import Page, Viewport
from indexer.screens.painted import painted_icons
from indexer.screens.render import PHONE, PLAIN, templates_of

HELD_OUT = templates_of("held-out")


@pytest.mark.parametrize("name", sorted(HELD_OUT))
def test_a_held_out_template_shows_icons_unless_it_is_a_plain_one(name: str, iconify: Path, browser: Browser) -> None:
    viewport = Viewport(390, 844, 1) if name.startswith(PHONE) else Viewport(1280, 800, 1)
    page = Page(Random(3), pool=IconPool(iconify, split="held-out"), viewport=viewport)
    browser.show(page.document(HELD_OUT[name](page)), viewport)
    _, icons = painted_icons(browser, scale=1)
    assert (len(icons) == 0) if name.startswith(PLAIN) else (len(icons) >= 8)


def test_at_least_three_held_out_templates_show_no_icon() -> None:
    assert sum(name.startswith(PLAIN) for name in HELD_OUT) >= 3
    assert len(HELD_OUT) >= 12


def test_held_out_templates_know_none_of_the_widgets_that_are_learnt_from() -> None:
    folder = Path(__file__).parents[3] / "indexer/screens/held_out"
    assert not [path.name for path in folder.glob("*.py") if "screens.templates" in path.read_text()]
