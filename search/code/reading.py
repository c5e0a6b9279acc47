"""What of a text is code: comments blanked out, everything else where it is; and the places in it that name icons.

No parser of any language: what a file is made of is read well enough to find names in it, in time that grows with its
length, whatever stands in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import Literal, NamedTuple


class Reference(NamedTuple):
    """One place that names an icon."""

    start: int
    """`text[start:end]` of the file's text, decoded as UTF-8 with its line ends as they are, is exactly what names the
    icon: both are offsets in characters, not bytes."""
    end: int
    form: str
    """How it is named: "import lucide-react", "iconify", "unocss", "class mdi", "sprite", "file" ..."""
    set: str = ""
    """Key of the set, as Iconify calls it; "" for icons of the project's own: its files and sprites."""
    name: str = ""
    """Of the icon in that set, as the code's form implies it; "" where only the running program knows it. Components
    lose where words end: `ArrowDownAZ` is "arrow-down-az" here, and only the set's own names tell "arrow-down-a-z"."""
    others: tuple[tuple[str, str], ...] = ()
    """What else the text may mean, (set, name): `FaGithub` is no solid icon but a brand."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it, as it stands before the "#"; "" where that is the page."""
    path: str = ""
    """Of the file: as the caller names it, or below what the caller names."""
    line: int = 0
    """From 1."""
    column: int = 0
    """From 1, in characters."""
    text: str = ""
    """What stands at `start:end`: `ArrowLeft`, `mdi:home`, `fa-house`."""

    @property
    def readings(self) -> Sequence[tuple[str, str]]:
        """All that the text may mean, (set, name), the likeliest first."""
        return [(self.set, self.name), *self.others]

    @property
    def module(self) -> str:
        """What it is imported from, where it is."""
        return self.form.removeprefix("import ")

    @property
    def is_component(self) -> bool:
        """Whether it is what a module exports, and not the name of a file."""
        return self.form != self.module and self.text != self.text.lower()


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
    if kind == "markup":
        return _markup(text)
    comments = {"script": _OF_SCRIPT, "style": _BLOCK}.get(kind)
    return _without(text, _tokens(text, comments)) if comments else text


def literals(code: str) -> Iterator[Text]:
    """Find the values of attributes and style sheets, with the strings in them, then the strings of a code."""
    values = {}
    for found in _VALUE.finditer(code):
        group = next(number for number in (1, 2, 3) if found[number] is not None)
        values[found.start(group) - 1] = found.end(group) + 1
        value = Text(found.start(group), found[group])
        yield value
        before = code[max(0, found.start() - _LONGEST_NAME) : found.start()]
        if "{" in value.text or _BOUND.search(before):  # an expression, or one in it: its strings
            for string in _INSIDE.finditer(value.text):
                inner = string.lastindex or 0
                yield Text(value.start + string.start(inner), string[inner])
    for start, end in _tokens(code, None, skipped=values):
        yield Text(start + 1, code[start + 1 : end - 1])


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
        parts.append(without_comments(code[: front.end()], "script"))
        place = front.end()
    while found := _SECTION.search(code, place):
        name = found[1].lower()
        ending = _ENDS[name].search(code, found.end())
        stop = ending.start() if ending else len(code)
        kind: Kind = "script" if name == "script" else "style"
        parts += [code[place : found.end()], without_comments(code[found.end() : stop], kind)]
        place = stop
    return "".join((*parts, code[place:]))


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was probably meant."""

    set: str
    name: str
    text: str
    """As the code would write it."""
    by: str
    """"name": it is spelt much alike; "meaning": what the words say."""
    score: float
    """0 to 1: how alike the spellings are, or how sure the match of the meaning is."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be."""

    kind: Literal["no-icon", "no-file", "no-part", "unused-file", "too-many-sets"]
    path: str
    line: int
    """From 1; 0 where it is about a file as a whole, or about all of them."""
    column: int
    text: str
    message: str
    nearest: Nearest | None = None
