"""Every question has the same answer, whatever holds the library."""

import numpy as np
import pytest
from click.testing import CliRunner
from published_icons import address, here, library, own_cache, there  # noqa: F401 - fixtures

from indexer.errors import IconsError, UnknownIconError, UnknownSetError, UnsupportedError
from search.cli import main
from search.engine import SearchEngine
from search.query import SORTS, Filters, Query, Window

WORDS = (
    "home",
    "arrow",
    "go back",
    "no smoking",
    "star filled",
    "bell bold",
    "lucide:house",
    "huse",
    "Haus",
    "mdi-star",
)
FILTERS = (
    Filters(),
    Filters(sets=("mdi", "map")),
    Filters(styles=("filled",)),
    Filters(tags=("rating", "e-mail")),
    Filters(licences=("unknown",)),
    Filters(coloured=False, sets=("lucide",)),
    Filters(animated=False),
)


def same(here: SearchEngine, there: SearchEngine, query: Query, filters: Filters, window: Window) -> int:
    """Ask both; how many hits there are."""
    ours, theirs = (engine.ask(query, filters=filters, window=window) for engine in (here, there))
    assert [hit.key for hit in theirs.hits] == [hit.key for hit in ours.hits]
    assert theirs == ours
    return ours.n_found


@pytest.mark.parametrize("words", WORDS)
def test_words_find_the_same(here: SearchEngine, there: SearchEngine, words: str) -> None:
    n_found = [same(here, there, Query(words=words), filters, Window(k=20, facets=True)) for filters in FILTERS]
    assert n_found[0] > 0


def test_pictures_and_icons_find_the_same(here: SearchEngine, there: SearchEngine) -> None:
    star = here.find("lucide:star")
    pixels = np.zeros((here.image_size, here.image_size, 3), np.uint8)
    pixels[8:-8, 20:-20] = 255
    for query in (Query(icon=star), Query(picture=here.picture(star)), Query(words="filled", icon=star)):
        for filters in FILTERS[:4]:
            same(here, there, query, filters, Window(k=20))
    same(here, there, Query(picture=pixels, without=("arrow",)), Filters(), Window(k=5, min_score=0))


def test_what_is_left_out_and_preferred_counts_the_same(here: SearchEngine, there: SearchEngine) -> None:
    for query in (Query(words="star", without=("filled",)), Query(words="home -outline")):
        same(here, there, query, Filters(), Window(k=30, min_score=0))
    same(here, there, Query(words="bell", prefer=("mdi",)), Filters(), Window())


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("flat", [False, True])
def test_pages_follow_each_other_the_same(here: SearchEngine, there: SearchEngine, sort: str, flat: bool) -> None:
    for words in ("", "star"):
        for offset in (0, 3, 6):
            window = Window(k=3, offset=offset, sort=sort, flat=flat, facets=True, min_score=0)
            same(here, there, Query(words=words), Filters(), window)
    same(here, there, Query(), Filters(sets=("mdi",)), Window(sort=sort, flat=flat, facets=True))


def test_everything_else_is_told_the_same(here: SearchEngine, there: SearchEngine) -> None:
    assert there.sets() == here.sets()
    assert there.facets() == here.facets()
    assert there.manifest == here.manifest
    assert there.names_in("mdi") == here.names_in("mdi") != []
    for spelling in ("mdi:home", "fa6-solid:user", "lucide:star-filled", "3"):
        assert there.find(spelling) == here.find(spelling)
    for icon in range(1, 8):
        assert there.show(icon) == here.show(icon)
        assert there.picture(icon) == here.picture(icon)
    for word in ("home", "alarm", "arrow right"):
        assert there.explain(Query(words=word), 4) == here.explain(Query(words=word), 4)


def test_crops_of_a_screenshot_are_named_the_same(here: SearchEngine, there: SearchEngine) -> None:
    pixels = np.full((64, 64, 3), 255, np.uint8)
    pixels[20:44, 20:44] = 0
    for filters in (Filters(), Filters(sets=("mdi",))):
        ours, theirs = (engine.locate(pixels, filters=filters, min_score=0) for engine in (here, there))
        assert [icon.hits for icon in theirs.icons] == [icon.hits for icon in ours.icons] != []


def test_the_same_is_refused(here: SearchEngine, there: SearchEngine) -> None:
    for engine in (here, there):
        with pytest.raises(UnknownSetError, match='"mdy"'):
            engine.ask(Query(words="home"), filters=Filters(sets=("mdy",)))
        with pytest.raises(UnknownIconError, match=r"near: .*mdi:home"):
            engine.find("mdi:hme")
        with pytest.raises(UnknownIconError, match='"4711"'):
            engine.show(4711)
        with pytest.raises(IconsError, match=r"no size"):
            engine.ask(Query(), filters=Filters(sizes=(23,)))


def test_what_a_server_can_not_do_is_refused_by_name(there: SearchEngine) -> None:
    with pytest.raises(UnsupportedError, match=r"keyword queries \(--keyword\) can't be had of a library on Milvus"):
        there.ask(Query(words="home*", keyword=True))


def test_hits_beyond_what_a_server_hands_out_are_refused(
    here: SearchEngine, there: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, window = Query(icon=here.find("mdi:home")), Window(k=5, offset=12, min_score=0.0)
    assert len(here.ask(query, window=window).hits) == 5
    monkeypatch.setattr("search.generation.milvus.catalog.MOST", 8)
    assert [hit.key for hit in there.ask(query, window=Window(k=4)).hits] == [
        hit.key for hit in here.ask(query, window=Window(k=4)).hits
    ]
    with pytest.raises(UnsupportedError, match="beyond the 16,384 nearest icons can't be had of a library on Milvus"):
        there.ask(query, window=window)


def test_commands_that_go_through_whole_libraries_name_themselves(address: str) -> None:
    for command, told in (
        (["map", "--from", "mdi", "--to", "lucide"], "`icons map`"),
        (["doctor", address, "--repair"], "`icons doctor --repair`"),
        (["search", "home*", "--keyword"], "keyword queries (--keyword)"),
    ):
        done = CliRunner().invoke(main, [*command, "--library", address])
        assert done.exit_code == 2, done.output
        assert f"{told} can't be had of a library on Milvus" in done.output
