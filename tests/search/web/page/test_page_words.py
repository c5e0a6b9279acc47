"""Typing on the page: results, addresses, languages, the start page, and what is said when there is nothing."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from site_of_icons import Open, click, press, requests_of, shows, tile

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

ALL = "() => [document.querySelector('#grid').innerText, document.documentElement.dataset.ground]"


def test_results_come_while_typing_and_the_address_follows(page: "Page") -> None:
    page.locator("#words").press_sequentially("arrow left")
    shows(
        page,
        {
            "#grid .name": "arrow-left",
            "#summary": re.compile("^\\d+ icons? for “arrow left”$"),
        },
        url="\\?q=arrow\\+left$",
    )
    expect(page).to_have_title("arrow left · icons")
    expect(page.locator("#live")).to_have_text(page.locator("#summary").inner_text())
    page.locator("#words").fill("moo*")
    shows(page, {"#grid .name": ["moon"]})  # names that begin so, no meaning


def test_tiles_stand_in_the_order_of_the_search(page: "Page") -> None:
    for words in ("arrow", "undo", "house"):
        page.locator("#words").fill(words)
        shows(page, {"#summary": re.compile(f"“{words}”")})
        answer = page.request.get(f"{page.url.partition('?')[0]}api/v1/search", params={"q": words, "k": 500}).json()
        ranked = [str(hit["id"]) for hit in answer["hits"]]
        shown = page.locator("#grid button.tile").evaluate_all("tiles => tiles.map(one => one.dataset.id)")
        assert len(shown) > 5 and shown == [one for one in ranked if one in shown]  # folded into one tile are some


@pytest.mark.parametrize("width", [1920, *(pytest.param(width, marks=pytest.mark.slow) for width in (720, 390))])
def test_the_start_page_shows_at_first_sight_what_can_be_done(open_page: Open, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 900})
    shows(
        page,
        {
            **{"#library strong": re.compile("^[0-9]+ icons$"), "#sets .mosaic img": True},
            ".hint-card strong": ["Say what it means", "Drop a picture", "Take a screen apart", "Draw it"],
        },
    )
    assert page.locator("#words").evaluate(
        "box => { box.value = box.placeholder; return box.scrollWidth <= box.clientWidth; }"
    )
    box, tools = (page.locator(part).bounding_box() for part in (".box", "#tools"))
    assert tools["x"] - box["x"] - box["width"] < 24
    click(page, "Kept icons")
    shows(page, {"#shelf": re.compile("Nothing here yet")})


def test_a_search_that_is_overtaken_is_cancelled(page: "Page") -> None:
    held: list[Route] = []
    page.route("**/search?q=hea&**", lambda route: held.append(route))  # noqa: PLW0108  playwright can't take a builtin
    with page.expect_request("**/search?q=hea&**"):
        page.locator("#words").press_sequentially("hea")
    with page.expect_event("requestfailed", lambda request: "q=hea&" in request.url):
        page.locator("#words").press_sequentially("rt")
    shows(page, {"#grid .name": "heart"})
    assert len(held) == 1


def test_an_address_alone_brings_everything_back(page: "Page", open_page: Open) -> None:
    page.locator("#words").fill("arrow left")
    page.locator('[data-kind="set"]').click()
    page.locator('#menu input[value="drawn"]').check()
    page.keyboard.press("Escape")
    page.locator("#customize").click()
    page.locator('#surfaces [value="dark"]').check()
    page.locator("#size input").fill("7")
    page.keyboard.press("Escape")
    page.locator("#grid button.tile").first.click()
    again = open_page(page.url.removeprefix(page.evaluate("() => location.origin")))
    for one in (page, again):
        shows(one, {"#detail .similar .tile": True, "#grid button.tile": True})
    assert again.evaluate(ALL) == page.evaluate(ALL) and page.evaluate(ALL)[1] == "dark"
    expect(again.locator("#words")).to_have_value("arrow left")
    shows(again, {'#surfaces [value="dark"]:checked': 1, "#size output": "96 px", ".chip": re.compile("drawn")})


@pytest.mark.slow
def test_words_after_a_dash_are_steered_away_from(page: "Page") -> None:
    with page.expect_request(lambda request: "q=arrow-left&" in request.url and "not=filled" in request.url):
        page.locator("#words").fill("arrow-left -filled")
    expect(page).to_have_url(re.compile(r"q=arrow-left&not=filled"))
    page.reload()
    expect(page.locator("#words")).to_have_value("arrow-left -filled")


def test_a_server_that_is_gone_is_said_and_asked_again_once_it_is_back(open_page: Open) -> None:
    page = open_page("/?q=heart", forgives="ERR_INTERNET_DISCONNECTED")
    shows(page, {"#grid .name": "heart"})
    page.context.set_offline(True)
    page.locator("#words").fill("bell")
    shows(
        page,
        {
            ".nothing": re.compile("The server does not answer. Is `icons serve` still running\\?"),
            **{"#grid .name": "heart", "#summary": re.compile("“heart”")},  # what was found stays
        },
    )
    page.context.set_offline(False)
    shows(page, {"#grid .name": "bell"})


def test_a_busy_server_is_asked_again(open_page: Open) -> None:
    page = open_page(forgives="status of 503")
    answered: list[int] = []

    def once_busy(route: "Route", request: "Request") -> None:
        answered.append(200 if answered else 503)
        if answered[-1] == 503:
            route.fulfill(status=503, json={"error": "busy"})
        else:
            route.continue_()

    page.route("**/search?q=moon&k=*", once_busy)
    page.locator("#words").fill("moon")
    shows(page, {"#grid .name": "moon"})
    assert answered[:2] == [503, 200]  # what is scrolled to is asked for after that


def test_what_is_typed_is_never_markup(page: "Page") -> None:
    hostile = "<img src=x onerror=\"document.title='stolen'\">"
    page.locator("#words").fill(hostile)
    expect(page.locator("#found")).to_contain_text(f"“{hostile}”")
    assert page.locator("#found img[src='x']").count() == 0 and "stolen" not in page.title().split("<")[0]


LIST = """() => {
  const cells = [...document.querySelectorAll("#grid .cell")];
  const { top, bottom } = document.querySelector("#grid").getBoundingClientRect();
  const seen = cells.find((cell) => cell.getBoundingClientRect().top > document.querySelector("header").offsetHeight);
  return { n: cells.length, high: bottom - top, first: seen.querySelector(".name").textContent };
}"""


def test_a_long_list_is_as_high_as_all_of_it_with_tiles_where_one_looks_and_keeps_its_place(open_page: Open) -> None:
    page = open_page("/?set=lucide-static", viewport={"width": 390, "height": 500})
    shows(page, {"#grid button.tile[data-id]": True, "#rail": True}, url="set=lucide-static$")
    at_first = page.evaluate(LIST)
    page.get_by_role("button", name="To S", exact=True).click()
    shows(page, {"#rail [aria-current]": "S", "#grid .waiting": 0}, url="&at=\\d+$")
    there = page.evaluate(LIST)
    assert "r" <= there["first"] < "t" and there["high"] == at_first["high"] > 20 * 100
    assert (
        max(there["n"], at_first["n"])
        < 60
        < page.evaluate("async () => (await (await fetch('/api/v1/search?set=lucide-static&k=1')).json()).n_found")
    )
    tile(page, there["first"]).focus()
    press(page, "Enter")
    shows(page, {"#detail-name": there["first"]})
    for go in (page.reload, page.go_back):
        go()
        shows(page, {"#grid .waiting": 0, "#grid button.tile[data-id]": True}, url="&at=\\d+")
        page.wait_for_function(f"first => ({LIST})().first === first", arg=there["first"])
    tile(page, there["first"]).focus()
    press(page, "End")
    shows(page, {"#grid .tile:focus .name": re.compile("^[x-z]")})
    press(page, "Home")
    shows(page, {"#grid .tile:focus .name": at_first["first"]})


def test_more_icons_come_when_the_end_is_near_and_only_once(open_page: Open) -> None:
    page = open_page("/?q=arrow&min_score=0&px=24&fold=0", viewport={"width": 390, "height": 500})
    asked = requests_of(page)
    shows(page, {"#grid button.tile[data-id]": True})
    page.wait_for_load_state("networkidle")
    for _ in range(6):
        page.mouse.wheel(0, 1000)
        page.wait_for_timeout(100)
    page.wait_for_load_state("networkidle")
    more = [url for url in asked if "offset=" in url]
    assert len(more) == len(set(more)) >= 1 and not [url for url in asked if "k=0" in url]


def test_a_set_is_a_card_with_icons_their_number_licence_and_style_and_opens(page: "Page") -> None:
    drawn = '.set-card:has(a[href="?set=drawn"])'
    shows(
        page,
        {
            f"{drawn} .title": "drawn",
            f"{drawn} .facts": re.compile("7 names, 8 icons"),
            '.set-card:has(a[href="?set=lucide-static"]) .facts': re.compile("ISC"),
            f"{drawn} .mosaic img": 6,
        },
    )
    page.locator(f"{drawn} a").first.click()
    shows(page, {"#summary": "7 names, 8 icons in drawn"}, url="\\?set=drawn$")  # two are variants of one
    page.locator("#words").fill("flower")
    shows(page, {"#grid .name": "tulip"}, url="q=flower&set=drawn")


def names(page: "Page") -> list[str]:
    """Of the first hits: more come while the page stands."""
    return page.locator("#grid .name").all_inner_texts()[:20]


def test_how_words_were_read_stands_above_the_hits_and_is_spoken(open_page: Open) -> None:
    page = open_page("/?q=Pfeil+links", locale="de-AT")
    shows(
        page,
        {
            ".remark": re.compile("^Pfeil links: arrow left \\(German\\) $"),
            "#grid .name": "arrow-left",
            '.remark bdi[lang="de"]': ["Pfeil links"],
        },
    )
    shows(page, {"#live": re.compile(r"^\d+ icons for “Pfeil links”\. Pfeil links: arrow left \(German\)$")})
    expect(page.get_by_role("button", name="Search in English only")).to_have_count(0)  # there is nothing to find so


@pytest.mark.slow
def test_words_of_two_languages_are_found_alike_by_all_readers_and_in_english_on_demand(open_page: Open) -> None:
    """Of somebody who reads French first: "chat" is a cat, or the English chat."""
    page = open_page(locale="fr-FR")
    page.locator("#words").fill("chat")
    shows(page, {".remark": re.compile("chat: cat, chat \\(French\\)")}, url="\\?q=chat&language=fr(&|$)")
    as_french, split = names(page), urlsplit(page.url)
    for query in (split.query, "q=chat&language=%3Cb%3E&language=fr-CH&language=german"):
        other = open_page(f"{split.path}?{query}", locale="en-US")
        shows(other, {".remark": re.compile(r"\(French\)")})
        assert names(other) == as_french
    page.get_by_role("button", name="Search in English only").focus()
    page.keyboard.press("Enter")
    shows(page, {".remark": False, "#results:focus": True}, url="\\?q=chat(&k=\\d+)?$")
    assert names(page) != as_french
    page.go_back()
    shows(page, {".remark": re.compile(r"\(French\)")})
    assert names(page) == as_french


@pytest.mark.slow
def test_readers_of_english_alone_send_no_language_and_answers_are_told_once(page: "Page") -> None:
    asked = requests_of(page)
    shows(page, {"#live": "All icons"})  # what the page tells when it opens
    told = page.evaluate_handle(
        "() => { const told = []; new MutationObserver(() => told.push(document.querySelector('#live').textContent))"
        ".observe(document.querySelector('#live'), { childList: true }); return told; }"
    )
    page.locator("#words").evaluate(
        "box => { for (const typed of ['h', 'he', 'hea', 'hear', 'heart']) {"
        " box.value = typed; box.dispatchEvent(new Event('input')); } }"
    )
    shows(page, {"#live": re.compile("“heart”")})
    assert len(told.json_value()) == 1 and [url for url in asked if "search?q=heart" in url and "language" not in url]


def test_an_icon_is_found_opened_and_copied_without_a_mouse(page: "Page") -> None:
    first = page.locator("#grid button.tile").first
    press(page, "Tab", "/")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.type("arrow left")
    shows(page, {"#summary": re.compile("“arrow left”")})  # the first of "arrow lef" is another of that name
    expect(first).to_contain_text("arrow-left")
    press(page, "ArrowDown")
    expect(first).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_role("button", name="Copy as SVG file")).to_be_focused()
    press(page, "Enter")
    shows(page, {"#toast": "Copied arrow-left as SVG file"})
    assert "<svg" in page.evaluate("() => navigator.clipboard.readText()")
    press(page, "Escape")
    shows(page, {"#detail": False})
    expect(first).to_be_focused()
    press(page, "Escape")
    expect(page.locator("#words")).to_be_focused()
    press(page, "Escape")
    shows(page, {"#start": True})
    expect(page.locator("#words")).to_have_value("")
    page.keyboard.type("on/off")  # a slash that belongs to the text
    expect(page.locator("#words")).to_have_value("on/off")


def test_an_arrow_before_the_answer_goes_to_its_first_tile(page: "Page") -> None:
    held: list[Route] = []
    page.route("**/search?*", lambda route: held.append(route))  # noqa: PLW0108  also what the start page shows
    page.reload()
    page.locator("#words").fill("arrow left")
    shows(page, {"#grid .waiting": True})
    page.locator("#words").press("ArrowDown")
    for route in held:
        route.continue_()
    expect(page.locator("#grid button.tile").first).to_be_focused()


@pytest.mark.slow
def test_arrows_walk_through_rows_and_columns_and_tab_stops_once(open_page: Open) -> None:
    page = open_page("/?q=arrow&set=drawn&set=lucide-static")
    tiles = page.locator("#grid button.tile")
    expect(tiles.first).to_be_visible()
    columns = page.evaluate(
        "() => getComputedStyle(document.querySelector('#grid')).gridTemplateColumns.split(' ').length"
    )
    page.locator("#words").press("ArrowDown")
    for key, at in (
        *(("ArrowRight", 1), ("ArrowDown", 1 + columns), ("ArrowLeft", columns), ("ArrowLeft", columns - 1)),
        *(("ArrowDown", 2 * columns - 1), ("ArrowUp", columns - 1), ("Home", 0), ("End", -1), ("ArrowDown", -1)),
        *(("Home", 0), ("ArrowLeft", 0)),
    ):
        press(page, key)
        expect(tiles.nth(at)).to_be_focused()
    expect(page.locator('#grid [tabindex="0"]')).to_have_count(1)
    press(page, "Shift+Tab", "Tab")
    expect(tiles.first).to_be_focused()
    press(page, "ArrowUp")
    expect(page.locator("#words")).to_be_focused()
