"""What is found in a picture: plain data that the engine, the command line and the HTTP API share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from indexer.arrays import Floats
from indexer.screens.boxes import PictureKind
from search.query import Hit
from search.ranking.weights import GOOD_SCORE

AsKind = Literal["icon", "screen"]
"""What a user can say that a picture is."""


class Box(NamedTuple):
    """A part of a picture, in its pixels; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def around(cls, corners: Floats) -> "Box":
        """The whole pixels that hold all of a box."""
        left, top, right, bottom = np.concatenate([np.floor(corners[:2]), np.ceil(corners[2:])]).astype(int).tolist()
        return cls(left, top, right, bottom)

    @property
    def at(self) -> str:
        """Where it begins, as people say it."""
        return f"{self.left},{self.top}"

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.right - self.left, self.bottom - self.top

    @property
    def extent(self) -> str:
        """Width and height, as people say it."""
        return f"{self.size[0]}x{self.size[1]}"

    def style(self, width: int, height: int) -> str:
        """Where it is in a picture of this size, as CSS says it."""
        return "; ".join(
            f"{name}: {100 * part / whole:.3f}%"
            for name, part, whole in zip(
                ("left", "top", "width", "height"), (self.left, self.top, *self.size), (width, height) * 2, strict=True
            )
        )


@dataclass(frozen=True, slots=True)
class LocatedIcon:
    """One icon of a picture, and what it may be."""

    box: Box
    score: float
    """How sure it is that there is an icon, 0 to 1."""
    hits: Sequence[Hit]
    """The nearest of the library, best first, as a picture query finds them; none where nothing is near. A hit's score
    says how sure the name is."""

    @property
    def is_sure(self) -> bool:
        """Whether its best hit is a good match."""
        return bool(self.hits) and self.hits[0].score >= GOOD_SCORE


@dataclass(frozen=True, slots=True)
class LocatedPicture:
    """What is found in one picture."""

    width: int
    height: int
    kind: PictureKind
    """What the picture is taken for."""
    icons: Sequence[LocatedIcon]
    """In the order in which one reads: row by row."""
    n_found: int
    """Among the 1,500 likeliest places, which are looked at closer."""
    is_cut: bool
    """Whether more were found than `icons` has: these are the surest then."""

    @property
    def doubtful(self) -> Sequence[LocatedIcon]:
        """Those without a good match."""
        return [icon for icon in self.icons if not icon.is_sure]

    @property
    def named(self) -> Sequence[LocatedIcon]:
        """Those that have a hit."""
        return [icon for icon in self.icons if icon.hits]


@dataclass(frozen=True, slots=True)
class Use:
    """An icon at one place of a screenshot."""

    file: str
    """The screenshot."""
    also: tuple[str, ...]
    """Files with the same content."""
    width: int
    height: int
    """Of the screenshot, in pixels."""
    box: Box
    score: float
    """How sure it is that this is what was asked for, 0 to 1."""
    icon: str | None
    """The icon of the library that it is taken for; None where a picture was asked for."""
    drawing: int
    """What it shows, pixel by pixel: equal ones have one number."""


@dataclass(frozen=True, slots=True)
class Uses:
    """Where something is used."""

    uses: Sequence[Use]
    """The surest first, at most as many as were asked for."""
    n_found: int
    n_screens: int
    """On how many screens these are, all of `n_found`."""
    best: float
    """How sure the best is, found or not: 0 where there is none."""
