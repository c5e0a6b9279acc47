"""An explanation says what a search makes of an icon: its vectors, its evidence, its place."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from called_icons import N_ICONS
from click.testing import Result

from indexer.errors import IconsError, UnknownIconError
from indexer.library.folder import Library
from indexer.merging import manifest
from indexer.rendering.render import render
from search.engine import Query, SearchEngine, Window
from search.generation.labels import PREFERRED
from search.generation.opened import Opened, open_current
from search.ranking.candidates import SearchScope, by_words, evidence_for
from search.ranking.order import SHARE_OF_BEST
from search.ranking.parsing import parse_avoided, parse_query
from search.results import Explanation
from search.showing.tables import understood

QUERIES = (
    "star", "star not filled", "filled star", "mdi:home", "bell with a plus", "arow right", "place", "no smoking",
    "a round thing without arrow", "qwzxbv",
)  # fmt: skip


@pytest.fixture(scope="module")
def engine(called: Library) -> SearchEngine:
    return SearchEngine.open(called.root)


@pytest.fixture(scope="module")
def opened(called: Library) -> Opened:
    return open_current(called)


def _explain(engine: SearchEngine, words: str, key: str, *without: str, prefer: tuple[str, ...] = ()) -> Explanation:
    return engine.explain(Query(words=words, without=without, prefer=prefer), engine.find(key))


def test_cosines_are_those_of_the_vectors(engine: SearchEngine, opened: Opened) -> None:
    cosines = _explain(engine, "star", "lucide:bell").icon.cosines
    encode, query = opened.encoder.encode_words, opened.encoder.encode_words("star")
    size, content = opened.encoder.image_size, engine.picture(engine.find("lucide:bell"))
    picture = opened.encoder.encode_picture(render(content, size=size).pixels)
    tags = encode("alarm") + encode("e mail")  # each once, however often it is stated
    direction = tags / np.linalg.norm(tags)
    weights = opened.manifest.weights
    seen = weights.picture * picture + (1 - weights.picture) * encode("bell")
    expected = {"picture": picture, "name": encode("bell"), "tags": direction}
    expected["fused"] = (1 - weights.tags) * seen + weights.tags * direction
    assert list(cosines) == list(expected)
    assert cosines == pytest.approx({arm: float(vector @ query) for arm, vector in expected.items()}, abs=3e-3)


@pytest.mark.parametrize("words", QUERIES)
@pytest.mark.parametrize("prefer", [(), ("mdi", "map")])
def test_evidence_adds_up_to_what_icons_are_ranked_by(
    engine: SearchEngine, opened: Opened, words: str, prefer: tuple[str, ...]
) -> None:
    asked = parse_query(opened, words, prefer=prefer)
    avoided = parse_avoided(opened, Query(words=words, without=("outline",)), asked)
    found = by_words(opened, asked, avoided, SearchScope(1_000))
    assert len(found.ids) == N_ICONS
    of_icons = dict(zip(found.ids.tolist(), found.evidence.tolist(), strict=True))
    for icon, log_odds in of_icons.items():
        judged = engine.explain(Query(words=words, without=("outline",), prefer=prefer), icon).icon
        assert sum(judged.evidence.values()) == pytest.approx(log_odds, abs=5e-3), judged.hit.key


@pytest.mark.parametrize("words", QUERIES)
def test_rank_score_and_what_is_shown_are_those_of_the_answer(engine: SearchEngine, words: str) -> None:
    everything = engine.ask(Query(words=words), window=Window(k=50, flat=True, min_score=0)).hits
    shown = {hit.id for hit in engine.ask(Query(words=words), window=Window(k=50, flat=True)).hits}
    assert len(everything) == N_ICONS
    for place, hit in enumerate(everything, start=1):
        explanation = engine.explain(Query(words=words), hit.id)
        assert (explanation.icon.rank, explanation.icon.hit.score) == (place, hit.score)
        assert explanation.icon.hit.similarity == pytest.approx(hit.similarity, abs=2e-4)
        assert (explanation.icon.tier in ("called", "named")) == hit.exact
        assert (explanation.shown == "a hit") == (hit.id in shown)
        assert (explanation.first is None) == (not shown)
        if explanation.first:
            assert (explanation.first.hit.id, explanation.first.rank) == (everything[0].id, 1)


def test_why_an_icon_is_no_hit_is_true(engine: SearchEngine) -> None:
    everything = engine.ask(Query(words="cigarette"), window=Window(k=50, flat=True, min_score=0)).hits
    far = _explain(engine, "cigarette", everything[-1].key)
    matched = re.fullmatch(r"not a hit: its score (0\.[0-9]{3}) is below (0\.[0-9]{3})", far.shown)
    assert float(matched[1]) == pytest.approx(far.icon.hit.score, abs=1e-3)
    assert float(matched[2]) == pytest.approx(SHARE_OF_BEST * everything[0].score, abs=1e-3)
    assert far.icon.hit.score < float(matched[2])
    nothing = _explain(engine, "jrctpxwjv", "lucide:star")
    told = "not a hit: no icon has a score of 0.1, the best one has 0.0"
    assert nothing.first is None and nothing.shown.startswith(told)


@pytest.mark.parametrize(
    ("words", "key", "tier"),
    [
        ("mdi:home", "mdi:home", "called"),
        ("home", "mdi:home", "named"),
        ("filled star", "lucide:star-filled", "named"),
        ("rating", "lucide:star-filled", "stated"),
        ("star", "lucide:bell", "related"),
        ("star not filled", "lucide:star-filled", "related"),
        ("arow right", "lucide:arrow-right", "related"),
    ],
)
def test_the_tier_is_how_directly_an_icon_answers(engine: SearchEngine, words: str, key: str, tier: str) -> None:
    assert _explain(engine, words, key).icon.tier == tier


def test_each_kind_of_evidence_is_told_where_it_says_something(engine: SearchEngine) -> None:
    filled, plain = (_explain(engine, "filled star", key).icon.evidence for key in ("lucide:star-filled", "mdi:star"))
    assert (filled["style"], filled["words"]) == (manifest.SAYS_STYLE, manifest.COVERAGE)
    assert (plain["style"], plain["words"]) == (-manifest.STYLE, manifest.COVERAGE)
    left_out = _explain(engine, "star", "lucide:star-filled", "filled").icon
    assert (left_out.evidence["left out"], left_out.tier) == (manifest.WITHOUT, "related")
    assert _explain(engine, "bell with a plus", "lucide:plus").icon.evidence["parts"] < 0
    plain, chosen = (_explain(engine, "star", "mdi:star", prefer=sets).icon.evidence for sets in ((), ("mdi",)))
    assert chosen["set"] - plain["set"] == pytest.approx((1 + manifest.SETS_FIRST) * PREFERRED, abs=1e-3)
    assert set(_explain(engine, "flag", "lucide:bell").icon.evidence) <= {"vectors", "set"}


@pytest.mark.parametrize(("words", "drawing"), [("csat", "star"), ("breadcrumb", "home")])
def test_what_is_customarily_drawn_answers_where_no_name_does(engine: SearchEngine, words: str, drawing: str) -> None:
    first = engine.ask(Query(words=words)).hits[0]
    assert drawing in first.name
    assert _explain(engine, words, first.key).icon.evidence["drawn"] > 0


def test_a_set_that_names_it_draws_it_so(engine: SearchEngine, opened: Opened) -> None:
    asked = parse_query(opened, "csat")
    ids = np.array([engine.find(key) for key in ("lucide:star", "mdi:star", "fa6-solid:star")])
    cosines = opened.icons.reconstruct(ids) @ asked.vector

    def drawn(named: str) -> list[bool]:
        return (evidence_for(opened, asked, opened.lexicon.fits(named), ids, cosines)["drawn"] > 0).tolist()

    assert drawn("csat") == [True, True, True]
    assert drawn("account") == [True, False, True]  # a name of mdi alone


def test_what_was_understood_is_told(engine: SearchEngine) -> None:
    explanation = _explain(engine, "filled satr with a plus, no circle", "lucide:star", "bell")
    assert list(understood(explanation)) == [
        "asked: satr with a plus, perhaps star plus",
        "style: filled, of star plus",
        "parts: filled satr, plus",
        "left out: circle, bell",
    ]
    customary = _explain(engine, "csat", "lucide:star")
    assert list(understood(customary)) == ["asked: csat", f"customarily drawn: {', '.join(customary.drawn)}"]


def test_only_words_are_explained(engine: SearchEngine) -> None:
    drawing = engine.picture(engine.find("lucide:star"))
    icon = engine.find("lucide:star")
    for query in (
        Query(picture=drawing),
        Query(words="star", picture=drawing),
        Query(words="star", icon=icon),
        Query(words="star", keyword=True),
        Query(words=drawing.decode()),
    ):
        with pytest.raises(IconsError, match="only a query of words alone can be explained"):
            engine.explain(query, icon)
    with pytest.raises(IconsError, match="the query is empty"):
        engine.explain(Query(words=" "), icon)
    with pytest.raises(UnknownIconError, match='no icon has the id "999"'):
        engine.explain(Query(words="star"), 999)


Run = Callable[..., Result]


def test_the_command_shows_the_icon_beside_the_first(run: Run, called: Library) -> None:
    done = run("search", "star not filled", "--why", "lucide:bell", library=called.root)
    lines = done.stdout.splitlines()
    assert (done.exit_code, lines[0], lines[2]) == (0, "asked: star", "left out: filled"), done.output
    assert lines[1].startswith("other sets say it of: ") and lines[-1].startswith("lucide:bell is ")
    told = json.loads(run("search", "star", "--why", "lucide:bell", "--json", library=called.root).stdout)
    assert told["icon"]["hit"]["key"] == "lucide:bell"
    rows = {line.split("  ")[0]: line.split() for line in lines if line}
    assert rows["rank"][-1] == "1" and int(rows["rank"][1]) > 3
    assert "its name is the query" in " ".join(rows["answers"])
    assert list(rows)[-4:-1] == ["answers", "score", "rank"]  # also behind what one of both has alone
