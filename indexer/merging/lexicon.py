"""A generation's snapshot of the catalog, with a keyword index; and its lexicon: stems -> names -> icons, as arrays.

In a snapshot are no icons without a vector. `keywords` has a row for each name, `vocabulary` every word of it with the
number of names that bear it. The lexicon is made of the keyword index, so both stem alike; it opens in no time. Asking
SQLite for the 5,000 names that bear "arrow" takes milliseconds; adding up their weights here takes microseconds.
"""

import sqlite3
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from indexer.arrays import Floats, Ids, Mask, Numbers, distinct, is_in, rows_by_id
from indexer.errors import explain_unreadable
from indexer.languages.words import normalise_tag
from indexer.library.shards import DAMAGES
from indexer.merging.facets import ALL_TAGS

TOKENS = "unicode61 remove_diacritics 2 tokenchars '+#'"
"""Signs that are part of a word for `indexer.languages.words` are part of it here: c++, c#."""
_KEYWORDS = f"""
CREATE VIRTUAL TABLE keywords USING fts5(words, tags, categories, tokenize="porter {TOKENS}", prefix='2 3');
"""
# The vocabulary of `keywords` holds stems (circl, set), which correct no one's spelling; so the words as they are
# written go through an index that keeps no text and is gone at the end.
_VOCABULARY = f"""
CREATE VIRTUAL TABLE temp.written USING fts5(words, tags, categories, content='', tokenize="{TOKENS}");
INSERT INTO temp.written (rowid, words, tags, categories) SELECT rowid, words, tags, categories FROM keywords;
CREATE VIRTUAL TABLE temp.terms USING fts5vocab(temp, written, row);
CREATE TABLE vocabulary (term TEXT NOT NULL, doc INTEGER NOT NULL, CONSTRAINT pk_vocabulary PRIMARY KEY (term))
    WITHOUT ROWID;
INSERT INTO vocabulary SELECT term, doc FROM temp.terms;
DROP TABLE temp.terms;
DROP TABLE temp.written;
"""
_SAID = f"""SELECT names.id, words, own, others, {ALL_TAGS}, categories
    FROM names CROSS JOIN icons ON name_id = names.id ORDER BY names.id"""
"""A name after the other: what is said of all at once would not fit into memory."""


def write_snapshot(source: Path, target: Path, *, embedded: Ids) -> None:
    """Copy a catalog as it is now; `embedded` are the ids of images that have a vector: a search must meet no other."""
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))
    with closing(sqlite3.connect(target)) as connection, connection:
        connection.execute("CREATE TEMP TABLE embedded (id INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO embedded VALUES (?)", ((image.item(),) for image in embedded))
        connection.execute("DELETE FROM icons WHERE image_id NOT IN (SELECT id FROM embedded)")
        write_keywords(connection, _names(connection))
        connection.executescript(_VOCABULARY)


def write_keywords(connection: sqlite3.Connection, rows: Iterable[tuple[int, str, str, str]]) -> None:
    """Write a keyword index of (name id, words, tags, categories)."""
    connection.executescript(_KEYWORDS)
    connection.executemany("INSERT INTO keywords (rowid, words, tags, categories) VALUES (?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO keywords (keywords) VALUES ('optimize')")


def _names(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str, str]]:
    """Yield (id, words, tags, categories) of every name that an icon bears, the last two of all icons of that name.

    What a name in another language is written as, and may say beside its words, stands among its tags.
    """
    for (name, words, own, others), of_name in groupby(connection.execute(_SAID), key=itemgetter(0, 1, 2, 3)):
        said = [own, *others.split("\n")] if own else []
        texts = zip(*(row[4:] for row in of_name), strict=True)
        tags, categories = ({normalise_tag(one) for text in {*some} for one in text.split("\n")} for some in texts)
        yield name, words, " ; ".join(sorted({*tags, *said} - {""})), " ; ".join(sorted(categories - {""}))


