"""Source code in which icons of one set stand for those of others: new texts, diffs, files written."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from indexer.errors import IconsError, SourceError
from indexer.library.durable import replace_file
from indexer.library.named import why_kept
from indexer.reports.terminal import Progress
from search.code.files import code_files, read_code
from search.code.known import KnownIcons
from search.code.map import Candidate, IconMapping, Mapped, Name
from search.code.names import Scanned, scan
from search.code.packages import MODULES, package_of
from search.code.reading import Reference
from search.code.syntax import Import, Specifier
from search.drawings.drawn import NamedIcon, iconify_key, named_icon
from search.drawings.frameworks import FRAMEWORKS, Export, exported
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
    imports: Sequence[Import]


@dataclass(frozen=True, slots=True)
class CodeNames:
    """Some files, and what could not be read."""

    files: Sequence[CodeRead]
    unread: Sequence[tuple[Path, str]]

    @property
    def names(self) -> list[Name]:
        """Icons that the files name, each once, in their order."""
        return list(dict.fromkeys(name for file in self.files for _, name in file.named))


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

    def of(self, fate: Fate) -> Sequence[Place]:
        """The places of one fate."""
        return [one for one in self.places if one.fate == fate]


def read_names(engine: SearchEngine, places: Sequence[Path], *, sets: Sequence[str], to: str) -> CodeNames:
    """Read which icons some code names, of some sets, or of all but the target.

    Raises:
        IconsError: a place is not there, or is no code.
    """
    known, files, unread = KnownIcons(engine), [], []

    def is_of_old(key: str) -> bool:
        return key != to and (not sets or key in sets)

    old = frozenset(one for one, made in MODULES.items() if any(is_of_old(look.set) for look in made.looks))
    for path in code_files(places):
        try:
            text = read_code(path)
        except SourceError as error:
            unread.append((path, str(error)))
            continue
        scanned = scan(text, path=str(path))
        named: list[tuple[Reference, Name]] = []
        left = [Place(one, "by hand", why=_COMPUTED) for one in scanned.computed]
        for one in scanned.references:
            found = known.find(one)
            key, name = found or (one.set, one.name)
            own = [*known.set(key).own, key][0]
            if not key or not is_of_old(own) or not (found or one.is_certain):
                continue
            if found or not known.has_set(one):
                named.append((one, Name(own, name)))
            else:
                why = f'{own} has no icon "{name}"; `icons check` says what is near'
                left.append(Place(one, "by hand", why=why, source=f"{own}:{name}"))
        left += _whole_modules(text, scanned, str(path), old)
        files.append(CodeRead(path, text, named, left, scanned.imports))
    return CodeNames(files, unread)


_COMPUTED = "the name is known to the running program alone"


def _whole_modules(text: str, scanned: Scanned, path: str, modules: frozenset[str]) -> Iterator[Place]:
    """What is taken of some modules beside icons that have a name here."""
    starts = {one.start for one in (*scanned.references, *scanned.computed)}
    named = {one.module for one in (*scanned.references, *scanned.computed)}

    def place(start: int, end: int, why: str) -> Place:
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        return Place(
            Reference(start, end, "module", path=path, line=line, column=column, text=text[start:end]),
            "by hand",
            why=why,
        )

    for one in (one for one in scanned.imports if not modules.isdisjoint((one.module, package_of(one.module)))):
        if one.form == "mock":
            yield place(one.start, one.end, "a test puts something else in the place of this module")
        elif one.whole == "*":
            yield place(one.start, one.end, "all of it is exported on")
        elif not one.names and one.module in modules.difference(named):
            yield place(one.start, one.end, "what is taken of it is not known")
        for name in one.names:
            if name.start not in starts and (name.name != "default" or one.module in modules):
                what = "a type" if name.is_type or one.is_type else "no icon"
                yield place(name.start, name.end, f"{what} of the old package")


_KINDS = ("react", "vue", "svelte")
_OF_REACT = ("@mui/icons-material", "@material-ui/icons", "@ant-design/icons", "@tabler/icons")
_DRAWN_BY_OTHERS = ("@fortawesome/", "@mdi/")
"""Scopes of packages that export drawings, which one component draws."""
_BETWEEN = re.compile(r"[-/@]")


class RefusedError(IconsError):
    """An icon has no such form; the message says why."""


def ecosystem(module: str) -> str | None:
    """What the components of a module are for: "react", "vue", "svelte"; None where it exports no such components."""
    package = package_of(module)
    if package.startswith(_DRAWN_BY_OTHERS):
        return None
    words = _BETWEEN.split(package)
    if "native" in words:
        return None
    return "react" if package in _OF_REACT else next((kind for kind in _KINDS if kind in words), None)


class Targets:
    """Icons of the target set, as code writes them."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self._icons: dict[int, NamedIcon] = {}
        self.packages: set[str] = set()
        """To install for what was imported."""

    def icon(self, candidate: Candidate) -> NamedIcon:
        """What code needs of it."""
        if candidate.id not in self._icons:
            self._icons[candidate.id] = named_icon(self._engine.show(candidate.id).hit)
        return self._icons[candidate.id]

    def export(self, candidate: Candidate, module: str) -> Export:
        """What is imported in place of a component of another package.

        Raises:
            RefusedError: no package has it as a component of that kind.
        """
        kind = ecosystem(module)
        if kind is None:
            raise RefusedError(f"what {module} exports is no component by itself")
        icon = self.icon(candidate)
        of_set = (one for one in FRAMEWORKS.values() if one.form == "component" and icon.set in one.sets)
        framework = next((one for one in of_set if ecosystem(one.packages[0]) == kind), None)
        if framework is None:
            raise RefusedError(f"no package is known that has {icon.set} as components for {kind}")
        try:
            found = exported(icon, framework)
        except IconsError as error:
            raise RefusedError(f"{framework.packages[0]} does not export {icon.key}") from error
        if found.weight is not None:
            raise RefusedError(f'{found.name} of {found.module} takes weight="{found.weight}" where it is used')
        self.packages.add(package_of(found.module))
        return found


