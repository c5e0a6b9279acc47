"""Where does a word end in scripts that write no spaces? Runs of such scripts, and pieces that a dictionary knows."""

import re
from collections.abc import Callable, Iterator

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_KATAKANA = re.compile("[\u30a1-\u30ff]+")
LONG_VOWEL = "ー"
_ENDING = re.compile(f"[\u3041-\u309f{LONG_VOWEL}]+")
LONGEST = 12
"""Characters of a piece."""


def is_unspaced(text: str) -> bool:
    """Tell whether a text begins in a script that puts no spaces between words."""
    return bool(_IS_UNSPACED.match(text))


def is_loanword(run: str) -> bool:
    """Tell whether a run is all katakana, which Japanese spells other languages' words in."""
    return bool(_KATAKANA.fullmatch(run))


def is_ending(run: str) -> bool:
    """Tell whether a run is all hiragana, as endings and particles are, or but a long vowel."""
    return bool(_ENDING.fullmatch(run))


def runs(word: str) -> Iterator[str]:
    """Cut a word where scripts with and without spaces meet: "wifi設定" is "wifi" and "設定"."""
    return (found[0] for found in _RUN.finditer(word))


def cut(run: str, is_known: Callable[[str], bool]) -> list[str]:
    """Cut a run without spaces into known pieces and single characters: the fewest of the latter, then of all."""
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(run) + 1):
        ways = []
        for start in range(max(0, end - LONGEST), end):
            unknown, pieces, _ = best[start]
            if is_known(run[start:end]):
                ways.append((unknown, pieces + 1, start))
            elif end - start == 1:
                ways.append((unknown + 1, pieces + 1, start))
        best.append(min(ways))
    found, at = list[str](), len(run)
    while at:
        found.append(run[best[at][2] : at])
        at = best[at][2]
    return found[::-1]
