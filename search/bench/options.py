"""What shall `icons bench search` measure? Every choice with its default."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.publishing.index_kinds import KINDS

COLD, WARM, FILTERS, PICTURES, CLIENTS, INDEXES = "cold", "warm", "filters", "pictures", "clients", "indexes"
PARTS = (COLD, WARM, FILTERS, PICTURES, CLIENTS, INDEXES)
SIZES = (20_000, 380_000, 1_000_000, 10_000_000)
DEFAULT_VECTORS = 380_000
"""At most, where nobody says: about all of Iconify, of which every kind is built in minutes."""


@dataclass(frozen=True, slots=True)
class SearchBenchOptions:
    """What is measured, with which queries, over how many vectors."""

    parts: Sequence[str] = PARTS
    queries: Sequence[Path] = ()
    """None: names of the library's own icons."""
    n_cold: int = 10
    kinds: Sequence[str] = tuple(KINDS)
    vectors: int | None = None
    """At most so many; None: DEFAULT_VECTORS, fewer where memory is short."""
    k: int = 10
    """Hits that a search wants; an index is asked for more, as the engine does."""
    seed: int = 0
