"""A catalog as searches read it: without the icons that have no vector, with a keyword index over it.

`keywords` has a row for each name, `vocabulary` every word of it with the number of names that bear it.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from indexer.arrays import Ids
from indexer.languages.words import normalise_tag
from indexer.library.shards import Contents, Kind, content_of
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
_SAID = f"SELECT name_id, {ALL_TAGS}, categories FROM icons ORDER BY id"


def write_snapshot(source: Path, target: Path, *, embedded: Ids) -> None:
    """Copy a catalog as it is now; `embedded` are the ids of images that have a vector: a search must meet no other."""
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))
    with closing(sqlite3.connect(target)) as connection, connection:
        connection.execute("CREATE TEMP TABLE embedded (id INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO embedded VALUES (?)", ((image,) for image in embedded.tolist()))
        connection.execute("DELETE FROM icons WHERE image_id NOT IN (SELECT id FROM embedded)")
        write_keywords(connection, _names(connection))
        connection.executescript(_VOCABULARY)


def read_rows(catalog: Path) -> Ids:
    """Read (icon, image, name) ids of a snapshot's icons, (n, 3), by icon."""
    with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        found = connection.execute("SELECT id, image_id, name_id FROM icons ORDER BY id")
        return np.fromiter((value for row in found for value in row), np.int64).reshape(-1, 3)


def read_contents(connection: sqlite3.Connection, kind: Kind) -> Contents:
    """Read what each image or name of a catalog or a snapshot is."""
    column = {"images": "CAST(digest AS BLOB)", "names": "CAST(words AS TEXT)"}[kind]  # a damaged one may be a number
    query = f"SELECT id, {column} FROM {kind} WHERE {column} IS NOT NULL ORDER BY id"
    pairs = ((number, content_of(item)) for number, item in connection.execute(query))
    found = np.fromiter((value for pair in pairs for value in pair), np.int64).reshape(-1, 2)
    return Contents(np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1]))


def read_words(catalog: Path, names: Ids) -> list[str]:
    """Read the words of some names of a snapshot, in their order."""
    with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        read = connection.execute
        return [read("SELECT words FROM names WHERE id = ?", (name,)).fetchone()[0] for name in names.tolist()]


def write_keywords(connection: sqlite3.Connection, rows: Iterable[tuple[int, str, str, str]]) -> None:
    """Write a keyword index of (name id, words, tags, categories)."""
    connection.executescript(_KEYWORDS)
    connection.executemany("INSERT INTO keywords (rowid, words, tags, categories) VALUES (?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO keywords (keywords) VALUES ('optimize')")


def _names(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str, str]]:
    """Yield (id, words, tags, categories) of every name that an icon bears, the last two of all icons of that name.

    What a name in another language is written as, and may say beside its words, stands among its tags.
    """
    described: dict[int, tuple[dict[str, None], dict[str, None]]] = defaultdict(lambda: ({}, {}))
    for name, *texts in connection.execute(_SAID):
        for values, text in zip(described[name], texts, strict=True):
            values.update(dict.fromkeys(map(normalise_tag, text.split("\n"))) if text else ())
    words = dict(connection.execute("SELECT id, words FROM names"))
    for name, own, others in connection.execute("SELECT id, own, others FROM names WHERE own <> ''"):
        if name in described:
            described[name][0].update(dict.fromkeys((own, *others.split("\n"))))
    for name, (tags, categories) in sorted(described.items()):
        yield name, words[name], " ; ".join(sorted(filter(None, tags))), " ; ".join(sorted(filter(None, categories)))
