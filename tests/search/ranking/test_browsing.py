"""Without a query icons come in the order of a sort, each once, all of them counted; cards show what sets are like."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from called_icons import LUCIDE, MAP, MDI
from conftest import build_library, disc

from indexer.errors import IconsError
from indexer.library.folder import Library
from search.answering.answer import N_SAMPLED
from search.engine import Filters, Query, SearchEngine, Window
from search.query import MOST_HITS, Sort

ROWS = (  # name, set, style, place of its disc
    ("arrow-10", "beta", "", 1),
    ("arrow-2", "beta", "", 2),
    ("arrow-2-filled", "beta", "filled", 3),
    ("Arrow-1", "beta", "", 4),
    ("arrow_3", "beta", "", 5),
    ("arrowhead", "beta", "", 6),
    ("home", "alpha", "", 7),
    ("arrow-2", "alpha", "", 8),
    ("arrow-007", "alpha", "", 9),
    ("house", "alpha", "", 7),
)
"""Ids count them from 1. "house" has the drawing of "home", and "arrow-2" of beta two styles."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> SearchEngine:
    folder = tmp_path_factory.mktemp("browsed")
    lines = []
    for number, (name, own_set, style, place) in enumerate(ROWS):
        (folder / f"{number}.svg").write_text(disc(place, place))
        row = {"file_path": f"{number}.svg", "name": name, "set": own_set, "style": style, "licence": "MIT"}
        lines.append(json.dumps(row))
    (folder / "icons.jsonl").write_text("\n".join(lines) + "\n")
    library = Library(folder / "library")
    build_library(library, tiny_model, [folder / "icons.jsonl"])
    return SearchEngine.open(library.root)


def _keys(engine: SearchEngine, sort: Sort = "relevance", *, sets: Sequence[str] = (), flat: bool = False) -> list[str]:
    answer = engine.ask(Query(), filters=Filters(sets=tuple(sets)), window=Window(k=50, sort=sort, flat=flat))
    assert (answer.n_found, answer.is_more, answer.is_doubtful) == (len(answer.hits), False, False)
    return [hit.key for hit in answer.hits]


ALPHA = ["alpha:arrow-2", "alpha:arrow-007", "alpha:home"]
BETA = ["beta:Arrow-1", "beta:arrow-2", "beta:arrow_3", "beta:arrow-10", "beta:arrowhead"]


def test_nothing_asked_shows_all_sets_and_in_each_of_them_names_as_people_count(engine: SearchEngine) -> None:
    assert _keys(engine) == _keys(engine, "set") == [*ALPHA, *BETA]
    assert _keys(engine, sets=["beta"]) == BETA


def test_names_sort_over_all_sets(engine: SearchEngine) -> None:
    assert _keys(engine, "name") == [BETA[0], ALPHA[0], BETA[1], BETA[2], ALPHA[1], BETA[3], BETA[4], ALPHA[2]]


def test_the_newest_come_first(engine: SearchEngine) -> None:
    assert _keys(engine, "newest", flat=True) == [engine.show(icon).hit.key for icon in range(len(ROWS), 0, -1)]
    assert _keys(engine, "newest")[:2] == ["alpha:house", "alpha:arrow-007"]


def test_pages_follow_each_other_and_the_menu_counts_what_filters_leave(engine: SearchEngine) -> None:
    pages = [engine.ask(Query(), window=Window(k=3, offset=offset, facets=True)) for offset in (0, 3, 6, 9)]
    assert [hit.key for page in pages for hit in page.hits] == [*ALPHA, *BETA]
    assert {page.n_found for page in pages} == {8}
    assert {one.value: one.n for one in pages[0].facets["set"]} == {"alpha": len(ALPHA), "beta": len(BETA)}
    for one in pages[0].facets["style"]:
        assert engine.ask(Query(), filters=Filters(styles=(one.value,))).n_found == one.n


def test_the_hits_of_a_query_are_sorted_and_no_others(engine: SearchEngine) -> None:
    query = Query(words="arrow")
    ranked = engine.ask(query, window=Window(k=50))
    for sort in ("name", "set"):
        answer = engine.ask(query, window=Window(k=50, sort=sort))
        assert {hit.key for hit in answer.hits} == {hit.key for hit in ranked.hits}
        assert (answer.n_found, answer.is_doubtful) == (ranked.n_found, ranked.is_doubtful)
        found = [hit.key for hit in answer.hits]
        assert found == [key for key in _keys(engine, sort, flat=True) if key in found]


def test_browsing_goes_deeper_than_ranking(engine: SearchEngine) -> None:
    deep = Window(k=1, offset=MOST_HITS)
    assert engine.ask(Query(), window=deep).hits == []
    with pytest.raises(IconsError, match=r"beyond hit 10,000"):
        engine.ask(Query(words="arrow"), window=deep)


def test_every_set_has_a_card(called: Library) -> None:
    cards = {card.key: card for card in SearchEngine.open(called).sets()}
    assert list(cards) == ["fa6-solid", "lucide", "map", "mdi"]
    assert (cards["mdi"].title, cards["mdi"].n, cards["mdi"].styles) == (
        "Material Design Icons",
        len(MDI),
        ("outline",),
    )
    assert (cards["lucide"].n, cards["lucide"].licence_family) == (len(LUCIDE), "unknown")
    assert cards["map"].newest == len(LUCIDE) + len(MAP)


def test_a_sample_shows_the_usual_things_in_the_usual_style_then_others_and_no_drawing_twice(
    called: Library,
) -> None:
    cards = {card.key: card for card in SearchEngine.open(called).sets()}
    names = [hit.name for hit in cards["lucide"].sample]
    assert names[:3] == ["home", "bell", "star"]
    assert len(names) == len(set(names)) == N_SAMPLED
    # home-outline looks the same
    assert [hit.name for hit in cards["mdi"].sample] == ["home", "account", "bell", "star"]
    assert {hit.set for hit in cards["map"].sample} == {"map"}
