"""What an examination has found: faults, which need mending, and notes, which do not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from indexer.errors import IconsError
from indexer.library.durable import Files, differences
from indexer.library.generations import GenerationFolder

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


def check_files(kind: Kind, generation: GenerationFolder, files: Files) -> Iterator[Finding]:
    """Whether files of a generation are what its manifest says."""
    for path, how in differences(generation.folder, files, sums=True):
        yield Finding(kind, f'"{path}" {how}', path=generation.folder)
