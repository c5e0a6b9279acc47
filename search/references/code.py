"""What of a text is code? Comments are blanked out, everything else stays where it is; strings are found.

No parser of any language: what a file is made of is read well enough to find names in it, in time that grows with its
length, whatever stands in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

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
_STRING = r"""\"(?:[^"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`"""
_REGEX = r"(?<=[(,=:\[!&|?{};])[ \t]*+/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.){0,100}+\]){1,400}+/"
_BLOCK, _LINE = r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?", r"(?<![:\w])//[^\n]*+"
_OF_SCRIPT = re.compile(rf"(?P<kept>{_STRING})|{_BLOCK}|{_LINE}|{_REGEX}", re.DOTALL)
_OF_STYLE = re.compile(rf"(?P<kept>{_STRING})|{_BLOCK}", re.DOTALL)
_OF_MARKUP = re.compile(r"<!--(?:[^-]|-(?!->))*+(?:-->)?|\{\{!--(?:[^-]|-(?!-\}\}))*+--\}\}|\{#(?:[^#]|#(?!\}))*+#\}")
_SECTION = re.compile(r"<(script|style)\b[^>]*+>", re.IGNORECASE)
_FRONT = re.compile(r"\A\s*---[ \t]*\n(.*?\n)---[ \t]*$", re.DOTALL | re.MULTILINE)
_NOT_A_LINE_END = re.compile(r"[^\n]")
_VALUE = re.compile(r"=\s?(?:\"([^\"<>]{0,4000})\"|'([^'<>]{0,4000})')|\burl\(\s*([^\"'()\s]{1,1000})\s*\)")
"""Of an attribute: over several lines, and behind an apostrophe in a text, which no string of a script begins with."""
_LITERAL = re.compile(rf"(?P<value>{_VALUE.pattern})|{_STRING}", re.DOTALL)


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
            return _blanked(_OF_SCRIPT, text)
        case "style":
            return _blanked(_OF_STYLE, text)
        case "markup":
            return _markup(text)
        case "data":
            return text


def literals(code: str) -> Iterator[Text]:
    """Find the values of attributes and style sheets, then the strings of a code."""
    for found in _VALUE.finditer(code):
        group = next(number for number in (1, 2, 3) if found[number] is not None)
        yield Text(found.start(group), found[group])
    for found in _LITERAL.finditer(code):
        if found["value"] is None:
            yield Text(found.start() + 1, found[0][1:-1])


def _blanked(comments: re.Pattern[str], text: str) -> str:
    return comments.sub(lambda found: found[0] if found.lastgroup else _blank(found[0]), text)


def _blank(text: str) -> str:
    return _NOT_A_LINE_END.sub(" ", text)


def _markup(text: str) -> str:
    """Of markup, with what scripts and styles it holds."""
    code = _OF_MARKUP.sub(lambda found: _blank(found[0]), text)
    parts, place, folded = [], 0, code.lower()
    if front := _FRONT.match(code):
        parts.append(_blanked(_OF_SCRIPT, code[: front.end()]))
        place = front.end()
    while found := _SECTION.search(code, place):
        end = folded.find(f"</{found[1].lower()}", found.end())
        end = len(code) if end == -1 else end
        comments = _OF_SCRIPT if found[1].lower() == "script" else _OF_STYLE
        parts += [code[place : found.end()], _blanked(comments, code[found.end() : end])]
        place = end
    return "".join((*parts, code[place:]))
