"""How do screens lie on disk? A folder of pictures and `screens.jsonl`, a line a screen; a killed run goes on there."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from indexer.arrays import Pixels
from indexer.errors import SourceError
from indexer.library.durable import write_file

LINES = "screens.jsonl"


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
        raise SourceError(f'no screens in "{folder}"; python -m indexer.screens render makes some')
    return sorted((screen for path in paths for screen in _read_lines(path)), key=lambda screen: screen.file)


def _read_lines(path: Path) -> Iterator[Screen]:
    lines = path.read_text("utf-8").split("\n")
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last line's end was cut off by a kill
        try:
            yield _screen(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f'"{path}", line {number}: not a screen; render into an empty folder') from error


def read_pixels(folder: Path, screen: Screen) -> Pixels:
    """The picture of a screen, RGB (height, width, 3)."""
    with Image.open(folder / screen.file) as picture:
        return np.asarray(picture.convert("RGB"))


class ScreenWriter:
    """Writes screens into a folder, a picture first and then its line, so that a line's picture is always there."""

    def __init__(self, folder: Path, *, lines: str = LINES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._path = folder / lines
        known = list(_read_lines(self._path)) if self._path.exists() else []
        self.done = {screen.file: screen for screen in known}
        write_file(self._path, "".join(_line(screen) for screen in known).encode())

    def write(self, screen: Screen, png: bytes) -> None:
        """Keep a screen."""
        write_file(self._folder / screen.file, png)
        with self._path.open("ab") as lines:
            lines.write(_line(screen).encode())
            lines.flush()
            os.fsync(lines.fileno())
        self.done[screen.file] = screen


def _line(screen: Screen) -> str:
    return json.dumps(asdict(screen), ensure_ascii=False) + "\n"


def _screen(facts: dict[str, Any]) -> Screen:
    icons = (ScreenIcon(box=_box(icon["box"]), key=icon["key"], drawn=icon["drawn"]) for icon in facts["icons"])
    return Screen(**{**facts, "icons": tuple(icons)})


def _box(sides: list[float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = map(float, sides)
    return left, top, right, bottom