def rewrite(
    engine: SearchEngine, code: CodeNames, mapped: Mapped, *, also_doubtful: bool, progress: Progress
) -> Rewritten:
    """Put stand-ins into the text of files; writes nothing."""
    stands = {one.source: one for one in mapped.mappings}
    targets = Targets(engine)
    changes: list[Change] = []
    places: list[Place] = []
    for number, file in enumerate(code.files, start=1):
        rewriter = _Rewriter(file, targets)
        rewriter.replace([(one, stands[name]) for one, name in file.named], also_doubtful=also_doubtful)
        found = [*rewriter.places.values(), *file.left]
        places += sorted(found, key=lambda one: one.reference.start)
        if rewriter.edits:
            n_changed = sum(one.fate == "changed" for one in found)
            changes.append(Change(file.path, file.text, rewriter.edited(), n_changed))
        progress("Rewriting", number, len(code.files))
    return Rewritten(changes, places, sorted(targets.packages))


_IMPORT = "import "
_SCRIPT = re.compile(r"<script\b|^[ \t]*(?:```|~~~)", re.MULTILINE)
_SEPARATORS = {"iconify": (":",), "tailwind": ("--",), "unocss": (":", "-"), "unplugin-icons": ("/",)}
"""What stands between set and name, by the form of a reference."""
_WHY = {
    "ligature": "a word that an icon font draws; the target has no such font here",
    "class": "a class of an icon font; the target has no such font here",
    "pair": "a pair of names that Font Awesome looks up",
}
"""Why a form is left to a person."""


