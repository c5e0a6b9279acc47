"""Style sheets and style attributes, as tinycss2 reads them: which rules there are, and what each declares."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import tinycss2

REACHING = re.compile(
    r"\\|@import|(?:url|src|image|image-set|cross-fade|element|paint)\s*\((?!\s*[\"']?#)", re.IGNORECASE
)
"""In styles and paints: what lies elsewhere, and signs that could hide it."""
WITH_URL = re.compile(r"url\(\s*[\"']?#([^\"')]+?)[\"']?\s*\)")
_GROUPS = frozenset(("media", "supports", "layer", "container"))
_ON_SCREENS = frozenset(("", "all", "screen", "only screen"))
_ELSEWHERE = frozenset(("print", "speech", "tty", "tv", "projection", "handheld", "braille", "embossed", "aural"))


class Declaration(NamedTuple):
    """A property that a style states."""

    name: str
    value: str
    is_important: bool
    text: str
    """As it stands in a style; that it is important is left out."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Selectors, and what is declared for what they choose."""

    selectors: tuple[str, ...]
    declared: Sequence[Declaration]


@dataclass(slots=True)
class Sheet:
    """What a screen takes of a style sheet."""

    rules: list[Rule] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    """Rules of other kinds, as tinycss2 has them: keyframes, and queries of which a screen decides."""


def declarations(style: str | Sequence[Any]) -> list[Declaration]:
    """What a style attribute states, or the block of a rule."""
    read = tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
    return list(_declared(read))


def _declared(read: Sequence[Any]) -> Iterator[Declaration]:
    for one in read:
        value = tinycss2.serialize(one.value).rstrip() if one.type == "declaration" else ""
        if value:
            value = value if "'" in value else value.replace('"', "'")
            name = one.name if one.name.startswith("--") else one.lower_name
            yield Declaration(name, value.lstrip(), one.important, f"{name}:{value}")


def read_sheet(text: str, *, media: str = "") -> Sheet:
    """Read a style sheet; what no screen shows is not in it, and what no browser reads."""
    found = Sheet()
    _read(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True), media, found)
    return found


def _read(rules: Sequence[Any], media: str, found: Sheet) -> None:
    """Add rules for some media; where those are more than a word, the rules count as other ones."""
    kinds = {kind.strip().lower() for kind in media.split(",")}
    if kinds <= _ELSEWHERE:
        return
    for rule in rules:
        if rule.type == "error":
            continue
        if not kinds & _ON_SCREENS:
            found.others.append(rule)
        elif rule.type == "qualified-rule":
            prelude = " ".join(tinycss2.serialize(rule.prelude).split())
            selectors = re.sub(r" ?([,>]) ?", r"\1", prelude).split(",")
            found.rules.append(Rule(tuple(selectors), declarations(rule.content)))
        elif rule.lower_at_keyword == "media" and rule.content is not None:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            _read(inner, tinycss2.serialize(rule.prelude), found)
        elif rule.lower_at_keyword != "charset":
            found.others.append(rule)


def safe_text(sheet: str) -> str:
    """A style sheet without what lies elsewhere; as it is, where it holds all that it needs."""
    if not REACHING.search(sheet):
        return sheet
    kept = []
    for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        text = "" if rule.type == "error" else rule.serialize()
        if REACHING.search(text) and rule.type == "qualified-rule":
            own = ";".join(one.text for one in declarations(rule.content) if not REACHING.search(one.text))
            text = f"{tinycss2.serialize(rule.prelude)}{{{own}}}"
        kept.append("" if REACHING.search(text) else text)
    return "".join(kept)


def scoped(sheet: str, *, scope: str, renamed: Callable[[str], str]) -> str:
    """A style sheet that holds for what lies in `scope` alone, a selector; `renamed`: what its ids are called now."""
    parts = []
    for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        text = "" if rule.type == "error" else rule.serialize()
        head, brace, body = text.partition("{")
        if rule.type == "qualified-rule":
            named = re.sub(r"#([\w-]+)", lambda one: f"#{renamed(one[1])}", head.replace(":root", scope))
            head = ",".join(f"{one.strip()}:where({scope},{scope} *)" for one in named.split(","))
        elif brace and rule.lower_at_keyword in _GROUPS:
            body = f"{scoped(body[:-1], scope=scope, renamed=renamed)}}}"
        parts.append(head + brace + WITH_URL.sub(lambda link: f"url(#{renamed(link[1])})", body))
    return "".join(parts)
