"""What a browser makes of an SVG's styles, written out for librsvg, which does not know it.

Variables with what the file declares for them, `calc()` of numbers and pixels, colours of CSS 4 and 5, `:is()`,
conditions (`@media`, `media=""`, `@supports`, `@layer`), what a root does as a box, `transform-origin`, and animations
that stay at their end. Left as they are: nested rules, animations by style sheets. Colours are mixed in sRGB, Display
P3 is taken for it.
"""

import functools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import tinycss2
from tinycss2 import color5

from indexer.errors import RenderError
from indexer.rendering.render import libvips

_INSIDE = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
_VARIABLE = re.compile(rf"\bvar\(\s*(--[^\s,()]+)\s*(?:,({_INSIDE}))?\)", re.IGNORECASE)
_COLOUR = re.compile(
    rf"(?<![\w-])(?:(?:ok)?(?:lab|lch)|color(?:-mix)?|light-dark|rgba?(?=\(\s*from))\({_INSIDE}\)", re.IGNORECASE
)
_RELATIVE = re.compile(rf"\s*from\s+(#?[\w-]+(?:\({_INSIDE}\))?)\s+(.*)", re.DOTALL)
_ANY_OF = re.compile(rf":is\(({_INSIDE})\)", re.IGNORECASE)
_MOST_SPELLINGS = 200
"""Of one selector, where `:is()` leaves a choice."""
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?", re.IGNORECASE)
_FIGURE = f"({NUMBER.pattern})"
_CALC = re.compile(r"calc\((?:[-+*/.\d\s()]|px){1,200}\)", re.IGNORECASE)
_BRACKETS = re.compile(rf"\(\s*{_FIGURE}\s*\)")
_PRODUCT = re.compile(rf"(?<![\d.*/])(?<![*/]\s){_FIGURE}\s*([*/])\s*{_FIGURE}")
_SUM = re.compile(rf"(?<![\d.*/])(?<![*/]\s){_FIGURE}\s+([-+])\s+{_FIGURE}(?!\s*[*/\d.])")
_OPERATORS = {"*": operator.mul, "/": operator.truediv, "+": operator.add, "-": operator.sub}
_REFERENCE = re.compile(r"url\(\s*[\"']?#([^)\"']+)[\"']?\s*\)|\A#(.+)")
_ARGUMENT = re.compile(rf"(?:[^(),]|\({_INSIDE}\))+")
_SHARE = re.compile(r"\A\s*([\d.]+)%\s|\s([\d.]+)%\s*\Z")
_NO_LIGHT_SCREEN = re.compile(
    r"\b(?:print|speech|tty|tv|projection|handheld|braille|embossed|aural|dark|reduce|more|active|landscape|min-[a-z-]+)\b",
    re.IGNORECASE,
)
_SIDE = re.compile(r"\b(min|max)-(?:width|height)\s*:\s*([\d.]+)px", re.IGNORECASE)
_SEEN_AT = 96
"""Pixels of a picture's side, as conditions take it."""
_NAME = re.compile(r"[.#:\[]?[^.#:\[]+")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?|\.\d{1,9}")
_AT_ONCE = re.compile(r"[\d.]+(?:m?s)?")
_SPACES = {
    **{space: (space, 1) for space in ("oklab", "oklch", "lab", "lch")},
    **{"srgb": ("srgb", 255), "display-p3": ("srgb", 255), "srgb-linear": ("scrgb", 1), "xyz-d65": ("xyz", 100)},
}
"""How libvips calls a colour space, and what is 1 there."""
_MISSING = "inherit"
"""What a value is worth that lacks a variable."""
_LONGEST, _DEEPEST, _MOST_RULES = 10_000, 250, 5000
_LONGEST_STYLE = 50_000
"""Letters of a style that are read: a megabyte would take seconds."""


class Declaration(NamedTuple):
    """A property that a style states."""

    name: str
    value: str
    is_important: bool
    text: str
    """As it stands in a style."""


Rule = tuple[list[str], list[Declaration]]
"""Selectors, and what is declared for what they choose."""


def tokens(css: str | Sequence[Any]) -> Sequence[Any]:
    """Read a style or a sheet; nothing where brackets are nested deeper than any is."""
    tokens = tinycss2.parse_component_value_list(css) if isinstance(css, str) else css
    level = tokens
    for _ in range(50):
        level = [inner for one in level for inner in getattr(one, "content", getattr(one, "arguments", None)) or ()]
    return () if level else tokens


