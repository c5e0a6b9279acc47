"""Are counts the same on every page of an answer, and as many as a filter then leaves? Asked of real icons."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from random import Random
from shutil import copyfile

import numpy as np
import pytest
from conftest import Silent

from indexer.embedding.planning import EmbedOptions
from indexer.library.bundled import bundled
from indexer.library.folder import ORDERS, Library, Order
from indexer.merging.browsing import first_of_groups, group_many
from indexer.merging.manifest import PQ
from indexer.pipeline import IndexOptions, index
from search.engine import Filters, Query, SearchEngine, Window
from search.generation.backend import FIELDS
from search.query import Answer
from search.ranking.combine import ScoreCutoff, least_score
from search.ranking.features import rows_of
from search.ranking.order import ranked
from search.ranking.weights import LEAST_SCORE, SHARE_OF_BEST

SLOW = pytest.mark.slow
QUERIES = [
    Query(words="arrow"),
    Query(words="home filled"),
    Query(words="go back", without=("circle",)),
    Query(words="a cup with steam"),
    Query(words="qwertzuiop"),
    Query(words="t0", keyword=True),
    Query(icon=1),
    Query(words="round", picture=(bundled("samples/lucide-static") / "icons" / "clock.svg").read_bytes()),
    Query(words="arrow left", prefer=("second",)),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """Every tenth sample icon in one set, half of them in another one, too, and some under a second name."""
    place = tmp_path_factory.mktemp("counted")
    icons = sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))[::10]
    lines = ["file_path,name,set,tags,categories,licence,style,size"]
    for number, file in enumerate(icons):
        copyfile(file, place / file.name)
        tags, licence = f"t{number % 3};{file.stem.split('-')[0]}", ("MIT", "mit", "CC-BY-4.0", "")[number % 4]
        of_set = f"{tags},c{number % 5},{licence},{('', 'outline')[number % 2]},{(16, 24)[number % 2]}"
        lines.append(f"{file.name},{file.stem},first,{of_set}")
        if number % 2:
            lines.append(f"{file.name},{file.stem},second,{of_set}")
        if number % 3 == 0 and number:
            lines.append(f"{icons[number - 1].name},{file.stem}-filled,first,{tags},c9,MIT,filled,24")
    (place / "icons.csv").write_text("\n".join(lines) + "\n")
    library = Library(place / "library")
    how = EmbedOptions(batch_size=64, workers=0, precision="fp32")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.merging.manifest.RULE", ((2_000_000, PQ),))  # as in libraries of hundred thousands
        index(library, IndexOptions(sources=[place / "icons.csv"], devices="cpu", embed=how), Silent())
    return SearchEngine.open(library.root)


@pytest.fixture(params=[pytest.param(2_500, marks=SLOW), 20])
def first_look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many candidates are asked for at first: more than there are, or so few that steps follow."""
    monkeypatch.setattr("search.ranking.retrieve.N_CANDIDATES", request.param)
    return int(request.param)


