"""How do icons become something to train on? Rendered once, into one memory-mapped file with their captions beside it.

A corpus is a folder: `pixels.npy` (uint8, n x size x size x 3), `corpus.json` (names, tags, captions, sets, licences,
what was refused or could not be read, and why).
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from indexer.arrays import Pixels
from indexer.finetune.corpus.admission import digests_of
from indexer.finetune.corpus.gather import Gathered, Limits, Placed, TrainingIcon
from indexer.library.durable import naming, write_file
from indexer.rendering.render import RECIPE
from indexer.sources.records import IconSet

Report = Callable[[int, int], None]


def _tell(done: int, total: int) -> None:
    """Say now and then on stderr how far rendering is."""
    if done // 12_800 > (done - 64) // 12_800:
        sys.stderr.write(f"render: {done:,} of {total:,}\n")


def build_corpus(
    gathered: Gathered, folder: Path, *, limits: Limits, workers: int, size: int = 64, report: Report = _tell
) -> None:
    """Render everything once and write the corpus; icons that look like a reserved one, or not at all, are left out.

    `report` is told how many pictures of how many are done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    forbidden: set[bytes] = set()
    for _, pictures in _rendered(gathered.reserved, {}, workers=workers, size=size, report=report):
        forbidden.update(digest for picture in pictures for digest in digests_of(picture))
    placed = [icon.placed for icon in gathered.icons]
    pixels = _room_for(len(placed), folder / "pixels.part.npy", size=size)
    kept: list[int] = []
    failed: dict[int, str] = {}
    for rows, pictures in _rendered(placed, failed, workers=workers, size=size, report=report):
        for row, picture in zip(rows, pictures, strict=True):
            if forbidden.isdisjoint(digests_of(picture) if forbidden else ()):
                pixels[len(kept)] = picture
                kept.append(row)
            else:
                gathered.refused["looks like a reserved icon"] += 1
    gathered.refused["cannot be rendered"] += len(failed)
    gathered.skipped += [(placed[row].file, reason) for row, reason in failed.items()]
    pixels.flush()
    (folder / "corpus.json").unlink(missing_ok=True)  # it would describe other pixels until the new one is written
    (folder / "pixels.part.npy").replace(folder / "pixels.npy")
    described = _described([gathered.icons[row] for row in kept], gathered, limits)
    described |= {"size": size, "key": key_of(gathered, limits, size=size)}
    write_file(folder / "corpus.json", json.dumps(described).encode())


def _room_for(n: int, file: Path, *, size: int) -> "np.memmap[Any, np.dtype[np.uint8]]":
    """Map a new file for `n` pictures, all of its room taken: to write into what a full disk lacks ends a process."""
    pixels = np.lib.format.open_memmap(file, "w+", np.uint8, (n, size, size, 3))
    if sys.platform == "linux":
        with naming(file), file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, opened.seek(0, os.SEEK_END))
    return pixels


def key_of(gathered: Gathered, limits: Limits, *, size: int) -> str:
    """Hash of all that a corpus is made from: equal keys are equal corpora."""
    facts = [
        [icon.placed.record.digest.hex(), icon.words, icon.tags, icon.own, icon.placed.file] for icon in gathered.icons
    ]
    reserved = sorted(entry.record.digest.hex() for entry in gathered.reserved)
    return sha256(json.dumps([RECIPE, size, limits.facts(), facts, reserved]).encode()).hexdigest()[:16]


def _rendered(
    placed: Sequence[Placed], failed: dict[int, str], *, workers: int, size: int, report: Report
) -> Iterable[tuple[list[int], Pixels]]:
    """Rows of `placed` with their pixels, in chunks; what fails goes to `failed` with its reason."""
    from indexer.rendering.pool import Job, RenderPool

    jobs = [
        Job(row, entry.kind, entry.location, entry.path, entry.record.member, entry.record.digest)
        for row, entry in enumerate(placed)
    ]
    done = 0
    with RenderPool(size=size, workers=workers) as pool:
        for chunk in pool.render(jobs[start : start + 4096] for start in range(0, len(jobs), 4096)):
            failed.update((failure.id, failure.reason) for failure in chunk.failures)
            done += len(chunk.ids) + len(chunk.failures)
            report(done, len(jobs))
            yield chunk.ids.tolist(), chunk.pixels


def _described(icons: Sequence[TrainingIcon], gathered: Gathered, limits: Limits) -> dict[str, Any]:
    records = [icon.placed.record for icon in icons]
    counts = Counter(replace(record.set, licence=record.licence or record.set.licence) for record in records)
    described: dict[str, Any] = {
        "limits": limits.facts(),
        "sets": [
            {**_set_facts(icon_set), "icons": n}
            for icon_set, n in sorted(counts.items(), key=lambda pair: (pair[0].key, str(pair[0].licence)))
        ],
        "refused": dict(gathered.refused.most_common()),
        "skipped": gathered.skipped,
        "words": [icon.words for icon in icons],
        "tags": [icon.tags for icon in icons],
    }
    if any(icon.own for icon in icons):
        described["own"] = [icon.own for icon in icons]
    return described


def _set_facts(icon_set: IconSet) -> dict[str, Any]:
    return {"key": icon_set.key, "title": icon_set.title, "version": icon_set.version, "licence": icon_set.licence}