class _Rewriter:
    """What is changed in one text: `text[start:end]` becomes another, by start and end; and what can't be, safely."""

    def __init__(self, file: CodeRead, targets: Targets) -> None:
        self.text = file.text
        self.imports = file.imports
        self.targets = targets
        self.edits: dict[tuple[int, int], str] = {}
        self.places: dict[int, Place] = {}
        """By where they start."""

    def edited(self) -> str:
        """The text with all that is changed."""
        parts, place = [], 0
        for (start, end), text in sorted(self.edits.items()):
            assert start >= place, "edits overlap"
            parts += [self.text[place:start], text]
            place = end
        return "".join((*parts, self.text[place:]))

    def replace(self, named: Sequence[tuple[Reference, IconMapping]], *, also_doubtful: bool) -> None:
        """Put what stands for icons in their places."""
        wanted: dict[int, Candidate] = {}
        for one, stand in named:
            place = Place(one, "changed", stand.target.name.key if stand.target else "", source=stand.source.key)
            if stand.target is None:
                place = place._replace(fate="by hand", why="--mapping says that nothing stands for it")
            elif stand.is_doubtful and not also_doubtful:
                place = place._replace(fate="doubtful", why="--mapping says it, --doubtful takes it")
            else:
                wanted[one.start] = stand.target
            self.places[one.start] = place
        imported = {start: to for start, to in wanted.items() if self.places[start].reference.form.startswith(_IMPORT)}
        for start in wanted.keys() - imported.keys():
            self._replace_string(self.places[start].reference, wanted[start])
        self._replace_imported(imported)
        for start in imported:
            is_of_whole = self.text[max(0, start - 1)] in ".\"'"
            self._refuse(start, "it is taken from a whole module" if is_of_whole else "it is loaded while running")

    def _refuse(self, start: int, why: str) -> None:
        self.places[start] = self.places[start]._replace(fate="by hand", why=why)

    def _replace_imported(self, wanted: dict[int, Candidate]) -> None:
        """Rewrite statements, by the starts of what is replaced; what stands in none stays among these."""
        statements = [one for one in self.imports if one.form in ("import", "export") and not one.is_type]
        statements.sort(key=lambda one: one.span)
        kept, moved = {}, []
        for one in statements:
            kept[one], taken = self._parted(one, wanted)
            moved += [(one, *export) for export in taken]
        homes: dict[object, Import] = {}
        for one in statements:
            if any(name.name != "default" or one.form == "export" for name in kept[one]):
                homes.setdefault(self._company(one, one.module), one)
        added: dict[Import, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one, module, name in moved:
            home = homes.setdefault(self._company(one, module), one)
            added[home][module].append(name)
            added[one]
        for one, modules in added.items():
            self._write(one, kept[one], modules)

    def _company(self, of: Import, module: str) -> object:
        """What is equal for statements of a module that may become one: those of a script of a page, of a fence."""
        return of.form, module, self._tail(of), len(_SCRIPT.findall(self.text, 0, of.start))

    def _parted(self, of: Import, wanted: dict[int, Candidate]) -> tuple[list[Specifier], list[tuple[str, str]]]:
        """Which names of a statement stay, and which are of another module: that, and how they are written there."""
        between = self.text[of.span[0] : of.start]
        kept, moved = [], []
        for name in of.names:
            start = name.start
            if name.name == "default" and start not in wanted:  # a module of one icon is named by its path
                start = next((start for start in range(of.start, of.end) if start in wanted), -1)
            target = wanted.pop(start, None)
            if target is None:
                kept.append(name)
                continue
            try:
                export = self.targets.export(target, of.module)
            except RefusedError as error:
                self._refuse(start, str(error))
                kept.append(name)
                continue
            if "/*" in between or "//" in between:
                self._refuse(start, "there is a comment among the names")
                kept.append(name)
            else:
                spelt = export.name if export.name == name.local else f"{export.name} as {name.local}"
                moved.append((export.module, spelt))
        return kept, moved

    def _tail(self, of: Import) -> str:
        """What stands behind the name of the module."""
        return self.text[of.end + 1 : of.span[1]]

    def _write(self, of: Import, kept: Sequence[Specifier], added: Mapping[str, Sequence[str]]) -> None:
        """Write a statement with the names that it keeps, and others behind it for what other modules have."""
        start, end = of.span
        line = self.text.rfind("\n", 0, start) + 1
        indent = self.text[line:start] if not self.text[line:start].strip() else ""
        line_end = "\r\n" if "\r\n" in self.text else "\n"
        quote, tail = self.text[of.start - 1], self._tail(of)
        own = [self.text[slice(*name.span)] for name in kept if name.name != "default" or of.form == "export"]
        own += dict.fromkeys(added.get(of.module, ()))
        bound = [name.local for name in kept if name.name == "default" and of.form == "import"]
        bound += [f"* as {of.whole}"] if of.whole else []
        clauses = [(", ".join([*bound, *([self._braces(of, own, indent)] if own else [])]), of.module)]
        clauses += [
            (self._braces(of, list(dict.fromkeys(names)), indent), module)
            for module, names in added.items()
            if module != of.module
        ]
        written = [f"{of.form} {names} from {quote}{module}{quote}{tail}" for names, module in clauses if names]
        if not written:
            line_after = re.compile(r"[ \t]*(\r?\n|\Z)?").match(self.text, end)
            is_first = not self.text[line:start].strip()
            if is_first and line_after:
                start, end = line, line_after.end()
            elif line_after:
                start = line + len(self.text[line:start].rstrip())
        self.edits[start, end] = f"{line_end}{indent}".join(written)

    def _braces(self, of: Import, names: Sequence[str], indent: str) -> str:
        """Names as the statement had them: on one line, or one a line."""
        before = self.text[of.span[0] : of.start]
        inner = before.partition("{")[2].rpartition("}")[0] if "{" in before else " "
        if "\n" not in inner or len(names) == 1:
            space = " " if inner[:1].isspace() else ""
            return f"{{{space}{', '.join(names)}{space}}}"
        line_end = "\r\n" if "\r\n" in inner else "\n"
        first = re.search(r"\n([ \t]*)\S", inner)
        between = f",{line_end}{first[1] if first else '  '}"
        comma = "," if inner.rstrip().endswith(",") else ""
        return f"{{{between[1:]}{between.join(names)}{comma}{line_end}{indent}}}"

    def _replace_string(self, one: Reference, target: Candidate) -> None:
        """Put another icon into the place of one that a string names by set and name."""
        if not one.is_certain:
            self._refuse(one.start, "it may be something else than an icon")
            return
        try:
            key = iconify_key(self.targets.icon(target))
        except IconsError:
            self._refuse(one.start, f"{target.name.key} has no key of Iconify")
            return
        for between in _SEPARATORS.get(one.form, ()):
            named = f"{one.set}{between}{one.name}"
            start = one.end - len(named)
            if self.text[start : one.end] == named:
                self.edits[start, one.end] = f"{key.prefix}{between}{key.name}"
                return
        self._refuse(one.start, _WHY.get(one.form.partition(" ")[0], f"{one.form} shows icons of its own set alone"))


_NO_LINE_END = "\\ No newline at end of file\n"


def diff_of(change: Change) -> Iterator[str]:
    """Yield the lines of a file's diff, each with its line end."""
    path = change.path.absolute()
    here = Path.cwd()
    shown = (path.relative_to(here) if path.is_relative_to(here) else change.path).as_posix().lstrip("/")
    # Lines as `patch` counts them: ended by line feeds alone.
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (change.before, change.after))
    for line in unified_diff(before, after, f"a/{shown}", f"b/{shown}"):
        yield line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}"


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
    places = [
        one._replace(fate="by hand", why=whys[one.reference.path])
        if one.fate == "changed" and one.reference.path in whys
        else one
        for one in rewritten.places
    ]
    return replace(rewritten, places=places)


