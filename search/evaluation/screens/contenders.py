"""What finds icons in a screen? Ways of finding side by side: each tells boxes, and from which score on they count."""

from typing import Protocol

from indexer.arrays import Pixels
from indexer.locating.boxes import Boxes
from indexer.locating.components import connected_components
from search.engine import SearchEngine

COMPONENTS = "components"


class Contender(Protocol):
    """One way to find icons."""

    name: str
    threshold: float
    """Boxes of this score and more are what a user is shown."""

    def detect(self, pixels: Pixels) -> Boxes:
        """Find icons in a picture, RGB (height, width, 3); with the boxes below the threshold, for curves."""


class Components:
    """The baseline, which needs no training; its boxes have no scores."""

    name = COMPONENTS
    threshold = 1.0

    def detect(self, pixels: Pixels) -> Boxes:
        """Find what stands apart from its ground."""
        return connected_components(pixels)


NAMES = (COMPONENTS,)
"""The baseline first, what is used last."""


def open_contender(name: str, engine: SearchEngine) -> Contender:
    """Open a way of finding by its name; the encoder is that of the library."""
    return Components()
