"""Which words of a catalog have a vector? The names that icons bear and the tags that they state, rows of `names`."""

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from sqlalchemy import Column, Connection, insert, select

from indexer.arrays import Ids, distinct
from indexer.catalog.questions import ids_of, selecting
from indexer.catalog.schema import icons, names
from indexer.naming.words import normalise_tag


def name_ids(connection: Connection) -> Ids:
    """Ids of the names that icons bear now, ascending."""
    return ids_of(connection, select(icons.c.name_id).distinct().order_by(icons.c.name_id))


def text_ids(connection: Connection) -> Ids:
    """Ids of all words that icons bear or state as a tag now, ascending, and of what these say in English, too.

    What is no name yet gets a row.
    """
    said = chain(_said(connection, icons.c.tags), _said(connection, icons.c.english_tags), _other_readings(connection))
    parts = dict.fromkeys(part for text in said for part in text.split("\n"))
    different = dict.fromkeys(words for part in parts if (words := normalise_tag(part)))
    if not different:
        return name_ids(connection)
    known = _known(connection)
    if new := [{"words": words} for words in different if words not in known]:
        connection.execute(insert(names), new)
        known = _known(connection)
    return distinct(np.concatenate([name_ids(connection), np.array([known[words] for words in different], np.int64)]))


def _said(connection: Connection, column: Column[str]) -> Iterable[str]:
    return connection.execute(select(column).where(column != "")).scalars()


def _other_readings(connection: Connection) -> Iterable[str]:
    """What names in another language may say beside what is taken for what they say."""
    borne = names.c.id.in_(select(icons.c.name_id))
    query = select(names.c.others).where(names.c.own != "", names.c.others != "", borne)
    return connection.execute(query).scalars()


def _known(connection: Connection) -> dict[str, int]:
    """Ids of the words that stand for themselves."""
    rows = connection.execute(select(names.c.words, names.c.id).where(names.c.own == ""))
    return {row.words: row.id for row in rows}


def words_of(connection: Connection, wanted: Ids) -> Iterator[tuple[int, str]]:
    """Yield (id, words) of each wanted name or tag, by id."""
    query = select(names.c.id, names.c.words).where(names.c.id.in_(selecting(connection, wanted)))
    for row in connection.execute(query.order_by(names.c.id)):
        yield row.id, row.words
