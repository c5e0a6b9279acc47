"""Which icons do the strings of a code name? Keys, modules, parts of sprites, files, and classes."""

import re
from collections.abc import Iterator

from search.references.classes import classes_in
from search.references.code import Text
from search.references.named import Named, Unreadable, is_set

_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_COMPUTED_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):[a-z0-9-]*+(?:\$\{|\{\{)")
_MODULE = re.compile(r"(?:~icons|virtual:icons)/([a-z0-9-]+)/([a-z0-9-]+)(?:\.\w+)?(?:\?.*)?")
_SPRITE = re.compile(r"([^\s#]*)#([\w.:-]+)")
_FILE = re.compile(r"([^\s\"'`?#|!,;]+\.svg)(?:[?#].*)?", re.IGNORECASE)
_OPERAND = (
    r"!{0,3}(?>\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`]{0,200}`|\([^()]{0,200}\)"
    r"|[\w$](?>(?:[\w$]|\??\.[\w$]){0,100})(?>(?:\([^()]{0,100}\)|\[[^\[\]]{0,100}\]){0,3}))"
)
_CHOICE = rf"(?>(?>{_OPERAND}\s*(?:(?:[=!]==?|[<>]=?|[-+*/%])\s*{_OPERAND}\s*)?(?:\?\??|\|\||&&|:)[\s(]*){{0,20}})"
"""`ok ? "a" :`, `given ||`: what stands before a string that is one of the values an expression may have."""
_VALUE = rf"[\s{{(\[]*(?:[\"'][\s{{(]*)?{_CHOICE}[\"'`]$"
_ICON_BEFORE = re.compile(
    rf"(?:icon\w*(?:[\"']?\s*[=:(](?![=>])|\]=(?=[\"']))|<\w*icon\b[^<>]{{0,300}}?\bname\s*=){_VALUE}", re.IGNORECASE
)
_USE_BEFORE = re.compile(rf"<use\b[^<>]{{0,400}}?href\s*={_VALUE}", re.IGNORECASE)
_LOOK_BACK = 420
_COMMON = frozenset((
    "carbon", "charm", "clarity", "codex", "feather", "flag", "foundation", "garden", "geo", "glyphs", "guidance",
    "logos", "mage", "map", "memory", "nimbus", "pixel", "prime", "quill", "solar", "stash", "streamline", "subway",
    "token", "websymbol", "wordpress",
))  # fmt: skip
"""Sets whose keys are words of everyday code: "token:refresh"."""
_SHORT = 3


def names_in(text: Text, code: str) -> Iterator[Named | Unreadable]:
    """Names in one string of a code, in their order."""
    for read in (_key, _computed, _module, _sprite, _file):
        if found := read(text, code):
            yield found
            return
    yield from classes_in(text)


def _key(text: Text, code: str) -> Named | None:
    found = _KEY.fullmatch(text.text)
    if found is None:
        return None
    is_icon = _stands_behind(_ICON_BEFORE, text, code)
    if not is_set(found[1]) and not is_icon:
        return None
    is_certain = is_icon or not _is_common(found[1])
    return Named(text.start, text.start + len(text.text), found[1], found[2], "iconify", is_certain=is_certain)


def _is_common(prefix: str) -> bool:
    return prefix in _COMMON or (len(prefix) <= _SHORT and prefix != "mdi")


def _computed(text: Text, code: str) -> Unreadable | None:
    found = _COMPUTED_KEY.match(text.text) if text.is_computed else None
    if found is None or not is_set(found[1]):
        return None
    if _is_common(found[1]) and not _stands_behind(_ICON_BEFORE, text, code):
        return None
    return Unreadable(text.start, text.start + len(text.text), "iconify")


def _module(text: Text, _: str) -> Named | None:
    found = _MODULE.fullmatch(text.text)
    return _part(text, found, found[1], "unplugin-icons") if found else None


def _sprite(text: Text, code: str) -> Named | None:
    """A part of a file that holds many, or of the page itself where a `use` shows it."""
    found = _SPRITE.fullmatch(text.text)
    if found is None or text.is_computed:
        return None
    is_sprite = found[1].lower().endswith(".svg") or _stands_behind(_USE_BEFORE, text, code)
    return _part(text, found, "", "sprite")._replace(file=found[1]) if is_sprite else None


def _file(text: Text, _: str) -> Named | None:
    found = _FILE.fullmatch(text.text)
    if found is None or text.is_computed or ":" in found[1]:
        return None
    return Named(text.start, text.start + len(found[1]), "", found[1], "file")


def _part(text: Text, found: re.Match[str], key: str, form: str) -> Named:
    return Named(text.start + found.start(2), text.start + found.end(2), key, found[2], form)


def _stands_behind(before: re.Pattern[str], text: Text, code: str) -> bool:
    """Whether a string is the value of what it should be."""
    return before.search(code[max(0, text.start - _LOOK_BACK) : text.start]) is not None
