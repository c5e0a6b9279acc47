"""What an examination has found: faults, which need mending, and notes, which do not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from indexer.errors import IconsError, LibraryError
from indexer.library.durable import Files, differences
from indexer.library.generations import AnyGeneration

Kind = Literal[
    "catalog",
    "schema",
    "pointer",
    "preferences",
    "generation",
    "encoder",
    "shard",
    "failures",
    "leftover",
    "vectors",
    "sample",
    "room",
    "usage",
]


class _Lists(Protocol):
    """A manifest, which lists files."""

    @property
    def files(self) -> Files:
        """All others of the generation."""


AnyManifest = TypeVar("AnyManifest", bound=_Lists)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written, or that a person should know."""

    kind: Kind
    message: str
    is_fault: bool = True
    path: Path | None = None
    """The file or folder that is at fault, where it is one."""


@dataclass(slots=True)
class Report:
    """What was examined, what was found, and what a repair has done about it."""

    library: str
    facts: dict[str, Any]
    """Versions, sizes and counts."""
    findings: list[Finding] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    """What a repair did and what was lost by it, in order."""

    @property
    def is_sound(self) -> bool:
        """Whether no fault was found; notes do not count."""
        return not any(finding.is_fault for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Spell the report for programs."""
        findings = [
            {"kind": one.kind, "fault": one.is_fault, "message": one.message, "path": one.path and str(one.path)}
            for one in self.findings
        ]
        facts = {"library": self.library, "sound": self.is_sound, "findings": findings, "repairs": self.repairs}
        return facts | self.facts


def refusals(kind: Kind, path: Path, read: Callable[[], object]) -> Iterator[Finding]:
    """The fault of a file or folder that `read` refuses."""
    try:
        read()
    except IconsError as error:
        yield Finding(kind, str(error), path=path)


def read_whole(
    kind: Kind, generation: AnyGeneration, read: Callable[[AnyGeneration], AnyManifest]
) -> tuple[AnyManifest | None, list[Finding]]:
    """Read the manifest of a generation; None, and what is wrong, where it or one of its files is not as written."""
    try:
        manifest = read(generation)
    except LibraryError as error:
        return None, [Finding(kind, str(error), path=generation.folder)]
    differs = differences(generation.folder, manifest.files, sums=True)
    damaged = [Finding(kind, f'"{path}" {how}', path=generation.folder) for path, how in differs]
    return None if damaged else manifest, damaged