MOST_BYTES = 32
"""Of a stem; longer ones are cut, in the lexicon and in queries."""
STATED_SHARE = 0.5
"""What a word that only a tag says counts, beside 1 for a word of the name."""
STOPWORDS = frozenset(
    ["a", "an", "the", "of", "that", "this", "these", "those", "its", "is", "are", "some", "someone", "something"]
)
"""Words that say nothing of an icon, though icons of letters bear "a". Those that tell log in from log out count."""
_ALL = 0.999
_PART = 3
"""Letters that each of two words has at least which names may write as one."""
_LOOSE = frozenset(("off", "out", "set"))
"""Words that stand beside any other, and so are none of two: an `ice-cream-off` is no office."""
_LONGEST_NAME = 50
_LISTS = ("names", "told", "icons")
"""As a generation's file calls names that bear a stem, names whose tags do, and icons."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of numbers, one after the other: list i is `values[starts[i]:starts[i + 1]]`."""

    starts: Ids
    values: Ids

    @classmethod
    def group(cls, keys: Ids, values: Ids, *, n: int) -> Self:
        """Put the values of each key 0 ... n - 1 into a list, ascending and each once."""
        width = int(values.max(initial=0)) + 1
        pairs = distinct(keys * width + values)
        return cls(np.searchsorted(pairs, np.arange(n + 1) * width), pairs % width)

    def of(self, key: int) -> Ids:
        """One list."""
        return self.values[self.starts[key] : self.starts[key + 1]]

    def of_many(self, keys: Ids) -> Ids:
        """Several lists, one after the other."""
        lengths = self.starts[keys + 1] - self.starts[keys]
        offsets = np.repeat(self.starts[keys] - np.cumsum(lengths) + lengths, lengths)
        return self.values[offsets + np.arange(len(offsets))]


