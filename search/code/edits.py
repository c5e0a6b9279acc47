"""What is changed in one text: imports, keys, classes and strings of another set."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from indexer.errors import IconsError
from search.code.map import Candidate
from search.code.packages import package_of
from search.code.reference import Reference
from search.drawings.drawn import IconifyKey, NamedIcon, iconify_key, named_icon
from search.drawings.frameworks import FRAMEWORKS, Export, Framework, exported
from search.engine import SearchEngine


class Edit(NamedTuple):
    """`text[start:end]` becomes another text."""

    start: int
    end: int
    text: str


class ByHand(NamedTuple):
    """A place that names an icon which has a stand-in, and can't be changed safely."""

    reference: Reference
    to: str
    """Key of what would stand there."""
    why: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits, which do not overlap."""
    parts, place = [], 0
    for edit in sorted(edits):
        assert edit.start >= place, "edits overlap"
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join((*parts, text[place:]))


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
        self._modules: set[str] = set()

    def key(self, candidate: Candidate) -> IconifyKey:
        """As Iconify calls it.

        Raises:
            RefusedError: it is of no set of Iconify.
        """
        try:
            return iconify_key(self._icon(candidate))
        except IconsError as error:
            raise RefusedError(f"{candidate.name.key} has no key of Iconify") from error

    def export(self, candidate: Candidate, module: str) -> Export:
        """What is imported in place of a component of another package.

        Raises:
            RefusedError: no package has it as a component of that kind.
        """
        kind = ecosystem(module)
        if kind is None:
            raise RefusedError(f"what {module} exports is no component by itself")
        icon = self._icon(candidate)
        framework = _framework(icon.set, kind)
        if framework is None:
            raise RefusedError(f"no package is known that has {icon.set} as components for {kind}")
        try:
            found = exported(icon, framework)
        except IconsError as error:
            raise RefusedError(f"{framework.packages[0]} does not export {icon.key}") from error
        if found.weight is not None:
            raise RefusedError(f'{found.name} of {found.module} takes weight="{found.weight}" where it is used')
        self._modules.add(found.module)
        return found

    def packages(self) -> list[str]:
        """Packages to install for what was imported."""
        return sorted(set(map(package_of, self._modules)))

    def _icon(self, candidate: Candidate) -> NamedIcon:
        if candidate.id not in self._icons:
            self._icons[candidate.id] = named_icon(self._engine.show(candidate.id).hit)
        return self._icons[candidate.id]


def _framework(key: str, kind: str) -> Framework | None:
    of_set = (one for one in FRAMEWORKS.values() if one.form == "component" and key in one.sets)
    return next((one for one in of_set if ecosystem(one.packages[0]) == kind), None)


_FORM = "import "
_STATEMENT = re.compile(
    r"^(?P<indent>[ \t]*)(?P<verb>import|export)\s+"
    r"(?:\{(?P<names>[^{}]{0,40000})\}|(?P<default>[A-Za-z_$][\w$]*+))"
    r"\s*from\s*(?P<quote>[\"'])(?P<module>[@~\w./-]{1,200})(?P=quote)"
    r"(?P<end>(?:\s*(?:with|assert)\s*\{[^{}]{0,1000}\})?[ \t]*;?)",
    re.MULTILINE,
)
_SPECIFIER = re.compile(r"\s*(?P<name>[A-Za-z_$][\w$]*+)(?:\s+as\s+(?P<local>[A-Za-z_$][\w$]*+))?\s*")
_COMMENT = re.compile(r"//|/\*")

Wanted = Mapping[int, tuple[Reference, str, Callable[[str], Export]]]
"""By where a reference begins: it, the key of its stand-in, and what is imported for that instead of a module's."""


@dataclass(frozen=True, slots=True)
class _Specifier:
    """One name of an import."""

    text: str
    start: int
    """Of its name in the file."""
    local: str


def is_import(form: str) -> bool:
    """Whether a form is an import of components."""
    return form.startswith(_FORM)


def import_edits(text: str, wanted: Wanted) -> tuple[list[Edit], list[ByHand]]:
    """Rewrite all imports of a file; what stands in none that can be rewritten is left to a person."""
    edits, by_hand, done = [], [], set()
    for found in _STATEMENT.finditer(text) if wanted else ():
        inside = [start for start in wanted if found.start() <= start < found.end()]
        if not inside:
            continue
        done.update(inside)
        changed, refused = _statement(found, {start: wanted[start] for start in inside})
        by_hand += refused
        if changed is not None:
            edits.append(changed)
    others = (wanted[start] for start in sorted(wanted.keys() - done))
    by_hand += [ByHand(reference, key, _why(text, reference)) for reference, key, _ in others]
    return edits, by_hand


