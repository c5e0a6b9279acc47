"""Which of several states, each in a folder with a number, is the one that answers? The pointer file says it."""

import re
from pathlib import Path
from typing import Annotated

from indexer.library.durable import remove_folder, write_file
from indexer.library.foreign import below, folders_in

_NUMBER = r"[0-9]{1,9}"
Number = Annotated[int, range(10**9)]
MANIFEST = "manifest.json"


class Numbered:
    """`generations/N/`, and `CURRENT`, which names one of them and is moved by a rename."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self.generations = self.root / "generations"
        self.pointer = self.root / "CURRENT"

    def folder(self, number: int) -> Path:
        """Where a generation lies, whether it exists or not."""
        return below(self.generations, str(number))

    def numbers(self) -> list[int]:
        """Numbers of all published generations, newest first."""
        names = (path.name for path in folders_in(self.generations))
        return sorted((int(name) for name in names if re.fullmatch(_NUMBER, name)), reverse=True)

    def next_number(self) -> int:
        """A number that no generation ever had, those that a repair has set aside included."""
        folders = [self.generations, *self.root.glob("damaged/*/generations")]
        names = (path.name for folder in folders if folder.is_dir() for path in folder.iterdir())
        return 1 + max((int(name) for name in names if re.fullmatch(_NUMBER, name)), default=0)

    def current(self) -> int | None:
        """Number that the pointer names; None when it is missing, garbage, or names nothing."""
        before, number = None, self._pointed()
        while number != before:
            if number is None or self.folder(number).is_dir():
                return number
            before, number = number, self._pointed()  # it may have made room since the pointer was read
        return None

    def _pointed(self) -> int | None:
        try:
            text = self.pointer.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return int(text) if re.fullmatch(_NUMBER, text) else None

    def remove(self, number: int) -> None:
        """Delete a generation; a folder that has no manifest is none, and stays."""
        if (self.folder(number) / MANIFEST).is_file():
            remove_folder(self.folder(number))

    def point_to(self, number: int) -> None:
        """Let a generation answer."""
        write_file(self.pointer, f"{number}\n".encode("ascii"))
