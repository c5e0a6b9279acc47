"""Source code in which icons of one set stand for those of others: places that name them, new texts, diffs, files."""

import os
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from indexer.errors import IconsError, SourceError
from indexer.library.durable import replace_file
from indexer.library.named import why_kept
from indexer.reports.terminal import Progress, with_progress
from search.code.components import ALL_NAMES, Drawings, Targets, bare, edited, whole_line
from search.code.files import (
    Project,
    code_files,
    components_of,
    modules,
    package_of,
    read_code,
    tables,
    words,
)
from search.code.known import KnownIcons
from search.code.map import Candidate, IconMapping, Mapped, Name
from search.code.names import Reference, Scanned, scan_file
from search.code.syntax import Import, Span, Specifier
from search.drawings.frameworks import iconify_key
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
    known, project = KnownIcons(engine), Project(places)
    looks = [(module, look.set) for module, made in modules().items() for look in made.looks]
    old = frozenset(module for module, key in looks if key != to and key in (sets or [key]))
    scans = (scan_file(path, project) for path in code_files(places))
    return [_sorted_out(scanned, known, old, sets=sets, to=to) for scanned in scans]


def _sorted_out(scanned: Scanned, known: KnownIcons, old: frozenset[str], *, sets: Sequence[str], to: str) -> CodeRead:
    """Tell apart what names an icon of the sets, what names none, and what is of the target already."""
    named, n_of_target = list[tuple[Reference, Name]](), 0
    left = [Place(one, "by hand", why=COMPUTED) for one in scanned.computed]
    for one in scanned.references:
        found = known.find(one)
        icon = Name(*known.as_here(*(found or (one.set, one.name))))
        n_of_target += icon.set == to
        if not icon.set or icon.set == to or icon.set not in (sets or [icon.set]):
            continue
        if found or (one.is_certain and not known.has_set(one)):
            named.append((one, icon))
        elif one.is_certain:
            why = f'{icon.set} has no icon "{icon.name}"; `icons check` says what is near'
            left.append(Place(one, "by hand", why=why, source=icon.key))
        elif one.is_component:
            left.append(Place(one, "by hand", why="no icon of the old package", source=icon.key))
    left += _whole_modules(scanned, old)
    code = replace(scanned.code, texts=[], contents=[], members=[])  # which nobody asks for any more
    return CodeRead(scanned._replace(references=(), code=code), named, left, n_of_target)


def icons_named(files: Sequence[CodeRead]) -> list[Name]:
    """Icons that some files name, each once, in their order."""
    return list(dict.fromkeys(name for file in files for _, name in file.named))


def unread(files: Sequence[CodeRead]) -> Mapping[str, str]:
    """Which files could not be read as a whole, and why."""
    return {
        one.path: one.problem if one.text else f"is left as it is: {one.problem}"
        for one in (file.scanned for file in files)
        if one.problem
    }


COMPUTED = "the name is known to the running program alone"


def place_of(scanned: Scanned, span: Span, why: str) -> Place:
    """A place that stays as it is, with its line and column."""
    text, (start, end) = scanned.text, span
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    named = Reference(start, end, "module", path=scanned.path, line=line, column=column, text=text[start:end])
    return Place(named, "by hand", why=why)


def _whole_modules(scanned: Scanned, modules: frozenset[str]) -> Iterator[Place]:
    """What is taken of some modules beside icons that have a name here."""
    starts = {one.start for one in (*scanned.references, *scanned.computed)}
    for one in (one for one in scanned.code.imports if not modules.isdisjoint((one.module, package_of(one.module)))):
        why = _WHOLE.get(one.form) or _WHOLE.get(one.whole)
        whys = {(one.start, one.end): why} if why else {}
        for name in one.names:
            if name.start not in starts and (name.name != "default" or one.module in modules):
                kind = "a type" if name.is_type or one.is_type else "no icon"
                whys[name.start, name.start + len(name.name)] = f"{kind} of the old package"
        yield from (place_of(scanned, span, why) for span, why in whys.items())


_WHOLE = {"mock": "a test puts something else in the place of this module", "*": "all of it is exported on"}


