"""What was made of the block under way and is in no shard yet?"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.library.shards import Failed, Kind, Shard
from indexer.library.traits import TRAITS


@dataclass(slots=True)
class Gathering:
    """Ids, vectors and failures of one kind, as they come; vectors have `dim` numbers."""

    kind: Kind
    dim: int
    ids: list[NDArray[np.int64]] = field(default_factory=list)
    vectors: list[NDArray[np.float16]] = field(default_factory=list)
    traits: list[NDArray[np.void]] = field(default_factory=list)
    failures: dict[int, Failed] = field(default_factory=dict)

    def add(
        self,
        ids: NDArray[np.int64],
        vectors: NDArray[np.float16],
        traits: NDArray[np.void] | None = None,
        failures: Iterable[tuple[int, Failed]] = (),
    ) -> None:
        """Keep some; of images with their traits, (n,)."""
        self.ids.append(ids)
        self.vectors.append(vectors)
        if traits is not None:
            self.traits.append(traits)
        self.failures.update(failures)

    def take(self) -> Shard:
        """Give all that was kept as a shard, by ascending id; after that there is nothing."""
        ids = np.concatenate([np.empty(0, np.int64), *self.ids])
        vectors = np.concatenate([np.empty((0, self.dim), np.float16), *self.vectors])
        traits = np.concatenate([np.empty(0, TRAITS), *self.traits])
        order, failures = np.argsort(ids), self.failures
        self.ids, self.vectors, self.traits, self.failures = [], [], [], {}
        has_traits = self.kind == "images"
        return Shard(self.kind, ids[order], vectors[order], failures, traits[order] if has_traits else None)
