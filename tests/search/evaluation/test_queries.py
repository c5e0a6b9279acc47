"""Query files are read strictly, and a library is asked with none and with all of its tags known."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import build_library, disc, draw_icons, svg

from indexer.errors import QueryFileError
from indexer.languages.words import normalise
from indexer.library.folder import Library
from indexer.reports.figures import UNRANKED, Figure
from search.engine import Query, SearchEngine
from search.evaluation.evaluate import EvaluateOptions, Evaluation, Row, Subject, evaluate
from search.evaluation.queries import (
    ALL_TAGS,
    NO_TAGS,
    TAG,
    BenchmarkQuery,
    Corpus,
    Question,
    Tags,
    find_answers,
    keys_of_set,
    read_queries,
    regimes,
)
from search.evaluation.rankers import Contender, VectorRankers, encode_texts, find_contenders, read_vectors_of

GOOD = '{"query": "up", "kind": "means", "relevant": ["arrow-up"]}'


@pytest.fixture(scope="module")
def corpus(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Of two sets, icons and symbols."""
    root = tmp_path_factory.mktemp("queries")
    (root / "symbols").mkdir()
    (root / "symbols" / "arrow-up.svg").write_text(svg('<path d="M2 2h20v20z"/>'))
    (root / "symbols" / "dot.svg").write_text(disc(12, 12))
    build_library(library := Library(root / "library"), tiny_model, [draw_icons(root / "icons"), root / "symbols"])
    return Corpus.read(library.candidates()[0])


def _icons(corpus: Corpus, rows: object) -> list[str]:
    return sorted(f"{corpus.sets[row]}/{corpus.names[row]}" for row in rows)  # type: ignore[attr-defined]


