"""A generation's labels and facets, tags in English, and the place of each icon that is browsed.

A label is one value of a kind (a set, a style, a licence, a category, a tag), numbered within its kind in the table
`labels` of the snapshot. All styles of an icon are one label of the kind "look", such as "sharp filled"; labels of the
kinds "style" and "corner" are words of looks. `facets.npy` holds a row for each icon; an icon has several tags and
categories, so these are pairs in files of their own, (2, n): positions of rows, which ascend, and codes.
"""

import re
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Numbers
from indexer.errors import LibraryError
from indexer.languages.names import CORNERS, asked_style, stated_look
from indexer.languages.words import normalise_tag
from indexer.library.folder import Generation
from indexer.library.traits import FLAGS, NOT_KNOWN
from indexer.merging.styles import name_styles

ALL_TAGS = "CASE english_tags WHEN '' THEN tags ELSE tags || char(10) || english_tags END"
"""All tags of an icon, in SQL, as lines."""
_TRANSLATED = "SELECT place, tags, english_tags FROM ({placed}) WHERE english_tags <> '' ORDER BY place"
_PLACED = "SELECT ROW_NUMBER() OVER (ORDER BY id) - 1 AS place, tags, english_tags FROM icons"


def in_english(catalog: Path, pairs: NDArray[np.integer]) -> NDArray[np.integer]:
    """Leave out of a snapshot's pairs of an icon's place and a tag's code, (2, n), what others say in English."""
    with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        if connection.execute("SELECT 1 FROM icons WHERE english_tags <> '' LIMIT 1").fetchone() is None:
            return pairs
        codes = dict(connection.execute("SELECT value, code FROM labels WHERE kind = 'tag'"))
        foreign = np.array(list(_foreign(connection, codes)), np.int64).reshape(-1, 2)
    n_codes = len(codes) + 1
    of_pairs = pairs[0].astype(np.int64) * n_codes + pairs[1]
    return pairs[:, np.isin(of_pairs, foreign[:, 0] * n_codes + foreign[:, 1], invert=True)]


