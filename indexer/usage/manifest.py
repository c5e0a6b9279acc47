"""What a generation of the usage index holds, as its `manifest.json` says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Annotated

from indexer.errors import IconsError, LibraryError
from indexer.library.durable import Files, differences, from_signed, with_checksum
from indexer.library.foreign import Count, FileName, Name, parsed
from indexer.library.numbered import Number
from indexer.publishing.curves import Curve
from indexer.usage.folder import UsageFolder, UsageGeneration
from indexer.usage.looks import LookKey

ADVICE = "`icons usage add` builds a new one"
FORMAT = 1
"""Of generations that this program writes and reads."""


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """What became of every file: found = indexed + duplicate + failed."""

    found: int
    indexed: int
    """Screens: files of different content."""
    duplicate: int
    """Files whose content another file has."""
    failed: int
    icons: int
    """Boxes on all screens."""
    drawings: int
    """Distinct pictures in them, pixel by pixel."""
    cut: int
    """Screens that hold more icons than are kept of one."""

    @property
    def missing(self) -> int:
        """Files that are neither."""
        return self.found - self.indexed - self.duplicate - self.failed


@dataclass(frozen=True, slots=True)
class Sameness:
    """How likely a crop shows an icon of the library, as `usage.sameness` has measured it."""

    known: Curve
    """By the cosine of their vectors."""
    lead: Curve
    """By how much higher that is than with what else it may be."""
    n_pictures: int
    """Of the library, among which that was measured."""


@dataclass(frozen=True, slots=True)
class UsageManifest:
    """What a generation holds; written last."""

    number: Number
    format: Annotated[int, range(FORMAT, FORMAT + 1)]
    created_at: str
    revision: str
    """Hash of the files and settings that it was made of: equal ones need no new generation."""
    fingerprint: Name
    detector: FileName
    dim: Count
    spec: str
    """Kind of the index of drawings; "" where there are none."""
    has_crops: bool
    same: Sameness
    counts: UsageCounts
    files: Files
    """All others of the generation."""

    @property
    def key(self) -> LookKey:
        """By what its screens were seen."""
        return LookKey(self.fingerprint, self.detector, self.dim)

    def write(self, generation: UsageGeneration) -> None:
        """Write it into a generation, with a checksum of its own."""
        generation.manifest.write_text(json.dumps(with_checksum(asdict(self)), indent=2), "utf-8")

    @classmethod
    def read(cls, generation: UsageGeneration) -> "UsageManifest":
        """Read a generation's manifest.

        Raises:
            LibraryError: it is missing, not whole, or of another format.
        """
        try:
            return from_signed(cls, parsed(generation.manifest.read_bytes()))
        except (OSError, ValueError) as error:
            raise LibraryError(f'"{generation.manifest}" can\'t be read ({error}); {ADVICE}') from error


@contextmanager
def damage_explained(generation: UsageGeneration, manifest: UsageManifest) -> Iterator[None]:
    """Tell damage as what it is, where a file that was damaged leads to an error of any kind during the block.

    Raises:
        LibraryError: a file is not as it was written.
    """
    try:
        yield
    except IconsError:
        raise
    except Exception as error:
        for path, how in differences(generation.folder, manifest.files, sums=True):
            raise LibraryError(f'"{path}" {how} ({error}); {ADVICE}') from error
        raise


def answering_usage(folder: UsageFolder) -> UsageManifest | None:
    """Read what the generation that answers says of itself; None where none does, or this program can't read it."""
    current = folder.current()
    if current is None:
        return None
    try:
        return UsageManifest.read(folder.generation(current))
    except LibraryError:
        return None
