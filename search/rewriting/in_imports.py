"""How do imports change? `{ FaHouse } from "react-icons/fa6"` -> `{ House as FaHouse } from "lucide-react"`.

The name by which the code uses an icon stays, so that nothing beside the import has to change.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from search.references.reference import Reference
from search.rewriting.edits import ByHand, Edit
from search.rewriting.targets import RefusedError
from search.snippets.exports import Export

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
