"""What a search asks of the engine that holds a generation: protocols, and icons as a catalog knows them.

The embedded engine (`facets`, `snapshot`, `vectors`) has all of a generation on this machine's disk; others ask a
server. So nothing here hands out the columns of all icons: ranking asks for the rows of its candidates.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask
from indexer.errors import UnsupportedError
from indexer.merging.vector_index import Neighbours
from indexer.sources.records import PictureAddress


class Ability(Enum):
    """What not every engine can do; the value is how a person calls it."""

    KEYWORDS = "keyword queries (--keyword)"
    DEEP = "looking for hits beyond the 16,384 nearest icons"
    SET_CARDS = "describing every set"
    SORTED_LIBRARY = "sorting and counting more icons than one answer of the server holds"
    MAP = "`icons map`"
    LINT = "`icons lint` of a library"
    EVALUATE = "`icons lab evaluate`"
    USAGE = "`icons usage`"
    PUBLISH = "`icons lab publish` of it to another server"
    REPAIR = "`icons doctor --repair`"


@dataclass(frozen=True, slots=True)
class Engine:
    """What answers, and what it can do."""

    name: str
    abilities: frozenset[Ability]

    def require(self, ability: Ability) -> None:
        """Go on only where the engine can do something.

        Raises:
            UnsupportedError: it can't.
        """
        if ability not in self.abilities:
            raise UnsupportedError(
                f"{ability.value} can't be had of a library on {self.name}; "
                "run it on the machine that holds the library's folder"
            )


EMBEDDED = Engine("this machine", frozenset(Ability))


class Selection(Protocol):
    """The icons, or pictures, that some filters leave; an engine alone knows how it is spelt."""

    def __len__(self) -> int: ...

    def has(self, ids: Ids) -> Mask:
        """Which of some ids it holds."""

    def among(self, ids: Ids) -> Ids:
        """Those of some ids that it holds, in their order."""

    def images(self) -> "Selection":
        """The pictures that its icons show."""


class VectorSearch(Protocol):
    """Nearest neighbours by inner product among one kind of vectors: fused ones of icons, or those of pictures."""

    @property
    def most(self) -> int:
        """Neighbours that can be asked for at once."""

    def __len__(self) -> int: ...

    def nearest(self, query: Floats, n: int, only: Selection | None) -> Neighbours:
        """The `n` nearest to a unit vector (dim,), of which the first ones count; all where `n` are all."""

    def search(self, query: Floats, *, k: int, only: Selection | None = None) -> Neighbours:
        """The `k` nearest to a unit vector (dim,), each of which counts, best first."""

    def search_many(self, queries: Floats, *, k: int, only: Selection | None = None) -> list[Neighbours]:
        """The `k` nearest to each of several unit vectors (n, dim), best first."""

    def reconstruct(self, ids: Ids) -> Floats:
        """The vectors of some ids, (n, dim), in their order."""


class Rows(Protocol):
    """What is known of some icons, in their order."""

    def __len__(self) -> int: ...

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A field of `indexer.merging.facets.ROW` for each icon, or "drawing", its first picture."""

    def several(self, kind: str) -> tuple[NDArray[np.intp], Ids]:
        """Places of the icons, ascending, and codes of all labels of a kind that they bear: tags, categories."""


@dataclass(frozen=True, slots=True)
class IconRow:
    """One icon as the catalog knows it."""

    id: int
    set_id: int
    name_id: int
    image_id: int
    name: str
    words: str
    set: str
    set_title: str
    size: int | None
    licence: str | None
    kind: str
    location: str
    path: str
    member: str

    def address(self, digest: bytes) -> PictureAddress:
        """Where its picture of a digest is read from."""
        return PictureAddress(self.kind, self.location, self.path, self.member, digest)


@dataclass(frozen=True, slots=True)
class SetRow:
    """One set as the catalog knows it."""

    key: str
    title: str
    licence: str | None
    version: str | None
    author: str | None
    location: str


def is_in(held: Ids, ids: Ids) -> Mask:
    """Which of some ids are among others that ascend."""
    if not len(held):
        return np.zeros(len(ids), bool)
    places = np.searchsorted(held, ids)
    return np.asarray(held[np.minimum(places, len(held) - 1)] == ids)


def numbered_key(set_key: str, name: str, icon: int) -> str:
    """Spell the key of an icon that its set and name alone do not lead to."""
    return f"{set_key}:{name}#{icon}"
