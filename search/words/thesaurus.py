"""What is drawn for what is meant? Terms of user interfaces -> the words that icon sets use for them.

`data/language/terms.json`: "paywall" -> lock, credit card, crown; written by hand, the best first.
"""

import json
import re
from functools import cache

from indexer.library.bundled import bundled
from indexer.publishing.lexicon import telling


def drawn_for(words: str) -> tuple[str, ...]:
    """What is customarily drawn for some normalised words, the best first; nothing for what is no term."""
    terms = _terms()
    for spelling in (words, telling(words), _singular(words)):
        if spelling in terms:
            return terms[spelling]
    return ()


def _singular(words: str) -> str:
    return re.sub(r"(\w{3,}[^s ])s\b", r"\1", words)


@cache
def _terms() -> dict[str, tuple[str, ...]]:
    held = json.loads((bundled("language") / "terms.json").read_text("utf-8"))
    return {term: tuple(drawings) for term, drawings in held.items()}
