"""The words of a query, read once for this library, with all vectors that ranking takes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.languages.dictionary import Dictionary
from indexer.languages.letters import language_of
from indexer.languages.reading import Reading
from indexer.languages.reading import read as read_language
from indexer.languages.words import normalise
from indexer.merging.facets import OF_LOOK
from search.generation.opened import Opened
from search.query import Query, refuse_many
from search.ranking import weights
from search.words.codes import Code, read_code
from search.words.wording import MINUS, MOST_LETTERS, WITHOUT, Wording, read, read_words, spell_signs


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """Words of a query, read and encoded."""

    wording: Wording
    code: Code | None
    """The icon that was called as code does."""
    vector: Floats
    """(dim,) of what is meant."""
    parts: Floats
    """(parts, dim) of what is joined, in the order of the wording."""
    drawn: Floats
    """(drawn, dim) of what is customarily drawn, in the order of the wording."""
    reading: Reading | None
    """How it was read in English, where it is in another language."""


@dataclass(frozen=True, slots=True)
class Avoided:
    """Words of what is to be left out, and their vectors (n, dim)."""

    words: tuple[str, ...]
    vectors: Floats


_LEAVING_OUT = re.compile(rf"(?<=\s)(without|not|{'|'.join(WITHOUT)})(?=\s)(?! serif)", re.IGNORECASE)
"""Words within a text of any language; "no" is not among them, which is Spanish and Portuguese."""
NOTHING = Avoided((), np.empty((0, 0), np.float32))


def parse_query(opened: Opened, text: str, *, languages: Sequence[str] = ()) -> ParsedQuery:
    """Read the words of a query.

    Raises:
        IconsError: there are none.
    """
    code = _code_in(opened, text)
    reading, english = (None, text) if code else _read_in_english(opened, text, languages)
    if reading and reading.language not in map(language_of, languages) and _is_own(opened, normalise(text)):
        reading, english = None, text
    said = code.name if code else english
    styles = [style for kind in OF_LOOK for style in opened.facets.labels(kind).values]
    wording = read_words(said, opened.speller, is_name_or_tag=opened.is_name_or_tag, styles=styles)
    if said != text:
        wording = replace(wording, spellings=(normalise(text), *wording.spellings))
    meant = _meant(wording, reading, text)
    vectors = opened.encoder.encode_many_words((*meant, *wording.parts, *wording.drawn))  # all in one go
    own, parts, drawn = np.split(vectors, np.cumsum([len(meant), len(wording.parts)]))
    middle = np.array([*meant.values()], np.float32) @ own
    vector = np.asarray(middle / np.linalg.norm(middle), np.float32)
    return ParsedQuery(wording, code, vector, parts, drawn, reading)


def _meant(wording: Wording, reading: Reading | None, text: str) -> dict[str, float]:
    """What the encoder is asked with, and what each of these counts beside the others."""
    if wording.spelled:
        return {wording.spelled: 1.0}
    if not (wording.style or wording.parts) and wording.name != wording.typed:
        # Several of what is called by one, two words by one: "keys" alone is near keyboards.
        return {wording.typed: 1.0, wording.name: 1.0}
    if reading is not None and not wording.without and (reading.others or reading.is_english_too):
        # A word has several meanings, of which the library draws one.
        too = {normalise(text): 1.0} if reading.is_english_too else {}
        others = {words: weights.OTHER_READINGS * weight for words, weight in reversed(reading.others)}
        return {**too, **others, wording.typed: 1.0}
    return {wording.typed: 1.0}


def _read_in_english(opened: Opened, text: str, languages: Sequence[str]) -> tuple[Reading | None, str]:
    """Read a text of another language, and put it into English; what a minus leaves out comes last."""
    shown, left_out = MINUS.sub(" ", text[:MOST_LETTERS]), MINUS.findall(text[:MOST_LETTERS])
    head, *rest = _LEAVING_OUT.split(shown)
    reading, words = _reading_of(opened, head, languages), [word.lower() for word in rest[::2]]
    own = [reading.language] if reading else [WITHOUT[word] for word in words if word in WITHOUT][:1]
    if not own:
        return None, text
    parts = (_in_english(opened, part.strip(), own) for part in rest[1::2])
    said = [reading.english if reading else head]
    said += [f"{'not' if word == 'not' else 'without'} {part}" for word, part in zip(words, parts, strict=True)]
    said += ["-" + "-".join(_in_english(opened, word, own).split()) for word in left_out]
    return reading, " ".join(map(str.strip, said))


def _in_english(opened: Opened, text: str, languages: Sequence[str]) -> str:
    reading = _reading_of(opened, text, languages)
    return reading.english if reading else text


def _reading_of(opened: Opened, text: str, languages: Sequence[str]) -> Reading | None:
    """Read a text; None where it is English, or holds signs alone."""
    if not any(map(str.isalpha, text)):
        return None
    return read_language(
        Dictionary.bundled(),
        spell_signs(text),
        preferred=[language_of(language) for language in languages],
        is_slip=lambda word: opened.speller.correct(word) is not None,
    )


def _is_own(opened: Opened, typed: str) -> bool:
    """Whether a text is a name or a tag here, of usual words or digits: "serpent" and "boutique" are French, too."""
    are_usual = (opened.speller.is_usual(word) or not word.isalpha() for word in typed.split())
    return opened.is_name_or_tag(typed) and all(are_usual)


def parse_avoided(opened: Opened, query: Query, parsed: ParsedQuery | None = None) -> Avoided:
    """Read what a query leaves out, in its words and beside them, in the language of its words; each thing once.

    Raises:
        IconsError: it is too much.
    """
    languages = (parsed.reading.language,) if parsed and parsed.reading else query.languages
    words = [*(parsed.wording.without if parsed else ()), *(_in_english(opened, it, languages) for it in query.without)]
    distinct = tuple(filter(None, dict.fromkeys(map(read, words))))
    refuse_many(distinct)
    return Avoided(distinct, opened.encoder.encode_many_words(distinct)) if distinct else NOTHING


def _code_in(opened: Opened, text: str) -> Code | None:
    """Code, unless it could be words, and is a name here or calls no icon: "map-marker", "carbon-footprint"."""
    code = read_code(text, opened.facets.labels("set").set_names)
    if code is None or code.is_certain:
        return code
    calls_none = len(code.sets) > 0 and not len(icons_called(opened, code))
    return None if calls_none or opened.is_name_or_tag(normalise(text)) else code


def icons_called(opened: Opened, code: Code) -> Ids:
    """Icons of the sets that code tells whose names are spelt as it spells them, else by the same words."""
    keys = [opened.facets.labels("set").values[number] for number in code.sets]
    return opened.snapshot.called(keys, code.name) if keys else np.empty(0, np.int64)
