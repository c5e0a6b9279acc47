"""An explanation says what a search makes of an icon; what a query leaves out is read in the language of its words."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from called_icons import N_ICONS
from click.testing import Result

from indexer.errors import IconsError, UnknownIconError
from indexer.library.folder import Library
from indexer.rendering.render import render
from search.engine import Filters, Query, SearchEngine, Window
from search.generation.opened import Opened, open_current
from search.query import Explanation
from search.ranking import weights
from search.ranking.features import SIGNALS, rows_of, words_of
from search.ranking.order import TIERS
from search.ranking.parsing import _read_in_english, parse_avoided, parse_query
from search.ranking.retrieve import question_of_words
from search.showing.tables import understood
from search.words.wording import read_phrase

QUERIES = (
    "star", "star not filled", "filled star", "mdi:home", "bell with a plus", "arow right", "place", "no smoking",
    "a round thing without arrow", "qwzxbv",
)  # fmt: skip


@pytest.fixture(scope="module")
def opened(called: Library) -> Opened:
    return open_current(called)


def _explain(engine: SearchEngine, words: str, key: str, *without: str, prefer: tuple[str, ...] = ()) -> Explanation:
    return engine.explain(Query(words=words, without=without, prefer=prefer), engine.find(key))


def test_cosines_are_those_of_the_vectors(engine: SearchEngine, opened: Opened) -> None:
    cosines = _explain(engine, "star", "lucide:bell").icon.cosines
    query, bell, *tags = opened.encoder.encode_many_words(["star", "bell", "alarm", "e mail"])
    size, content = opened.encoder.image_size, engine.picture(engine.find("lucide:bell"))
    picture = opened.encoder.encode_picture(render(content, size=size).pixels)
    direction = sum(tags) / np.linalg.norm(sum(tags))  # each once, however often it is stated
    weights = opened.manifest.weights
    seen = weights.picture * picture + (1 - weights.picture) * bell
    expected = {"picture": picture, "name": bell, "tags": direction}
    expected["fused"] = (1 - weights.tags) * seen + weights.tags * direction
    assert list(cosines) == list(expected)
    assert cosines == pytest.approx({arm: float(vector @ query) for arm, vector in expected.items()}, abs=3e-3)


@pytest.mark.parametrize("words", QUERIES)
@pytest.mark.parametrize("prefer", [(), ("mdi", "map")])
def test_evidence_is_what_features_weigh_and_ranks_within_tiers(
    engine: SearchEngine, words: str, prefer: tuple[str, ...]
) -> None:
    query = Query(words=words, without=("outline",), prefer=prefer)
    flat = Window(k=50, flat=True, min_score=0)
    hits = engine.ask(query, window=flat).hits
    judged = [engine.explain(query, hit.id, window=flat).icon for hit in hits]
    for one in judged:
        assert list(one.features) == list(one.weights) == list(one.evidence) == ["vectors", *SIGNALS]
        for name, value in one.evidence.items():
            assert one.features[name] * one.weights[name] == pytest.approx(value, abs=2e-3), name
    order = [(TIERS.index(one.tier), -sum(one.evidence.values())) for one in judged]
    assert len(order) == N_ICONS
    for (tier, evidence), (next_tier, next_evidence) in pairwise(order):
        assert tier < next_tier or (tier == next_tier and evidence <= next_evidence + 5e-3)


WINDOWS = [
    *({"flat": flat, "min_score": least} for flat in (True, False) for least in (None, 0, 0.4)),
    {"sort": "name"},
]
FILTERS = (Filters(), Filters(sets=("mdi", "map")), Filters(styles=("outline",)))


@pytest.mark.parametrize("words", QUERIES)
def test_place_score_and_first_are_those_of_the_answer(engine: SearchEngine, words: str) -> None:
    random = Random(words)
    for window, filters in random.sample([*product(WINDOWS, FILTERS)], 5):
        prefer = random.choice([(), ("mdi",), ("map", "fa6-solid")])
        query = Query(words=words, prefer=prefer, without=random.choice([(), ("filled",)]))
        hits = engine.ask(query, filters=filters, window=Window(k=50, **window)).hits  # type: ignore[arg-type]
        places = {hit.id: place for place, hit in enumerate(hits, start=1)}
        asked = Window(k=1, offset=random.randrange(9), **window)  # type: ignore[arg-type]
        flat = (Window(k=50, flat=True, min_score=least) for least in (0, window.get("min_score")))  # type: ignore[arg-type]
        left, good = ({hit.id for hit in engine.ask(query, filters=filters, window=one).hits} for one in flat)
        for icon in range(1, N_ICONS + 1):
            explanation = engine.explain(query, icon, filters=filters, window=asked)
            judged, shown = explanation.icon, explanation.shown
            stands = hits[judged.place - 1] if judged.place else None
            assert judged.rank == places.get(icon), (query, filters, window, judged.hit.key)
            assert shown.startswith("a hit") == (icon in places)
            if icon in places:
                assert stands and (stands.id, stands.score) == (icon, judged.hit.score)
            elif icon in good:
                how = rf"{stands and re.escape(stands.key)}, (its variant|which has its drawing)"
                assert re.fullmatch(rf"no hit of its own: {how}, stands for it as number {judged.place}", shown)
            else:
                assert not stands and ("the filters leave it out" in shown) == (icon not in left)
                assert "score" in shown or icon not in left
            assert (explanation.first and explanation.first.hit.id) == (hits[0].id if hits else None)


def test_why_an_icon_is_no_hit_is_true(engine: SearchEngine) -> None:
    everything = engine.ask(Query(words="cigarette"), window=Window(k=50, flat=True, min_score=0)).hits
    far = _explain(engine, "cigarette", everything[-1].key)
    matched = re.fullmatch(r"not a hit: its score (0\.[0-9]{3}) is below (0\.[0-9]{3})", far.shown)
    assert float(matched[1]) == pytest.approx(far.icon.hit.score, abs=1e-3)
    assert float(matched[2]) == pytest.approx(weights.SHARE_OF_BEST * everything[0].score, abs=1e-3)
    nothing = _explain(engine, "jrctpxwjv", "lucide:star")
    assert nothing.first is None and "no icon has a score of 0.1, the best one has 0.0" in nothing.shown


@pytest.mark.parametrize(
    ("words", "asked", "shown"),
    [
        ("jrctpxwjv", {"window": Window(min_score=0.5)}, " is below 0.500"),
        ("jrctpxwjv", {"filters": Filters(sets=("map",))}, "not a hit: the filters leave it out"),
        ("star", {"window": Window(sort="name", flat=True)}, "a hit, behind the first 1"),  # flat: none stands for it
    ],
)
def test_what_is_said_of_an_icon_that_is_not_shown_is_true_of_filters_and_window(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch, words: str, asked: dict[str, object], shown: str
) -> None:
    monkeypatch.setattr("search.answering.answer.MOST_COUNTED", 1)
    said = engine.explain(Query(words=words), engine.find("lucide:star-filled"), **asked).shown  # type: ignore[arg-type]
    assert said.endswith(shown)


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
    assert (
        filled["style"] == 0
        and filled["words"] == weights.WORDS
        and (plain["style"], plain["words"]) == (weights.STYLE, weights.WORDS)
    )
    left_out = _explain(engine, "star", "lucide:star-filled", "filled").icon
    assert (left_out.evidence["left out"], left_out.tier) == (weights.WITHOUT, "related")
    assert _explain(engine, "cigarette", "lucide:star", "star").shown.startswith(
        "not a hit: it is what is to be left out"
    )
    assert _explain(engine, "bell with a plus", "lucide:plus").icon.evidence["parts"] < 0
    plain, chosen = (_explain(engine, "star", "mdi:star", prefer=sets).icon.evidence for sets in ((), ("mdi",)))
    assert chosen["set"] - plain["set"] == pytest.approx(weights.PREFERRED, abs=1e-3)
    assert chosen["set first"] - plain["set first"] == pytest.approx(weights.SETS_FIRST * weights.PREFERRED, abs=1e-3)
    bell = _explain(engine, "flag", "lucide:bell").icon.evidence
    assert {name for name, value in bell.items() if value} <= {"vectors", "set", "usual"}


@pytest.mark.parametrize(("words", "drawing"), [("csat", "star"), ("breadcrumb", "home")])
def test_what_is_customarily_drawn_answers_where_no_name_does(engine: SearchEngine, words: str, drawing: str) -> None:
    first = engine.ask(Query(words=words)).hits[0]
    assert drawing in first.name
    assert _explain(engine, words, first.key).icon.evidence["drawn"] > 0


def test_a_set_that_names_it_draws_it_so(engine: SearchEngine, opened: Opened) -> None:
    asked = parse_query(opened, "csat")
    ids = np.array([engine.find(key) for key in ("lucide:star", "mdi:star", "fa6-solid:star")])

    def drawn(named: str) -> list[bool]:
        rows = rows_of(ids)
        rows["vectors"] = opened.icons.reconstruct(ids) @ asked.vector
        words_of(replace(question_of_words(opened, asked), fits=opened.lexicon.coverage(named)), rows)
        return list((rows["drawn"] > 0).tolist())

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


def test_the_command_shows_the_icon_beside_the_first(run: Callable[..., Result], called: Library) -> None:
    done = run("search", "star not filled", "--why", "lucide:bell", library=called.root)
    lines = done.stdout.splitlines()
    assert (done.exit_code, lines[0], lines[2]) == (0, "asked: star", "left out: filled"), done.output
    assert lines[1].startswith("other sets say it of: ") and lines[-1].startswith("lucide:bell is ")
    told = json.loads(run("search", "star", "--why", "lucide:bell", "--json", library=called.root).stdout)
    assert told["icon"]["hit"]["key"] == "lucide:bell"
    rows = {line.split("  ")[0]: line.split() for line in lines if line}
    assert rows["rank"][-1] == "1" and int(rows["rank"][1]) >= 3
    assert "its name is the query" in " ".join(rows["answers"])
    assert list(rows)[-4:-1] == ["answers", "score", "rank"]  # also behind what one of both has alone


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Stern -Kreis", "star -circle"),
        ("-Kreis Stern", "star -circle"),
        ("Stern -Kreis links", "star left -circle"),
        ("étoile -cercle -carré", "star -circle -square"),
        ("Pfeil -circle", "arrow -circle"),
        ("Pfeil -qwzxbv", "arrow -qwzxbv"),
        ("Pfeil without circle", "arrow without circle"),
        ("Pfeil without Kreis", "arrow without circle"),
        ("étoile not filled", "star not filled"),
    ],
)
def test_what_is_left_out_is_read_in_the_language_of_the_rest(opened: Opened, text: str, english: str) -> None:
    reading, said = _read_in_english(opened, text, ())
    assert reading is not None and said == english and read_phrase(said).without


@pytest.mark.parametrize(
    "text", ["bell -filled", "chat without dot", "-filled", "🪙", "→ ←", "sign in", "morning", "dream", "circole"]
)
def test_english_its_slips_and_signs_stay_as_they_are(opened: Opened, text: str) -> None:
    assert _read_in_english(opened, text, ()) == (None, text)
    assert _read_in_english(opened, text, ("en-US", "fr")) == (None, text)


def test_no_and_not_are_words_of_other_languages_too(opened: Opened) -> None:
    assert _read_in_english(opened, "no disponible", ("es",))[0] is not None
    assert "without" not in _read_in_english(opened, "mostrar no mapa", ("pt-BR",))[1]


@pytest.mark.parametrize(
    ("words", "without", "languages", "avoided"),
    [
        ("Stern", ("gefüllt",), (), ("filled",)),
        ("Stern -Kreis", ("gefüllt",), (), ("circle", "filled")),
        ("star", ("gefüllt", "circle"), ("de",), ("filled", "circle")),
        ("star", ("filled",), (), ("filled",)),
    ],
)
def test_what_is_left_out_beside_the_words_is_read_too(
    opened: Opened, words: str, without: tuple[str, ...], languages: tuple[str, ...], avoided: tuple[str, ...]
) -> None:
    query = Query(words=words, without=without, languages=languages)
    assert parse_avoided(opened, query, parse_query(opened, words, languages=languages)).words == avoided
