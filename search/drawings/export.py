"""What a project takes in: `export(engine, collection, "sprite")`."""

import io
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from indexer.errors import ExportError, IconsError, SourceError
from indexer.library.durable import folder_aside, write_file
from indexer.library.foreign import from_plain, parsed
from indexer.library.named import write_result
from indexer.sources.records import read_regular
from search.drawings.chosen import Chosen, Drawn, LeftOut, Reading, drawings, keys_of, read_chosen, refuse_left_out
from search.drawings.collection import MAX_BYTES, PRIVATE_USE, Collection, plain_name, read_collection
from search.drawings.drawn import AS_IT_IS, Look
from search.drawings.licences import SetTerms, licence_file, licences_summed_up, notice, terms_of, warnings_of
from search.results import Hit

if TYPE_CHECKING:
    from indexer.reports.terminal import Progress
    from search.drawings.web_font import Shaped
    from search.engine import SearchEngine

_DATE = (1980, 1, 1, 0, 0, 0)
"""The first that a zip can state."""
_READABLE = 0o644 << 16


def packed(files: Mapping[str, bytes], *, folder: str) -> bytes:
    """Pack files into a zip, all inside one folder, in the order of their names."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{name}", _DATE)
            entry.external_attr = _READABLE
            entry.create_system = 3  # the same on every system
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, compresslevel=9)
    return written.getvalue()


Kind = Literal["zip", "sprite", "iconify", "font", "react"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LICENCES, COLLECTION = "LICENCES.md", "collection.json"
_PREFIX = re.compile(r"[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,5}")
_SIZED: tuple[Kind, ...] = ("zip", "react")
_PREFIXED: tuple[Kind, ...] = ("iconify", "font", "react")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an export is made."""

    look: Look = AS_IT_IS
    """What the icons are given: a colour and a width and end of strokes; in files and components a size."""
    prefix: str | None = None
    """Of Iconify JSON: one file with all icons, under this prefix. Of a font its name, of a package its name."""
    skip_unreadable: bool = False
    """Leave out what can't be exported, and tell; else nothing is exported."""

    def __post_init__(self) -> None:
        if self.prefix is not None and not _PREFIX.fullmatch(self.prefix):
            raise ExportError(f'prefix is "{self.prefix}"; use small letters, digits and hyphens, as my-icons')


@dataclass(frozen=True, slots=True)
class Exported:
    """An export, whole, in memory."""

    kind: Kind
    name: str
    """Of its folder: letters, digits and hyphens."""
    files: Mapping[str, bytes]
    """Path inside that folder -> content."""
    main: str | None
    """The file that is enough by itself, beside its licences; None where all are needed."""
    icons: tuple[str, ...]
    """Keys of those that are in it."""
    left_out: tuple[LeftOut, ...]
    remarks: tuple[str, ...]
    """Sentences for whoever asked: how it is used, what a licence asks, what was lost."""
    licences: str
    """Summed up: "3 sets; 2 need attribution"."""

    @property
    def content(self) -> bytes:
        """All files as one zip."""
        return packed(self.files, folder=self.name)

    @property
    def media_type(self) -> str:
        """Of the content."""
        return "application/zip"

    @property
    def file_name(self) -> str:
        """How the content would be called on a disk."""
        return f"{self.name}.zip" if self.kind == "zip" else f"{self.name}-{self.kind}.zip"


@dataclass(frozen=True, slots=True)
class _Parts:
    """Icons as an export takes them in, and those that it can't."""

    drawn: Sequence[Drawn]
    bitmaps: Sequence[Chosen]
    shaped: "Sequence[Shaped]"
    """Of a font."""
    left_out: Sequence[LeftOut]

    @property
    def hits(self) -> dict[str, Hit]:
        """What is known of each icon, by its key."""
        return {icon.key: icon.hit for icon in (*(one.icon for one in self.drawn), *self.bitmaps)}


@dataclass(frozen=True, slots=True)
class _Material:
    """What an export is made of."""

    name: str
    parts: _Parts
    terms: Sequence[SetTerms]
    options: Options
    code_points: Mapping[str, int]

    @property
    def drawn(self) -> Sequence[Drawn]:
        """The icons that are SVG: all of them, but for a zip."""
        return self.parts.drawn


@dataclass(frozen=True, slots=True)
class _Made:
    files: dict[str, bytes]
    main: str | None
    remarks: list[str]
    facts: Mapping[str, Mapping[str, Any]]
    """What the manifest says of each icon, by key."""


