"""What do the words of a query ask of this library? Read once, with all vectors that ranking takes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.naming.names import normalise
from search.generation.opened import Opened
from search.generation.standing import Standing
from search.query import refuse_many
from search.words.codes import Code, read_code
from search.words.wording import Wording, read, read_words


@dataclass(frozen=True, slots=True)
class Asked:
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
    sets: Standing
    """How the library's sets stand for who asks."""


@dataclass(frozen=True, slots=True)
class Avoided:
    """Words of what is to be left out, and their vectors (n, dim)."""

    words: tuple[str, ...]
    vectors: Floats


NOTHING = Avoided((), np.empty((0, 0), np.float32))


def read_asked(opened: Opened, text: str, *, prefer: Sequence[str] = (), vector: Floats | None = None) -> Asked:
    """Read the words of a query; `vector` is that of the whole text where it is known already.

    Raises:
        IconsError: there are none, or a set that is preferred is unknown.
    """
    code = _code_in(opened, text)
    wording = read_words(text if code is None else code.name, opened.speller, is_borne=opened.is_borne)
    if code is not None:
        wording = replace(wording, spellings=(*wording.spellings, normalise(text)))
    if wording.spelled:
        vector = _middle(opened.encoder.encode_many_words([wording.typed, wording.spelled]))
    elif vector is None or wording.typed != normalise(text):
        vector = opened.encoder.encode_words(wording.typed)
    parts, drawn = encode(opened, wording.parts), encode(opened, wording.drawn)
    return Asked(wording, code, vector, parts, drawn, opened.standing(prefer))


def _middle(vectors: Floats) -> Floats:
    """Direction between two vectors: a guess may be wrong, and what was typed may be none of the encoder's words."""
    middle = vectors.sum(axis=0)
    return np.asarray(middle / np.linalg.norm(middle), np.float32)


def read_avoided(opened: Opened, *words: str) -> Avoided:
    """Read what is to be left out; each thing once.

    Raises:
        IconsError: it is too much.
    """
    distinct = tuple(filter(None, dict.fromkeys(map(read, words))))
    refuse_many(distinct)
    return Avoided(distinct, encode(opened, distinct))


def encode(opened: Opened, words: tuple[str, ...]) -> Floats:
    """Encode some words, (n, dim); none cost nothing."""
    if not words:
        return np.empty((0, opened.manifest.dim), np.float32)
    return opened.encoder.encode_many_words(words)


def _code_in(opened: Opened, text: str) -> Code | None:
    """Code, unless it could be words, and is a name here or calls no icon: "map-marker", "carbon-footprint"."""
    code = read_code(text, opened.facets.set_names)
    if code is None or code.is_certain:
        return code
    calls_none = len(code.sets) > 0 and not len(icons_called(opened, code))
    return None if calls_none or opened.is_borne(normalise(text)) else code


def icons_called(opened: Opened, code: Code) -> Ids:
    """Icons of the sets that code tells whose names are spelt as it spells them, else by the same words."""
    keys = [opened.facets.labels("set").values[number] for number in code.sets]
    return opened.snapshot.called(keys, code.name) if keys else np.empty(0, np.int64)
