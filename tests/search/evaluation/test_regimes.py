"""A library is asked with none, half and all of its tags known, as if its sources stated no others."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import build_library, draw_icons

from indexer.languages.words import normalise
from indexer.library.folder import Library
from indexer.reports.figures import Figure
from search.engine import Query, SearchEngine, Window
from search.evaluation.evaluate import EvaluateOptions, Subject, evaluate
from search.evaluation.findings import Evaluation, Row
from search.evaluation.queries import ALL_TAGS, HALF, NO_TAGS, TAG, BenchmarkQuery, Question, Tags, regimes
from search.evaluation.rankers import (
    Contender,
    EngineRanker,
    KeywordRanker,
    VectorRankers,
    encode_texts,
    find_contenders,
    read_vectors_of,
)

STATED = {
    "arrow-up": "north, Ascend, e-mail",
    "arrow-up-filled": "north",
    "dot-a": "round, full",
    "dot-b": "round, e-mail, full, tiny point",
    "dot-c": "arrow up",
    "dot-d": "round",
}


def _tags(*of_icons: str) -> Tags:
    """Tags of icons that are given a letter each, row by row."""
    words = sorted({letter for tags in of_icons for letter in tags})
    pairs = [(row, words.index(letter)) for row, tags in enumerate(of_icons) for letter in tags]
    rows, codes = np.array(pairs, np.int64).reshape(-1, 2).T
    return Tags(words, rows, codes)


def _stated(tags: Tags) -> list[tuple[int, str]]:
    return [(row, tags.words[code]) for row, code in zip(tags.rows.tolist(), tags.codes.tolist(), strict=True)]


MANY = _tags(*("abcdefghij"[: number % 8] for number in range(200)))


def test_half_hides_the_larger_half_of_each_icon_s_tags_by_a_lot_of_its_own() -> None:
    n_hidden = Counter(MANY.rows[~MANY.half(seed=1)].tolist())
    assert [n_hidden[row] for row in range(200)] == [-(-(row % 8) // 2) for row in range(200)]
    assert np.array_equal(MANY.half(seed=1), MANY.half(seed=1))
    assert not np.array_equal(MANY.half(seed=1), MANY.half(seed=2))
    hidden = Counter(MANY.codes[~MANY.half(seed=1)].tolist())
    assert min(hidden.values()) > 0


def _question(text: str, *right: int) -> Question:
    return Question(BenchmarkQuery(text, "means", ("x",)), np.array(right, np.int64))


def test_hidden_tags_are_asked_for_and_icons_that_still_state_them_stand_aside() -> None:
    none, half, every = regimes(MANY, [], n_tags=100, seed=4)
    assert [(regime.name, len(regime.known.rows)) for regime in (none, half, every)] == [
        (NO_TAGS, 0), (HALF, MANY.half(seed=4).sum()), (ALL_TAGS, len(MANY.rows)),
    ]  # fmt: skip
    assert [question.query.text for question in half.questions] == list("abcdefg")
    for question, whole in zip(half.questions, every.questions, strict=True):
        hidden = {row for row, words in _stated(MANY.some(~MANY.half(seed=4))) if words == question.query.text}
        assert question.query.kind == TAG
        assert question.right.tolist() == sorted(hidden)
        assert question.aside.tolist() == half.known.stating(question.query.text).tolist() != []
        assert np.union1d(question.right, question.aside).tolist() == whole.right.tolist()
        assert len(whole.aside) == 0
    assert list(none.questions) == list(every.questions)


def test_a_written_query_asks_half_for_what_was_hidden_and_its_other_answers_are_not_wrong() -> None:
    tags = _tags("k", "kl", "kl", "", "m")
    seed = next(seed for seed in range(99) if tags.half(seed=seed).tolist() == [False, True, False, False, True, False])
    asked = [_question("K", 0, 1, 3), _question("other", 0, 1), _question("m", 3)]
    none, half, every = regimes(tags, asked, n_tags=0, seed=seed)
    assert list(none.questions) == list(every.questions) == asked
    [question] = half.questions  # nobody states "other", and who states "m" is no right answer
    assert (question.right.tolist(), question.aside.tolist()) == ([0], [1, 3])


def _write(folder: Path, tags: dict[str, str]) -> Path:
    lines = [f'{file.name},{file.stem},"{tags.get(file.stem, "")}"' for file in sorted(folder.glob("*.svg"))]
    (folder / "icons.csv").write_text("\n".join(["file_path,name,tags", *lines]) + "\n")
    return folder / "icons.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_icons(tmp_path_factory.mktemp("regimes") / "icons")


@pytest.fixture(scope="module")
def subject(folder: Path, tiny_model: Path) -> Subject:
    library = Library(folder.parent / "library")
    build_library(library, tiny_model, [_write(folder, STATED)])
    return Subject(library)


def _known(subject: Subject, regime: str) -> Tags:
    return next(
        found.known for found in regimes(Tags.read(subject.opened), [], n_tags=0, seed=2) if found.name == regime
    )


@pytest.mark.parametrize("regime", [NO_TAGS, HALF, ALL_TAGS])
def test_the_engine_of_a_regime_answers_as_a_library_whose_source_states_these_tags_alone(
    subject: Subject, folder: Path, tiny_model: Path, tmp_path: Path, regime: str
) -> None:
    known = _known(subject, regime)
    tags = dict.fromkeys(subject.corpus.names, "")
    for row, words in _stated(known):
        tags[subject.corpus.names[row]] += f"{words}, "
    library = Library(tmp_path / "library")
    build_library(library, tiny_model, [_write(folder, tags)])
    engine = SearchEngine.open(library.root)
    [contender] = find_contenders(subject.library, [], in_use=subject.manifest.fingerprint)
    vectors = read_vectors_of(subject.library, contender, subject.corpus)
    ranker = EngineRanker(subject.opened, subject.corpus, vectors, subject.manifest.weights, known)
    texts = ["round", "arrow up", "e-mail", "north filled", "asccend", "dot b", "tiny point", "qwzxvbk", "full"]
    for text, scores in zip(texts, ranker.scores(texts, encode_texts(vectors.encoder, texts)), strict=True):
        hits = engine.ask(Query(words=text), window=Window(k=20, flat=True)).hits
        order = np.lexsort((subject.corpus.icon_ids, -scores))[: int(np.isfinite(scores).sum())]
        assert [subject.corpus.names[row] for row in order] == [hit.name for hit in hits], text


def test_keywords_and_vectors_know_the_tags_of_their_regime(subject: Subject) -> None:
    [contender] = find_contenders(subject.library, [], in_use=subject.manifest.fingerprint)
    vectors, names = read_vectors_of(subject.library, contender, subject.corpus), subject.corpus.names
    for regime in (NO_TAGS, HALF, ALL_TAGS):
        known = _known(subject, regime)
        found = KeywordRanker(subject.corpus, known).scores(["round"])["keyword"][0]
        assert np.flatnonzero(np.isfinite(found)).tolist() == known.stating("round").tolist()
        scores = VectorRankers(subject.opened, subject.corpus, vectors, subject.manifest.weights, known).scores(
            ["full"]
        )
        assert list(scores)[:-2] == ["names", "pictures", *(["tags"] if regime != NO_TAGS else [])]
        if regime != NO_TAGS:
            assert np.flatnonzero(np.isfinite(scores["tags"][0])).tolist() == np.unique(known.rows).tolist()
    tagged = names.index("dot-b")
    of_tags = [vectors.tags[known.words.index(normalise(tag))] for tag in STATED["dot-b"].split(",")]
    mean = sum(of_tags) / np.linalg.norm(sum(of_tags))
    asked = encode_texts(vectors.encoder, ["full"])[0]
    assert scores["tags"][0, tagged] == pytest.approx(float(mean @ asked), abs=1e-5)
    weights = subject.manifest.weights
    seen = weights.picture * scores["pictures"][0] + (1 - weights.picture) * scores["names"][0]
    share = weights.tags * np.isfinite(scores["tags"][0])
    of_all = (1 - share) * seen + share * np.where(share > 0, scores["tags"][0], 0)
    assert scores["fused"][0] == pytest.approx(of_all, abs=1e-5)


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 < done <= total


def test_all_three_regimes_are_measured_and_the_engine_finds_every_tag_that_it_knows(subject: Subject) -> None:
    found = evaluate(subject, EvaluateOptions(n_names=4, n_screenshots=2, seed=3), _quiet)
    tables = found.of_words()
    assert list(tables) == [f"tag, {NO_TAGS}", f"tag, {HALF}", f"tag, {ALL_TAGS}", *(t for t in tables if "name" in t)]
    assert all(title.endswith(ALL_TAGS) for title in tables if title.startswith("name"))
    for title, rows in tables.items():
        with_tags = ["tags"] if NO_TAGS not in title else []
        assert [row.ranker for row in rows] == ["keyword", "names", "pictures", *with_tags, "fused", "engine"], title
    n_asked = {title: rows[0].n_queries for title, rows in tables.items()}
    assert n_asked[f"tag, {NO_TAGS}"] == n_asked[f"tag, {ALL_TAGS}"] == 7
    tags = Tags.read(subject.opened)
    assert n_asked[f"tag, {HALF}"] == len(np.unique(tags.codes[~tags.half(seed=3)])) < 7
    assert {row.regime for row in found.of_screenshots()} == {None}
    [engine] = (row for row in tables[f"tag, {ALL_TAGS}"] if row.ranker == "engine")
    assert engine.figures["R@1"].value == pytest.approx(6 / 7, abs=1e-4)  # "arrow up" is the name of others
    assert engine.figures["R@5"].value == 1
    assert {case.task for case in found.worst} <= {title.removesuffix(f", {ALL_TAGS}") for title in tables}


def _rows(task: str, encoder: str, **values: float) -> list[Row]:
    """A row for each ranker, all of whose figures are its value."""

    def row(ranker: str, value: float) -> Row:
        figures = {name: Figure(value, value, value) for name in ("R@1", "R@10", "MRR@50")}
        return Row(task, ranker, None if ranker == "keyword" else encoder, 9, figures, regime=ALL_TAGS)

    return [row(ranker, value) for ranker, value in values.items()]


def _evaluation(rows: Sequence[Row]) -> Evaluation:
    one, other = Contender("one", "one", "f00d"), Contender("other", "other", "beef")
    return Evaluation("library", 1, 9, 9, 0.4, 0.5, 0, [one, other], [], 0, [], rows=list(rows))


def test_an_engine_that_finds_less_than_a_part_of_it_is_named() -> None:
    worse = _rows("tag", "one", keyword=0.3, names=0.5, fused=0.7, engine=0.6)
    assert list(_evaluation(worse).below()) == [
        f"tag, all tags: {measure} of the engine 0.600, of fused alone 0.700" for measure in ("R@1", "R@10", "MRR@50")
    ]
    by_words = list(_evaluation(_rows("tag", "one", keyword=0.9, names=0.5, engine=0.6)).below())
    assert by_words[0] == "tag, all tags: R@1 of the engine 0.600, of keyword alone 0.900"


@pytest.mark.parametrize("engine", [0.4, 0.3, 0.2998])
def test_an_engine_is_held_against_its_own_encoder_and_its_own_task_alone(engine: float) -> None:
    rows = [
        *_rows("tag", "one", keyword=0.1, fused=0.3, engine=engine),
        *_rows("tag", "other", fused=0.9, engine=0.9),
        *_rows("name", "one", keyword=0.8, engine=0.8),
    ]
    assert list(_evaluation(rows).below()) == []
