"""Query files are read strictly, their right answers are all the icons that they mean, and by set those of each set."""

import json
from pathlib import Path

import pytest
from conftest import build_library, disc, draw_icons, svg

from indexer.errors import QueryFileError
from indexer.library.folder import Library
from search.evaluation.corpus import Corpus
from search.evaluation.queries import (
    BenchmarkQuery,
    find_answers,
    keys_of_set,
    read_queries,
)

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


@pytest.mark.parametrize(
    ("relevant", "reason"),
    [
        ("{}", '"relevant": '),
        ('{" ": ["a"]}', "should have at least 1 character"),
        ('{"lucide": ["a"], "tabler": []}', '"relevant.tabler": '),
        ('{"lucide": "a"}', '"relevant.lucide": '),
        ('{"lucide": ["a", " "]}', '"relevant.lucide.1": '),
        ('{"lucide": ["a"]}, "set": "mdi"', '"set" and "relevant" both name sets'),
    ],
)
def test_bad_names_by_set_are_told_with_their_line(tmp_path: Path, relevant: str, reason: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f'{BY_SET}\n\n{{"query": "up", "kind": "concept", "relevant": {relevant}}}\n')
    with pytest.raises(QueryFileError, match="line 3") as error:
        read_queries(file)
    assert reason in str(error.value)


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