def _foreign(connection: sqlite3.Connection, codes: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the place of an icon and the code of a tag for each that is said otherwise in English."""
    for place, stated, english in connection.execute(_TRANSLATED.format(placed=_PLACED)):
        for tag in {*map(normalise_tag, stated.split("\n"))} - {*english.split("\n"), ""}:
            yield place, codes[tag]


ROW = np.dtype(
    [
        ("icon", np.int64),
        ("image", np.int64),
        ("name", np.int64),
        ("set", np.int32),
        ("look", np.int32),
        ("licence", np.int32),
        ("size", np.int32),
        ("coloured", np.int8),
        ("animated", np.int8),
        ("states", np.int8),
    ],
    align=True,
)
"""Ids of icon, image and name; codes of labels; pixels; 1, 0, or -1 for not known; `NO_STYLE`, `A_STYLE` or
`A_LOOK`, whatever is seen. Icon ids ascend."""
NO_STYLE, A_STYLE, A_LOOK = range(3)
"""What is stated of an icon's style: nothing, something ("thin"), or one of the looks that all icons have."""
NONE = -1
"""No such label, or no size."""
SEVERAL = {"tag": "tags", "category": "categories"}
"""Kinds of which an icon has any number: kind -> its column in the catalog, and its file in `Generation`."""

OF_LOOK = ("style", "corner")
"""Kinds whose values are words of the look."""

_LABELS = """
CREATE TABLE labels (kind TEXT NOT NULL, code INTEGER NOT NULL, value TEXT NOT NULL, title TEXT NOT NULL,
    n INTEGER NOT NULL, CONSTRAINT pk_labels PRIMARY KEY (kind, code)) WITHOUT ROWID;
CREATE UNIQUE INDEX ix_labels_kind_value ON labels (kind, value);
"""
_LABELLED = """
INSERT INTO labels SELECT '{kind}', ROW_NUMBER() OVER (ORDER BY {value}) - 1, {value}, {title}, COUNT(*)
FROM icons JOIN sets ON sets.id = icons.set_id WHERE {value} <> '' GROUP BY {value}
"""
_INSERT = "INSERT INTO labels VALUES (?, ?, ?, ?, ?)"
_LICENCE = "COALESCE(NULLIF(icons.licence, ''), sets.licence)"
_ONE = {
    "set": ("sets.key", "MIN(sets.title)"),
    "licence": (_LICENCE, _LICENCE),
}
"""Kinds of which an icon has one at most: the value and the title of its label, in SQL."""
_ROWS = f"""
SELECT icons.id, icons.image_id, icons.name_id, a.code, {NONE}, COALESCE(b.code, {NONE}),
    COALESCE(icons.size, {NONE}), {NOT_KNOWN}, {NOT_KNOWN}, 0
FROM icons JOIN sets ON sets.id = icons.set_id JOIN labels a ON a.kind = 'set' AND a.value = sets.key
LEFT JOIN labels b ON b.kind = 'licence' AND b.value = {_LICENCE}
ORDER BY icons.id
"""


def write_facets(generation: Generation, images: NDArray[np.int64], traits: NDArray[np.void]) -> None:
    """Give a snapshot its labels, and write what is filtered and counted by beside it.

    `traits` (n,) are those of `images`, all that icons of the snapshot show, whose ids ascend.
    """
    with closing(sqlite3.connect(generation.catalog)) as connection, connection:
        connection.executescript(_LABELS)
        for kind, (value, title) in _ONE.items():
            connection.execute(_LABELLED.format(kind=kind, value=value, title=title))
        rows = np.fromiter(connection.execute(_ROWS), ROW)
        shown = traits[np.searchsorted(images, rows["image"])]
        for flag in FLAGS:
            rows[flag] = shown[flag]
        stated = [style for (style,) in connection.execute("SELECT style FROM icons ORDER BY id")]
        styles = Numbers[str | None]()
        of_icons = styles.of(stated)
        says = [A_LOOK if stated_look(style) else A_STYLE if style else NO_STYLE for style in styles]
        rows["states"] = np.array(says, np.int8)[of_icons]
        rows["look"] = _write_looks(connection, name_styles(stated, rows["set"], shown["ink"]))
        np.save(generation.facets, rows)
        for kind, name in SEVERAL.items():
            np.save(getattr(generation, name), _write_several(connection, kind))


class _Spelt(dict[str, int]):
    """The number of a value of a kind by what a source calls it; `NONE` for what says nothing."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.numbers = Numbers[str]()

    def __missing__(self, text: str) -> int:
        value = compared(self.kind, " ".join(text.split()))
        self[text] = number = self.numbers[value] if value else NONE
        return number

    def titles(self) -> list[str]:
        """How each value is spelt, by its number: of several spellings the first of the alphabet."""
        spellings = sorted(((" ".join(text.split()), number) for text, number in self.items()), reverse=True)
        titles = {number: spelling for spelling, number in spellings}
        return [titles[number] for number in self.numbers.values()]


def _write_several(connection: sqlite3.Connection, kind: str) -> NDArray[np.int32]:
    """Write the labels of a kind that icons have several of; return pairs of positions and codes, (2, n)."""
    spelt = _Spelt(kind)
    found, n_found = array("i"), array("i")
    column = ALL_TAGS if kind == "tag" else SEVERAL[kind]
    for (text,) in connection.execute(f"SELECT {column} FROM icons ORDER BY id"):
        numbers = dict.fromkeys(map(spelt.__getitem__, text.split("\n"))) if text else ()
        found.extend(numbers)
        n_found.append(len(numbers))
    stated, positions = np.array(found, np.int32), np.repeat(np.arange(len(n_found), dtype=np.int32), n_found)
    says_something = stated != NONE
    stated, positions = stated[says_something], positions[says_something]
    n_icons = np.bincount(stated, minlength=len(spelt.numbers)).tolist()
    labels = sorted(zip(spelt.numbers, spelt.titles(), n_icons, strict=True))
    codes = np.empty(len(labels), np.int32)  # by number: values are numbered as they come, and coded in their order
    codes[[spelt.numbers[value] for value, _, _ in labels]] = np.arange(len(labels))
    connection.executemany(_INSERT, ((kind, code, *label) for code, label in enumerate(labels)))
    return np.stack([positions, codes[stated]])


def _write_looks(connection: sqlite3.Connection, named: list[str | None]) -> NDArray[np.int32]:
    """Write the labels of looks and of their words; return the code of each icon's look, (n,)."""
    looks = Counter(filter(None, named))
    words: dict[str, Counter[str]] = {"style": Counter(), "corner": Counter()}
    for look, n in looks.items():
        for word in look.split():
            words["corner" if word in CORNERS else "style"][word] += n
    codes = {look: code for code, look in enumerate(sorted(looks))}
    for kind, counts in {"look": looks, **words}.items():
        labels = ((kind, code, value, value, counts[value]) for code, value in enumerate(sorted(counts)))
        connection.executemany(_INSERT, labels)
    return np.array([codes[look] if look else NONE for look in named], np.int32)


def compared(kind: str, value: str) -> str:
    """Spell a value of a kind the way in which it is compared: a tag as queries are, a style by what it means, others
    by case and spaces."""
    if kind in OF_LOOK:
        return asked_style(value)
    return normalise_tag(value) if kind == "tag" else " ".join(value.lower().split())


_PARSING = threading.Lock()
"""numpy parses an array's header as Python, whose parser counts its depth over all threads: where two libraries were
opened at once, one in some thousands met "AST constructor recursion depth mismatch" (python/cpython#106905)."""


def read_array(path: Path) -> NDArray[Any]:
    """Map one of a generation's arrays into memory."""
    with _PARSING:
        return cast(NDArray[Any], np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray))


