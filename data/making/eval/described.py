"""Whether drawings are found that are described: `data/eval/described-*.jsonl`.

    python -m data.making.eval.described data/eval/described-open.jsonl --library DIR

A file is JSONL, a query a line: `{"query": "arrow without circle", "kind": "without", "must": [["arrow|arrows"]],
"must_not": [["circle|circled"]]}`. A group, `["cart|basket", "x|cross"]`, is in a name that has one word of each entry;
an icon is right with any group of "must", wrong with any of "must_not".
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import click
import numpy as np
from pydantic import AfterValidator, Field

from indexer.commands.options import json_option, library_option
from indexer.languages.words import normalise, printable
from indexer.library.folder import Library
from indexer.reports.figures import Figure, means, spell
from search.engine import Query, SearchEngine, Window
from search.evaluation.queries import Line, Shown, read_lines
from search.query import Hit

N_FIRST = 5
"""Hits that are looked at."""
N_RIGHT = 3
"""How many of them are right, at least, where a query holds; none of them is wrong."""
_FIRST_HITS = Window(k=N_FIRST)

Group = tuple[frozenset[str], ...]
"""Entries, each of which stands for any of its words."""


@dataclass(frozen=True, slots=True)
class DescribedQuery:
    """One line of a file."""

    text: str
    kind: str
    must: Sequence[Group]
    must_not: Sequence[Group]


@dataclass(frozen=True, slots=True)
class DescribedAnswer:
    """What came of one query."""

    file: str
    query: str
    kind: str
    holds: bool
    n_right: int
    """Of the first hits."""
    n_wrong: int
    """Of the first hits; one can be right and wrong, as a circled arrow is for "arrow without circle"."""
    hits: Sequence[Shown]


@dataclass(frozen=True, slots=True)
class DescribedRow:
    """How often the queries of one kind in a file hold."""

    file: str
    kind: str | None
    """None: of all kinds."""
    n_queries: int
    holds: Figure

    @property
    def title(self) -> str:
        """Name of the file and the kind."""
        name = Path(self.file).stem
        return f"{name}, {self.kind}" if self.kind else name


def _is_entry(entry: str) -> str:
    """Take an entry that is made of words which a normalised name can have."""
    if not all(normalise(word).split() == [word] for word in entry.split("|")):
        raise ValueError("an entry is a word as names have it, or several: home|house")
    return entry


_Group = Annotated[list[Annotated[str, AfterValidator(_is_entry)]], Field(min_length=1)]


class _DescribedLine(Line):
    example = '{"query": "arrow, no circle", "kind": "without", "must": [["arrow"]], "must_not": [["circle|circled"]]}'

    must: Annotated[list[_Group], Field(min_length=1)]
    must_not: list[_Group]


def read_described(file: Path) -> list[DescribedQuery]:
    """Read the queries of a file.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as above; the message names the line.
    """
    return [
        DescribedQuery(line.query, line.kind, _groups(line.must), _groups(line.must_not))
        for line in read_lines(file, _DescribedLine)
    ]


def ask_described(engine: SearchEngine, files: Mapping[str, Sequence[DescribedQuery]]) -> list[DescribedAnswer]:
    """Ask the queries of some files as a user does."""
    return [
        _judge(file, query, engine.ask(Query(words=query.text), window=_FIRST_HITS).hits)
        for file, queries in files.items()
        for query in queries
    ]


def described_rows(answers: Sequence[DescribedAnswer], *, seed: int) -> list[DescribedRow]:
    """Count how many queries hold: of each kind in a file, and of a file that has several kinds."""
    rows = []
    for file in dict.fromkeys(answer.file for answer in answers):
        of_file = [answer for answer in answers if answer.file == file]
        kinds = list(dict.fromkeys(answer.kind for answer in of_file))
        for kind in kinds:
            rows.append(_row(file, kind, [answer for answer in of_file if answer.kind == kind], seed=seed))
        if len(kinds) > 1:
            rows.append(_row(file, None, of_file, seed=seed))
    return rows


def _judge(file: str, query: DescribedQuery, hits: Sequence[Hit]) -> DescribedAnswer:
    words = [_words_of(hit) for hit in hits]
    n_right = sum(_has_any(query.must, of_hit) for of_hit in words)
    n_wrong = sum(_has_any(query.must_not, of_hit) for of_hit in words)
    shown = [Shown(hit.id, hit.image, hit.name, hit.set) for hit in hits]
    holds = n_right >= N_RIGHT and not n_wrong
    return DescribedAnswer(file, query.text, query.kind, holds, n_right, n_wrong, shown)


def _words_of(hit: Hit) -> frozenset[str]:
    """Words of a name as its source spells it, and of its style, which a source may state elsewhere."""
    return frozenset(normalise(f"{hit.name} {hit.style or ''}").split())


def _has_any(groups: Sequence[Group], words: frozenset[str]) -> bool:
    return any(all(entry & words for entry in group) for group in groups)


def _row(file: str, kind: str | None, answers: Sequence[DescribedAnswer], *, seed: int) -> DescribedRow:
    holds = np.array([answer.holds for answer in answers], np.float64)
    return DescribedRow(file, kind, len(answers), means({"holds": holds}, seed=seed)["holds"])


def _groups(groups: Sequence[Sequence[str]]) -> list[Group]:
    return [tuple(frozenset(entry.split("|")) for entry in group) for group in groups]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_option
@json_option
def described(files: tuple[Path, ...], library: Library, as_json: bool) -> None:
    """Tell how many described drawings of FILES are found, and what came instead of the others."""
    answers = ask_described(SearchEngine.open(library.root), {str(file): read_described(file) for file in files})
    rows = described_rows(answers, seed=0)
    if as_json:
        click.echo(json.dumps({"rows": [asdict(row) for row in rows], "answers": [asdict(one) for one in answers]}))
        return
    for row in rows:
        click.echo(f"{row.title}: {spell(row.holds, with_interval=True)} of {row.n_queries:,}")
    for one in (answer for answer in answers if not answer.holds):
        names = ", ".join(f"{hit.set}:{hit.name}" for hit in one.hits) or "nothing"
        click.echo(printable(f"  {one.query}: {one.n_right} right, {one.n_wrong} wrong: {names}"))


if __name__ == "__main__":
    described()
