"""What a generation holds, as its `manifest.json` says; read by searches, so nothing heavy is imported."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from indexer.errors import LibraryError
from indexer.library.durable import Files
from indexer.library.folder import Generation, Library, Number, read_manifest
from indexer.library.foreign import Count, Name
from indexer.library.traits import Accounting
from indexer.merging.calibration import Calibration

SNAPSHOT = "0005"
"""Format of the generations that this program writes and reads; a catalog's own schema is `database.REVISION`."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares in a fused vector (`publishing.vectors`)."""

    picture: float
    """The rest is the name's."""
    tags: float
    """Of an icon that states some; the rest is picture and name."""


WEIGHTS = Weights(picture=0.4, tags=0.5)
"""Chosen on held-out names, the picture's in data/making/README.md, that of tags in docs/evaluation.md."""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What the manifest says of one index."""

    spec: str
    n: Count
    recall_at_10: float


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation holds; `manifest.json`, written last."""

    number: Number
    created_at: str
    schema: str
    """The format that it was written in (`SNAPSHOT`)."""
    revision: int
    """The catalog's revision at the snapshot: equal ones need no new generation."""
    fingerprint: Name
    dim: Count
    weights: Weights
    pictures: IndexFacts
    icons: IndexFacts
    calibration: Calibration
    """How similarities become scores."""
    counts: Accounting
    files: Files
    """All others of the generation."""
    library: str = ""
    """Id of the library (`catalog.questions.library_id`); "" in generations of older programs, which may be any's."""

    @classmethod
    def read(cls, generation: Generation) -> "Manifest":
        """Read a generation's manifest.

        Raises:
            LibraryError: it is missing, not whole, or of another format; the message says what mends that.
        """
        return read_manifest(
            cls, generation, advice="`icons index` builds a new one", check=partial(_check_format, generation)
        )


def answering_manifest(library: Library) -> Manifest | None:
    """Read what the generation that answers says of itself; None where none does, or this program can't read it."""
    return library.answering(Manifest.read)


def _check_format(generation: Generation, facts: Any) -> None:
    found = facts.get("schema") if isinstance(facts, dict) else None
    if not isinstance(found, str) or not re.fullmatch("[0-9]{4}", found):
        raise ValueError("it states no format")
    if found > SNAPSHOT:
        raise LibraryError(
            f'generation {generation.number} has format "{found}", newer than "{SNAPSHOT}" of this program; '
            "`pip install --upgrade icons` brings a program that reads it"
        )
    if found != SNAPSHOT:
        raise LibraryError(
            f'generation {generation.number} has format "{found}", this program reads "{SNAPSHOT}"; '
            "`icons index` builds a new one from what is embedded already"
        )
    if facts.get("number") != generation.number:
        raise ValueError(f"it is of generation {facts.get('number')}")
