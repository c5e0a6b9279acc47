"""How often the look that is seen agrees with the one that is stated. Reads one library, prints tables.

    python -m data.making.eval.looks LIBRARY

What is stated is hidden: groups of icons that state the same styles stay, as a set says by its names which icons belong
together, but not what the names of their styles mean. One half of the sets was learnt from (`see_looks`), and what is
said of the other half counts. Some words say no look by themselves: bold, light and thin ones may be lines or areas.
"""

import hashlib
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Mask
from indexer.languages.words import LOOKS, stated_look
from indexer.library.folder import Library, require
from indexer.library.shards import read_traits
from indexer.merging.facets import UNSEEN, group, likelihoods, see_looks
from indexer.merging.manifest import answering_manifest
from indexer.merging.merge import read_rows

RESERVED = frozenset(("lucide", "lucide-lab", "feather", "octicon", "ion", "famicons"))
"""Sets that nothing is learnt from."""
LEAST_STATED = 50
"""Icons of a set that state a look, for the set to count in the share of sets."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Icons whose pictures were measured, by what their sources say."""

    sets: NDArray[np.str_]
    styles: list[str | None]
    looks: NDArray[np.int8]
    """Places in `LOOKS` of what is stated; `UNSEEN` where nothing is."""
    likely: Floats

    @property
    def is_learnt(self) -> Mask:
        """Which icons are of the half of sets that was learnt from."""
        half = {key: is_learnt_from(key) for key in np.unique(self.sets).tolist()}
        return np.array([half[key] for key in self.sets.tolist()], bool)


def is_learnt_from(key: str) -> bool:
    """Say whether a set, by its key, is of the half that was learnt from."""
    return hashlib.sha256(key.encode()).digest()[-1] % 2 == 0


def read_stated(library: Library) -> Stated:
    """Read the icons of the generation that answers, but for reserved sets."""
    manifest = answering_manifest(require(library))
    assert manifest is not None
    catalog = library.generation(manifest.number).catalog
    query = "SELECT sets.key, icons.style FROM icons JOIN sets ON sets.id = icons.set_id ORDER BY icons.id"
    with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        keys, styles = zip(*connection.execute(query), strict=True)
    images, shown = np.unique(read_rows(catalog)[:, 1], return_inverse=True)
    likely = likelihoods(read_traits(library.vectors(manifest.fingerprint), images)["ink"])[shown]
    kept = np.flatnonzero(~np.isin(keys, list(RESERVED)) & likely.any(axis=1)).tolist()
    looks = [LOOKS.index(look) if (look := stated_look(styles[row])) else UNSEEN for row in kept]
    return Stated(np.array(keys)[kept], [styles[row] for row in kept], np.array(looks, np.int8), likely[kept])


def agreement_tables(stated: Stated) -> Iterator[str]:
    """Yield a table of shares, then one of what is seen for what is stated, of the half that was not learnt from."""
    _, sets = np.unique(stated.sets, return_inverse=True)
    ways = {
        "its picture alone": stated.likely.argmax(axis=1),
        "its picture and all of its set": see_looks(stated.likely, sets),
        "its picture and those that state the same": see_looks(stated.likely, group(stated.styles, sets)),
    }
    says = stated.looks != UNSEEN
    halves = {"other sets": says & ~stated.is_learnt, "sets that were learnt from": says & stated.is_learnt}
    rows = [
        [way, *(f"{share:.3f}" for chosen in halves.values() for share in _shares(stated, seen, chosen))]
        for way, seen in ways.items()
    ]
    heads = [f"{half}: {what}" for half in halves for what in ("icons", f"sets of {LEAST_STATED} or more")]
    yield _table(["seen by", *heads], rows)
    yield _confusion(stated.looks, seen=list(ways.values())[-1], chosen=halves["other sets"])


def _shares(stated: Stated, seen: NDArray[np.integer], chosen: Mask) -> tuple[float, float]:
    """Share of icons that agree, and the mean of those shares over large sets."""
    agrees = (seen == stated.looks)[chosen]
    _, sets = np.unique(stated.sets[chosen], return_inverse=True)
    n, agreeing = np.bincount(sets), np.bincount(sets, agrees)
    is_large = n >= LEAST_STATED
    return float(agrees.mean()), float((agreeing[is_large] / n[is_large]).mean())


def _confusion(looks: NDArray[np.int8], *, seen: NDArray[np.integer], chosen: Mask) -> str:
    rows = []
    for code, look in enumerate(LOOKS):
        counts = np.bincount(seen[chosen & (looks == code)], minlength=len(LOOKS))
        share = f"{counts[code] / counts.sum():.3f}" if counts.sum() else ""
        rows.append([look, *(f"{n:,}" for n in counts.tolist()), share])
    return _table(["stated", *(f"seen: {look}" for look in LOOKS), "agree"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write("\n".join(agreement_tables(read_stated(Library(Path(sys.argv[1]))))))
