"""The engine finds what people mean, in one try: a few hundred real icons with the bundled encoder."""

import io
import threading
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

import pytest
from conftest import Build, Silent, disc
from PIL import Image

from indexer.embedding.planning import EmbedOptions
from indexer.errors import IconsError, LibraryError, RenderError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, index
from indexer.rendering.render import render
from search.engine import Filters, Hit, Query, SearchEngine, Window

ANYTHING = Window(k=10, min_score=0)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """Every sixth of the bundled sample icons, and what the tests below ask for."""
    place = tmp_path_factory.mktemp("engine")
    icons = bundled("samples/lucide-static") / "icons"
    wanted = {"arrow-left", "arrow-right", "alert-circle", "circle-alert", "trash", "trash-2", "house", "home", "bell"}
    lines = ["file_path,name,tags,licence,style"]
    for number, file in enumerate(sorted(icons.glob("*.svg"))):
        if number % 6 == 0 or file.stem in wanted:
            tags = "dustbin" if file.stem == "trash" else ""
            copyfile(file, place / file.name)
            lines.append(f"{file.name},{file.stem},{tags},{'MIT' if number % 2 else 'CC-BY-4.0'},")
    (place / "samples.csv").write_text("\n".join(lines) + "\n")
    library = Library(place / "library")
    how = EmbedOptions(batch_size=64, workers=0, precision="fp32")
    index(library, IndexOptions(sources=[place / "samples.csv"], devices="cpu", embed=how), Silent())
    return SearchEngine.open(library.root)


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.name for hit in hits]


@pytest.mark.parametrize("query", ["arrow left", "arrowLeft", "arrow-left", "ARROW_LEFT", "arow left", "arrowleft"])
def test_a_name_is_found_first_as_people_type_it(engine: SearchEngine, query: str) -> None:
    assert names(engine.search(query, k=1)) == ["arrow-left"]


def test_a_slip_is_put_right_and_said_and_a_real_word_never_is(engine: SearchEngine) -> None:
    assert engine.ask(Query(words="arow left")).spelled == "arrow left"
    assert engine.ask(Query(words="arrow left")).spelled is None
    assert engine.ask(Query(words="wool caution"), window=ANYTHING).spelled is None


def test_nonsense_finds_nothing_unless_everything_is_wanted(engine: SearchEngine) -> None:
    assert engine.ask(Query(words="zoroastrian eschatology of the ottomans")).hits == []
    assert len(engine.ask(Query(words="zoroastrian eschatology of the ottomans"), window=ANYTHING).hits) == 10


def test_an_answer_without_a_good_hit_is_called_doubtful(engine: SearchEngine) -> None:
    assert not engine.ask(Query(words="bell")).is_doubtful
    assert not engine.ask(Query(words="bell"), window=Window(offset=5, k=5)).is_doubtful
    assert engine.ask(Query(words="zoroastrian jurisprudence"), window=ANYTHING).is_doubtful


@pytest.mark.parametrize("words", ["qwertzuiop", "the qwertzuiop", "nlrabor"])
def test_a_made_up_word_finds_nothing_good(engine: SearchEngine, words: str) -> None:
    answer = engine.ask(Query(words=words))
    assert answer.hits == [] or answer.is_doubtful


