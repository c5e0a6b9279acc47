"""Sources -> admitted icons, each with its name and tags; what one may be called, as numbers and as a table."""

import csv
import io
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from indexer.arrays import Ids, Numbers
from indexer.errors import SourceError
from indexer.finetune.options import Learning
from indexer.languages.words import common_affixes, normalise, parse
from indexer.library.folder import Library, require
from indexer.library.named import read_list, several, write_result
from indexer.sources.records import IconSet, PictureAddress, Record, family
from indexer.sources.source import open_sources

_REFUSED_LICENCES = frozenset(["copyleft", "non-commercial", "no-derivatives", "withheld"])


def refuse_licence(licence: str | None) -> str | None:
    """Say why nothing under a licence must be learnt from; None when it may."""
    refused = f"licence {licence}" if licence and family(licence) in _REFUSED_LICENCES else None
    return "no licence" if licence is None else refused


Lists = Mapping[str, Sequence[str]]
"""Words by the name that they are said of."""
_VARIANTS = frozenset(("alt", "variant", "one", "two", "three", "four", "five", "six", "circle", "square"))
"""Ends of names that tell drawings of one thing apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Learning):
    """How much of the sources is taken; saved with the corpus. Nothing is borrowed from a held-out name, or by one."""

    tags_by_lot: int = 8
    """Of the rest, drawn for each icon by a hash of its picture, so that all icons of a name know more together."""
    seed: int = 0

    def facts(self) -> dict[str, Any]:
        """Spell them for `corpus.json`; `held_out` only where it was chosen: other corpora keep their keys."""
        names = ("names_per_set", "variants_per_name", "tags_per_icon", "tags_by_lot", "seed", "admit", "held_out")
        return {name: getattr(self, name) for name in names if name != "held_out" or self.held_out}


@dataclass(frozen=True, slots=True)
class Placed:
    """A record with the address of its picture, whose place is also how own captions name it."""

    record: Record
    address: PictureAddress

    @property
    def file(self) -> str:
        """Where it is, as a person reads it."""
        return self.address.place


@dataclass(frozen=True, slots=True)
class TrainingIcon:
    """One picture to learn, with the base name that its variants share."""

    placed: Placed
    words: str
    tags: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """Captions that were written for this very icon; they take the place of mined ones."""

    @property
    def base(self) -> str:
        """Name words in alphabetical order: "circle arrow" is "arrow circle"."""
        return base_of(self.words)


@dataclass(slots=True)
class Gathered:
    """What came of the sources: icons to learn, and counts of what was refused."""

    icons: list[TrainingIcon] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Files and reasons: what could not be read, rendered, or named."""


def base_of(words: str) -> str:
    """Key under which tags travel from set to set."""
    return " ".join(sorted(words.split()))


def read_sources(excludes: Mapping[Path, Sequence[str]], skipped: list[tuple[str, str]]) -> list[Placed]:
    """Scan sources once, each without what is to be left out; files that can't be read are added to `skipped`."""
    placed = []
    opened = (it for location, exclude in excludes.items() for it in open_sources(location, exclude=exclude))
    for source, scanned in ((it, scanned) for it in opened for scanned in it.scan({})):
        if scanned.error:
            skipped.append((f"{source.location}/{scanned.path}".rstrip("/"), scanned.error))
        placed += [Placed(record, source.address_of(scanned, record)) for record in scanned.records or ()]
    if not placed:
        raise SourceError(
            "no icons in these sources; give folders of pictures, npm packages, Iconify JSON, or a manifest"
        )
    return placed


def gather(
    placed: Sequence[Placed],
    *,
    limits: Limits,
    refuse: Callable[[Record], str | None],
    own: Mapping[str, Sequence[str]] | None = None,
    extra_tags: Sequence[Lists] = (),
) -> Gathered:
    """Choose the icons to learn from and give each its tags.

    `refuse` says why an icon may not be learnt from, `own` are captions by `Placed.file`, `extra_tags` are lists of
    tags by name that come without pictures.
    """
    gathered, generator = Gathered(), random.Random(limits.seed)
    members = named(placed, refuse, gathered, own=own or {})
    tags = _tags_by_base([icon for icons in members.values() for icon in icons], extra_tags)
    for icon_set in sorted(members, key=lambda icon_set: (icon_set.key, icon_set.title)):
        gathered.icons += _chosen(members[icon_set], limits=limits, generator=generator)
    one_in = limits.held_out or share_held_out(len({icon.base for icon in gathered.icons}))
    gathered.icons = [_tagged(icon, tags, limits, one_in=one_in) for icon in gathered.icons]
    return gathered


