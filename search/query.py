"""What is asked and what is answered: plain data that the engine, the command line and the HTTP API share."""

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from indexer.errors import IconsError, LateError
from indexer.languages.letters import is_locale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_HITS = 10_000
"""The most that one answer holds, and how deep the window of a ranked one reaches: offset and k together."""
MOST_OFFSET = 10_000_000
"""Where icons are not ranked but browsed, windows may lie as deep as the largest library."""
MOST_WITHOUT = 16
"""Things that one query may steer away from: each is held against every candidate."""
MOST_LANGUAGES = 10
"""That one user reads."""
Sort = Literal["relevance", "name", "set", "newest"]
SORTS: tuple[Sort, ...] = get_args(Sort)
"""By what hits stand: how well they answer; name; set, then name; when they were first indexed, the last ones first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for: words, a picture, an icon, or words with one of the two; nothing of these to browse."""

    words: str = ""
    """What it means, how it looks, or its name."""
    picture: "bytes | NDArray[np.uint8] | None" = None
    """Any format that `icons` reads, any size and ratio; or its pixels, as `cutout.cut_out` gives them at
    the size of the library's encoder: whoever asks with strangers' pictures has them drawn in other processes."""
    icon: int | None = None
    """Id of an icon: more like this one."""
    without: tuple[str, ...] = ()
    """What to steer away from: `--not filled`."""
    keyword: bool = False
    """Whether the words are a keyword query: words that must all be there, prefix*, "a phrase", -excluded."""
    picture_share: float = 0.5
    """Share of the picture or icon beside words, 0 to 1."""
    prefer: tuple[str, ...] | None = None
    """Sets that come first where several have an icon, by key or title, best first; None: those that the library's
    user chose (`icons config sets`)."""
    languages: tuple[str, ...] = ()
    """Languages that the user reads, most used first, as locales or ISO 639 codes: these decide where a word is two
    languages'. Words of any language are read without."""

    def __post_init__(self) -> None:
        for text in (self.words, *self.without):
            refuse_broken(text)
        if isinstance(self.picture, str | Path):
            raise IconsError(f'"{self.picture}" is no picture; give its bytes, as Path("{self.picture}").read_bytes()')
        refuse_many(self.without)
        if len(self.languages) > MOST_LANGUAGES:
            raise IconsError(f"{len(self.languages)} languages; name {MOST_LANGUAGES} or fewer")
        for language in self.languages:  # one that the dictionary lacks says what a user reads, too
            if not is_locale(language):
                raise IconsError(f'language is "{language}"; give a code as de or pt-BR')

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked for: then icons are browsed."""
        return not (self.words.strip() or self.without or self.keyword) and self.picture is None and self.icon is None


_SVG = re.compile(r"(?>(?>\s+|<\?.*?\?>|<!--.*?-->|<!doctype[^>]*>)*)<svg[\s>]", re.IGNORECASE | re.DOTALL)


def pasted_svg(words: str) -> bytes | None:
    """The SVG that stands where words should: a picture to ask with. None where words stand there."""
    return words.encode() if _SVG.match(words) else None


def refuse_empty(words: str) -> None:
    """Refuse words that say nothing.

    Raises:
        IconsError: that is so.
    """
    refuse_broken(words)
    if not words.strip():
        raise IconsError('the query is empty; try `icons search "arrow"`')


def refuse_many(without: Sequence[str]) -> None:
    """Refuse to steer away from more than a search can hold against every candidate.

    Raises:
        IconsError: that is so.
    """
    if len(without) > MOST_WITHOUT:
        raise IconsError(f"{len(without)} things to steer away from; name {MOST_WITHOUT} or fewer")


def refuse_broken(text: str) -> None:
    """Refuse what is no Unicode text: half of a surrogate pair, as a byte that is not UTF-8 becomes on a command line.

    Raises:
        IconsError: that is so.
    """
    if not isinstance(text, str):
        raise IconsError(f'"{text}" is no text; give words, as "arrow"')
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise IconsError(f'"{text}" is not Unicode text; type it again, in UTF-8') from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a hit must be; values of one field are alternatives, fields hold together."""

    sets: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    """As people call them: filled or solid, outline or line; "sharp filled" is both."""
    corners: tuple[str, ...] = ()
    """Rounded, sharp."""
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    """SPDX ids, or families: permissive, attribution, share-alike, copyleft, non-commercial, unknown."""
    sizes: tuple[int, ...] = ()
    animated: bool | None = None
    coloured: bool | None = None

    def __post_init__(self) -> None:
        for name in ("sets", "styles", "corners", "categories", "tags", "licences", "sizes"):
            if isinstance(values := getattr(self, name), str):
                raise IconsError(f'"{values}" is one text where several are asked for; give ("{values}",)')
            object.__setattr__(self, name, tuple(values))  # lists are taken, too, and what was asked is remembered
            for text in () if name == "sizes" else values:
                refuse_broken(text)
        for name in ("animated", "coloured"):
            if (value := getattr(self, name)) not in (None, True, False):
                raise IconsError(f'{name} is "{value}"; give True or False')


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of the answer is asked for, and how it is laid out."""

    k: int = 10
    offset: int = 0
    sort: Sort = "relevance"
    """Of a query's hits the best 1,000 are sorted by anything else. Where icons are browsed, it means set."""
    min_score: float | None = None
    """Least calibrated score of a hit; None: the library's own default, 0: everything."""
    flat: bool = False
    """Every icon by itself: no grouping of variants or of equal pictures."""
    facets: bool = False
    """Count sets, styles, licences, categories and so on among what is found."""

    def __post_init__(self) -> None:
        for name in ("k", "offset"):
            if not hasattr(getattr(self, name), "__index__"):
                raise IconsError(f'{name} is "{getattr(self, name)}"; give a whole number')
        for name, holds, hint in (
            ("k", self.k >= 1, "ask for 1 hit or more"),
            ("k", self.k <= MOST_HITS, f"ask for {MOST_HITS:,} hits or fewer"),
            ("offset", 0 <= self.offset <= MOST_OFFSET, f"begin between 0 and {MOST_OFFSET:,}"),
            ("sort", self.sort in SORTS, f"choose one of {', '.join(SORTS)}"),
            ("min_score", self.min_score is None or 0 <= self.min_score <= 1, "give a number from 0 to 1"),
        ):
            if not holds:
                raise IconsError(f'{name} is "{getattr(self, name)}"; {hint}')

    def refuse_deep(self) -> None:
        """Refuse a window that reaches deeper than hits are ranked.

        Raises:
            IconsError: that is so.
        """
        if self.offset + self.k > MOST_HITS:
            raise IconsError(
                f'k "{self.k}" at offset "{self.offset}" reaches beyond hit {MOST_HITS:,}; ask for fewer hits'
            )


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A word or phrase of a query, and how it was read in English."""

    word: str
    english: tuple[str, ...]
    """The likeliest first; none where it was taken as it is."""


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a query in another language was read."""

    language: str
    """ISO 639 code."""
    name: str
    """The language's name in English."""
    english: str
    """What was looked for; what is to be left out apart."""
    is_english_too: bool
    """Whether the query was also asked as it stands: all of its words are English words, too."""
    words: tuple[ReadWord, ...]

    def __str__(self) -> str:
        """A line for people: "Pfeil: arrow; links: left, links (German)"."""
        readings = "; ".join(f"{read.word}: {', '.join(read.english)}" for read in self.words if read.english)
        return f"{readings} ({self.name})"


