"""From packages to the dictionary: reads sources, weighs the words of each language, keeps the most useful."""

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.making.language.texts import Text, interface_texts
from data.making.language.weighing import (
    N_TERMS,
    Neighbours,
    Sources,
    Terms,
    find_neighbours,
    prune,
    usual_words,
    weigh,
)
from data.making.language.words import Annotations, IconWords, english_words, read_annotations, read_icon_words
from data.making.language.writing import SOUNDS, group_by_sound, write_dictionary
from indexer.errors import SourceError
from indexer.languages.dictionary import ANY, ENGLISH, Dictionary, Meaning
from indexer.languages.letters import fold
from indexer.languages.reading import FUNCTION_WORDS
from indexer.library.bundled import bundled
from indexer.reports.terminal import ProgressLine

_LEAST_TEXTS = 1_000
"""Of a language that is taken up by itself."""
_SHOWN_NAMES, _SHOWN_TAGS = 3, 2
"""Names of icons, or tags, that say a word which is worth translating into."""
_LEAST_COSINE = 0.5
"""With the nearest English word, of a word that no text translates."""
_LONGEST = 48
"""Bytes, about, of a key: what people type."""
_SAME = 0.5
"""Weight of each other's first term from which on two languages mean the same by a key."""
_N_TERMS_OF_ANY = 3
_ENDINGS = {
    "de": ("e", "n", "en", "er", "s"),
    "es": ("s", "es"),
    "fr": ("s", "x"),
    "pt": ("s", "es"),
    "ru": ("\u0438", "\u044b", "\u0430", "\u044f", "\u043e\u0432"),
}
"""Of usual forms of a word."""
_RUSSIAN_ENDS = "\u0430\u043e\u044f\u044c\u0439\u0435"
_SHORTEST, _SHORT = 3, 5
"""Letters of a word whose forms are listed, since stems have four at least."""
_OF_WRITTEN, _BESIDE_WRITTEN = 0.8, 0.4
"""Weights: of a written word's next term beside the one before, and of what sources say beside what is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What the dictionary holds."""

    languages: Sequence[str] = ()
    """Codes; none for all with 1,000 texts or more."""
    most: int
    """Words and phrases of a language."""
    usual_words: int
    """Words that no text translates, of any language."""


def build(folders: Sequence[Path], out: Path, *, cache: Path, recipe: Recipe, bars: ProgressLine) -> dict[str, int]:
    """Build the dictionary; tell how many keys each language has, by its English name.

    Raises:
        SourceError: a package is in none of the folders.
    """
    [modules] = [folder for folder in folders if (folder / "cldr-annotations-full").is_dir()] or folders[:1]
    bars.stage("Reading texts")
    texts, signs, names = _by_language(interface_texts(folders)), read_annotations(modules), read_icon_words(modules)
    codes = recipe.languages or [code for code, held in texts.items() if len(held) >= _LEAST_TEXTS]
    neighbours = _neighbours(texts, signs, names, codes, cache=cache, bars=bars)
    bars.stage("Weighing words")
    keys: dict[str, list[Meaning]] = {}
    counts: dict[str, int] = {}
    known: set[str] = set()
    shown = _words_that_find(names)
    for done, code in enumerate(codes):
        bars.advance(done, len(codes), code)
        weighed = weigh(Sources(texts.get(code, ()), signs.get(code, {}), signs[ENGLISH], neighbours))
        known.update(weighed)
        counts[code] = _take(keys, code, prune(weighed, names=shown, most=recipe.most))
    spoken = {word: {code for meaning in meanings for code in meaning.languages} for word, meanings in keys.items()}
    english = english_words(texts, names, spoken, shown)
    for word in _unknown(neighbours, known | english)[: recipe.usual_words]:
        _add(keys.setdefault(word, []), ANY, neighbours[word].terms[:_N_TERMS_OF_ANY])
    for word in english:
        keys.setdefault(word, []).append(Meaning(frozenset((ENGLISH,)), ()))
    write_in(keys, written_words())
    usual = [word for word, _ in names.words.most_common() if word in english and word.isalpha() and len(word) > 2]
    keys.update(_by_sound(usual))
    titles = _titles(modules)
    order = sorted(counts, key=lambda code: -len(texts.get(code, ())))
    named = {code: titles.get(code, code) for code in order}
    write_dictionary(out, keys, names={**named, ANY: "another language", ENGLISH: "English", SOUNDS: "by its sound"})
    return {named[code]: counts[code] for code in order}


def _take(keys: dict[str, list[Meaning]], code: str, kept: Mapping[str, Terms]) -> int:
    """Add what the words of a language mean to the keys, but what nobody types; return how many words it has."""
    for word, terms in kept.items():
        if len(word.encode()) <= _LONGEST:
            _add(keys.setdefault(word, []), code, terms)
    return len(kept)


def _by_sound(words: Sequence[str]) -> dict[str, list[Meaning]]:
    """What is written as it sounds, in place of all else that it could mean."""
    return {
        key: [Meaning(frozenset((SOUNDS,)), tuple((word, 1.0) for word in alike))]
        for key, alike in group_by_sound(words).items()
    }


Written = Mapping[tuple[str, str], Sequence[str]]
"""(language, key) -> English terms, the likeliest first."""


