"""What of a text is code: comments blanked out, everything else where it is.

No parser of any language: what a file is made of is read well enough to find names in it, in time that grows with its
length, whatever stands in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import Literal, NamedTuple

from search.drawings.drawn import iconify_sets

Kind = Literal["script", "markup", "style", "data"]
KINDS: dict[str, Kind] = {
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), "script"),
    **dict.fromkeys(
        (
            *(".html", ".htm", ".xhtml", ".vue", ".svelte", ".astro", ".php", ".twig", ".erb", ".ejs", ".hbs", ".njk"),
            *(".jinja", ".jinja2", ".j2", ".liquid", ".cshtml", ".razor", ".heex", ".mdx", ".md", ".marko"),
        ),
        "markup",
    ),
    **dict.fromkeys((".css", ".scss", ".sass", ".less", ".styl", ".pcss"), "style"),
    ".json": "data",
}
"""By the end of a file's name."""
_MARK = re.compile(r"[\"'`/]")
_BODIES = {
    '"': re.compile(r"\"(?>(?:[^\"\\\n]|\\.)*)", re.DOTALL),
    "'": re.compile(r"'(?>(?:[^'\\\n]|\\.)*)", re.DOTALL),
    "`": re.compile(r"`(?>(?:[^`\\]|\\.)*)", re.DOTALL),
}
"""Strings without the quote that ends them."""
_BLOCK = re.compile(r"/\*(?>(?:[^*]|\*(?!/))*)(?:\*/)?")
_OF_SCRIPT = re.compile(
    rf"{_BLOCK.pattern}|(?<![:\w])//[^\n]*+"
    r"|(?<=[(,=:\[!&|?{};])/(?![*/])(?>(?:[^/\\\n\[]|\\.|\[(?>(?:[^\]\\\n]|\\.){0,100})\]){1,400})/"
)
"""Comments, and what scripts match texts with, which may hold half of a string."""
_AROUND = (("<!--", "-->"), ("{{!--", "--}}"), ("{# ", "#}"), ("{#-", "#}"))
"""Comments of markup: of HTML, Handlebars, Jinja; Svelte's `{#if` is none."""
_SECTION = re.compile(r"<(script|style)\b[^>]*+>", re.IGNORECASE)
_ENDS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
_FRONT = re.compile(r"\A\s*+---[ \t]*+\n(.*?\n)---[ \t]*+$", re.DOTALL | re.MULTILINE)
_NOT_A_LINE_END = re.compile(r"[^\n]")
_VALUE = re.compile(r"=\s?(?:\"([^\"<>]{0,4000})\"|'([^'<>]{0,4000})')|\burl\(\s?([^\"'()\s]{1,1000})\s?\)")
"""Of an attribute: over several lines, and behind an apostrophe in a text, which no string of a script begins with."""
_BOUND = re.compile(r"(?:[\s\"'](?:v-bind|x-bind|bind)?:[\w.-]{1,60}|\[[\w.-]{1,60}\])\s?$")
"""The name of an attribute whose value is an expression: of Vue, Alpine, Angular."""
_INSIDE = re.compile(r"\"([^\"\\\n]*)\"|'([^'\\\n]*)'|`([^`\\]*)`")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Text:
    """A string of the code, without its quotes."""

    start: int
    text: str

    @property
    def is_computed(self) -> bool:
        """Whether a part of it is known to the running program alone."""
        return "${" in self.text or "{{" in self.text


def kind_of(path: str) -> Kind | None:
    """What a file is, by its name; None for what is not read."""
    return KINDS.get(PurePath(path).suffix.lower())


def without_comments(text: str, kind: Kind) -> str:
    """Blank out comments, and what scripts match texts with; every other character stays at its offset."""
    match kind:
        case "script":
            return _blanked(text, _OF_SCRIPT)
        case "style":
            return _blanked(text, _BLOCK)
        case "markup":
            return _markup(text)
        case "data":
            return text


