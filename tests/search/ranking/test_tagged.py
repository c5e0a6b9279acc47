"""Icons are found by the tags that their source states, right after those that are named so."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import build_library

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.engine import Filters, Hit, Query, SearchEngine, Window
from search.ranking import weights

SAMPLES = bundled("samples/lucide-static")
TAGS = {
    "trash": ["dustbin", "throw away"],
    "heart": ["star", "E-Mail"],
    "star": ["rating", "serpent", "2fa"],
    "bell": ["alarm", "dustbin"],
    "moon": ["legume"],
    "sun": ["vegetable"],
}
PLAIN = ("house", "cloud", "arrow-left", "copy")


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    """A library of ten real icons of Lucide, as npm brings them; some of them state tags."""
    root = tmp_path_factory.mktemp("tagged")
    folder = root / "node_modules" / "lucide-static"
    (folder / "icons").mkdir(parents=True)
    shutil.copy(SAMPLES / "package.json", folder)
    for name in (*TAGS, *PLAIN):
        shutil.copy(SAMPLES / "icons" / f"{name}.svg", folder / "icons")
    (folder / "tags.json").write_text(json.dumps(TAGS))
    build_library(Library(root / "library"), tiny_model, [folder])
    return Library(root / "library")


def _found(library: Library, words: str, **filters: tuple[str, ...]) -> list[Hit]:
    """All icons, best first: the encoder is random, so that only names and tags tell."""
    only, window = Filters(**filters), Window(k=20, min_score=0)  # type: ignore[arg-type]
    return list(SearchEngine.open(library.root).ask(Query(words=words), filters=only, window=window).hits)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("dustbin", {"trash", "bell"}),
        ("Throw-away", {"trash"}),
        ("e mail", {"heart"}),
        ("rating", {"star"}),
    ],
)
def test_the_icons_that_state_a_tag_come_first_though_they_are_called_something_else(
    tagged: Library, query: str, first: set[str]
) -> None:
    hits = _found(tagged, query)
    assert (len(hits), {hit.name for hit in hits[: len(first)]}) == (10, first)
    assert not any(hit.exact for hit in hits)
    assert hits == sorted(hits, key=lambda hit: -hit.score)


def test_an_icon_that_is_named_so_comes_before_one_that_states_it(tagged: Library) -> None:
    star, heart, *others = _found(tagged, "star")
    assert (star.name, star.exact, heart.name, heart.exact) == ("star", True, "heart", False)
    assert star.score >= heart.score >= max(hit.score for hit in others)


def test_filters_hold_for_icons_that_state_the_query(tagged: Library) -> None:
    assert [hit.name for hit in _found(tagged, "dustbin", tags=("alarm",))] == ["bell"]
    assert [hit.name for hit in _found(tagged, "star", tags=["e-mail"])] == ["heart"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "languages", "language"),
    [("serpent", (), None), ("serpent", ("fr-FR",), "fr"), ("hérisson", (), "fr"), ("2fa", (), None)],
)
def test_a_tag_of_usual_words_is_read_as_it_stands_unless_its_reader_says_otherwise(
    tagged: Library, words: str, languages: tuple[str, ...], language: str | None
) -> None:
    read_as = SearchEngine.open(tagged.root).ask(Query(words=words, languages=languages)).read_as
    assert (read_as and read_as.language) == language


def test_a_tag_as_it_is_typed_comes_before_one_that_it_says_in_another_language(tagged: Library) -> None:
    answer = SearchEngine.open(tagged.root).ask(Query(words="legume"), window=Window(k=20, min_score=0))
    assert answer.read_as and answer.read_as.english == "vegetable"
    assert answer.hits[0].name == "moon"
    assert _found(tagged, "Gemüse")[0].name == "sun"


def test_an_icon_is_found_by_what_other_sets_say_of_its_name_as_far_as_its_picture_says_it(tagged: Library) -> None:
    engine = SearchEngine.open(tagged.root)
    trash = engine.find("lucide-static:trash")
    assert 0 < engine.explain(Query(words="garbage"), trash).icon.evidence["synonyms"] < weights.SYNONYM