def declarations(style: str | Sequence[Any]) -> list[Declaration]:
    """What a style attribute states, or the block of a rule."""
    found = []
    for one in tinycss2.parse_blocks_contents(tokens(style), skip_comments=True, skip_whitespace=True):
        if value := tinycss2.serialize(one.value).rstrip() if one.type == "declaration" else "":
            value = value if "'" in value else value.replace('"', "'")
            name = one.name if one.name.startswith("--") else one.lower_name
            text = f"{name}:{value}{'!important' if one.important else ''}"
            found.append(Declaration(name, value.lstrip(), one.important, text))
    return found


def stated_by(element: Element) -> dict[str, str]:
    """What an element states by itself: its attributes, and what its style says in their place."""
    style = declarations(element.get("style", "")[:_LONGEST_STYLE])
    return element.attrib | {one.name: one.value for one in style}


LENGTH = re.compile(rf"\s*{_FIGURE}(?:px)?\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s,]+")


class Box(NamedTuple):
    """Where an icon lies in its own coordinates: its canvas."""

    left: float
    top: float
    width: float
    height: float


def box_of(attributes: Mapping[str, str]) -> Box | None:
    """The canvas by its viewBox or its sides; None where neither says it."""
    view = [LENGTH.fullmatch(part) for part in _SEPARATOR.split(attributes.get("viewBox", "").strip())]
    sides = [LENGTH.fullmatch(attributes.get(side, "")) for side in ("width", "height")]
    for before, found in (((), view), ((0.0, 0.0), sides)):
        box = (*before, *(float(number[1]) for number in found if number))
        if len(box) == 4 and all(map(math.isfinite, box)) and min(box[2:]) > 0:
            return Box(*box)
    return None


_OF_A_BOX = ("transform", "clip-path", "mask", "filter", "background", "background-color")
_NOTHING = frozenset(("none", "transparent"))
_UNITS = re.compile(r"(?<=\d)(?:deg|px)", re.IGNORECASE)


def group_root(root: Element) -> None:
    """Let a group do what a root does as a box of its page: be turned, cut, masked and filtered, lie on a ground.

    Browsers measure that in pixels of the page; here it is as where such a pixel is a unit of the drawing.
    """
    style, box = declarations(root.get("style", "")), box_of(root.attrib)
    stated = stated_by(root)
    taken = {name: stated[name] for name in _OF_A_BOX if name in stated}
    if box is None or _NOTHING.issuperset(taken.values()):
        return
    kept = root.attrib | {
        "style": ";".join(one.text for one in style if one.name.removeprefix("-webkit-") not in taken)
    }
    root.attrib = {name: value for name, value in kept.items() if value and name not in taken}
    ground = taken.pop("background-color", taken.pop("background", "none"))
    if turned := _UNITS.sub("", taken.pop("transform", "")):
        x, y = box.left + box.width / 2, box.top + box.height / 2
        taken["transform"] = f"translate({x:g} {y:g}) {turned} translate({-x:g} {-y:g})"
    sides = dict(zip(("x", "y", "width", "height"), map("{:g}".format, box), strict=True))
    tag, inside = root.tag.removesuffix("svg"), [*root]
    root[:] = [Element(f"{tag}g", taken)]
    # The first makes the group as large as the box, which is what shares of it are measured by.
    root[0].extend([Element(f"{tag}rect", sides, fill="none", stroke="none", style=f"fill:{ground}"), *inside])


_PLACES = {"left": "0%", "top": "0%", "center": "50%", "right": "100%", "bottom": "100%"}


def _turn(element: Element, stated: Mapping[str, str], box: Box) -> None:
    """Turn an element about the point of the canvas that it states, in pixels or shares: librsvg takes 0 0."""
    try:
        turned, *places = stated["transform"], *stated["transform-origin"].split(), "center"
        x, y = (
            float(place[:-1]) * side / 100 if place.endswith("%") else float(place.removesuffix("px"))
            for place, side in zip((_PLACES.get(place, place) for place in places), box[2:], strict=False)
        )
    except (KeyError, ValueError):  # it states none, or in other units
        return
    if turned == element.get("transform"):
        element.set("transform", f"translate({x:g} {y:g}) {turned} translate({-x:g} {-y:g})")
    else:
        around = f"transform:translate({x:g}px,{y:g}px) {turned} translate({-x:g}px,{-y:g}px)"
        element.set("style", f"{element.get('style', '')};{around}")


XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_MOST_COPIED = 2000
"""Elements that copies may have."""


def _copy_uses(root: Element) -> None:
    """Put copies in the places of `use`, since variables of these places reach into what is drawn there."""
    by_id, room = {one.get("id"): one for one in root.iter()}, _MOST_COPIED
    tag = root.tag.removesuffix("svg")
    pending: list[tuple[Element, tuple[str, ...]]] = [(use, ()) for use in root.iter(f"{tag}use")]
    for use, above in pending:
        address = unquote(use.get("href", use.get(XLINK_HREF, "")).removeprefix("#"))
        if address not in by_id or address in above or room < 0:
            continue
        copied = deepcopy(by_id[address])
        room -= sum(1 for _ in copied.iter())
        if copied.tag == f"{tag}symbol":
            copied.tag = f"{tag}svg"
            copied.attrib.update({side: use.attrib[side] for side in ("width", "height") if side in use.attrib})
        place = f"{use.get('transform', '')} translate({use.get('x', 0)} {use.get('y', 0)})"
        use.tag, use.attrib["transform"] = f"{tag}g", _UNITS.sub("", place)
        use.append(copied)
        pending += [(one, (*above, address)) for one in copied.iter(f"{tag}use")]


def written_out(document: bytes) -> bytes:
    """Write an SVG's styles out; what is no XML stays as it is, since librsvg says why.

    Raises:
        RenderError: its elements are nested too deep.
    """
    try:
        root = ElementTree.fromstring(document)
    except (ElementTree.ParseError, LookupError, ValueError):
        return document
    group_root(root)
    if b"var(" in document:
        _copy_uses(root)
    sheets = root.findall(".//{*}style")
    rules = [rule for sheet in sheets if _holds(sheet.get("media", "")) for rule in _rules("".join(sheet.itertext()))]
    scopes = _write_elements(root, rules)
    few = scopes[:1] if len(scopes) * len(rules) > _MOST_RULES else scopes
    for sheet in sheets:
        sheet.text = "".join(
            f"{','.join(selector + only for selector in selectors)}{{{_written(own, scope)}}}"
            for scope, only in few
            for selectors, own in (rules if sheet is sheets[0] else ())
        )
    return ElementTree.tostring(root)


def _rules(sheet: str | Sequence[Any]) -> Iterator[Rule]:
    """Take the rules that hold on a light screen out of their conditions."""
    for node in tinycss2.parse_rule_list(sheet, skip_comments=True, skip_whitespace=True):
        content, before = getattr(node, "content", None) or (), tinycss2.serialize(getattr(node, "prelude", ()))
        if node.type == "qualified-rule":
            yield selectors_of(before), declarations(content)
        elif content and _holds({"supports": before, "layer": "", "media": before}.get(node.lower_at_keyword, "print")):
            yield from _rules(content)


def selectors_of(prelude: str) -> list[str]:
    """The selectors of a rule, each with what `:is()` lets it choose from written out."""
    return list(islice(_spelt_out(prelude), _MOST_SPELLINGS))


def _spelt_out(prelude: str) -> Iterator[str]:
    for one in _ARGUMENT.findall(prelude):
        choice = _ANY_OF.search(one)
        if choice is None:
            yield one.strip()
            continue
        for part in _ARGUMENT.findall(choice[1]):
            yield from _spelt_out(f"{one[: choice.start()]}{part.strip()}{one[choice.end() :]}")


def _holds(media: str) -> bool:
    """Whether one of some media queries is true of a light screen as large as an icon."""
    known = _SIDE.sub(lambda one: "screen" if (float(one[2]) > _SEEN_AT) == (one[1] == "max") else "print", media)
    return any((_NO_LIGHT_SCREEN.search(query) is None) != ("not" in query.split()[:1]) for query in known.split(","))


