"""An icon and a set as a catalog knows them, and how a key is spelt that needs a number."""

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class SetRow:
    """One set as the catalog knows it."""

    key: str
    title: str
    licence: str | None
    version: str | None
    author: str | None
    location: str


def numbered_key(set_key: str, name: str, icon: int) -> str:
    """Spell the key of an icon that its set and name alone do not lead to."""
    return f"{set_key}:{name}#{icon}"
