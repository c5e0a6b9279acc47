"""Whether every icon that a code names exists, and which of an own folder nobody names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from indexer.errors import IconsError
from indexer.reports.terminal import Progress
from search.code.files import Project, code_files, read_code
from search.code.imports import imports_in
from search.code.known import KnownIcons
from search.code.markup import attributes_in, ligatures_in, names_in
from search.code.own_icons import OwnIcons
from search.code.packages import family_of, is_of_brands
from search.code.reading import Kind, Named, Unreadable, kind_of, literals, without_comments
from search.code.reference import Computed, Finding, Places, Reference
from search.engine import SearchEngine


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
    written = text[one.start : one.end]
    about = (one.set, one.name, one.form, written, one.others, one.is_certain, one.file)
    return Reference(path, line, column, one.start, one.end, *about)


def _computed(one: Unreadable, text: str, path: str, places: Places) -> Computed:
    line, column = places.at(one.start)
    return Computed(path, line, column, one.form, text[one.start : one.end])


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
    computed: Sequence[Computed]
    """Names that only the running program knows."""
    not_read: Mapping[str, str]
    """Files, and why they were not read."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is to be mended."""
        return not self.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What is looked for beside icons that do not exist."""

    icons: Path | None = None
    """A folder of own icons, all of which should be used."""
    max_sets: int | None = None
    """Families of sets that may be used at most, brands aside."""


@dataclass
class _Reading:
    """What all files together name."""

    known: KnownIcons
    own: OwnIcons
    references: list[Reference] = field(default_factory=list)
    computed: list[Computed] = field(default_factory=list)
    not_read: dict[str, str] = field(default_factory=dict)

    def of_sets(self) -> Iterator[Reference]:
        """Each reference to an icon of a set, with what it was found to name; else with what it says first."""
        for one in self.references:
            if one.set:
                key, name = self.known.find(one) or (one.set, one.name)
                yield replace(one, set=key, name=name)

    def take(self, scanned: Scanned) -> None:
        """Keep what names an icon: what may name something else counts where its package decides."""
        known = self.known
        kept = [one for one in scanned.references if one.is_certain or known.find(one) or known.is_refuted(one)]
        self.references += kept
        self.computed += scanned.computed


def check(engine: SearchEngine, places: Sequence[Path], options: CheckOptions, *, progress: Progress) -> Checked:
    """Look at the code below some places.

    Raises:
        IconsError: a place is not there, or holds no code.
    """
    files = list(code_files(places))
    if not files:
        raise IconsError(f'"{places[0]}" holds no code; name the folder that your sources lie in')
    project = Project.around([*places, *filter(None, [options.icons])])
    reading = _Reading(KnownIcons(engine), OwnIcons.below(options.icons, project=project))
    for number, file in enumerate(files):
        try:
            text = read_code(file.path)
        except IconsError as error:
            reading.not_read[str(file.path)] = str(error)
            continue
        reading.own.note(text)
        reading.take(scan(text, path=str(file.path), kind=file.kind))
        progress("Reading", number + 1, len(files))
    return _checked(reading, options, n_files=len(files) - len(reading.not_read))


def check_text(engine: SearchEngine, text: str, *, name: str) -> Checked:
    """Look at one text; the end of its `name` says what it is, and its folder which project it belongs to.

    Where that is none, files and parts of sprites are not looked for.

    Raises:
        IconsError: it is of no kind that is read.
    """
    kind = kind_of(name)
    if kind is None:
        raise IconsError(f'"{name}" is no file of code that is read; call it as App.tsx, index.html, style.css')
    own = OwnIcons(None, (), Project.around([Path(name)]), is_placed=False)
    reading = _Reading(KnownIcons(engine), own)
    own.note(text)
    reading.take(scan(text, path=name, kind=kind))
    return _checked(reading, CheckOptions(), n_files=1)


def _checked(reading: _Reading, options: CheckOptions, *, n_files: int) -> Checked:
    of_icons = list(reading.of_sets())
    of_designs = [one for one in of_icons if not is_of_brands(one.set)]
    own = reading.own.findings(reading.references) if reading.own.project.folders else ()
    findings = [*_missing(reading), *own, *_too_many(of_designs, options.max_sets)]
    return Checked(
        n_files=n_files,
        n_references=len(reading.references),
        findings=sorted(findings, key=lambda one: (one.path, one.line, one.column)),
        sets=_sets(of_icons, reading.known),
        mixed=_mixed(of_designs),
        computed=reading.computed,
        not_read=reading.not_read,
    )


def _missing(reading: _Reading) -> Iterator[Finding]:
    """Icons of sets that are here, which these sets do not have."""
    for one in reading.references:
        if not one.set or reading.known.find(one) or not reading.known.has_set(one):
            continue
        near = reading.known.nearest(one)
        hint = f"; near: {near.text}" if near else ""
        message = f'{one.set} has no icon "{one.name}"{hint}'
        yield Finding("no-icon", one.path, one.line, one.column, one.text, message, near)


def _too_many(references: Sequence[Reference], most: int | None) -> Iterator[Finding]:
    """One finding for each family of sets beyond those that are used most."""
    if most is None:
        return
    by_family: dict[str, list[Reference]] = {}
    for one in references:
        by_family.setdefault(family_of(one.set), []).append(one)
    ranked = sorted(by_family, key=lambda family: -len(by_family[family]))
    for family in ranked[most:]:
        first = by_family[family][0]
        message = f"{len(ranked)} sets are used, {most} may be: {family} {len(by_family[family])} times"
        yield Finding("too-many-sets", first.path, first.line, first.column, first.text, message)


def _sets(references: Sequence[Reference], known: KnownIcons) -> list[SetUse]:
    counted = Counter(one.set for one in references)
    files = Counter(key for key, _ in {(one.set, one.path) for one in references})
    return [SetUse(key, n, files[key], bool(known.set(key).own)) for key, n in counted.most_common()]


def _mixed(references: Sequence[Reference]) -> dict[str, Sequence[str]]:
    families: dict[str, set[str]] = {}
    for one in references:
        families.setdefault(one.path, set()).add(family_of(one.set))
    return {path: sorted(found) for path, found in families.items() if len(found) > 1}


RULES: Mapping[str, str] = {
    "no-icon": "The set has no icon of this name.",
    "no-file": "There is no such file of an icon.",
    "no-part": "No such part of a sprite is defined.",
    "unused-file": "No code names this icon.",
    "too-many-sets": "More sets of icons are used than may be.",
}
"""By the kind of a finding."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_WARNINGS = ("unused-file", "too-many-sets")


