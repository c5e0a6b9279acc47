"""What finds icons in a screen? Ways of finding side by side: each tells boxes, and from which score on they count."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Pixels
from indexer.encoders.query_encoder import QueryEncoder
from indexer.locating.boxes import Boxes
from indexer.locating.components import connected_components
from indexer.locating.detector import Detector
from indexer.locating.evidence import FLOOR, read_judge
from indexer.locating.located import LocatedIcons, Locator, open_locator
from search.engine import SearchEngine
from search.generation.remembering import forgetful

COMPONENTS, DETECTOR, BOTH = "components", "detector", "detector+encoder"
NAMES = (COMPONENTS, DETECTOR, BOTH)
"""The baseline first; the last is what a user is shown."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to find icons."""

    name: str
    threshold: float
    """Boxes of this score and more are what a user is shown."""
    detect: Callable[[Pixels], Boxes]
    """Finds icons in a picture, RGB (height, width, 3); with boxes below the threshold, for curves."""
    locate: Callable[[Pixels], LocatedIcons]
    """Finds what a user is shown, with what the encoder sees in it: the whole way to names."""


def open_contender(name: str, engine: SearchEngine) -> Contender:
    """Open a way of finding by its name; the encoder is that of the library.

    Raises:
        IconsError: the detector can't be read.
    """
    encoder = engine.put(lambda opened: forgetful(opened.encoder))
    if name == COMPONENTS:
        locator = Locator(connected_components, None)
        return Contender(name, 1.0, connected_components, lambda pixels: locator.locate(pixels, encoder))
    return _alone(encoder) if name == DETECTOR else _with_encoder(encoder, engine.manifest.fingerprint)


def _alone(encoder: QueryEncoder) -> Contender:
    """The detector, judged without what the encoder sees."""
    detector, judge = Detector.open(), read_judge(None)

    def detect(pixels: Pixels) -> Boxes:
        found = detector.detect(pixels, least_score=FLOOR)
        return Boxes(found.corners, judge.scores(found, np.zeros((len(found.scores), 0), np.float32)))

    def shown(pixels: Pixels) -> Boxes:
        found = detect(pixels)
        return found.at(np.flatnonzero(found.scores >= judge.threshold))

    locator = Locator(shown, None)
    return Contender(DETECTOR, judge.threshold, detect, lambda pixels: locator.locate(pixels, encoder))


def _with_encoder(encoder: QueryEncoder, fingerprint: str) -> Contender:
    locator = open_locator(fingerprint)
    threshold = locator.judge.threshold if locator.judge else 0.0
    return Contender(
        BOTH,
        threshold,
        lambda pixels: locator.candidates(pixels, encoder).boxes,
        lambda pixels: locator.locate(pixels, encoder),
    )
