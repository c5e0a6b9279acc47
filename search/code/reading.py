"""What is found in source code: places that name icons, and what is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Reference(NamedTuple):
    """One place that names an icon."""

    start: int
    """`text[start:end]` of the file's text, decoded as UTF-8 with its line ends as they are, is exactly what names the
    icon: both are offsets in characters, not bytes."""
    end: int
    form: str
    """How it is named: "import lucide-react", "iconify", "unocss", "class mdi", "sprite", "file" ..."""
    set: str = ""
    """Key of the set, as Iconify calls it; "" for icons of the project's own: its files and sprites."""
    name: str = ""
    """Of the icon in that set, as the code's form implies it; "" where only the running program knows it. Components
    lose where words end: `ArrowDownAZ` is "arrow-down-az" here, and only the set's own names tell "arrow-down-a-z"."""
    others: tuple[tuple[str, str], ...] = ()
    """What else the text may mean, (set, name): `FaGithub` is no solid icon but a brand."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it, as it stands before the "#"; "" where that is the page."""
    path: str = ""
    """Of the file: as the caller names it, or below what the caller names."""
    line: int = 0
    """From 1."""
    column: int = 0
    """From 1, in characters."""
    text: str = ""
    """What stands at `start:end`: `ArrowLeft`, `mdi:home`, `fa-house`."""

    @property
    def readings(self) -> Sequence[tuple[str, str]]:
        """All that the text may mean, (set, name), the likeliest first."""
        return [(self.set, self.name), *self.others]

    @property
    def module(self) -> str:
        """What it is imported from, where it is."""
        return self.form.removeprefix("import ")

    @property
    def is_component(self) -> bool:
        """Whether it is what a module exports, and not the name of a file."""
        return self.form != self.module and self.text != self.text.lower()


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
