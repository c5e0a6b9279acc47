"""What an icon may be called: its name, its tags, and phrases put together from both; as numbers."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from indexer.arrays import Ids

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

    def of(self, icon: int) -> Ids:
        """All captions of one icon."""
        own: Ids = self.ids[self.starts[icon] : self.starts[icon + 1]]
        return own

    def of_kind(self, icon: int, kind: str) -> Ids:
        """The captions of one icon that are of one kind."""
        is_kind = self.kinds[self.starts[icon] : self.starts[icon + 1]] == KINDS.index(kind)
        found: Ids = self.of(icon)[is_kind]
        return found

    def draw(self, icons: Ids, generator: np.random.Generator) -> Ids:
        """Draw one caption for each icon."""
        low = np.where(self.starts[icons] > 0, self.chances[self.starts[icons] - 1], 0.0)
        high = self.chances[self.starts[icons + 1] - 1]
        place = np.searchsorted(self.chances, low + generator.random(len(icons)) * (high - low), side="right")
        drawn: Ids = self.ids[np.clip(place, self.starts[icons], self.starts[icons + 1] - 1)]
        return drawn

    def bearers(self, icons: Ids, drawn: Ids) -> tuple[Ids, Ids, Ids]:
        """List which icons bear which drawn captions: place of an icon, place of the caption among the distinct ones.

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
    generator = random.Random(seed)
    number: dict[str, int] = {}
    ids: list[int] = []
    kinds: list[int] = []
    starts = [0]
    for place, (name, given) in enumerate(zip(words, tags, strict=True)):
        written = [(KINDS.index("own"), caption) for caption in dict.fromkeys(own[place] if own else ())]
        for kind, caption in written or mined(name, given, generator):
            ids.append(number.setdefault(caption, len(number)))
            kinds.append(kind)
        starts.append(len(ids))
    return Captions(list(number), np.array(ids), np.array(starts), np.array(kinds, np.uint8), _chances(kinds, starts))


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
    return [word for word in words if _is_part(word)] if len(words) > 1 else []


def _is_part(word: str) -> bool:
    return len(word) >= _SHORTEST_PART and word.isalpha() and word not in _SMALL_WORDS


def phrase(name: str, tags: Sequence[str], generator: random.Random) -> str:
    """Join two tags, or a word of the name and a tag."""
    second = generator.choice(tags)
    first = generator.choice(tags) if generator.random() < 0.5 else generator.choice(name.split())
    return first if first in second.split() or first == second else f"{first} {second}"


def _chances(kinds: Sequence[int], starts: Sequence[int]) -> npt.NDArray[np.float64]:
    icon = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    place = icon * len(KINDS) + np.array(kinds, np.int64)
    n_of_kind = np.bincount(place, minlength=len(KINDS))[place]
    return np.cumsum(np.array(SHARES)[np.array(kinds, np.int64)] / n_of_kind)


def is_held_out(base: str, *, one_in: int = 50) -> bool:
    """Whether all icons of a base name are kept for validation: decided by the name alone, so the same in every run."""
    return int.from_bytes(blake2b(base.encode(), digest_size=4).digest(), "big") % one_in == 0


def share_held_out(n_bases: int) -> int:
    """One base name in how many is held out: 5, 10 or 50, so that small libraries can be measured at all.

    Each of these divides the next, so a library that grows frees held-out names and never takes one that was learnt.
    """
    return 5 if n_bases < 2000 else 10 if n_bases < 10_000 else 50
