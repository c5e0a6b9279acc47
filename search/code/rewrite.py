"""Source code in which icons of one set stand for those of others: new texts, diffs, files written."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from indexer.errors import IconsError, SourceError
from indexer.library.durable import replace_file
from indexer.library.named import why_kept
from indexer.reports.terminal import Progress
from search.code.files import code_files, read_code
from search.code.known import KnownIcons
from search.code.map import Candidate, IconMapping, Mapped, Name
from search.code.names import scan
from search.code.packages import package_of
from search.code.reading import Reference
from search.code.syntax import Import, Specifier
from search.drawings.drawn import NamedIcon, iconify_key, named_icon
from search.drawings.frameworks import FRAMEWORKS, Export, exported
from search.engine import SearchEngine


@dataclass(frozen=True, slots=True)
class CodeRead:
    """A file, and the icons that it names."""

    path: Path
    text: str
    named: Sequence[tuple[Reference, Name]]
    """Names with the key that the library has for their set."""
    imports: Sequence[Import]
    computed: Sequence[Reference]


@dataclass(frozen=True, slots=True)
class CodeNames:
    """Some files, and what could not be read."""

    files: Sequence[CodeRead]
    unread: Sequence[tuple[Path, str]]

    @property
    def names(self) -> list[Name]:
        """Icons that the files name, each once, in their order."""
        return list(dict.fromkeys(name for file in self.files for _, name in file.named))


class ByHand(NamedTuple):
    """A place that names an icon which has a stand-in, and can't be changed safely."""

    reference: Reference
    to: str
    """Key of what would stand there."""
    why: str


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
    by_hand: Sequence[ByHand]
    doubtful: Sequence[tuple[Reference, IconMapping]]
    """Left as they are, for somebody to look at."""
    computed: Sequence[Reference]
    packages: Sequence[str]
    """That the new imports need."""


def read_names(engine: SearchEngine, places: Sequence[Path], *, sets: Sequence[str], to: str) -> CodeNames:
    """Read which icons some code names, of some sets, or of all but the target.

    Raises:
        IconsError: a place is not there, or is no code.
    """
    known, files, unread = KnownIcons(engine), [], []
    for path in code_files(places):
        try:
            text = read_code(path)
        except SourceError as error:
            unread.append((path, str(error)))
            continue
        scanned = scan(text, path=str(path))
        named = [(one, name) for one in scanned.references if (name := _named(one, known, sets, to))]
        files.append(CodeRead(path, text, named, scanned.imports, scanned.computed))
    return CodeNames(files, unread)


def _named(reference: Reference, known: KnownIcons, sets: Sequence[str], to: str) -> Name | None:
    if not reference.set:
        return None
    found = known.find(reference)
    if found is None and (known.has_set(reference) or not reference.is_certain):
        return None  # of a set that is here, it is no icon
    key, name_there = found or (reference.set, reference.name)
    own = known.set(key).own
    name = Name(own[0] if own else key, name_there)
    return name if name.set != to and (not sets or name.set in sets) else None


_KINDS = ("react", "vue", "svelte")
_OF_REACT = ("@mui/icons-material", "@ant-design/icons")
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
    by_hand: list[ByHand] = []
    doubtful: list[tuple[Reference, IconMapping]] = []
    for number, file in enumerate(code.files, start=1):
        chosen = [(one, stands[name]) for one, name in file.named]
        doubtful += [(one, stand) for one, stand in chosen if stand.is_doubtful and not also_doubtful]
        replaced = [
            (one, stand.target) for one, stand in chosen if stand.target and (also_doubtful or not stand.is_doubtful)
        ]
        rewriter = _Rewriter(file, targets)
        rewriter.replace(replaced)
        by_hand += rewriter.by_hand
        if rewriter.edits:
            changes.append(Change(file.path, file.text, rewriter.edited(), len(replaced) - len(rewriter.by_hand)))
        progress("Rewriting", number, len(code.files))
    computed = [one for file in code.files for one in file.computed]
    return Rewritten(changes, by_hand, doubtful, computed, sorted(targets.packages))


