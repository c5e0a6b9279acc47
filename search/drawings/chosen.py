"""The icons of a collection as drawings: read from their sources, clean, ready for another document."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from indexer.errors import ExportError, IconsError, RenderError, SourceError, UnknownIconError
from search.drawings.apart import set_apart
from search.drawings.clean import SVG, clean_tree
from search.drawings.collection import plain_name, unique
from search.drawings.drawn import Look, named_icon
from search.drawings.markup import XML, written
from search.results import Hit

if TYPE_CHECKING:
    from indexer.reports.terminal import Progress
    from search.engine import SearchEngine

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """One icon that is to be exported."""

    key: str
    """As the collection names it."""
    name: str
    """Letters, digits and hyphens, as no other icon of the export has it: "lucide-bell"."""
    hit: Hit
    content: bytes
    """Its picture, as the source holds it; an SVG as unpacked text."""
    is_svg: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An icon that is not in an export."""

    key: str
    reason: str


def read_chosen(
    engine: "SearchEngine", keys: Sequence[str], progress: "Progress"
) -> tuple[list[Chosen], list[LeftOut], list[str]]:
    """Read icons, in the order of their keys; and those that can't be read, with the reason, and remarks.

    Keys that lead to one icon give it once, under the first of them, with a remark.
    """
    ids, left_out, remarks = _find(engine, keys, progress)
    hits = dict(zip(ids, engine.hits(list(ids)), strict=True))
    contents: dict[int, tuple[bytes, bool]] = {}
    # Icons of one file beside each other: it is opened once.
    for n, icon in enumerate(sorted(hits, key=lambda icon: hits[icon].path), start=1):
        progress("reading icons", n, len(hits))
        try:
            contents[icon] = _as_text(engine.picture(icon))
        except (SourceError, RenderError) as error:
            left_out.append(LeftOut(ids[icon], str(error)))
        except UnknownIconError as error:
            left_out.append(LeftOut(ids[icon], f"{error}; the library has changed meanwhile"))
    kept = {icon: hit for icon, hit in hits.items() if icon in contents}
    names = unique([plain_name(f"{hit.set} {hit.name}") for hit in kept.values()])
    chosen = [
        Chosen(ids[icon], name, hit, *contents[icon]) for (icon, hit), name in zip(kept.items(), names, strict=True)
    ]
    order = {key: number for number, key in enumerate(keys)}
    return chosen, sorted(left_out, key=lambda one: order[one.key]), remarks


def _find(
    engine: "SearchEngine", keys: Sequence[str], progress: "Progress"
) -> tuple[dict[int, str], list[LeftOut], list[str]]:
    """Ids of icons, and the first key that leads to each."""
    ids: dict[int, str] = {}
    left_out, remarks = [], []
    for n, key in enumerate(keys, start=1):
        progress("finding icons", n, len(keys))
        try:
            icon = engine.find(key)
        except UnknownIconError as error:
            left_out.append(LeftOut(key, str(error)))
        else:
            if icon in ids:
                remarks.append(f'"{key}" is "{ids[icon]}", which is there already: it stands there once')
            ids.setdefault(icon, key)
    return ids, left_out, remarks


def _as_text(content: bytes) -> tuple[bytes, bool]:
    from indexer.rendering.render import svg_document

    document = svg_document(content)
    return (content, False) if document is None else (document, True)


def keys_of(left_out: Sequence[LeftOut]) -> str:
    """Name the first few."""
    named = ", ".join(one.key for one in left_out[:_SHOWN])
    return f"{named} and {len(left_out) - _SHOWN:,} more" if len(left_out) > _SHOWN else named


