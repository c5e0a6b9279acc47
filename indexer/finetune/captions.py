"""What an icon may be called, as numbers, and as a table that a person corrects."""

import csv
import io
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.arrays import Ids, Numbers
from indexer.errors import SourceError
from indexer.finetune.gather import Gathered, Limits, gather, is_held_out, read_sources, refuse_licence, share_held_out
from indexer.finetune.options import Learning
from indexer.library.folder import Library, require
from indexer.library.named import read_list, several, write_result
from indexer.sources.records import Record

KINDS = ("name", "tag", "phrase", "part", "own")
SHARES = (0.33, 0.47, 0.13, 0.07, 1.0)
"""How often each kind is drawn; an icon that lacks a kind draws the others more often, in proportion."""
N_PHRASES = 3
_SHORTEST_PART = 3
_SMALL_WORDS = frozenset(["and", "for", "from", "not", "off", "out", "per", "the", "with"])


@dataclass(frozen=True, slots=True)
class Captions:
    """Captions of n icons, as places in `texts`: icon i has `ids[starts[i]:starts[i + 1]]`, its first one its name."""

    texts: list[str]
    ids: Ids
    starts: Ids
    kinds: npt.NDArray[np.uint8]
    """Place in `KINDS` of each of `ids`."""
    chances: npt.NDArray[np.float64]
    """Running sum over `ids` of how likely each is drawn, up to a factor of its icon."""

    def of(self, icon: int, kind: str = "") -> Ids:
        """All captions of one icon, or those of one kind."""
        own = slice(self.starts[icon], self.starts[icon + 1])
        found: Ids = self.ids[own][self.kinds[own] == KINDS.index(kind)] if kind else self.ids[own]
        return found

    def draw(self, icons: Ids, generator: np.random.Generator) -> Ids:
        """Draw one caption for each icon."""
        low = np.where(self.starts[icons] > 0, self.chances[self.starts[icons] - 1], 0.0)
        high = self.chances[self.starts[icons + 1] - 1]
        place = np.searchsorted(self.chances, low + generator.random(len(icons)) * (high - low), side="right")
        drawn: Ids = self.ids[np.clip(place, self.starts[icons], self.starts[icons + 1] - 1)]
        return drawn

    def matches(self, icons: Ids, drawn: Ids) -> tuple[Ids, Ids, Ids]:
        """List which icons have which drawn captions: place of an icon, place of the caption among the distinct ones.

        The third list has such a place for each of `drawn`.
        """
        distinct, columns = np.unique(drawn, return_inverse=True)
        counts = self.starts[icons + 1] - self.starts[icons]
        rows = np.repeat(np.arange(len(icons)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        own = self.ids[np.repeat(self.starts[icons], counts) + within]
        places = np.minimum(np.searchsorted(distinct, own), len(distinct) - 1)
        is_drawn = distinct[places] == own
        return rows[is_drawn], places[is_drawn], columns


def make_captions(
    words: Sequence[str],
    tags: Sequence[Sequence[str]],
    *,
    seed: int,
    own: Sequence[Sequence[str]] | None = None,
) -> Captions:
    """Number all captions of all icons. Captions in `own` take the place of what is mined for that icon."""
    generator, numbers, starts = random.Random(seed), Numbers[str](), [0]
    found: list[tuple[int, str]] = []
    for place, (name, of_icon) in enumerate(zip(words, tags, strict=True)):
        written = [(KINDS.index("own"), caption) for caption in dict.fromkeys(own[place] if own else ())]
        found += written or mined(name, of_icon, generator)
        starts.append(len(found))
    kinds, ids = np.array([kind for kind, _ in found], np.int64), np.array([numbers[caption] for _, caption in found])
    places = np.repeat(np.arange(len(words)), np.diff(starts)) * len(KINDS) + kinds
    chances = np.cumsum(np.array(SHARES)[kinds] / np.bincount(places, minlength=len(KINDS))[places])
    return Captions(list(numbers), ids, np.array(starts), kinds.astype(np.uint8), chances)


def mined(name: str, tags: Sequence[str], generator: random.Random) -> list[tuple[int, str]]:
    """List what an icon may be called, each with its kind: name, tags, phrases, single words of the name."""
    found = {name: 0}
    for tag in tags:
        found.setdefault(tag, 1)
    for _ in range(min(N_PHRASES, len(tags))):
        found.setdefault(phrase(name, list(tags), generator), 2)
    for part in parts_of(name):
        found.setdefault(part, 3)
    return [(kind, caption) for caption, kind in found.items()]


def parts_of(name: str) -> list[str]:
    """Split a name of several words into those that mean something alone; a name of one word has no parts."""
    words = name.split()
    parts = [word for word in words if len(word) >= _SHORTEST_PART and word.isalpha() and word not in _SMALL_WORDS]
    return parts if len(words) > 1 else []


def phrase(name: str, tags: Sequence[str], generator: random.Random) -> str:
    """Join two tags, or a word of the name and a tag."""
    second = generator.choice(tags)
    first = generator.choice(tags) if generator.random() < 0.5 else generator.choice(name.split())
    return first if first in second.split() or first == second else f"{first} {second}"


COLUMNS = ("file", "name", "set", "licence", "base", "held_out", "captions")
_BETWEEN = "; "
_MOST_BYTES = 256_000_000
"""Of captions that are read: those of 430,000 icons take half of it."""


def gather_icons(
    sources: Sequence[Path], *, exclude: Sequence[str], library: Library | None, learning: Learning, seed: int
) -> tuple[Gathered, Limits]:
    """Read sources, or a library's remembered ones, and give every icon its captions.

    Raises:
        SourceError: there are none, or own captions fit none of the icons.
    """
    excludes = dict.fromkeys(sources, tuple(exclude)) if sources else remembered_sources(library)
    skipped: list[tuple[str, str]] = []
    limits = Limits(
        names_per_set=learning.names_per_set,
        variants_per_name=learning.variants_per_name,
        tags_per_icon=learning.tags_per_icon,
        tags_by_lot=0,
        seed=seed,
        admit=learning.admit,
        held_out=learning.held_out,
    )
    placed = read_sources(excludes, skipped)
    own = read_own_captions(Path(learning.own_captions)) if learning.own_captions else {}
    unknown = own.keys() - {entry.file for entry in placed}
    if own and len(unknown) == len(own):
        raise SourceError(
            f'no file in "{learning.own_captions}" is one of the icons, the first is "{next(iter(own))}"; '
            "`icons lab captions --out FILE` writes a list to edit"
        )

    def refuse(record: Record) -> str | None:
        return None if learning.admit == "all" else refuse_licence(record.licence or record.set.licence)

    gathered = gather(placed, limits=limits, refuse=refuse, own=own)
    gathered.skipped = skipped + gathered.skipped + [(file, "own captions, but no such icon") for file in unknown]
    return gathered, limits


def remembered_sources(library: Library | None) -> dict[Path, tuple[str, ...]]:
    """The sources that a library remembers, with what is left out of each."""
    from sqlalchemy import select

    from indexer.catalog.database import read_catalog, sources

    if library is None:
        raise SourceError("nothing to learn from; give SOURCES, or --library of one that remembers some")
    engine = read_catalog(require(library).catalog)
    with engine.connect() as connection:
        rows = connection.execute(select(sources.c.named, sources.c.exclude).distinct()).all()
    engine.dispose()
    if not rows:
        raise SourceError(f'"{library.root}" remembers no source; give SOURCES, or run `icons index SOURCE` first')
    return {Path(row.named): tuple(json.loads(row.exclude)) for row in rows}


def caption_rows(gathered: Gathered, *, seed: int, held_out: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield what is known of each icon; `captions` is a list in the order name, tags, phrases, words."""
    icons = gathered.icons
    words, tags, own = ([getattr(icon, name) for icon in icons] for name in ("words", "tags", "own"))
    captions = make_captions(words, tags, seed=seed, own=own)
    one_in = held_out or share_held_out(len({icon.base for icon in icons}))
    for row, icon in enumerate(icons):
        record = icon.placed.record
        yield {
            "file": icon.placed.file,
            "name": icon.words,
            "set": record.set.key,
            "licence": record.licence or record.set.licence,
            "base": icon.base,
            "held_out": is_held_out(icon.base, one_in=one_in),
            "captions": [captions.texts[number] for number in captions.of(row)],
        }


def write_captions(rows: Iterable[dict[str, Any]], file: Path) -> int:
    """Write rows as CSV or, by the suffix, as JSONL; return how many.

    Raises:
        SourceError: the suffix is neither.
    """
    listed, buffer, kind = list(rows), io.StringIO(), file.suffix.lower()
    if kind not in (".csv", ".jsonl"):
        raise SourceError(f'"{file}" ends in neither .csv nor .jsonl; give --out a name that does')
    if kind == ".jsonl":
        buffer.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in listed)
    else:
        writer = csv.DictWriter(buffer, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "captions": _BETWEEN.join(row["captions"])} for row in listed)
    write_result(file, buffer.getvalue().encode(), option="--out")
    return len(listed)


def read_own_captions(file: Path) -> dict[str, tuple[str, ...]]:
    """Read captions by file, as `write_captions` wrote them: `file` and `captions` count, other columns do not.

    Raises:
        SourceError: the file can't be read, or a row has no file or no caption.
    """
    found: dict[str, tuple[str, ...]] = {}
    hint = "; `icons lab captions --out FILE` writes a list to edit"
    for number, row in read_list(file, ("file", "captions", "caption"), limit=_MOST_BYTES, hint=hint):
        name = str(row.get("file") or "").strip()
        captions = several(row.get("captions") or row.get("caption"), between=";")
        if not name or not captions:
            lacking = "captions" if name else "file"
            raise SourceError(f'"{file}" line {number} has no "{lacking}"; complete it, or take the line out')
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *captions)))
    if not found:
        raise SourceError(f'"{file}" holds no captions{hint}')
    return found
