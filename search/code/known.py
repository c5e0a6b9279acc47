"""Whether there is such an icon: in the library's sets, or in the package that a project has installed."""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path

from indexer.errors import SourceError
from indexer.library.bundled import bundled
from indexer.library.foreign import parsed
from indexer.sources.records import as_object, read_regular
from search.code.packages import MODULES, Look, folded, is_spelt, package_of, read_component, spell_component
from search.code.reading import Nearest, Reference
from search.drawings.drawn import packages_of
from search.drawings.frameworks import FRAMEWORKS, exceptions
from search.engine import SearchEngine
from search.query import Filters, Query, Window

_MOST_BYTES = 20_000_000
_MOST_FILES = 20_000
_EXPORT = re.compile(
    r"export\s+(?:declare\s+)?(?:const|let|var|function|class)\s+([\w$]+)|export\s+(?:type\s+)?\{([^{}]*)\}|"
    r"export\s*\*\s*from\s*[\"'](\.[^\"']{1,300})[\"']"
)
_ITEM = re.compile(r"([\w$]+)\s*(?:,|$)")
_TYPES = (".d.ts", ".d.mts", "/index.d.ts", ".ts", "")


def _installed(reference: Reference) -> frozenset[str]:
    """What the package that the project has installed exports; nothing where none is, or no component is named."""
    folder = os.path.realpath(os.path.dirname(reference.path) or ".")  # noqa: PTH120
    return _exported(folder, reference.module) if reference.is_component else frozenset()


@lru_cache(maxsize=4096)
def _exported(folder: str, module: str) -> frozenset[str]:
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


def _entries(root: Path, inner: str) -> Iterable[Path]:
    """Files of types of a module: what its package says, else those that lie in the module's folder."""
    try:
        facts = as_object(parsed(read_regular(root / "package.json", limit=_MOST_BYTES)))
    except (OSError, SourceError, ValueError):
        facts = {}
    stated = [facts.get("types"), facts.get("typings")] if not inner else []
    stated += _stated(as_object(facts.get("exports")).get(f"./{inner}" if inner else "."))
    paths = [root / path for path in stated if isinstance(path, str)]
    return dict.fromkeys(file for path in [*paths, root / inner, root / inner / "index"] if (file := _file_of(path)))


def _stated(said: object) -> list[object]:
    """Paths in one entry of a package's `exports`, however its conditions are nested."""
    if isinstance(said, dict):
        return [path for value in said.values() for path in _stated(value)][:20]
    return [said]


def _file_of(path: Path) -> Path | None:
    stem = re.sub(r"\.[mc]?js$", "", str(path))
    return next((file for ending in _TYPES if (file := Path(os.path.normpath(f"{stem}{ending}"))).is_file()), None)


_LETTERS_A_SLIP = 5
"""A slip of the keys for each so many letters, one at least, is taken for one."""


@cache
def known_exports() -> Mapping[str, frozenset[str]]:
    """What packages export that Iconify's sets lack, by module: names that a set has dropped, and newer ones.

    As of November 2026; `data/making/exports.py` makes the list.
    """
    written = json.loads(bundled("references/exported.json").read_bytes())
    return {module: frozenset(names.split()) for module, names in written.items()}


