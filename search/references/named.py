"""What is found in a code: a name and where it stands, by offsets; or that it can't be read there."""

from typing import NamedTuple

from search.snippets.keys import iconify_sets


class Named(NamedTuple):
    """A name, and where it stands."""

    start: int
    end: int
    set: str
    name: str
    form: str
    others: tuple[tuple[str, str], ...] = ()
    """What else it may mean, (set, name)."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it; "" where that is the page."""


class Unreadable(NamedTuple):
    """What names an icon that only the running program knows."""

    start: int
    end: int
    form: str


def is_set(prefix: str) -> bool:
    """Whether Iconify has a set of this key."""
    return prefix in iconify_sets()
