"""Query files are read strictly, and their right answers are all the icons that they mean."""

import json
import sqlite3
from pathlib import Path

import pytest
from conftest import Build, disc, svg

from indexer.errors import QueryFileError
from indexer.library.folder import Library
from search.evaluation.corpus import Corpus
from search.evaluation.queries import BenchmarkQuery, find_answers, read_queries
from search.evaluation.rankers import any_word_of

GOOD = '{"query": "up", "kind": "means", "relevant": ["arrow-up"]}'


def _corpus(library: Library) -> Corpus:
    return Corpus.read(library.candidates()[0])


def _names(corpus: Corpus, rows: object) -> list[str]:
    return sorted(corpus.names[row] for row in rows)  # type: ignore[attr-defined]


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
        ("{not json}", "is not JSON"),
        ("[1, 2]", "is not an object"),
        ('{"kind": "means", "relevant": ["a"]}', '"query" is missing'),
        ('{"query": "up", "relevant": ["a"]}', '"kind" is missing'),
        ('{"query": "up", "kind": "means"}', '"relevant" is missing'),
        ('{"query": " ", "kind": "means", "relevant": ["a"]}', '"query" is not a text'),
        ('{"query": "up", "kind": 3, "relevant": ["a"]}', '"kind" is not a text'),
        ('{"query": "up", "kind": "means", "relevant": []}', '"relevant" is not a list of names'),
        ('{"query": "up", "kind": "means", "relevant": "a"}', '"relevant" is not a list of names'),
        ('{"query": "up", "kind": "means", "relevant": ["a"], "set": 1}', '"set" is not the key'),
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
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "caf\xe9"}')
    for name, reason in (("empty", "holds no query"), ("latin", "not UTF-8"), ("gone", "No such file")):
        with pytest.raises(QueryFileError, match=reason):
            read_queries(tmp_path / f"{name}.jsonl")
    with pytest.raises(QueryFileError, match='"/dev/zero" can\'t be read: it has more than 64 MB'):
        read_queries(Path("/dev/zero"))


def test_variants_of_a_right_answer_are_right_and_spelling_does_not_matter(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    corpus = _corpus(library)
    for name in ("arrow-up", "arrowUp", "Arrow Up", "arrow-up-filled"):
        found = find_answers([BenchmarkQuery("up", "means", (name, name))], corpus)
        assert _names(corpus, found.asked[0].right) == ["arrow-up", "arrow-up-filled"], name


def test_a_set_keeps_the_icons_of_others_out(build: Build, library: Library, icon_folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "symbols"
    other.mkdir()
    (other / "arrow-up.svg").write_text(svg('<path d="M2 2h20v20z"/>'))
    (other / "dot.svg").write_text(disc(12, 12))
    build(icon_folder, other)
    corpus = _corpus(library)
    everywhere, here = find_answers(
        [BenchmarkQuery("up", "means", ("arrow-up",)), BenchmarkQuery("up", "means", ("arrow-up",), "symbols")], corpus
    ).asked
    assert sorted({corpus.sets[row] for row in everywhere.right}) == ["icons", "symbols"]
    assert [corpus.sets[row] for row in here.right] == ["symbols"]


def test_names_that_nothing_bears_are_listed_and_a_query_of_such_names_alone_is_dropped(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    corpus = _corpus(library)
    half, gone = BenchmarkQuery("a", "means", ("dot-a", "dot-z")), BenchmarkQuery("b", "means", ("nothing",))
    found = find_answers([half, gone], corpus)
    assert [question.query for question in found.asked] == [half]
    assert (found.dropped, found.unknown) == ([gone], ["dot-z", "nothing"])
    with pytest.raises(QueryFileError, match=r'no icon of this library bears.*"nothing"'):
        find_answers([gone], corpus)


@pytest.mark.parametrize(
    "query", ["arrow-down", "c++", "AND OR", 'a"b', "foo:bar", "*", "!", "a\x00b", "->|", "(", "שלום"]
)
def test_keywords_are_quoted_so_that_no_sign_is_an_operator(query: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE names USING fts5 (words)")
    assert connection.execute("SELECT * FROM names WHERE names MATCH ?", (any_word_of(query),)).fetchall() == []
    connection.close()