def written_words() -> Written:
    """Everyday words that were written down, `data/language/written/words.txt.xz`: a line is an English term and what
    each language of the first line says for it.
    """
    with lzma.open(bundled("language") / "written/words.txt.xz", "rt", encoding="utf-8") as file:
        codes, *rows = [line.rstrip("\n").split("|") for line in file]
    found: dict[tuple[str, str], list[str]] = {}
    for english, *said in rows:
        for code, texts in zip(codes[1:], said, strict=True):
            for key in filter(None, dict.fromkeys(map(fold, texts.split("/")))):
                found.setdefault((code, key), []).append(english)
    return found


def write_in(keys: dict[str, list[Meaning]], written: Written) -> None:
    """Put written words, and their usual forms, before what sources say that a language means by them."""
    for (code, key), terms in [*_forms(keys, written), *written.items()]:
        meant = {term: _OF_WRITTEN**place for place, term in enumerate(terms)}
        kept = list[Meaning]()
        for meaning in keys.get(key, ()):
            if code in meaning.languages and meaning.terms:
                meant |= {term: _BESIDE_WRITTEN * weight for term, weight in meaning.terms if term not in meant}
            if meaning.languages != {code}:
                kept.append(Meaning(meaning.languages - {code}, meaning.terms))
        keys[key] = kept
        _add(kept, code, tuple(meant.items())[:N_TERMS])


def _forms(keys: Mapping[str, Sequence[Meaning]], written: Written) -> Iterator[tuple[tuple[str, str], Sequence[str]]]:
    """Forms of the written words that a search would not find by their stem: of short ones, and misread ones."""
    for (code, key), terms in written.items():
        stem = key[:-1] if code == "ru" and key[-1:] in _RUSSIAN_ENDS else key
        for form in (
            stem + ending for ending in _ENDINGS.get(code, ()) if key.isalpha() and terms[0] not in FUNCTION_WORDS
        ):
            is_misread = any({code, ANY} & meaning.languages for meaning in keys.get(form, ()))
            if (code, form) not in written and len(key) >= _SHORTEST and (is_misread or len(key) < _SHORT):
                yield (code, form), terms


def write_in_again(out: Path) -> int:
    """Put the written words into the bundled dictionary as it is, and write it; tell how many there are."""
    dictionary, written = Dictionary.bundled(), written_words()
    keys = {key: list(dictionary.meanings(key)) for key in dictionary.beginning("")}
    write_in(keys, written)
    write_dictionary(out, keys, names=dictionary.languages)
    return len(written)


def _by_language(texts: Iterable[Text]) -> dict[str, list[Text]]:
    found: dict[str, list[Text]] = {}
    for text in texts:
        found.setdefault(text.language, []).append(text)
    return found


def _neighbours(
    texts: Mapping[str, Sequence[Text]],
    signs: Annotations,
    names: IconWords,
    codes: Sequence[str],
    *,
    cache: Path,
    bars: ProgressLine,
) -> dict[str, Neighbours]:
    """Ask the model for the words of all languages that are taken up, and for its own usual words."""
    spelled: dict[str, str] = {}
    for code in codes:
        counted = Counter(word for text in texts.get(code, ()) for word in text.foreign.split())
        words = [word for word, n in counted.items() if n > 1]
        words += [word for said in signs.get(code, {}).values() for word in said.words]
        spelled |= {fold(word): word for word in words}
    spelled |= {fold(word): word for word in usual_words()}
    spelled.pop("", None)
    bars.stage("Asking the sentence model")
    return find_neighbours(list(spelled.values()), names.terms, cache=cache, progress=bars)


def _words_that_find(names: IconWords) -> dict[str, int]:
    """Words by which icons are found: how many names say each, or tags, and terms of the thesaurus."""
    language = bundled("language")
    tags = Counter(word for tag in Dictionary(language / "synonyms.bin").beginning("") for word in tag.split())
    terms = json.loads((language / "terms.json").read_text("utf-8"))
    tags.update({word: _SHOWN_TAGS for term in terms for word in term.split()})
    found = {word: _SHOWN_NAMES for word, n in tags.items() if n >= _SHOWN_TAGS}
    return found | {word: n for word, n in names.words.items() if n >= _SHOWN_NAMES}


def _unknown(neighbours: Mapping[str, Neighbours], known: set[str]) -> list[str]:
    """Words that nothing but the model knows, those it is surest of first."""
    words = (word for word in neighbours if word not in known and " " not in word and len(word) > 1)
    sure = [word for word in words if neighbours[word].cosine >= _LEAST_COSINE]
    return sorted(sure, key=lambda word: (-neighbours[word].cosine, word))


def _add(meanings: list[Meaning], language: str, terms: Terms) -> None:
    """Add what a language means by a key, to what other languages mean if that is the same."""
    for place, other in enumerate(meanings):
        if dict(other.terms).get(terms[0][0], 0) >= _SAME and dict(terms).get(other.terms[0][0], 0) >= _SAME:
            meanings[place] = Meaning(other.languages | {language}, other.terms)
            return
    meanings.append(Meaning(frozenset((language,)), terms))


def _titles(modules: Path) -> dict[str, str]:
    """English names of languages, as CLDR has them."""
    path = modules / "cldr-localenames-full/main/en/languages.json"
    try:
        held = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SourceError(f'"{path}" can\'t be read; `npm install cldr-localenames-full` brings it') from error
    titles: dict[str, str] = held["main"]["en"]["localeDisplayNames"]["languages"]
    return titles
