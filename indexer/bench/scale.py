"""`icons lab bench scale`: how time, memory and disk grow with the number of icons, from the scan to the page.

A library of any size is drawn from a real one: its sets again and again, with names of which some words are others',
and vectors moved a little, so that clusters are as crowded as real ones. `icons index --only` scan, plan and merge
build it, `icons serve` answers; each is a process that is watched. A run that is ended goes on where it stopped.
"""

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any, NamedTuple, cast
from zlib import crc32

import numpy as np

from indexer.arrays import Halves, Ids
from indexer.bench.indexes import nearest_likeness, perturb
from indexer.bench.processes import ask_alone, run_icons, serving
from indexer.bench.report import Report, Row
from indexer.bench.search import PAGE_HITS, Client, ask_catalog, choose_texts, first_hits, read_manifest, timed
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import LibraryError
from indexer.library.durable import bytes_on_disk, write_file
from indexer.library.folder import Library
from indexer.library.plans import Block
from indexer.library.shards import Shard, read_traits, read_vectors, shard_name, write_shard
from indexer.reports.terminal import Progress

LEAST_ICONS = 100
"""Below which there are no clusters to draw from."""
CHANGED = 0.4
"""Share of the names of which one word is another's. Of all of Iconify's sets in mixed order names grow as the icons to
the power of .68 (136,274 of 158,670 icons, 260,965 of 413,481); so drawn, to that of .66 up to 1.6 million icons."""
_ICONS = """
SELECT sets.key, COALESCE(sets.licence, ''), icons.name, categories, image_id
FROM icons JOIN sets ON sets.id = set_id ORDER BY set_id, icons.id
"""
_WORDS = "SELECT words, id FROM names WHERE own = '' ORDER BY id"
Figures = dict[str, float]
"""Seconds of steps ("merge, s"), and bytes ("merge, memory", "library, disk")."""


class RealSet(NamedTuple):
    """One set of a real library; names, categories (joined with newlines) and rows in `Real.images` of its icons."""

    key: str
    licence: str
    names: Sequence[str]
    categories: Sequence[str]
    images: Ids


@dataclass(frozen=True, slots=True)
class Real:
    """A library's sets, vectors of its pictures with what else is known of these, and of names, by their words."""

    fingerprint: str
    sets: Sequence[RealSet]
    images: Halves
    traits: Any
    names: Halves
    words: Mapping[str, int]


def read_real(library: Library) -> Real:
    """Read what the current generation of a library holds.

    Raises:
        LibraryError: nothing answers, or too little to draw from.
    """
    rows, words = ask_catalog(library, _ICONS), ask_catalog(library, _WORDS)
    if len(rows) < LEAST_ICONS:
        raise LibraryError(f'"{library.root}" holds {len(rows)} icons, too few to draw from; index a larger source')
    fingerprint, image_ids = read_manifest(library).fingerprint, np.unique([row[4] for row in rows])
    shards, name_ids = library.vectors(fingerprint), np.array([name for _, name in words])
    images, _ = read_vectors(shards, "images", image_ids, fingerprint=fingerprint)
    names, filled = read_vectors(shards, "names", name_ids, fingerprint=fingerprint)
    known = {
        word: row - 1
        for (word, _), row, has_vector in zip(words, np.cumsum(filled).tolist(), filled, strict=True)
        if has_vector
    }
    columns = (zip(*of_set, strict=True) for _, of_set in groupby(rows, key=itemgetter(0)))
    sets = [
        RealSet(keys[0], licences[0], names_of, categories, np.searchsorted(image_ids, of))
        for keys, licences, names_of, categories, of in columns
    ]
    return Real(fingerprint, sets, images, read_traits(shards, image_ids), names[filled], known)


def write_sets(folder: Path, real: Real, *, n: int, seed: int = 0) -> None:
    """Write sets of `n` icons in all, as `@iconify/json` is laid out: every real one in mixed order, then again.

    Icons that share a picture share one again. Beside each set stands which picture its icons come from.
    """
    for name in ("json", "beside"):
        (folder / name).mkdir(parents=True)
    (folder / "collections.json").write_text("{}")
    random = np.random.default_rng(seed)
    words = np.array([token for one in real.sets for name in one.names for token in name.split("-")])
    n_written, number = 0, 0
    while n_written < n:
        turn = number // len(real.sets) * len(real.images)
        for of in (real.sets[place] for place in random.permutation(len(real.sets)).tolist()):
            key, names = f"s{number:05d}-{of.key}", _names(of.names[: n - n_written], words, random)
            categories: defaultdict[str, list[str]] = defaultdict(list)
            for name, of_icon in zip(names, of.categories, strict=False):
                for category in filter(None, of_icon.split("\n")):
                    categories[category].append(name)
            origins = dict(zip(names, of.images.tolist(), strict=False))
            icons = {name: {"body": _body(turn + row)} for name, row in origins.items()}
            info = {"name": key, "license": {"title": of.licence, "spdx": of.licence}}
            held = {"prefix": key, "icons": icons, "info": info, "categories": categories, "width": 24, "height": 24}
            (folder / "json" / f"{key}.json").write_text(json.dumps(held, indent="\t"), encoding="utf-8")
            (folder / "beside" / f"{key}.json").write_text(json.dumps(origins))
            n_written, number = n_written + len(names), number + 1
            if n_written == n:
                return


