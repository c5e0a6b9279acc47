"""How are icons one SVG whose parts a page shows by name? As a sprite: a `<symbol>` each, with an example beside it."""

from collections.abc import Sequence

from search.exporting.drawing import markup, spelled
from search.exporting.drawn import Drawn
from search.exporting.gallery import gallery

SPRITE, EXAMPLE = "sprite.svg", "example.html"
_OF_WHOLE = frozenset(("opacity", "filter", "mask", "clip-path", "transform", "style", "class"))
"""Attributes that a symbol does not take as a root does: these go to a group inside it."""


def sprite_files(drawn: Sequence[Drawn], *, title: str, notice: str) -> dict[str, bytes]:
    """Write the sprite, and a page that shows it; `notice` tells in the sprite whose icons these are."""
    symbols = "\n".join(map(_symbol, drawn))
    comment = f"<!--\n{_in_comment(notice)}\n-->"
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0" style="position:absolute" aria-hidden="true">'
    sprite = f"{head}\n{comment}\n{symbols}\n</svg>\n"
    # The page holds the sprite itself: opened from a disk, a browser takes no other file's symbols.
    page = gallery(title, use=use_line(drawn), tiles=[_tile(one.icon.name) for one in drawn], sprite=sprite)
    return {SPRITE: sprite.encode(), EXAMPLE: page}


def use_line(drawn: Sequence[Drawn]) -> str:
    """How a page shows the first icon of a sprite."""
    return f'<svg width="24" height="24"><use href="{SPRITE}#{drawn[0].icon.name}"/></svg>'


def _symbol(one: Drawn) -> str:
    attributes = one.drawing.attributes
    inherited = {name: value for name, value in attributes.items() if name not in _OF_WHOLE}
    of_whole = {name: value for name, value in attributes.items() if name in _OF_WHOLE}
    body = markup(one.drawing.body)
    body = f"<g{spelled(of_whole)}>{body}</g>" if of_whole else body
    stated = {"id": one.icon.name, "viewBox": str(one.drawing.box), **inherited}
    return f"<symbol{spelled(stated)}>{body}</symbol>"


def _in_comment(text: str) -> str:
    return text.replace("--", "- -").rstrip("-")


def _tile(name: str) -> tuple[str, str, str]:
    return name, f'<svg class="tile" role="img" aria-label="{name}"><use href="#{name}"/></svg>', ""