def _menu(answer: Answer) -> Iterator[tuple[Filters, int]]:
    """Every filter of a menu, and how many hits it is said to leave."""
    for kind, counts in answer.facets.items():
        field = {**FIELDS, "family": "licences", "size": "sizes"}.get(kind, kind)
        for count in counts:
            value = count.value == "true" if field == kind else (int(count.value) if kind == "size" else count.value,)
            yield Filters(**{field: value}), count.n


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "window",
    [{}, *(pytest.param(window, marks=SLOW) for window in ({"flat": True}, {"min_score": 0.3}, {"min_score": 0}))],
    ids=str,
)
def test_a_filter_leaves_as_many_hits_as_the_menu_counts(engine: SearchEngine, window: dict[str, float]) -> None:
    n_filters = 0
    for query in QUERIES:
        menu = list(_menu(engine.ask(query, window=Window(facets=True, **window))))  # type: ignore[arg-type]
        for filters, n in menu:
            answer = engine.ask(query, filters=filters, window=Window(k=1, **window))  # type: ignore[arg-type]
            assert (answer.n_found, answer.is_more) == (n, False), (query, filters)
        n_filters += len(menu)
    assert n_filters > 200


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("sort", ORDERS)
def test_a_merge_orders_and_counts_all_icons_as_a_search_does(engine: SearchEngine, sort: Order, flat: bool) -> None:
    window = Window(k=1_000, sort=sort, flat=flat, facets=True)
    of_merge = engine.ask(Query(), window=window)
    assert of_merge == engine.ask(Query(), filters=Filters(sets=("first", "second")), window=window)
    assert {kind for kind, counts in of_merge.facets.items() if not counts} == {"corner"}


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "filters", [Filters(), pytest.param(Filters(sets=("second",)), marks=SLOW), Filters(licences=("MIT",))], ids=str
)
def test_all_pages_together_hold_the_hits_that_each_of_them_counts(engine: SearchEngine, filters: Filters) -> None:
    for query in QUERIES:
        cuts = [0, *sorted(Random(query.words).sample(range(1, 480), 14)), 480]
        asked = [Window(k=end - start, offset=start, facets=start == cuts[3]) for start, end in pairwise(cuts)]
        pages = [engine.ask(query, filters=filters, window=window) for window in asked]
        assert len({(page.n_found, page.is_more) for page in pages}) == 1
        hits = [hit for page in pages for hit in page.hits]
        assert len({hit.id for hit in hits}) == len(hits) == pages[0].n_found
        assert hits == engine.ask(query, filters=filters, window=Window(k=480)).hits
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("filters", [Filters(), Filters(sets=("second",)), Filters(licences=("MIT",))], ids=str)
def test_pages_of_a_large_library_follow_each_other_where_codes_find_what_is_near(
    engine: SearchEngine, filters: Filters, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "search.ranking.results.N_SURE": 0,
        "search.ranking.retrieve.N_CANDIDATES": 40,
        "search.ranking.retrieve.N_FIRST": 20,
        "search.ranking.retrieve._ENOUGH": 15,
        "indexer.merging.vector_index.REFINED": 40,
    }.items():
        monkeypatch.setattr(name, value)
    for query in QUERIES:
        pages = [engine.ask(query, filters=filters, window=Window(k=20, offset=start)) for start in range(0, 480, 20)]
        hits = [hit for page in pages for hit in page.hits]
        assert hits == engine.ask(query, filters=filters, window=Window(k=480)).hits
        assert len({hit.id for hit in hits}) == len(hits) and len({page.counted for page in pages}) == 1
        assert pages[0].is_more or len(hits) == pages[0].n_found


