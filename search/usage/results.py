"""What is found in screenshots: plain data that the engine, the command line and the HTTP API share."""

from collections.abc import Sequence
from dataclasses import dataclass

from search.locating.results import Box


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
