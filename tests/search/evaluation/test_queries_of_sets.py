"""A query that says which icons are right by set is a question of each set, asked among its icons alone."""

from pathlib import Path

import numpy as np
import pytest
from conftest import Build, disc, svg

from indexer.errors import QueryFileError
from indexer.library.folder import Library
from search.evaluation.corpus import Corpus
from search.evaluation.queries import (
    HALF,
    BenchmarkQuery,
    Question,
    Tags,
    find_answers,
    keys_of_set,
    read_queries,
    regimes,
)

BY_SET = '{"query": "up", "kind": "concept", "relevant": {"icons": ["arrow-up"], "symbols": ["arrow-up", "dot"]}}'
UP = BenchmarkQuery("up", "concept", (), by_set={"icons": ("arrow-up",), "symbols": ("arrow-up", "dot")})


@pytest.fixture
def symbols(tmp_path: Path) -> Path:
    folder = tmp_path / "symbols"
    folder.mkdir()
    (folder / "arrow-up.svg").write_text(svg('<path d="M2 2h20v20z"/>'))
    (folder / "dot.svg").write_text(disc(12, 12))
    return folder


def _corpus(library: Library) -> Corpus:
    return Corpus.read(library.candidates()[0])


def _icons(corpus: Corpus, rows: object) -> list[str]:
    return sorted(f"{corpus.sets[row]}/{corpus.names[row]}" for row in rows)  # type: ignore[attr-defined]


def test_names_by_set_are_read(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(BY_SET)
    assert read_queries(file) == [UP]


@pytest.mark.parametrize(
    ("relevant", "reason"),
    [
        ("{}", '"relevant" is not an object of sets and their names'),
        ('{" ": ["a"]}', '"relevant" is not an object of sets and their names'),
        ('{"lucide": ["a"], "tabler": []}', '"relevant" of the set "tabler" is not a list of names'),
        ('{"lucide": "a"}', '"relevant" of the set "lucide" is not a list of names'),
        ('{"lucide": ["a", " "]}', '"relevant" of the set "lucide" is not a list of names'),
        ('{"lucide": ["a"]}, "set": "mdi"', '"set" and "relevant" both name sets'),
    ],
)
def test_bad_names_by_set_are_told_with_their_line(tmp_path: Path, relevant: str, reason: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f'{BY_SET}\n\n{{"query": "up", "kind": "concept", "relevant": {relevant}}}\n')
    with pytest.raises(QueryFileError, match="line 3") as error:
        read_queries(file)
    assert reason in str(error.value)


def test_a_line_is_a_question_of_each_set_and_the_icons_of_others_are_aside(
    build: Build, library: Library, icon_folder: Path, symbols: Path
) -> None:
    build(icon_folder, symbols)
    corpus = _corpus(library)
    here, there = find_answers([UP], corpus).asked
    assert (here.query.kind, there.query.kind) == ("concept, icons", "concept, symbols")
    assert (here.query.text, here.query.relevant) == ("up", ("arrow-up",))
    assert _icons(corpus, here.right) == ["icons/arrow-up", "icons/arrow-up-filled"]
    assert _icons(corpus, there.right) == ["symbols/arrow-up", "symbols/dot"]
    assert {corpus.sets[row] for row in here.aside} == {"symbols"}
    assert _icons(corpus, there.aside) == _icons(corpus, [row for row, key in enumerate(corpus.sets) if key == "icons"])
    assert list(there.aside) == sorted(there.aside)


def test_in_a_library_of_one_set_nothing_is_aside_and_absent_sets_are_not_asked(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    found = find_answers([UP], _corpus(library))
    assert [(question.query.kind, len(question.aside)) for question in found.asked] == [("concept, icons", 0)]
    assert (found.dropped, found.unknown) == ([], [])


def test_a_query_without_an_answer_in_any_set_is_dropped_and_its_names_are_listed(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    corpus = _corpus(library)
    elsewhere = BenchmarkQuery("a", "concept", (), by_set={"mdi": ("arrow-up",)})
    unknown = BenchmarkQuery("b", "concept", (), by_set={"icons": ("nothing",)})
    found = find_answers([UP, elsewhere, unknown], corpus)
    assert [question.query.text for question in found.asked] == ["up"]
    assert (found.dropped, found.unknown) == ([elsewhere, unknown], ["nothing"])
    with pytest.raises(QueryFileError, match=r'holds none of the sets that are asked about \("mdi"\)'):
        find_answers([elsewhere], corpus)
    with pytest.raises(QueryFileError, match=r'no icon of this library bears.*"nothing"'):
        find_answers([unknown], corpus)


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


def test_what_is_aside_stays_aside_where_half_of_the_tags_are_hidden() -> None:
    rows = np.repeat(np.arange(10), 2)
    tags = Tags(words=["up", "sky"], rows=rows, codes=np.tile(np.array([0, 1]), 10))
    question = Question(
        BenchmarkQuery("up", "concept, icons", ("arrow-up",)), right=np.arange(10), aside=np.array([12, 13])
    )
    regime = next(regime for regime in regimes(tags, [question], n_tags=0, seed=0) if regime.name == HALF)
    (asked,) = regime.questions
    assert 0 < len(asked.right) < 10
    assert sorted([*asked.right, *asked.aside]) == [*range(10), 12, 13]
