"""What a project takes in: `export(engine, collection, "sprite")`."""

import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from indexer.errors import ExportError, IconsError, SourceError, explain_unreadable
from indexer.library.durable import folder_aside, put_back, write_file
from indexer.library.foreign import from_plain, parsed
from indexer.library.named import read_named, write_result
from indexer.reports.terminal import Progress
from indexer.sources.records import read_regular
from search.drawings.frameworks import AS_IT_IS, Look
from search.drawings.kinds import (
    Chosen,
    Drawing,
    LeftOut,
    Made,
    Material,
    drawings,
    keys_of,
    make_iconify,
    make_react,
    make_sprite,
    make_zip,
    read_chosen,
    refuse_left_out,
)
from search.drawings.licences import (
    MAX_BYTES,
    PRIVATE_USE,
    Collection,
    licence_file,
    licences_summed_up,
    plain_name,
    read_collection,
    terms_of,
    warnings_of,
)

if TYPE_CHECKING:
    from search.engine import SearchEngine

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
    """Of the icons: a colour, and a width and end of strokes; in files and components a size."""
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
        """All files as one zip, inside one folder, in the order of their names."""
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for name in sorted(self.files):
                entry = zipfile.ZipInfo(f"{self.name}/{name}", (1980, 1, 1, 0, 0, 0))  # the first that a zip can state
                entry.external_attr = 0o644 << 16
                entry.create_system = 3  # the same on every system
                archive.writestr(entry, self.files[name], zipfile.ZIP_DEFLATED, compresslevel=9)
        return written.getvalue()

    @property
    def file_name(self) -> str:
        """How the content would be called on a disk."""
        return f"{self.name}.zip" if self.kind == "zip" else f"{self.name}-{self.kind}.zip"


def export(
    engine: "SearchEngine",
    collection: Collection,
    kind: Kind,
    options: Options | None = None,
    *,
    progress: Progress = lambda *_: None,
) -> Exported:
    """Make one thing of chosen icons, in memory.

    Raises:
        ExportError: an icon can't be exported so and is not to be left out, none is left, or there are too many.
    """
    options = options or Options()
    _refuse(kind, options, collection)
    icons, left_out, remarks = read_chosen(engine, collection.icons, progress)
    bitmaps = [icon for icon in icons if not icon.is_svg] if kind == "zip" else []
    taken = [icon for icon in icons if icon.is_svg or kind != "zip"]
    drawn, undrawn = _drawn(taken, kind, options.look, progress)
    left_out += undrawn
    if not options.skip_unreadable:
        refuse_left_out(left_out)
    found = {icon.key: icon.hit for icon in (*(one.icon for one in drawn), *bitmaps)}
    if not found:
        raise ExportError(f"no icon is left to be exported; can't be exported so: {keys_of(left_out)}")
    keys = tuple(key for key in collection.icons if key in found)
    hits = [found[key] for key in keys]
    terms = terms_of(hits, show=engine.show, text_of=engine.licence_text)
    material = Material(plain_name(collection.name), drawn, bitmaps, terms, options.prefix, options.look.size)
    if kind == "font":
        from search.drawings.web_font import make_font, place

        collection = replace(collection, code_points=place(keys, collection.code_points))
        made = make_font(material, collection.code_points)
    else:
        made = _MAKERS[kind](material)
    files = {**made.files, LICENCES: licence_file(terms, name=collection.name).encode()}
    files[COLLECTION] = collection.as_file(
        {key: made.facts.get(key, {}) for key in keys}, kind=kind, files=sorted([*files, COLLECTION])
    )
    return Exported(
        kind=kind,
        name=material.name,
        files=files,
        main=made.main,
        icons=keys,
        left_out=tuple(left_out),
        remarks=(*remarks, *made.remarks, *warnings_of(terms)),
        licences=licences_summed_up(hits),
    )


def _drawn(icons: Sequence[Chosen], kind: Kind, look: Look, progress: Progress) -> tuple[list[Drawing], list[LeftOut]]:
    """Take icons apart as a kind needs them, a font as outlines; those that can't be, with the reason."""
    drawn, left_out = drawings(icons, look, shared=kind != "zip")
    if kind == "font":
        from search.drawings.web_font import outlined

        drawn, unshaped = outlined(drawn, progress)
        left_out += unshaped
    return drawn, left_out


