"""Which known words is a word made of, or a form of? Compounds, and words that differ by no more than their endings."""

from collections.abc import Callable
from itertools import takewhile

_LEAST_STEM, _STEM_SHARE, _LONGEST_ENDING = 4, 0.6, 3
_LINKS = ("", "s", "n", "en", "es", "er", "e")
"""What Germanic languages put between the parts of a word."""
_LONGEST_COMPOUND = 60
"""Letters: all ways to take a word apart are tried."""
_MOST_PARTS = 3
_LONGEST_ENDING_OF_A_NAME, _LONG_STEM = 2, 6


def split(word: str, is_known: Callable[[str], bool], *, shortest: int) -> list[str]:
    """Split a word that was put together from known parts, as few as there can be, three at most; [] if it was not."""
    if len(word) > _LONGEST_COMPOUND:
        return []
    shortest = 1 if "\uac00" <= word[0] <= "\ud7a3" else shortest
    best: dict[int, list[str]] = {0: []}
    for end in range(shortest, len(word) + 1):
        for start in [start for start in best if end - start >= shortest]:
            core = _without_link(word[start:end], is_known, shortest=shortest, is_last=end == len(word))
            if core and (end not in best or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], core]
    return best[len(word)] if 1 < len(best.get(len(word), ())) <= _MOST_PARTS else []


def _without_link(part: str, is_known: Callable[[str], bool], *, shortest: int, is_last: bool) -> str | None:
    """The known word that a part is, with or without what links it to the next."""
    for link in _LINKS if part.isascii() and not is_last else ("",):
        core = part.removesuffix(link)
        if part.endswith(link) and len(core) >= shortest and is_known(core):
            return core
    return None


def n_shared(word: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))


def is_like(word: str, other: str) -> bool:
    """Tell whether two words differ by no more than their endings."""
    shared = n_shared(word, other)
    is_long = shared >= max(_LEAST_STEM, round(_STEM_SHARE * len(word)))
    return is_long and " " not in other and max(len(word), len(other)) - shared <= _LONGEST_ENDING


def is_form(word: str, other: str) -> bool:
    """Tell whether two words are alike enough to be one, and neither of them a brand: "flagge" and "flagg"."""
    shared = n_shared(word, other)
    n_differing = max(len(word), len(other)) - shared
    return n_differing <= 1 or (n_differing == _LONGEST_ENDING_OF_A_NAME and shared >= _LONG_STEM)