def literals(code: str) -> Iterator[Text]:
    """Find the values of attributes and style sheets, with the strings in them, then the strings of a code."""
    values = {}
    for found in _VALUE.finditer(code):
        group = next(number for number in (1, 2, 3) if found[number] is not None)
        values[found.start(group) - 1] = found.end(group) + 1
        yield Text(found.start(group), found[group])
        yield from _inside(code, found, group)
    for start, end in _tokens(code, None, skipped=values):
        yield Text(start + 1, code[start + 1 : end - 1])


def _inside(code: str, found: re.Match[str], group: int) -> Iterator[Text]:
    """The strings of an attribute's value that is an expression, or holds one."""
    value = found[group]
    if "{" in value or _BOUND.search(code[max(0, found.start() - _LONGEST_NAME) : found.start()]):
        for string in _INSIDE.finditer(value):
            inner = string.lastindex or 0
            yield Text(found.start(group) + string.start(inner), string[inner])


def _tokens(
    text: str, comments: re.Pattern[str] | None, *, skipped: Mapping[int, int] = MappingProxyType({})
) -> Iterator[tuple[int, int]]:
    """Start and end of each string, or, with a pattern, of each comment outside of strings.

    A quote that nothing ends is none; others up to the place where that was seen are none either, so that no part of a
    text is gone through again and again. `skipped` holds ends by starts: what begins there is no string.
    """
    unended = dict.fromkeys(_BODIES, 0)
    place = 0
    while mark := _MARK.search(text, place):
        start, sign = mark.start(), mark[0]
        place = start + 1
        if sign == "/":
            if comments and (found := comments.match(text, start)):
                place = found.end()
                yield start, place
        elif start in skipped:
            place = skipped[start]
        elif start >= unended[sign]:
            body = _BODIES[sign].match(text, start)
            assert body is not None  # it begins with its quote
            if text.startswith(sign, body.end()):
                place = body.end() + 1
                if comments is None:
                    yield start, place
            else:
                unended[sign] = body.end()


def _blanked(text: str, comments: re.Pattern[str]) -> str:
    return _without(text, _tokens(text, comments))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, place = [], 0
    for start, end in spans:
        parts += [text[place:start], _NOT_A_LINE_END.sub(" ", text[start:end])]
        place = end
    return "".join((*parts, text[place:]))


def _between(text: str, begin: str, end: str) -> Iterator[tuple[int, int]]:
    """Start and end of what stands between two marks, which one of HTML need not have."""
    place = 0
    while (start := text.find(begin, place)) != -1:
        stop = text.find(end, start + len(begin))
        if stop == -1 and end != "-->":
            return
        place = len(text) if stop == -1 else stop + len(end)
        yield start, place


def _markup(text: str) -> str:
    """Of markup, with what scripts and styles it holds."""
    code = text
    for begin, end in _AROUND:
        code = _without(code, _between(code, begin, end))
    parts, place = [], 0
    if front := _FRONT.match(code):
        parts.append(_blanked(code[: front.end()], _OF_SCRIPT))
        place = front.end()
    while found := _SECTION.search(code, place):
        name = found[1].lower()
        ending = _ENDS[name].search(code, found.end())
        stop = ending.start() if ending else len(code)
        comments = _OF_SCRIPT if name == "script" else _BLOCK
        parts += [code[place : found.end()], _blanked(code[found.end() : stop], comments)]
        place = stop
    return "".join((*parts, code[place:]))


class Named(NamedTuple):
    """A name, and where it stands."""

    start: int
    end: int
    set: str
    name: str
    form: str
    others: tuple[tuple[str, str], ...] = ()
    """What else it may mean, (set, name)."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it; "" where that is the page."""


class Unreadable(NamedTuple):
    """What names an icon that only the running program knows."""

    start: int
    end: int
    form: str


def is_set(prefix: str) -> bool:
    """Whether Iconify has a set of this key."""
    return prefix in iconify_sets()
