"""Writes screens into a folder: a picture first and then its line, so that a line's picture is always there."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from indexer.library.durable import write_file
from search.evaluation.prepared_screens import Screen, read_lines

LINES = "screens.jsonl"


class ScreenWriter:
    """Writes screens into a folder; a run that was cut goes on there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._path = folder / LINES
        known = list(read_lines(self._path)) if self._path.exists() else []
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