@pytest.mark.parametrize("shape", [(200, 200), (300, 120), (40, 160)])
@pytest.mark.parametrize("ground", [(255, 255, 255), (24, 26, 31), (30, 90, 200)])
def test_a_picture_of_any_ratio_and_theme_finds_its_icon(
    engine: SearchEngine, shape: tuple[int, int], ground: tuple[int, int, int]
) -> None:
    drawn = Image.fromarray(render(engine.picture(engine.find("bell")), size=min(shape)).pixels).convert("L")
    ink = tuple(255 if sum(ground) < 400 else 0 for _ in range(3))
    shot = Image.new("RGB", shape, ground)
    place = ((shape[0] - drawn.width) // 2, (shape[1] - drawn.height) // 2)
    shot.paste(Image.new("RGB", drawn.size, ink), place, drawn.point(lambda shade: 255 - shade))
    file = io.BytesIO()
    shot.save(file, "PNG")
    assert "bell" in names(engine.ask(Query(picture=file.getvalue())).hits[:3])


def test_more_like_an_icon_leaves_it_out(engine: SearchEngine) -> None:
    hits = engine.ask(Query(icon=engine.find("arrow-left")), window=ANYTHING).hits
    assert "arrow-left" not in names(hits)
    assert any("arrow" in name or "left" in name for name in names(hits)[:3])


def test_more_like_an_icon_is_never_empty_and_says_when_nothing_is_alike(engine: SearchEngine) -> None:
    for name in ("bell", "arrow-left", "trash"):
        answer = engine.ask(Query(icon=engine.find(name)))
        assert answer.hits
        assert answer.is_doubtful == (answer.hits[0].score < 0.5)


def test_a_picture_and_words_are_weighed(engine: SearchEngine) -> None:
    bell = engine.find("bell")
    for share, expected in ((0.0, "trash"), (1.0, "bell")):
        query = Query(words="trash", picture=engine.picture(bell), picture_share=share)
        assert engine.ask(query, window=ANYTHING).hits[0].name.startswith(expected)


def test_keywords_are_all_there_begun_in_a_row_or_left_out(engine: SearchEngine) -> None:
    def found(text: str) -> list[str]:
        return names(engine.ask(Query(words=text, keyword=True), window=Window(k=100, min_score=0.5)).hits)

    assert found("arro* left") and all("arrow" in name and "left" in name for name in found("arro* left"))
    assert "arrow-left" in found('"arrow left"') and "arrow-left" not in found('"left arrow"')
    assert found("arrow -left") and not any("left" in name for name in found("arrow -left"))
    assert found("dustbin") == ["trash"]


@pytest.mark.parametrize(
    "text", ["", " ", "->", "a AND", "NEAR(a b)", "words:arrow", '"', "*", "-", "'; DROP TABLE icons; --", "🎉", "a\0b"]
)
def test_no_syntax_leaks_through_a_keyword_query(engine: SearchEngine, text: str) -> None:
    query = Query(words=text, keyword=True)
    if text.strip():
        assert len(engine.ask(query).hits) <= 10
    else:
        with pytest.raises(IconsError, match="empty"):
            engine.ask(query)


def test_pages_follow_each_other_and_the_count_holds_for_all(engine: SearchEngine) -> None:
    whole = engine.ask(Query(words="arrow"), window=Window(k=30, min_score=0))
    pages = [engine.ask(Query(words="arrow"), window=Window(k=10, offset=start, min_score=0)) for start in (0, 10, 20)]
    assert [hit.id for page in pages for hit in page.hits] == [hit.id for hit in whole.hits]
    assert {page.n_found for page in pages} == {whole.n_found}


def test_filters_hold_and_facets_count_what_was_found(engine: SearchEngine) -> None:
    filters = Filters(licences=("attribution",))
    answer = engine.ask(Query(words="arrow"), filters=filters, window=Window(k=500, min_score=0, facets=True))
    assert {hit.licence_family for hit in answer.hits} == {"attribution"}
    assert answer.facets is not None
    assert [(count.value, count.n) for count in answer.facets["licence"]] == [("CC-BY-4.0", len(answer.hits))]


def test_a_key_comes_back_to_its_icon_and_an_unknown_one_names_near_ones(engine: SearchEngine) -> None:
    for hit in engine.search("arrow", k=10):
        assert engine.find(hit.key) == engine.find(str(hit.id)) == hit.id
    with pytest.raises(IconsError, match='no icon "arow-left" in this library; near: samples:arrow-left'):
        engine.find("arow-left")
    with pytest.raises(IconsError, match='no icon has the id "999999999"'):
        engine.show(999999999)


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG half"])
def test_a_picture_that_is_none_is_refused(engine: SearchEngine, content: bytes) -> None:
    with pytest.raises(RenderError):
        engine.ask(Query(picture=content))


@pytest.mark.parametrize("window", [{"k": 0}, {"k": 1_000_000}, {"offset": -1}, {"min_score": 2.0}])
def test_a_window_that_cannot_be_is_refused_with_its_value(window: dict[str, float]) -> None:
    with pytest.raises(IconsError, match=f'"{next(iter(window.values()))}"'):
        Window(**window)  # type: ignore[arg-type]


def test_many_threads_get_the_answers_that_one_gets(engine: SearchEngine) -> None:
    queries = ["arrow", "bell", "arow left", "trash", "house", "alert circle"] * 4
    expected = [names(engine.search(query)) for query in queries]
    found: dict[int, list[str]] = {}

    def ask(number: int) -> None:
        found[number] = names(engine.search(queries[number]))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(queries))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(len(queries))] == expected


def test_a_new_generation_is_picked_up_without_opening_anew(build: Build, library: Library, icon_folder: Path) -> None:
    build(icon_folder)
    engine = SearchEngine.open(library.root)
    assert not engine.refresh()
    (icon_folder / "comet.svg").write_text(disc(20, 20))
    build()
    assert "comet" not in names(engine.ask(Query(words="comet"), window=ANYTHING).hits)
    asked_first = []
    assert engine.refresh(lambda opened: asked_first.append(opened.generation.number))
    assert asked_first == [engine.generation.number] == [2]
    assert names(engine.ask(Query(words="comet"), window=ANYTHING).hits)[0] == "comet"


def test_a_generation_that_can_not_be_read_is_refused_once_and_the_one_before_answers_on(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    engine = SearchEngine.open(library.root)
    (icon_folder / "comet.svg").write_text(disc(20, 20))
    build()
    library.generation(2).lexicon.write_bytes(b"")
    with pytest.raises(LibraryError, match="generation 1 answers on"):
        engine.refresh()
    assert not engine.refresh()
    assert names(engine.ask(Query(words="dot a"), window=ANYTHING).hits)


def test_a_query_steers_away_from_so_many_things() -> None:
    assert Query(words="arrow", without=("left",) * 16)
    with pytest.raises(IconsError, match="17 things to steer away from; name 16 or fewer"):
        Query(words="arrow", without=("left",) * 17)