_ends: ContextVar[float] = ContextVar("ends", default=math.inf)


@contextmanager
def until(ends: float) -> Iterator[None]:
    """Want what this thread does in the block until a time of `time.monotonic`; without this, however long it takes."""
    before = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(before)


def is_late() -> bool:
    """Whether nobody waits any more."""
    return time.monotonic() > _ends.get()


def refuse_late() -> None:
    """End work that nobody waits for.

    Raises:
        LateError: that is so.
    """
    if is_late():
        raise LateError("nobody waits for this answer any more; ask for less at once")


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
    """Whether not even the best hit is a good one, or it lacks the look that is asked for, or is what is left out.

    These are the nearest then, and perhaps none is right."""

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
    place: int | None
    """The place of the hit that shows it, itself or the one that stands for it; None where it is no hit."""
    shown: str
    """Whether it is a hit, and which variant, drawing or other set moved it; if it is none, why."""
    tier: str
    """How directly it answers: called, named, stated (a tag is the query), related."""
    cosines: Mapping[str, float]
    """With the query's vector: picture, name, tags where it states some, and all of them fused."""
    features: Mapping[str, float]
    """All that may speak for it or against it (`search.ranking.features`): vectors, words of the name, style, ...; 0
    for what says nothing."""
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
    """What is said of the icon's place, once more."""


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
