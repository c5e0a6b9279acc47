"""Places in code that name icons of some sets: what is read, before anything is changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from indexer.errors import SourceError
from search.code.files import Project, code_files, read_code
from search.code.known import KnownIcons
from search.code.map import Name
from search.code.names import Scanned, scan
from search.code.packages import MODULES, design_of, package_of
from search.code.reading import Reference
from search.code.syntax import Code, Span
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


@dataclass(frozen=True, slots=True)
class CodeRead:
    """A file, and the icons that it names."""

    path: Path
    text: str
    named: Sequence[tuple[Reference, Name]]
    """Names with the key that the library has for their set."""
    left: Sequence[Place]
    """What names no icon that could be mapped."""
    code: Code


@dataclass(frozen=True, slots=True)
class CodeNames:
    """Some files, and what could not be read."""

    files: Sequence[CodeRead]
    unread: Sequence[tuple[Path, str]]

    @property
    def names(self) -> list[Name]:
        """Icons that the files name, each once, in their order."""
        return list(dict.fromkeys(name for file in self.files for _, name in file.named))


def read_names(engine: SearchEngine, places: Sequence[Path], *, sets: Sequence[str], to: str) -> CodeNames:
    """Read which icons some code names, of some sets, or of all but the target.

    Raises:
        IconsError: a place is not there, or is no code.
    """
    known, files, unread = KnownIcons(engine), [], []
    project, here = Project.around(places), [count.value for count in engine.facets().get("set", ())]

    def is_of_old(key: str) -> bool:
        return key != to and (not sets or key in sets)

    old = frozenset(one for one, made in MODULES.items() if any(is_of_old(look.set) for look in made.looks))
    for path in code_files(places):
        try:
            text = read_code(path)
        except SourceError as error:
            unread.append((path, f"is left as it is: {error}"))
            continue
        scanned = scan(text, path=str(path), own=partial(project.components_of, beside=path.parent))
        if scanned.problem:
            unread.append((path, scanned.problem))
        named: list[tuple[Reference, Name]] = []
        left = [Place(one, "by hand", why=COMPUTED) for one in scanned.computed]
        for one in scanned.references:
            found = known.find(one)
            key, name = found or (one.set, one.name)
            versions = [key, *(other for other in here if design_of(other) == design_of(key))]
            named_now = ((other, known.set(other).present(name)) for other in versions)
            key, name = next(((other, now) for other, now in named_now if now in known.set(other).names), (key, name))
            own = [*known.set(key).own, key][0]
            if not key or not is_of_old(own) or not (found or one.is_certain):
                continue
            if found or not known.has_set(one):
                named.append((one, Name(own, name)))
            else:
                why = f'{own} has no icon "{name}"; `icons check` says what is near'
                left.append(Place(one, "by hand", why=why, source=f"{own}:{name}"))
        left += _whole_modules(path, text, scanned, old)
        files.append(CodeRead(path, text, named, left, replace(scanned.code, texts=[], contents=[], members=[])))
    return CodeNames(files, unread)


COMPUTED = "the name is known to the running program alone"


def place_of(path: Path, text: str, span: Span, why: str) -> Place:
    """A place that stays as it is, with its line and column."""
    line, column = text.count("\n", 0, span[0]) + 1, span[0] - text.rfind("\n", 0, span[0])
    one = Reference(*span, "module", path=str(path), line=line, column=column, text=text[slice(*span)])
    return Place(one, "by hand", why=why)


def _whole_modules(path: Path, text: str, scanned: Scanned, modules: frozenset[str]) -> Iterator[Place]:
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
        yield from (place_of(path, text, span, why) for span, why in whys.items())


_OTHERS = {True: "a type of the old package", False: "no icon of the old package"}
