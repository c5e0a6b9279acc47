"""Files of code below a place, and what lies in the project that they belong to."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from indexer.errors import IconsError, SourceError
from indexer.sources.folders import GITIGNORE, Exclusion
from indexer.sources.records import read_regular
from search.code.reading import Kind, kind_of, without_comments

MOST_BYTES = 2_000_000
"""Of one file; what is larger was written by a program."""
LEFT_OUT = (
    GITIGNORE, ".git/", "node_modules/", "bower_components/", "dist/", "build/", ".next/", ".nuxt/", ".output/",
    ".svelte-kit/", "coverage/", "__pycache__/", ".venv/", "*.min.js", "*.min.css", "package-lock.json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of code."""

    path: Path
    kind: Kind


def code_files(places: Sequence[Path]) -> Iterator[CodeFile]:
    """Find the files to read, each once, in the order of their names; a file that is named is read whatever rules say.

    Raises:
        IconsError: a place is not there, or a named file is of no kind that is read.
    """
    seen = set()
    for place in places:
        for path in [place] if place.is_file() else files_below(place):
            kind = kind_of(path.name)
            if kind is None:
                if path == place:
                    raise IconsError(f'"{place}" is no file of code that is read; docs/checking.md lists the kinds')
            elif path not in seen:
                seen.add(path)
                yield CodeFile(path, kind)


def read_code(path: Path) -> str:
    """Read a file's text, its line ends as they are.

    Raises:
        IconsError: it can't be read, is too large, or is no UTF-8.
    """
    try:
        return read_regular(path, limit=MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError("it is not UTF-8") from error
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def files_below(place: Path) -> Iterator[Path]:
    """Find the files of a folder that git does not ignore, and that no build has made.

    Raises:
        IconsError: it is none, or it can't be read.
    """
    if not place.is_dir():
        raise IconsError(f'"{place}" is neither a folder nor a file; name the code to look at')
    yield from _walk(place, "", Exclusion.of(LEFT_OUT))


def _walk(folder: Path, path: str, rules: Exclusion) -> Iterator[Path]:
    rules = rules.entering(folder, path)
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        raise IconsError(f'"{folder}" can\'t be read: {error.strerror}') from error
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if not rules.excludes(f"{path}{entry.name}/"):
                yield from _walk(folder / entry.name, f"{path}{entry.name}/", rules)
        elif entry.is_file(follow_symlinks=False) and not rules.excludes(f"{path}{entry.name}"):
            yield folder / entry.name


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

    def svgs_meant(self, address: str, *, beside: Path) -> Sequence[Path]:
        """The SVGs that code in the folder `beside` may mean.

        The one that the path leads to; else all with the end of it, or of the same name: what `/` or a bundler's alias
        stands for, only the server and the bundler know.
        """
        if found := next((path for path in self._led_to(address, beside) if is_file(path)), None):
            return [found.resolve()]
        parts = Path(_BEGINS.sub("", address, count=1)).parts
        alike = [path for path in self.svgs if parts and path.name == parts[-1]]
        return [path for path in alike if path.parts[-len(parts) :] == parts] or alike

    def _led_to(self, address: str, beside: Path) -> Iterator[Path]:
        if not address.startswith("/"):
            yield beside / address
        folder = beside.resolve()
        while any(folder.is_relative_to(root.resolve()) for root in self.folders):
            yield from (folder / public / address.lstrip("/") for public in _PUBLIC)
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
