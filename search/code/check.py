"""Whether every icon that a code names exists, and which of an own folder nobody names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from indexer.arrays import grouped
from indexer.errors import IconsError
from indexer.reports.terminal import Progress, with_progress
from search.code.files import ID, Project, code_files, family_of, spellings_of, words
from search.code.known import KnownIcons, Nearest, slip_of
from search.code.names import Reference, Scanned, scan, scan_file
from search.code.syntax import kind_of
from search.engine import SearchEngine

FindingKind = Literal["no-icon", "no-file", "no-part", "unused-file", "too-many-sets"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be."""

    kind: FindingKind
    path: str
    line: int
    """From 1; 0 where it is about a file as a whole, or about all of them."""
    column: int
    text: str
    message: str
    nearest: Nearest | None = None


_ELSEWHERE = re.compile(r"[\w+.-]*:|//|[@~$!{<%]")
"""How an address begins that leads out of the project, or that only a bundler or the running program knows."""


class OwnIcons:
    """The icons of a folder, if there is one, and all that code says which may be the name of one."""

    def __init__(self, folder: Path | None, project: Project, *, is_placed: bool = True) -> None:
        """Find the SVGs of a folder; `is_placed` where the code lies where its path says.

        Raises:
            IconsError: it holds none.
        """
        self._files = sorted(path for path in folder.rglob("*.svg") if path.is_file()) if folder else []
        if folder and not self._files:
            raise IconsError(f'"{folder}" holds no SVG; give --icons the folder of your own icons')
        self.project, self._is_placed = project, is_placed
        self._stems = frozenset(path.stem for path in self._files)
        self._words, self._ids, self._used = set[str](), set[str](), set[Path]()

    def note(self, text: str) -> None:
        """Keep what a text says, whether or not it is read as a name."""
        self._ids.update(ID.findall(text))
        if self._files:
            self._words.update(self._stems.intersection(re.findall(r"[\w-]{1,200}", text)))

    def findings(self, references: Sequence[Reference]) -> Iterator[Finding]:
        """Report which files and parts are missing, then which files nobody uses."""
        readers = {"file": self._missing_file, "module": self._missing_file, "sprite": self._missing_part}
        for one in (one for one in references if one.form in readers):
            yield from readers[one.form](one, Path(one.path).parent)
        unused = (path for path in self._files if path.resolve() not in self._used and path.stem not in self._words)
        yield from (Finding("unused-file", str(path), 0, 0, "", f'no code names "{path.name}"') for path in unused)

    def _missing_part(self, one: Reference, folder: Path) -> Iterator[Finding]:
        """What of a sprite is not there; the file that it lies in is used, and so is one that a build makes it of.

        Where a build may make the file, or another serves it, nothing can be said.
        """
        project, file = self.project, one.file.partition("?")[0]
        stems = (one.name, re.sub("^(?:icon|i|svg|sprite)[-_]", "", one.name))
        self._words.update(self._stems.intersection(stems))
        files = project.svgs_meant(file, beside=folder) if one.file else ()
        self._used.update(path.resolve() for path in files)
        ids = [project.ids_of(path) for path in files]
        is_there = any(found is None or one.name in found for found in ids) or (not one.file and one.name in self._ids)
        is_lost = not (is_there or any(path.stem in stems for path in project.svgs))  # and no build makes it
        if files and not is_there:
            names = {name for found in ids for name in found or ()}
            yield _finding("no-part", one, f'"{one.file}" has no part "{one.name}"', names)
        elif not one.file and is_lost and one.name not in project.ids:
            yield _finding("no-part", one, f'no part "{one.name}" is defined in this code', self._ids | project.ids)
        elif one.file and is_lost and not _ELSEWHERE.match(file) and file.lower().endswith(".svg"):
            names = {path.name for path in project.svgs}
            named = one._replace(text=one.file, column=one.column - len(one.file) - len("#"))
            yield _finding("no-file", named, f'there is no file "{one.file}"', names)

    def _missing_file(self, one: Reference, folder: Path) -> Iterator[Finding]:
        """A file that is not where its address leads.

        Where another's is named (of a package, of a server, or by an alias nobody here knows), nothing can be said, but
        that a file is used which has the end of its path.
        """
        if "*" in one.name:  # a pattern, as bundlers take it
            self._used.update(path.resolve() for path in self._files if fnmatch(path.name, one.name.rpartition("/")[2]))
            return
        files = self.project.svgs_meant(one.name, beside=folder)
        if one.form == "module" and self._is_placed:  # nothing else is meant than what lies there
            there = {(folder / spelling).resolve() for spelling in spellings_of(one.name)}
            files = [path for path in files if path in there]
        self._used.update(path.resolve() for path in files[:1])
        may_be_here = one.is_certain and not files and not _ELSEWHERE.match(one.name)
        # Where no folder of the project is meant, another may serve it.
        if may_be_here and any(path.parent.is_dir() for path in self.project.led_to(one.name, folder)):
            near = (folder / one.name).parent.glob("*.svg") if one.name.startswith(".") else self.project.svgs
            yield _finding("no-file", one, f'there is no file "{one.name}"', {path.name for path in near})


