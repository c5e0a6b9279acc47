"""Style sheets and style attributes, as tinycss2 reads them: which rules there are, and what each declares."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tinycss2

from indexer.rendering.styles import Rule, declarations, selectors_of, tokens

REACHING = re.compile(
    r"\\|@import|url\s*\((?!\s*[\"']?#)|(?:src|image|image-set|cross-fade|element|paint)\s*\(|(?<![\w-])position(?![\w-])",
    re.IGNORECASE,
)
"""In styles and paints: what lies elsewhere, and signs that could hide it; what would lay a drawing over the page."""
_GROUPS = frozenset(("media", "supports", "layer", "container"))
_ON_SCREENS = frozenset(("", "all", "screen", "only screen"))
_FRAMES_NAME = re.compile(r"[\"']?([\w-]+)[\"']?")
_ELSEWHERE = frozenset(("print", "speech", "tty", "tv", "projection", "handheld", "braille", "embossed", "aural"))


def rules_of(sheet: str | Sequence[Any], *, media: str = "") -> Iterator[Rule]:
    """Rules of a style sheet that a screen takes; what is no rule of selectors has its keyword as one: "@keyframes"."""
    kinds = {kind.strip().lower() for kind in media.split(",")}
    if kinds <= _ELSEWHERE:
        return
    for rule in tinycss2.parse_stylesheet(tokens(sheet), skip_comments=True, skip_whitespace=True):
        is_plain = rule.type == "qualified-rule" and all(one.type != "{} block" for one in rule.content)
        if is_plain and kinds & _ON_SCREENS:
            prelude = " ".join(tinycss2.serialize(rule.prelude).split())
            yield selectors_of(re.sub(r" ?([,>]) ?", r"\1", prelude)), declarations(rule.content)
        elif rule.type == "at-rule" and rule.lower_at_keyword == "media" and kinds & _ON_SCREENS:
            yield from rules_of(rule.content or (), media=tinycss2.serialize(rule.prelude))
        elif rule.type != "error":
            yield [f"@{getattr(rule, 'lower_at_keyword', media)}"], []


def safe_text(sheet: str) -> str:
    """A style sheet as it is, where it holds all that it needs; else its plain rules without what lies elsewhere."""
    if not REACHING.search(sheet):
        return sheet
    rules = ((",".join(selectors), [one.text for one in declared]) for selectors, declared in rules_of(sheet))
    kept = ((chosen, [text for text in texts if not REACHING.search(text)]) for chosen, texts in rules)
    return "".join(f"{chosen}{{{';'.join(texts)}}}" for chosen, texts in kept if not re.search(r"[@\\]", chosen))


def scoped(sheet: str | Sequence[Any], *, own: str, renamed: Callable[[str], str]) -> str:
    """A style sheet that holds for what lies in the class `own` alone; `renamed`: what its ids are called now.

    Rules inside rules and at-rules that would hold for the page, as @font-face and @scope, are left out.
    """
    parts, scope = [], f".{own}"
    for rule in tinycss2.parse_stylesheet(tokens(sheet), skip_comments=True, skip_whitespace=True):
        if rule.type == "error" or rule.content is None:
            continue
        prelude = tinycss2.serialize([one for one in rule.prelude if one.type != "comment"])
        if rule.type == "qualified-rule":
            named = re.sub(r"#([\w-]+)", lambda one: f"#{renamed(one[1])}", prelude.replace(":root", scope))
            head = ",".join(f"{one.strip()}:where({scope},{scope} *)" for one in selectors_of(named))
            parts.append(f"{head}{{{';'.join(one.text for one in declarations(rule.content))}}}")
        elif rule.lower_at_keyword in _GROUPS:
            parts.append(f"@{rule.lower_at_keyword}{prelude}{{{scoped(rule.content, own=own, renamed=renamed)}}}")
        elif rule.lower_at_keyword.endswith("keyframes") and (name := _FRAMES_NAME.fullmatch(prelude.strip())):
            parts.append(f"@{rule.lower_at_keyword} {own}__{name[1]}{{{tinycss2.serialize(rule.content)}}}")
    return "".join(parts)
