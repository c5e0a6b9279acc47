"""Which words of a catalog have a vector? The names that icons bear and the tags that they state, rows of `names`."""

from collections.abc import Iterator

import numpy as np
from sqlalchemy import Connection, insert, select

from indexer.arrays import Ids
from indexer.catalog.questions import ids_of, selecting
from indexer.catalog.schema import icons, names
from indexer.naming.words import normalise_tag


def name_ids(connection: Connection) -> Ids:
    """Ids of the names that icons bear now, ascending."""
    return ids_of(connection, select(icons.c.name_id).distinct().order_by(icons.c.name_id))


def text_ids(connection: Connection) -> Ids:
    """Ids of all words that icons bear or state as a tag now, ascending; a tag that is no name yet gets a row."""
    stated = connection.execute(select(icons.c.tags).where(icons.c.tags != "").distinct()).scalars()
    tags = dict.fromkeys(words for text in stated for tag in text.split("\n") if (words := normalise_tag(tag)))
    if not tags:
        return name_ids(connection)
    known = _known(connection)
    if new := [{"words": words} for words in tags if words not in known]:
        connection.execute(insert(names), new)
        known = _known(connection)
    return np.union1d(name_ids(connection), np.array([known[words] for words in tags], np.int64))


def _known(connection: Connection) -> dict[str, int]:
    return {row.words: row.id for row in connection.execute(select(names.c.words, names.c.id))}


def words_of(connection: Connection, wanted: Ids) -> Iterator[tuple[int, str]]:
    """Yield (id, words) of each wanted name or tag, by id."""
    query = select(names.c.id, names.c.words).where(names.c.id.in_(selecting(connection, wanted)))
    for row in connection.execute(query.order_by(names.c.id)):
        yield row.id, row.words