def _names(real: Sequence[str], words: Any, random: np.random.Generator) -> list[str]:
    """The names of a set, some with a word that another name bears, each once."""
    found: dict[str, None] = {}
    drawn = (random.random(len(real)) < CHANGED, random.random(len(real)), random.choice(words, len(real)))
    for name, is_changed, at, word in zip(real, *drawn, strict=True):
        tokens = name.split("-")
        if is_changed:
            tokens[int(at * len(tokens))] = str(word)
        while (new := "-".join(tokens)) in found:
            tokens.append(str(random.choice(words)))
        found[new] = None
    return list(found)


def _body(number: int) -> str:
    """A drawing for each number."""
    box = f"M{number % 13} {number // 13 % 11}h9v{1 + number % 7}h-{3 + number % 5}z"
    return f'<path fill="currentColor" d="{box}M1 23h22v.{number:09d}z"/>'


def write_shards(library: Library, sets: Path, real: Real) -> None:
    """Write a shard for each block of a library's plan, as a rank would have written it."""
    place, folder = LibraryPlanStore(library, real.fingerprint), library.vectors(real.fingerprint)
    plan, mixed = place.plan, np.random.default_rng(0).permutation(len(real.images))
    likeness = {"images": nearest_likeness(real.images[mixed]), "names": nearest_likeness(real.names)}
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"rank": "0", "precision": "fp32", "model": plan.model, "run": plan.run}
    for block in map(place.read, place.headers):
        shard = _shard(block, sets, real, likeness[block.kind])
        write_shard(folder / shard_name(block.name), shard, fingerprint=real.fingerprint, facts=facts)


def _shard(block: Block, sets: Path, real: Real, likeness: float) -> Shard:
    """Vectors of the pictures that the items of a block were drawn from, and of their names or any, moved a little."""
    ids = np.array([item[0] for item in block.items], np.int64)
    move = partial(perturb, likeness=likeness, seed=(1, int(ids[0])))
    if block.kind == "images":
        rows = np.array([_beside(sets, item[3])[item[4]] for item in block.items], np.int64)
        traits = real.traits[rows].copy()
        traits["drawing"] = ids
        return Shard("images", ids, move(real.images, real.images[rows]), {}, traits)
    known = [real.words.get(item[1]) for item in block.items]
    any_rows = [crc32(item[1].encode()) % len(real.names) for item in block.items]
    vectors = real.names[[other if row is None else row for row, other in zip(known, any_rows, strict=True)]]
    is_new = np.array([row is None for row in known])
    vectors[is_new] = move(real.names, vectors[is_new])
    return Shard("names", ids, vectors, {})


@lru_cache(maxsize=4)
def _beside(sets: Path, path: str) -> Mapping[str, int]:
    return cast(Mapping[str, int], json.loads((sets / "beside" / Path(path).name).read_bytes()))


@dataclass(frozen=True, slots=True)
class Place:
    """Where one size lies, and what it is drawn from."""

    folder: Path
    real: Library
    n: int

    @property
    def library(self) -> Library:
        """What is built."""
        return Library(self.folder / "library")

    def measure(self, stage: str) -> Figures:
        """Do a stage of `STAGES`; what it takes."""
        sets = self.folder / "sets"
        match stage:
            case "sets":
                rmtree(sets, ignore_errors=True)  # what a run that was ended has left
                write_sets(sets, read_real(self.real), n=self.n)
            case "scan":
                first = self._run("scan", "index", "--only", "scan", str(sets))
                return {**self._run("scan, nothing new", "index", "--only", "scan"), **first}
            case "plan":
                fingerprint = read_manifest(self.real).fingerprint
                copytree(self.real.encoder(fingerprint), self.library.encoder(fingerprint), dirs_exist_ok=True)
                return self._run("plan", "index", "--only", "plan", *self._encoder())
            case "vectors":
                write_shards(self.library, sets, read_real(self.real))
            case "merge":
                return self._run("merge", "index", "--only", "merge", *self._encoder())
            case "ask":
                return ask(self.library)
        return {}

    def _encoder(self) -> list[str]:
        """Name the encoder of the real library as commands take it."""
        stored = ask_catalog(self.real, "SELECT value FROM settings WHERE key = 'model'")
        choice = ModelChoice.from_json(stored[0][0]) if stored else ModelChoice.bundled()
        return ["--model", choice.model, *(["--pretrained", choice.pretrained] if choice.pretrained else [])]

    def _run(self, step: str, *arguments: str) -> Figures:
        """Run a command over the library: its seconds, memory and stages, and what lies on disk after it."""
        ran = run_icons(*arguments, "--json", "--library", str(self.library.root))
        stages = {f"{step}: {stage}, s": run["seconds"] for stage, run in ran.spans().items()}
        figures = {f"{step}, memory": ran.peak_bytes, "library, disk": bytes_on_disk(self.library.root)}
        return {f"{step}, s": ran.seconds, **(stages if len(stages) > 2 else {}), **figures}


