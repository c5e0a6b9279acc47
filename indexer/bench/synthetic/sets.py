"""Which sets would a larger library hold? Writes Iconify sets of any number of icons, drawn from a real library's.

Each is a real set drawn again: as many icons, their tags and categories, and names of which some words are others'.
Beside it stands which picture an icon comes from, as its vector is made of that one's, and its tags, for which the
format has no place.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from indexer.bench.synthetic.real import Real, RealSet
from indexer.sources.exclusion import Exclusion
from indexer.sources.iconify import scan
from indexer.sources.records import FileScan, Record
from indexer.sources.source import Source, open_sources

CHANGED = 0.4
"""Share of the names of which one word is another's. Of all of Iconify's sets in mixed order names grow as the icons to
the power of .68 (136,274 of 158,670 icons, 260,965 of 413,481); so drawn, to that of .66 up to 1.6 million icons."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A real set drawn again."""

    key: str
    of: RealSet
    names: Sequence[str]
    origins: Sequence[int]
    """Places in `of`."""
    pictures: Sequence[int]
    """A number for each picture, which icons that show the same share."""


def write_sets(folder: Path, real: Real, *, n: int, seed: int) -> None:
    """Write sets of `n` icons in all, as `@iconify/json` is laid out."""
    (folder / "json").mkdir(parents=True)
    (folder / "beside").mkdir()
    (folder / "collections.json").write_text("{}")
    for drawn in draw_sets(real, n=n, seed=seed):
        (folder / "json" / f"{drawn.key}.json").write_text(_as_iconify(drawn), encoding="utf-8")
        beside = {
            name: (int(drawn.of.images[place]), drawn.of.tags[place])
            for name, place in zip(drawn.names, drawn.origins, strict=True)
        }
        (folder / "beside" / f"{drawn.key}.json").write_text(json.dumps(beside))


def read_beside(folder: Path, path: str) -> dict[str, tuple[int, str]]:
    """For each icon of a set, given by its path, the row of its picture in `Real.images`, and its tags."""
    beside = folder / "beside" / Path(path).name
    found: dict[str, tuple[int, str]] = json.loads(beside.read_bytes())
    return found


def open_tagged(location: Path, *, exclude: Sequence[str] = ()) -> list[Source]:
    """Open such sets with the tags that stand beside them."""
    opened = open_sources(location, exclude=exclude)
    return [replace(source, scan=partial(_scan_tagged, location, Exclusion.of(exclude))) for source in opened]


def _scan_tagged(location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    for scanned in scan(location, exclusion, stamps):
        if scanned.records is None:
            yield scanned
            continue
        beside = read_beside(location, scanned.path)
        yield replace(
            scanned, records=tuple(_with_tags(record, beside[record.member][1]) for record in scanned.records)
        )


def _with_tags(record: Record, tags: str) -> Record:
    return replace(record, tags=tuple(filter(None, tags.split("\n"))))


def draw_sets(real: Real, *, n: int, seed: int) -> Iterator[Drawn]:
    """Draw sets until they hold `n` icons: every real one once in mixed order, then again."""
    random = np.random.default_rng(seed)
    borne = [token for one in real.sets for name in one.names for token in name.split("-")]
    words = np.array(borne)[random.permutation(len(borne))]
    n_pictures, left, numbers = 0, n, count()
    while left:
        for place in random.permutation(len(real.sets)).tolist():
            of = real.sets[place]
            origins = range(min(left, len(of.names)))
            names = _names(of, len(origins), words, random)
            is_repeated = random.random(len(origins)) < real.repeated if n_pictures else np.zeros(len(origins), bool)
            pictures = np.cumsum(~is_repeated) - 1 + n_pictures
            pictures[is_repeated] = random.integers(max(1, n_pictures), size=int(is_repeated.sum()))
            n_pictures += int((~is_repeated).sum())
            yield Drawn(f"s{next(numbers):05d}-{of.key}", of, names, origins, pictures.tolist())
            left -= len(origins)
            if not left:
                return


def _names(of: RealSet, n: int, words: Any, random: np.random.Generator) -> list[str]:
    """The first `n` names of a set, some with a word that another name bears, each once."""
    is_changed = random.random(n) < CHANGED
    drawn = iter(words[random.integers(len(words), size=int(is_changed.sum()))].tolist())
    at = random.random(n)
    found: dict[str, None] = {}
    for place in range(n):
        name = of.names[place]
        if is_changed[place]:
            tokens = name.split("-")
            tokens[int(at[place] * len(tokens))] = next(drawn)
            name = "-".join(tokens)
        while name in found:
            name = f"{name}-{words[random.integers(len(words))]}"
        found[name] = None
    return list(found)


def _as_iconify(drawn: Drawn) -> str:
    """Spell a set as Iconify does, an icon a line."""
    categories: dict[str, list[str]] = {}
    for name, place in zip(drawn.names, drawn.origins, strict=True):
        for category in filter(None, drawn.of.categories[place].split("\n")):
            categories.setdefault(category, []).append(name)
    info = {"name": drawn.of.title, "license": {"title": drawn.of.licence, "spdx": drawn.of.licence}}
    icons = ",\n".join(
        f'\t\t{json.dumps(name)}: {{\n\t\t\t"body": {json.dumps(_body(number))}\n\t\t}}'
        for name, number in zip(drawn.names, drawn.pictures, strict=True)
    )
    return (
        f'{{\n\t"prefix": {json.dumps(drawn.key)},\n\t"info": {json.dumps(info)},\n\t"icons": {{\n{icons}\n\t}},\n'
        f'\t"categories": {json.dumps(categories)},\n\t"width": 24,\n\t"height": 24\n}}\n'
    )


def _body(number: int) -> str:
    """A drawing for each number."""
    box = f"M{number % 13} {number // 13 % 11}h9v{1 + number % 7}h-{3 + number % 5}z"
    return f'<path fill="currentColor" d="{box}M1 23h22v.{number:09d}z"/>'
