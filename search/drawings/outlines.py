"""The outline of an icon, as a font holds it: found in a process that may die.

picosvg (Apache 2.0) turns an SVG into filled paths; skia-pathops (BSD) makes one of them. Whoever drew the icon could
make that take for ever: it happens in a worker that may hang or die.
"""

import json
from dataclasses import dataclass, replace
from typing import Self

from indexer.errors import RenderError
from indexer.rendering.draw_pool import DrawPool, work
from search.drawings.chosen import Drawing, whole_svg

_SECONDS = 5.0
_WIDEST = 16
"""Times its height; a glyph's coordinates have 16 bits."""
_XLINK = "http://www.w3.org/1999/xlink"
_NOT_DRAWN = frozenset(("title", "desc", "metadata", "animate", "animateTransform", "animateMotion", "set"))
_NOT_IN_A_FONT = frozenset(("mask", "filter", "pattern", "text", "image", "foreignObject", "style"))
_OPEN = frozenset(("currentcolor", "black", "#000", "#000000", "rgb(0,0,0)"))
"""Colours that an icon of one colour has: it is drawn in that of the text."""


@dataclass(frozen=True, slots=True)
class Outline:
    """An icon as one shape, in units of its own box, y downwards."""

    path: str
    """As SVG writes it: M, L, Q, C and Z, absolute."""
    colour: str | None
    """Its own, which a font does not keep; None where it leaves that open."""


class Outliner(DrawPool):
    """Finds outlines in a worker process; a context manager."""

    program = "from search.drawings.outlines import be_worker; be_worker()"

    def __init__(self) -> None:
        super().__init__(workers=1, seconds=_SECONDS)

    def __enter__(self) -> Self:
        return self

    def outline(self, drawing: Drawing) -> Outline:
        """Find the outline of an icon.

        Raises:
            RenderError: it has several colours, is partly transparent, empty, or holds what no font can.
        """
        found = sorted({element.tag for top in drawing.body for element in top.iter()} & _NOT_IN_A_FONT)
        if found:
            raise RenderError(f"has a <{found[0]}>, which no outline of a font can be")
        if drawing.box.width > _WIDEST * drawing.box.height:
            raise RenderError(f"is more than {_WIDEST} times as wide as high")
        answer = json.loads(self.ask(whole_svg(_still(drawing))))
        paints = {"currentcolor" if paint in _OPEN else paint for paint in answer["paints"]}
        if not answer["path"]:
            raise RenderError("nothing of it is painted")
        if answer["is_transparent"]:
            raise RenderError("is transparent in places; a font has one colour")
        if len(paints) > 1 or any(paint.startswith("url(") for paint in paints):
            kind = "a gradient" if len(paints) == 1 else f"{len(paints)} colours"
            raise RenderError(f"has {kind}; a font has one colour")
        [paint] = paints
        return Outline(answer["path"], None if paint == "currentcolor" else paint)


def _still(drawing: Drawing) -> Drawing:
    """Take off what is not drawn, and what moves; links as picosvg reads them."""
    body = [element for element in drawing.body if element.tag not in _NOT_DRAWN]
    for element in (one for top in body for one in top.iter()):
        for child in [child for child in element if child.tag in _NOT_DRAWN]:
            element.remove(child)
        if "href" in element.attrib:
            element.set("xlink:href", element.attrib.pop("href"))
    return replace(drawing, attributes={"xmlns:xlink": _XLINK, **drawing.attributes}, body=body, sides=None)


def be_worker() -> None:
    """Be a worker of an `Outliner`."""
    from search.drawings.flattening import flattened

    work(flattened)
