"""What there is to learn from: sources -> admitted icons, each with its name, tags and captions."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from indexer.arrays import Pixels
from indexer.errors import SourceError
from indexer.languages.names import common_affixes, parse
from indexer.languages.words import normalise
from indexer.sources.records import IconSet, PictureAddress, Record, family
from indexer.sources.source import open_sources

_REFUSED_LICENCES = frozenset(["copyleft", "non-commercial", "no-derivatives", "withheld"])


def refuse_licence(licence: str | None) -> str | None:
    """Say why nothing under a licence must be learnt from; None when it may."""
    if licence is None:
        return "no licence"
    return f"licence {licence}" if family(licence) in _REFUSED_LICENCES else None


Lists = Mapping[str, Sequence[str]]
"""Words by the name that they are said of."""
_VARIANTS = frozenset(("alt", "variant", "one", "two", "three", "four", "five", "six", "circle", "square"))
"""Ends of names that tell drawings of one thing apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of the sources is taken; saved with the corpus."""

    names_per_set: int | None = 2000
    """None: all."""
    variants_per_name: int | None = 2
    tags_per_icon: int = 24
    """Those that most sets agree on."""
    tags_by_lot: int = 8
    """Of the rest, drawn for each icon by a hash of its picture, so that all icons of a name know more together."""
    seed: int = 0
    admit: str = "all"
    """The rule that icons are refused by: `Learning.admit`, or that of the bundled model."""
    held_out: int | None = None
    """As in `options.Learning`: nothing is borrowed from a held-out name, or by one."""

    def facts(self) -> dict[str, Any]:
        """Spell them for `corpus.json`; `held_out` only where it was chosen: other corpora keep their keys."""
        plain = asdict(self)
        return plain if self.held_out else {name: value for name, value in plain.items() if name != "held_out"}


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
    is_reserved: Callable[[Pixels], bool] = field(default=lambda _: False, repr=False)
    """Of a picture: it looks like one that must not be learnt, under whatever name."""
    refused: Counter[str] = field(default_factory=Counter)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Files and reasons: what could not be read, rendered, or named."""


def base_of(words: str) -> str:
    """Key under which tags travel from set to set."""
    return " ".join(sorted(words.split()))


def read_sources(excludes: Mapping[Path, Sequence[str]], skipped: list[tuple[str, str]]) -> list[Placed]:
    """Scan sources once, each without what is to be left out; files that can't be read are added to `skipped`."""
    placed = []
    for location, exclude in excludes.items():
        for source in open_sources(location, exclude=exclude):
            for scanned in source.scan({}):
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
    for entry in placed:
        reason = refuse(entry.record)
        if reason:
            gathered.refused[reason] += 1
        else:
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
        if not any(map(str.isalpha, words)):
            words = normalise(written[0]) if written else ""
        if any(map(str.isalpha, words)):
            icons.append(TrainingIcon(entry, words, tuple(normalise(tag) for tag in record.tags), written))
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
    for names in by_picture.values():
        for name in names:
            tags[base_of(name)].update(sorted(names - {name}))
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
        n_variants = len(by_base[base])
        for icon in generator.sample(by_base[base], min(n_variants, limits.variants_per_name or n_variants)):
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