def rewritten_json(rewritten: Rewritten) -> dict[str, Any]:
    """Spell it as one object, without the texts of the files."""
    plain = [(one, _place(one)) for one in rewritten.places]
    return {
        "files": [{"path": str(change.path), "n_places": change.n_places} for change in rewritten.changes],
        "changed": [place for one, place in plain if one.fate == "changed"],
        "by_hand": [place for one, place in plain if one.fate == "by hand" and one.why != _COMPUTED],
        "doubtful": [place for one, place in plain if one.fate == "doubtful"],
        "computed": [place for one, place in plain if one.why == _COMPUTED],
        "packages": list(rewritten.packages),
        "n_found": len(plain),
    }


def _place(one: Place) -> dict[str, Any]:
    spelt = {name: getattr(one.reference, name) for name in ("path", "line", "column", "text")}
    return spelt | {"source": one.source or None, "target": one.to or None, "why": one.why}


_MOST_SHOWN = 10
"""Lines of each fate, unless all are asked for."""


def place_lines(rewritten: Rewritten, *, is_written: bool, is_long: bool) -> Iterator[str]:
    """Name the places that were found, and what becomes of them; the last line adds them up."""
    words = {"changed": "changed" if is_written else "to change", "doubtful": "doubtful", "by hand": "not changed"}
    counted = []
    for fate in FATES:
        places = rewritten.of(fate)
        for place in places if is_long else places[:_MOST_SHOWN]:
            one, to = place.reference, f", {place.to}" if place.to else ""
            said = fate if fate != "changed" else words[fate]
            yield f"{one.path}:{one.line}: {one.text}: {said}{to}{f': {place.why}' if place.why else ''}"
        if len(places) > _MOST_SHOWN and not is_long:
            yield f"... and {len(places) - _MOST_SHOWN:,} more {words[fate]}: --long"
        counted.append(f"{len(places):,} {words[fate]}")
    yield f"found: {len(rewritten.places):,} = {' + '.join(counted)}"
