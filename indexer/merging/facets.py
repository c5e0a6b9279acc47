"""A generation's labels and facets, tags in English, and the place of each icon that is browsed.

A label is one value of a kind (a set, a style, a licence, a category, a tag), numbered within its kind in the table
`labels` of the snapshot. All styles of an icon are one label of the kind "look", such as "sharp filled"; labels of the
kinds "style" and "corner" are words of looks. `facets.npy` holds a row for each icon; an icon has several tags and
categories, so these are pairs in files of their own, (2, n): positions of rows, which ascend, and codes.

Of an icon's styles one, its look, is stated or seen in its picture. A picture alone leaves much open: an arrow is the
same, outlined or filled. But icons of one set that state the same styles look alike, and what is clear of the others
decides. Shares of looks in such a group are estimated as Saerens, Latinne and Decaestecker do (2002, "Adjusting the
outputs of a classifier to new a priori probabilities").
"""

import re
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Numbers, distinct
from indexer.languages.words import CORNERS, LOOKS, asked_style, normalise_tag, stated_look, with_look
from indexer.library.folder import Generation
from indexer.library.shards import FLAGS, NOT_KNOWN, Ink
from indexer.sources.records import FAMILIES

ALL_TAGS = "CASE english_tags WHEN '' THEN tags ELSE tags || char(10) || english_tags END"
"""All tags of an icon, in SQL, as lines."""
_TRANSLATED = """SELECT place, tags, english_tags
    FROM (SELECT ROW_NUMBER() OVER (ORDER BY id) - 1 AS place, tags, english_tags FROM icons)
    WHERE english_tags <> '' ORDER BY place"""


def reading(catalog: Path) -> closing[sqlite3.Connection]:
    """Open a snapshot, which never changes, to read it."""
    return closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro&immutable=1", uri=True))


def in_english(catalog: Path, pairs: NDArray[np.integer]) -> NDArray[np.integer]:
    """Leave out of a snapshot's pairs of an icon's place and a tag's code, (2, n), what others say in English."""
    with reading(catalog) as connection:
        if connection.execute("SELECT 1 FROM icons WHERE english_tags <> '' LIMIT 1").fetchone() is None:
            return pairs
        codes = dict(connection.execute("SELECT value, code FROM labels WHERE kind = 'tag'"))
        foreign = [
            (place, codes[tag])
            for place, stated, english in connection.execute(_TRANSLATED)
            for tag in {*map(normalise_tag, stated.split("\n"))} - {*english.split("\n"), ""}
        ]
    n_codes, (places, tags) = len(codes) + 1, np.array(foreign, np.int64).reshape(-1, 2).T
    return pairs[:, np.isin(pairs[0].astype(np.int64) * n_codes + pairs[1], places * n_codes + tags, invert=True)]


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
        ("roughness", np.int8),
    ],
    align=True,
)
"""Ids of icon, image and name; codes of labels; pixels; 1, 0, or -1 for not known; `NO_STYLE`, `A_STYLE` or
`A_LOOK`, whatever is seen; `rendering.render.Made.roughness`. Icon ids ascend."""
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
    n INTEGER NOT NULL, hits_flat INTEGER NOT NULL DEFAULT 0, hits_set INTEGER NOT NULL DEFAULT 0,
    hits_name INTEGER NOT NULL DEFAULT 0, hits_newest INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT pk_labels PRIMARY KEY (kind, code)) WITHOUT ROWID;
CREATE UNIQUE INDEX ix_labels_kind_value ON labels (kind, value);
"""
_LABELLED = """
INSERT INTO labels (kind, code, value, title, n)
SELECT '{kind}', ROW_NUMBER() OVER (ORDER BY {value}) - 1, {value}, {title}, COUNT(*)
FROM icons JOIN sets ON sets.id = icons.set_id WHERE {value} <> '' GROUP BY {value}
"""
_INSERT = "INSERT INTO labels (kind, code, value, title, n) VALUES (?, ?, ?, ?, ?)"
_LICENCE = "COALESCE(NULLIF(icons.licence, ''), sets.licence)"
_ONE = {
    "set": ("sets.key", "MIN(sets.title)"),
    "licence": (_LICENCE, _LICENCE),
}
"""Kinds of which an icon has one at most: the value and the title of its label, in SQL."""
_ROWS = f"""
SELECT icons.id, icons.image_id, icons.name_id, a.code, {NONE}, COALESCE(b.code, {NONE}),
    COALESCE(icons.size, {NONE}), {NOT_KNOWN}, {NOT_KNOWN}, 0, 0
