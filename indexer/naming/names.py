"""What does a file name say? `S2_Icon_AddCircle_20_N` -> the words "add circle", no style, size 20. Pure functions.

What a name says beside its words is taken off at its ends only, and only with evidence:

- A certain style word (`filled`, `outline`, `duotone`, ...) at the end is a style.
- A word that is as often a meaning (`light`, `line`, `solid`, `rounded`, ...), or any style word at the start, is a
  style where the whole set uses it so, see `affixes._learn_styles`: `sun-light` loses it in a set that has `sun` and
  `moon-light`, `traffic-light` keeps it in a set of lamps. In a set too small to tell, the source's own word decides.
- A number at the end is a size with `px`, glued to a CamelCase name, or where a fifth of the subjects of
  a set have one; in a set too small to tell, where it is a usual size. So `battery-20` stays a battery at 20 %.
- A token that nearly all names share is dropped if it looks like a code and not a meaning, see `affixes._is_noise`.
"""

import re
from dataclasses import dataclass

from indexer.naming.affixes import UNKNOWN, Affixes, common_affixes, without
from indexer.naming.looks import (
    CERTAIN,
    CERTAIN_ALONE,
    STYLES,
    as_size,
    canonical_style,
    join_styles,
    path_hints,
    tokens_of,
    words_for,
)
from indexer.naming.words import UNITS, USUAL_SIZES, Tokens, normalise, split

__all__ = ["Affixes", "Name", "canonical_style", "common_affixes", "normalise", "parse", "path_hints", "split"]

_GLUED = re.compile(r"[a-z]([0-9]{2,3})(?![0-9a-z])")


@dataclass(frozen=True, slots=True)
class Name:
    """A name, read: `words` in lower case with single spaces, never empty; a style of None is the set's regular one."""

    words: str
    style: str | None = None
    size: int | None = None


def parse(name: str, affixes: Affixes = UNKNOWN, *, style: str | None = None, size: int | None = None) -> Name:
    """Read one name of a set. What its source states beside it (`style`, `size`) is merged in; a stated size wins."""
    stated, stated_size = canonical_style(style)
    tokens = tokens_of(name)
    core = without(without(tokens, affixes.prefixes)[::-1], affixes.suffixes)[::-1]
    words, styles, found = _peel(core, affixes, name=name, stated=stated)
    styles = [*(stated.split() if stated else ()), *styles]
    return Name(" ".join(words) or normalise(name) or "unnamed", join_styles(styles), size or stated_size or found)


def _peel(
    core: Tokens, affixes: Affixes, *, name: str, stated: str | None
) -> tuple[Tokens, list[str | None], int | None]:
    """Take styles and a size off both ends; a name that is nothing else keeps its tokens as words."""
    doubtful = words_for(stated) if affixes.is_sized is None else frozenset()
    glued = frozenset() if name.islower() else frozenset(_GLUED.findall(name))
    rest, styles, size = _peel_end(core, affixes, doubtful=doubtful, glued=glued)
    at_start = affixes.leading_styles | doubtful
    while len(rest) > 1 and rest[0] in at_start and STYLES[rest[0]] not in styles:
        styles.append(STYLES[rest[0]])
        rest = rest[1:]
    if len(rest) == 1 < len(core) and (rest[0] in CERTAIN or as_size(rest[0])):
        return core, [], None
    return rest, styles, size


def _peel_end(
    rest: Tokens, affixes: Affixes, *, doubtful: frozenset[str], glued: frozenset[str]
) -> tuple[Tokens, list[str | None], int | None]:
    """Take tokens off the end while they are styles or a size, each style once: `chart-line-line` is a chart line."""
    taken: list[str] = []
    size = None
    while len(rest) > 1:
        last = rest[-1]
        if size is None and last in UNITS and len(rest) > 2 and as_size(rest[-2]):
            size, rest = as_size(rest[-2]), rest[:-2]
        elif size is None and _is_size(last, affixes.is_sized, glued=glued):
            size, rest = as_size(last), rest[:-1]
        elif _is_style(last, taken, affixes, doubtful=doubtful):
            taken.append(last)
            rest = rest[:-1]
        else:
            break
    return rest, [STYLES[word] for word in taken], size


def _is_style(word: str, taken: list[str], affixes: Affixes, *, doubtful: frozenset[str]) -> bool:
    """Tell whether the last word of a name is a style, given the words already taken off behind it."""
    if any(STYLES.get(word, word) == STYLES[other] for other in taken):
        return False
    if affixes.is_sized is None:
        return word in CERTAIN_ALONE or word in doubtful or word in affixes.styles
    is_known = word in CERTAIN or word in affixes.styles
    return is_known and all(frozenset((word, other)) in affixes.style_pairs for other in taken)


def _is_size(token: str, is_sized: bool | None, *, glued: frozenset[str]) -> bool:
    if is_sized:
        return as_size(token) is not None
    return as_size(token) in USUAL_SIZES and (is_sized is None or token in glued)
