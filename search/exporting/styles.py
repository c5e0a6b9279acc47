"""How does an icon leave its style sheet behind? Each rule is written to the shapes that it is for.

A `<style>` holds for the whole document that it comes to stand in, other icons and all. What programs export are plain
rules for classes; of others (`:hover`, `@keyframes`, `a > b`) it is told that they can't be carried along.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from search.exporting.drawing import Drawing

_SELECTOR = re.compile(r"(\*|[A-Za-z][\w-]{0,100})?((?:[.#][A-Za-z_-][\w-]{0,200}){0,20})")
_PART = re.compile(r"([.#])([\w-]+)")
_IMPORTANT = re.compile(r"!\s{0,9}important", re.IGNORECASE)
_MOST_TRIALS = 2_000_000
"""Rules times elements."""
_PRESENTATION = frozenset(
    """clip-path clip-rule color display dominant-baseline fill fill-opacity fill-rule filter flood-color flood-opacity
    font-family font-size font-style font-weight letter-spacing marker-end marker-mid marker-start mask opacity overflow
    paint-order pointer-events shape-rendering stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset
    stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration
    vector-effect visibility word-spacing""".split()
)
"""What an attribute says as well as a style."""


@dataclass(frozen=True, slots=True)
class _Rule:
    tag: str
    """"" for any."""
    classes: frozenset[str]
    name: str
    """An id; "" for any."""
    declared: dict[str, str]
    order: tuple[int, int, int]
    """What it weighs, as CSS counts: ids, classes, elements; later ones come later anyway."""

    def is_for(self, element: Element) -> bool:
        """Tell whether an element is meant."""
        return (
            self.tag in ("", element.tag)
            and self.name in ("", element.get("id"))
            and (not self.classes or self.classes.issubset((element.get("class") or "").split()))
        )


class _NotPlainError(Exception):
    """A rule that can't be written to shapes."""


def inline_styles(drawing: Drawing) -> str | None:
    """Write the rules of a drawing's style sheets to its elements, and take sheets and classes off.

    Returns what of them can't be written so, in which case nothing has changed; None where all is well.
    """
    sheets = [element for element in drawing.elements() if element.tag == "style"]
    root = Element("svg", drawing.attributes)
    elements = [root, *(element for element in drawing.elements() if element.tag != "style")]
    try:
        rules = [rule for sheet in sheets for rule in _rules("".join(sheet.itertext()))]
        if len(rules) * len(elements) > _MOST_TRIALS:
            raise _NotPlainError(f"{len(rules):,} rules")
    except _NotPlainError as error:
        return str(error)
    rules.sort(key=lambda rule: rule.order)
    for element in elements:
        _write(element, [rule for rule in rules if rule.is_for(element)])
    for element in elements:
        element.attrib.pop("class", None)
    drawing.attributes = root.attrib
    _without_sheets(drawing)
    return None


def _without_sheets(drawing: Drawing) -> None:
    drawing.body = [element for element in drawing.body if element.tag != "style"]
    for element in drawing.elements():
        for child in [child for child in element if child.tag == "style"]:
            element.remove(child)


def _rules(text: str) -> Iterator[_Rule]:
    """The rules of a sheet, in their order.

    Raises:
        _NotPlainError: one is for more than elements, classes and ids.
    """
    parts = _without_comments(text).split("}")
    if parts[-1].strip():
        raise _NotPlainError("a rule without an end")
    for part in parts[:-1]:
        selectors, brace, body = part.partition("{")
        if not brace or "{" in body or selectors.lstrip().startswith("@"):
            raise _NotPlainError(selectors.split()[0][:40] if selectors.split() else "a rule without a selector")
        declared = _declared(body)
        if any(map(_IMPORTANT.search, declared.values())):
            raise _NotPlainError("!important")
        for selector in selectors.split(","):
            yield _rule(selector.strip(), declared)


def _rule(selector: str, declared: dict[str, str]) -> _Rule:
    found = _SELECTOR.fullmatch(selector)
    if not selector or found is None:
        raise _NotPlainError(f'"{selector[:40]}"')
    parts = _PART.findall(found[2])
    ids = [name for sign, name in parts if sign == "#"]
    classes = frozenset(name for sign, name in parts if sign == ".")
    if len(ids) > 1:
        raise _NotPlainError(f'"{selector[:40]}"')
    tag = "" if found[1] in (None, "*") else found[1]
    order = (len(ids), len(classes), bool(tag))
    return _Rule(tag, classes, ids[0] if ids else "", declared, order)


def _declared(body: str) -> dict[str, str]:
    """What a rule or a style attribute says, by property."""
    found = {}
    for declaration in body.split(";"):
        name, colon, value = declaration.partition(":")
        if colon and value.strip():
            found[name.strip().lower()] = value.strip()
    return found


def _write(element: Element, rules: list[_Rule]) -> None:
    """Write to an element what rules say of it; its own style says more than they do."""
    own = _declared(element.attrib.pop("style", ""))
    said: dict[str, str] = {}
    for rule in rules:
        said |= rule.declared
    said |= {name: _IMPORTANT.sub("", value).strip() for name, value in own.items()}
    for name in _PRESENTATION & said.keys():
        element.set(name, said.pop(name))
    if said:
        element.set("style", ";".join(f"{name}:{value}" for name, value in said.items()))


def _without_comments(text: str) -> str:
    kept, at = [], 0
    while (start := text.find("/*", at)) >= 0:
        kept.append(text[at:start])
        end = text.find("*/", start + 2)
        at = end + 2 if end >= 0 else len(text)
    return "".join([*kept, text[at:]])