FROM icons JOIN sets ON sets.id = icons.set_id JOIN labels a ON a.kind = 'set' AND a.value = sets.key
LEFT JOIN labels b ON b.kind = 'licence' AND b.value = {_LICENCE}
ORDER BY icons.id
"""
_STYLES = "SELECT style FROM icons ORDER BY id"
_TITLES = {"coloured": ("one colour", "coloured"), "animated": ("still", "animated")}


def write_facets(generation: Generation, images: NDArray[np.int64], traits: NDArray[np.void]) -> None:
    """Give a snapshot its labels, and write what is filtered, counted and sorted by beside it.

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
        rows["roughness"] = np.maximum(0, shown["roughness"])
        styles = dict[str | None, str | None]()  # of equal ones one is kept in memory
        stated = [styles.setdefault(style, style) for (style,) in connection.execute(_STYLES)]
        says = {style: A_LOOK if stated_look(style) else A_STYLE if style else NO_STYLE for style in styles}
        rows["states"] = np.fromiter(map(says.__getitem__, stated), np.int8)
        borders = [name for (name,) in connection.execute("SELECT id FROM names WHERE words LIKE '% border%'")]
        # Material's `round-star-border` is an outline among filled icons: borders look as other borders of their set do
        sets = 2 * rows["set"] + np.isin(rows["name"], borders)
        rows["look"] = _write_looks(connection, name_styles(stated, sets, shown["ink"]))
        _write_untold(connection, distinct(rows["size"]).tolist())
        np.save(generation.facets, rows)
        keys = [key for (key,) in connection.execute("SELECT value FROM labels WHERE kind = 'set' ORDER BY code")]
        names = (name for (name,) in connection.execute("SELECT name FROM icons ORDER BY id"))
        np.save(generation.places, places_by_name(names, keys, rows["set"]))
        for kind, name in SEVERAL.items():
            np.save(getattr(generation, name), _write_several(connection, kind))


def _write_several(connection: sqlite3.Connection, kind: str) -> NDArray[np.int32]:
    """Write the labels of a kind that icons have several of; return pairs of positions and codes, (2, n)."""
    numbers, titles = Numbers[str](), dict[str, str]()

    @cache
    def number_of(text: str) -> int:
        """The number of a value by what a source calls it; `NONE` for what says nothing."""
        spelling = " ".join(text.split())
        value = compared(kind, spelling)
        titles[value] = min(titles.get(value, spelling), spelling)  # of several the first of the alphabet
        return numbers[value] if value else NONE

    found, n_found = array("i"), array("i")
    column = ALL_TAGS if kind == "tag" else SEVERAL[kind]
    for (text,) in connection.execute(f"SELECT {column} FROM icons ORDER BY id"):
        of_icon = dict.fromkeys(map(number_of, text.split("\n"))) if text else {}
        of_icon.pop(NONE, None)
        found.extend(of_icon)
        n_found.append(len(of_icon))
    stated, positions = np.asarray(found), np.repeat(np.arange(len(n_found), dtype=np.int32), n_found)
    n_icons = np.bincount(stated, minlength=len(numbers)).tolist()
    labels = sorted((value, titles[value], n) for value, n in zip(numbers, n_icons, strict=True))
    codes = np.empty(len(labels), np.int32)  # by number: values are numbered as they come, and coded in their order
    codes[[numbers[value] for value, _, _ in labels]] = np.arange(len(labels))
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
    return np.fromiter((codes[look] if look else NONE for look in named), np.int32)


def _write_untold(connection: sqlite3.Connection, sizes: list[int]) -> None:
    """Write the labels of kinds whose values no source spells; `indexer.merging.browsing` counts their icons."""
    labels: dict[str, Iterable[tuple[str, str]]] = {"family": zip(FAMILIES, FAMILIES, strict=True)}
    labels["size"] = ((str(size), f"{size} px") for size in sizes if size != NONE)
    for flag, titles in _TITLES.items():
        labels[flag] = zip(("false", "true"), titles, strict=True)
    for kind, values in labels.items():
        connection.executemany(_INSERT, ((kind, code, *value, 0) for code, value in enumerate(values)))


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


_NUMBER = re.compile("(?=[0-9])0*([0-9]*)")
_ONE_GAP = str.maketrans("_-", "  ")


def places_by_name(names: Iterable[str], keys: Sequence[str], sets: NDArray[np.integer]) -> NDArray[np.int32]:
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
    by_size = _NUMBER.sub(lambda number: f"{len(number[1]):06}{number[1]}", name.casefold().translate(_ONE_GAP))
    return by_size, name


