"""How often what is mapped is right. Held against a table of stand-ins that people chose, by picture, words and both.

    python -m data.making.eval.mapping LIBRARY data/eval/mapping-fa6-lucide.csv --from fa6-solid --to lucide

The library holds both sets: `icons index node_modules/@iconify-json/fa6-solid node_modules/@iconify-json/lucide`.
A row of the table is a name of the one set, and the names of the other that a designer would take, or "none".
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.arrays import Floats, spread_of
from indexer.library.named import read_list
from search.code.compare import BY_BOTH, DOUBTFUL, Side, Target, best_of, open_side
from search.engine import SearchEngine
from search.generation.opened import Opened

NONE = "none"
_N_AMONG = 3


@dataclass(frozen=True, slots=True)
class Row:
    """An icon, and what may stand for it; nothing where no icon does."""

    name: str
    accepted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one row."""

    row: Row
    found: tuple[str, ...]
    """The best few, best first."""
    is_right: tuple[bool, ...]
    """Each of them."""
    is_doubtful: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of a table."""

    rows: Sequence[Judged]

    @property
    def answerable(self) -> Sequence[Judged]:
        """Rows that have an answer."""
        return [one for one in self.rows if one.row.accepted]

    @property
    def first(self) -> float:
        """Share of these that are right at first."""
        return sum(one.is_right[0] for one in self.answerable) / len(self.answerable)

    @property
    def among(self) -> float:
        """Share of these that are right among the first three."""
        return sum(any(one.is_right[:_N_AMONG]) for one in self.answerable) / len(self.answerable)

    @property
    def wrong(self) -> Sequence[Judged]:
        """Rows that have an answer, and got another."""
        return [one for one in self.answerable if not one.is_right[0]]

    @property
    def unanswerable(self) -> Sequence[Judged]:
        """Rows that have none."""
        return [one for one in self.rows if not one.row.accepted]


def read_table(path: Path) -> list[Row]:
    """Read the columns "name" and "accepted" of a table."""
    columns = ("name", "accepted")
    rows = read_list(path, columns, needed=columns)
    return [Row(row["name"], frozenset(row["accepted"].split()) - {NONE}) for _, row in rows]


def measure(engine: SearchEngine, table: Sequence[Row], *, source: str, to: str) -> Mapping[str, Measured]:
    """Map the rows of a table by pictures alone, by words alone, and by all.

    Raises:
        IconsError: the library lacks one of the sets.
    """
    return engine.with_generation(
        lambda opened: _measure(opened, table, open_side(opened, source), open_side(opened, to))
    )


def _measure(opened: Opened, table: Sequence[Row], source: Side, to: Side) -> Mapping[str, Measured]:
    target = Target(opened, to)
    rows = [row for row in table if row.name in source.by_name]
    places = [source.by_name[row.name] for row in rows]
    likeness = spread_of(source.pictures, to.pictures)
    ways: dict[str, Iterable[Floats]] = {
        "picture alone": likeness.of(source.pictures[places] @ to.pictures.T),
        "words alone": target.spoken([source.rows[place].words for place in places]),
        "both": target.compare(source, places),
    }
    return {
        way: Measured([_judged(row, evidence, to) for row, evidence in zip(rows, of_each, strict=True)])
        for way, of_each in ways.items()
    }


def _judged(row: Row, evidence: Floats, side: Side) -> Judged:
    rows, probability = best_of(evidence, side, BY_BOTH)
    right = [side.by_name[name] for name in row.accepted if name in side.by_name]
    drawings, words = {side.drawings[it] for it in right}, {side.rows[it].words for it in right}
    is_right = (side.drawings[it] in drawings or side.rows[it].words in words for it in rows)
    names = (side.rows[it].name for it in rows)
    return Judged(row, tuple(names), tuple(is_right), probability < DOUBTFUL)


def _lines(measured: Mapping[str, Measured]) -> Iterator[str]:
    for way, one in measured.items():
        n = len(one.answerable)
        yield f"{way:14} right at first {one.first:.3f}, among three {one.among:.3f} of {n}"
    both = measured["both"]
    right = [one for one in both.answerable if one.is_right[0]]
    for title, rows in (("wrong", both.wrong), ("of no answer", both.unanswerable), ("right", right)):
        yield f"doubtful: {sum(one.is_doubtful for one in rows)} of {len(rows)} that are {title}"
    for it in both.wrong:
        doubt = " (doubtful)" if it.is_doubtful else ""
        yield f"  {it.row.name} -> {', '.join(it.found[:_N_AMONG])}{doubt}; right: {', '.join(sorted(it.row.accepted))}"


def main() -> None:
    """Measure a table, and print what was found."""
    parser = argparse.ArgumentParser(description="Hold what is mapped against a table.")
    parser.add_argument("library", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--to", required=True)
    told = parser.parse_args()
    engine = SearchEngine.open(told.library)
    for line in _lines(measure(engine, read_table(told.table), source=told.source, to=told.to)):
        print(line)


if __name__ == "__main__":
    main()