def count_traits(generation: Generation) -> dict[str, int]:
    """Count the icons of a generation by what was seen of their pictures.

    Raises:
        LibraryError: its facets can't be read.
    """
    try:
        rows = read_array(generation.facets)
    except (OSError, ValueError) as error:
        raise LibraryError(f'"{generation.facets}" can\'t be read ({error}); `icons index` builds a new one') from error
    coloured, animated = rows["coloured"], rows["animated"]
    return {
        "coloured": int((coloured == 1).sum()),
        "one_colour": int((coloured == 0).sum()),
        "animated": int((animated == 1).sum()),
        "unknown": int((coloured == NOT_KNOWN).sum()),
    }


_NUMBER = re.compile("[0-9]+")
_ONE_GAP = str.maketrans("_-", "  ")
Places = NDArray[np.int32]


def write_places(generation: Generation) -> None:
    """Write the place of each icon of a snapshot whose facets are there, in the order of these."""
    with closing(sqlite3.connect(generation.catalog)) as connection:
        sets = connection.execute("SELECT value FROM labels WHERE kind = 'set' ORDER BY code")
        keys = [key for (key,) in sets]
        names = (name for (name,) in connection.execute("SELECT name FROM icons ORDER BY id"))
        np.save(generation.places, places_by_name(names, keys, read_array(generation.facets)["set"]))


def places_by_name(names: Iterable[str], keys: Sequence[str], sets: NDArray[np.integer]) -> Places:
    """The place of each icon among these by name, then by the key of its set, which `sets` index, then as they come."""
    numbers = Numbers[str]()
    named = numbers.of(names)
    order = np.lexsort((natural_ranks(keys)[sets], natural_ranks(list(numbers))[named]))
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def natural_ranks(different: Sequence[str]) -> NDArray[np.int32]:
    """A number for each of different names, which grows as people count."""
    ranks = np.empty(len(different), np.int32)
    ranks[sorted(range(len(different)), key=lambda number: natural(different[number]))] = np.arange(len(different))
    return ranks


def natural(name: str) -> tuple[str, str]:
    """What a name is compared by: numbers by their size, letters without case, gaps alike; then as it is spelt."""
    return _NUMBER.sub(_by_size, name.casefold().translate(_ONE_GAP)), name


def _by_size(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0")
    return f"{len(digits):06}{digits}"
