"""Published states under numbers: each a folder that is written aside and never changes, and a pointer to one of them.

`generations/N/` with its `manifest.json`, and `CURRENT`, which is moved by a rename. Icons have such states, and so
have screenshots.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from indexer.errors import LibraryError
from indexer.library.durable import (
    Files,
    describe_file,
    folder_aside,
    from_signed,
    remove_folder,
    with_checksum,
    write_file,
)
from indexer.library.foreign import below, folders_in, parsed

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_NUMBER = r"[0-9]{1,9}"
Number = Annotated[int, range(10**9)]
MANIFEST = "manifest.json"


class GenerationFolder:
    """Where the files of one published state lie; it never changes once it has its name."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number = number
        self.folder = folder
        self.files: tuple[Path, ...] = ()
        """All files but the manifest, which says how large they are and what their bytes add up to."""
        self.manifest = folder / MANIFEST
        """What the generation holds, with sizes and checksums."""

    def describe(self) -> Files:
        """Sizes and checksums of its files."""
        return {path.name: describe_file(path) for path in self.files}


AnyGeneration = TypeVar("AnyGeneration", bound=GenerationFolder)
AnyManifest = TypeVar("AnyManifest")


class Generations(Generic[AnyGeneration]):
    """All published states of one kind, below a folder of a library."""

    def __init__(self, root: Path, kind: type[AnyGeneration], *, library: Path | None = None) -> None:
        """Name them: `library` is the folder of the library, where that is another one."""
        self.root = root.expanduser().absolute()
        self.generations = self.root / "generations"
        self.pointer = self.root / "CURRENT"
        self._kind = kind
        self._library = library or self.root

    def folder(self, number: int) -> Path:
        """Where a generation lies, whether it exists or not."""
        return below(self.generations, str(number))

    def generation(self, number: int) -> AnyGeneration:
        """Name a generation, whether it exists or not."""
        return self._kind(number, self.folder(number))

    def numbers(self) -> list[int]:
        """Numbers of all published generations, newest first."""
        names = (path.name for path in folders_in(self.generations))
        return sorted((int(name) for name in names if re.fullmatch(_NUMBER, name)), reverse=True)

    def next_number(self) -> int:
        """A number that no generation ever had, those that a repair has set aside included."""
        set_aside = self._library.glob(f"damaged/*/{self.generations.relative_to(self._library)}")
        folders = [folder for folder in (self.generations, *set_aside) if folder.is_dir()]
        names = (path.name for folder in folders for path in folder.iterdir())
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

    def answering(self, read: Callable[[AnyGeneration], AnyManifest]) -> AnyManifest | None:
        """Read the manifest of the generation that answers; None where none does, or `read` refuses it."""
        current = self.current()
        try:
            return None if current is None else read(self.generation(current))
        except LibraryError:
            return None

    @contextmanager
    def next_generation(self, *, keeps_before: bool = True) -> Iterator[AnyGeneration]:
        """Yield an empty generation to be filled, the manifest last; it answers if the block ends without an error."""
        number = self.next_number()
        with folder_aside(self.folder(number)) as aside:
            yield self._kind(number, aside)
        self.publish(number, keeps_before=keeps_before)

    def publish(self, number: int, *, keeps_before: bool = True) -> None:
        """Make a generation the one that answers; the one that answered before is kept, all others are deleted."""
        before = self.current()
        self.point_to(number)
        others = [other for other in self.numbers() if other != number]
        kept = before if before in others else max(others, default=None)
        for other in others:
            if other != kept or not keeps_before:
                self.remove(other)

    def remove(self, number: int) -> None:
        """Delete a generation; a folder that has no manifest is none, and stays."""
        if (self.folder(number) / MANIFEST).is_file():
            remove_folder(self.folder(number))

    def point_to(self, number: int) -> None:
        """Let a generation answer."""
        write_file(self.pointer, f"{number}\n".encode("ascii"))


def write_manifest(generation: GenerationFolder, manifest: "DataclassInstance") -> None:
    """Write what a generation holds into it, with a checksum of its own."""
    generation.manifest.write_text(json.dumps(with_checksum(asdict(manifest)), indent=2), "utf-8")


def read_manifest(
    kind: type[AnyManifest], generation: GenerationFolder, *, advice: str, check: Callable[[Any], None] = lambda _: None
) -> AnyManifest:
    """Read what a generation says of itself; `check` looks at the parsed JSON first.

    Raises:
        LibraryError: it is missing, not whole, or refused; `advice` says what mends that.
    """
    try:
        facts = parsed(generation.manifest.read_bytes())
        check(facts)
        return from_signed(kind, facts)
    except (OSError, ValueError) as error:
        raise LibraryError(f'"{generation.manifest}" can\'t be read ({error}); {advice}') from error
