"""What becomes of source code when icons of one set stand for those of others? Each file's new text, and the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from indexer.errors import SourceError
from indexer.reports.bars import Progress
from search.engine import SearchEngine
from search.mapping.mapped import Mapped, Name
from search.mapping.mapped import Mapping as Stands
from search.references.code import Kind
from search.references.files import code_files, read_code
from search.references.known import KnownIcons
from search.references.reference import Computed, Reference
from search.references.scan import scan
from search.rewriting.edits import ByHand, Edit, edited
from search.rewriting.in_imports import import_edits, is_import
from search.rewriting.in_strings import string_edit
from search.rewriting.targets import RefusedError, Targets


@dataclass(frozen=True, slots=True)
class CodeRead:
    """A file, and the icons that it names."""

    path: Path
    kind: Kind
    text: str
    named: Sequence[tuple[Reference, Name]]
    """Names with the key that the library has for their set."""
    computed: Sequence[Computed]


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
    by_hand: Sequence[ByHand]
    doubtful: Sequence[tuple[Reference, Stands]]
    """Left as they are, for somebody to look at."""
    computed: Sequence[Computed]
    packages: Sequence[str]
    """That the new imports need."""

    @property
    def n_places(self) -> int:
        """Places that change."""
        return sum(change.n_places for change in self.changes)


def read_names(engine: SearchEngine, places: Sequence[Path], *, sets: Sequence[str], to: str) -> CodeNames:
    """Read which icons some code names, of some sets, or of all but the target.

    Raises:
        IconsError: a place is not there, or is no code.
    """
    known, files, unread = KnownIcons(engine), [], []
    for file in code_files(places):
        try:
            text = read_code(file.path)
        except SourceError as error:
            unread.append((file.path, str(error)))
            continue
        scanned = scan(text, path=str(file.path), kind=file.kind)
        named = [(one, name) for one in scanned.references if (name := _named(one, known, sets, to))]
        files.append(CodeRead(file.path, file.kind, text, named, scanned.computed))
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


def rewrite(
    engine: SearchEngine, code: CodeNames, mapped: Mapped, *, also_doubtful: bool, progress: Progress
) -> Rewritten:
    """Put stand-ins into the text of files; writes nothing."""
    stands = {one.source: one for one in mapped.mappings}
    targets = Targets(engine)
    changes: list[Change] = []
    by_hand: list[ByHand] = []
    doubtful: list[tuple[Reference, Stands]] = []
    for number, file in enumerate(code.files, start=1):
        left = [(one, stands[name]) for one, name in file.named if stands[name].is_doubtful and not also_doubtful]
        doubtful += left
        taken = {one.start for one, _ in left}
        wanted = [(one, stands[name]) for one, name in file.named if one.start not in taken and stands[name].target]
        edits, refused = _edits(file, wanted, targets)
        by_hand += refused
        if edits:
            n_places = len(wanted) - len(refused)
            changes.append(Change(file.path, file.text, edited(file.text, edits), n_places))
        progress("Rewriting", number, len(code.files))
    computed = [one for file in code.files for one in file.computed]
    return Rewritten(changes, by_hand, doubtful, computed, targets.packages())


def _edits(
    file: CodeRead, wanted: Sequence[tuple[Reference, Stands]], targets: Targets
) -> tuple[list[Edit], list[ByHand]]:
    imports = {
        one.start: (one, stand.target.name.key, partial(targets.export, stand.target))
        for one, stand in wanted
        if is_import(one.form) and stand.target
    }
    edits, by_hand = import_edits(file.text, imports)
    for one, stand in wanted:
        if is_import(one.form) or stand.target is None:
            continue
        if not one.is_certain:
            by_hand.append(ByHand(one, stand.target.name.key, "it may be something else than an icon"))
            continue
        try:
            edits.append(string_edit(one, file.text, targets.key(stand.target)))
        except RefusedError as error:
            by_hand.append(ByHand(one, stand.target.name.key, str(error)))
    return edits, by_hand
