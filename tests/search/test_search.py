import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from conftest import Build, build_library, disc, draw_icons, svg

from indexer.errors import IconsError, LibraryError
from indexer.library.folder import Library
from search.engine import Hit, Query, SearchEngine, Window
from search.showing.sheets import sheet_html


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_icons(tmp_path_factory.mktemp("search") / "icons")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path, folder: Path) -> SearchEngine:
    """A library of twelve icons, opened; its encoder has random weights, so what it scores means nothing."""
    library = Library(tmp_path_factory.mktemp("search") / "library")
    build_library(library, tiny_model, [folder])
    return SearchEngine.open(library.root)


def ask(engine: SearchEngine, words: str, *, k: int = 10, offset: int = 0, flat: bool = False) -> Sequence[Hit]:
    window = Window(k=k, offset=offset, flat=flat, min_score=0)
    return engine.ask(Query(words=words), window=window).hits


@pytest.mark.parametrize("query", ["arrow up", "arrow-up", "arrowUp", "Arrow_Up", " ARROW  UP "])
def test_an_exact_name_comes_first_however_it_is_spelt(engine: SearchEngine, query: str) -> None:
    hit = ask(engine, query)[0]
    assert (hit.words, hit.exact, hit.n_variants) == ("arrow up", True, 2)


def test_variants_are_one_hit_with_a_count_and_equal_pictures_answer_once(engine: SearchEngine) -> None:
    hits = ask(engine, "dot a", k=50)
    assert len(hits) == 10
    assert len({hit.words for hit in hits}) == 10
    assert {"dot-a", "copy-of-dot"} & {hit.name for hit in hits}
    assert not {"dot-a", "copy-of-dot"} <= {hit.name for hit in hits}


def test_similarity_is_the_weighted_sum_of_those_of_picture_and_name(
    engine: SearchEngine, tiny_model: Path, folder: Path
) -> None:
    import torch

    from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
    from indexer.encoders.torch_encoder import Encoder
    from indexer.rendering.render import render

    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{tiny_model}"))
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    hit = ask(engine, "dot b")[0]
    pixels = render((folder / "dot-b.svg").read_bytes(), size=32).pixels
    query = encoder.encode_texts(["dot b"])[0].astype(float)
    picture = encoder.encode_images(pixels[None])[0].astype(float)
    weight = engine.manifest.weights.picture
    assert hit.name == "dot-b"
    assert hit.similarity == pytest.approx(weight * picture @ query + (1 - weight) * 1.0, abs=2e-3)


def test_hits_are_ordered_by_score_after_the_exact_ones(engine: SearchEngine) -> None:
    hits = ask(engine, "dot c", k=50)
    scores = [hit.score for hit in hits]
    assert [hit.exact for hit in hits] == sorted((hit.exact for hit in hits), reverse=True)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 5


def test_k_limits_the_hits(engine: SearchEngine) -> None:
    assert [len(ask(engine, "dot", k=k)) for k in (1, 3, 1000)] == [1, 3, 10]


def test_a_set_filter_keeps_other_sets_out_and_an_unknown_set_names_near_ones(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "symbols"
    other.mkdir()
    (other / "arrow-up.svg").write_text(svg('<path d="M2 2h20v20z"/>'))
    build(icon_folder, other)
    engine = SearchEngine.open(library.root)
    everything = Window(k=50, min_score=0)
    hits = engine.ask(Query(words="arrow up"), window=everything).hits
    assert {hit.set for hit in hits} == {"icons", "symbols"}
    assert [hit.set for hit in engine.search("arrow up", k=50, sets=["symbols"])] == ["symbols"]
    with pytest.raises(IconsError, match='no set "symbol" in this library; near: symbols'):
        engine.search("arrow", sets=["symbol"])


@pytest.mark.parametrize(("query", "k"), [("", 10), ("   ", 10), ("arrow", 0)])
def test_a_query_that_asks_nothing_is_refused(engine: SearchEngine, query: str, k: int) -> None:
    with pytest.raises(IconsError):
        engine.search(query, k=k)


@pytest.mark.parametrize(
    "query", ["->", "c++", "'; DROP TABLE icons; --", "AND OR NOT", "🎉", "שלום", "x" * 10_000, "a\x00b", "*"]
)
def test_odd_queries_are_answered(engine: SearchEngine, query: str) -> None:
    assert len(ask(engine, query)) == 10


def test_a_hit_is_plain_data_and_gives_its_picture(engine: SearchEngine, folder: Path) -> None:
    hit = ask(engine, "dot e")[0]
    assert hit.path == str(folder / "dot-e.svg")
    assert json.loads(json.dumps(asdict(hit)))["set"] == "icons"
    assert engine.picture(hit.id) == (folder / "dot-e.svg").read_bytes()


def test_an_unreadable_newest_generation_lets_the_one_before_answer_with_a_warning(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    (icon_folder / "new.svg").write_text(disc(20, 20))
    build()
    library.generation(2).icons.write_bytes(b"half")
    with pytest.warns(UserWarning, match="generation 1 answers instead"):
        engine = SearchEngine.open(library.root)
    assert engine.generation.number == 1
    assert engine.search("dot a")[0].words == "dot a"


def test_searching_before_any_library_exists_says_what_to_run(library: Library) -> None:
    with pytest.raises(LibraryError, match="`icons index SOURCE` builds one"):
        SearchEngine.open(library.root)


def test_a_sheet_shows_every_hit_and_runs_no_script(engine: SearchEngine) -> None:
    hits = ask(engine, "dot", k=5)
    hostile = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    page = sheet_html("<i>dot</i>", [(hit, hostile) for hit in hits])
    assert page.count("<img ") == 5
    assert "<script" not in page and "<i>dot" not in page
