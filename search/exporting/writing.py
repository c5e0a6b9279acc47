"""Where does an export lie on a disk? In a folder of its own, in a zip, or as one file, the licences beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexer.errors import ExportError, IconsError
from indexer.library.durable import folder_aside, write_file, write_result
from indexer.library.foreign import from_plain, parsed
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

    `replace` puts a folder in the place of an earlier export, and of nothing else.

    Raises:
        ExportError: the folder is there and is not to be replaced, or holds more than an export has written.
        IconsError: it can't be written there.
    """
    if place.suffix.lower() == ".zip":
        write_result(place, exported.content, option="--out")
        return [place]
    if exported.main is not None and place.suffix.lower() == Path(exported.main).suffix:
        beside = place.with_name(f"{place.stem}.licences.md")
        write_result(place, exported.files[exported.main], option="--out")
        write_result(beside, exported.files[LICENCES], option="--out")
        return [place, beside]
    _refuse_taken(place, replace=replace)
    try:
        _write_folder(exported.files, place)
    except OSError as error:
        raise IconsError(f'"{place}" can\'t be written ({error.strerror}); choose another --out') from error
    return [place / name for name in sorted(exported.files)]


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


def _refuse_taken(place: Path, *, replace: bool) -> None:
    """Refuse a place where something lies that is not an earlier export, whole and with nothing beside it."""
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    if not place.is_dir():
        raise ExportError(f'"{place}" is a file; choose another --out')
    if not replace:
        raise ExportError(f'"{place}" is there already; choose another --out, or --replace what an export wrote there')
    own = _files_of(place / COLLECTION)
    there = (path for path in place.rglob("*") if path.is_symlink() or not path.is_dir())
    others = sorted(str(path.relative_to(place)) for path in there)
    foreign = [name for name in others if name not in own]
    if foreign:
        raise ExportError(
            f'"{place}" holds "{foreign[0]}", which no export wrote; take it away, or choose another --out'
        )


def _files_of(manifest: Path) -> set[str]:
    """What an export says that it has written."""
    try:
        return set(from_plain(_Written, parsed(manifest.read_bytes()), ignores_others=True).files)
    except (OSError, ValueError):
        return set()


def _write_folder(files: Mapping[str, bytes], place: Path) -> None:
    """Write all files or none; an earlier folder goes only when the new one is whole."""
    with folder_aside(place, replace=True) as aside:
        for name, content in files.items():
            write_file(aside / name, content)