@dataclass(frozen=True, slots=True)
class Change:
    """A file whose text changes."""

    path: Path
    before: str
    after: str
    n_places: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What becomes of some files; nothing is written yet."""

    changes: Sequence[Change]
    places: Sequence[Place]
    """All that was found, in the order of the files."""
    packages: Sequence[str]
    """That the new imports need."""


def rewrite(
    engine: SearchEngine, code: Sequence[CodeRead], mapped: Mapped, *, also_doubtful: bool, progress: Progress
) -> Rewritten:
    """Put stand-ins into the text of files; writes nothing."""
    stands, targets = {one.source: one for one in mapped.mappings}, Targets(engine, mapped.to)
    imports = ((one, file.scanned) for file in code for one in file.scanned.code.imports)
    typed = {*words("material"), *(package_of(one.module) for one, file in imports if _is_typed(one, file))}
    rewriters = [_Rewriter(one, targets, stands, typed, also_doubtful=also_doubtful) for one in code]
    looked_up = {key: where for one in rewriters for key, where in one.looked_up()}
    changes, places, packages = list[Change](), list[Place](), set[str]()
    for one in with_progress(rewriters, "Rewriting", progress):
        one.rewrite(looked_up)
        found = [*one.places.values(), *one.file.left, *one.unknown]
        places += sorted(found, key=lambda place: place.reference.start)
        packages |= one.packages
        if one.edits:
            changes.append(
                Change(
                    Path(one.path),
                    one.text,
                    edited(one.text, one.edits),
                    sum(place.fate == "changed" for place in found),
                )
            )
    return Rewritten(changes, places, sorted(packages))


def _is_typed(of: Import, file: Scanned) -> bool:
    """Whether code takes more of a module than icons, or asks what type one is: so who takes a component may ask for
    its attributes.
    """
    others = components.others if (components := components_of(of.module)) else ()
    asked = {local for local, at in file.code.values if file.text.endswith("typeof ", 0, at)}
    return of.is_type or any(name.is_type or name.local in asked or name.name in others for name in of.names)


_LOOKED_UP = ("pair", "class fa")
"""Forms that name what Font Awesome's library has registered."""
_SCRIPT = re.compile(r"<script\b|^[ \t]*(?:```|~~~)", re.MULTILINE)
_WHY = {
    "doubtful": "--mapping says it, --doubtful takes it",
    "by hand": "--mapping says that nothing stands for it",
    "ligature": "a word that an icon font draws; the target has no such font here",
    "class": "a class of an icon font; the target has no such font here",
    "pair": "a pair of names that Font Awesome looks up",
}
"""Why a form is left to a person, and why a fate is met."""