def named(
    placed: Sequence[Placed],
    refuse: Callable[[Record], str | None],
    gathered: Gathered,
    *,
    own: Mapping[str, Sequence[str]] | None = None,
) -> dict[IconSet, list[TrainingIcon]]:
    """Sort out by set which icons may be learnt from, each with the tags of its own set; note why others are not."""
    by_set: dict[IconSet, list[Placed]] = defaultdict(list)
    reasons = [refuse(entry.record) for entry in placed]
    gathered.refused.update(filter(None, reasons))
    for entry in (entry for entry, reason in zip(placed, reasons, strict=True) if not reason):
        by_set[entry.record.set].append(entry)
    return {icon_set: _named(entries, own or {}, gathered) for icon_set, entries in by_set.items()}


def _named(entries: Sequence[Placed], own: Mapping[str, Sequence[str]], gathered: Gathered) -> list[TrainingIcon]:
    """Read the names of a set; an icon whose name says nothing is called by its first caption, or skipped."""
    affixes = common_affixes([entry.record.name for entry in entries])
    captions: dict[bytes, dict[str, None]] = defaultdict(dict)
    for entry in entries:
        written = own.get(entry.file, (entry.record.caption,) if entry.record.caption else ())
        captions[entry.record.digest].update(dict.fromkeys(text for text in written if text.strip()))
    icons = []
    for entry in entries:
        record = entry.record
        words = parse(record.name, affixes, style=record.style, size=record.size).words
        written = tuple(captions[record.digest])
        said = words if any(map(str.isalpha, words)) else normalise(written[0]) if written else ""
        if any(map(str.isalpha, said)):
            icons.append(TrainingIcon(entry, said, tuple(normalise(tag) for tag in record.tags), written))
        else:
            gathered.refused["no word in its name"] += 1
            gathered.skipped.append((entry.file, f'no word in its name "{record.name}", and no caption'))
    return icons


def _tags_by_base(named: Sequence[TrainingIcon], extra: Sequence[Lists]) -> dict[str, Counter[str]]:
    """Count how many sets give a tag to a base name. An alias is a name of the same picture, so it is a tag too."""
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    by_picture: dict[bytes, set[str]] = defaultdict(set)
    for icon in named:
        by_picture[icon.placed.record.digest].add(icon.words)
    for base, tag, _ in dict.fromkeys(
        (icon.base, tag, icon.placed.record.set.key) for icon in named for tag in icon.tags
    ):
        tags[base][tag] += 1
    for name, same in ((name, names) for names in by_picture.values() for name in names):
        tags[base_of(name)].update(sorted(same - {name}))
    for words, listed in (entry for tags_by_name in extra for entry in tags_by_name.items()):
        tags[base_of(words)].update(listed)
    return tags


def _tagged(icon: TrainingIcon, tags: Mapping[str, Counter[str]], limits: Limits, *, one_in: int) -> TrainingIcon:
    plain, counted = base_of(plain_name(icon.words)), tags.get(icon.base)
    # Of the thing that an icon without tags is another drawing of; nothing is learnt of a name that is measured on.
    if not counted and not is_held_out(icon.base, one_in=one_in) and not is_held_out(plain, one_in=one_in):
        counted = tags.get(plain)
    ranked = [tag for tag, _ in (counted or Counter[str]()).most_common() if 1 < len(tag) < 60 and tag != icon.words]
    common, rest = ranked[: limits.tags_per_icon], ranked[limits.tags_per_icon :]
    lot = random.Random(icon.placed.record.digest)
    return replace(icon, tags=(*common, *lot.sample(rest, min(len(rest), limits.tags_by_lot))))


def plain_name(words: str) -> str:
    """Take off the end of a name what only tells drawings of one thing apart: "bag 4", "tree alt", "user circle 2"."""
    rest = words.split()
    while len(rest) > 1 and (rest[-1].isdecimal() or rest[-1] in _VARIANTS):
        del rest[-1]
    return " ".join(rest)


