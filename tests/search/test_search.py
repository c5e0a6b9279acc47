from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Build, build_library, disc, draw_icons

from indexer.errors import LibraryError
from indexer.library.folder import Library
from search.engine import Hit, Query, SearchEngine, Window


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