def test_queries_are_read_line_by_line_and_empty_lines_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    other = '{"query": "a\\u2028b", "kind": "looks", "relevant": ["x", "y"], "set": "mdi"}'
    file.write_text(f"\ufeff{GOOD}\r\n\n{json.dumps(json.loads(other), ensure_ascii=False)}", "utf-8")
    assert read_queries(file) == [
        BenchmarkQuery("up", "means", ("arrow-up",)),
        BenchmarkQuery("a\u2028b", "looks", ("x", "y"), "mdi"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json}", "Invalid JSON"),
        ("[1, 2]", "should be an object"),
        ('{"kind": "means", "relevant": ["a"]}', '"query": Field required'),
        ('{"query": "up", "relevant": ["a"]}', '"kind": Field required'),
        ('{"query": "up", "kind": "means"}', '"relevant": Field required'),
        ('{"query": " ", "kind": "means", "relevant": ["a"]}', '"query": String should have at least 1 character'),
        ('{"query": "up", "kind": 3, "relevant": ["a"]}', '"kind": Input should be a valid string'),
        ('{"query": "up", "kind": "means", "relevant": []}', '"relevant": '),
        ('{"query": "up", "kind": "means", "relevant": "a"}', '"relevant": '),
        ('{"query": "up", "kind": "means", "relevant": ["a"], "set": 1}', '"set": Input should be a valid string'),
        *(
            (f'{{"query": "up", "kind": "concept", "relevant": {by_set}}}', reason)
            for by_set, reason in (
                ("{}", '"relevant": '),
                ('{" ": ["a"]}', "should have at least 1 character"),
                ('{"lucide": ["a"], "tabler": []}', '"relevant.tabler": '),
                ('{"lucide": "a"}', '"relevant.lucide": '),
                ('{"lucide": ["a", " "]}', '"relevant.lucide.1": '),
                ('{"lucide": ["a"]}, "set": "mdi"', '"set" and "relevant" both name sets'),
            )
        ),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_what_is_wrong(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f"{GOOD}\n\n{line}\n", "utf-8")
    with pytest.raises(QueryFileError, match="line 3") as error:
        read_queries(file)
    assert reason in str(error.value)


def test_an_empty_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n\n")
    (tmp_path / "odd.jsonl").write_bytes(b'{"query": "caf\x81\xfe"}')
    for name, reason in (("empty", "holds no query"), ("odd", "neither UTF-8"), ("gone", "No such file")):
        with pytest.raises(QueryFileError, match=reason):
            read_queries(tmp_path / f"{name}.jsonl")
    with pytest.raises(QueryFileError, match='"/dev/zero" can\'t be read: it has more than 64 MB'):
        read_queries(Path("/dev/zero"))


def test_variants_of_a_right_answer_are_right_and_spelling_does_not_matter(corpus: Corpus) -> None:
    for name in ("arrow-up", "arrowUp", "Arrow Up", "arrow-up-filled"):
        [here] = find_answers([BenchmarkQuery("up", "means", (name, name), "icons")], corpus).asked
        assert _icons(corpus, here.right) == ["icons/arrow-up", "icons/arrow-up-filled"], name
    everywhere = find_answers([BenchmarkQuery("up", "means", ("arrow-up",))], corpus).asked[0]
    assert _icons(corpus, everywhere.right) == ["icons/arrow-up", "icons/arrow-up-filled", "symbols/arrow-up"]


def test_names_that_nothing_bears_are_listed_and_a_query_of_such_names_alone_is_dropped(corpus: Corpus) -> None:
    half, gone = BenchmarkQuery("a", "means", ("dot-a", "dot-z")), BenchmarkQuery("b", "means", ("nothing",))
    found = find_answers([half, gone], corpus)
    assert [question.query for question in found.asked] == [half]
    assert (found.dropped, found.unknown) == ([gone], ["dot-z", "nothing"])
    with pytest.raises(QueryFileError, match=r'no icon of this library bears.*"nothing"'):
        find_answers([gone], corpus)


BY_SET = '{"query": "up", "kind": "concept", "relevant": {"icons": ["arrow-up"], "symbols": ["arrow-up", "dot"]}}'
UP = BenchmarkQuery("up", "concept", (), by_set={"icons": ("arrow-up",), "symbols": ("arrow-up", "dot")})


def test_a_line_is_a_question_of_each_set_and_the_icons_of_others_are_aside(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(BY_SET)
    assert read_queries(tmp_path / "q.jsonl") == [UP]
    here, there = find_answers([UP], corpus).asked
    assert (here.query.kind, there.query.kind) == ("concept, icons", "concept, symbols")
    assert (here.query.text, here.query.relevant) == ("up", ("arrow-up",))
    assert _icons(corpus, here.right) == ["icons/arrow-up", "icons/arrow-up-filled"]
    assert _icons(corpus, there.right) == ["symbols/arrow-up", "symbols/dot"]
    assert corpus.outside(here.sets).tolist() == [row for row, key in enumerate(corpus.sets) if key == "symbols"]
    assert corpus.outside(there.sets).tolist() == [row for row, key in enumerate(corpus.sets) if key == "icons"]
    assert corpus.outside(frozenset()).tolist() == []


def test_a_query_without_an_answer_in_any_set_is_dropped_and_its_names_are_listed(corpus: Corpus) -> None:
    elsewhere = BenchmarkQuery("a", "concept", (), by_set={"mdi": ("arrow-up",)})
    unknown = BenchmarkQuery("b", "concept", (), by_set={"icons": ("nothing",)})
    found = find_answers([UP, elsewhere, unknown], corpus)
    assert [question.query.text for question in found.asked] == ["up", "up"]
    assert (found.dropped, found.unknown) == ([elsewhere, unknown], ["nothing"])
    with pytest.raises(QueryFileError, match=r'holds none of the sets that are asked about \("mdi"\)'):
        find_answers([elsewhere], corpus)


@pytest.mark.parametrize(
    ("keys", "meant"),
    [
        ({"lucide-static", "@tabler/icons"}, {"lucide-static"}),
        ({"lucide", "lucide-lab"}, {"lucide"}),
        ({"@Lucide/lab", "lucide_static", "mdi"}, {"@Lucide/lab", "lucide_static"}),
        ({"lucidea", "pellucide", "mdi"}, set()),
    ],
)
def test_a_set_is_meant_by_its_key_or_by_a_word_of_it(keys: set[str], meant: set[str]) -> None:
    assert keys_of_set("lucide", keys) == meant


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
        hits = engine.ask(Query(words=text)).hits
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

    return [
        Row(task, ranker, encoder, 9, dict.fromkeys(("R@1", "R@10", "MRR@50"), Figure(*[value] * 3)), regime=ALL_TAGS)
        for ranker, value in values.items()
    ]


def _evaluation(rows: Sequence[Row]) -> Evaluation:
    one, other = Contender("one", "one", "f00d"), Contender("other", "other", "beef")
    return Evaluation("library", 1, 9, 9, 0.4, 0.5, 0, [one, other], [], 0, [], rows=list(rows))


@pytest.mark.parametrize(("engine", "is_told"), [(0.4, False), (0.3, False), (0.2998, False), (0.2, True)])
def test_an_engine_that_finds_less_than_a_part_of_it_is_named_by_its_own_encoder_and_task(
    engine: float, is_told: bool
) -> None:
    rows = [
        *_rows("tag", "one", names=0.2, fused=0.3, engine=engine),
        *_rows("tag", "other", fused=0.9, engine=0.9),
        *_rows("name", "one", names=0.8, engine=0.8),
    ]
    told = "tag, all tags: {} of the engine 0.200, of fused alone 0.300"
    measures = ("R@1", "R@10", "MRR@50") if is_told else ()
    assert list(_evaluation(rows).below()) == [told.format(measure) for measure in measures]
