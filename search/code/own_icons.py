"""A project's own icons: files that code names, parts of sprites, and a folder of its own."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from indexer.errors import IconsError
from search.code.files import Project, ids_in, is_file
from search.code.reference import Finding, Reference

_PREFIX = re.compile(r"^(?:icon|i|svg|sprite)[-_]")
_ELSEWHERE = re.compile(r"[\w+.-]*:|//|[@~$!{<%]")
"""How an address begins that leads out of the project, or that only a bundler or the running program knows."""
_NEAR = 75


def stems_of(part: str) -> Sequence[str]:
    """What the file may be called that a build makes a part of."""
    return part, _PREFIX.sub("", part)


def _finding(
    kind: Literal["no-file", "no-part"], one: Reference, message: str, names: Iterable[str], *, shift: int = 0
) -> Finding:
    """Report a name that is not there, with the one of some names that is spelt most alike, if any."""
    from rapidfuzz import fuzz, process

    wrong = one.name if kind == "no-part" else (one.file or one.name).partition("?")[0].rpartition("/")[2]
    found = process.extractOne(wrong, sorted(names), scorer=fuzz.ratio, score_cutoff=_NEAR)
    near = f"; near: {found[0]}" if found else ""
    text = one.file if shift else one.text
    return Finding(kind, one.path, one.line, one.column - shift, text, f"{message}{near}")


_WORD = re.compile(r"[\w-]{1,200}")
_ROOTS = ("@/", "~/", "$lib/", "/")
"""What stands for a folder of the project that only its bundler knows."""


@dataclass
class OwnIcons:
    """A folder of own icons, if there is one, and all that code says which may be the name of one."""

    folder: Path | None
    files: Sequence[Path]
    project: Project
    is_placed: bool = True
    """Whether the code lies where its path says."""
    words: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)

    @classmethod
    def below(cls, folder: Path | None, *, project: Project) -> "OwnIcons":
        """Find the SVGs of a folder.

        Raises:
            IconsError: it is none, or holds no SVG.
        """
        if folder is None:
            return cls(None, (), project)
        files = sorted(path for path in folder.rglob("*.svg") if path.is_file()) if folder.is_dir() else []
        if not files:
            raise IconsError(f'"{folder}" holds no SVG; give --icons the folder of your own icons')
        return cls(folder, files, project)

    def note(self, text: str) -> None:
        """Keep what a text says, whether or not it is read as a name."""
        self.ids.update(ids_in(text))
        if self.files:
            self.words.update(self._stems.intersection(_WORD.findall(text)))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(path.stem for path in self.files)

    def findings(self, references: Sequence[Reference]) -> Iterator[Finding]:
        """Report which files and parts are missing, then which files nobody uses."""
        used: set[Path | None] = set()
        for one in references:
            missing = None
            if one.form == "file":
                found = self._resolved(one)
                used.add(found)
                missing = self._missing_file(one) if found is None else None
            elif one.form == "sprite":
                missing = self._missing_part(one, used)
            if missing:
                yield missing
        for path in self.files:
            if path.resolve() not in used and path.stem not in self.words:
                yield Finding("unused-file", str(path), 0, 0, "", f'no code names "{path.name}"')

    def _missing_part(self, one: Reference, used: set[Path | None]) -> Finding | None:
        """What of a sprite is not there; the file that it lies in is used, and so is one that a build makes it of."""
        stems = stems_of(one.name)
        self.words.update(self._stems.intersection(stems))
        if not one.file:
            if one.name in self.ids or not self.project.stems.isdisjoint(stems) or one.name in self.project.ids:
                return None
            message = f'no part "{one.name}" is defined in this code'
            return _finding("no-part", one, message, self.ids | self.project.ids)
        file = one.file.partition("?")[0]
        files = self.project.svgs_meant(file, beside=Path(one.path).parent)
        used.update(path.resolve() for path in files)
        if not files:
            return self._missing_sprite(one, file)
        ids = [self.project.ids_of(path) for path in files]
        if any(found is None or one.name in found for found in ids):
            return None
        names = {name for found in ids for name in found or ()}
        return _finding("no-part", one, f'"{one.file}" has no part "{one.name}"', names)

    def _missing_sprite(self, one: Reference, file: str) -> Finding | None:
        """Where a build may make the file, or another serves it, nothing can be said."""
        is_built = not self.project.stems.isdisjoint(stems_of(one.name))
        if _ELSEWHERE.match(file) or not file.lower().endswith(".svg") or is_built:
            return None
        names = {path.name for path in self.project.svgs}
        return _finding("no-file", one, f'there is no file "{one.file}"', names, shift=len(one.file) + len("#"))

    def _resolved(self, one: Reference) -> Path | None:
        """The file that is meant: beside the one that names it, or with the end of its path in the folder of icons."""
        if one.name.startswith("."):
            path = Path(one.path).parent / one.name
            return path.resolve() if is_file(path) else None
        root = next((root for root in _ROOTS if one.name.startswith(root)), "")
        end = Path(one.name.removeprefix(root)).parts
        return next((path.resolve() for path in self.files if path.parts[-len(end) :] == end), None)

    def _missing_file(self, one: Reference) -> Finding | None:
        """Where another's file is named (of a package, or by an alias nobody here knows), nothing can be said."""
        if not one.name.startswith("."):
            return None
        folder = Path(one.path).parent
        if not self.is_placed and self.project.svgs_meant(one.name, beside=folder):
            return None
        names = {other.name for other in (folder / one.name).parent.glob("*.svg")}
        return _finding("no-file", one, f'there is no file "{one.name}"', names)
