"""Is an icon called as code calls it? "mdi:home", "i-lucide-bell", "fa-solid fa-user", "<BellIcon/>", "home.svg".

What a set is called in code is told by `set_names`; here are the ways to write a set and a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from search.words.set_names import IN_CODE, Meant, SetNames

_ATTRIBUTE = re.compile(r"""\b(?:class|className|icon|name)\s*=\s*["'{`]+([^"'`}]+)""")
_ELEMENT = re.compile(r"<\s*/?\s*([A-Za-z][\w.-]*)")
_FILE = re.compile(r"(?:.*[/\\])?([^/\\]+?)\.(?:svg|png|webp|gif|ico|jsx?|tsx?|vue|svelte)", re.IGNORECASE)
_UTILITY = re.compile(r"icon-\[(.*)\]|i-(?=[\w-]+:)(.*)")
_QUALIFIED = re.compile(r"@?([a-z][\w-]*?)(?::|/|--)([a-z0-9][\w-]*)", re.IGNORECASE)
_CLASSES = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?: [a-z0-9]+(?:-[a-z0-9]+)*)*")
_COMPONENT = re.compile(r"(?:Icon)?([A-Z][A-Za-z0-9]*?)(?:Icon)?")
_REACT = re.compile(r"([A-Z][a-z]{1,2})[0-9]?([A-Z][a-z0-9].*)")
"""A component of react-icons: two or three letters for the set, then the name."""


@dataclass(frozen=True, slots=True)
class Code:
    """A name in code."""

    name: str
    """As it is written there."""
    sets: Meant = ()
    """Sets that are meant; none where the code tells no set of this library."""
    is_certain: bool = True
    """Whether it can be nothing but code: "mdi-home" could be two words."""


def read_code(text: str, sets: SetNames) -> Code | None:
    """Read a text as code; None where it is none."""
    text = text.strip()
    if text.startswith("<"):
        return _of_element(text, sets)
    if match := _FILE.fullmatch(text):
        return Code(match[1])
    return _of_qualified(text, sets) or _of_classes(text, sets) or _of_component(text, sets)


def _of_element(text: str, sets: SetNames) -> Code | None:
    for value in _ATTRIBUTE.findall(text):
        if found := _of_qualified(value.strip(), sets) or _of_classes(value.strip(), sets):
            return found
    match = _ELEMENT.match(text)
    return (_of_component(match[1], sets) or Code(match[1])) if match else None


def _of_qualified(text: str, sets: SetNames) -> Code | None:
    """A set's key and a name: mdi:home, i-mdi:home, mdi/home, icon-[mdi--home]."""
    match = _QUALIFIED.fullmatch(_UTILITY.sub(lambda utility: utility[1] or utility[2], text))
    meant = sets.with_key(match[1]) if match else None
    return Code(match[2], meant) if match and meant is not None else None


def _of_classes(text: str, sets: SetNames) -> Code | None:
    """Classes of CSS, of which the last says the name: "fa-solid fa-user", "bi bi-alarm", "i-lucide-bell"."""
    if not _CLASSES.fullmatch(text):
        return None
    *before, last = text.split()
    narrower = [meant for word in before if (meant := sets.in_code(word)) is not None]
    if before and not narrower:
        return None
    if before and before[-1] in IN_CODE and "-" in before[-1] and "-" not in last:
        return Code(last, narrower[-1])  # a font whose letters are names: "material-icons home"
    for prefix, name in _cuts(last.removeprefix("i-")):
        if (meant := sets.in_code(prefix)) is not None:
            both = tuple(code for code in meant if not narrower or code in narrower[0])
            return Code(name, both or meant, is_certain=bool(before) or last.startswith("i-"))
    return None


def _of_component(text: str, sets: SetNames) -> Code | None:
    """A component: BellIcon, IconBell, LuBell."""
    if (match := _REACT.fullmatch(text)) and (meant := sets.in_code(match[1])) is not None:
        return Code(match[2], meant)
    match = _COMPONENT.fullmatch(text)
    return Code(match[1]) if match and match[1] != text else None


def _cuts(text: str) -> Iterator[tuple[str, str]]:
    """Cut at each hyphen, the longest beginning first: a set's key may have some."""
    for place in reversed([place for place, sign in enumerate(text) if sign == "-"]):
        yield text[:place], text[place + 1 :]
