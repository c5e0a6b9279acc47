"""Which sets come first where all else is equal: what the user prefers, then complete sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.library.bundled import bundled
from indexer.sources.licences import family
from search.generation.backend import SetRow
from search.generation.labels import Labels

COMPLETE = 0.3
"""Log-odds by which the largest set stands before one of a single icon."""
FREE = 0.1
"""What a permissive licence adds."""
SAMPLE = -0.5
"""What it costs to be a bundled sample: own sources come first."""
PREFERRED = 1.0
"""What the most preferred set gains; each further one a tenth less."""
_STEP = 0.1
OF_SAMPLES, OWN, CHOSEN = range(3)


@dataclass(frozen=True, slots=True)
class SetPriority:
    """How sets stand, by code."""

    evidence: Floats
    """Log-odds, 0 for the set that stands best."""
    sources: Ids
    """Which of several icons with one drawing is shown: `OF_SAMPLES`, `OWN` or `CHOSEN`, the greatest."""

    @property
    def is_preferred(self) -> Mask:
        """Which sets the user prefers."""
        return np.asarray(self.sources == CHOSEN)

    def of(self, codes: Ids) -> Floats:
        """Log-odds of some icons, by the codes of their sets."""
        return np.asarray(self.evidence[codes], np.float32)


def own_priority(labels: Labels, sets: Sequence[SetRow]) -> SetPriority:
    """Say how sets stand by themselves; `sets` are all rows of the catalog."""
    sizes = np.log1p(labels.n)
    evidence = COMPLETE * sizes / max(1e-9, float(sizes.max(initial=0)))
    samples = str(bundled("samples"))
    about = {one.key: one for one in sets}
    sources = np.full(len(labels.values), OWN)
    for code, key in enumerate(labels.values):
        evidence[code] += FREE * (family(about[key].licence) == "permissive")
        if about[key].location.startswith(samples):
            evidence[code] += SAMPLE
            sources[code] = OF_SAMPLES
    best = evidence.max() if len(evidence) else 0
    return SetPriority((evidence - best).astype(np.float32), sources)


def with_preferred(own: SetPriority, labels: Labels, preferred: Sequence[str]) -> SetPriority:
    """Say how sets stand for a user who prefers some, by key or title, best first.

    Raises:
        IconsError: a preferred set is unknown here.
    """
    evidence, sources = own.evidence.copy(), own.sources.copy()
    for place, name in enumerate(preferred):
        for code in labels.meant([name]):
            evidence[code] += 0 if sources[code] == CHOSEN else PREFERRED * max(_STEP, 1 - _STEP * place)
            sources[code] = CHOSEN
    return SetPriority(evidence, sources)
