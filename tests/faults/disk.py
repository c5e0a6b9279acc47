"""A folder as the disk keeps it: what a process did to its files, in order, and what a power cut would leave of it."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

SHARED_MEMORY = "-shm"
"""SQLite maps this file instead of writing it, and makes it anew after a crash."""


def compile_layer(folder: Path) -> Path:
    """Build the library that is loaded before all others."""
    target = folder / "disk.so"
    source = Path(__file__).with_name("disk.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", target, source, "-ldl", "-lpthread"], check=True)
    return target


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that was done below the watched folder; `number` is what it fails or ends at."""

    number: int
    what: str
    path: str
    other: str
    offset: int
    data: bytes


def read_journal(path: Path) -> Iterator[Operation]:
    """Read what the layer has recorded."""
    with path.open("rb") as file:
        while line := file.readline():
            number, what, name, other, offset, length = line.decode().rstrip("\n").split("\t")
            data = file.read(int(length)) if what == "write" else b""
            yield Operation(int(number), what, name, other, int(offset), data)


@dataclass(eq=False, slots=True)
class _File:
    now: bytearray = field(default_factory=bytearray)
    kept: bytes = b""


@dataclass(eq=False, slots=True)
class _Folder:
    now: "dict[str, _File | _Folder]" = field(default_factory=dict)
    kept: "dict[str, _File | _Folder]" = field(default_factory=dict)


class Disk:
    """Files and folders with two states each: what a process sees, and what is on the disk for good.

    Nothing reaches the disk but by a sync: of a file its content, of a folder the names in it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._top = _load(root)

    def apply(self, operation: Operation) -> None:
        """Do what was recorded."""
        if operation.path.endswith(SHARED_MEMORY):
            return
        folder, name = self._place(operation.path)
        match operation.what:
            case "create":
                folder.now[name] = _File()
            case "folder":
                folder.now[name] = _Folder()
            case "remove":
                del folder.now[name]
            case "rename":
                target, new_name = self._place(operation.other)
                target.now[new_name] = folder.now.pop(name)
            case "sync":
                _sync(folder.now[name] if name else folder)
            case _:
                file = folder.now[name]
                assert isinstance(file, _File)
                _change(file, operation)

    def write(self, folder: Path, *, names_kept: bool) -> None:
        """Write what a power cut would leave; with `names_kept`, names have reached the disk and contents have not."""
        _write(self._top, folder, names_kept=names_kept)

    def state(self, *, names_kept: bool) -> object:
        """What `write` would write, to be compared."""
        return _state(self._top, names_kept=names_kept)

    def _place(self, path: str) -> tuple[_Folder, str]:
        parts = PurePath(path).relative_to(self.root).parts
        folder = self._top
        for part in parts[:-1]:
            inner = folder.now[part]
            assert isinstance(inner, _Folder)
            folder = inner
        return folder, parts[-1] if parts else ""


def _load(path: Path) -> _Folder:
    folder = _Folder()
    for inner in path.iterdir():
        if inner.is_dir():
            folder.now[inner.name] = _load(inner)
        elif not inner.name.endswith(SHARED_MEMORY):
            folder.now[inner.name] = _File(bytearray(inner.read_bytes()), inner.read_bytes())
    folder.kept = dict(folder.now)
    return folder


def _sync(node: _File | _Folder) -> None:
    if isinstance(node, _File):
        node.kept = bytes(node.now)
    else:
        node.kept = dict(node.now)


def _change(file: _File, operation: Operation) -> None:
    if operation.what == "write":
        file.now.extend(bytes(max(0, operation.offset - len(file.now))))
        file.now[operation.offset : operation.offset + len(operation.data)] = operation.data
    else:
        length = operation.offset if operation.what == "resize" else 0
        file.now.extend(bytes(max(0, length - len(file.now))))
        del file.now[length:]


def _state(folder: _Folder, *, names_kept: bool) -> object:
    names = folder.now if names_kept else folder.kept
    return {
        name: node.kept if isinstance(node, _File) else _state(node, names_kept=names_kept)
        for name, node in names.items()
    }


def _write(folder: _Folder, path: Path, *, names_kept: bool) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    for name, node in (folder.now if names_kept else folder.kept).items():
        if isinstance(node, _File):
            (path / name).write_bytes(node.kept)
        else:
            _write(node, path / name, names_kept=names_kept)