def export(
    engine: "SearchEngine",
    collection: Collection,
    kind: Kind,
    options: Options | None = None,
    *,
    progress: "Progress | None" = None,
) -> Exported:
    """Make one thing of chosen icons, in memory.

    Raises:
        ExportError: an icon can't be exported so and is not to be left out, none is left, or there are too many.
    """
    options = options or Options()
    _refuse(kind, options, collection)
    reading = read_chosen(engine, collection, progress=progress)
    parts = _parts(kind, reading, options.look, progress)
    if not options.skip_unreadable:
        refuse_left_out(parts.left_out)
    found = parts.hits
    if not found:
        raise ExportError(f"no icon is left to be exported; can't be exported so: {keys_of(parts.left_out)}")
    keys = tuple(key for key in collection.icons if key in found)
    hits = [found[key] for key in keys]
    if kind == "font":
        collection = replace(collection, code_points=_places(keys, collection.code_points))
    terms = terms_of(hits, show=engine.show, text_of=engine.licence_text)
    material = _Material(plain_name(collection.name), parts, terms, options, collection.code_points)
    made = _MAKERS[kind](material)
    files = {**made.files, LICENCES: licence_file(terms, name=collection.name).encode()}
    facts = {key: made.facts.get(key, {}) for key in keys}
    files[COLLECTION] = collection.as_file(facts, kind=kind, files=sorted([*files, COLLECTION]))
    return Exported(
        kind=kind,
        name=material.name,
        files=files,
        main=made.main,
        icons=keys,
        left_out=tuple(parts.left_out),
        remarks=(*reading.remarks, *made.remarks, *warnings_of(terms)),
        licences=licences_summed_up(hits),
    )


def _refuse(kind: Kind, options: Options, collection: Collection) -> None:
    if options.prefix is not None and kind not in _PREFIXED:
        raise ExportError(f'a {kind} has no prefix ("{options.prefix}"); it is for {", ".join(_PREFIXED)}')
    if options.look.size is not None and kind not in _SIZED:
        raise ExportError(
            f"the icons of a {kind} take their size where they are shown; size is for {', '.join(_SIZED)}"
        )
    if options.look.colour is not None and kind == "font":
        raise ExportError("a font takes the colour of the text; colour is for all others")
    if kind == "font" and len(collection.icons) > len(PRIVATE_USE):
        n_places = len(PRIVATE_USE)
        raise ExportError(f"{len(collection.icons):,} icons; a font has {n_places:,} places, make several of them")


def _parts(kind: Kind, reading: Reading, look: Look, progress: "Progress | None") -> _Parts:
    """Bring icons into the form that an export needs."""
    bitmaps = [icon for icon in reading.icons if not icon.is_svg] if kind == "zip" else []
    taken = [icon for icon in reading.icons if kind != "zip" or icon.is_svg]
    drawn, undrawn = drawings(taken, look, shared=kind != "zip")
    left_out = [*reading.left_out, *undrawn]
    if kind != "font":
        return _Parts(drawn, bitmaps, (), left_out)
    from search.drawings.web_font import outlined

    shaped, unshaped = outlined(drawn, progress=progress)
    return _Parts([each.one for each in shaped], (), shaped, [*left_out, *unshaped])


def _places(keys: Sequence[str], taken: Mapping[str, int]) -> dict[str, int]:
    from search.drawings.web_font import place

    return {**taken, **place(keys, taken)}


def _zip(material: _Material) -> _Made:
    from search.drawings.kinds import picture_files

    files, places = picture_files(material.drawn, material.parts.bitmaps)
    return _Made(files, None, [], {key: {"file": place} for key, place in places.items()})


def _sprite(material: _Material) -> _Made:
    from search.drawings.kinds import SPRITE, sprite_files, use_line

    files = sprite_files(material.drawn, title=material.name, notice=notice(material.terms))
    return _Made(files, SPRITE, [f"use: {use_line(material.drawn)}"], _named(material.drawn))


def _iconify(material: _Material) -> _Made:
    from search.drawings.kinds import iconify_files

    files = iconify_files(material.drawn, material.terms, prefix=material.options.prefix)
    return _Made(files, next(iter(files)) if len(files) == 1 else None, [], {})


def _font(material: _Material) -> _Made:
    from search.drawings.web_font import class_line, font_files

    name = material.options.prefix or material.name
    files = font_files(material.parts.shaped, material.code_points, name=name, notice=notice(material.terms))
    remarks = [f"use: {class_line(name, material.drawn[0].icon.name)} with {name}.css; icons.html shows all"]
    coloured = [each.one.icon.key for each in material.parts.shaped if each.outline.colour]
    if coloured:
        n_lost = "1 icon loses its colour" if len(coloured) == 1 else f"{len(coloured):,} icons lose their colour"
        remarks.append(f'{n_lost}, as "{coloured[0]}": a font takes that of the text')
    return _Made(files, None, remarks, _named(material.drawn))


