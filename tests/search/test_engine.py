"""The engine finds what people mean, in one try: hundreds of icons with the bundled encoder, twelve with a tiny one."""

import io
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
import torch
from conftest import Build, Silent, build_library, disc, draw_icons
from PIL import Image

from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder
from indexer.errors import IconsError, LibraryError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, index
from indexer.rendering.render import render
from search.commands.options import Answering
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
    spelled = {"arow left": "arrow left", "arrow left": None, "wool caution": None}
    assert {words: engine.ask(Query(words=words), window=ANYTHING).spelled for words in spelled} == spelled


def test_nonsense_finds_nothing_unless_everything_is_wanted(engine: SearchEngine) -> None:
    nonsense = Query(words="zoroastrian eschatology of the ottomans")
    assert (engine.ask(nonsense).hits, len(engine.ask(nonsense, window=ANYTHING).hits)) == ([], 10)


def test_an_answer_without_a_good_hit_is_called_doubtful(engine: SearchEngine) -> None:
    asked = {
        words: engine.ask(Query(words=words)) for words in ("bell", "outline bell", "filled bell", "not outlined bell")
    }
    assert {words: answer.is_doubtful for words, answer in asked.items()} == {
        **dict.fromkeys(("bell", "outline bell"), False),
        **dict.fromkeys(("filled bell", "not outlined bell"), True),  # all icons here are outlines
    }
    assert {answer.hits[0].name for answer in asked.values()} == {"bell"}
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
    assert found("circle alert -x")[0] == "circle-alert" != found('"alert" circle -x')[0]
    assert found("dustbin") == ["trash"]
    snapshot = engine.with_generation(lambda opened: opened.snapshot)
    first, others = (snapshot.matching('"arrow" *', words, most=1)[0] for words in ("arrow up left", ""))
    assert first == [snapshot.icon(engine.find("arrow-up-left")).name_id] != others


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
    assert [(count.value, count.n) for count in answer.facets["licence"]] == [("CC-BY-4.0", len(answer.hits))]


def test_a_key_comes_back_to_its_icon_and_an_unknown_one_names_near_ones(engine: SearchEngine) -> None:
    for hit in engine.search("arrow", k=10):
        assert engine.find(hit.key) == engine.find(str(hit.id)) == hit.id
    with pytest.raises(IconsError, match='no icon "arow-left" in this library; near: samples:arrow-left'):
        engine.find("arow-left")
    with pytest.raises(IconsError, match='no icon has the id "999999999"'):
        engine.show(999999999)


@pytest.mark.parametrize("window", [{"k": 0}, {"k": 1_000_000}, {"offset": -1}, {"min_score": 2.0}])
def test_a_window_that_cannot_be_is_refused_with_its_value(window: dict[str, float]) -> None:
    with pytest.raises(IconsError, match=f'"{next(iter(window.values()))}"'):
        Window(**window)  # type: ignore[arg-type]


def test_many_threads_get_the_answers_that_one_gets(engine: SearchEngine) -> None:
    queries = ["arrow", "bell", "arow left", "trash", "house", "alert circle"] * 4
    expected = [names(engine.search(query)) for query in queries]
    with ThreadPoolExecutor(len(queries)) as threads:
        assert list(threads.map(lambda query: names(engine.search(query)), queries)) == expected


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_icons(tmp_path_factory.mktemp("search") / "icons")


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path, folder: Path) -> SearchEngine:
    """A library of twelve icons, opened; its encoder has random weights, so what it scores means nothing."""
    library = Library(tmp_path_factory.mktemp("search") / "library")
    build_library(library, tiny_model, [folder])
    return SearchEngine.open(library.root)


def few_hits(few: SearchEngine, words: str, *, k: int = 10) -> Sequence[Hit]:
    return few.ask(Query(words=words), window=Window(k=k, min_score=0)).hits


def test_variants_are_one_hit_with_a_count_and_equal_pictures_answer_once(few: SearchEngine) -> None:
    hits = few_hits(few, "dot a", k=50)
    assert len(hits) == len({hit.words for hit in hits}) == 10
    assert (few_hits(few, "arrowUp")[0].words, few_hits(few, "arrowUp")[0].n_variants) == ("arrow up", 2)
    assert len({"dot-a", "copy-of-dot"} & {hit.name for hit in hits}) == 1


def test_similarity_is_the_weighted_sum_of_those_of_picture_and_name(
    few: SearchEngine, tiny_model: Path, folder: Path
) -> None:
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{tiny_model}"))
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    hit = few_hits(few, "dot b")[0]
    pixels = render((folder / "dot-b.svg").read_bytes(), size=32).pixels
    query = encoder.encode_texts(["dot b"])[0].astype(float)
    picture = encoder.encode_images(pixels[None])[0].astype(float)
    weight = few.manifest.weights.picture
    assert hit.similarity == pytest.approx(weight * picture @ query + (1 - weight) * 1.0, abs=2e-3)


def test_an_unreadable_newest_generation_lets_the_one_before_answer_with_a_warning(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    (icon_folder / "new.svg").write_text(disc(20, 20))
    build()
    library.generation(2).icons.write_bytes(b"half")
    with pytest.warns(UserWarning, match="generation 1 answers instead"):
        few = SearchEngine.open(library.root)
    assert few.generation.number == 1
    assert few.search("dot a")[0].words == "dot a"


def test_an_answer_says_the_generation_that_gave_it(
    build: Build, library: Library, icon_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Exchanged(SearchEngine):
        """Another generation is there as soon as one has answered."""

        def with_generation(self, question: Any) -> Any:
            answered = super().with_generation(question)
            self.refresh()
            return answered

    build(icon_folder)
    engine = Exchanged.open(library.root)
    (icon_folder / "comet.svg").write_text(disc(20, 20))
    build()
    asked = Answering(engine, "all icons", Query(), Filters(), ANYTHING)
    asked.show(as_json=True, long=False, sheet=None, is_opened=False)
    answer = json.loads(capsys.readouterr().out)
    assert (engine.generation.number, answer["generation"]) == (2, 1)
    assert "comet" not in {hit["name"] for hit in answer["hits"]}
