"""Of variants the plain one is shown, unless another one is asked for."""

import json
import re

import pytest
from conftest import Silent

from indexer.embedding.planning import EmbedOptions
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, index
from search.engine import SearchEngine
from search.query import Filters, Query, Window

NAMES = (
    "bell", "moon-star", "log-out", "trash", "house", "settings", "phone", "user", "star", "heart", "calendar", "sun",
)  # fmt: skip
WIDTHS = {"": 2, "-bold": 3, "-light": 1.5, "-thin": 1}
WAYS = (
    "log out", "leave this page", "dark mode", "night", "delete", "rubbish", "notifications", "go home", "call",
    "preferences", "favourite", "like", "appointment", "profile", "brightness",
)  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """A set in four weights and filled, whose plain icons bear the name alone."""
    root = tmp_path_factory.mktemp("weights")
    icons = {}
    for name in NAMES:
        sample = (bundled("samples/lucide-static") / "icons" / f"{name}.svg").read_text()
        [body] = re.findall("<svg[^>]*>(.*)</svg>", sample, re.DOTALL)
        for suffix, width in WIDTHS.items():
            look = f'fill="none" stroke="currentColor" stroke-width="{width}"'
            icons[f"{name}{suffix}"] = {"body": f"<g {look}>{body}</g>"}
        icons[f"{name}-fill"] = {"body": f'<g fill="currentColor">{body}</g>'}
    whole = {"prefix": "ph", "info": {"name": "Phosphor"}, "icons": icons, "width": 24, "height": 24}
    (root / "ph.json").write_text(json.dumps(whole))
    how = EmbedOptions(batch_size=32, workers=0, precision="fp32")
    index(Library(root / "library"), IndexOptions(sources=[root / "ph.json"], devices="cpu", embed=how), Silent())
    return SearchEngine.open(root / "library")


def _names(engine: SearchEngine, query: Query, **filters: tuple[str, ...]) -> list[str]:
    found = engine.ask(query, filters=Filters(**filters), window=Window(k=5, min_score=0))  # type: ignore[arg-type]
    return [hit.name for hit in found.hits]


def test_hits_are_plain_where_no_style_is_asked_or_outlines_are_or_something_is_left_out(engine: SearchEngine) -> None:
    for words in WAYS:
        assert set(_names(engine, Query(words=words))) <= set(NAMES), words
        assert set(_names(engine, Query(words=words), styles=("outline",))) <= set(NAMES), words
        assert set(_names(engine, Query(words=words, without=("bold",)))) <= set(NAMES), words


def test_the_plain_one_has_the_score_of_the_best(engine: SearchEngine) -> None:
    for words in WAYS:
        each = engine.ask(Query(words=words), window=Window(k=1, min_score=0, flat=True)).hits[0]
        first = engine.ask(Query(words=words), window=Window(k=5, min_score=0)).hits[0]
        assert (first.words, first.score) == (each.words, each.score)


@pytest.mark.parametrize("words", ["filled bell", "bell fill", "solid bell"])
def test_a_style_that_is_asked_is_shown(engine: SearchEngine, words: str) -> None:
    assert _names(engine, Query(words=words))[0] == "bell-fill"


@pytest.mark.parametrize(
    ("words", "meaning", "suffixes"),
    [
        ("thin outline bell", "bell", ["-thin"]),
        ("bell in thin line style", "bell", ["-thin"]),
        ("hollow heart", "heart", ["", "-bold", "-light", "-thin"]),
        ("line style trash icon", "trash", ["", "-light", "-thin"]),
        ("filled stars please", "star", ["-fill"]),
        ("i need a solid icon for a user", "user", ["-fill"]),
        ("not outlined heart", "heart", ["-fill", "-bold"]),
        ("unfilled heart", "heart", ["", "-light", "-thin"]),
        ("phones", "phone", [""]),
    ],
)
def test_of_sentences_the_thing_is_found_in_the_style_that_is_asked(
    engine: SearchEngine, words: str, meaning: str, suffixes: list[str]
) -> None:
    hits = engine.ask(Query(words=words)).hits
    assert hits[0].name in [f"{meaning}{suffix}" for suffix in suffixes]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("words", ["bell bold", "bell-bold", "ph:bell-bold", "BellBold"])
def test_a_name_that_states_its_weight_is_found_as_it_is_spelt(engine: SearchEngine, words: str) -> None:
    hit = engine.search(words)[0]
    assert (hit.name, hit.exact) == ("bell-bold", True)


def test_a_variant_in_a_style_to_be_left_out_stands_for_no_other(engine: SearchEngine) -> None:
    found = engine.ask(Query(words="bell", without=("outline",)), window=Window(k=1)).hits
    assert [(hit.words, "outline" in (hit.style or "")) for hit in found] == [("bell", False)]


@pytest.mark.parametrize("name", ["bell-bold", "trash-fill", "star"])
def test_a_picture_finds_the_variant_that_is_most_like_it(engine: SearchEngine, name: str) -> None:
    assert _names(engine, Query(picture=engine.picture(engine.find(f"ph:{name}"))))[0] == name
