"""Which words count as English? Those of interfaces, of icons' names, and usual ones that no other language says more.

A word that counts is read as another language's only where the user reads that first.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache

from data.making.language.icon_words import IconWords
from data.making.language.interface_texts import Text
from indexer.errors import SourceError
from indexer.languages.dictionary import ENGLISH
from indexer.languages.folding import fold

_LEAST_TEXTS, _LEAST_NAMES = 3, 8
"""Texts, or names of icons, that say a word."""
_LEAST_USE, _MUCH_USE = 2.5, 4.0
"""On the scale of `wordfreq`: once in three million words, and once in a hundred thousand."""
_LEAST_ALONE = 1.5
"""Of a word that is usual in no language: "assignee", "concatenate"."""
_MANY_ASK = frozenset({"zh", "pt", "es", "fr", "de", "ru", "ja", "ar", "ko", "hi"})
_LESS, _LESS_OF_MUCH, _LESS_THAN_OTHERS = 0.5, 1.0, 2.5
"""By how much a word may be used less in English than in a language that many ask in ("rust" is English, "amor" and
"tout" are not), and than in others: who states no language and types "bent" is rarely Dutch."""
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
    elsewhere = {code: _use(code, word) for code in languages}
    less = _LESS_OF_MUCH if use >= _MUCH_USE else _LESS
    least = max(
        (said - (less if code in _MANY_ASK else _LESS_THAN_OTHERS) for code, said in elsewhere.items()), default=0
    )
    return use >= max(least, _LEAST_USE if any(elsewhere.values()) else _LEAST_ALONE)


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