def _finding(kind: FindingKind, one: Reference, message: str, names: Iterable[str]) -> Finding:
    """Report a name that is not there, with the one of some names that is spelt most alike, if any."""
    address = spellings_of(one.file or one.name)[-1].partition("?")[0]
    wrong = one.name if kind == "no-part" else address.rpartition("/")[2]
    near = slip_of(wrong, sorted(names))
    return _found_at(one, kind, f"{message}; near: {near[0]}" if near else message)


def _found_at(one: Reference, kind: FindingKind, message: str, nearest: Nearest | None = None) -> Finding:
    return Finding(kind, one.path, one.line, one.column, one.text, message, nearest)


@dataclass(frozen=True, slots=True)
class SetUse:
    """How often a set is named."""

    key: str
    n: int
    n_files: int
    is_here: bool
    """Whether the library has it, so that its names could be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a look at some code has found."""

    n_files: int
    n_references: int
    findings: Sequence[Finding]
    sets: Sequence[SetUse]
    """The most used first."""
    mixed: Mapping[str, Sequence[str]]
    """Files that name icons of several families of sets, brands aside, and which."""
    computed: Sequence[Reference]
    """Names that only the running program knows."""
    unknown: Mapping[str, int]
    """How many names were not looked up for want of a set, or of a package that is not installed."""
    renamed: Sequence[tuple[Reference, str]]
    """Names that are kept for old code, and the present ones."""
    not_read: Mapping[str, str]
    """Files, and why they were not read."""


def check(
    engine: SearchEngine,
    places: Sequence[Path],
    *,
    icons: Path | None = None,
    max_sets: int | None = None,
    progress: Progress,
) -> Checked:
    """Look at the code below some places.

    All of the folder `icons` of own ones should be used; `max_sets` families of sets may be, at most, brands aside.

    Raises:
        IconsError: a place is not there, or holds no code.
    """
    files = list(code_files(places))
    if not files:
        raise IconsError(f'"{places[0]}" holds no code; name the folder that your sources lie in')
    own = OwnIcons(icons, Project([*places, *filter(None, [icons])]))
    scans = (scan_file(path, own.project) for path in with_progress(files, "Reading", progress))
    return _checked(engine, own, scans, max_sets=max_sets)


def check_text(engine: SearchEngine, text: str, *, name: str) -> Checked:
    """Look at one text; the end of its `name` says what it is, and its folder which project it belongs to.

    Where that is none, files and parts of sprites are not looked for.

    Raises:
        IconsError: it is of no kind that is read.
    """
    if kind_of(name) is None:
        raise IconsError(f'"{name}" is no file of code that is read; call it as App.tsx, index.html, style.css')
    own = OwnIcons(None, Project([Path(name)]), is_placed=False)
    return _checked(engine, own, [scan(text, path=name, project=own.project)], max_sets=None)


def _checked(engine: SearchEngine, own: OwnIcons, scans: Iterable[Scanned], *, max_sets: int | None) -> Checked:
    known, found = KnownIcons(engine), dict[Reference, tuple[str, str]]()
    references, maybe_none, computed = list[Reference](), list[Reference](), list[Reference]()
    n_files, not_read = 0, dict[str, str]()
    for scanned in scans:
        own.note(scanned.text)
        n_files += bool(scanned.text or not scanned.problem)
        if scanned.problem:
            not_read[scanned.path] = scanned.problem
        computed += scanned.computed
        for one in scanned.references:
            if icon := known.find(one) if one.set else None:
                found[one] = icon
            # What may be no icon counts where its package decides.
            if one.is_certain or not one.set or icon or known.is_refuted(one):
                references.append(one)
            elif one.is_component:
                maybe_none.append(one)
    of_sets = [one for one in references if one.set]
    lost = [one for one in of_sets if one not in found]
    icons = [one._replace(set=found[one][0], name=found[one][1]) if one in found else one for one in of_sets]
    no_brands = [one for one in icons if one.set not in words("brands")]
    findings = list(_missing(lost, known))
    if own.project.folders:
        findings += own.findings(references)
    findings += _too_many(no_brands, max_sets)
    unknown = [known.lacking(one) for one in lost if not known.has_set(one)] + [one.module for one in maybe_none]
    return Checked(
        n_files=n_files,
        n_references=len(references),
        findings=sorted(findings, key=lambda one: (one.path, one.line, one.column)),
        sets=_set_uses(icons, known),
        mixed=_mixed(no_brands),
        computed=computed,
        unknown=dict(Counter(unknown).most_common()),
        renamed=[(one, now) for one in of_sets if one in found and (now := known.renamed(one))],
        not_read=not_read,
    )


