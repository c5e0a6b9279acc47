"""Typing on the page: results, addresses, filters, and what is said when there is nothing."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import Open

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route


def first_name(page: "Page", name: str) -> None:
    expect(page.locator("#grid .name").first).to_have_text(name)


def more(page: "Page", kind: str) -> None:
    page.locator('#filters [data-kind="more"]').click()
    page.locator(f'#menu [data-kind="{kind}"]').click()


def test_results_come_while_typing_and_the_address_follows(page: "Page") -> None:
    page.locator("#words").press_sequentially("arrow left")
    first_name(page, "arrow-left")
    expect(page).to_have_url(re.compile(r"\?q=arrow\+left$"))
    expect(page.locator("#summary")).to_have_text(re.compile(r"^\d+ icons? for “arrow left”$"))
    expect(page.locator("#live")).to_have_text(page.locator("#summary").inner_text())
    expect(page).to_have_title("arrow left · icons")


def test_a_search_that_is_overtaken_is_cancelled(page: "Page") -> None:
    cancelled: list[str] = []
    page.on("requestfailed", lambda request: cancelled.append(request.url))
    held: list[Route] = []
    page.route("**/search?q=hea&**", lambda route: held.append(route))  # noqa: PLW0108  playwright can't take a builtin
    with page.expect_request("**/search?q=hea&**"):
        page.locator("#words").press_sequentially("hea")
    with page.expect_event("requestfailed"):
        page.locator("#words").press_sequentially("rt")
    first_name(page, "heart")
    assert len(held) == 1
    assert any("q=hea&" in url for url in cancelled)


@pytest.mark.slow
def test_what_is_only_nearest_is_called_so(page: "Page") -> None:
    page.locator("#words").fill("heart")
    expect(page.locator("#summary")).to_contain_text("icons for “heart”")
    page.goto(f"{page.url.partition('?')[0]}?q=french+revolution&min_score=0")
    expect(page.locator("#summary")).to_have_text("No good match for “french revolution”. These come nearest.")


@pytest.mark.slow
def test_back_and_forward_go_through_searches_not_keystrokes(page: "Page") -> None:
    page.locator("#words").press_sequentially("heart")
    first_name(page, "heart")
    page.locator("#grid button.tile").first.click()
    expect(page.locator("#detail")).to_be_visible()
    page.go_back()
    expect(page.locator("#detail")).to_be_hidden()
    first_name(page, "heart")
    page.go_back()
    expect(page.locator("#start")).to_be_visible()
    page.go_forward()
    expect(page.locator("#words")).to_have_value("heart")
    first_name(page, "heart")


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
    expect(page.locator("#detail dd", has_text="MIT")).to_be_visible()
    before = page.evaluate(
        "() => [document.querySelector('#grid').innerText, document.querySelector('#detail').innerText]"
    )
    again = open_page(page.url.removeprefix(page.evaluate("() => location.origin")))
    expect(again.locator("#detail .similar .tile").first).to_be_visible()
    expect(again.locator("#grid button.tile").first).to_be_visible()
    expect(page.locator("#detail .similar .tile").first).to_be_visible()
    after = again.evaluate(
        "() => [document.querySelector('#grid').innerText, document.querySelector('#detail').innerText]"
    )
    assert after[0] == before[0]
    expect(again.locator("#words")).to_have_value("arrow left")
    expect(again.locator("#size output")).to_have_text("96 px")
    expect(again.locator('#surfaces [value="dark"]')).to_be_checked()
    expect(again.locator(".chip")).to_contain_text("drawn")
    assert again.evaluate("() => document.documentElement.dataset.ground") == "dark"


@pytest.mark.slow
def test_an_address_that_makes_no_sense_opens_the_page_all_the_same(open_page: Open) -> None:
    page = open_page("/?q=heart&px=9999&bg=javascript:1&k=-3&min_score=7&open=abc&animated=maybe#picture=%%")
    first_name(page, "heart")
    expect(page.locator("#size output")).to_have_text("128 px")
    expect(page.locator("#detail")).to_be_hidden()


def test_a_filter_narrows_shows_its_count_and_goes_away_again(page: "Page") -> None:
    page.locator("#words").fill("arrow")
    first = page.locator("#grid button.tile").first
    expect(first).to_be_visible()
    page.locator('[data-kind="set"]').click()
    option = page.locator("#menu .option", has_text="drawn")
    expect(option.locator(".count")).to_have_text(re.compile(r"^\d+$"))
    option.locator("input").check()
    expect(page.locator("#grid .set").filter(has_not_text="drawn")).to_have_count(0)  # the first may have been of it
    expect(page.locator("#grid .set").first).to_have_text("drawn")
    expect(page).to_have_url(re.compile("set=drawn"))
    expect(page.locator('#menu input[value="drawn"]')).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator('[data-kind="set"]')).to_be_focused()
    page.locator(".chip", has_text="drawn").click()
    expect(page.locator("#grid .set", has_text=re.compile("lucide", re.IGNORECASE)).first).to_be_visible()
    assert "set=" not in page.url


@pytest.mark.slow
def test_an_answer_between_press_and_release_loses_no_click(page: "Page") -> None:
    page.locator("#words").fill("tulip")
    more(page, "coloured")
    page.locator("#menu label", has_text="Many colours").hover()
    page.mouse.down()
    page.evaluate(
        "words => { words.value = 'tulips'; words.dispatchEvent(new Event('input', { bubbles: true })); }",
        page.locator("#words").element_handle(),
    )
    expect(page.locator("#summary")).to_contain_text("“tulips”")
    page.mouse.up()
    expect(page.locator(".chip", has_text="Many colours")).to_be_visible()


@pytest.mark.slow
def test_variants_are_one_tile_with_a_badge_until_every_one_is_wanted(open_page: Open) -> None:
    page = open_page("/?fold=0")
    page.locator("#words").fill("arrow left")
    drawn = page.locator("#grid button.tile", has_text="drawn").filter(has_text="arrow-left")
    expect(drawn).to_have_count(1)
    expect(drawn.locator(".badge")).to_have_text("2")
    expect(drawn).to_contain_text("2 variants")
    more(page, "flat")
    expect(drawn).to_have_count(2)
    expect(page).to_have_url(re.compile("flat=1"))


@pytest.mark.slow
def test_words_after_a_dash_are_steered_away_from(page: "Page") -> None:
    with page.expect_request(lambda request: "not=filled" in request.url) as asked:
        page.locator("#words").fill("arrow-left -filled")
    assert "q=arrow-left&" in asked.value.url
    expect(page).to_have_url(re.compile(r"q=arrow-left&not=filled"))
    page.reload()
    expect(page.locator("#words")).to_have_value("arrow-left -filled")


def test_it_says_honestly_that_nothing_is_good_and_what_to_try(open_page: Open) -> None:
    page = open_page("/?q=qxzvkj&min_score=1&set=drawn")
    expect(page.locator(".nothing h2")).to_have_text("Nothing good found for “qxzvkj”")
    expect(page.locator("#live")).to_have_text("Nothing good found for “qxzvkj”")
    expect(page.locator("#grid button.tile")).to_have_count(0)
    page.get_by_role("button", name="Show the nearest icons anyway").click()
    expect(page.locator("#grid button.tile").first).to_be_visible()
    expect(page.locator(".remark")).to_contain_text("The nearest icons, however far away")
    assert "min_score=0" in page.url
    page.locator("#words").fill("heart")
    expect(page.locator("#summary")).to_contain_text("heart")
    expect(page).not_to_have_url(re.compile("min_score"))


@pytest.mark.slow
def test_a_misspelt_word_gets_a_suggestion(page: "Page") -> None:
    page.locator("#words").fill("arow left")
    page.locator("#notice").get_by_role("button", name="arrow left").click()
    expect(page.locator("#words")).to_have_value("arrow left")
    first_name(page, "arrow-left")


@pytest.mark.slow
def test_a_server_that_is_gone_is_said_and_tried_again(open_page: Open) -> None:
    page = open_page("/?q=heart", forgives="ERR_INTERNET_DISCONNECTED")
    first_name(page, "heart")
    page.context.set_offline(True)
    page.locator("#words").fill("bell")
    expect(page.locator(".nothing")).to_contain_text("The server does not answer. Is `icons serve` still running?")
    first_name(page, "heart")  # what was found before stays
    expect(page.locator("#summary")).to_contain_text("“heart”")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    first_name(page, "bell")


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
    first_name(page, "moon")
    assert answered[:2] == [503, 200]  # what is scrolled to is asked for after that


def test_what_is_typed_is_never_markup(page: "Page") -> None:
    hostile = "<img src=x onerror=\"document.title='stolen'\">"
    page.locator("#words").fill(hostile)
    expect(page.locator("#found")).to_contain_text(f"“{hostile}”")
    assert page.locator("#found img[src='x']").count() == 0
    assert "stolen" not in page.title().split("<")[0]


def test_more_icons_come_when_the_end_is_near_and_only_once(open_page: Open) -> None:
    page = open_page("/?q=arrow&min_score=0&px=24&fold=0")
    expect(page.locator("#grid button.tile").first).to_be_visible()
    page.locator("footer").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelectorAll('#grid button.tile').length > 60")
    page.mouse.wheel(0, 20_000)
    expect(page.locator("#more")).to_be_hidden()
    numbers = page.locator("#grid button.tile").evaluate_all("tiles => tiles.map(tile => tile.dataset.id)")
    assert len(set(numbers)) == len(numbers) > 60
    expect(page).to_have_url(re.compile(f"k={len(numbers)}"))
