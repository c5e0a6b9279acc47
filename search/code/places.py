"""Places in code that name icons of some sets: what is read, before anything is changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from search.code.files import Project, code_files
from search.code.known import KnownIcons
from search.code.map import Name
from search.code.names import Scanned, scan_file
from search.code.packages import design_of, modules, package_of
from search.code.reading import Reference
from search.code.syntax import Span
from search.engine import SearchEngine

Fate = Literal["changed", "doubtful", "by hand"]
FATES: Sequence[Fate] = get_args(Fate)


class Place(NamedTuple):
    """A place that names an icon, and what becomes of it."""

    reference: Reference
    fate: Fate
    to: str = ""
    """Key of what stands there, or would."""
    why: str = ""
    source: str = ""
    """Key of the icon that is named; "" where that is not known."""


class CodeRead(NamedTuple):
    """A file, and the icons that it names."""

    scanned: Scanned
    named: Sequence[tuple[Reference, Name]]
    """Names with the key that the library has for their set."""
    left: Sequence[Place]
    """What names no icon that could be mapped."""
    n_of_target: int
    """Names that are of the target set already."""


def read_names(engine: SearchEngine, places: Sequence[Path], *, sets: Sequence[str], to: str) -> Sequence[CodeRead]:
    """Read which icons some code names, of some sets, or of all but the target.

    Raises:
        IconsError: a place is not there, or is no code.
    """
    known, files, project = KnownIcons(engine), list[CodeRead](), Project.around(places)
    here = [count.value for count in engine.facets().get("set", ())]

    def is_of_old(key: str) -> bool:
        return key != to and (not sets or key in sets)

    old = frozenset(one for one, made in modules().items() if any(is_of_old(look.set) for look in made.looks))
    for scanned in (scan_file(path, project) for path in code_files(places)):
        named: list[tuple[Reference, Name]] = []
        left, n_of_target = [Place(one, "by hand", why=COMPUTED) for one in scanned.computed], 0
        for one in scanned.references:
            found = known.find(one)
            key, name = found or (one.set, one.name)
            versions = [key, *(other for other in here if design_of(other) == design_of(key))]
            named_now = ((other, known.set(other).present(name)) for other in versions)
            key, name = next(((other, now) for other, now in named_now if now in known.set(other).names), (key, name))
            own = [*known.set(key).own, key][0]
            n_of_target += own == to
            if not key or not is_of_old(own) or not (found or one.is_certain):
                continue
            if found or not known.has_set(one):
                named.append((one, Name(own, name)))
            else:
                why = f'{own} has no icon "{name}"; `icons check` says what is near'
                left.append(Place(one, "by hand", why=why, source=f"{own}:{name}"))
        left += _whole_modules(scanned, old)
        code = replace(scanned.code, texts=[], contents=[], members=[])
        files.append(CodeRead(scanned._replace(references=(), code=code), named, left, n_of_target))
    return files


def icons_named(files: Sequence[CodeRead]) -> list[Name]:
    """Icons that some files name, each once, in their order."""
    return list(dict.fromkeys(name for file in files for _, name in file.named))


def unread(files: Sequence[CodeRead]) -> Iterator[tuple[str, str]]:
    """Yield which files could not be read as a whole, and why."""
    for one in (one.scanned for one in files if one.scanned.problem):
        yield one.path, one.problem if one.is_read else f"is left as it is: {one.problem}"


COMPUTED = "the name is known to the running program alone"


def place_of(scanned: Scanned, span: Span, why: str) -> Place:
    """A place that stays as it is, with its line and column."""
    text, start = scanned.text, span[0]
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    one = Reference(*span, "module", path=scanned.path, line=line, column=column, text=text[slice(*span)])
    return Place(one, "by hand", why=why)


def _whole_modules(scanned: Scanned, modules: frozenset[str]) -> Iterator[Place]:
    """What is taken of some modules beside icons that have a name here."""
    found = (*scanned.references, *scanned.computed)
    starts, named = {one.start for one in found}, {one.module for one in found}
    for one in (one for one in scanned.code.imports if not modules.isdisjoint((one.module, package_of(one.module)))):
        is_left_open = not one.names and one.module in modules.difference(named)
        why = "what is taken of it is not known" if is_left_open else ""
        why = "all of it is exported on" if one.whole == "*" else why
        why = "a test puts something else in the place of this module" if one.form == "mock" else why
        whys = {(one.start, one.end): why} if why else {}
        for name in one.names:
            if name.start not in starts and (name.name != "default" or one.module in modules):
                whys[name.start, name.end] = _OTHERS[name.is_type or one.is_type]
        yield from (place_of(scanned, span, why) for span, why in whys.items())


_OTHERS = {True: "a type of the old package", False: "no icon of the old package"}
