"""What is asked: plain data that the engine, the command line and the HTTP API share; and until when somebody waits."""

import math
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

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
        for values in (self.sets, self.styles, self.corners, self.categories, self.tags, self.licences):
            if isinstance(values, str):
                raise IconsError(f'"{values}" is one text where several are asked for; give ("{values}",)')
            for text in values:
                refuse_broken(text)


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
