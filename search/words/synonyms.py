"""Under which names do icon sets draw what a word says? "sso" is said of icons called key, log in and fingerprint.

`data/language/synonyms.bin`: tags of all icon sets that allow it, made by `data/making/model/synonyms.py`.
"""

from functools import cache

from indexer.languages.dictionary import Dictionary
from indexer.library.bundled import bundled
from indexer.publishing.lexicon import telling


def names_for(words: str) -> tuple[tuple[str, float], ...]:
    """Names of icons of which some normalised words are said, with weights from 1 down; none where nobody says them."""
    for spelling in dict.fromkeys((words, telling(words))):
        if meanings := _said().meanings(spelling):
            return meanings[0].terms
    return ()


@cache
def _said() -> Dictionary:
    return Dictionary(bundled("language") / "synonyms.bin")
