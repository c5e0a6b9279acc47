"""What is asked in an evaluation, and which icons are right? Reads query files and finds their answers in a library.

A query file is JSONL: `{"query": "throw away", "kind": "means", "relevant": ["trash", "bin"]}` a line, with an optional
"set" where only one set's icons are meant. Where icons are right by set, `"relevant": {"lucide": ["trash-2"], "tabler":
["trash"]}`, the line is a question for each of its sets that the library holds, asked among that set's icons alone.
`"in": {"de": "wegwerfen"}` says the query in other languages, for `icons evaluate --languages`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from indexer.arrays import Ids
from indexer.errors import QueryFileError
from indexer.naming.names import normalise
from search.evaluation.corpus import Corpus
from search.evaluation.query_lines import Fields, Format, read_lines


@dataclass(frozen=True, slots=True)
class BenchmarkQuery:
    """One line of a query file."""

    text: str
    kind: str
    """Queries of one kind are one task: means, looks, or any other word."""
    relevant: tuple[str, ...]
    """Names of the right icons, in any spelling."""
    set: str | None = None
    by_set: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same by the word of each set, where a line says it so; `relevant` is empty then."""
    translations: Mapping[str, str] = field(default_factory=dict)
    """The query in other languages, by ISO 639 code."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query whose right answers are known: rows of a corpus, ascending, at least one."""

    query: BenchmarkQuery
    right: Ids
    aside: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    """Rows that are neither right nor wrong."""
    sets: frozenset[str] = frozenset()
    """Keys of the sets whose icons are right or wrong, where others are aside; none: all of the library."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What can be asked of a library, and what its query files ask for in vain."""

    asked: Sequence[Question]
    dropped: Sequence[BenchmarkQuery]
    """None of their relevant names is in the library, or none of their sets."""
    unknown: Sequence[str]
    """Relevant names that no icon bears, sorted."""


def read_queries(file: Path) -> list[BenchmarkQuery]:
    """Read a query file; empty lines are passed over.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as above; the message names the line.
    """
    return [_read(fields) for fields in read_lines(file, _LINE)]


def find_answers(queries: Sequence[BenchmarkQuery], corpus: Corpus) -> Questions:
    """Find each query's right icons: those that bear a relevant name, and all their variants.

    A name fits an icon when both are the same words, spelled in any way: the icon's whole name, or what is left of it
    without style and size.

    A query with names by set becomes a question for each set that is here, of kind "means, lucide": icons of other sets
    are neither right nor wrong.

    Raises:
        QueryFileError: no query has an answer here.
    """
    answers = _Answers(queries, corpus)
    asked, dropped = [], []
    for query in queries:
        questions = list(answers.questions(query))
        asked += questions
        if not questions:
            dropped.append(query)
    if queries and not asked:
        raise QueryFileError(f"{_why_nothing(queries, answers.unknown)}; is --library right?")
    return Questions(asked, dropped, sorted(answers.unknown))


def keys_of_set(word: str, keys: Iterable[str]) -> frozenset[str]:
    """Choose the sets that a word means: that of this key, else all whose key has the word in it ("@tabler/icons")."""
    keys = frozenset(keys)
    as_word = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", re.IGNORECASE)
    return keys & {word} or frozenset(key for key in keys if as_word.search(key))


class _Answers:
    """Finds right icons by their names, and collects the names that no icon bears."""

    def __init__(self, queries: Sequence[BenchmarkQuery], corpus: Corpus) -> None:
        self.unknown: set[str] = set()
        self._corpus = corpus
        self._bearers = _bearers({normalise(name) for query in queries for name in _names(query)}, corpus)
        self._outside: dict[frozenset[str], Ids] = {}

    def questions(self, query: BenchmarkQuery) -> Iterator[Question]:
        """Ask a query of every set that it means, or of the whole library."""
        if not query.by_set:
            right = self._rows(query.relevant, None if query.set is None else frozenset({query.set}))
            if len(right):
                yield Question(query, right)
        for word, names in query.by_set.items():
            keys = keys_of_set(word, self._keys)
            right = self._rows(names, keys) if keys else np.empty(0, np.int64)
            if len(right):
                asked = replace(query, kind=f"{query.kind}, {word}", relevant=names, by_set={})
                yield Question(asked, right, self._others(keys), keys)

    def _rows(self, names: Iterable[str], keys: frozenset[str] | None) -> Ids:
        """Rows of the icons of some sets, or of all, that bear some names, with their variants."""
        rows = []
        for name in names:
            found = [row for row in self._bearers[normalise(name)] if keys is None or self._corpus.sets[row] in keys]
            rows += found
            if not found:
                self.unknown.add(name)
        return self._corpus.variants(np.array(rows, np.int64))

    def _others(self, keys: frozenset[str]) -> Ids:
        """Rows of the icons of all sets but these."""
        if keys not in self._outside:
            outside = [row for row, key in enumerate(self._corpus.sets) if key not in keys]
            self._outside[keys] = np.array(outside, np.int64)
        return self._outside[keys]

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(self._corpus.sets)


def _names(query: BenchmarkQuery) -> Iterator[str]:
    """All names of right icons, of whatever set."""
    yield from query.relevant
    for names in query.by_set.values():
        yield from names


def _why_nothing(queries: Sequence[BenchmarkQuery], unknown: Iterable[str]) -> str:
    names = ", ".join(f'"{name}"' for name in sorted(unknown)[:5])
    if names:
        return f"no icon of this library bears any of the relevant names ({names}, ...)"
    sets = ", ".join(f'"{word}"' for word in sorted({word for query in queries for word in query.by_set})[:5])
    return f"this library holds none of the sets that are asked about ({sets})"


def _bearers(names: set[str], corpus: Corpus) -> defaultdict[str, list[int]]:
    """Rows of the icons that bear each of some names."""
    bearers: defaultdict[str, list[int]] = defaultdict(list)
    for row, (name, place) in enumerate(zip(corpus.names, corpus.name_rows.tolist(), strict=True)):
        for spelling in {normalise(name), corpus.words[int(corpus.name_ids[place])]} & names:
            bearers[spelling].append(row)
    return bearers


def _read(fields: Fields) -> BenchmarkQuery:
    names = fields["relevant"]
    by_set = {word: tuple(of_set) for word, of_set in names.items()} if isinstance(names, dict) else {}
    return BenchmarkQuery(
        fields["query"],
        fields["kind"],
        () if by_set else tuple(names),
        fields.get("set"),
        by_set=by_set,
        translations=fields.get("in", {}),
    )


def _problems(fields: Fields) -> Iterator[str]:
    relevant = fields["relevant"]
    if isinstance(relevant, dict):
        yield from _problems_by_set(relevant, fields)
    elif not _are_names(relevant):
        yield '"relevant" is not a list of names, one at least'
    if not isinstance(fields.get("set"), str | None):
        yield '"set" is not the key of a set'
    if not _are_texts(fields.get("in", {})):
        yield '"in" is not an object of languages and the query in each'


def _problems_by_set(relevant: Fields, fields: Fields) -> Iterator[str]:
    if not relevant or not all(word.strip() for word in relevant):
        yield '"relevant" is not an object of sets and their names, one at least'
    for word, names in relevant.items():
        if not _are_names(names):
            yield f'"relevant" of the set "{word}" is not a list of names, one at least'
    if fields.get("set") is not None:
        yield '"set" and "relevant" both name sets'


def _are_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) and text.strip() for text in value.values())


def _are_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) and name.strip() for name in value)


_LINE = Format(("relevant",), _problems, '{"query": "throw away", "kind": "means", "relevant": ["trash"]}')