class _Rewriter:
    """What is changed in one text: `text[start:end]` becomes another, by start and end; and what can't be, safely."""

    def __init__(
        self,
        file: CodeRead,
        targets: Targets,
        stands: Mapping[Name, IconMapping],
        typed: Container[str],
        *,
        also_doubtful: bool,
    ) -> None:
        self.file, self.code, self.targets = file, file.scanned.code, targets
        self.typed, self.also_doubtful = typed, also_doubtful
        self.path, self.text = file.scanned.path, file.scanned.text
        self.edits, self.packages = dict[Span, str](), set[str]()
        self.places, self.candidates = dict[int, Place](), dict[int, Candidate]()
        """What is found, and what shall stand in the place of names, by where they start."""
        for one, stand in ((one, stands[name]) for one, name in file.named):
            is_left, form = stand.is_doubtful and not also_doubtful, one.form.partition(" ")[0]
            is_drawn = one.form in _LOOKED_UP and self.path.endswith(".vue")
            why = form if is_left and form in ("class", "ligature") and not is_drawn else "doubtful" if is_left else ""
            fate: Fate = "changed" if stand.target and not is_left else "doubtful" if why == "doubtful" else "by hand"
            to = stand.target.name.key if stand.target else ""
            self.places[one.start] = Place(one, fate, to, _WHY.get(why or fate, ""), stand.source.key)
            self.candidates |= {one.start: stand.target} if stand.target and not is_left else {}
        self.drawings = Drawings(file.scanned, self.candidates, targets)
        self.unknown = [place_of(file.scanned, span, COMPUTED) for span in self.drawings.unknown]

    def looked_up(self) -> Iterator[tuple[str, str]]:
        """Which registered icons are looked up by their names, and where."""
        left = self.drawings.drawn.intersection(self.candidates).difference(self.drawings.refused)
        by_name = [one for start, one in self.places.items() if start not in left and one.reference.form in _LOOKED_UP]
        for place in (*self.unknown, *by_name):
            yield place.source or ALL_NAMES, f"{self.path}:{place.reference.line}"

    def rewrite(self, looked_up: Mapping[str, str]) -> None:
        """Put what stands for icons in their places; what is looked up anywhere stays registered."""
        anywhere = looked_up.get(ALL_NAMES)
        wheres = {start: looked_up.get(self.places[start].source) or anywhere for start in self.candidates}
        self.drawings.rewrite({start: f"{where} looks it up by its name" for start, where in wheres.items() if where})
        self.edits |= self.drawings.edits
        for start, why in self.drawings.refused.items():
            self._tell(start, "by hand", why)
        candidates = {start: to for start, to in self.candidates.items() if start not in self.drawings.drawn}
        imported = {
            start: to for start, to in candidates.items() if self.places[start].reference.form.startswith("import ")
        }
        for start in candidates.keys() - imported.keys():
            self._replace_string(self.places[start].reference, candidates[start])
        self._replace_imported(imported)
        for start in imported:
            is_of_whole = self.text[max(0, start - 1)] in ".\"'"
            self._tell(
                start, "by hand", "it is taken from a whole module" if is_of_whole else "it is loaded while running"
            )

    def _tell(self, start: int, fate: Fate, why: str) -> None:
        """Note what becomes of a place."""
        self.places[start] = self.places[start]._replace(fate=fate, why=why)

    def _replace_imported(self, candidates: dict[int, Candidate]) -> None:
        """Rewrite statements, by the starts of what is replaced; what stands in none stays among these."""
        kept, moved, homes = dict[Import, list[Specifier]](), list[tuple[Import, str, str]](), dict[object, Import]()
        added: dict[Import, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        found = (one for one in self.code.imports if one.form in ("import", "export") and not one.is_type)
        for one in sorted(found, key=lambda one: one.span):
            kept[one], taken = self._parted(one, candidates)
            moved += [(one, *export) for export in taken]
            if any(name.name != "default" or one.form == "export" for name in kept[one]):
                homes.setdefault(self._company(one, one.module), one)
            if taken or any(name.start in self.drawings.gone for name in one.names):
                added[one] = added[one]
        moved += [(self.drawings.home, *export) for export in self.drawings.added if self.drawings.home]
        for one, module, name in moved:
            self.packages.add(package_of(module))
            added[homes.setdefault(self._company(one, module), one)][module].append(name)
        for one, others in added.items():
            self._write(one, kept[one], others)

    def _company(self, of: Import, module: str) -> object:
        """What is equal for statements of a module that may become one: those of a script of a page, of a fence."""
        return of.form, module, self.text[of.end + 1 : of.span[1]], len(_SCRIPT.findall(self.text, 0, of.start))

    def _parted(self, of: Import, candidates: dict[int, Candidate]) -> tuple[list[Specifier], list[tuple[str, str]]]:
        """Which names of a statement stay, and which are of another module: that, and how they are written there."""
        between, moved = self.text[of.span[0] : of.start], dict[Specifier, tuple[str, str]]()
        names = [one for one in of.names if one.start not in self.drawings.gone]
        # A module of one icon is named by its path; its default may have several names.
        in_path = range(of.start, of.end) if any(one.name == "default" for one in names) else ()
        path = next((start for start in in_path if start in candidates), -1)
        of_path = candidates.pop(path, None)
        for name in names:
            start = path if name.name == "default" and name.start not in candidates else name.start
            target = of_path if start == path else candidates.pop(start, None)
            if target is None:
                continue
            shown = {bare(said) for one in self.code.elements if one.name == name.local for said in one.attributes}
            export, why = self.targets.in_place_of(target, of.module, self.path, shown), self._handed_on(of, name)
            if isinstance(export, str):
                self._tell(start, "by hand", export)
            elif "/*" in between or "//" in between:
                self._tell(start, "by hand", "a comment is among the names")
            elif why and not self.also_doubtful:
                self._tell(start, "doubtful", f"{why}; --doubtful takes it")
            else:
                self._tell(start, "changed", why)
                moved[name] = export.module, export.called(name.local)
        return [name for name in names if name not in moved], [*moved.values()]

    def _handed_on(self, of: Import, name: Specifier) -> str:
        """Where a component is handed on as a value, to what may ask for attributes of its package; "" for nowhere."""
        package, values = package_of(of.module), [at for local, at in self.code.values if local == name.local]
        line = self.text.count("\n", 0, min(values, default=of.start)) + 1
        said = f"line {line} hands it on, and what takes it may ask for attributes of {package}"
        return said if package in self.typed and (values or of.form == "export") else ""

    def _write(self, of: Import, kept: Sequence[Specifier], added: dict[str, list[str]]) -> None:
        """Write a statement with the names that it keeps, and others behind it for what other modules have."""
        line = self.text.rfind("\n", 0, of.span[0]) + 1
        indent = self.text[line : of.span[0]] if not self.text[line : of.span[0]].strip() else ""
        line_end = "\r\n" if "\r\n" in self.text else "\n"
        quote, tail = self.text[of.start - 1], self.text[of.end + 1 : of.span[1]]
        bound = [name.local for name in kept if name.name == "default" and of.form == "import"]
        bound += [f"* as {of.whole}"] if of.whole else []
        own = [self.text[slice(*name.span)] for name in kept if name.name != "default" or of.form == "export"]
        if named := [*own, *dict.fromkeys(added.pop(of.module, ()))]:
            bound.append(self._braces(of, named, indent))
        clauses = [(", ".join(bound), of.module)]
        clauses += [(self._braces(of, [*dict.fromkeys(names)], indent), module) for module, names in added.items()]
        written = [f"{of.form} {names} from {quote}{module}{quote}{tail}" for names, module in clauses if names]
        self.edits[of.span if written else whole_line(self.text, of.span)] = f"{line_end}{indent}".join(written)

    def _braces(self, of: Import, names: Sequence[str], indent: str) -> str:
        """Names as the statement had them: on one line, or one a line."""
        before = self.text[of.span[0] : of.start]
        inner = before.partition("{")[2].rpartition("}")[0] if "{" in before else " "
        if "\n" not in inner or len(names) == 1:
            space = " " if inner[:1].isspace() else ""
            return f"{{{space}{', '.join(names)}{space}}}"
        line_end, first = "\r\n" if "\r\n" in inner else "\n", re.search(r"\n([ \t]*)\S", inner)
        between, comma = f",{line_end}{first[1] if first else '  '}", "," if inner.rstrip().endswith(",") else ""
        return f"{{{between[1:]}{between.join(names)}{comma}{line_end}{indent}}}"

    def _replace_string(self, one: Reference, target: Candidate) -> None:
        """Put another icon into the place of one that a string names by set and name."""
        why = _WHY.get(one.form.partition(" ")[0], f"{one.form} shows icons of its own set alone")
        try:
            key = iconify_key(self.targets.icon(target))
        except IconsError:
            why, key = f"{target.name.key} has no key of Iconify", None
        named = re.compile(
            f"{re.escape(one.set)}({tables()['separators'].get(one.form, '(?!)')}){re.escape(one.name)}$"
        ).search(self.text, one.end - len(one.set) - len("--") - len(one.name), one.end)
        if key and named and one.is_certain:
            self.edits[named.span()] = f"{key.prefix}{named[1]}{key.name}"
            if one.form != "iconify" or self.path.endswith(".astro"):  # others load an icon by its name
                self.packages.add(f"@iconify-json/{key.prefix}")
        else:
            self._tell(one.start, "by hand", why if one.is_certain else "it may be something else than an icon")


def diff_of(change: Change) -> Iterator[str]:
    """Yield the lines of a file's diff, each with its line end."""
    path, here = change.path.absolute(), Path.cwd()
    shown = (path.relative_to(here) if path.is_relative_to(here) else change.path).as_posix().lstrip("/")
    # Lines as `patch` counts them: ended by line feeds alone.
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (change.before, change.after))
    lines = unified_diff(before, after, f"a/{shown}", f"b/{shown}")
    yield from (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def write_changes(changes: Sequence[Change]) -> list[tuple[Path, str]]:
    """Write the new text of files; returns which stay as they are, and why."""
    left = []
    for change in changes:
        try:
            is_as_read = read_code(change.path) == change.before
            why = why_kept(change.path) if is_as_read else "it has changed since it was read"
            if why is None:
                replace_file(Path(os.path.realpath(change.path)), change.after.encode())
        except SourceError as error:
            why = str(error)
        except OSError as error:
            why = f"it can't be written ({error.strerror})"
        if why is not None:
            left.append((change.path, why))
    return left


def kept_as_it_is(rewritten: Rewritten, kept: Sequence[tuple[Path, str]]) -> Rewritten:
    """What became of the files where some could not be written."""
    whys = {str(path): why for path, why in kept}
    left = [(one, whys.get(one.reference.path) if one.fate == "changed" else None) for one in rewritten.places]
    return replace(rewritten, places=[one._replace(fate="by hand", why=why) if why else one for one, why in left])


def rewritten_json(rewritten: Rewritten, code: Sequence[CodeRead]) -> dict[str, Any]:
    """Spell it as one object, without the texts of the files."""
    places = [(one, _place_json(one)) for one in rewritten.places]
    return {
        "files": [{"path": str(change.path), "n_places": change.n_places} for change in rewritten.changes],
        "changed": [place for one, place in places if one.fate == "changed"],
        "by_hand": [place for one, place in places if one.fate == "by hand" and one.why != COMPUTED],
        "doubtful": [place for one, place in places if one.fate == "doubtful"],
        "computed": [place for one, place in places if one.why == COMPUTED],
        "packages": list(rewritten.packages),
        "n_found": len(places),
        "not_read": unread(code),
    }


def _place_json(place: Place) -> dict[str, Any]:
    one = place.reference
    return {
        **{"path": one.path, "line": one.line, "column": one.column, "text": one.text},
        **{"source": place.source or None, "target": place.to or None, "why": place.why},
    }
