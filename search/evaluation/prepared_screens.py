"""Prepared screens: a folder of pictures and `screens*.jsonl`, a line a screen, which says where its icons are."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Ids, Mask, Pixels
from indexer.errors import SourceError
from search.evaluation.corpus import Corpus
from search.generation.backend import Ability
from search.generation.opened import Opened

SIZES = (8.0, 12.0, 16.0, 24.0, 48.0)
"""CSS pixels: where the classes of size begin, after the first."""
_COLOURED = {1: "coloured", 0: "one colour"}


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
            facts = json.loads(line)
            icons = (ScreenIcon(_box(icon["box"]), icon["key"], icon["drawn"]) for icon in facts["icons"])
            yield Screen(**{**facts, "icons": tuple(icons)})
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f'"{path}", line {number}: not a screen; render into an empty folder') from error


def _box(sides: list[float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = map(float, sides)
    return left, top, right, bottom


def read_pixels(folder: Path, screen: Screen) -> Pixels:
    """The picture of a screen, RGB (height, width, 3)."""
    with Image.open(folder / screen.file) as picture:
        return np.asarray(picture.convert("RGB"))


@dataclass(frozen=True, slots=True)
class KnownIcon:
    """One icon of a screen."""

    key: str
    drawn: str
    size: str
    """Class of its longer painted side in CSS pixels: pixels of the picture by the scale of the device."""
    colours: str
    """Whether its drawing has colours of its own."""
    right: frozenset[int]
    """Ids of the icons that name it rightly; none where the library lacks it."""


@dataclass(frozen=True)
class Truth:
    """The icons of one screen, as a library knows them."""

    folder: Path
    screen: Screen
    icons: Sequence[KnownIcon]

    def read_pixels(self) -> Pixels:
        """Read its picture, RGB (height, width, 3)."""
        return read_pixels(self.folder, self.screen)

    @property
    def title(self) -> str:
        """Which screen it is, and what it is made of."""
        screen = self.screen
        return f"{screen.file}: {screen.template}, {screen.theme}, scale {screen.scale:g}, seed {screen.seed}"

    @cached_property
    def corners(self) -> Floats:
        """Painted boxes, (n, 4), in pixels of the picture."""
        return np.array([icon.box for icon in self.screen.icons], np.float32).reshape(-1, 4)

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """The library's sets that the screen shows: a team asks for names in its own."""
        return tuple(sorted({icon.key.partition(":")[0] for icon in self.icons if icon.right}))

    @cached_property
    def is_held(self) -> Mask:
        """Whether the library holds each icon, (n,): others can't be named."""
        return np.array([bool(icon.right) for icon in self.icons], bool)


class KnownIcons:
    """Which icons of a library name one of a screen rightly, by its key.

    Right are the icon, all that have its very drawing, and the variants of these: what no picture tells apart.
    """

    def __init__(self, opened: Opened, corpus: Corpus) -> None:
        self._corpus = corpus
        self._facets = opened.in_memory(Ability.EVALUATE)
        self._coloured = self._facets.column("coloured")
        self._found: dict[str, tuple[frozenset[int], str]] = {}

    @cached_property
    def _rows(self) -> dict[str, int]:
        names = zip(self._corpus.sets, self._corpus.names, strict=True)
        return {f"{key}:{name}": row for row, (key, name) in reversed([*enumerate(names)])}

    def truth(self, folder: Path, screen: Screen) -> Truth:
        """Tell what is in a screen of a folder."""
        known = []
        for icon in screen.icons:
            if icon.key not in self._found:
                self._found[icon.key] = self._find(icon.key)
            right, colours = self._found[icon.key]
            known.append(KnownIcon(icon.key, icon.drawn, size_class(icon.box, screen.scale), colours, right))
        return Truth(folder, screen, known)

    def _find(self, key: str) -> tuple[frozenset[int], str]:
        row = self._rows.get(key)
        if row is None:
            return frozenset(), "not known"
        rows = np.array([row], np.int64)
        drawn = np.concatenate(self._facets.alike_rows(rows))
        right: Ids = self._corpus.icon_ids[self._corpus.variants(np.union1d(drawn, rows))]
        return frozenset(right.tolist()), _COLOURED.get(int(self._coloured[row]), "not known")


def size_class(box: Sequence[float], scale: float) -> str:
    """Class of the longer side of a box, in CSS pixels: "12-16 px"."""
    side = max(box[2] - box[0], box[3] - box[1]) / scale
    return size_classes()[int(np.searchsorted(SIZES, side, side="right"))]


def size_classes() -> list[str]:
    """All classes of size, small ones first."""
    between = [f"{low:g}-{high:g} px" for low, high in pairwise(SIZES)]
    return [f"below {SIZES[0]:g} px", *between, f"{SIZES[-1]:g} px and more"]
