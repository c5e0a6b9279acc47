"""A project's own icons: files that code names, parts of sprites, and a folder of its own."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from indexer.errors import IconsError
from search.code.files import Project, ids_in, is_file
from search.code.reference import Reference

_PREFIX = re.compile(r"^(?:icon|i|svg|sprite)[-_]")
_ELSEWHERE = re.compile(r"[\w+.-]*:|//|[@~$!{<%]")
"""How an address begins that leads out of the project, or that only a bundler or the running program knows."""
_NEAR = 75


Kind = Literal["no-file", "no-part", "unused-file"]


class Missing(NamedTuple):
    """An own icon that is not there, or a file that is not used."""

    kind: Kind
    reference: Reference | None
    """None where no code names it."""
    path: str
    message: str
    near: str = ""


def stems_of(part: str) -> Sequence[str]:
    """What the file may be called that a build makes a part of."""
    return part, _PREFIX.sub("", part)


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that is spelt most alike; "" where none is."""
    from rapidfuzz import fuzz, process

    found = process.extractOne(name, sorted(names), scorer=fuzz.ratio, score_cutoff=_NEAR)
    return str(found[0]) if found else ""


def missing_part(one: Reference, files: Sequence[Path], project: Project) -> Missing | None:
    """Tell that a part is in none of the files that may be meant, or that there is no such file."""
    if not files:
        return _missing_file(one, project)
    ids = [project.ids_of(path) for path in files]
    if any(found is None or one.name in found for found in ids):
        return None
    near = nearest(one.name, {name for found in ids for name in found or ()})
    return Missing("no-part", one, one.path, f'"{one.file}" has no part "{one.name}"', near)


def _missing_file(one: Reference, project: Project) -> Missing | None:
    """Where a build may make the file, or another serves it, nothing can be said."""
    file = one.file.partition("?")[0]
    if _ELSEWHERE.match(file) or not file.lower().endswith(".svg") or not project.stems.isdisjoint(stems_of(one.name)):
        return None
    near = nearest(file.rpartition("/")[2], {path.name for path in project.svgs})
    begin = len(one.file) + len("#")
    where = replace(one, column=one.column - begin, start=one.start - begin, end=one.start - 1, text=one.file)
    return Missing("no-file", where, one.path, f'there is no file "{one.file}"', near)


def missing_of_page(one: Reference, ids: set[str], project: Project) -> Missing | None:
    """Tell that nothing in the project has the id of a part of the page."""
    if one.name in ids or not project.stems.isdisjoint(stems_of(one.name)) or one.name in project.ids:
        return None
    near = nearest(one.name, ids | project.ids)
    return Missing("no-part", one, one.path, f'no part "{one.name}" is defined in this code', near)


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

    def findings(self, references: Sequence[Reference]) -> Iterator[Missing]:
        """Tell which files and parts are missing, then which files nobody uses."""
        used: set[Path | None] = set()
        for one in references:
            if one.form == "file":
                found = self._resolved(one)
                used.add(found)
                if found is None and (told := self._missing_file(one)):
                    yield told
            elif one.form == "sprite" and (told := self._missing_part(one, used)):
                yield told
        for path in self.files:
            if path.resolve() not in used and path.stem not in self.words:
                yield Missing("unused-file", None, str(path), f'no code names "{path.name}"')

    def _missing_part(self, one: Reference, used: set[Path | None]) -> Missing | None:
        """What of a sprite is not there; the file that it lies in is used, and so is one that a build makes it of."""
        self.words.update(self._stems.intersection(stems_of(one.name)))
        if not one.file:
            return missing_of_page(one, self.ids, self.project)
        told = one.file.partition("?")[0]
        files = self.project.svgs_meant(told, beside=Path(one.path).parent)
        used.update(path.resolve() for path in files)
        return missing_part(one, files, self.project)

    def _resolved(self, one: Reference) -> Path | None:
        """The file that is meant: beside the one that names it, or with the end of its path in the folder of icons."""
        told = one.name
        if told.startswith("."):
            path = Path(one.path).parent / told
            return path.resolve() if is_file(path) else None
        begins = next((root for root in _ROOTS if told.startswith(root)), "")
        end = Path(told.removeprefix(begins)).parts
        return next((path.resolve() for path in self.files if path.parts[-len(end) :] == end), None)

    def _missing_file(self, one: Reference) -> Missing | None:
        """Where another's file is named (of a package, or by an alias nobody here knows), nothing can be said."""
        if not one.name.startswith("."):
            return None
        if not self.is_placed and self.project.svgs_meant(one.name, beside=Path(one.path).parent):
            return None
        path = Path(one.path).parent / one.name
        near = nearest(path.name, {other.name for other in path.parent.glob("*.svg")})
        return Missing("no-file", one, one.path, f'there is no file "{one.name}"', near)
