"""Which icons does one text name? Its references, in their order, and what can't be read in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from search.references.attributes import attributes_in
from search.references.code import Kind, literals, without_comments
from search.references.imports import imports_in
from search.references.ligatures import ligatures_in
from search.references.named import Named, Unreadable
from search.references.reference import Computed, Places, Reference
from search.references.strings import names_in


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one text names."""

    references: Sequence[Reference]
    computed: Sequence[Computed]


def scan(text: str, *, path: str, kind: Kind) -> Scanned:
    """Read a text; `path` is what references say of where they stand."""
    code = without_comments(text, kind)
    found: list[Named | Unreadable] = []
    if kind in ("script", "markup"):
        found += [*imports_in(code), *attributes_in(code), *ligatures_in(code)]
    for one in literals(code):
        found += names_in(one, code)
    places = Places(text)
    return Scanned(
        [_reference(one, text, path, places) for one in _once(one for one in found if isinstance(one, Named))],
        [_computed(one, text, path, places) for one in sorted({one for one in found if isinstance(one, Unreadable)})],
    )


def _once(found: Iterable[Named]) -> Sequence[Named]:
    """By their places, each place once: what was read first, as an import say, is what it is."""
    by_start: dict[int, Named] = {}
    for one in found:
        by_start.setdefault(one.start, one)
    return [by_start[start] for start in sorted(by_start)]


def _reference(one: Named, text: str, path: str, places: Places) -> Reference:
    line, column = places.at(one.start)
    told = text[one.start : one.end]
    return Reference(
        path, line, column, one.start, one.end, one.set, one.name, one.form, told, one.others, one.is_certain, one.file
    )


def _computed(one: Unreadable, text: str, path: str, places: Places) -> Computed:
    line, column = places.at(one.start)
    return Computed(path, line, column, one.form, text[one.start : one.end])