def _react(material: _Material) -> _Made:
    from search.drawings.kinds import import_line, react_files

    name = material.options.prefix or material.name
    files = react_files(material.drawn, material.terms, name=name, size=material.options.look.size)
    remarks = [f"use: {import_line(name, material.drawn)}, after npm install && npm run build"]
    return _Made(files, None, remarks, _named(material.drawn))


def _named(drawn: Sequence[Drawn]) -> dict[str, dict[str, str]]:
    return {one.icon.key: {"name": one.icon.name} for one in drawn}


_MAKERS: Mapping[str, Callable[[_Material], _Made]] = {
    "zip": _zip,
    "sprite": _sprite,
    "iconify": _iconify,
    "font": _font,
    "react": _react,
}


@dataclass(frozen=True, slots=True)
class _Written:
    """What a collection's file says that an export has written."""

    format: Literal["icons-collection"]
    files: list[str]


def default_place(exported: Exported) -> Path:
    """Where an export goes that nobody named a place for."""
    return Path(exported.file_name if exported.kind == "zip" else f"{exported.name}-{exported.kind}")


def write_export(exported: Exported, place: Path, *, replace: bool = False) -> list[Path]:
    """Write an export; return what was written. A place that ends in .zip, or as its main file does, is a file.

    `replace` puts a folder in the place of an earlier export, and of nothing else; a file in the place of any file.

    Raises:
        ExportError: something is there and is not to be replaced, or a folder holds more than an export has written.
        IconsError: it can't be written there.
    """
    if place.suffix.lower() == ".zip":
        files = {place: exported.content}
    elif exported.main is not None and place.suffix.lower() == Path(exported.main).suffix:
        beside = place.with_name(f"{place.stem}.licences.md")
        files = {place: exported.files[exported.main], beside: exported.files[LICENCES]}
    else:
        return _write_folder(exported.files, place, replace=replace)
    for path in files:
        if path.is_dir():
            raise ExportError(f'"{path}" is a folder; choose another --out')
        if path.is_file() and not replace:
            raise _taken(path)
    for path, content in files.items():
        write_result(path, content, option="--out")
    return list(files)


def earlier_code_points(place: Path) -> Mapping[str, int]:
    """Code points that an earlier export in a folder gave; none where there is no such export."""
    manifest = place / COLLECTION
    return _read(manifest).code_points if manifest.is_file() else {}


def _read(manifest: Path) -> Collection:
    try:
        with manifest.open("rb") as file:
            return read_collection(file.read(MAX_BYTES + 1), name=str(manifest))[0]
    except OSError as error:
        raise ExportError(f'"{manifest}" can\'t be read ({error.strerror}); choose another --out') from error


def _write_folder(files: Mapping[str, bytes], place: Path, *, replace: bool) -> list[Path]:
    """Write all files or none; an earlier folder goes only when the new one is whole. A link to it stays."""
    try:
        _refuse_taken(place, replace=replace)
        with folder_aside(Path(os.path.realpath(place)), replace=True) as aside:
            for name, content in files.items():
                write_file(aside / name, content)
    except OSError as error:
        raise IconsError(f'"{place}" can\'t be written ({error.strerror}); choose another --out') from error
    return [place / name for name in sorted(files)]


def _refuse_taken(place: Path, *, replace: bool) -> None:
    """Refuse a place where something lies that is not an earlier export, whole and with nothing beside it."""
    if Path.cwd().is_relative_to(os.path.realpath(place)):
        raise ExportError(f'"{place}" is the working directory, or above it; name a folder in it with --out')
    if not os.path.lexists(place) or (place.is_dir() and not any(place.iterdir())):
        return
    if not place.is_dir():
        raise ExportError(f'"{place}" is a file; choose another --out')
    if not replace:
        raise _taken(place)
    own = _files_of(place / COLLECTION)
    others = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_symlink() or not path.is_dir())
    foreign = [name for name in others if name not in own]
    if foreign:
        raise ExportError(
            f'"{place}" holds "{foreign[0]}", which no export wrote; take it away, or choose another --out'
        )


def _taken(place: Path) -> ExportError:
    return ExportError(f'"{place}" is there already; choose another --out, or --replace what an export wrote there')


def _files_of(manifest: Path) -> set[str]:
    """What an export says that it has written."""
    try:
        written = from_plain(_Written, parsed(read_regular(manifest, limit=MAX_BYTES)), ignores_others=True)
    except (OSError, SourceError, ValueError):
        return set()
    return set(written.files)
