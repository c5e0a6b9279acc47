"""Icons are found by the tags that their source states, right after those that are named so."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Build, build_library

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.merging import calibration
from search.engine import Filters, Hit, Query, SearchEngine, Window

SAMPLES = bundled("samples/lucide-static")
TAGS = {
    "trash": ["dustbin", "throw away"],
    "heart": ["star", "E-Mail"],
    "star": ["rating"],
    "bell": ["alarm", "dustbin"],
    "moon": [],
}
PLAIN = ("house", "cloud", "arrow-left", "copy", "sun")


def _make_package(root: Path) -> Path:
    """Ten real icons of Lucide, as npm brings them; four of them state tags."""
    folder = root / "node_modules" / "lucide-static"
    (folder / "icons").mkdir(parents=True)
    shutil.copy(SAMPLES / "package.json", folder)
    for name in (*TAGS, *PLAIN):
        shutil.copy(SAMPLES / "icons" / f"{name}.svg", folder / "icons")
    return _state(folder, TAGS)


def _state(folder: Path, tags: dict[str, list[str]]) -> Path:
    (folder / "tags.json").write_text(json.dumps(tags))
    return folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return _make_package(tmp_path)


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    """A library of that package, which no test changes."""
    root = tmp_path_factory.mktemp("tagged")
    build_library(Library(root / "library"), tiny_model, [_make_package(root)])
    return Library(root / "library")


def _found(library: Library, words: str, **filters: tuple[str, ...]) -> list[Hit]:
    """All icons, best first: the encoder is random, so that only names and tags tell."""
    engine = SearchEngine.open(library.root)
    answer = engine.ask(Query(words=words), filters=Filters(**filters), window=Window(k=20, min_score=0))  # type: ignore[arg-type]
    return list(answer.hits)


def _names(hits: list[Hit]) -> list[str]:
    return [hit.name for hit in hits]


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
    assert len(hits) == 10
    assert set(_names(hits)[: len(first)]) == first
    assert not any(hit.exact for hit in hits)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_an_icon_that_is_named_so_comes_before_one_that_states_it(tagged: Library) -> None:
    star, heart, *others = _found(tagged, "star")
    assert (star.name, star.exact, heart.name, heart.exact) == ("star", True, "heart", False)
    assert star.score >= heart.score >= max(hit.score for hit in others)


def test_filters_hold_for_icons_that_state_the_query(tagged: Library) -> None:
    assert _names(_found(tagged, "dustbin", tags=("alarm",))) == ["bell"]
    assert _names(_found(tagged, "star", tags=("e-mail",))) == ["heart"]


def test_of_changed_tags_only_the_new_words_are_embedded(build: Build, library: Library, package: Path) -> None:
    build(package)
    _state(package, {**TAGS, "moon": ["night", "dustbin", "cloud"]})
    added = build()
    assert (added.embed.images, added.embed.names, added.generation) == (0, 1, 2)
    assert _names(_found(library, "night"))[0] == "moon"
    assert _names(_found(library, "cloud"))[:2] == ["cloud", "moon"]
    _state(package, {**TAGS, "trash": [], "bell": []})
    dropped = build()
    assert (dropped.embed.images, dropped.embed.names, dropped.generation) == (0, 0, 3)
    known = SearchEngine.open(library.root).facets()["tag"]
    assert {tag.value: tag.title for tag in known} == {"star": "star", "e mail": "E-Mail", "rating": "rating"}
    _state(package, TAGS)
    back = build()
    assert (back.embed.images, back.embed.names, back.generation) == (0, 0, 4)
    assert set(_names(_found(library, "dustbin"))[:2]) == {"trash", "bell"}


def test_an_icon_is_found_by_what_other_sets_say_of_its_name(tagged: Library) -> None:
    engine = SearchEngine.open(tagged.root)
    said = engine.explain(Query(words="garbage"), engine.find("lucide-static:trash"))
    assert "trash" in said.synonyms
    assert said.icon.evidence["synonyms"] == pytest.approx(calibration.SYNONYM)