def _chosen(members: Sequence[TrainingIcon], *, limits: Limits, generator: random.Random) -> list[TrainingIcon]:
    """Draw base names of a set, and some variants of each; equal pictures are taken once."""
    by_base: dict[str, list[TrainingIcon]] = defaultdict(list)
    for icon in members:
        by_base[icon.base].append(icon)
    chosen: dict[bytes, TrainingIcon] = {}
    for base in generator.sample(sorted(by_base), min(len(by_base), limits.names_per_set or len(by_base))):
        n = min(len(by_base[base]), limits.variants_per_name or len(by_base[base]))
        for icon in generator.sample(by_base[base], n):
            chosen.setdefault(icon.placed.record.digest, icon)
    return list(chosen.values())


def is_held_out(base: str, *, one_in: int = 50) -> bool:
    """Whether all icons of a base name are kept for validation: decided by the name alone, so the same in every run."""
    return int.from_bytes(blake2b(base.encode(), digest_size=4).digest(), "big") % one_in == 0


def share_held_out(n_bases: int) -> int:
    """One base name in how many is held out: 5, 10 or 50, so that small libraries can be measured at all.

    Each of these divides the next, so a library that grows frees held-out names and never takes one that was learnt.
    """
    return 5 if n_bases < 2000 else 10 if n_bases < 10_000 else 50


KINDS = ("name", "tag", "phrase", "part", "own")
SHARES = (0.33, 0.47, 0.13, 0.07, 1.0)
"""How often each kind is drawn; an icon that lacks a kind draws the others more often, in proportion."""
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
        return cast(Ids, self.ids[own][self.kinds[own] == KINDS.index(kind)] if kind else self.ids[own])

    def draw(self, icons: Ids, generator: np.random.Generator) -> Ids:
        """Draw one caption for each icon."""
        low = np.where(self.starts[icons] > 0, self.chances[self.starts[icons] - 1], 0.0)
        high = self.chances[self.starts[icons + 1] - 1]
        place = np.searchsorted(self.chances, low + generator.random(len(icons)) * (high - low), side="right")
        return self.ids[np.clip(place, self.starts[icons], self.starts[icons + 1] - 1)]

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
    found, phrases = dict[str, int](), [phrase(name, list(tags), generator) for _ in range(min(3, len(tags)))]
    for kind, caption in ((kind, it) for kind, of in enumerate(([name], tags, phrases, parts_of(name))) for it in of):
        found.setdefault(caption, kind)
    return [(kind, caption) for caption, kind in found.items()]


def parts_of(name: str) -> list[str]:
    """Split a name of several words into those that mean something alone; a name of one word has no parts."""
    words = name.split() if " " in name else []
    return [word for word in words if len(word) > 2 and word.isalpha() and word not in _SMALL_WORDS]


def phrase(name: str, tags: Sequence[str], generator: random.Random) -> str:
    """Join two tags, or a word of the name and a tag."""
    second = generator.choice(tags)
    first = generator.choice(tags) if generator.random() < 0.5 else generator.choice(name.split())
    return first if first in second.split() or first == second else f"{first} {second}"


COLUMNS = ("file", "name", "set", "licence", "base", "held_out", "captions")
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
    limits = Limits(**asdict(learning), tags_by_lot=0, seed=seed)
    placed = read_sources(excludes, skipped)
    own = read_own_captions(Path(learning.own_captions)) if learning.own_captions else {}
    unknown = own.keys() - {entry.file for entry in placed}
    if own and len(unknown) == len(own):
        raise SourceError(
            f'no file in "{learning.own_captions}" is one of the icons, the first is "{next(iter(own))}"; '
            "`icons lab captions --out FILE` writes a list to edit"
        )

    gathered = gather(
        placed,
        limits=limits,
        refuse=lambda it: None if learning.admit == "all" else refuse_licence(it.licence or it.set.licence),
        own=own,
    )
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
    if kind == ".jsonl":
        buffer.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in listed)
    elif kind == ".csv":
        writer = csv.DictWriter(buffer, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "captions": "; ".join(row["captions"])} for row in listed)
    else:
        raise SourceError(f'"{file}" ends in neither .csv nor .jsonl; give --out a name that does')
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
