"""Modules that code imports: which file each is, and what it exports."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from indexer.errors import SourceError
from indexer.library.foreign import parsed
from indexer.sources.records import as_object, read_regular
from search.code.packages import package_of
from search.code.syntax import Code, kind_of, parse

_MOST_BYTES = 20_000_000
_MOST_FILES = 20_000
_ENDS = (".d.ts", ".d.mts", ".d.cts", "/index.d.ts", ".ts", ".tsx", ".mjs", ".js", ".jsx")
_ENDINGS = (*_ENDS, *(f"/index{end}" for end in (".ts", ".tsx", ".mjs", ".js", ".jsx")), "")
_PASSES_ON = re.compile(r"\bexport\s*\*")


def file_of(path: str) -> Path | None:
    """The script that a path is meant to lead to, which may lack an ending, or have that of what is built."""
    stem = re.sub(r"\.[mc]?js$", "", path)
    files = (Path(os.path.normpath(f"{stem}{ending}")) for ending in _ENDINGS)
    return next((file for file in files if kind_of(file.name) == "script" and os.path.isfile(file)), None)  # noqa: PTH113  Path.is_file raises where a name is too long


def exports_from(
    entry: Path, *, find: Callable[[Path, str], Path | None], is_own: bool = False
) -> tuple[frozenset[str], Sequence[str]]:
    """Names that a file exports, with those of all that it passes on; and which modules among these were not found.

    `find` tells the file of a module that is imported in a folder. Of the project's own files only those are parsed
    that pass something on.
    """
    names, lost, found = set[str](), list[str](), [entry]
    seen = {entry}
    for file in found:
        folder = Path(os.path.realpath(file.parent))
        try:
            content = read_regular(file, limit=_MOST_BYTES, inside=None if is_own else str(folder))
        except (OSError, SourceError):
            lost.append(file.name)
            continue
        text = content.decode(errors="replace")
        code = parse(text, file.name) if not is_own or _PASSES_ON.search(text) else Code()
        names |= code.exports
        lost += [file.name] if code.is_given_up or len(seen) > _MOST_FILES else []
        for module in {one.module: None for one in code.imports if one.form == "export" and one.whole == "*"}:
            other = find(folder, module)
            if other is None or len(seen) > _MOST_FILES:
                lost.append(module)
            elif other not in seen:
                found.append(other)
                seen.add(other)
    return frozenset(names), lost


def installed_exports(folder: str, module: str) -> frozenset[str]:
    """What a module exports that code in a folder imports; nothing where it is not installed, or can't be read."""
    entry = _entry(Path(folder), module)
    return _exports_of_package(entry) if entry else frozenset()


@lru_cache(maxsize=64)
def _exports_of_package(entry: Path) -> frozenset[str]:
    names, lost = exports_from(entry, find=_entry)
    return frozenset() if lost else names  # a part of it would condemn the rest


@lru_cache(maxsize=4096)
def _entry(folder: Path, module: str) -> Path | None:
    """The file of types of a module: what its package says, else what lies in its folder."""
    if module.startswith("."):
        return file_of(f"{folder}/{module}")
    package = package_of(module)
    roots = (above / "node_modules" / package for above in (folder, *folder.parents) if package)
    root = next((root for root in roots if root.is_dir()), None)
    if root is None:
        return None
    inner, facts = module.removeprefix(package).strip("/"), {}
    with suppress(OSError, SourceError, ValueError):
        facts = as_object(parsed(read_regular(root / "package.json", limit=_MOST_BYTES)))
    stated = _stated(as_object(facts.get("exports")).get(f"./{inner}" if inner else "."))
    stated += [facts.get(key) for key in ("types", "typings", "module", "main") if not inner]
    paths = (f"{root}/{path}" for path in (*filter(None, stated), inner, f"{inner}/index".strip("/")))
    files = sorted(filter(None, map(file_of, paths)), key=lambda file: ".d." not in file.name)
    return next(iter(files), None)


def _stated(said: object) -> list[object]:
    """Paths in one entry of a package's `exports`, however its conditions are nested."""
    if isinstance(said, dict):
        return [path for value in said.values() for path in _stated(value)][:20]
    return [said]
