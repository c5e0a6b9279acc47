"""What is told of a whole generation is worked out when it is published: a server can't group and sort all icons.

`facts.json` holds it; no part of it grows with the icons.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from indexer.errors import LibraryError
from indexer.library.foreign import from_json
from search.generation.icon_table import FIELDS, KINDS, Order, SetFacts

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
            facts = from_json(cls, path.read_bytes())
            if missing := {kind for kind in KINDS if kind not in FIELDS} - facts.tallies.keys():
                raise ValueError(f'it counts no "{min(missing)}"')  # noqa: TRY301
        except (OSError, ValueError) as error:
            raise LibraryError(f'"{path}" can\'t be read ({error}); delete it, and it is fetched again') from error
        return facts


def order_key(sort: str, *, flat: bool) -> str:
    """Key of an order."""
    return f"{sort} flat" if flat else sort
