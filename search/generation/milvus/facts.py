"""What is told of a whole generation is worked out when it is published: a server can't group and sort all icons.

`facts.json` holds it; no part of it grows with the icons.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexer.errors import LibraryError
from search.generation.icon_table import Order, SetFacts
from search.results import FacetCount

Tallies = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told of all icons of a generation."""

    last: int
    """The greatest id of an icon."""
    last_name: int
    """... and of a name."""
    sizes: tuple[int, ...]
    """All sizes that icons have, ascending."""
    tallies: Tallies
    """How many icons have each value of the kinds that have no labels, by kind."""
    sets: tuple[SetFacts, ...]
    orders: dict[str, Order]
    """By `order_key`."""

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, path: Path) -> "Facts":
        """Read it.

        Raises:
            LibraryError: it can't be read.
        """
        try:
            told: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return cls(
                last=told["last"],
                last_name=told["last_name"],
                sizes=tuple(told["sizes"]),
                tallies=told["tallies"],
                sets=tuple(_set_facts(one) for one in told["sets"]),
                orders={key: _order(one) for key, one in told["orders"].items()},
            )
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise LibraryError(f'"{path}" can\'t be read ({error}); delete it, and it is fetched again') from error


def order_key(sort: str, *, flat: bool) -> str:
    """Key of an order."""
    return f"{sort} flat" if flat else sort


def _set_facts(told: dict[str, Any]) -> SetFacts:
    lists = {name: tuple(told[name]) for name in ("styles", "categories", "sample")}
    return SetFacts(**{**told, **lists})


def _order(told: dict[str, Any]) -> Order:
    counts = {kind: [FacetCount(**one) for one in found] for kind, found in told["counts"].items()}
    return Order(tuple(told["first"]), told["n"], counts)