_IMPORT = "import "
_SEPARATORS = {"iconify": (":",), "tailwind": ("--",), "unocss": (":", "-"), "unplugin-icons": ("/",)}
"""What stands between set and name, by the form of a reference."""
_WHY = {
    "sprite": "a sprite must be made anew",
    "file": "the file must be made anew",
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
        self.by_hand: list[ByHand] = []

    def edited(self) -> str:
        """The text with all that is changed."""
        parts, place = [], 0
        for (start, end), text in sorted(self.edits.items()):
            assert start >= place, "edits overlap"
            parts += [self.text[place:start], text]
            place = end
        return "".join((*parts, self.text[place:]))

    def replace(self, replaced: Sequence[tuple[Reference, Candidate]]) -> None:
        """Put what stands for icons in their places."""
        imports = {one.start: (one, target) for one, target in replaced if one.form.startswith(_IMPORT)}
        self._replace_imported(imports)
        for start, (one, target) in sorted(imports.items()):
            is_of_whole = self.text[max(0, start - 1)] in ".\"'"
            why = "it is taken from a whole module" if is_of_whole else "it is loaded in a way that is not rewritten"
            self._refuse(one, target, why)
        for one, target in replaced:
            if not one.form.startswith(_IMPORT):
                self._replace_string(one, target)

    def _refuse(self, reference: Reference, target: Candidate, why: str) -> None:
        self.by_hand.append(ByHand(reference, target.name.key, why))

    def _replace_imported(self, imports: dict[int, tuple[Reference, Candidate]]) -> None:
        """Rewrite statements, by the starts of what is replaced; what stands in none stays among these."""
        statements = [one for one in self.imports if one.form in ("import", "export") and not one.is_type]
        kept, moved = {}, []
        for one in statements:
            starts = [_start_of(imports, one, name) for name in one.names]
            kept[one], taken = self._parted(one, [imports.pop(start, None) for start in starts])
            moved += [(one, *export) for export in taken]
        homes: dict[tuple[str, str, str], Import] = {}
        for one in statements:
            if any(name.name != "default" or one.form == "export" for name in kept[one]):
                homes.setdefault((one.form, one.module, self._tail(one)), one)
        added: dict[Import, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one, module, name in moved:
            home = homes.setdefault((one.form, module, self._tail(one)), one)
            added[home][module].append(name)
            added[one]
        for one, modules in added.items():
            self._write(one, kept[one], modules)

    def _parted(
        self, of: Import, stands: Sequence[tuple[Reference, Candidate] | None]
    ) -> tuple[list[Specifier], list[tuple[str, str]]]:
        """Which names of a statement stay, and which are of another module: that, and how they are written there."""
        between = self.text[of.span[0] : of.start]
        kept, moved = [], []
        for name, stand in zip(of.names, stands, strict=True):
            if stand is None:
                kept.append(name)
                continue
            try:
                export = self.targets.export(stand[1], of.module)
            except RefusedError as error:
                self._refuse(*stand, str(error))
                kept.append(name)
                continue
            if "/*" in between or "//" in between:
                self._refuse(*stand, "there is a comment among the names")
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
            following = re.compile(r"[ \t]*(?:\r?\n|\Z)").match(self.text, end)
            start, end = (line, following.end()) if following and indent == self.text[line:start] else (start, end)
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
            self._refuse(one, target, "it may be something else than an icon")
            return
        try:
            key = iconify_key(self.targets.icon(target))
        except IconsError:
            self._refuse(one, target, f"{target.name.key} has no key of Iconify")
            return
        for between in _SEPARATORS.get(one.form, ()):
            named = f"{one.set}{between}{one.name}"
            start = one.end - len(named)
            if self.text[start : one.end] == named:
                self.edits[start, one.end] = f"{key.prefix}{between}{key.name}"
                return
        why = _WHY.get(one.form.partition(" ")[0], f"{one.form} shows icons of its own set alone")
        self._refuse(one, target, why)


def _start_of(imports: Mapping[int, object], of: Import, name: Specifier) -> int:
    """Where the name of an icon stands that a specifier imports: a module of one icon is named by its path."""
    if name.start in imports or name.name != "default":
        return name.start
    return next((start for start in range(of.start, of.end) if start in imports), -1)


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


def rewritten_json(rewritten: Rewritten) -> dict[str, Any]:
    """Spell it as one object, without the texts of the files."""
    return {
        "files": [{"path": str(change.path), "n_places": change.n_places} for change in rewritten.changes],
        "by_hand": [_place(one.reference) | {"target": one.to, "why": one.why} for one in rewritten.by_hand],
        "doubtful": [_place(one) | {"source": stand.source.key} for one, stand in rewritten.doubtful],
        "computed": list(map(_place, rewritten.computed)),
        "packages": list(rewritten.packages),
    }


def _place(one: Reference) -> dict[str, Any]:
    return {"path": one.path, "line": one.line, "column": one.column, "text": one.text}


_MOST_LEFT = 20
"""Lines of what is left to a person; --json has all."""


def left_lines(rewritten: Rewritten) -> Iterator[str]:
    """Name the places that stay as they are."""
    places = [(one.reference, f"by hand, {one.to}: {one.why}") for one in rewritten.by_hand]
    places += [
        (one, f"doubtful, {stand.target.name.key}; --mapping says it, --doubtful takes it")
        for one, stand in rewritten.doubtful
        if stand.target
    ]
    places += [(one, "by hand: the name is known to the running program alone") for one in rewritten.computed]
    for place, why in places[:_MOST_LEFT]:
        yield f"{place.path}:{place.line}: {place.text}: {why}"
    if len(places) > _MOST_LEFT:
        yield f"and {len(places) - _MOST_LEFT:,} more places to look at; --json has all"
