"""What is there to learn from? Sources -> admitted icons with captions, and their pixels in one memory-mapped file.

A corpus is a folder: `pixels.npy` (uint8, n x 64 x 64 x 3), `corpus.json` (captions, sets, licences, what was refused).
"""

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.errors import SourceError
from indexer.finetune.admission import digests_of, is_reserved, refuse
from indexer.naming import common_affixes, normalise, parse
from indexer.sources.records import IconSet, Record

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the sources is taken; saved with the corpus."""

    names_per_set: int = 2000
    variants_per_name: int = 2
    tags_per_icon: int = 24
    """The tags that most sets agree on come first."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A record with the place that its picture is read from: what `indexer.sources.read_picture` takes."""

    record: Record
    kind: str
    location: str
    path: str


@dataclass(frozen=True, slots=True)
class TrainingIcon:
    """One picture to learn, with the base name that its variants share."""

    placed: Placed
    words: str
    tags: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """Name words in alphabetical order: "circle arrow" is "arrow circle"."""
        return base_of(self.words)


@dataclass(slots=True)
class Gathered:
    """What came of the sources: icons to learn, reserved ones to compare with, and counts of what was refused."""

    icons: list[TrainingIcon] = field(default_factory=list)
    reserved: list[Placed] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def base_of(words: str) -> str:
    """Key under which tags travel from set to set."""
    return " ".join(sorted(words.split()))


def read_sources(locations: Iterable[Path]) -> list[Placed]:
    """Scan every source once; files that can't be read are named on stderr and left out."""
    from indexer.sources import open_sources

    placed = []
    for location in locations:
        for source in open_sources(location):
            for scanned in source.scan({}):
                if scanned.error:
                    sys.stderr.write(f"{source.location}/{scanned.path}: {scanned.error}\n")
                where = (source.kind, str(source.location), scanned.path)
                placed += [Placed(record, *where) for record in scanned.records or ()]
    if not placed:
        raise SourceError("no icons in these sources; give folders of npm packages or Iconify JSON")
    return placed


def gather(placed: Sequence[Placed], *, extra_tags: Mapping[str, Sequence[str]], limits: Limits) -> Gathered:
    """Choose the icons to learn from and give each its tags; `extra_tags` are tags by name, as for emoji."""
    gathered, by_set = Gathered(), defaultdict(list)
    for entry in placed:
        reason = refuse(entry.record)
        if reason == "reserved":
            gathered.reserved.append(entry)
        if reason:
            gathered.refused[reason] += 1
        else:
            by_set[entry.record.set].append(entry)
    generator = random.Random(limits.seed)
    members = {icon_set: _named(entries) for icon_set, entries in by_set.items()}
    tags = _tags_by_base([icon for icons in members.values() for icon in icons], extra_tags)
    for icon_set in sorted(members, key=lambda icon_set: (icon_set.key, icon_set.title)):
        gathered.icons += _chosen(members[icon_set], limits=limits, generator=generator)
    gathered.icons = [_tagged(icon, tags, n=limits.tags_per_icon) for icon in gathered.icons]
    return gathered


def _named(entries: Sequence[Placed]) -> list[TrainingIcon]:
    affixes = common_affixes([entry.record.name for entry in entries])
    icons = []
    for entry in entries:
        record = entry.record
        words = parse(record.name, affixes, style=record.style, size=record.size).words
        tags = (*record.tags, *((record.caption,) if record.caption else ()))
        if any(map(str.isalpha, words)):
            icons.append(TrainingIcon(entry, words, tuple(normalise(tag) for tag in tags)))
    return icons


def _tags_by_base(named: Iterable[TrainingIcon], extra: Mapping[str, Sequence[str]]) -> dict[str, Counter[str]]:
    """Count how many sets give a tag to a base name. An alias is a name of the same picture, so it is a tag too."""
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    by_picture: dict[bytes, set[str]] = defaultdict(set)
    seen: set[tuple[str, str, str]] = set()
    for icon in named:
        by_picture[icon.placed.record.digest].add(icon.words)
        for tag in icon.tags:
            key = (icon.placed.record.set.key, icon.base, tag)
            if key not in seen:
                seen.add(key)
                tags[icon.base][tag] += 1
    for names in by_picture.values():
        for name in names:
            tags[base_of(name)].update(names - {name})
    for words, given in extra.items():
        tags[base_of(words)].update(given)
    return tags


def _tagged(icon: TrainingIcon, tags: Mapping[str, Counter[str]], *, n: int) -> TrainingIcon:
    common = [
        tag for tag, _ in tags.get(icon.base, Counter()).most_common(n + 1) if 1 < len(tag) < 60 and tag != icon.words
    ]
    return TrainingIcon(icon.placed, icon.words, tuple(common[:n]))