def _set_uses(icons: Sequence[Reference], known: KnownIcons) -> list[SetUse]:
    n_files = Counter(key for key, _ in {(one.set, one.path) for one in icons})
    uses = Counter(one.set for one in icons).most_common()
    return [SetUse(key, n, n_files[key], bool(known.set(key).own)) for key, n in uses]


def _mixed(icons: Sequence[Reference]) -> dict[str, list[str]]:
    """Files that name icons of several families, and which."""
    by_file = grouped(icons, lambda one: one.path)
    families = {path: sorted({family_of(one.set) for one in by_file[path]}) for path in sorted(by_file)}
    return {path: found for path, found in families.items() if len(found) > 1}


def _missing(references: Sequence[Reference], known: KnownIcons) -> Iterator[Finding]:
    """Of icons that were not found, those whose sets are here."""
    for one in references:
        if known.has_set(one):
            near, said = known.nearest(one), one.text if one.is_component else one.name
            message = f'{one.set} has no icon "{said}"' + (f"; near: {near.text}" if near else "")
            yield _found_at(one, "no-icon", message, near)


def _too_many(icons: Sequence[Reference], most: int | None) -> Iterator[Finding]:
    """One finding for each family of sets beyond those that are used most."""
    ranked = sorted(grouped(icons, lambda one: family_of(one.set)).items(), key=lambda family: -len(family[1]))
    for family, uses in ranked[most:] if most is not None else ():
        message = f"{len(ranked)} sets are used, {most} may be: {family} {len(uses)} times"
        yield _found_at(uses[0], "too-many-sets", message)


RULES: Mapping[FindingKind, str] = {
    "no-icon": "The set has no icon of this name.",
    "no-file": "There is no such file of an icon.",
    "no-part": "No such part of a sprite is defined.",
    "unused-file": "No code names this icon.",
    "too-many-sets": "More sets of icons are used than may be.",
}
"""By the kind of a finding."""
_OF_COMPUTED = ("path", "line", "column", "form", "text")
_LEVELS = {"unused-file": "warning", "too-many-sets": "warning"}


def checked_json(checked: Checked) -> dict[str, Any]:
    """Spell all of it as one object."""
    return {
        "is_clean": not checked.findings,
        **asdict(checked),
        "computed": [{name: getattr(one, name) for name in _OF_COMPUTED} for one in checked.computed],
        "renamed": [{name: getattr(one, name) for name in _OF_COMPUTED} | {"now": now} for one, now in checked.renamed],
    }


def checked_sarif(checked: Checked, *, base: Path) -> dict[str, Any]:
    """Spell the findings as SARIF 2.1.0 (OASIS); paths are relative to `base`, the root of the repository."""
    rules = [
        {
            "id": kind,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": _LEVELS.get(kind, "error")},
        }
        for kind, text in RULES.items()
    ]
    tool = {"driver": {"name": "icons", "version": version("icons"), "rules": rules}}
    results = [_result(finding, base) for finding in checked.findings]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": tool, "results": results}],
    }


def _result(finding: Finding, base: Path) -> dict[str, Any]:
    path = Path(finding.path).absolute()
    uri = quote(path.relative_to(base).as_posix()) if path.is_relative_to(base) else path.as_uri()
    place = {"startLine": finding.line, "startColumn": finding.column, "endColumn": finding.column + len(finding.text)}
    return {
        "ruleId": finding.kind,
        "ruleIndex": list(RULES).index(finding.kind),
        "level": _LEVELS.get(finding.kind, "error"),
        "message": {"text": finding.message},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": uri}} | ({"region": place} if finding.line else {})}
        ],
    }
