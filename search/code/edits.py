"""What is changed in one text: imports, keys, classes and strings of another set."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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


class Replacement(NamedTuple):
    """What stands in place of one name of an import."""

    reference: Reference
    key: str
    """Of the stand-in."""
    export_of: Callable[[str], Export]
    """What is imported for it in place of a module's."""


class _Specifier(NamedTuple):
    """One name of an import."""

    text: str
    start: int
    """Of its name in the file."""
    local: str


def is_import(form: str) -> bool:
    """Whether a form is an import of components."""
    return form.startswith(_FORM)


def import_edits(text: str, replacements: Mapping[int, Replacement]) -> tuple[list[Edit], list[ByHand]]:
    """Rewrite imports, given what is replaced where; what stands in none that can be rewritten is left to a person."""
    edits: list[Edit] = []
    by_hand: list[ByHand] = []
    done: set[int] = set()
    for found in _STATEMENT.finditer(text) if replacements else ():
        inside = {start: one for start, one in replacements.items() if found.start() <= start < found.end()}
        if inside:
            done.update(inside)
            changed, refused = _statement(found, inside)
            by_hand += refused
            edits += changed
    others = (replacements[start] for start in sorted(replacements.keys() - done))
    by_hand += [ByHand(one.reference, one.key, _why(text, one.reference)) for one in others]
    return edits, by_hand


def _why(text: str, reference: Reference) -> str:
    before = text[max(0, reference.start - 1) : reference.start]
    return "it is taken from a whole module" if before == "." else "it is loaded in a way that is not rewritten"


def _statement(found: re.Match[str], inside: Mapping[int, Replacement]) -> tuple[list[Edit], list[ByHand]]:
    if found["names"] is None:  # a module of one icon: the name that the code uses is the one that stays
        specifiers = [_Specifier(found["default"], min(inside), found["default"])]
    elif _COMMENT.search(found["names"]):
        why = "there is a comment among the names"
        return [], [ByHand(one.reference, one.key, why) for one in inside.values()]
    else:
        specifiers = list(_specifiers(found))
    moved: dict[str, list[str]] = {}
    kept, by_hand = [], []
    for name, start, local in specifiers:
        try:
            export = inside[start].export_of(found["module"]) if start in inside else None
        except RefusedError as error:
            by_hand.append(ByHand(inside[start].reference, inside[start].key, str(error)))
            export = None
        if export is None:
            kept.append(name)
        else:
            spelt = export.name if export.name == local else f"{export.name} as {local}"
            moved.setdefault(export.module, []).append(spelt)
    return ([Edit(found.start(), found.end(), _written(found, kept, moved))] if moved else []), by_hand


def _specifiers(found: re.Match[str]) -> Iterator[_Specifier]:
    place = found.start("names")
    for part in found["names"].split(","):
        named = _SPECIFIER.fullmatch(part)
        if named:
            yield _Specifier(part.strip(), place + named.start("name"), named["local"] or named["name"])
        elif part.strip():  # `type LucideIcon`
            yield _Specifier(part.strip(), -1, "")
        place += len(part) + 1


def _written(found: re.Match[str], kept: Sequence[str], moved: Mapping[str, Sequence[str]]) -> str:
    quote, lines = found["quote"], []
    if kept:
        lines.append((found["default"] or _braces(found, kept), found["module"]))
    lines += [(_braces(found, names), module) for module, names in moved.items()]
    return ("\r\n" if "\r\n" in found.string else "\n").join(
        f"{found['indent']}{found['verb']} {names} from {quote}{module}{quote}{found['end']}" for names, module in lines
    )


def _braces(found: re.Match[str], names: Sequence[str]) -> str:
    """Names as the statement had them: on one line, or one a line."""
    before = found["names"] or " "
    if "\n" not in before or len(names) == 1:
        space = " " if before[:1].isspace() else ""
        return f"{{{space}{', '.join(names)}{space}}}"
    line_end = "\r\n" if "\r\n" in before else "\n"
    inner = re.search(r"\n([ \t]*)\S", before)
    between = f",{line_end}{inner[1] if inner else '  '}"
    comma = "," if before.rstrip().endswith(",") else ""
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
    form = reference.form
    for between in _SEPARATORS.get(form, ()):
        named = f"{reference.set}{between}{reference.name}"
        start = reference.end - len(named)
        if text[start : reference.end] == named:
            return Edit(start, reference.end, f"{key.prefix}{between}{key.name}")
    if form.startswith("class "):
        raise RefusedError("a class of an icon font; the target has no such font here")
    raise RefusedError(_WHY.get(form, f"{form} shows icons of its own set alone"))