def _chosen(members: Sequence[TrainingIcon], *, limits: Limits, generator: random.Random) -> list[TrainingIcon]:
    """Draw base names of a set, and some variants of each; equal pictures are taken once."""
    by_base: dict[str, list[TrainingIcon]] = defaultdict(list)
    for icon in members:
        by_base[icon.base].append(icon)
    bases = sorted(by_base)
    chosen: dict[bytes, TrainingIcon] = {}
    for base in generator.sample(bases, min(len(bases), limits.names_per_set)):
        variants = by_base[base]
        for icon in generator.sample(variants, min(len(variants), limits.variants_per_name)):
            chosen.setdefault(icon.placed.record.digest, icon)
    return list(chosen.values())


def tags_of_package(package: Path) -> dict[str, list[str]]:
    """Tags by name from an npm package that brings words but no pictures: emojilib or @blueprintjs/icons."""
    for file, read in ((_EMOJILIB, _emoji_tags), (_BLUEPRINT, _blueprint_tags)):
        if (package / file).is_file():
            return read(json.loads((package / file).read_text("utf-8")))
    raise SourceError(f'no words in "{package}"; give the folder of the npm package emojilib or @blueprintjs/icons')


_EMOJILIB, _BLUEPRINT = "dist/emoji-en-US.json", "icons.json"


def _emoji_tags(emoji: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The first word of each emoji is its name."""
    words = ([normalise(word.replace("_", " ")) for word in given] for given in emoji.values())
    return {given[0]: [word for word in given[1:] if any(map(str.isalpha, word))] for given in words if given}


def _blueprint_tags(icons: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    return {normalise(icon["iconName"]): [normalise(tag) for tag in icon["tags"].split(",")] for icon in icons}


def build_corpus(gathered: Gathered, folder: Path, *, limits: Limits, workers: int, size: int = 64) -> None:
    """Render everything once and write the corpus; icons that look like a reserved one, or not at all, are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    forbidden: set[bytes] = set()
    for _, pictures in _rendered(gathered.reserved, workers=workers, size=size):
        forbidden.update(digest for picture in pictures for digest in digests_of(picture))
    n = len(gathered.icons)
    pixels = np.lib.format.open_memmap(folder / "pixels.part.npy", "w+", np.uint8, (n, size, size, 3))
    kept: list[int] = []
    for rows, pictures in _rendered([icon.placed for icon in gathered.icons], workers=workers, size=size):
        for row, picture in zip(rows, pictures, strict=True):
            if forbidden.isdisjoint(digests_of(picture)):
                pixels[len(kept)] = picture
                kept.append(row)
            else:
                gathered.refused["looks like a reserved icon"] += 1
    gathered.refused["cannot be rendered"] += n - len(kept) - gathered.refused["looks like a reserved icon"]
    pixels.flush()
    (folder / "pixels.part.npy").replace(folder / "pixels.npy")
    (folder / "corpus.json").write_text(
        json.dumps(_described([gathered.icons[row] for row in kept], gathered, limits)), "utf-8"
    )


def _rendered(placed: Sequence[Placed], *, workers: int, size: int) -> Iterable[tuple[list[int], Pixels]]:
    """Rows of `placed` with their pixels, in chunks."""
    from indexer.render_pool import Job, RenderPool

    jobs = [
        Job(row, entry.kind, entry.location, entry.path, entry.record.member, entry.record.digest)
        for row, entry in enumerate(placed)
    ]
    with RenderPool(size=size, workers=workers) as pool:
        for number, chunk in enumerate(pool.render(jobs[start : start + 4096] for start in range(0, len(jobs), 4096))):
            if number % 200 == 199:
                sys.stderr.write(f"render: {int(chunk.ids[-1]) if len(chunk.ids) else 0:,} of {len(jobs):,}\n")
            yield chunk.ids.tolist(), chunk.pixels


def _described(icons: Sequence[TrainingIcon], gathered: Gathered, limits: Limits) -> dict[str, Any]:
    counts = Counter(icon.placed.record.set for icon in icons)
    return {
        "limits": asdict(limits),
        "sets": [
            {**_set_facts(icon_set), "icons": n} for icon_set, n in sorted(counts.items(), key=lambda pair: pair[0].key)
        ],
        "refused": dict(gathered.refused.most_common()),
        "words": [icon.words for icon in icons],
        "tags": [icon.tags for icon in icons],
    }


def _set_facts(icon_set: IconSet) -> dict[str, Any]:
    assert not is_reserved(icon_set)
    return {"key": icon_set.key, "title": icon_set.title, "version": icon_set.version, "licence": icon_set.licence}
