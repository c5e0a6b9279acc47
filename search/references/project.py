"""What lies in the project that code belongs to? Its SVGs, and the ids of all its files, read when first asked for."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from indexer.errors import IconsError
from search.references.code import kind_of, without_comments
from search.references.files import files_below, read_code

_MARKS = (".git", "package.json", "pyproject.toml", "composer.json")
"""What lies in the root of a project."""
_PUBLIC = ("", "public", "static", "assets", "src")
"""Folders that the `/` of an address may stand for."""
_BEGINS = re.compile(r"(?:\.{0,2}/|[@~]/|\$lib/|\{[^{}]*\}/?)*")
"""What a bundler or the running program puts something in the place of."""
_ID = re.compile(r"\bid\s*=\s*[\"'{]*([\w.:-]{1,200})")
_ID_OF_SVG = re.compile(r"(?<![\w:-])id\s*=\s*[\"']([^\"'<>]{1,200})[\"']")


def ids_in(text: str) -> list[str]:
    """The ids that a code gives, and what may be one."""
    return _ID.findall(text)


def is_file(path: Path) -> bool:
    """Whether there is such a file; what is too long for a file's name is none."""
    return os.path.isfile(path)  # noqa: PTH113  Path.is_file raises that


@dataclass
class Project:
    """The folders of a project."""

    folders: Sequence[Path]
    """None where it is not known which they are."""
    _read: dict[Path, frozenset[str] | None] = field(default_factory=dict)

    @classmethod
    def around(cls, places: Sequence[Path]) -> "Project":
        """Find the projects that places belong to; a folder without any is one by itself."""
        return cls(tuple({found: None for place in places if (found := _root(place) or _own_folder(place))}))

    @cached_property
    def _files(self) -> Sequence[Path]:
        return [path for folder in self.folders for path in _listed(folder)]

    @cached_property
    def svgs(self) -> Sequence[Path]:
        """All SVGs that no build has made."""
        return [path for path in self._files if path.suffix.lower() == ".svg"]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The names of all SVGs, each of which a build may make a part of a sprite."""
        return frozenset(path.stem for path in self.svgs)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids that its code gives, and those of its SVGs."""
        of_code = (one for path in self._files if kind_of(path.name) for one in _ids_of_code(path))
        return frozenset(of_code).union(*(self.ids_of(path) or () for path in self.svgs))

    def ids_of(self, svg: Path) -> frozenset[str] | None:
        """The ids of an SVG; None where it can't be read, or is a font, which is called as one likes."""
        if svg not in self._read:
            self._read[svg] = _ids_of_svg(svg)
        return self._read[svg]

    def svgs_meant(self, told: str, *, beside: Path) -> Sequence[Path]:
        """The SVGs that code in the folder `beside` may mean.

        The one that the path leads to; else all with the end of it, or of the same name: what `/` or a bundler's alias
        stands for, only the server and the bundler know.
        """
        if found := next((path for path in self._led_to(told, beside) if is_file(path)), None):
            return [found.resolve()]
        parts = Path(_BEGINS.sub("", told, count=1)).parts
        alike = [path for path in self.svgs if parts and path.name == parts[-1]]
        return [path for path in alike if path.parts[-len(parts) :] == parts] or alike

    def _led_to(self, told: str, beside: Path) -> Iterator[Path]:
        if not told.startswith("/"):
            yield beside / told
        folder = beside.resolve()
        while any(folder.is_relative_to(root.resolve()) for root in self.folders):
            yield from (folder / public / told.lstrip("/") for public in _PUBLIC)
            folder = folder.parent


def _root(place: Path) -> Path | None:
    """The folder above that is marked; the user's own is none, whatever lies there."""
    above = [folder for folder in (place.resolve(), *place.resolve().parents) if folder != Path.home()]
    return next((folder for mark in _MARKS for folder in above if (folder / mark).exists()), None)


def _own_folder(place: Path) -> Path | None:
    return place if place.is_dir() else place.parent if place.is_file() else None


def _listed(folder: Path) -> Iterator[Path]:
    try:
        yield from files_below(folder)
    except IconsError:  # a folder that can't be read, where nobody asked to look
        return


def _ids_of_code(path: Path) -> Sequence[str]:
    try:
        return ids_in(read_code(path))
    except IconsError:
        return ()


def _ids_of_svg(path: Path) -> frozenset[str] | None:
    try:
        text = without_comments(read_code(path), "markup")
    except IconsError:
        return None
    return None if "<font" in text else frozenset(_ID_OF_SVG.findall(text))
