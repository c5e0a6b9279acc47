"""Which index for how many vectors: the kinds there are, what each takes, and the rule.

`vector_index` makes them; nothing here knows FAISS but the spelling of its factory strings. `icons lab bench search`
measures all of them on a library's own vectors, so that the rule can be held against the machine at hand.
"""

from dataclasses import dataclass
from math import isqrt

CHUNK = 65_536
"""Vectors handed on at a time."""
ID_MAP_BYTES = 8
TRAINED_PER_LIST = 64
"""Vectors that k-means sees for each list; FAISS asks for 39 and looks at no more than 256."""


@dataclass(frozen=True, slots=True)
class IndexKind:
    """One way to keep vectors."""

    name: str
    note: str
    template: str
    """FAISS factory string of n vectors: {lists} are two to four times the root of n, {roots} a quarter of these,
    {parts} a quarter of the dimensions."""
    bytes_per_value: float
    bytes_beside: int = 0
    """For each vector, whatever its length: links, norms, codes of lists."""

    def spec(self, n: int, *, dim: int) -> str:
        """FAISS factory string for `n` vectors."""
        return self.template.format(lists=_lists(n), roots=self.n_lists(n), parts=dim // 4)

    def n_bytes(self, n: int, *, dim: int) -> int:
        """Size of the index, lists' centroids included, to a tenth."""
        return round(n * (self.bytes_per_value * dim + self.bytes_beside + ID_MAP_BYTES)) + 4 * dim * self.n_lists(n)

    def n_trained(self, n: int) -> int:
        """How many of `n` vectors the index has to see before it takes them in; 0: the first chunk will do."""
        return min(n, max(CHUNK, TRAINED_PER_LIST * self.n_lists(n))) if self.has_lists else 0

    def n_lists(self, n: int) -> int:
        """Into how many lists it parts `n` vectors; 0: a query looks at all of them."""
        return _lists(n) if "{lists}" in self.template else max(1, _lists(n) // 4) if self.has_lists else 0

    @property
    def has_lists(self) -> bool:
        """Whether a query looks at some parts of the index only."""
        return "IVF" in self.template


FLAT = IndexKind("flat", "exact, fp32", "IDMap,Flat", 4)
FP16 = IndexKind("fp16", "exact, fp16", "IDMap,SQfp16", 2)
HNSW = IndexKind("hnsw", "graph of neighbours over fp16", "IDMap,HNSW32,SQfp16", 2, 272)
IVF = IndexKind("ivf", "lists of fp16, a few of them read", "IDMap,IVF{lists},SQfp16", 2, 8)
PQ = IndexKind("pq", "4-bit product codes, refined in fp16", "IDMap,PQ{parts}x4fs,Refine(SQfp16)", 2.125)
RABITQ = IndexKind("rabitq", "1-bit codes, refined in fp16", "IDMap,RaBitQ,Refine(SQfp16)", 2.125, 8)
IVF_RABITQ = IndexKind(
    "ivf-rabitq", "lists of 1-bit codes, refined in fp16", "IDMap,IVF{lists},RaBitQ,Refine(SQfp16)", 2.125, 16
)
IVF_PQ = IndexKind(
    "ivf-pq", "lists of 4-bit product codes, refined in fp16", "IDMap,IVF{roots},PQ{parts}x4fs,Refine(SQfp16)", 2.125, 8
)
KINDS = {kind.name: kind for kind in (FLAT, FP16, HNSW, IVF, PQ, RABITQ, IVF_RABITQ, IVF_PQ)}

RULE = ((50_000, FP16), (2_000_000, PQ))
"""Up to how many vectors which kind: exact as long as that takes four milliseconds; then codes of which a processor
compares 32 at a time, for the same hits in a third of the time that one-bit codes take. Smaller steps come first."""
BEYOND = IVF_PQ
"""The same codes, some of them read: of 10 million all take 106 ms."""
ENOUGH_RECALL = 0.99
"""Where an index reads some of its lists, a merge has it read as many as find so much."""
LEAST_RECALL = 0.98
"""An index that finds less of what exact search finds is not published, and not recommended."""


def recommended(n: int) -> IndexKind:
    """Choose the kind for `n` vectors: what `icons index` builds."""
    return next((kind for most, kind in RULE if n <= most), BEYOND)


def _lists(n: int) -> int:
    """Between two and four times the root of n, a power of two: 512 for 20 thousand vectors, 8,192 for 10 million."""
    return 1 << (max(1, min(isqrt(16 * n), n // 39)).bit_length() - 1)
