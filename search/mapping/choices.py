"""A mapping as a file: CSV that a person reads, corrects and gives back.

A row is an icon and what stands for it. A row that is marked doubtful stays so; one whose mark was taken away, or whose
target is another than was proposed, is what a person chose. An empty target says that nothing stands for it.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from indexer.errors import IconsError
from indexer.library.named import read_text
from indexer.naming.printable import printable
from search.engine import SearchEngine
from search.mapping.mapped import Candidate, Mapped, Name
from search.mapping.mapped import Mapping as Stands

COLUMNS = ("source", "target", "probability", "doubtful", "others")
MOST_BYTES = 8_000_000
"""Of a file that is read."""
_YES = "yes"


class Choice(NamedTuple):
    """What a file says of one icon."""

    target: str
    """Key; "" for nothing."""
    is_doubtful: bool


def to_csv(mapped: Mapped) -> str:
    """Write a mapping as CSV."""
    told = io.StringIO()
    rows = csv.writer(told, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in mapped.mappings:
        keys = [candidate.name.key for candidate in one.candidates]
        target, others = keys[0] if keys else "", " ".join(keys[1:])
        doubt = _YES if one.is_doubtful else ""
        rows.writerow([_in_cell(one.source.key), _in_cell(target), f"{one.probability:.2f}", doubt, _in_cell(others)])
    return told.getvalue()


def _in_cell(text: str) -> str:
    """No program that opens the file takes a name for a formula."""
    told = printable(text)
    return f"'{told}" if told[:1] in ("=", "+", "-", "@", "\t") else told


def read_choices(path: Path) -> Mapping[str, Choice]:
    """Read a file that was written so, by the keys of its icons.

    Raises:
        SourceError: it can't be read.
        IconsError: it is no CSV, or lacks a column.
    """
    text = read_text(path, limit=MOST_BYTES)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    for column in ("source", "target"):
        if column not in (rows.fieldnames or ()):
            raise IconsError(f'"{path}" has no column "{column}"; `icons map --csv` writes one that has')
    try:
        return {_out_of_cell(row["source"]): _choice(row) for row in rows}
    except csv.Error as error:
        raise IconsError(f'"{path}" can\'t be read as CSV ({error}); `icons map --csv` writes one') from error


def _choice(row: Mapping[str, str | None]) -> Choice:
    return Choice(_out_of_cell(row["target"]), is_doubtful=(row.get("doubtful") or "").strip() == _YES)


def _out_of_cell(text: str | None) -> str:
    return (text or "").strip().removeprefix("'")


def choose(engine: SearchEngine, mapped: Mapped, choices: Mapping[str, Choice]) -> Mapped:
    """Put what a file says in the place of what was found; icons that it does not name stay as they are.

    Raises:
        IconsError: it names a target that the library does not have, or one of another set.
    """
    chosen: Sequence[Stands] = [_chosen(engine, mapped.to, one, choices.get(one.source.key)) for one in mapped.mappings]
    return replace(mapped, mappings=chosen)


def _chosen(engine: SearchEngine, to: str, found: Stands, choice: Choice | None) -> Stands:
    is_proposed = choice and found.target and found.target.name.key == choice.target
    if choice is None or (choice.is_doubtful and is_proposed):
        return found
    return found.chosen(_candidate(engine, to, choice.target) if choice.target else None)


def _candidate(engine: SearchEngine, to: str, key: str) -> Candidate:
    hit = engine.show(engine.find(key)).hit
    if hit.set != to:
        raise IconsError(f'"{key}" is of "{hit.set}", and stand-ins are of "{to}"; choose one of these')
    return Candidate(Name(hit.set, hit.name), hit.id, hit.image)
