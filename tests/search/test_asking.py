"""A query is found as it was meant, whichever way it was typed: code, emoji, parts, a slip, what to leave out."""

import pytest
from called_icons import N_ICONS

from search.engine import Answer, Filters, Hit, Query, SearchEngine, Window

ALL = Window(k=50, min_score=0, flat=True)
STARS = {"lucide:star", "mdi:star", "fa6-solid:star"}


def _ask(engine: SearchEngine, words: str, *without: str, sets: tuple[str, ...] = ()) -> Answer:
    return engine.ask(Query(words=words, without=without), filters=Filters(sets=sets), window=ALL)


def _keys(answer: Answer) -> list[str]:
    return [hit.key for hit in answer.hits]


def _direct(answer: Answer) -> set[str]:
    """Keys of the hits that are named or called so."""
    return {hit.key for hit in answer.hits if hit.exact}


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("mdi:home", "mdi:home"),
        ("lucide:home", "lucide:home"),
        ("map:home", "map:home"),
        ("mdi-home", "mdi:home"),
        ("i-mdi-home", "mdi:home"),
        ("mdi mdi-home", "mdi:home"),
        ('<Icon icon="mdi:home" />', "mdi:home"),
        ("mdi:home-outline", "mdi:home-outline"),
        ("mdiHomeOutline", "mdi:home-outline"),
        ("fas fa-star", "fa6-solid:star"),
        ('<i class="fa-solid fa-user fa-2x"></i>', "fa6-solid:user"),
        ("LuBell", "lucide:bell"),
        ("i-lucide-star-filled", "lucide:star-filled"),
    ],
)
def test_what_is_called_as_code_does_comes_first_though_others_bear_the_name(
    engine: SearchEngine, query: str, key: str
) -> None:
    hits = _ask(engine, query).hits
    assert (hits[0].key, hits[0].exact, hits[0].score) == (key, True, max(hit.score for hit in hits))


@pytest.mark.parametrize(
    "query", ["tabler:star", "ti ti-star", "tabler-star", "TbStar", "star.svg", "StarIcon", "<Star/>"]
)
def test_a_set_that_the_library_lacks_leaves_the_name(engine: SearchEngine, query: str) -> None:
    answer = _ask(engine, query)
    assert _direct(answer) == set(_keys(answer)[:4]) == {*STARS, "lucide:star-filled"} and answer.spelled is None


def test_what_could_be_words_and_is_a_name_is_words(engine: SearchEngine) -> None:
    for query in ("MapPin", "map-pin", "mapPin"):
        answer = _ask(engine, query)
        assert (_keys(answer)[0], _direct(answer)) == ("lucide:map-pin", {"lucide:map-pin"}), query
    firsts = [_keys(_ask(engine, query))[0] for query in ("map:pin", "MapFlag")]
    assert firsts == ["map:pin", "map:flag"]  # "map flag" is no name: then it is code


@pytest.mark.parametrize(
    ("title", "sets"),
    [
        ("mdi", {"mdi"}),
        ("Material Design", {"mdi"}),
        ("material", {"mdi"}),
        ("Font Awesome", {"fa6-solid"}),
        ("fontawesome", {"fa6-solid"}),
        ("FA6", {"fa6-solid"}),
    ],
)
def test_a_set_is_kept_by_its_key_or_its_title(engine: SearchEngine, title: str, sets: set[str]) -> None:
    assert {hit.set for hit in _ask(engine, "star", sets=(title,)).hits} == sets


@pytest.mark.parametrize("query", ["star not filled", "star -filled", "star without filled", "star, not filled"])
def test_a_style_that_is_left_out_comes_after_and_is_no_name(engine: SearchEngine, query: str) -> None:
    answer, plain = _ask(engine, query), _ask(engine, "star")
    filled = {"lucide:star-filled", "fa6-solid:star"}  # as it says, and as its picture shows
    assert set(_keys(answer)[:2]) == _direct(answer) == _direct(plain) - filled == STARS - filled
    for key in filled:
        assert _by_key(answer, key).score < _by_key(plain, key).score / 2


def test_what_is_left_out_goes_down_by_words_or_by_an_option(engine: SearchEngine) -> None:
    plain = _ask(engine, "arrow right")
    assert _keys(plain)[:2] == ["lucide:arrow-right", "lucide:arrow-right-circle"]
    circle = _by_key(plain, "lucide:arrow-right-circle")
    for answer in (
        _ask(engine, "arrow right -circle"),
        _ask(engine, "arrow right without circle"),
        _ask(engine, "arrow right", "circle"),
    ):
        assert _keys(answer)[0] == "lucide:arrow-right"
        assert _by_key(answer, circle.key).score < circle.score
    assert _keys(_ask(engine, "arrow right -circle")) == _keys(_ask(engine, "arrow right", "circle"))


@pytest.mark.parametrize(("sign", "word"), [("🔔", "bell"), ("🏠", "house"), ("+", "plus"), ("🔔\ufe0f", "bell")])
def test_a_sign_is_the_name_that_it_has_in_words(engine: SearchEngine, sign: str, word: str) -> None:
    answer, in_words = _ask(engine, sign), _ask(engine, word)
    assert (_keys(answer), _direct(answer)) == (_keys(in_words), _direct(in_words)) and _direct(answer)


def test_a_guess_is_told_and_is_no_exact_name(engine: SearchEngine) -> None:
    answer = _ask(engine, "arow right")
    assert (answer.spelled, _keys(answer)[0], _direct(answer)) == ("arrow right", "lucide:arrow-right", set())
    assert answer.hits[0].score < _ask(engine, "arrow right").hits[0].score


def test_a_pasted_svg_finds_its_icon(engine: SearchEngine) -> None:
    drawing = engine.picture(engine.find("lucide:bell")).decode()
    for pasted in (
        drawing,
        f"\n {drawing}",
        f'<?xml version="1.0"?>\n<!-- by hand -->\n<!DOCTYPE svg>\n{drawing}',
        drawing.replace("<svg ", "<svg\n  class='a'\n  ", 1),
    ):
        hit = _ask(engine, pasted).hits[0]
        assert (hit.key, hit.similarity) == ("lucide:bell", pytest.approx(1, abs=1e-3))


@pytest.mark.parametrize(
    "query", ["<", "<>", "</svg>", "<svg", ":", "::", "mdi:", ":home", "i-", "-", "--", "+ +", "a:b:c"]
)
def test_half_typed_queries_are_answered(engine: SearchEngine, query: str) -> None:
    assert len(_ask(engine, query).hits) == N_ICONS


def _by_key(answer: Answer, key: str) -> Hit:
    return next(hit for hit in answer.hits if hit.key == key)


def test_a_name_stays_first_unless_it_says_what_is_left_out_itself(engine: SearchEngine) -> None:
    kept = _ask(engine, "bell", "alarm")  # a tag of one of them
    assert {*_keys(kept)[:3]} == _direct(kept) == {"lucide:bell", "mdi:bell", "fa6-solid:bell"}
    assert not _direct(_ask(engine, "arrow right", "arrow"))
