"""What may an icon be called? Its name, its tags, and one phrase put together from both; as numbers into one list."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]

NAME_SHARE, TAG_SHARE = 0.45, 0.40
"""How often the name and a tag are drawn; the rest goes to the phrase. An icon without tags has its name alone."""


@dataclass(frozen=True, slots=True)
class Captions:
    """Captions of n icons, as places in `texts`: icon i has `ids[starts[i]:starts[i + 1]]`, name first, phrase last."""

    texts: list[str]
    ids: Ids
    starts: Ids

    def of(self, icon: int) -> Ids:
        """All captions of one icon."""
        return self.ids[self.starts[icon] : self.starts[icon + 1]]

    def draw(self, icons: Ids, generator: np.random.Generator) -> Ids:
        """Draw one caption for each icon."""
        counts = self.starts[icons + 1] - self.starts[icons]
        kind, place = generator.random(len(icons)), generator.random(len(icons))
        n_tags = np.maximum(counts - 2, 1)
        tag = 1 + (place * n_tags).astype(np.int64)
        chosen = np.where(kind < NAME_SHARE, 0, np.where(kind < NAME_SHARE + TAG_SHARE, tag, counts - 1))
        return self.ids[self.starts[icons] + np.where(counts == 1, 0, chosen)]

    def fitting(self, icons: Ids, drawn: Ids) -> npt.NDArray[np.bool_]:
        """Say for each icon (row) and each drawn caption (column) whether the caption is one of the icon's."""
        distinct, columns = np.unique(drawn, return_inverse=True)
        fits = np.zeros((len(icons), len(distinct)), dtype=bool)
        for row, icon in enumerate(icons):
            own = self.of(int(icon))
            places = np.searchsorted(distinct, own)
            places[places == len(distinct)] = 0
            fits[row, places[distinct[places] == own]] = True
        return fits[:, columns]


def make_captions(words: Sequence[str], tags: Sequence[Sequence[str]], *, seed: int) -> Captions:
    """Number all captions; the phrase joins two tags, or a word of the name and a tag."""
    generator = random.Random(seed)
    number: dict[str, int] = {}
    ids: list[int] = []
    starts = [0]
    for name, own in zip(words, tags, strict=True):
        given = list(dict.fromkeys(own))
        captions = [name, *given, phrase(name, given, generator)] if given else [name]
        ids += [number.setdefault(caption, len(number)) for caption in captions]
        starts.append(len(ids))
    return Captions(list(number), np.array(ids), np.array(starts))


def phrase(name: str, tags: Sequence[str], generator: random.Random) -> str:
    """Put two tags together, or a word of the name and a tag."""
    second = generator.choice(tags)
    first = generator.choice(tags) if generator.random() < 0.5 else generator.choice(name.split())
    return first if first in second.split() or first == second else f"{first} {second}"


def is_held_out(base: str, *, one_in: int = 50) -> bool:
    """Whether all icons of a base name are kept for validation: decided by the name alone, so the same in every run."""
    return int.from_bytes(blake2b(base.encode(), digest_size=4).digest(), "big") % one_in == 0
