"""Hostile pictures, made when they are needed: what each file holds, and whether it is drawn or why it is refused.

Whatever is drawn shows the same black square on white. A drawing that read a file, fetched an address or ran a script
would show a red one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hostile_bitmaps import bitmaps
from hostile_names import NAMES
from hostile_svgs import plain_square, svgs


@dataclass(frozen=True, slots=True)
class Case:
    """One file of the corpus; `reason` is a pattern of why it is refused, None where the square is drawn."""

    path: str
    content: bytes
    reason: str | None = None

    @property
    def is_slow(self) -> bool:
        """Takes as long as it is let: only a limit of time or memory ends it."""
        return self.reason is not None and "took longer" in self.reason


def cases(secret: Path, port: int) -> Iterator[Case]:
    """Yield all pictures; the canaries in `secret` must not be read, `port` must not be asked."""
    for name, content, reason in svgs(secret, port):
        yield Case(f"svg/{name}.svg", content, reason)
    for name, content, reason in bitmaps():
        yield Case(f"bitmap/{name}", content, reason)
    for number, name in enumerate(NAMES):
        yield Case(f"names/{name}.svg", plain_square(f"name {number}"))


def write(folder: Path, found: list[Case]) -> None:
    """Write the corpus; the same bytes in every run."""
    for case in found:
        file = folder / case.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(case.content)
