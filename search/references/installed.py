"""Does the package that a project has installed export a component? Asked where a library lacks it.

A library holds one edition of a set, a project may use another, and packages keep old names: `Filter` of lucide-react
is drawn as a funnel. What `node_modules` beside the code exports exists, whatever the library says.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from indexer.errors import SourceError
from indexer.library.foreign import parsed
from indexer.sources.reading import as_object, read_regular
from search.references.packages import package_of

_MOST_BYTES = 20_000_000
_MOST_FILES = 20_000
_EXPORT = re.compile(
    r"export\s+(?:declare\s+)?(?:const|let|var|function|class)\s+([\w$]+)|export\s+(?:type\s+)?\{([^{}]*)\}|"
    r"export\s*\*\s*from\s*[\"'](\.[^\"']{1,300})[\"']"
)
_ITEM = re.compile(r"([\w$]+)\s*(?:,|$)")
_TYPES = (".d.ts", ".d.mts", "/index.d.ts", ".ts", "")


def exported_beside(source: str, form: str) -> frozenset[str]:
    """What the module of a form ("import lucide-react") exports, as installed for a source file; else nothing."""
    module = form.removeprefix("import ")
    if module == form:
        return frozenset()
    return exported(os.path.realpath(os.path.dirname(source) or "."), module)  # noqa: PTH120


@lru_cache(maxsize=4096)
def exported(folder: str, module: str) -> frozenset[str]:
    """Names that a module exports which is installed above a folder; nothing where none is."""
    package = package_of(module)
    here = Path(folder)
    for above in (here, *here.parents):
        root = above / "node_modules" / package
        if root.is_dir():
            return _exports_of(root, module[len(package) :].strip("/"))
    return frozenset()


@lru_cache(maxsize=64)
def _exports_of(root: Path, inner: str) -> frozenset[str]:
    names, inside = set[str](), os.path.realpath(root)
    pending = list(_entries(root, inner))
    seen = set(pending)
    while pending and len(seen) <= _MOST_FILES:
        file = pending.pop()
        try:
            text = read_regular(file, limit=_MOST_BYTES, inside=inside).decode(errors="replace")
        except (OSError, SourceError):
            continue
        for constant, items, beside in _EXPORT.findall(text):
            names |= {constant} if constant else set(_ITEM.findall(items))
            if beside and (other := _file_of(file.parent / beside)) and other not in seen:
                seen.add(other)
                pending.append(other)
    return frozenset(names)


def _entries(root: Path, inner: str) -> Iterator[Path]:
    """Files of types of a module: what its package says, else those that lie in the module's folder."""
    try:
        facts = as_object(parsed(read_regular(root / "package.json", limit=_MOST_BYTES)))
    except (OSError, SourceError, ValueError):
        facts = {}
    stated = [facts.get("types"), facts.get("typings")] if not inner else []
    stated += _stated(as_object(facts.get("exports")).get(f"./{inner}" if inner else "."))
    paths = [root / path for path in stated if isinstance(path, str)]
    found = dict.fromkeys(file for path in [*paths, root / inner, root / inner / "index"] if (file := _file_of(path)))
    yield from found


def _stated(said: object) -> list[object]:
    """Paths in one entry of a package's `exports`, however its conditions are nested."""
    if isinstance(said, dict):
        return [path for value in said.values() for path in _stated(value)][:20]
    return [said]


def _file_of(path: Path) -> Path | None:
    stem = re.sub(r"\.[mc]?js$", "", str(path))
    return next((file for ending in _TYPES if (file := Path(os.path.normpath(f"{stem}{ending}"))).is_file()), None)