def _write_elements(root: Element, rules: Sequence[Rule]) -> list[tuple[Mapping[str, str], str]]:
    """Write the attributes of all elements out.

    Returns what variables are worth in places of the file, and how a selector is confined to the elements of each.
    """
    declared = [
        (one.is_important, weight(selector), selector, one)
        for selectors, own in rules
        for one in own
        if one.name.startswith((*_INHERITED, "transform"))
        for selector in selectors
    ]
    declared.sort(key=lambda one: one[:2])
    scopes: dict[tuple[tuple[str, str], ...], int] = {}
    box = box_of(root.attrib) or Box(0, 0, 0, 0)
    pending: list[tuple[Element, tuple[set[str], ...], Mapping[str, str]]] = [(root, (), {"color": "black"})]
    while pending:
        element, above, inherited = pending.pop()
        path, inline = (*above, names_of(element, is_root=not above)), declarations(element.get("style", ""))
        values = {**inherited, "color": element.get("color", inherited["color"])}
        own = [one for *_, selector, one in declared if selects(selector, path)] + inline
        values.update((one.name, one.value) for one in own if one.name.startswith(_INHERITED))
        scope = {name: _value(value, values) for name, value in values.items()}
        _end_animations(element)
        for name, value in element.items():
            element.set(name, _written(inline, scope) if name == "style" else _value(value, scope))
        _turn(element, {**element.attrib, **{one.name: _value(one.value, scope) for one in own}}, box)
        element.set("data-scope", str(scopes.setdefault(tuple(sorted(scope.items())), len(scopes))))
        if len(path) > _DEEPEST:
            raise RenderError(f"svg: elements nested more than {_DEEPEST} deep")
        pending += [(child, path, scope) for child in element]
    return [(dict(scope), f'[data-scope="{n}"]' if len(scopes) > 1 else "") for scope, n in scopes.items()]


_INHERITED = ("--", "color")
"""Beginnings of the properties that values may stand for."""


def names_of(element: Element, *, is_root: bool) -> set[str]:
    """What plain selectors may call an element."""
    names = ("*", element.tag.rpartition("}")[2], f"#{element.get('id')}", *((":root",) if is_root else ()))
    return {*names, *(f".{name}" for name in element.get("class", "").split())}


@functools.lru_cache(4096)
def _parts(selector: str) -> Sequence[tuple[bool, frozenset[str]]]:
    """Of each part of a selector whether it is a child of the one before, and its names."""
    parts = selector.replace(">", " >").replace("> ", ">")
    return [(part[0] == ">", frozenset(_NAME.findall(part.lstrip(">")))) for part in parts.split()]


def weight(selector: str) -> tuple[int, int, int]:
    """How much a selector counts: its ids, its classes and their like, its names of elements."""
    names = [name for _, names in _parts(selector) for name in names]
    return selector.count("#"), len(re.findall(r"[.:\[]", selector)), sum(name[0].isalpha() for name in names)


def selects(selector: str, path: Sequence[set[str]]) -> bool:
    """Whether a selector chooses the last element of a path from the root."""
    places = {-1}
    if not _parts(selector) or not _parts(selector)[-1][1] <= path[-1]:
        return False
    for is_child, names in _parts(selector):
        first = min(places, default=len(path))
        places = {at for at, own in enumerate(path) if names <= own and (at - 1 in places if is_child else at > first)}
    return len(path) - 1 in places


def _end_animations(element: Element) -> None:
    """Set attributes to what animations leave them at: the last that begins by itself, else the last of all."""
    ends = [one for one in element if one.get("fill") == "freeze" and one.get("additive") != "sum"]
    for one in sorted(ends, key=lambda one: _AT_ONCE.fullmatch(one.get("begin", "0")) is not None):
        element.set(one.get("attributeName", ""), one.get("to") or one.get("values", "").split(";")[-1].strip())


def most_seen(document: bytes) -> bytes:
    """Set what moves to where most is seen, for a picture that is empty at first: its largest numbers."""
    root = ElementTree.fromstring(document)
    for element in root.iter():
        for one in element:
            values = [one.get("from", ""), one.get("to", ""), *one.get("values", "").split(";")]
            numbers = [value.strip() for value in values if _NUMBER.fullmatch(value.strip())]
            if one.tag.endswith("}animateTransform"):
                element.attrib.pop("transform", None)
            elif numbers and "animate" in one.tag:
                element.set(one.get("attributeName", ""), max(numbers, key=float))
    return ElementTree.tostring(root)


def _written(declared: Iterable[Declaration], scope: Mapping[str, str]) -> str:
    return "".join(
        f"{one.name}:{_value(one.value, scope)}{' !important' * one.is_important};"
        for one in declared
        if not one.name.startswith("--")
    )


