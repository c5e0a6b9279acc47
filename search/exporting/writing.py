"""Where does an export lie on a disk? In a folder of its own, in a zip, or as one file, the licences beside it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexer.errors import ExportError, IconsError, SourceError
from indexer.library.durable import folder_aside, write_file
from indexer.library.foreign import from_plain, parsed
from indexer.library.named import write_result
from indexer.sources.reading import read_regular
from search.exporting.collection import MAX_BYTES, Collection, read_collection
from search.exporting.export import COLLECTION, LICENCES, Exported


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