def refuse_left_out(left_out: Sequence[LeftOut]) -> None:
    """Refuse an export that would lack icons.

    Raises:
        ExportError: it would; the message names the first three and why.
    """
    if left_out:
        named = "; ".join(f'"{one.key}": {one.reason}' for one in left_out[:_SHOWN])
        more = f"; and {len(left_out) - _SHOWN:,} more" if len(left_out) > _SHOWN else ""
        count = "an icon" if len(left_out) == 1 else f"{len(left_out):,} icons"
        raise ExportError(f"{count} can't be exported so, --skip-unreadable leaves out: {named}{more}")


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LENGTH = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:px)?\s*")
_OF_DOCUMENT = frozenset(("xmlns", "viewBox", "width", "height", "x", "y", "version", "baseProfile", "id"))
"""Attributes of a root that say nothing of its shapes."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where an icon lies in its own coordinates."""

    left: float
    top: float
    width: float
    height: float

    def __str__(self) -> str:
        return " ".join(map(spell, (self.left, self.top, self.width, self.height)))


@dataclass(frozen=True, slots=True)
class Drawing:
    """One icon, cleaned and taken apart. Its ids begin with its name, so that no other icon of an export has them."""

    icon: Chosen
    box: Box
    attributes: dict[str, str]
    """Of its root, which hold for all of it: fill, stroke-width, preserveAspectRatio."""
    body: list[Element]
    sides: tuple[str, str] | None
    """Width and height, where its root states them."""


def drawings(icons: Iterable[Chosen], look: Look, *, shared: bool) -> tuple[list[Drawing], list[LeftOut]]:
    """Take icons apart; those that are no SVG, or a broken one, are left out with the reason.

    `shared`: they will stand in one document, where a style sheet of one would hold for all.
    """
    drawn, left_out = [], []
    for icon in icons:
        try:
            drawn.append(_take_apart(icon, look, shared=shared))
        except IconsError as error:
            left_out.append(LeftOut(icon.key, str(error)))
    return drawn, left_out


def _take_apart(icon: Chosen, look: Look, *, shared: bool) -> Drawing:
    if not icon.is_svg:
        raise IconsError(f'it is a bitmap ("{icon.hit.path}"); only --as zip takes it')
    root = clean_tree(named_icon(icon.hit, icon.content), look)
    set_apart(root, name=f"{icon.name}_")  # no name of an icon holds this sign, so none is another one's id
    has_sheet = any(element.tag == "style" for element in root.iter())
    if shared and has_sheet:
        raise IconsError("its style sheet has rules for more than plain classes; only --as zip takes it")
    if not has_sheet:
        for element in root.iter():
            element.attrib.pop("class", None)  # a page's own rules might be for it
    sides = (root.get("width", ""), root.get("height", ""))
    attributes = {name: value for name, value in root.items() if name not in _OF_DOCUMENT}
    return Drawing(icon, _box(root.attrib), attributes, list(root), sides if all(sides) else None)


def _box(attributes: Mapping[str, str]) -> Box:
    stated = [_NUMBER.fullmatch(part) for part in re.split(r"[\s,]+", attributes.get("viewBox", "").strip())]
    numbers = [float(one[0]) for one in stated if one]
    if len(numbers) != 4 or len(stated) != 4:
        sides = [_LENGTH.fullmatch(attributes.get(side, "")) for side in ("width", "height")]
        numbers = [0.0, 0.0, *(float(side[1]) for side in sides if side)]
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)) or min(numbers[2:]) <= 0:
        raise RenderError("svg: states neither a viewBox nor width and height")
    return Box(*numbers)


def spell(number: float) -> str:
    """Spell a number as short as it is exact."""
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def markup(elements: list[Element]) -> str:
    """Spell elements as XML."""
    return "".join(written(element, XML) for element in elements)


def spelled(attributes: Mapping[str, str]) -> str:
    """Spell attributes as XML, each with a space before it."""
    return "".join(f" {XML.attribute(name, value)}" for name, value in attributes.items())


def whole_svg(drawing: Drawing) -> bytes:
    """Spell a drawing as a document of its own."""
    width, height = drawing.sides or (spell(drawing.box.width), spell(drawing.box.height))
    root = Element("svg", {"xmlns": SVG, "width": width, "height": height, "viewBox": str(drawing.box)})
    root.attrib.update(drawing.attributes)
    root.extend(drawing.body)
    return written(root, XML).encode() + b"\n"
