"""A library is asked with none and with all of its tags known, as if its sources stated no others."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import build_library, draw_icons

from indexer.languages.words import normalise
from indexer.library.folder import Library
from indexer.reports.figures import UNRANKED, Figure
from search.engine import Query, SearchEngine, Window
from search.evaluation.evaluate import EvaluateOptions, Subject, evaluate
from search.evaluation.findings import Evaluation, Row
from search.evaluation.queries import ALL_TAGS, NO_TAGS, TAG, BenchmarkQuery, Question, Tags, regimes
from search.evaluation.rankers import Contender, VectorRankers, encode_texts, find_contenders, read_vectors_of

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


def test_everything_is_asked_with_no_tags_known_and_with_all() -> None:
    asked = [Question(BenchmarkQuery("k", "means", ("x",)), np.array([0, 1]))]
    none, every = regimes(MANY, asked, n_tags=4, seed=4)
    assert (none.name, none.known.rows.tolist(), every.name, every.known) == (NO_TAGS, [], ALL_TAGS, MANY)
    assert none.questions == every.questions and every.questions[:1] == asked
    for question in every.questions[1:]:
        assert question.query.kind == TAG
        assert question.right.tolist() == [row for row, words in _stated(MANY) if words == question.query.text]
    [alone] = regimes(none.known, asked, n_tags=4, seed=4)
    assert (alone.name, alone.questions) == (NO_TAGS, asked)


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


def _rankers(subject: Subject, known: Tags) -> VectorRankers:
    [contender] = find_contenders(subject.library, [], in_use=subject.manifest.fingerprint)
    vectors = read_vectors_of(subject.library, contender, subject.corpus)
    return VectorRankers(subject.engine, subject.corpus, vectors, subject.manifest.weights, known)


@pytest.mark.parametrize("regime", [NO_TAGS, ALL_TAGS])
def test_the_engine_of_a_regime_answers_as_a_library_whose_source_states_these_tags_alone(
    subject: Subject, folder: Path, tiny_model: Path, tmp_path: Path, regime: str
) -> None:
    library = Library(tmp_path / "library")
    build_library(library, tiny_model, [_write(folder, STATED if regime == ALL_TAGS else {})])
    engine, rankers = SearchEngine.open(library.root), _rankers(subject, _known(subject, regime))
    for text in ("round", "arrow up", "e-mail", "north filled", "asccend", "dot b", "tiny point", "qwzxvbk", "full"):
        hits = engine.ask(Query(words=text), window=Window(k=20)).hits
        found = rankers.engine.hits(text)
        assert [subject.corpus.names[row] for row in found] == [hit.name for hit in hits], text


def test_a_hit_is_right_where_it_stands_for_a_right_icon_and_icons_that_no_hit_stands_for_are_not_ranked(
    subject: Subject,
) -> None:
    engine, names = _rankers(subject, _known(subject, ALL_TAGS)).engine, subject.corpus.names
    hits = [names[row] for row in engine.hits("north")]
    assert hits[0] == "arrow-up"

    def ranks(*right: str) -> list[int]:
        rows = np.array([names.index(name) for name in right])
        return engine.ranks(Question(BenchmarkQuery("north", "means", right), rows)).tolist()

    assert ranks("arrow-up") == ranks("arrow-up-filled") == ranks("arrow-up", "arrow-up-filled") == [1]
    lacking = next(name for name in names if name.startswith("dot") and name not in hits)
    assert ranks(lacking, "arrow-up") == [1, UNRANKED]


def test_vectors_know_the_tags_of_their_regime(subject: Subject) -> None:
    names, weights = subject.corpus.names, subject.manifest.weights
    bare, known = (_rankers(subject, _known(subject, regime)).scores(["full"]) for regime in (NO_TAGS, ALL_TAGS))
    assert list(known) == list(bare) == ["names", "pictures", "fused"]
    seen = weights.picture * known["pictures"][0] + (1 - weights.picture) * known["names"][0]
    assert bare["fused"][0] == pytest.approx(seen, abs=1e-5)
    [contender] = find_contenders(subject.library, [], in_use=subject.manifest.fingerprint)
    vectors, tags = read_vectors_of(subject.library, contender, subject.corpus), Tags.read(subject.opened)
    of_tags = [vectors.tags[tags.words.index(normalise(tag))] for tag in STATED["dot-b"].split(",")]
    mean = sum(of_tags) / np.linalg.norm(sum(of_tags))
    tagged = names.index("dot-b")
    asked = encode_texts(vectors.encoder, ["full"])[0]
    expected = (1 - weights.tags) * seen[tagged] + weights.tags * float(mean @ asked)
    assert known["fused"][0, tagged] == pytest.approx(expected, abs=1e-5)


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 < done <= total


def test_both_regimes_are_measured_and_the_engine_finds_every_tag_that_it_knows(subject: Subject) -> None:
    found = evaluate(subject, EvaluateOptions(n_names=4, n_screenshots=2, seed=3), _quiet)
    tables = found.of_words()
    assert list(tables) == [f"tag, {NO_TAGS}", f"tag, {ALL_TAGS}", *(t for t in tables if "name" in t)]
    assert all(title.endswith(ALL_TAGS) for title in tables if title.startswith("name"))
    for title, rows in tables.items():
        assert [row.ranker for row in rows] == ["names", "pictures", "fused", "engine"], title
    assert tables[f"tag, {NO_TAGS}"][0].n_queries == tables[f"tag, {ALL_TAGS}"][0].n_queries == 7
    assert {row.regime for row in found.of_screenshots()} == {None}
    [engine] = (row for row in tables[f"tag, {ALL_TAGS}"] if row.ranker == "engine")
    assert engine.figures["R@1"].value == pytest.approx(6 / 7, abs=1e-4)  # "arrow up" is the name of others
    assert engine.figures["R@5"].value == 1
    assert {case.task for case in found.worst} <= {title.removesuffix(f", {ALL_TAGS}") for title in tables}


def _rows(task: str, encoder: str, **values: float) -> list[Row]:
    """A row for each ranker, all of whose figures are its value."""

    def row(ranker: str, value: float) -> Row:
        figures = {name: Figure(value, value, value) for name in ("R@1", "R@10", "MRR@50")}
        return Row(task, ranker, encoder, 9, figures, regime=ALL_TAGS)

    return [row(ranker, value) for ranker, value in values.items()]


def _evaluation(rows: Sequence[Row]) -> Evaluation:
    one, other = Contender("one", "one", "f00d"), Contender("other", "other", "beef")
    return Evaluation("library", 1, 9, 9, 0.4, 0.5, 0, [one, other], [], 0, [], rows=list(rows))


def test_an_engine_that_finds_less_than_a_part_of_it_is_named() -> None:
    worse = _rows("tag", "one", names=0.5, fused=0.7, engine=0.6)
    assert list(_evaluation(worse).below()) == [
        f"tag, all tags: {measure} of the engine 0.600, of fused alone 0.700" for measure in ("R@1", "R@10", "MRR@50")
    ]


@pytest.mark.parametrize("engine", [0.4, 0.3, 0.2998])
def test_an_engine_is_held_against_its_own_encoder_and_its_own_task_alone(engine: float) -> None:
    rows = [
        *_rows("tag", "one", fused=0.3, engine=engine),
        *_rows("tag", "other", fused=0.9, engine=0.9),
        *_rows("name", "one", names=0.8, engine=0.8),
    ]
    assert list(_evaluation(rows).below()) == []
