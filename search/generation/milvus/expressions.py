"""How are filters said to the server? As expressions over an icon's row, and over a picture's."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids

NOTHING = "id < 0"
"""Finds nothing: ids are 0 or more."""
EVERYTHING = "id >= 0"
_OF_PICTURES = {"set": "sets", "look": "looks", "licence": "licences", "size": "sizes"}
"""Fields of which a picture has several values, one for each icon that shows it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Values of one field, any of which does."""

    field: str
    values: tuple[str | int, ...]

    def of_icons(self) -> str:
        """As icons' rows are asked."""
        if not self.values:
            return NOTHING
        if self.field in ("tags", "categories"):
            return f"array_contains_any({self.field}, {spelt(self.values)})"
        return f"{self.field} in {spelt(self.values)}"

    def of_pictures(self) -> str:
        """As pictures' rows are asked: whether any of their icons has such a value."""
        if not self.values or self.field not in _OF_PICTURES:
            return self.of_icons()
        return f"array_contains_any({_OF_PICTURES[self.field]}, {spelt(self.values)})"


def spelt(values: Iterable[str | int]) -> str:
    """A list, as expressions spell it."""
    return f"[{', '.join(json.dumps(value, ensure_ascii=False) for value in values)}]"


def among(field: str, ids: Ids | Iterable[int]) -> str:
    """That a field holds one of some ids."""
    numbers = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    return f"{field} in [{','.join(map(str, numbers))}]" if numbers else NOTHING


def both(*expressions: str) -> str:
    """That all of some expressions hold; empty ones always do."""
    said = [f"({one})" for one in expressions if one]
    return " and ".join(said)


def any_of(*expressions: str) -> str:
    """That one of some expressions holds."""
    return " or ".join(f"({one})" for one in expressions if one) or NOTHING


def in_chunks(ids: Ids, size: int) -> Iterator[Ids]:
    """Ids, some at a time."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
