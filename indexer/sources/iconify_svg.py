"""What does one icon of an Iconify set look like? Its name -> all its properties -> an SVG document.

Aliases are resolved and pictures turned and flipped as `@iconify/utils` does it (`getIconData`, `iconToSVG`), so that
an icon looks here as it does on a page.
"""

from typing import Any

from indexer.errors import SourceError
from indexer.sources.reading import as_object, shown

Json = dict[str, Any]

_BOX = {"left": 0, "top": 0, "width": 16, "height": 16}
_KEPT = (*_BOX, "body", "hidden")
_LONGEST_CHAIN = 100


def resolve_icon(icon_set: Json, name: str) -> tuple[Json, str]:
    """Follow an icon's parents to one that has a body; return all its properties, and that one's name.

    Raises:
        SourceError: a parent is missing, or an alias leads back to itself.
    """
    icons, aliases = icon_set["icons"], as_object(icon_set.get("aliases"))
    chain = [name]
    icon: Json = {}
    while True:
        here = chain[-1]
        found = icons.get(here, aliases.get(here))
        if not isinstance(found, dict):
            raise SourceError(
                f'alias of "{shown(here)}", which is not there' if len(chain) > 1 else f'no icon "{shown(here)}"'
            )
        icon = _merge(found, icon)
        if here in icons:
            return _merge(icon_set, icon), here
        parent = str(found.get("parent"))
        if parent in chain:
            raise SourceError(f"alias of itself: {' -> '.join(map(shown, (*chain, parent)))}")
        if len(chain) == _LONGEST_CHAIN:
            raise SourceError(f"alias over more than {_LONGEST_CHAIN} others")
        chain.append(parent)


def build_svg(icon: Json) -> bytes:
    """Wrap an icon's body in a whole SVG document, turned and flipped as the icon says.

    Raises:
        SourceError: it has no body, or a box without an area.
    """
    box = {key: icon.get(key, default) for key, default in _BOX.items()}
    body = icon.get("body")
    if not isinstance(body, str):
        raise SourceError("no body")
    if not all(_is_number(value) for value in box.values()) or box["width"] <= 0 or box["height"] <= 0:
        raise SourceError(f"no area: {' '.join(f'{key}={shown(repr(value))}' for key, value in box.items())}")
    if transform := _place(box, icon):
        body = f'<g transform="{transform}">{body}</g>'
    left, top, width, height = map(_spell, box.values())
    xlink = ' xmlns:xlink="http://www.w3.org/1999/xlink"' if "xlink:" in body else ""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg"{xlink} width="{width}" height="{height}" '
        f'viewBox="{left} {top} {width} {height}">{body}</svg>'
    )
    return svg.encode()


def _merge(parent: Json, child: Json) -> Json:
    """Lay a child's properties over its parent's; turns add up, and two flips are none."""
    merged = {key: own[key] for own in (parent, child) for key in _KEPT if key in own}
    for flip in ("hFlip", "vFlip"):
        if bool(parent.get(flip)) != bool(child.get(flip)):
            merged[flip] = True
    if turns := (_turns(parent) + _turns(child)) % 4:
        merged["rotate"] = turns
    return merged


def _turns(icon: Json) -> int:
    turns = icon.get("rotate") or 0
    return int(turns) if _is_number(turns) else 0


def _place(box: dict[str, Any], icon: Json) -> str:
    """Write an icon's turns and flips as an SVG transform, and bring its box to where that leaves it."""
    turns = _turns(icon)
    transforms = []
    if icon.get("hFlip") and icon.get("vFlip"):
        turns += 2
    elif icon.get("hFlip"):
        transforms = [f"translate({_spell(box['width'] + box['left'])} {_spell(-box['top'])})", "scale(-1 1)"]
        box["left"] = box["top"] = 0
    elif icon.get("vFlip"):
        transforms = [f"translate({_spell(-box['left'])} {_spell(box['height'] + box['top'])})", "scale(1 -1)"]
        box["left"] = box["top"] = 0
    x, y = box["width"] / 2 + box["left"], box["height"] / 2 + box["top"]
    centre = {1: (90, y, y), 2: (180, x, y), 3: (-90, x, x)}.get(turns % 4)
    if turns % 2:
        box["left"], box["top"] = box["top"], box["left"]
        box["width"], box["height"] = box["height"], box["width"]
    turn = [f"rotate({' '.join(map(_spell, centre))})"] if centre else []
    return " ".join((*turn, *transforms))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def _spell(number: float) -> str:
    return repr(int(number)) if number == int(number) else repr(number)
