"""What is answered: plain data that the engine, the command line and the HTTP API share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from search.query import ReadAs

MOST_ALSO = 5
"""Icons with the drawing of a hit that it names."""
MOST_COUNTED = 1_000
"""Hits that `n_found` counts at most."""
N_VALUES = 50
"""Values of a kind that a count names at most."""
_SVG_NAME = re.compile(r"\.svgz?(?:#[0-9]+)?$", re.IGNORECASE)
"""A manifest that lists a file twice calls it NAME#2."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: an icon, standing for all variants of its name in its set."""

    id: int
    key: str
    """What `SearchEngine.find` takes to come back to this icon: "mdi:home"."""
    image: int
    """Id of its picture in the catalog."""
    digest: str
    """BLAKE2b of its picture's bytes, 32 digits: it means this picture in every library, where ids count anew."""
    name: str
    """As its source spells it."""
    words: str
    set: str
    set_title: str
    style: str | None
    """All that is stated, and the look that was seen: "filled", "sharp outline"."""
    size: int | None
    licence: str | None
    licence_family: str
    coloured: bool | None
    animated: bool | None
    path: str
    """The file that holds it, absolute."""
    member: str
    """Its key inside that file; "" where the file is the picture."""
    score: float
    """Calibrated, 0 to 1: where the best hit has less than 0.5, the query may have no answer here. 1 where nothing was
    asked."""
    similarity: float | None
    """Cosine of its vector with the query's, beside words and a picture the mean of both by `picture_share`; None where
    no vector is asked: of a keyword query, and where icons are browsed or shown."""
    exact: bool
    """Whether its name is the query."""
    n_variants: int
    """Icons of its set that bear its name, itself included; 1 in a flat answer."""
    also: tuple[str, ...]
    """Keys of others that have the same drawing, in other sets or under other names; `MOST_ALSO` at most, none in a
    flat answer."""
    n_also: int
    """How many these are."""

    @property
    def place(self) -> str:
        """Its file, or FILE#KEY where it is one of many inside a file."""
        return f"{self.path}#{self.member}" if self.member else self.path

    @property
    def is_svg(self) -> bool:
        """Whether its picture is an SVG: all that stand inside a file are."""
        return self.member != "" or _SVG_NAME.search(self.path) is not None


@dataclass(frozen=True, slots=True)
class FacetCount:
    """How many icons that were found have one value of a facet."""

    value: str
    """What the filter of that name takes."""
    title: str
    n: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query found, one window of it."""

    hits: Sequence[Hit]
    n_found: int
    """Hits of all windows, the same for every one; of a query counted up to 1,000, all where icons are browsed."""
    is_more: bool
    """Whether there are more hits than `n_found`, or may be."""
    facets: Mapping[str, Sequence[FacetCount]] | None
    """Kind (set, style, corner, licence, category, tag) -> values, most frequent first; None where not asked for. A
    value's count is that of the hits that this query has under a filter for it, however many these are."""
    spelled: str | None
    """The query as it was probably meant, where a word of it is unknown here."""
    read_as: ReadAs | None
    """How the query was read in English, where it is in another language."""
    is_doubtful: bool
    """Whether not even the best hit is a good one: these are the nearest, and perhaps none is right."""

    @property
    def counted(self) -> str:
        """How many hits there are, for people: "1,000+" where there are more."""
        return f"{self.n_found:,}+" if self.is_more else f"{self.n_found:,}"


def values_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are: `asdict`, which looks into each, takes four times as long."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def envelope(query: str, answer: Answer, *, generation: int, seconds: float) -> dict[str, Any]:
    """An answer as programs get it, from the command line and over HTTP."""
    plain = asdict(replace(answer, hits=()))
    plain["hits"] = list(map(values_of, answer.hits))
    return {"query": query, **plain, "generation": generation, "ms": round(1000 * seconds, 2)}


@dataclass(frozen=True, slots=True)
class SetCard:
    """What a set is like, in a few words and pictures."""

    key: str
    title: str
    n: int
    """Icons, variants counted one by one."""
    licence: str | None
    licence_family: str
    styles: Sequence[str]
    """Those that one icon in twenty has or more, most frequent first."""
    categories: Sequence[str]
    """Of its icons, as styles; five at most."""
    version: str | None
    author: str | None
    newest: int
    """Id of the icon that was indexed last: the greater it is, the newer the set."""
    sample: Sequence[Hit]
    """Eight icons or fewer that show what it looks like, the same ones each time."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What an answer makes of one icon."""

    hit: Hit
    """Its score and similarity are those of this query."""
    rank: int | None
    """Its place among the hits, from 1; None where it is none, or another one stands for it."""
    tier: str
    """How directly it answers: called, named, stated (a tag is the query), related."""
    cosines: Mapping[str, float]
    """With the query's vector: picture, name, tags where it states some, and all of them fused."""
    features: Mapping[str, float]
    """All that says something of it (`search.ranking.features`): vectors, words of the name, style, parts, ..."""
    weights: Mapping[str, float]
    """Log-odds that each of these is worth (`search.ranking.weights`)."""
    evidence: Mapping[str, float]
    """Both multiplied; together what the icon is ranked by within its tier."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an icon stands where it stands, beside the one that comes first."""

    typed: str
    """What the encoder is asked with."""
    name: str
    """What names are looked through for."""
    style: str | None
    parts: Sequence[str]
    drawn: Sequence[str]
    """What is customarily drawn for it, by the thesaurus."""
    synonyms: Sequence[str]
    """Names under which other sets have it."""
    without: Sequence[str]
    spelled: str | None
    read_as: ReadAs | None
    """How the words were read in English, where they are in another language."""
    icon: Judged
    first: Judged | None
    """None where the answer is empty."""
    shown: str
    """Whether the icon is a hit, and which variant, drawing or other set moved it; if it is none, why."""


@dataclass(frozen=True, slots=True)
class NameRead:
    """How the name of an icon was read, which is in another language."""

    language: str
    """ISO 639 code."""
    name: str
    """The language's name in English."""
    english: str
    others: tuple[str, ...]
    """What else it may say."""


@dataclass(frozen=True)
class KnownOfIcon:
    """What a library knows of one icon beside what a hit says."""

    name_read: NameRead | None
    """None where its name stands as it is."""
    caption: str | None
    tags: Sequence[str]
    english_tags: Sequence[str]
    """All of them in English, where one is in another language."""
    categories: Sequence[str]
    author: str | None
    version: str | None
    """Of its set."""
    set_licence: str | None
    source: str
    """Where it comes from, as `icons index` was called with it."""


@dataclass(frozen=True, slots=True)
class Details(KnownOfIcon):
    """Everything that a library knows of one icon."""

    hit: Hit
    """Its score is 1: it is itself."""
    variants: Sequence[Hit]
    """The other icons of its name in its set."""
    near_duplicates: Sequence[Hit]
    """Other icons that look the same."""
