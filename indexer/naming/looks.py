"""Which words of a name state how an icon looks? Styles, spelled one way, and sizes in pixels."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from indexer.naming.words import UNITS, Tokens, split

STYLES: dict[str, str | None] = {
    **dict.fromkeys(("filled", "fill", "solid"), "filled"),
    **dict.fromkeys(("outline", "outlined", "line", "stroke"), "outline"),
    **dict.fromkeys(("rounded", "round"), "rounded"),
    **dict.fromkeys(("duotone", "duo"), "duotone"),
    **dict.fromkeys(("color", "colored", "colors", "colour", "coloured", "colours"), "color"),
    **dict.fromkeys(("regular", "baseline", "normal"), None),
    **{word: word for word in ("sharp", "twotone", "thin", "light", "medium", "bold", "dark", "linear", "flat")},
    **{word: word for word in ("broken", "remix", "block", "print", "mono", "background", "1x1", "4x3")},
}
"""Style words and what they are called here; None is the ordinary look of a set, which needs no name."""
LOOKS = ("outline", "filled", "duotone", "color")
"""Every picture has one of these, whether anybody says so or not; all other styles stand beside it."""
CORNERS = ("rounded", "sharp")
_LOOK_OF = {**{look: look for look in LOOKS}, "twotone": "duotone", "linear": "outline"}
_STRONGEST = ("duotone", "color", "filled", "outline")
"""Of two looks that are stated, the first here is what is seen: a duotone outline is a duotone."""
_ASKED: dict[str, str | None] = {**STYLES, "twotone": "duotone", "regular": "outline"}
CERTAIN = frozenset(("filled", "outline", "outlined", "duotone", "twotone"))
CERTAIN_ALONE = CERTAIN | {"rounded"}
"""In a set that has no `rounded` look, `square-rounded` is a shape; of a single name more is not known."""
_ORDER = ("sharp", "rounded", "flat", "color", "mono", "dark", "light", "thin", "medium", "bold", "linear", "broken")
_LAST = ("duotone", "twotone", "filled", "outline")
_RANK = {style: rank for rank, style in enumerate((*_ORDER, *_LAST), start=1)}
FILLERS = frozenset(("icon", "icons", "ico", "icn", "img", "svg", "glyph", "mdi"))
_SCALE = re.compile(r"@[0-9.]+x$", re.IGNORECASE)
_SQUARE = re.compile(r"([0-9]{1,4})x\1")


@lru_cache(maxsize=1024)
def canonical_style(text: str | None) -> tuple[str | None, int | None]:
    """Read a style in a source's own words, and the size in it: "24 Filled" -> ("filled", 24)."""
    tokens = [token for token in tokens_of(text or "") if token not in UNITS]
    sizes = [size for token in tokens if (size := as_size(token))]
    styles = [STYLES.get(token, token) for token in tokens if as_size(token) is None]
    return join_styles(styles), (sizes[-1] if sizes else None)


def stated_look(styles: str | None) -> str | None:
    """Find the look among styles that are stated: "sharp twotone" -> "duotone"."""
    stated = {_LOOK_OF.get(style) for style in (styles or "").split()}
    return next((look for look in _STRONGEST if look in stated), None)


def with_look(styles: str | None, look: str | None) -> str | None:
    """Write styles with the look that they state, or that was seen: ("sharp twotone", "duotone") -> "sharp duotone"."""
    others = [style for style in (styles or "").split() if style != "twotone"]
    return join_styles([*others, look])


@lru_cache(maxsize=1024)
def asked_style(text: str) -> str:
    """Read styles as a person asks for them, whose "regular" is an outline: "Sharp solid" -> "sharp filled"."""
    tokens = tokens_of(text.lower().replace("-", " "))
    styles = [_ASKED.get(token, token) for token in tokens]
    is_flat_colour = "flat" in styles and "color" in styles
    return join_styles(style for style in styles if not (is_flat_colour and style == "flat")) or ""


def path_hints(parts: Sequence[str]) -> tuple[str | None, int | None]:
    """Read style and size off folder names that say nothing else: ("24px", "filled") -> ("filled", 24)."""
    telling = [part for part in parts if all(map(_is_look, tokens_of(part)))]
    return canonical_style(" ".join(token for part in telling for token in tokens_of(part) if token not in FILLERS))


@lru_cache(maxsize=1 << 16)
def tokens_of(name: str) -> Tokens:
    """Cut a name into tokens: no @2x, two-tone as one, 24x24 as 24. Remembered, since a set is looked at twice."""
    tokens = tuple(split(_SCALE.sub("", name) if "@" in name else name))
    if "tone" in tokens:
        joined = " ".join(tokens).replace("two tone", "twotone").replace("duo tone", "duotone")
        tokens = tuple(joined.split(" "))
    if "x" in name and _SQUARE.search(name):
        tokens = tuple(
            match[1] if (match := _SQUARE.fullmatch(token)) and as_size(match[1]) else token for token in tokens
        )
    return tokens


def as_size(token: str) -> int | None:
    """Read a token as a size in pixels, if it is a number that icons are drawn at."""
    is_number = len(token) <= 4 and token.isascii() and token.isdigit()
    return int(token) if is_number and 8 <= int(token) <= 1024 else None


def look_length(row: Tokens) -> int:
    """Count the tokens from the front that can be styles and sizes; at least one token is left over."""
    length = 0
    while length < len(row) - 1 and (row[length] in STYLES or row[length] in UNITS or row[length].isdigit()):
        length += 1
    return length


def join_styles(styles: Iterable[str | None]) -> str | None:
    """Write several styles as one, each once, in a fixed order."""
    distinct = dict.fromkeys(style for style in styles if style)
    if len(distinct) < 2:
        return next(iter(distinct), None)
    return " ".join(sorted(distinct, key=lambda style: _RANK.get(style, 0)))


@lru_cache
def words_for(styles: str | None) -> frozenset[str]:
    """List the words that spell one of these styles."""
    wanted = (styles or "").split()
    return frozenset(word for word, style in STYLES.items() if style in wanted)


def _is_look(token: str) -> bool:
    return token in STYLES or token in UNITS or token in FILLERS or as_size(token) is not None
