"""How a file or folder gets its final name only when it is whole and on disk: write aside, sync, rename."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import IconsError

ASIDE = ".aside-"


def sync(path: Path) -> None:
    """Make what was written to a file, or the renames inside a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, content: bytes) -> None:
    """Write `content` under its final name, all of it or nothing; parent folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{ASIDE}{os.getpid()}-{path.name}")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    sync(path.parent)


def write_result(path: Path, content: bytes, *, option: str) -> None:
    """Write a file that the user has named with an option.

    Raises:
        IconsError: it can't be written there.
    """
    try:
        write_file(path, content)
    except OSError as error:
        raise IconsError(f'"{path}" can\'t be written ({error.strerror}); choose another {option}') from error


@contextmanager
def folder_aside(path: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `path` when the block ends without an error, and vanishes otherwise.

    Raises:
        FileExistsError: `path` exists already when the block ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{ASIDE}{path.name}")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        yield aside
        for file in aside.iterdir():
            sync(file)
        sync(aside)
        if path.exists():
            raise FileExistsError(path)
        aside.rename(path)
        sync(path.parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Delete what an interrupted writer left aside in `folder`; only its one writer may call this."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.startswith(ASIDE):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
