"""Prepared screens: a folder of pictures and `screens*.jsonl`, a line a screen, which says where its icons are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Ids, Mask, Pixels
from indexer.errors import SourceError
from indexer.library.foreign import from_json
from search.evaluation.corpus import Corpus
from search.generation.backend import Ability
from search.generation.opened import Opened


@dataclass(frozen=True, slots=True)
class ScreenIcon:
    """An icon on a screen: the box of its painted pixels (left, top, right, bottom), its key, how it is drawn."""

    box: tuple[float, float, float, float]
    key: str
    drawn: str


@dataclass(frozen=True, slots=True)
class Screen:
    """A picture of a screen, what it was made of, and its icons."""

    file: str
    width: int
    height: int
    scale: float
    template: str
    theme: str
    seed: int
    icons: tuple[ScreenIcon, ...]


def read_screens(folder: Path) -> list[Screen]:
    """Read what is known of the screens of a folder, in the order of their files.

    Raises:
        SourceError: there are none, or a line is not a screen's.
    """
    paths = sorted(folder.glob("screens*.jsonl"))
    if not paths:
        raise SourceError(f'no screens in "{folder}"; give a folder with pictures and screens.jsonl')
    return sorted((screen for path in paths for screen in read_lines(path)), key=lambda screen: screen.file)


def read_lines(path: Path) -> Iterator[Screen]:
    """Read a file of screens; what follows the last line's end was cut off by a kill.

    Raises:
        SourceError: a line is not a screen's.
    """
    for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1], start=1):
        try:
            yield from_json(Screen, line)
        except ValueError as error:
            raise SourceError(f'"{path}", line {number}: not a screen; render into an empty folder') from error


def read_pixels(folder: Path, screen: Screen) -> Pixels:
    """The picture of a screen, RGB (height, width, 3)."""
    with Image.open(folder / screen.file) as picture:
        return np.asarray(picture.convert("RGB"))


@dataclass(frozen=True)
class Truth:
    """The icons of one screen, as a library knows them."""

    folder: Path
    screen: Screen
    right: Sequence[frozenset[int]]
    """Of each icon of the screen the ids of the icons that name it rightly; none where the library lacks it."""

    def read_pixels(self) -> Pixels:
        """Read its picture, RGB (height, width, 3)."""
        return read_pixels(self.folder, self.screen)

    @cached_property
    def corners(self) -> Floats:
        """Painted boxes, (n, 4), in pixels of the picture."""
        return np.array([icon.box for icon in self.screen.icons], np.float32).reshape(-1, 4)

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """The library's sets that the screen shows: a team asks for names in its own."""
        pairs = zip(self.screen.icons, self.right, strict=True)
        return tuple(sorted({icon.key.partition(":")[0] for icon, right in pairs if right}))

    @cached_property
    def is_held(self) -> Mask:
        """Whether the library holds each icon, (n,): others can't be named."""
        return np.array([bool(right) for right in self.right], bool)


class KnownIcons:
    """Which icons of a library name one of a screen rightly, by its key.

    Right are the icon, all that have its very drawing, and the variants of these: what no picture tells apart.
    """

    def __init__(self, opened: Opened, corpus: Corpus) -> None:
        self._corpus = corpus
        self._facets = opened.in_memory(Ability.EVALUATE)
        names = zip(corpus.sets, corpus.names, strict=True)
        self._rows = {f"{key}:{name}": row for row, (key, name) in reversed([*enumerate(names)])}
        self._found: dict[str, frozenset[int]] = {}

    def truth(self, folder: Path, screen: Screen) -> Truth:
        """Say what is in a screen of a folder."""
        for key in {icon.key for icon in screen.icons} - self._found.keys():
            self._found[key] = self._find(key)
        return Truth(folder, screen, [self._found[icon.key] for icon in screen.icons])

    def _find(self, key: str) -> frozenset[int]:
        row = self._rows.get(key)
        if row is None:
            return frozenset()
        rows = np.array([row], np.int64)
        drawn = np.concatenate(self._facets.alike_rows(rows))
        right: Ids = self._corpus.icon_ids[self._corpus.variants(np.union1d(drawn, rows))]
        return frozenset(right.tolist())
