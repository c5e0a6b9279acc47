"""What a person does on the page step by step, and what is seen after each: searches, filters, pictures, and back."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from site_of_icons import Open, Text, click, shows
from test_page_pictures import drop_screen

if TYPE_CHECKING:
    from playwright.sync_api import Page

Step = tuple[str, Mapping[str, Text | bool | int], str]
"""What is done, what is seen then, and what the address is like."""
_TILE, _ARROW = "#grid button.tile", '#grid .tile:has(.set:text-is("drawn")) .name:text-is("arrow-left")'
STORIES: dict[str, tuple[str, list[Step]]] = {  # by what holds: where it begins, and its steps
    "nothing good is told honestly, and the nearest are shown on demand": (
        "/?q=qxzvkj&min_score=1&set=drawn",
        [
            ("see", {**dict.fromkeys((".nothing h2", "#live"), "Nothing good found for “qxzvkj”"), _TILE: False}, ""),
            ("click Show the nearest icons anyway", {_TILE: True, ".remark": re.compile("nearest icons")}, "score=0"),
            ("fill french revolution", {"#summary": re.compile("“french revolution”")}, "^(?!.*min_score)"),
        ],
    ),
    "a misspelt word gets a suggestion, and what is only nearest is called so": (
        "/?q=french+revolution&min_score=0",
        [
            ("see", {"#summary": "No good match for “french revolution”. These come nearest."}, ""),
            ("fill arow left", {"#notice": re.compile("Did you mean arrow left")}, ""),
            ("click arrow left", {"#grid .name": "arrow-left"}, "q=arrow\\+left"),
        ],
    ),
    "an address that makes no sense opens the page all the same": (
        "/?q=heart&px=9999&bg=javascript:1&at=-3&min_score=7&open=abc&animated=maybe#picture=%%",
        [("see", {"#grid .name": "heart", "#size output": "128 px", "#detail": False}, "")],
    ),
    "variants are one tile that tells their number until every one is wanted": (
        "/?fold=0&q=arrow+left",
        [
            ("see", {'#grid .set:text-is("2 in drawn")': 1}, ""),
            ('at #filters [data-kind="more"]', {"#menu": True}, ""),
            ('at #menu [data-kind="flat"]', {_ARROW: 2}, "flat=1"),
        ],
    ),
    "back and forward go through searches, not keystrokes": (
        "/",
        [
            ("type heart", {"#grid .name": "heart"}, ""),
            (f"at {_TILE}", {"#detail": True}, ""),
            ("back", {"#detail": False, "#grid .name": "heart"}, ""),
            ("back", {"#start": True}, ""),
            ("forward", {"#grid .name": "heart"}, "q=heart"),
        ],
    ),
    "filters stay when words change, and when more like an icon is asked": (
        "/?q=arrow&set=drawn",
        [
            ("fill night", {"#summary": re.compile("“night”")}, "q=night&set=drawn"),
            (f"at {_TILE}", {"#detail": True}, ""),
            ("click More like this", {"#detail": False, "#like": True, _TILE: True}, "\\?icon=\\d+&set=drawn"),
            ("see", {'#grid .set:text("lucide-static")': 0}, ""),
            ("click Clear the search", {"#summary": re.compile("in drawn")}, "/\\?set=drawn$"),
            ("at .brand", {"#start": True}, "^(?!.*set=)"),
        ],
    ),
    "icons of a pinned set come first": (
        "/?q=arrow-left&set=drawn",
        [
            (f"at {_TILE}", {"#detail [data-key=pin]": "Pin"}, ""),
            ("at #detail [data-key=pin]", {"#detail [data-key=pin]": "Pinned"}, "prefer=drawn"),
            ("go /?q=arrow-left&prefer=drawn&fold=0", {"#grid .tile .set": re.compile("drawn")}, ""),
            ('at .chip:has-text("Pinned: drawn")', {"#grid .tile .set": "lucide-static"}, "^(?!.*prefer=)"),
            ("at .brand", {'.set-card .pin[aria-pressed="true"]': 1}, ""),
        ],
    ),
    "searches and opened icons come back, and are forgotten on demand": (
        "/",
        [
            ("type heart", {"#recent": False, "#live": re.compile("“heart”")}, ""),
            (f"at {_TILE}", {"#detail-name": "heart"}, ""),
            ("go /", {"#recent-searches li": ["heart"]}, ""),  # not its beginnings
            ("at #recent-icons button", {"#detail-name": "heart"}, ""),
            ("at #recent-searches button", {"#grid .name": "heart"}, "q=heart"),
            ("at .brand", {"#recent": True}, ""),
            ("at #forget", {"#recent": False}, ""),
            ("reload", {"#start": True, "#recent": False}, ""),
        ],
    ),
    "a frame opens its hits, which open like any other": (
        "/",
        [
            ("drop", {".found-icon": 5}, ""),
            ("at .found-icon >> nth=2", {"#summary": re.compile("like the framed icon"), "#grid .name": "bell"}, ""),
            ("at #grid .tile", {"#detail-name": "bell", ".row[aria-pressed=true]": re.compile("bell")}, ""),
            ("click Search with this part of the picture", {"#summary": re.compile("your picture")}, "#picture="),
            ("back", {".found-icon[aria-pressed=true]": 1, ".row[aria-pressed=true]": re.compile("bell")}, ""),
        ],
    ),
    "a person keeps all that are sure, and says what a picture shows": (
        "/",
        [
            ("drop", {".found-icon": 5}, ""),
            ("at .names-head .primary", {"#tray strong": "5 icons"}, ""),
            ('at #shows label:has-text("One icon")', {"#summary": re.compile("your picture")}, "#picture="),
            ('at #shows label:has-text("Whole screen")', {".found-icon": 5}, ""),
            ("fill bell", {"#screen": False, "#grid .name": "bell"}, ""),
            ("back", {".found-icon": 5}, ""),
        ],
    ),
    "a picture without icons says so, and can be searched all the same": (
        "/",
        [
            ("drop nothing", {"#screen h2:visible": "No icons here", "#shows :checked": 0, "#found": False}, ""),
            ("at #screen .ways button >> nth=1", {"#crop": True}, ""),
            ("press Escape", {"#crop": 0}, ""),
            ("click Search it as one icon", {"#picture": True, '#shows [value="icon"]:checked': 1}, ""),
            ("see", {"#screen": False}, ""),
        ],
    ),
}
QUICK = next(iter(STORIES))
"""What the gate looks at."""


def _do(page: "Page", step: str) -> None:
    kind, _, what = step.partition(" ")
    words, origin = page.locator("#words"), page.evaluate("() => location.origin")
    {
        "see": lambda: None,
        "fill": lambda: words.fill(what),
        "type": lambda: words.press_sequentially(what),
        "click": lambda: click(page, what),
        "at": page.locator(what).first.click,
        "press": lambda: page.keyboard.press(what),
        "drop": lambda: drop_screen(page, is_empty=bool(what)),
        "go": lambda: page.goto(f"{origin}{what}"),
        "back": page.go_back,
        "forward": page.go_forward,
        "reload": page.reload,
    }[kind]()


@pytest.mark.parametrize(
    "story", [pytest.param(story, marks=() if story == QUICK else pytest.mark.slow) for story in STORIES]
)
def test_it_goes_as_told(open_page: Open, story: str) -> None:
    begins, steps = STORIES[story]
    page = open_page(begins)
    for does, seen, address in steps:
        _do(page, does)
        shows(page, seen, url=address)
