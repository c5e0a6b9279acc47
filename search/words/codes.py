"""Icons and sets as code and people call them: "mdi:home", "<BellIcon />", "Font Awesome".

`SetNames` knows what a set is called; `read_code` the ways to write a set and a name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

IN_CLASSES = {
    "fa": "font awesome", "fas": "font awesome solid", "fa-solid": "font awesome solid", "far": "font awesome regular",
    "fa-regular": "font awesome regular", "fab": "font awesome brands", "fa-brands": "font awesome brands",
    "ti": "tabler", "la": "line awesome", "material-icons": "google material",
    "material-symbols-outlined": "material symbols", "material-symbols-rounded": "material symbols",
    "material-symbols-sharp": "material symbols",
}  # fmt: skip
"""What CSS classes of icon fonts are called where that is not a set's key: words of titles."""
IN_COMPONENTS = {
    "fa": "font awesome", "ti": "tabler", "tb": "tabler", "lu": "lucide", "md": "google material", "bs": "bootstrap",
    "hi": "heroicons", "io": "ionicons", "fi": "feather", "pi": "phosphor", "vsc": "codicons", "cg": "css gg",
    "ai": "ant design", "rx": "radix", "lia": "line awesome", "la": "line awesome", "fc": "flat color",
    "sl": "simple line", "oct": "octicons",
}  # fmt: skip
"""The same of components (react-icons): no class begins so, and words do, as "ai-robot"."""
WELL_KNOWN = frozenset((
    "ant-design", "bi", "bx", "bxl", "bxs", "carbon", "ci", "codicon", "dashicons", "eva", "feather", "fluent", "gg",
    "heroicons", "ic", "iconoir", "ion", "logos", "lucide", "material-symbols", "mdi", "octicon", "ph", "radix-icons",
    "ri", "simple-icons", "solar", "tabler", "uil", "vscode-icons",
))  # fmt: skip
"""Keys that code may tell although a library lacks the set, or calls it otherwise: lucide-static, @mdi/svg."""
_WORD = re.compile(r"[a-z0-9]+")
Meant = tuple[int, ...]
"""Codes of sets."""


class SetNames:
    """Names of a library's sets; a set is known by its code, its place in both lists."""

    def __init__(self, keys: Sequence[str], titles: Sequence[str]) -> None:
        self._named = [(key.lower(), title.lower()) for key, title in zip(keys, titles, strict=True)]

    def meant(self, name: str) -> Meant:
        """Sets that people mean: those of this key, else all whose key or title says it, spaces and hyphens aside."""
        folded = " ".join(name.lower().split())
        squashed = "".join(_WORD.findall(folded))
        return self._by_key.get(folded) or tuple(code for code, runs in enumerate(self._runs) if squashed in runs)

    def with_key(self, key: str) -> Meant | None:
        """Sets that a qualified name means: those of this key; None where it is no set's that is known."""
        folded = key.lower()
        return self._by_key.get(folded) or (self._saying(folded) if folded in WELL_KNOWN else None)

    def begun(self, name: str, code: Mapping[str, str]) -> Meant | None:
        """Sets that the beginning of a CSS class or component means: what that stands for, and a set of that key.

        None where it means none that is known.
        """
        name = name.lower()
        if name not in code:
            return self.with_key(name)
        return tuple(dict.fromkeys((*self._by_key.get(name, ()), *self._saying(code[name]))))

    def _saying(self, words: str) -> Meant:
        return tuple(code for code, runs in enumerate(self._runs) if runs.issuperset(_WORD.findall(words)))

    @cached_property
    def _by_key(self) -> dict[str, Meant]:
        """Sets by key; keys may differ in case alone."""
        codes: dict[str, Meant] = {}
        for code, (key, _) in enumerate(self._named):
            codes[key] = (*codes.get(key, ()), code)
        return codes

    @cached_property
    def _runs(self) -> list[frozenset[str]]:
        """All runs of words of key and of title, each as one word: of Font Awesome 6 Solid also "fontawesome"."""
        both = ([_WORD.findall(name) for name in named] for named in self._named)
        return [
            frozenset("".join(words[a:z]) for words in names for a, z in combinations(range(len(words) + 1), 2))
            for names in both
        ]


