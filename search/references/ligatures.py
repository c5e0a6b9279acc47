"""Which icons do ligatures name? `<span class="material-icons">arrow_back</span>`: the font draws one for the word."""

import re
from collections.abc import Iterator

from search.references.named import Named, Unreadable

_ELEMENT = re.compile(
    r"<(i|span|mat-icon|md-icon)\b([^<>]{0,400}+)>\s*+(?:([a-z0-9]+(?>(?:_[a-z0-9]+)*))|(\{[^<>]{1,200}\}))\s*+</\1\s*+>"
)
_FONT = re.compile(r"\bmaterial-(icons|symbols)(?:-(outlined|rounded|round|sharp|two-tone))?\b")
_WITHOUT_CLASS = ("mat-icon", "md-icon")
"""Elements that are nothing but icons of this font."""
_OTHER_FONT = re.compile(r"\b(?:svgIcon|fontIcon|fontSet)\b")
_ICONS = {"outlined": "outline", "round": "round", "rounded": "round", "sharp": "sharp", "two-tone": "twotone"}


def ligatures_in(code: str) -> Iterator[Named | Unreadable]:
    """Words that Google's fonts draw as icons."""
    for found in _ELEMENT.finditer(code):
        element, attributes, word, computed = found.groups()
        font = _FONT.search(attributes)
        if font is None and (element not in _WITHOUT_CLASS or _OTHER_FONT.search(attributes)):
            continue
        if computed:
            yield Unreadable(*found.span(4), "ligature")
            continue
        is_symbols = font is not None and font[1] == "symbols"
        style = (font[2] or "") if font else ""
        (key, name), *others = _symbols(word, style) if is_symbols else _icons(word, style)
        yield Named(*found.span(3), key, name, "ligature", tuple(others))


def _icons(word: str, style: str) -> list[tuple[str, str]]:
    name = word.replace("_", "-")
    styled = ("ic", f"{_ICONS.get(style, 'baseline')}-{name}")
    return [styled, ("ic", f"baseline-{name}"), *_symbols(word, style)]


def _symbols(word: str, style: str) -> list[tuple[str, str]]:
    """The font draws outlines where it is told nothing else; Iconify has one icon where an outline is the same."""
    name = word.replace("_", "-")
    ends = {"rounded": "-rounded", "round": "-rounded", "sharp": "-sharp"}.get(style, "")
    return [("material-symbols", f"{name}{end}") for end in dict.fromkeys((f"-outline{ends}", ends, "-outline", ""))]


def ligature(name: str, *, like: str, text: str) -> str:
    """The word for an icon's name, as another is written: `text` is drawn as the icon `like`."""
    before, _, after = like.partition(text.replace("_", "-"))
    return name.removeprefix(before).removesuffix(after).replace("-", "_")