def _value(value: str, scope: Mapping[str, str]) -> str:
    """Put variables into a value, ids as they are spelt, and colours that librsvg knows."""

    def worth(found: re.Match[str]) -> str:
        known = scope.get(found[1], _MISSING)
        return known if known != _MISSING or found[2] is None else found[2].strip()

    filled = value
    for _ in range(_DEEPEST):
        filled, n = _VARIABLE.subn(worth, filled, count=100)
        if not n:
            filled = _CALC.sub(_computed, filled)
            filled = _REFERENCE.sub(lambda one: f"url('#{unquote(one[1])}')" if one[1] else unquote(one[0]), filled)
            return _COLOUR.sub(lambda found: _plain_colour(found[0], scope["color"]), filled)
        if len(filled) > _LONGEST + len(value):
            break
    return _MISSING


def _computed(calc: re.Match[str]) -> str:
    """What a calc() of numbers and pixels comes to; itself where it comes to nothing."""
    text = _BRACKETS.sub(r"\1", re.sub("px|calc", "", calc[0], flags=re.IGNORECASE))
    try:
        while found := _PRODUCT.search(text) or _SUM.search(text):
            worth = _OPERATORS[found[2]](float(found[1]), float(found[3]))
            text = _BRACKETS.sub(r"\1", f"{text[: found.start()]}{worth:.6g}{text[found.end() :]}")
    except (ZeroDivisionError, OverflowError):
        return calc[0]
    return text if re.fullmatch(_FIGURE, text) else calc[0]


def _plain_colour(colour: str, ink: str) -> str:
    """Spell a colour as librsvg knows it; `ink` is what `currentColor` is."""
    try:
        *channels, alpha = _rgba(colour, ink)
    except (ValueError, TypeError, LookupError, AttributeError):  # none, or one that tinycss2 does not know
        return colour
    return f"rgba({','.join(f'{channel:.0f}' for channel in channels)},{alpha:.4f})"


def _rgba(colour: str, ink: str) -> Sequence[float]:
    """Red, green and blue, 0 to 255, and alpha, 0 to 1; raises what `_plain_colour` knows where it is no colour."""
    name, _, inside = colour.strip().lower().partition("(")
    parts = _ARGUMENT.findall(inside.removesuffix(")"))
    if name == "light-dark":
        return _rgba(parts[0], ink)
    if relative := _RELATIVE.fullmatch(inside.removesuffix(")")):
        *channels, alpha = _rgba(relative[1], ink)
        space = _SPACES["srgb" if name.startswith("rgb") else name][0]
        spot = libvips().Image.black(1, 1, bands=3).linear(1, channels).copy(interpretation="srgb")
        worth = dict(
            zip((*name.removesuffix("a")[-3:], "alpha"), (*spot.colourspace(space).getpoint(0, 0), alpha), strict=True)
        )
        plain = re.sub("[a-z]+", lambda one: f"{worth[one[0]]:.6f}" if one[0] in worth else one[0], relative[2])
        return _rgba(f"{name}({_CALC.sub(_computed, plain)}{'' if '/' in relative[2] else f' / {alpha}'})", ink)
    if name == "color-mix":
        one, other = (
            float(share[1] or share[2]) / 100 if (share := _SHARE.search(part)) else None for part in parts[1:]
        )
        first = one if one is not None else 1 - (0.5 if other is None else other)
        shares = np.array([first, 1 - first if other is None else other])
        mixed = np.array([_rgba(_SHARE.sub("", part), ink) for part in parts[1:]])
        weights = shares * mixed[:, 3]
        return [*weights @ mixed[:, :3] / max(weights.sum(), 1e-9), weights.sum() / max(1, shares.sum())]
    parsed: Any = color5.parse_color(colour)
    if parsed == "currentcolor":
        return _rgba(ink, "black")
    parsed = parsed.to("srgb") if parsed.space in ("hsl", "hwb") else parsed
    space, scale = _SPACES[parsed.space]
    spot = libvips().Image.black(1, 1, bands=3).linear(1, [scale * (channel or 0) for channel in parsed.coordinates])
    return [*np.clip(spot.copy(interpretation=space).colourspace("srgb").getpoint(0, 0), 0, 255), parsed.alpha]