_LONGEST = 1_000
"""Letters of a text that is looked at as code."""
_ATTRIBUTE = re.compile(r"""\b(class|className|icon|name)\s*=\s*["'{`]+([^"'`}]+)""")
_CONTENT = re.compile(r">\s*(\w[\w -]*?)\s*</")
_ELEMENT = re.compile(r"<\s*/?\s*([A-Za-z][\w.-]*)")
_FILE = re.compile(r"(?:.*[/\\])?([^/\\]+?)\.(?:svg|png|webp|gif|ico)", re.IGNORECASE)
_MODULE = re.compile(r".*[/\\]([^/\\]+?)\.(?:jsx?|tsx?|vue|svelte)", re.IGNORECASE)
"""With its folder: without one it may be a name, as "node.js"."""
_UTILITY = re.compile(r"icon-\[(.*)\]|i-(?=[\w-]+:)(.*)")
_QUALIFIED = re.compile(r"(@?[a-z]\S*):(\w[\w .-]*)", re.IGNORECASE)
_JOINED = re.compile(r"@?([a-z][\w-]*?)(?:/|--)([a-z0-9][\w-]*)", re.IGNORECASE)
_CLASSES = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?: [a-z0-9_]+(?:-[a-z0-9]+)*)*")
_LOOK = re.compile("[a-z]+-(?:[0-9]+(?:x|px)|2?x[sl]|sm|lg|fw|spin|pulse|bold|light|thin|fill|duotone)")
"""Classes that stand beside the name: how large the icon is, how heavy, how it moves."""
_COMPONENT = re.compile(r"(?:Icon)?([A-Z][A-Za-z0-9]*?)(?:Icon)?")
_REACT = re.compile(r"([A-Za-z][a-z]{1,2})[0-9]?([A-Z][a-z0-9].*)")
"""A component of react-icons, or what a set's module exports: two or three letters for the set, then the name."""


@dataclass(frozen=True, slots=True)
class Code:
    """A name in code."""

    name: str
    """As it is written there."""
    sets: Meant = ()
    """Sets that are meant; none where the code tells no set of this library."""
    is_certain: bool = True
    """Whether it can be nothing but code: "mdi-home" and "MapPin" could be words."""


def read_code(text: str, sets: SetNames) -> Code | None:
    """Read a text as code; None where it is none."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if text.startswith("<"):
        return _of_element(text, sets)
    if match := _FILE.fullmatch(text) or _MODULE.fullmatch(text):
        return Code(match[1])
    return _of_qualified(text, sets) or _of_classes(text, sets) or _of_component(text, sets)


def _of_element(text: str, sets: SetNames) -> Code | None:
    """An element of HTML or JSX: by its classes, by what it says its icon is, by its letters, or by its own name."""
    attributes, content, element = _ATTRIBUTE.findall(text), _CONTENT.search(text), _ELEMENT.match(text)
    for _, value in attributes:
        for written in (f"{value} {content[1]}", value) if content else (value,):
            if found := _of_qualified(written.strip(), sets) or _of_classes(written.strip(), sets):
                return found
    names = [value.strip() for attribute, value in attributes if attribute in ("icon", "name")]
    if content and element and element[1].islower():
        names.append(content[1])
    if element:
        names.append(element[1])
    return (_of_component(names[0], sets) or Code(names[0])) if names else None


def _of_qualified(text: str, sets: SetNames) -> Code | None:
    """A set's key and a name: mdi:home, i-mdi:home, mdi/home, icon-[mdi--home]."""
    plain = _UTILITY.sub(lambda utility: utility[1] or utility[2], text)
    match = _QUALIFIED.fullmatch(plain) or _JOINED.fullmatch(plain)
    meant = sets.with_key(match[1]) if match else None
    return Code(match[2], meant) if match and meant is not None else None


def _of_classes(text: str, sets: SetNames) -> Code | None:
    """Classes of CSS, of which the last that is no look says the name: "fa-solid fa-user fa-2x", "i-lucide-bell"."""
    if not _CLASSES.fullmatch(text):
        return None
    classes = text.split()
    return _called(list(filter(lambda one: not _LOOK.fullmatch(one), classes)), sets) or _called(classes, sets)


def _called(classes: list[str], sets: SetNames) -> Code | None:
    if not classes:
        return None
    *before, last = classes
    narrower = [meant for word in before if (meant := sets.begun(word, IN_CLASSES)) is not None]
    if before and not narrower:
        return None
    if before and before[-1] in IN_CLASSES and "-" in before[-1] and "-" not in last:
        return Code(last, narrower[-1])  # a font whose letters are names: "material-icons home"
    plain = last.removeprefix("i-")
    for place in reversed([place for place, sign in enumerate(plain) if sign == "-"]):  # a set's key may have some
        if (meant := sets.begun(plain[:place], IN_CLASSES)) is not None:
            both = tuple(code for code in meant if not narrower or code in narrower[0])
            return Code(plain[place + 1 :], both or meant, is_certain=bool(before) or last.startswith("i-"))
    return None


def _of_component(text: str, sets: SetNames) -> Code | None:
    """A component, or what a module exports: BellIcon, IconBell, LuBell, faBell."""
    if (match := _REACT.fullmatch(text)) and (meant := sets.begun(match[1], IN_COMPONENTS)) is not None:
        return Code(match[2], meant, is_certain=False)
    match = _COMPONENT.fullmatch(text)
    return Code(match[1]) if match and match[1] != text else None
