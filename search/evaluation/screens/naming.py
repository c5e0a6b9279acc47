"""What does a library call what is inside a box? The names that a user would be shown, for many boxes of a picture."""

from collections.abc import Iterator
from dataclasses import dataclass

from indexer.arrays import Floats, Pixels
from indexer.locating.crops import crops
from search.engine import Query, SearchEngine, Window
from search.evaluation.asking import Shown
from search.generation.remembering import N_KEPT

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


def name_boxes(engine: SearchEngine, pixels: Pixels, corners: Floats) -> list[Name]:
    """Name what is inside each of some boxes (n, 4) of a picture."""
    return [
        name for start in range(0, len(corners), N_KEPT) for name in _named(engine, pixels, corners[start:][:N_KEPT])
    ]


def _named(engine: SearchEngine, pixels: Pixels, corners: Floats) -> Iterator[Name]:
    cut = crops(pixels, corners, size=engine.image_size)
    engine.put(lambda opened: opened.encoder.encode_many_pictures(cut))  # in one go; each is then remembered
    for picture in cut:
        hits = engine.ask(Query(picture=picture, prefer=()), window=Window(k=N_NAMES, min_score=0)).hits
        first = Shown(hits[0].id, hits[0].image, hits[0].name, hits[0].set) if hits else None
        yield Name(tuple(hit.id for hit in hits), first, hits[0].score if hits else 0.0)
