"""Which icons an answer can be, what is asked, and which are right: query files, own names, what tags are known.

A query file is JSONL: `{"query": "throw away", "kind": "means", "relevant": ["trash", "bin"]}` a line, with an optional
"set" where only one set's icons are meant. Where icons are right by set, `"relevant": {"lucide": ["trash-2"], "tabler":
["trash"]}`, the line is a question for each of its sets that the library holds, asked among that set's icons alone.
`"in": {"de": "wegwerfen"}` says the query in other languages, which data/making/language measures.
"""

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from indexer.arrays import Ids
from indexer.errors import QueryFileError, SourceError
from indexer.languages.words import first_few, normalise
from indexer.library.folder import Generation
from indexer.library.named import read_text
from indexer.merging.browsing import group_many
from indexer.merging.facets import in_english, read_array
from indexer.merging.merge import read_tag_ids
from indexer.reports.figures import UNRANKED
from indexer.sources.source import read_indexed
from search.generation.backend import Ability, IconRow
from search.generation.opened import Opened
from search.generation.snapshot import Snapshot


@dataclass(frozen=True)
class Corpus:
    """All icons of a generation in the order of their ids; names and pictures that several share are there once."""

    icon_ids: Ids
    group_rows: Ids
    """Number of the variant group of each icon: icons of one set and one name."""
    name_ids: Ids
    """Distinct, ascending; `name_rows` says which of them each icon bears."""
    name_rows: Ids
    image_ids: Ids
    """Distinct, ascending; `image_rows` says which of them each icon shows."""
    image_rows: Ids
    drawing_rows: Ids
    """Number of the drawing of each icon: pictures that are drawn alike, whatever their bytes."""
    names: Sequence[str]
    """Each icon's name as its source spells it."""
    sets: Sequence[str]
    """Each icon's set key."""
    words: Mapping[int, str]
    """Words of a name by its id."""
    tag_ids: Ids
    """In the table of names, the words of each tag, by its code."""
    snapshot: Snapshot
    """What the catalog says of them."""

    def __len__(self) -> int:
        return len(self.icon_ids)

    @classmethod
    def read(cls, generation: Generation) -> "Corpus":
        """Read all icons of a generation."""
        snapshot = Snapshot(generation.catalog)
        rows = list(snapshot.all_icons())
        icon_ids, set_ids, names, images = np.array([row[:4] for row in rows], np.int64).reshape(-1, 4).T
        keys = snapshot.set_keys()
        name_ids, name_rows = np.unique(names, return_inverse=True)
        image_ids, image_rows = np.unique(images, return_inverse=True)
        return cls(
            icon_ids=np.ascontiguousarray(icon_ids),
            group_rows=np.unique(np.stack([set_ids, names]), axis=1, return_inverse=True)[1].reshape(-1),
            name_ids=name_ids,
            name_rows=name_rows,
            image_ids=image_ids,
            image_rows=image_rows,
            drawing_rows=np.unique(read_array(generation.drawings), return_inverse=True)[1],
            names=[row[4] for row in rows],
            sets=[keys[set_id] for set_id in set_ids.tolist()],
            words=snapshot.all_words(),
            tag_ids=read_tag_ids(snapshot.path),
            snapshot=snapshot,
        )

    def variants(self, rows: Ids) -> Ids:
        """Rows of all icons that are variants of some rows, those included; ascending."""
        return np.flatnonzero(np.isin(self.group_rows, self.group_rows[rows]))

    def drawn_alike(self, rows: Ids) -> Ids:
        """Rows of all icons that have the drawing of some rows, those included; ascending."""
        return np.flatnonzero(np.isin(self.drawing_rows, self.drawing_rows[rows]))

    def outside(self, sets: Collection[str]) -> Ids:
        """Rows of the icons of all sets but some; none where no set is named."""
        return np.flatnonzero([bool(sets) and key not in sets for key in self.sets])

    def showing(self, image: int) -> Ids:
        """Rows of all icons that show a picture, by its place in `image_ids`; ascending."""
        return np.flatnonzero(self.image_rows == image)

    @cached_property
    def first_rows(self) -> Ids:
        """Row of the first icon that shows each picture."""
        return np.unique(self.image_rows, return_index=True)[1]

    def icons(self, rows: Ids) -> list[IconRow]:
        """Read what the catalog says of some icons, by their rows."""
        ids = self.icon_ids[rows]
        found = self.snapshot.candidates(ids)
        return [found[icon] for icon in ids.tolist()]

    def shown(self, rows: Ids, *, k: int) -> "list[Shown]":
        """Show the first `k` hits of some rows, best first, as a search would: variants and equal drawings once."""
        kept = group_many(self.group_rows[rows], self.drawing_rows[rows])[:k]
        return [Shown(icon.id, icon.image_id, icon.name, icon.set) for icon in self.icons(rows[kept])]

    def content_of(self, image_id: int) -> bytes:
        """Read the bytes of a picture by its id in the catalog; errors as `content`."""
        return self.content(int(np.searchsorted(self.image_ids, image_id)))

    def content(self, image: int) -> bytes:
        """Read the bytes of a picture, by its place in `image_ids`, from its source. In ascending order it is quick.

        Raises:
            SourceError: the source has gone, or holds another picture by now.
        """
        [icon] = self.icons(self.first_rows[[image]])
        return read_indexed(icon.address(self.snapshot.digests([icon.image_id])[icon.image_id]))