def ask(library: Library) -> Figures:
    """Search from cold; then ask a server for words, under filters, with counts, for icons alike and for everything."""
    root, texts, page = str(library.root), choose_texts(library), {"k": PAGE_HITS, "facets": 1}
    found: Figures = {"icons search, s": run_icons("search", "arrow", "--library", root, is_watched=False).seconds}
    started = time.perf_counter()
    with serving(root) as server, closing(Client(server)) as client:
        found["server answers, s"] = time.perf_counter() - started
        windows: dict[str, dict[str, Any]] = {"words": {}, "words, page with counts": page}
        windows |= {"words, one set": {"set": client.facets()["set"][0]["value"]}}
        windows |= {"words, one style": {"style": "outline"}}
        runs = {name: timed(server, Client.words, texts, **window) for name, window in windows.items()}
        runs["browse"] = timed(server, Client.words, [""] * 11, **page)
        runs["more like an icon"] = timed(server, Client.alike, first_hits(server, texts))
        for name, p in ((name, p) for name in runs for p in ("p50", "p95")):
            found[f"{name}, {p}, s"] = runs[name].get(f"{p}, ms", 0) / 1000
        found["server, memory"] = server.memory_bytes(is_own=True)
        found["server with mapped files, memory"] = server.memory_bytes()
    return found


STAGES = ("sets", "scan", "plan", "vectors", "merge", "ask")


def bench_scale(real: Library, out: Path, sizes: Sequence[int], *, keep: bool, progress: Progress) -> Report:
    """Measure every stage at every size, smallest first; `out` keeps figures, and what is built until a size is done.

    Raises:
        BenchError: a stage failed; the next run goes on with it.
    """
    drawn_from = f"{real.root.absolute()}, generation {read_manifest(real).number}"
    measured: dict[int, Figures] = {}
    for number, n in enumerate(sorted({*sizes})):
        place = Place(out / f"{n}-{crc32(drawn_from.encode()):08x}", real, n)
        for done, stage in enumerate(STAGES):
            file = place.folder / f"{stage}.json"
            if not file.exists():
                progress(f"{n:,} icons: {stage}", number * len(STAGES) + done, len({*sizes}) * len(STAGES))
                write_file(file, json.dumps(place.measure(stage)).encode())
            measured.setdefault(n, {}).update(json.loads(file.read_text()))
        for left in () if keep else ("sets", "library"):
            rmtree(place.folder / left, ignore_errors=True)
    report = Report(command="icons lab bench scale", main="", facts=[f"drawn from {drawn_from}"], is_whole=True)
    report.machine, report.rows = ask_alone("machine")[0], list(growth(measured))
    return report


def growth(measured: Mapping[int, Figures]) -> Iterator[Row]:
    """Yield a row a figure: a column a size, and the power of the size with which it grows."""
    every = dict.fromkeys(name for figures in measured.values() for name in figures)
    for unit, group, divisor in (("s", "time, s", 1.0), ("memory", "memory, GB", 1e9), ("disk", "disk, GB", 1e9)):
        for name in (name for name in every if name.endswith(f", {unit}")):
            values = {n: figures[name] / divisor for n, figures in measured.items() if name in figures}
            run = {**{f"{n:,}": value for n, value in values.items()}, "grows as n^": exponent(values)}
            yield Row(group, name.removesuffix(f", {unit}"), runs=[run])


def exponent(values: Mapping[int, float]) -> float | None:
    """The power of the size with which a figure grows, by least squares of logarithms; None for one size alone."""
    if len(values) < 2 or min(values.values()) <= 0:
        return None
    slope, _ = np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)
    return round(float(slope), 2)
