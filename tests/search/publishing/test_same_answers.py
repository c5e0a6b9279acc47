"""Every question has the same answer, whatever holds the library; what a server says is read only as published."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from published_icons import address, here, library, own_cache, there  # noqa: F401 - fixtures

from indexer.errors import IconsError, UnknownIconError, UnknownSetError, UnsupportedError
from indexer.library.folder import LibraryElsewhere
from indexer.library.foreign import from_json
from search.cli import main
from search.engine import SearchEngine
from search.generation.milvus.connection import VECTOR, manifest_key
from search.generation.milvus.published import FileFacts, Published, PublishedManifest
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
    assert (there.sets(), there.facets(), there.manifest) == (here.sets(), here.facets(), here.manifest)
    assert there.names_in("mdi") == here.names_in("mdi") != []
    for spelling in ("mdi:home", "fa6-solid:user", "lucide:star-filled", "3"):
        assert there.find(spelling) == here.find(spelling)
    for icon in range(1, 8):
        assert (there.show(icon), there.picture(icon)) == (here.show(icon), here.picture(icon))
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
        assert done.exit_code == 2 and f"{told} can't be had of a library on Milvus" in done.output, done.output


SAID = PublishedManifest(
    number=1,
    fingerprint="3608ea71d4a3f0b6",
    dim=384,
    is_half=False,
    n_icons=2,
    n_pictures=2,
    published_at="2026-11-24T00:00:00+00:00",
    generation={"manifest.json": FileFacts(10, "0" * 64, 1)},
    encoder={"encoder.json": FileFacts(10, "a" * 64, 1)},
)


@pytest.mark.parametrize(
    "change",
    [
        {"number": "/some/folder"},
        {"number": "../../.."},
        {"number": True},
        {"number": -1},
        {"number": 10**9},
        {"fingerprint": "../../outside"},
        {"generation": {"../outside": {"bytes": 1, "sha256": "0" * 64, "pieces": 1}}},
        {"generation": {"..": {"bytes": 1, "sha256": "0" * 64, "pieces": 1}}},
        {"encoder": {"inside": {"bytes": 1, "sha256": "../../outside", "pieces": 1}}},
        {"encoder": {"inside": {"bytes": 1, "sha256": "0" * 64, "pieces": 10**9}}},
    ],
)
def test_names_that_lead_out_of_the_cache_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="may not be"):
        from_json(PublishedManifest, json.dumps({**json.loads(SAID.to_json()), **change}))


def test_a_server_deletes_no_folder_of_who_asks_it(address: str, own_cache: Path, tmp_path: Path) -> None:
    server = Published(LibraryElsewhere(address))
    (photo := tmp_path / "photos" / "a.jpg").parent.mkdir()
    photo.write_bytes(b"a photo")
    number, fetched = server.current(), sorted(own_cache.rglob("published.json"))
    server.connection.load(server.names.files)
    [row] = server.connection.query(server.names.files, f'id == "{manifest_key(number)}"', ["content"])
    for said in (str(photo.parent), "../../..", number + 1):
        content = json.dumps({**json.loads(row["content"]), "number": said})
        told = {"id": manifest_key(number), "content": content, VECTOR: [0.0, 0.0]}
        server.connection.call("upsert", server.names.files, [told])
        with pytest.raises(IconsError, match=f"generation {number} of .* is of another format"):
            SearchEngine.open(address)
    assert (photo.read_bytes(), sorted(own_cache.rglob("published.json"))) == (b"a photo", fetched)
    server.connection.call("upsert", server.names.files, [{**told, "content": row["content"]}])
    assert SearchEngine.open(address).generation.number == number