N_INSTEAD = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """An icon in a report: ids of the catalog, its name and its set."""

    icon: int
    image: int
    name: str
    set: str


@dataclass(frozen=True, slots=True)
class Case:
    """One query with what came of it."""

    query: str
    """Words, or for a screenshot the name of the icon."""
    task: str
    rank: int | None
    """Of the first right answer, None where no right answer was ranked."""
    n_right: int
    right: Sequence[Shown]
    """Right answers, best ranked first."""
    instead: Sequence[Shown]
    """The first hits."""
    picture: bytes | None = None
    """The screenshot that was asked with."""


def as_rank(rank: int) -> int | None:
    """Spell a rank for people and programs."""
    return None if rank == UNRANKED else rank


Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Names = Annotated[tuple[Words, ...], Field(min_length=1)]


class Line(BaseModel):
    """What every line of a query file holds."""

    model_config = ConfigDict(hide_input_in_errors=True)
    example: ClassVar[str] = '{"query": "throw away", "kind": "means", "relevant": ["trash"]}'

    query: Words
    kind: Words


AnyLine = TypeVar("AnyLine", bound=Line)


def read_lines(file: Path, kind: type[AnyLine], *, context: object = None) -> list[AnyLine]:
    """Read the lines of a query file, of one kind; empty lines are passed over.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as expected; the message names the line.
    """
    try:
        lines = read_text(file).split("\n")  # splitlines would cut inside a text
    except SourceError as error:
        raise QueryFileError(str(error)) from error
    read = [
        check_line(line, kind, where=f'"{file}", line {number}', context=context)
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    if not read:
        raise QueryFileError(f'"{file}" holds no query; write one a line: {kind.example}')
    return read


def check_line(line: str, kind: type[AnyLine], *, where: str, context: object = None) -> AnyLine:
    """Read a line, or hold what is to be written as one against its kind.

    Raises:
        QueryFileError: it is not as expected; the message begins with `where`.
    """
    try:
        return kind.model_validate_json(line, context=context)
    except ValidationError as error:
        deepest = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
        place = ".".join(str(part) for part in deepest["loc"] if "[" not in str(part))
        problem = deepest["msg"].removeprefix("Value error, ")
        problem = f'"{place}": {problem}' if place else problem
        raise QueryFileError(f"{where}: {problem}; a line is {kind.example}") from error


@dataclass(frozen=True, slots=True)
class BenchmarkQuery:
    """One line of a query file."""

    text: str
    kind: str
    """Queries of one kind are one task: means, looks, or any other word."""
    relevant: tuple[str, ...]
    """Names of the right icons, in any spelling."""
    set: str | None = None
    by_set: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same by the word of each set, where a line says it so; `relevant` is empty then."""
    translations: Mapping[str, str] = field(default_factory=dict)
    """The query in other languages, by ISO 639 code."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query whose right answers are known: rows of a corpus, ascending, at least one."""

    query: BenchmarkQuery
    right: Ids
    sets: frozenset[str] = frozenset()
    """Keys of the sets that are asked, where icons of others are neither right nor wrong; none: all of the library."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What can be asked of a library, and what its query files ask for in vain."""

    asked: Sequence[Question]
    dropped: Sequence[BenchmarkQuery]
    """None of their relevant names is in the library, or none of their sets."""
    unknown: Sequence[str]
    """Relevant names that no icon bears, sorted."""


class _QueryLine(Line):
    """A line of a query file."""

    relevant: Names | Annotated[dict[Words, Names], Field(min_length=1)]
    set: str | None = None
    translations: dict[str, Words] = Field({}, alias="in")

    @model_validator(mode="after")
    def _one_says_sets(self) -> Self:
        if self.set is not None and isinstance(self.relevant, dict):
            raise ValueError('"set" and "relevant" both name sets')
        return self


def read_queries(file: Path) -> list[BenchmarkQuery]:
    """Read a query file; empty lines are passed over.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as above; the message names the line.
    """
    queries = []
    for line in read_lines(file, _QueryLine):
        names, by_set = (line.relevant, {}) if isinstance(line.relevant, tuple) else ((), line.relevant)
        queries.append(BenchmarkQuery(line.query, line.kind, names, line.set, by_set, line.translations))
    return queries


def find_answers(queries: Sequence[BenchmarkQuery], corpus: Corpus) -> Questions:
    """Find each query's right icons: those that bear a relevant name, and all their variants.

    A name fits an icon when both are the same words, spelled in any way: the icon's whole name, or what is left of it
    without style and size.

    A query with names by set becomes a question for each set that is here, of kind "means, lucide": icons of other sets
    are neither right nor wrong.

    Raises:
        QueryFileError: no query has an answer here.
    """
    unknown: set[str] = set()
    spelt = {normalise(name) for query in queries for some in (query.relevant, *query.by_set.values()) for name in some}
    every, by_name = frozenset(corpus.sets), defaultdict[str, list[int]](list)
    for row, (name, place) in enumerate(zip(corpus.names, corpus.name_rows.tolist(), strict=True)):
        for spelling in {normalise(name), corpus.words[int(corpus.name_ids[place])]} & spelt:
            by_name[spelling].append(row)

    def right(names: Iterable[str], keys: frozenset[str]) -> Ids:
        """Rows of the icons of some sets that bear some names, with their variants."""
        found = {name: [row for row in by_name[normalise(name)] if corpus.sets[row] in keys] for name in names}
        unknown.update(name for name, rows in found.items() if not rows)
        return corpus.variants(np.array([row for rows in found.values() for row in rows], np.int64))

    def questions(query: BenchmarkQuery) -> Iterator[Question]:
        """Ask a query of every set that it means, or of the whole library."""
        if not query.by_set:
            yield Question(query, right(query.relevant, every if query.set is None else frozenset({query.set})))
        for word, names in query.by_set.items():
            if keys := keys_of_set(word, every):
                one = replace(query, kind=f"{query.kind}, {word}", relevant=names, by_set={})
                yield Question(one, right(names, keys), keys)

    found = [(query, [one for one in questions(query) if len(one.right)]) for query in queries]
    asked, dropped = [one for _, of_query in found for one in of_query], [query for query, some in found if not some]
    if queries and not asked:
        sets = {word for query in queries for word in query.by_set}
        what = (
            "no icon of this library bears any of the relevant names"
            if unknown
            else "this library holds none of the sets that are asked about"
        )
        some = first_few([f'"{name}"' for name in sorted(unknown or sets)], most=5)
        raise QueryFileError(f"{what} ({some}); is --library right?")
    return Questions(asked, dropped, sorted(unknown))


def keys_of_set(word: str, keys: Iterable[str]) -> frozenset[str]:
    """Choose the sets that a word means: that of this key, else all whose key has the word in it ("@tabler/icons")."""
    keys = frozenset(keys)
    as_word = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", re.IGNORECASE)
    return keys & {word} or frozenset(key for key in keys if as_word.search(key))


NO_TAGS, ALL_TAGS = "no tags", "all tags"
TAG = "tag"
"""Kind of the questions that are a library's own tags."""


@dataclass(frozen=True, slots=True)
class Tags:
    """Which icon states which tag, a pair each, by icon."""

    words: Sequence[str]
    """As queries are spelled, by code."""
    rows: Ids
    """Rows of the corpus, ascending."""
    codes: Ids

    @classmethod
    def read(cls, opened: Opened) -> "Tags":
        """Read the tags of all icons of a generation, in English."""
        rows, codes = in_english(opened.snapshot.path, opened.in_memory(Ability.EVALUATE).pairs("tag")).astype(np.int64)
        return cls(opened.facets.labels("tag").values, rows, codes)


@dataclass(frozen=True, slots=True)
class Regime:
    """What is known, and what is asked."""

    name: str
    known: Tags
    questions: Sequence[Question]


def regimes(tags: Tags, questions: Sequence[Question], *, n_tags: int, seed: int) -> Iterator[Regime]:
    """Ask some questions, and `n_tags` of the library's own tags by lot, with no tags known, then with all.

    The last regime is that of the library itself, which has a single one where it has no tags.
    """
    lot = np.sort(np.random.default_rng(seed).permutation(np.unique(tags.codes))[:n_tags]).tolist()
    asked = [(BenchmarkQuery(tags.words[code], TAG, (tags.words[code],)), tags.codes == code) for code in lot]
    questions = [*questions, *(Question(query, tags.rows[is_stated]) for query, is_stated in asked)]
    yield Regime(NO_TAGS, replace(tags, rows=tags.rows[:0], codes=tags.codes[:0]), questions)
    if len(tags.rows):
        yield Regime(ALL_TAGS, tags, questions)


AS_IT_IS, TURNED, SLIPPED = "name", "name, turned round", "name, misspelt"
_SHORTEST = 5
"""Of a word in which a slip is made: shorter ones become other words."""


def name_questions(corpus: Corpus, *, n: int, seed: int) -> Iterator[Question]:
    """Ask for `n` names by lot: as they are, those of several words back to front, and with a slip in the longest word.

    Right are all icons that bear the name.
    """
    lot = np.random.default_rng(seed).permutation(len(corpus.name_ids))[:n]
    for row in sorted(lot.tolist()):
        words = corpus.words[int(corpus.name_ids[row])]
        for kind, text in _ways_to_type(words, random.Random(f"{seed} {words}")):
            yield Question(BenchmarkQuery(text, kind, (words,)), np.flatnonzero(corpus.name_rows == row))


def _ways_to_type(words: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    yield AS_IT_IS, words
    parts = words.split()
    if len(parts) > 1:
        yield TURNED, " ".join(reversed(parts))
    longest = max(parts, key=len)
    if len(longest) >= _SHORTEST and longest.isalpha():
        yield SLIPPED, " ".join(_slipped(part, chance) if part == longest else part for part in parts)


def _slipped(word: str, chance: random.Random) -> str:
    """Leave a letter out, double one, or swap two; never the first."""
    place = chance.randrange(1, len(word) - 1)
    start, letter, rest = word[:place], word[place], word[place + 1 :]
    return chance.choice((start + rest, start + letter + letter + rest, start + rest[0] + letter + rest[1:]))
