"""A place in source code that names an icon, as plain data."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Reference:
    """One place that names one icon."""

    path: str
    """Of the file: as the caller names it, or below what the caller names."""
    line: int
    """From 1."""
    column: int
    """From 1, in characters."""
    start: int
    """`text[start:end]` of the file's text, decoded as UTF-8 with its line ends as they are, is exactly what names the
    icon: both are offsets in characters, not bytes."""
    end: int
    set: str
    """Key of the set, as Iconify calls it; "" for icons of the project's own: its files and sprites."""
    name: str
    """Of the icon in that set, as the code's form implies it. Components lose where words end: `ArrowDownAZ` is
    "arrow-down-az" here, and only the set's own names tell "arrow-down-a-z" (see `known`)."""
    form: str
    """How it is named: "import lucide-react", "iconify", "unocss", "class mdi", "sprite", "file" ..."""
    text: str
    """What stands at `start:end`: `ArrowLeft`, `mdi:home`, `fa-house`."""
    others: tuple[tuple[str, str], ...] = ()
    """What else the text may mean, (set, name): `FaGithub` is no solid icon but a brand."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it, as it stands before the "#"; "" where that is the page."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A place that names an icon which only the running program knows."""

    path: str
    line: int
    column: int
    form: str
    text: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was probably meant."""

    set: str
    name: str
    text: str
    """As the code would write it."""
    by: str
    """"name": it is spelt much alike; "meaning": what the words say."""
    score: float
    """0 to 1: how alike the spellings are, or how sure the match of the meaning is."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be."""

    kind: Literal["no-icon", "no-file", "no-part", "unused-file", "too-many-sets"]
    path: str
    line: int
    """From 1; 0 where it is about a file as a whole, or about all of them."""
    column: int
    text: str
    message: str
    nearest: Nearest | None = None


class Places:
    """Line and column of offsets in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