_MAKERS: Mapping[str, Callable[[Material], Made]] = {
    "zip": make_zip,
    "sprite": make_sprite,
    "iconify": make_iconify,
    "react": make_react,
}


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
        raise ExportError(f"{len(collection.icons):,} icons; a font has {len(PRIVATE_USE):,} places, make several")


@dataclass(frozen=True, slots=True)
class _Written:
    """What a collection's file says that an export has written."""

    format: Literal["icons-collection"]
    files: list[str]


def default_place(collection: Collection, kind: Kind) -> Path:
    """Where an export goes that nobody named a place for."""
    return Path(f"{plain_name(collection.name)}{'.zip' if kind == 'zip' else f'-{kind}'}")


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
        files = {
            place: exported.files[exported.main],
            place.with_name(f"{place.stem}.licences.md"): exported.files[LICENCES],
        }
    elif place.suffix.lower() in (".svg", ".json"):
        how = ", or --prefix" if exported.kind == "iconify" else ""
        raise ExportError(f'"{place}" can\'t hold all of this {exported.kind}; choose a folder with --out{how}')
    else:
        return _write_folder(exported.files, place, replace=replace)
    for path in files:
        if path.is_dir():
            raise ExportError(f'"{path}" is a folder; choose another --out')
        refuse_taken(path, replace=replace)
    for path, content in files.items():
        write_result(path, content, option="--out")
    return list(files)


def earlier_code_points(place: Path) -> Mapping[str, int]:
    """Code points that an earlier export in a folder or zip gave; none where there is no such export."""
    put_back(Path(os.path.realpath(place)))
    if zipfile.is_zipfile(place):
        advice, damages = "take it away, or choose another --out", (zipfile.BadZipFile, RuntimeError, OSError)
        with explain_unreadable(f'"{place}"', advice, ExportError, damages=damages), zipfile.ZipFile(place) as archive:
            found = [one for one in archive.infolist() if one.filename.endswith(f"/{COLLECTION}")]
            content = archive.read(found[0]) if found and found[0].file_size <= MAX_BYTES else None
    else:
        manifest = place / COLLECTION
        content = read_named(manifest, limit=MAX_BYTES) if manifest.is_file() else None
    return read_collection(content, name=str(place / COLLECTION))[0].code_points if content else {}


def _write_folder(files: Mapping[str, bytes], place: Path, *, replace: bool) -> list[Path]:
    """Write all files or none; an earlier folder goes only when the new one is whole. A link to it stays."""
    try:
        put_back(Path(os.path.realpath(place)))
        _refuse_foreign(place, replace=replace)
        with folder_aside(Path(os.path.realpath(place)), replace=True) as aside:
            for name, content in files.items():
                write_file(aside / name, content)
    except OSError as error:
        raise IconsError(f'"{place}" can\'t be written ({error.strerror}); choose another --out') from error
    return [place / name for name in sorted(files)]


def refuse_taken(place: Path, *, replace: bool) -> None:
    """Refuse a place where something lies that is not to be replaced."""
    if not replace and os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir())):
        raise ExportError(f'"{place}" is there already; choose another --out, or --replace what an export wrote there')


def _refuse_foreign(place: Path, *, replace: bool) -> None:
    """Refuse a place where something lies that is not an earlier export, whole and with nothing beside it."""
    if Path.cwd().is_relative_to(os.path.realpath(place)):
        raise ExportError(f'"{place}" is the working directory, or above it; name a folder in it with --out')
    if os.path.lexists(place) and not place.is_dir():
        raise ExportError(f'"{place}" is a file; choose another --out')
    refuse_taken(place, replace=replace)
    try:
        own = from_plain(_Written, parsed(read_regular(place / COLLECTION, limit=MAX_BYTES)), ignores_others=True).files
    except (OSError, SourceError, ValueError):
        own = []
    folders = {str(folder) for name in own for folder in Path(name).parents}
    for path in sorted(place.rglob("*")):
        name, kind = str(path.relative_to(place)), path.lstat().st_mode
        if not (stat.S_ISREG(kind) and name in own) and not (stat.S_ISDIR(kind) and name in folders):
            raise ExportError(f'"{place}" holds "{name}", which no export wrote; take it away, or choose another --out')