@dataclass(frozen=True)
class Lexicon:
    """Rows are places in `name_ids`. Coverage is by rows: (names,), 0 to 1."""

    terms: NDArray[np.bytes_]
    """Stems in UTF-8, ascending."""
    weights: NDArray[np.float32]
    """How much a stem tells, 0 to 1: log(1 + names / names that bear it), relative to a stem that one name bears."""
    names: Lists
    """Rows of the names that bear each stem."""
    tagged: Lists
    """Rows of the names that do not bear a stem themselves, while tags of their icons do."""
    name_ids: Ids
    """Ascending."""
    icons: Lists
    """Ids of the icons of each row; what a server answers with knows how many there are alone."""

    @classmethod
    def of(cls, connection: sqlite3.Connection, icons: Iterable[tuple[int, int]]) -> Self:
        """Make the lexicon of a keyword index; `icons` are (name id, icon id) of each icon."""
        connection.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab('main', 'keywords', 'instance')")
        found = connection.execute("SELECT rowid FROM keywords ORDER BY rowid")
        name_ids = np.fromiter((row[0] for row in found), np.int64)
        numbers = Numbers[str]()
        found = connection.execute("SELECT term, doc, col = 'words' FROM instances WHERE col <> 'categories'")
        numbered = ((numbers[term], name, is_word) for term, name, is_word in found)
        said = np.fromiter(numbered, [("term", np.int64), ("name", np.int64), ("is_word", bool)])
        connection.execute("DROP TABLE temp.instances")
        terms, places = np.unique(np.array([*map(as_term, numbers)], f"S{MOST_BYTES}"), return_inverse=True)
        of_rows, names, is_word = places[said["term"]], np.searchsorted(name_ids, said["name"]), said["is_word"]
        pairs = of_rows * len(name_ids) + names
        only_tagged = ~is_word & ~np.isin(pairs, pairs[is_word])
        borne, tagged = (Lists.group(of_rows[which], names[which], n=len(terms)) for which in (is_word, only_tagged))
        named = np.fromiter(icons, [("name", np.int64), ("icon", np.int64)])
        of_names = Lists.group(np.searchsorted(name_ids, named["name"]), named["icon"], n=len(name_ids))
        return cls(terms, _weights(borne, tagged, len(name_ids)), borne, tagged, name_ids, of_names)

    @classmethod
    def of_keywords(cls, rows: Iterable[tuple[int, str, str, str]], icons: Iterable[tuple[int, int]]) -> Self:
        """Make a lexicon of rows as `write_keywords` takes them."""
        with closing(sqlite3.connect(":memory:")) as connection:
            write_keywords(connection, rows)
            return cls.of(connection, icons)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read a lexicon.

        Raises:
            LibraryError: it can't be read.
        """
        with explain_unreadable(f'"{path}"', "`icons index` builds a new generation", damages=DAMAGES):
            held = load_file(path)
            names, tagged, icons = (Lists(held[f"{name}.starts"], held[f"{name}.values"]) for name in _LISTS)
            for lists, n in ((names, len(held["name_ids"])), (tagged, len(held["name_ids"])), (icons, None)):
                _check(lists, n)
            terms = held["terms"].reshape(-1).view(f"S{MOST_BYTES}")
            return cls(terms, held["weights"], names, tagged, held["name_ids"], icons)

    def save(self, path: Path) -> None:
        """Write a lexicon."""
        held = {"terms": self.terms.view(np.uint8).reshape(-1, MOST_BYTES), "weights": self.weights}
        held["name_ids"] = self.name_ids
        for name, lists in zip(_LISTS, (self.names, self.tagged, self.icons), strict=True):
            held |= {f"{name}.starts": lists.starts, f"{name}.values": lists.values}
        path.write_bytes(save({name: np.ascontiguousarray(values) for name, values in held.items()}))

    def coverage(self, words: str) -> Floats:
        """Say how much of some normalised words each name covers: the weights of those it bears, over those of all.

        A word that no name bears weighs most: a name that covers all the others does not cover the query.
        Function words count where there are no others. "Check box" covers "checkbox".
        """
        covered = np.zeros(len(self.name_ids), np.float32)
        written = {term: word for word in without_stopwords(words).split() for term in stems(word)}
        places = [self.place(term) for term in written]
        weights = [1.0 if place is None else float(self.weights[place]) for place in places]
        total = sum(weights)
        for (term, word), weight in zip(written.items(), weights, strict=True):
            share, in_two = np.float32(weight / total), self._in_two_words(word)
            said = covered[in_two] + share  # and no more, where names and tags say it as one, too
            covered[self._listed(self.names, term)] += share
            covered[self._listed(self.tagged, term)] += np.float32(STATED_SHARE) * share
            covered[in_two] = said
        return covered

    def _in_two_words(self, word: str) -> Ids:
        """Rows of the names that have a word as two, in any order, the first as it is; cut where most of them do."""
        cuts = ((word[:cut], word[cut:]) for cut in range(_PART, len(word) - _PART + 1))
        heads = ((self._listed(self.names, first), rest) for first, rest in cuts if _LOOSE.isdisjoint((first, rest)))
        both = ((head, self._listed(self.names, "".join(stems(rest)))) for head, rest in heads if len(head))
        return max((tail[is_in(head, tail)] for head, tail in both), key=len, default=self.names.values[:0])

    def _listed(self, lists: Lists, term: str) -> Ids:
        """What lists hold of a stem."""
        place = self.place(term)
        return lists.values[:0] if place is None else lists.of(place)

    def rows(self, name_ids: Ids) -> Ids:
        """Rows of some names."""
        return self._rows_by_id[name_ids]

    def best_rows(self, coverage: Floats, *, most: int) -> Ids:
        """Rows of the names that cover most, of equal ones the shortest first; `most` at most."""
        rows = np.flatnonzero(coverage > 0)
        merit = coverage[rows] - self._lengths[rows] * np.float32(1e-4)
        if len(rows) > most:
            may_be_best = merit >= np.partition(merit, -most)[-most]  # all that are as good as the last one
            rows, merit = rows[may_be_best], merit[may_be_best]
        return np.asarray(rows[np.lexsort((rows, -merit))[:most]])

    def knows(self, word: str) -> bool:
        """Tell whether a name or a tag bears a word, in any form of it."""
        return all(self.place(term) is not None for term in stems(word))

    @cached_property
    def _rows_by_id(self) -> Ids:
        return rows_by_id(self.name_ids)

    @cached_property
    def _lengths(self) -> Ids:
        return np.bincount(self.names.values, minlength=len(self.name_ids)).clip(max=_LONGEST_NAME)

    @cached_property
    def usual(self) -> Floats:
        """How usual each name is, (names,), by how many icons bear it: 0 for that of the mean icon; the most usual one
        is by 1 before one that a single icon bears, and by less where fewer than 20 bear it: two in one set are chance.
        """
        n_icons = np.diff(self.icons.starts)
        usual = np.log(np.maximum(1, n_icons)) / np.log(n_icons.max(initial=20))
        return np.asarray((usual - (n_icons * usual).sum() / max(1, n_icons.sum())).round(2), np.float32)

    def place(self, term: str) -> int | None:
        """Place of a stem, None where no name and no tag bears it."""
        spelled = as_term(term)
        place = bisect_left(self.terms, spelled)
        return place if place < len(self.terms) and self.terms[place] == spelled else None


def says_all(coverage: Floats) -> Mask:
    """Which names cover all words, or more."""
    return np.asarray(coverage > _ALL)


def without_stopwords(words: str) -> str:
    """Leave out the function words of some normalised words, unless there are no others."""
    return " ".join(word for word in words.split() if word not in STOPWORDS) or words


def write_lexicon(catalog: Path, target: Path) -> None:
    """Write the lexicon of a snapshot."""
    with closing(sqlite3.connect(catalog)) as connection:
        Lexicon.of(connection, connection.execute("SELECT name_id, id FROM icons")).save(target)


def as_term(term: str) -> bytes:
    """Spell a stem as the lexicon does."""
    return term.encode("utf-8", "replace")[:MOST_BYTES].rstrip(b"\0")


@lru_cache(maxsize=4096)
def stems(words: str) -> tuple[str, ...]:
    """Stem normalised words as the keyword index does, each once, in their order."""
    connection = _stemmer()
    connection.execute("INSERT INTO texts (texts) VALUES ('delete-all')")
    connection.execute("INSERT INTO texts (rowid, words) VALUES (1, ?)", (words,))
    return tuple(dict.fromkeys(row[0] for row in connection.execute("SELECT term FROM spoken ORDER BY offset")))


_OF_THREAD = threading.local()


def _stemmer() -> sqlite3.Connection:
    """A keyword index of one text in memory, one a thread: SQLite's own stemmer is to be had no other way."""
    connection: sqlite3.Connection | None = getattr(_OF_THREAD, "connection", None)
    if connection is None:
        connection = _OF_THREAD.connection = sqlite3.connect(":memory:", isolation_level=None)
        options = f'content="", columnsize=0, tokenize="porter {TOKENS}"'  # the text itself is not asked for
        connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5(words, {options})")
        connection.execute("CREATE VIRTUAL TABLE spoken USING fts5vocab('texts', 'instance')")
    return connection


def _weights(borne: Lists, tagged: Lists, n_names: int) -> NDArray[np.float32]:
    """By how many names bear a stem; where none does, by how many have a tag that does."""
    n_borne, n_tagged = np.diff(borne.starts), np.diff(tagged.starts)
    n_known = np.maximum(1, np.where(n_borne > 0, n_borne, n_tagged))
    return np.asarray(np.log1p(n_names / n_known) / np.log1p(max(1, n_names)), np.float32)


def _check(lists: Lists, n: int | None) -> None:
    """Refuse lists that do not follow each other, or hold a row beyond `n`: they would take any amount of memory.

    They may have lengths alone.
    """
    starts, values = lists.starts, lists.values
    if starts[0] != 0 or len(values) not in (0, starts[-1]) or (np.diff(starts) < 0).any():
        raise ValueError("its lists do not follow each other")
    if n is not None and len(values) and not 0 <= int(values.min()) <= int(values.max()) < n:
        raise ValueError("a list holds a row that is none")
