"""Is there such a part of a sprite? In the file that code names, or in the page itself."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from search.references.project import Project
from search.references.reference import Reference

_PREFIX = re.compile(r"^(?:icon|i|svg|sprite)[-_]")
_ELSEWHERE = re.compile(r"[\w+.-]*:|//|[@~$!{<%]")
"""How an address begins that leads out of the project, or that only a bundler or the running program knows."""
_NEAR = 75


Kind = Literal["no-file", "no-part", "unused-file"]


class Missing(NamedTuple):
    """An own icon that is not there, or a file that is not used."""

    kind: Kind
    reference: Reference | None
    """None where no code names it."""
    path: str
    message: str
    near: str = ""


def stems_of(part: str) -> Sequence[str]:
    """What the file may be called that a build makes a part of."""
    return part, _PREFIX.sub("", part)


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that is spelt most alike; "" where none is."""
    from rapidfuzz import fuzz, process

    found = process.extractOne(name, sorted(names), scorer=fuzz.ratio, score_cutoff=_NEAR)
    return str(found[0]) if found else ""


def missing_part(one: Reference, files: Sequence[Path], project: Project) -> Missing | None:
    """Tell that a part is in none of the files that may be meant, or that there is no such file."""
    if not files:
        return _missing_file(one, project)
    ids = [project.ids_of(path) for path in files]
    if any(found is None or one.name in found for found in ids):
        return None
    near = nearest(one.name, {name for found in ids for name in found or ()})
    return Missing("no-part", one, one.path, f'"{one.file}" has no part "{one.name}"', near)


def _missing_file(one: Reference, project: Project) -> Missing | None:
    """Where a build may make the file, or another serves it, nothing can be said."""
    file = one.file.partition("?")[0]
    if _ELSEWHERE.match(file) or not file.lower().endswith(".svg") or not project.stems.isdisjoint(stems_of(one.name)):
        return None
    near = nearest(file.rpartition("/")[2], {path.name for path in project.svgs})
    begin = len(one.file) + len("#")
    where = replace(one, column=one.column - begin, start=one.start - begin, end=one.start - 1, text=one.file)
    return Missing("no-file", where, one.path, f'there is no file "{one.file}"', near)


def missing_of_page(one: Reference, ids: set[str], project: Project) -> Missing | None:
    """Tell that nothing in the project has the id of a part of the page."""
    if one.name in ids or not project.stems.isdisjoint(stems_of(one.name)) or one.name in project.ids:
        return None
    near = nearest(one.name, ids | project.ids)
    return Missing("no-part", one, one.path, f'no part "{one.name}" is defined in this code', near)