def checked_json(checked: Checked) -> dict[str, Any]:
    """Spell all of it as one object."""
    return {"is_clean": checked.is_clean, **asdict(checked)}


def checked_sarif(checked: Checked, *, base: Path) -> dict[str, Any]:
    """Spell the findings as SARIF 2.1.0 (OASIS); paths are relative to `base`, the root of the repository."""
    rules = [
        {"id": kind, "shortDescription": {"text": text}, "defaultConfiguration": {"level": _level(kind)}}
        for kind, text in RULES.items()
    ]
    driver = {"name": "icons", "version": version("icons"), "rules": rules}
    results = [_result(finding, base) for finding in checked.findings]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _level(kind: str) -> str:
    return "warning" if kind in _WARNINGS else "error"


def _result(finding: Finding, base: Path) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.path, base)}}
    if finding.line:
        end = finding.column + len(finding.text)
        place["region"] = {"startLine": finding.line, "startColumn": finding.column, "endColumn": end}
    return {
        "ruleId": finding.kind,
        "ruleIndex": list(RULES).index(finding.kind),
        "level": _level(finding.kind),
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str, base: Path) -> str:
    absolute = Path(path).absolute()
    return quote(absolute.relative_to(base).as_posix()) if absolute.is_relative_to(base) else absolute.as_uri()


def lines_of(findings: Sequence[Finding]) -> list[str]:
    """A line a finding, which begins as editors and terminals can follow it: path:line:column."""
    places = (f"{one.path}:{one.line}:{one.column}" if one.line else one.path for one in findings)
    return [f"{place}: {one.message}" for place, one in zip(places, findings, strict=True)]
