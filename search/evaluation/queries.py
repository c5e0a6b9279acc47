"""What is asked in an evaluation, and which icons are right? Reads query files and finds their answers in a library.

A query file is JSONL: `{"query": "throw away", "kind": "means", "relevant": ["trash", "bin"]}` a line, with an optional
"set" where only one set's icons are meant.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Question:
    """A query whose right answers are known: rows of a corpus, ascending, at least one."""

    query: BenchmarkQuery
    right: Ids
    aside: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    """Rows that are neither right nor wrong."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What can be asked of a library, and what its query files ask for in vain."""

    asked: Sequence[Question]
    dropped: Sequence[BenchmarkQuery]
    """None of their relevant names is in the library."""
    unknown: Sequence[str]
    """Relevant names that no icon bears, sorted."""


def read_queries(file: Path) -> list[BenchmarkQuery]:
    """Read a query file; empty lines are passed over.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as above; the message names the line.
    """
    return [
        BenchmarkQuery(fields["query"], fields["kind"], tuple(fields["relevant"]), fields.get("set"))
        for fields in read_lines(file, _LINE)
    ]


def find_answers(queries: Sequence[BenchmarkQuery], corpus: Corpus) -> Questions:
    """Find each query's right icons: those that bear a relevant name, and all their variants.

    A name fits an icon when both are the same words, spelled in any way: the icon's whole name, or what is left of it
    without style and size.

    Raises:
        QueryFileError: no query has an answer here.
    """
    bearers = _bearers({normalise(name) for query in queries for name in query.relevant}, corpus)
    asked, dropped, unknown = [], [], set()
    for query in queries:
        rows = []
        for name in query.relevant:
            found = [row for row in bearers[normalise(name)] if query.set in (None, corpus.sets[row])]
            rows += found
            if not found:
                unknown.add(name)
        if rows:
            asked.append(Question(query, corpus.variants(np.array(rows, np.int64))))
        else:
            dropped.append(query)
    if queries and not asked:
        some = ", ".join(f'"{name}"' for name in sorted(unknown)[:5])
        raise QueryFileError(
            f"no icon of this library bears any of the relevant names ({some}, ...); is --library right?"
        )
    return Questions(asked, dropped, sorted(unknown))


def _bearers(wanted: set[str], corpus: Corpus) -> defaultdict[str, list[int]]:
    """Rows of the icons that bear each wanted name."""
    bearers: defaultdict[str, list[int]] = defaultdict(list)
    for row, (name, place) in enumerate(zip(corpus.names, corpus.name_rows.tolist(), strict=True)):
        for spelling in {normalise(name), corpus.words[int(corpus.name_ids[place])]} & wanted:
            bearers[spelling].append(row)
    return bearers


def _problems(fields: Fields) -> Iterator[str]:
    names = fields["relevant"]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name.strip() for name in names):
        yield '"relevant" is not a list of names, one at least'
    if not isinstance(fields.get("set"), str | None):
        yield '"set" is not the key of a set'


_LINE = Format(("relevant",), _problems, '{"query": "throw away", "kind": "means", "relevant": ["trash"]}')
