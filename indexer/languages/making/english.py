"""Which words count as English? Those of interfaces, of icons' names, and usual ones that no other language says more.

A word that counts is read as another language's only where the user reads that first.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache

from indexer.errors import SourceError
from indexer.languages.dictionary import ENGLISH
from indexer.languages.folding import fold
from indexer.languages.making.icon_words import IconWords
from indexer.languages.making.interface_texts import Text

_LEAST_TEXTS, _LEAST_NAMES = 3, 8
"""Texts, or names of icons, that say a word."""
_LEAST_USE, _MUCH_USE = 2.5, 4.0
"""On the scale of `wordfreq`: once in three million words, and once in a hundred thousand."""
_LESS, _LESS_OF_MUCH = 0.5, 1.0
"""By how much a word may be used less in English than elsewhere: "rust" is English, "amor" and "tout" are not."""
_LISTS = {"no": "nb", "hr": "sh", "sr": "sh", "bs": "sh"}
"""Languages that `wordfreq` has under another code."""


def english_words(
    texts: Mapping[str, Sequence[Text]],
    names: IconWords,
    known: Mapping[str, Collection[str]],
    asked: Iterable[str],
) -> set[str]:
    """List the words that count as English.

    `known` are keys and the languages that know them; `asked` are words by which people look for icons.
    """
    distinct = {text.english for held in texts.values() for text in held}
    counted = Counter(word for text in distinct for word in set(text.split()))
    said = {word for word, n in counted.items() if n >= _LEAST_TEXTS}
    said |= {word for word, n in names.words.items() if n >= _LEAST_NAMES}
    candidates = {word for word in (*asked, *known) if word.isascii() and word.isalpha()}
    return said | {word for word in candidates if _is_usual(word, known.get(word, ()))}


def _is_usual(word: str, languages: Collection[str]) -> bool:
    """Whether English uses a word about as much as any language that knows it."""
    use = _use(ENGLISH, word)
    elsewhere = max((_use(code, word) for code in languages), default=0.0)
    return use >= _LEAST_USE and use >= elsewhere - (_LESS_OF_MUCH if use >= _MUCH_USE else _LESS)


def _use(language: str, word: str) -> float:
    return _uses(_LISTS.get(language, language)).get(word, 0.0)


@cache
def _uses(code: str) -> Mapping[str, float]:
    """How often a language uses its words, folded; of others than English the usual ones alone."""
    try:
        from wordfreq import available_languages, freq_to_zipf, get_frequency_dict
    except ImportError as error:
        raise SourceError('English words need "wordfreq": run pip install "icons[train]"') from error
    size = "best" if code == ENGLISH else "small"
    if code not in available_languages(size):
        return {}
    uses: dict[str, float] = {}
    for word, share in get_frequency_dict(code, size).items():
        key = fold(word)
        uses[key] = max(uses.get(key, 0.0), float(freq_to_zipf(share)))
    return uses
