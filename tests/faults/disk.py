"""A folder as the disk keeps it: what a process did to its files, in order, and what a power cut would leave of it."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

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
class _Node:
    """A file or a folder: what a process sees of it, and what is on the disk."""

    now: Any
    kept: Any = b""


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
                folder.now[name] = _Node(bytearray())
            case "folder":
                folder.now[name] = _Node({}, {})
            case "remove":
                del folder.now[name]
            case "link" | "rename":
                target, new_name = self._place(operation.other)
                target.now[new_name] = folder.now[name]
                if operation.what == "rename":
                    del folder.now[name]
            case "sync":
                node = folder.now[name] if name else folder
                node.kept = dict(node.now) if isinstance(node.now, dict) else bytes(node.now)
            case _:
                _change(folder.now[name].now, operation)

    def state(self, *, names_kept: bool) -> Any:
        """What a power cut would leave; with `names_kept`, names have reached the disk and contents have not."""
        return _state(self._top, names_kept=names_kept)

    def _place(self, path: str) -> tuple[_Node, str]:
        *folders, name = PurePath(path).relative_to(self.root).parts or ("",)
        folder = self._top
        for part in folders:
            folder = folder.now[part]
        return folder, name


def _load(path: Path) -> _Node:
    if path.is_file():
        return _Node(bytearray(path.read_bytes()), path.read_bytes())
    inner = {one.name: _load(one) for one in path.iterdir() if not one.name.endswith(SHARED_MEMORY)}
    return _Node(inner, dict(inner))


def _change(content: bytearray, operation: Operation) -> None:
    length = operation.offset if operation.what in ("write", "resize") else 0
    content.extend(bytes(max(0, length - len(content))))
    if operation.what == "write":
        content[length : length + len(operation.data)] = operation.data
    else:
        del content[length:]


def _state(node: _Node, *, names_kept: bool) -> Any:
    if not isinstance(node.now, dict):
        return node.kept
    names = node.now if names_kept else node.kept
    return {name: _state(inner, names_kept=names_kept) for name, inner in names.items()}


def write_state(state: dict[str, Any], path: Path) -> None:
    """Write such a state in the place of a folder."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    for name, inner in state.items():
        if isinstance(inner, dict):
            write_state(inner, path / name)
        else:
            (path / name).write_bytes(inner)