_WEIGHTS = np.array(
    [
        [-20.2, -2.5, -9.4, 20.1, 4.2, 5.5, -1.3, -0.8, -1.7, 21.2, 8.3, 8.4, -22.5, 0.1, 6.4, -0.7, -1.0, -1.1],
        [-11.8, 23.4, 3.0, 7.1, 4.3, -7.1, -2.2, 15.6, 9.4, 2.3, -10.1, -0.9, 2.1, -6.3, 17.8, -0.2, 9.5, 15.4],
        [-37.5, 27.8, 0.7, 11.4, 2.3, 5.9, -16.9, 19.2, 29.9, 18.6, -16.9, 3.2, -5.2, 7.6, -1.5, 13.0, 7.9, 3.0],
    ],
    np.float32,
)
"""Of the roots of all measures, then of themselves, for each look but the first, which they are held against."""
_CONSTANTS = np.array([0.3, -5.2, -5.2], np.float32)
_SCALES = np.array([5 if measure == "n_hues" else 100 for measure in Ink._fields], np.float32)
_AT_ONCE = 65_536


def likelihoods(ink: NDArray[np.int8]) -> Floats:
    """How well each of `LOOKS` explains what was measured (`library.shards.Ink`), (n, 9) -> (n, 4).

    Rows add up to 1; where nothing was measured they are 0. What shows no colour has none.
    """
    likely = np.zeros((len(ink), len(LOOKS)), np.float32)
    for start in range(0, len(ink), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        shares = np.maximum(ink[some], 0) / _SCALES
        likely[some, 1:] = np.concatenate([np.sqrt(shares), shares], axis=1) @ _WEIGHTS.T + _CONSTANTS
    np.exp(likely - likely.max(axis=1, keepdims=True), out=likely)
    likely[ink[:, Ink._fields.index("coloured")] == 0, LOOKS.index("color")] = 0
    likely /= likely.sum(axis=1, keepdims=True)
    likely[ink[:, 0] == NOT_KNOWN] = 0
    return likely


_HABIT = np.array([0.75, 0.75, 0.6, 0.6], np.float32)
"""Share of each look in a group from which on it is the group's habit: a quarter of all filled icons are thin as lines
are, and many duotone ones have nothing that a second tone could fill. Chosen on the half that was learnt from."""
_CLEAR = 0.98
"""A picture that is as sure as this by itself looks as it looks, whatever its group does."""
_ROUNDS = 25
_SMOOTHING = 0.5
"""Pictures that every group is taken to have of each look."""
UNSEEN = -1


def name_styles(stated: Sequence[str | None], sets: NDArray[np.integer], ink: NDArray[np.int8]) -> list[str | None]:
    """Name the styles of icons: what each states, with the look that it states or that is seen; None where no look is.

    `sets` (n,) number their sets, `ink` (n, 9) are measures of their pictures (`library.shards.Ink`).
    """
    looks = see_looks(likelihoods(ink), group(stated, sets)).tolist()
    named = cache(lambda styles, look: with_look(styles, stated_look(styles) or (*LOOKS, None)[look]))
    return list(map(named, stated, looks))


def group(stated: Sequence[str | None], sets: NDArray[np.integer]) -> NDArray[np.int64]:
    """Number groups of icons that are of one set and state the same styles, (n,)."""
    return sets.astype(np.int64) << 32 | Numbers[str | None]().of(stated)


def see_looks(likely: Floats, groups: NDArray[np.integer]) -> NDArray[np.int8]:
    """Number the look of each icon in `LOOKS`, (n,), by its picture (n, 4) and group; `UNSEEN` without measures."""
    looks = np.full(len(likely), UNSEEN, np.int8)
    measured = np.flatnonzero(likely.any(axis=1))
    ordered = measured[np.argsort(groups[measured], kind="stable")]
    for members in np.split(ordered, np.flatnonzero(np.diff(groups[ordered])) + 1):
        looks[members] = _looks_of_group(likely[members])
    return looks


def _looks_of_group(likely: Floats) -> NDArray[np.intp]:
    """See pictures of one group: the likeliest look, and the group's habit, if it has one, where that is not clear."""
    shares = np.full(len(LOOKS), 1 / len(LOOKS), np.float32)
    for _ in range(_ROUNDS):
        sure = likely * shares
        sure /= sure.sum(axis=1, keepdims=True)
        shares = (sure.sum(axis=0) + _SMOOTHING) / (len(sure) + _SMOOTHING * len(LOOKS))
    habit = int((shares - _HABIT).argmax())
    if shares[habit] < _HABIT[habit]:
        return np.asarray(sure.argmax(axis=1))
    return np.where((likely.max(axis=1) < _CLEAR) & (likely[:, habit] > 0), habit, likely.argmax(axis=1))
