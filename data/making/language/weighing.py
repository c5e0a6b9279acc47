"""What does each word of a language mean in English, all sources taken together? Adds up what they say."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from data.making.language.alignment import Aligned, align
from data.making.language.annotations import Annotation
from data.making.language.interface_texts import Text
from data.making.language.neighbours import Neighbours
from indexer.languages.scripts import cut, is_unspaced, runs

Terms = tuple[tuple[str, float], ...]
"""English terms with weights, the likeliest first."""
N_TERMS = 6
_WHOLE, _ALIGNED, _NAME, _KEYWORD, _NEIGHBOUR = 1.0, 0.8, 1.0, 0.6, 0.5
"""Weights of: whole texts that are short, words aligned in texts, names of signs, their keywords; of neighbours, times
the best of those."""
_LEAST = 0.1
"""Weight of a term, beside the likeliest."""
_SHORT_ENGLISH, _SHORT_FOREIGN, _SHORT_LETTERS = 3, 4, 40
_SHORT_RUN = 6


@dataclass(frozen=True, slots=True)
class Sources:
    """All that is known of one language."""

    texts: Sequence[Text]
    signs: Mapping[str, Annotation]
    english_signs: Mapping[str, Annotation]
    neighbours: Mapping[str, Neighbours]


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a word means, and how much is behind that."""

    terms: Terms
    strength: float
    """Sum of what the sources say for the likeliest term, times the logarithm of how often texts have the word."""


Add = Callable[[str, str, float], None]


def weigh(sources: Sources) -> dict[str, Weighed]:
    """Weigh what each word and short phrase of a language means."""
    found: dict[str, dict[str, float]] = {}

    def add(word: str, term: str, weight: float) -> None:
        weights = found.setdefault(word, {})
        weights[term] = weights.get(term, 0.0) + weight

    for word, counted in _whole_texts(sources.texts).items():
        n = counted.total()
        for term, count in counted.items():
            add(word, term, _WHOLE * count / (n + 0.3))
    aligned_words = _aligned_words(sources)
    for word, others in aligned_words.items():
        for term, aligned in others.items():
            seldom = 0.5 if aligned.n <= 2 else 1.0
            add(word, term, _ALIGNED * seldom * aligned.onward * aligned.back**0.5)
    _add_signs(sources, add)
    for word in [word for word in found if word in sources.neighbours]:
        near, best = sources.neighbours[word], max(found[word].values())
        for term, weight in near.terms:
            add(word, term, _NEIGHBOUR * max(0.0, near.cosine) * weight * best)
    n_seen = {word: next(iter(others.values())).n for word, others in aligned_words.items()}
    return {
        word: Weighed(_best(weights), max(weights.values()) * math.log(2 + n_seen.get(word, 0)))
        for word, weights in found.items()
    }


def _whole_texts(texts: Iterable[Text]) -> dict[str, Counter[str]]:
    """Count, for short texts, in how many sources each is translated so."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        is_short = len(text.english.split()) <= _SHORT_ENGLISH and len(text.foreign) <= _SHORT_LETTERS
        if is_short and len(text.foreign.split()) <= _SHORT_FOREIGN:
            found.setdefault(text.foreign, Counter())[text.english] += 1
    return found


def _aligned_words(sources: Sources) -> dict[str, dict[str, Aligned]]:
    """Align the words of all texts; runs without spaces are cut into what stands alone somewhere."""
    alone = {word for sign in sources.signs.values() for word in sign.words if len(word) <= _SHORT_RUN}
    for text in sources.texts:
        if len(text.english.split()) <= 2 and " " not in text.foreign and len(text.foreign) <= _SHORT_RUN:
            alone.add(text.foreign)
    pairs = dict.fromkeys((text.foreign, text.english) for text in sources.texts)
    return align((list(_words(foreign, alone)), english.split()) for foreign, english in pairs)


def _words(text: str, alone: set[str]) -> Iterator[str]:
    for word in text.split():
        if not any(map(is_unspaced, word)):
            yield word
            continue
        for run in runs(word):
            yield from cut(run, alone.__contains__) if is_unspaced(run) else (run,)


def _add_signs(sources: Sources, add: Add) -> None:
    """Add what signs are called: names translate each other, and keywords as they go together."""
    both = [
        (said, sources.english_signs[sign]) for sign, said in sources.signs.items() if sign in sources.english_signs
    ]
    named: dict[str, Counter[str]] = {}
    for said, english in both:
        for name in said.names:
            named.setdefault(name, Counter()).update(english.names)
    for name, counted in named.items():
        for term, count in counted.items():
            add(name, term, _NAME * count / counted.total())
    for word, others in align((said.words, english.words) for said, english in both).items():
        for term, aligned in others.items():
            add(word, term, _KEYWORD * (aligned.onward + aligned.back) / 2)


def _best(weights: Mapping[str, float]) -> Terms:
    """Keep the likeliest terms, by weights relative to the first."""
    first, *_ = best = sorted(weights.items(), key=lambda term: (-term[1], term[0]))[:N_TERMS]
    return tuple((term, weight / first[1]) for term, weight in best if weight >= _LEAST * first[1])
