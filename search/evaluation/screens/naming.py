"""What does a library call what is inside a box? The names that a user would be shown, for many boxes of a picture."""

from dataclasses import dataclass

from indexer.arrays import Floats, Pixels
from indexer.locating.located import seen_in
from search.engine import Filters, SearchEngine
from search.evaluation.asking import Shown
from search.generation.opened import Opened
from search.generation.remembering import forgetful
from search.locating.naming import name_crops
from search.results import Hit

N_NAMES = 5


@dataclass(frozen=True, slots=True)
class Name:
    """What a box was called."""

    icons: tuple[int, ...]
    """Ids of the first hits."""
    first: Shown | None
    """The first hit; None where there is none."""
    score: float
    """How sure the first is."""

    def rank(self, right: frozenset[int]) -> int | None:
        """Place of the first right one, from 1; None where none of the first is right."""
        return next((place for place, icon in enumerate(self.icons, 1) if icon in right), None)


def name_boxes(engine: SearchEngine, pixels: Pixels, corners: Floats, *, sets: tuple[str, ...] = ()) -> list[Name]:
    """Name what is inside each of some boxes (n, 4) of a picture in some sets, or in all: what comes nearest."""
    if not len(corners):
        return []
    vectors = engine.put(lambda opened: seen_in(pixels, corners, forgetful(opened.encoder)))
    return name_vectors(engine, vectors, sets=sets)


def name_vectors(engine: SearchEngine, vectors: Floats, *, sets: tuple[str, ...] = ()) -> list[Name]:
    """Name what the encoder sees as some vectors (n, dim)."""

    def ask(opened: Opened) -> list[list[Hit]]:
        return name_crops(opened, vectors, Filters(sets=sets), opened.standing(()), k=N_NAMES, min_score=0)

    return [_name(hits) for hits in engine.put(ask)]


def _name(hits: list[Hit]) -> Name:
    first = Shown(hits[0].id, hits[0].image, hits[0].name, hits[0].set) if hits else None
    return Name(tuple(hit.id for hit in hits), first, hits[0].score if hits else 0.0)