class SetNames:
    """The names of one set of the library, called as Iconify calls it."""

    def __init__(self, engine: SearchEngine, key: str) -> None:
        self.own = engine.sets_called(key) or engine.present_sets(packages_of(key))
        """Its keys in the library; none where it is not there."""
        self.names = frozenset(name for own in self.own for name in engine.names_in(own))

    @cached_property
    def by_letters(self) -> Mapping[str, Sequence[str]]:
        """Names by what a component tells of them."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.names):
            found[folded(name)].append(name)
        return found


class KnownIcons:
    """The library's sets, each read when code first names it."""

    def __init__(self, engine: SearchEngine, *, exported: Mapping[str, frozenset[str]] | None = None) -> None:
        self._engine = engine
        self._exported = known_exports() if exported is None else exported
        self.set = cache(partial(SetNames, engine))
        """A set, by the key that Iconify has for it."""

    def has_set(self, reference: Reference) -> bool:
        """Whether the library, or the package that is installed, says if there is such an icon."""
        return any(self.set(key).own for key, _ in reference.readings) or bool(_installed(reference))

    def is_refuted(self, reference: Reference) -> bool:
        """Whether the package that is installed exports no such thing."""
        installed = _installed(reference)
        return bool(installed) and reference.text not in installed

    def find(self, reference: Reference) -> tuple[str, str] | None:
        """The icon that is named, as (set, name) with the name as its set spells it; None where there is none."""
        if self.is_refuted(reference):
            return None
        return next(self._found(reference), (reference.set, reference.name) if _installed(reference) else None)

    def _found(self, reference: Reference) -> Iterator[tuple[str, str]]:
        looks, gone = _looks(reference), _not_exported(reference)
        for key, name in reference.readings:
            known = self.set(key)
            if not reference.is_component and name in known.names:
                yield key, name
            for one in known.by_letters.get(folded(name), ()) if reference.is_component else ():
                if one not in gone and is_spelt(looks, one, reference.text):
                    yield key, one
        if reference.text in self._exported.get(reference.module, ()):
            yield reference.set, reference.name

    def nearest(self, reference: Reference) -> Nearest | None:
        """The icon that was probably meant, of the same set: by how it is spelt, else by its meaning; None where
        nothing comes near.
        """
        installed, gone = _installed(reference), _not_exported(reference)
        slip = slip_of(reference.text, sorted(installed))
        if slip and (read := read_component(_looks(reference), slip[0])):
            return Nearest(*read[0], slip[0], "name", slip[1])
        for key, name in reference.readings:
            slip = slip_of(name, sorted(self.set(key).names - gone))
            text = _rewritten(reference, key, slip[0]) if slip else ""
            if slip and (not installed or text in installed):
                return Nearest(key, slip[0], text, "name", slip[1])
        key, name = next(((key, name) for key, name in reference.readings if self.set(key).own), ("", ""))
        if not key:
            return None
        said = (reference.text.replace("_", "-") if reference.form == "ligature" else name).replace("-", " ")
        filters, query = Filters(sets=tuple(self.set(key).own)), Query(words=said, prefer=())
        for hit in self._engine.ask(query, filters=filters, window=Window(k=5)).hits:
            text = _rewritten(reference, key, hit.name)
            if hit.name not in gone and (not installed or text in installed):
                return Nearest(key, hit.name, text, "meaning", hit.score)
        return None


def slip_of(name: str, names: Sequence[str]) -> tuple[str, float] | None:
    """The one of some names that slips of the keys make of a name, and how alike they are.

    Who types leaves letters out, or changes their places, more often than one letter becomes another.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA  # letters that have changed places are one slip

    most = max(1, len(name) // _LETTERS_A_SLIP)
    near = process.extract(name, names, scorer=OSA.distance, score_cutoff=most, limit=None)
    if not near:
        return None
    found, slips, _ = min(near, key=lambda one: (one[1], (Counter(name) - Counter(one[0])).total()))
    return found, 1 - slips / max(len(name), len(found))


def _looks(reference: Reference) -> Sequence[Look]:
    components = MODULES.get(reference.module)
    return components.looks if components else ()


def _not_exported(reference: Reference) -> frozenset[str]:
    """Names of a set that the package has no component for."""
    gone = exceptions().get(FRAMEWORKS[reference.module].family) if reference.module in FRAMEWORKS else None
    return gone.absent if gone else frozenset()


def _rewritten(reference: Reference, key: str, name: str) -> str:
    """A name in the form of what stands in the code."""
    if reference.is_component:
        return spell_component(_looks(reference), name, like=reference.text, sets=(key,)) or name
    if reference.form == "ligature":  # the word that is drawn as the icon of this name
        before, _, after = reference.name.partition(reference.text.replace("_", "-"))
        return name.removeprefix(before).removesuffix(after).replace("-", "_")
    if reference.form in ("iconify", "tailwind"):
        return f"{key}{'--' if reference.form == 'tailwind' else ':'}{name}"
    is_at_end = reference.text.endswith(reference.name)
    return f"{reference.text.removesuffix(reference.name)}{name}" if is_at_end else name