@pytest.mark.usefixtures("first_look")
def test_a_lower_bound_says_so_on_every_page_and_pages_go_on_beyond_it(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = engine.ask(Query(words="arrow"), window=Window(k=1, min_score=0))
    assert not whole.is_more
    monkeypatch.setattr("search.ranking.results.MOST_COUNTED", 20)
    pages = [
        engine.ask(Query(words="arrow"), window=Window(k=10, offset=start, min_score=0))
        for start in range(0, whole.n_found + 10, 10)
    ]
    assert {(page.n_found, page.is_more, page.counted) for page in pages} == {(20, True, "20+")}
    ids = [hit.id for page in pages for hit in page.hits]
    assert len(ids) == len(set(ids)) == whole.n_found
    star, deep = Query(words="star", prefer=("second",)), Window(k=480, min_score=0)
    hits = engine.ask(star, window=deep).hits
    moved = " ".join(engine.explain(star, hit.id, window=deep).shown for hit in hits if hit.set == "second")
    replaced = re.findall("in the place of ([^ ]+), which has", moved)
    assert {hit.id for hit in hits}.isdisjoint(
        one.id for key in replaced for one in engine.show(engine.find(key)).variants
    )


def test_a_filter_that_leaves_no_good_hit_shows_the_nearest_and_calls_them_doubtful(engine: SearchEngine) -> None:
    n_near = 0
    for icon in range(1, 60, 2):
        least = SHARE_OF_BEST * engine.ask(Query(icon=icon)).hits[0].score
        for category in engine.facets()["category"]:
            answer = engine.ask(Query(icon=icon), filters=Filters(categories=(category.value,)))
            assert answer.hits
            if answer.hits[0].score < least:
                assert answer.is_doubtful
                n_near += 1
    assert n_near >= 1


def group(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """The obvious way: the first of each group and of each drawing."""
    kept: list[int] = []
    seen: set[tuple[str, int]] = set()
    for place, (variants, drawing) in enumerate(pairs):
        if seen.isdisjoint({("group", variants), ("drawing", drawing)}):
            kept.append(place)
            seen |= {("group", variants), ("drawing", drawing)}
    return kept


def test_many_candidates_are_grouped_as_they_are_one_by_one() -> None:
    random = np.random.default_rng(5)
    for n in (0, 1, 7, 60, 400):
        for most in (2, n // 3 + 1, 10 * n + 1):
            variants, drawings = random.integers(0, most, (2, n))
            pairs = [*zip(variants.tolist(), drawings.tolist(), strict=True)]
            assert group_many(variants, drawings).tolist() == group(pairs)
            far = 2**62 // (most + 1)  # no room for a place beside them
            assert group_many(variants * far, drawings * far).tolist() == group(pairs)


def test_hits_are_counted_for_each_code_as_if_there_were_no_other() -> None:
    random = np.random.default_rng(6)
    chain = random.permutation(200)  # each shares a group with the next: other codes far away decide, too
    for most in (3, 90, 2000, 0):
        variants, drawings = random.integers(0, most, (2, 200)) if most else (chain // 2, (chain + 1) // 2)
        places, codes = np.sort(random.integers(0, 200, 900)), random.integers(0, 40, 900)
        if not most:
            places, codes = np.arange(200), (chain % 41 == 7).astype(np.int64)
        places, codes = np.unique(np.stack([places, codes]), axis=1)
        hits = set(first_of_groups(variants, drawings)(places, codes).tolist())
        for code in range(40):
            own = np.flatnonzero(codes == code)
            pairs = zip(variants[places[own]].tolist(), drawings[places[own]].tolist(), strict=True)
            assert hits & set(own.tolist()) == set(own[group(pairs)].tolist())


def test_scores_fall_in_the_order_of_the_answer_whatever_the_evidence() -> None:
    random = np.random.default_rng(0)
    for n in range(1, 60):
        rows = rows_of(np.arange(n))
        rows["evidence"], rows["tier"] = random.normal(10, 6, n), random.integers(0, 4, n)
        rows["score"] = random.random(n)
        hits = ranked(ScoreCutoff.of(rows, 0, is_never_empty=False).hits(rows))
        best_after = np.maximum.accumulate(hits["score"][::-1])[::-1]
        is_last_of_tier = np.diff(hits["tier"], append=4) > 0
        assert (np.diff(hits["tier"]) >= 0).all()
        for place in np.flatnonzero(is_last_of_tier[:-1]):
            assert hits["score"][: place + 1].min() >= best_after[place + 1]


@pytest.mark.parametrize(
    ("scores", "is_never_empty", "kept"),
    [
        ([0.9, SHARE_OF_BEST * 0.9 + 0.01, SHARE_OF_BEST * 0.9 - 0.01], False, 2),
        ([LEAST_SCORE + 0.01, LEAST_SCORE + 0.01, LEAST_SCORE - 0.01], False, 2),
        ([LEAST_SCORE - 0.01, 0.08], False, 0),
        ([], False, 0),
        ([0.08, 0.03, 0.01], True, 2),
    ],
)
def test_an_answer_holds_what_is_good_enough(scores: list[float], is_never_empty: bool, kept: int) -> None:
    found = np.array(scores, np.float32)
    assert (found >= least_score(max(scores, default=0), is_never_empty=is_never_empty)).sum() == kept
