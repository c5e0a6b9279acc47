"""What is changed in one text, and what is left to a person, and why."""

from collections.abc import Sequence
from typing import NamedTuple

from search.references.reference import Reference


class Edit(NamedTuple):
    """`text[start:end]` becomes another text."""

    start: int
    end: int
    text: str


class ByHand(NamedTuple):
    """A place that names an icon which has a stand-in, and can't be changed safely."""

    reference: Reference
    to: str
    """Key of what would stand there."""
    why: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits, which do not overlap."""
    parts, place = [], 0
    for edit in sorted(edits):
        assert edit.start >= place, "edits overlap"
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join((*parts, text[place:]))