def _why(text: str, reference: Reference) -> str:
    before = text[max(0, reference.start - 1) : reference.start]
    return "it is taken from a whole module" if before == "." else "it is loaded in a way that is not rewritten"


def _statement(found: re.Match[str], wanted: Wanted) -> tuple[Edit | None, list[ByHand]]:
    if found["names"] is not None and _COMMENT.search(found["names"]):
        return None, [ByHand(one, key, "there is a comment among the names") for one, key, _ in wanted.values()]
    specifiers = list(_specifiers(found)) if found["names"] is not None else [_default(found, wanted)]
    moved: dict[str, list[str]] = {}
    kept, by_hand = [], []
    for one in specifiers:
        if one.start not in wanted:
            kept.append(one.text)
            continue
        reference, key, export_of = wanted[one.start]
        try:
            export = export_of(found["module"])
        except RefusedError as error:
            by_hand.append(ByHand(reference, key, str(error)))
            kept.append(one.text)
            continue
        spelt = export.name if export.name == one.local else f"{export.name} as {one.local}"
        moved.setdefault(export.module, []).append(spelt)
    return (Edit(found.start(), found.end(), _written(found, kept, moved)) if moved else None), by_hand


def _specifiers(found: re.Match[str]) -> Iterator[_Specifier]:
    place = found.start("names")
    for part in found["names"].split(","):
        told = _SPECIFIER.fullmatch(part)
        if told:
            yield _Specifier(part.strip(), place + told.start("name"), told["local"] or told["name"])
        elif part.strip():  # `type LucideIcon`
            yield _Specifier(part.strip(), -1, "")
        place += len(part) + 1


def _default(found: re.Match[str], wanted: Wanted) -> _Specifier:
    """A module of one icon: the name that the code gave it is the one that stays."""
    return _Specifier(found["default"], min(wanted), found["default"])


def _written(found: re.Match[str], kept: Sequence[str], moved: Mapping[str, Sequence[str]]) -> str:
    lines = []
    if kept:
        whole = found["default"] is not None
        lines.append(_line(found, found["default"] if whole else _braces(found, kept), found["module"]))
    lines += [_line(found, _braces(found, names), module) for module, names in moved.items()]
    return ("\r\n" if "\r\n" in found.string else "\n").join(lines)


def _line(found: re.Match[str], names: str, module: str) -> str:
    quote = found["quote"]
    return f"{found['indent']}{found['verb']} {names} from {quote}{module}{quote}{found['end']}"


def _braces(found: re.Match[str], names: Sequence[str]) -> str:
    """Names as the statement had them: on one line, or one a line."""
    told = found["names"] or " "
    if "\n" not in told or len(names) == 1:
        space = " " if told[:1].isspace() else ""
        return f"{{{space}{', '.join(names)}{space}}}"
    line_end = "\r\n" if "\r\n" in told else "\n"
    inner = re.search(r"\n([ \t]*)\S", told)
    between = f",{line_end}{inner[1] if inner else '  '}"
    comma = "," if told.rstrip().endswith(",") else ""
    return f"{{{between[1:]}{between.join(names)}{comma}{line_end}{found['indent']}}}"


_SEPARATORS = {"iconify": (":",), "tailwind": ("--",), "unocss": (":", "-"), "unplugin-icons": ("/",)}
"""What stands between set and name, by the form of a reference."""
_WHY = {
    "sprite": "a sprite must be made anew",
    "file": "the file must be made anew",
    "ligature": "a word that an icon font draws; the target has no such font here",
    "pair": "a pair of names that Font Awesome looks up",
}


def string_edit(reference: Reference, text: str, key: IconifyKey) -> Edit:
    """Put another icon into the place of one that a string names by set and name.

    Raises:
        RefusedError: the form belongs to the set itself.
    """
    for between in _SEPARATORS.get(reference.form, ()):
        told = f"{reference.set}{between}{reference.name}"
        start = reference.end - len(told)
        if text[start : reference.end] == told:
            return Edit(start, reference.end, f"{key.prefix}{between}{key.name}")
    raise RefusedError(_why_not(reference.form))


def _why_not(form: str) -> str:
    """Why what a form names is left to a person."""
    if form.startswith("class "):
        return "a class of an icon font; the target has no such font here"
    return _WHY.get(form, f"{form} shows icons of its own set alone")
