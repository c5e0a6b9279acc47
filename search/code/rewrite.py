"""Source code in which icons of one set stand for those of others: new texts, diffs, files written."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.library.durable import replace_file
from indexer.library.named import why_kept
from indexer.reports.terminal import Progress
from search.code.check import scan
from search.code.edits import (
    ByHand,
    Edit,
    RefusedError,
    Replacement,
    Targets,
    edited,
    import_edits,
    is_import,
    string_edit,
)
from search.code.files import code_files, read_code
from search.code.known import KnownIcons
from search.code.map import Candidate, IconMapping, Mapped, Name
from search.code.reading import Kind
from search.code.reference import Computed, Reference
from search.engine import SearchEngine


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
    doubtful: Sequence[tuple[Reference, IconMapping]]
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
    doubtful: list[tuple[Reference, IconMapping]] = []
    for number, file in enumerate(code.files, start=1):
        chosen = [(one, stands[name]) for one, name in file.named]
        left = [(one, stand) for one, stand in chosen if stand.is_doubtful and not also_doubtful]
        doubtful += left
        replaced = [
            (one, stand.target) for one, stand in chosen if stand.target and (also_doubtful or not stand.is_doubtful)
        ]
        edits, refused = _edits(file, replaced, targets)
        by_hand += refused
        if edits:
            n_places = len(replaced) - len(refused)
            changes.append(Change(file.path, file.text, edited(file.text, edits), n_places))
        progress("Rewriting", number, len(code.files))
    computed = [one for file in code.files for one in file.computed]
    return Rewritten(changes, by_hand, doubtful, computed, targets.packages())


def _edits(
    file: CodeRead, replaced: Sequence[tuple[Reference, Candidate]], targets: Targets
) -> tuple[list[Edit], list[ByHand]]:
    imports = {
        one.start: Replacement(one, target.name.key, partial(targets.export, target))
        for one, target in replaced
        if is_import(one.form)
    }
    edits, by_hand = import_edits(file.text, imports)
    for one, target in replaced:
        if is_import(one.form):
            continue
        if not one.is_certain:
            by_hand.append(ByHand(one, target.name.key, "it may be something else than an icon"))
            continue
        try:
            edits.append(string_edit(one, file.text, targets.key(target)))
        except RefusedError as error:
            by_hand.append(ByHand(one, target.name.key, str(error)))
    return edits, by_hand


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


def _place(one: Reference | Computed) -> dict[str, Any]:
    return {"path": one.path, "line": one.line, "column": one.column, "text": one.text}
