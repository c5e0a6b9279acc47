"""What a generation holds, as its `manifest.json` says: kinds of index, calibration, evidence in log-odds.

`vector_index` makes them; nothing here knows FAISS but the spelling of its factory strings. `icons lab bench search`
measures all of them on a library's own vectors, so that the rule can be held against the machine at hand.

Read by searches, so nothing heavy is imported. Curves are fitted to one library and one encoder. Held against each
other are the best hits of two kinds of queries. Some have an answer: the library's own names and pictures, each asked
as if its icon were not there (its namesakes, its equal drawings left out). Some have none: made-up words, what no icon
is about, and pictures of nothing. A score of 0.5 is a similarity that the best hits of either kind reach equally often;
both kinds count alike, however many were asked.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import isqrt, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import LibraryError
from indexer.library.durable import Files, write_by
from indexer.library.folder import Generation, Library, Number, read_manifest
from indexer.library.foreign import Count, Name
from indexer.library.shards import Accounting, content_of
from indexer.merging.lexicon import Lexicon

if TYPE_CHECKING:
    from indexer.merging.vector_index import VectorIndex  # a rank that trains knows no FAISS

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


_STEPS = 50
_LEAST_SLOPE = 1.0
"""An encoder that takes nonsense for sense still has its order kept."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Score = 1 / (1 + exp(-slope * (similarity - centre)))."""

    slope: float
    centre: float

    def scores(self, similarities: Floats) -> Floats:
        """Turn similarities into scores from 0 to 1."""
        return sigmoid(self.logits(similarities))

    def logits(self, similarities: Floats) -> Floats:
        """The same before the sigmoid: of different curves these can be added up."""
        return np.asarray(self.slope * (similarities - self.centre), np.float32)


@dataclass(frozen=True, slots=True)
class CurveBySize:
    """Curves by how many things are looked among: the best of few is less similar than the best of many."""

    few: Curve
    n_few: int
    every: Curve
    n_every: int

    def among(self, n: int) -> Curve:
        """The curve of the best of `n`, between both by the logarithm of their numbers."""
        if self.n_every <= self.n_few:
            return self.every
        share = min(1.0, max(0.0, log(max(n, 1) / self.n_few) / log(self.n_every / self.n_few)))
        slope = self.few.slope + share * (self.every.slope - self.few.slope)
        return Curve(slope, self.few.centre + share * (self.every.centre - self.few.centre))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What evidence is worth in one generation."""

    unit: float
    """Cosine with the vector of words that is worth one log-odd."""
    words: Curve
    """Of the evidence for an icon that was asked for with words (`of_words`)."""
    pictures: CurveBySize
    """Of the cosine with the vector of a picture."""


def fit(good: Floats, bad: Floats) -> Curve:
    """Fit a curve to the similarities of both kinds, by Newton's method.

    Where both are apart, no finite slope is best; so nothing is taken for quite certain (Platt, Probabilistic outputs
    for support vector machines, 1999).
    """
    similarities = np.concatenate([good, bad]).astype(np.float64)
    targets = np.repeat([(len(good) + 1) / (len(good) + 2), 1 / (len(bad) + 2)], [len(good), len(bad)])
    weights = np.repeat([0.5 / len(good), 0.5 / len(bad)], [len(good), len(bad)])
    middle, spread_ = similarities.mean(), max(similarities.std(), 1e-6)
    inputs = np.stack([(similarities - middle) / spread_, np.ones(len(similarities))])
    values = np.zeros(2)
    for _ in range(_STEPS):
        predicted = sigmoid(values @ inputs)
        slopes = inputs @ (weights * (predicted - targets)) + 1e-4 * values
        bends = (inputs * (weights * predicted * (1 - predicted))) @ inputs.T + 1e-4 * np.eye(2)
        values -= np.linalg.solve(bends, slopes)
    slope = max(values[0] / spread_, _LEAST_SLOPE)
    return Curve(round(float(slope), 4), round(float(middle - values[1] / slope), 4))


def sigmoid(values: NDArray[np.floating]) -> Floats:
    """Logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -60, 60))), np.float32)


COVERAGE = 1.5
"""Log-odds of all words of a query standing in an icon's name; what else speaks for one is `search.ranking.weights`."""


def of_words(similarities: Floats, coverage: Floats, *, unit: float) -> Floats:
    """Log-odds, up to a constant of the library, by cosines with a vector of words and by how much names cover of them.

    `unit` is the cosine that is worth one.
    """
    return np.asarray(similarities / np.float32(unit) + np.float32(COVERAGE) * coverage, np.float32)


N_ASKED = 256
"""Names, and pictures, that are asked as if they were new."""
N_NONSENSE, N_PICTURES = 40, 48
TEMPERATURE = 2.5
"""How much less evidence says of one hit than of the whole answer: over the open benchmark, log-odds of the first ten
hits to be right rise by 15 a unit of cosine, the curve of that library's answers by 38."""
N_FEW, ONE_IN = 256, 64
"""Pictures that a filter leaves: so many at least, or one in so many."""
_DEPTH = 400
"""Icons among which one of another name is looked for: a name of many sets has a few hundred icons."""

OFF_TOPIC = (
    "mitochondria in eukaryotic cells", "napoleon's retreat from moscow", "quarterly amortisation", "roman law",
    "the second movement of the symphony", "plate tectonics", "kant's categorical imperative",
    "photosynthesis of algae", "tax law amendment of 1987", "baroque counterpoint", "etruscan pottery",
    "saponification of fats", "serotonin", "existentialist novel", "feudal tenure", "byzantine iconoclasm",
    "quantum chromodynamics", "treaty of westphalia", "iambic pentameter",
    "what did aristotle say about friendship", "vegetarian restaurants in lisbon",
    "my grandmother's recipe for goulash", "who won the world cup in 1966", "is it legal to photograph strangers",
    "a sonnet about unrequited love", "recovery after rhinoplasty", "sauerkraut fermentation", "habeas corpus",
    "jurisprudence", "epistemology", "zoroastrianism", "paleolithic diet", "ottoman succession",
    "dialectical materialism", "gluten intolerance", "mortgage refinancing advice", "sourdough hydration",
    "haskell monads", "stoicism", "anaphora",
)  # fmt: skip
"""What people search for, but not among icons. Those that figures are measured with are others (`data/eval`)."""


@dataclass(frozen=True, slots=True)
class Nonsense:
    """Vectors by an encoder of what has no answer: `nonsense_words`, and `N_PICTURES` pictures of nothing."""

    words: Floats
    pictures: Floats

    @classmethod
    def of(cls, encoder: QueryEncoder) -> Self:
        """Encode them."""
        pictures = np.stack(list(pictures_of_nothing(N_PICTURES, size=encoder.image_size)))
        return cls(encoder.encode_many_words(nonsense_words()), encoder.encode_many_pictures(pictures))

    @classmethod
    def kept(cls, folder: Path, open_encoder: Callable[[], QueryEncoder], *, dim: int) -> Self:
        """Read those of an encoder, with vectors of length `dim`, from a folder; make them where they are not there.

        No library changes them, and a large model takes a minute of a core for them.
        """
        words = nonsense_words()
        file, shape = folder / f"nonsense-{content_of(' '.join(words)):x}.npy", (len(words) + N_PICTURES, dim)
        with suppress(OSError, ValueError, EOFError):
            held = np.load(file)
            if held.shape == shape and np.allclose(np.linalg.norm(held, axis=1), 1, atol=1e-3):
                return cls(held[: len(words)], held[len(words) :])
        made = cls.of(open_encoder())
        write_by(file, partial(np.save, arr=np.concatenate([made.words, made.pictures])))
        return made


@dataclass(frozen=True, slots=True)
class Answering:
    """What of a generation answers."""

    icons: "VectorIndex"
    pictures: "VectorIndex"
    lexicon: Lexicon
    nonsense: Nonsense
    names: tuple[Ids, Ids]
    """Ids of icons, ascending, and of their names."""
    drawings: tuple[Ids, Ids]
    """Ids of pictures, ascending, and the number of the drawing that each shows."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """Words as a query, their vector, and the id of the name that they are."""

    words: str
    vector: Floats
    name: int = -1
    """Of nonsense one that no icon has."""


def calibrate(by: Answering, names: Sequence[NamedQuery]) -> Calibration:
    """Ask a generation for some of its names, for some of its pictures, and for what it does not have."""
    with ThreadPoolExecutor(1) as beside:
        pictures = beside.submit(_calibrate_pictures, by)
        unit, words = _calibrate_words(by, names)
        return Calibration(unit, words, pictures.result())


def _calibrate_pictures(by: Answering) -> CurveBySize:
    """Ask among all pictures, and among few of them as a filter leaves them: every so many, by id."""
    images, drawings = by.drawings
    chosen = spread(len(images), N_ASKED)
    looks = by.pictures.reconstruct(images[chosen])

    def curve(only: Ids | None) -> Curve:
        """Best similarity of each with one of another drawing, 1 where there is none; and of what is nothing."""
        shown = np.empty(len(chosen), np.float32)
        for row, (look, own) in enumerate(zip(looks, drawings[chosen], strict=True)):
            found = by.pictures.search(look, k=_DEPTH, only=only)
            shown[row] = next(iter(found.scores[drawings[np.searchsorted(images, found.ids)] != own]), 1)
        none = [by.pictures.search(vector, k=1, only=only).scores[0] for vector in by.nonsense.pictures]
        return fit(shown, np.array(none, np.float32))

    few = images[spread(len(images), max(N_FEW, len(images) // ONE_IN))]
    return CurveBySize(few=curve(few), n_few=len(few), every=curve(None), n_every=len(images))


def _calibrate_words(by: Answering, names: Sequence[NamedQuery]) -> tuple[float, Curve]:
    """What a cosine is worth, by cosines alone; then what all the evidence is worth, names included."""
    found = [_others(by, query) for query in (*names, *map(NamedQuery, nonsense_words(), by.nonsense.words))]

    def curve(measure: Callable[[Floats, Floats], Floats]) -> Curve:
        best = np.array([measure(*of_query).max() for of_query in found], np.float32)
        return fit(best[: len(names)], best[len(names) :])

    unit = round(TEMPERATURE / curve(lambda similarities, _: similarities).slope, 6)
    of_answers = curve(partial(of_words, unit=unit))
    return unit, Curve(round(of_answers.slope / TEMPERATURE, 4), of_answers.centre)


def _others(by: Answering, query: NamedQuery) -> tuple[Floats, Floats]:
    """Similarities of the nearest icons of another name, and what their names cover of the words.

    Where there is no other, one that fits wholly.
    """
    found = by.icons.search(query.vector, k=_DEPTH)
    ids, names = by.names
    found_names = names[np.searchsorted(ids, found.ids)]
    is_other = found_names != query.name
    if not is_other.any():
        return np.ones(1, np.float32), np.ones(1, np.float32)
    return found.scores[is_other], by.lexicon.coverage(query.words)[by.lexicon.rows(found_names[is_other])]


def nonsense_words() -> list[str]:
    """List words that no icon is about."""
    return [*made_up_words(N_NONSENSE), *OFF_TOPIC]


def made_up_words(n: int, *, seed: int = 0) -> list[str]:
    """Make up words that can be spoken and mean nothing, always the same for a seed."""
    random = np.random.default_rng(seed)
    consonants, vowels = list("bcdfghjklmnpqrstvwxz"), list("aeiou")
    return [
        "".join(random.choice(vowels if place % 2 and random.random() < 0.8 else consonants) for place in range(length))
        for length in random.integers(5, 11, size=n).tolist()
    ]


def pictures_of_nothing(n: int, *, size: int, seed: int = 0) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures (size, size, 3) that are no icons: noise, coarse to fine, in colour or grey, with a gradient."""
    random = np.random.default_rng(seed)
    for number in range(n):
        cells = 2 + 3 * (number % 6)
        coarse = random.random((cells, cells, 3 if number % 2 else 1))
        places = np.linspace(0, cells - 1, size).astype(np.int64)
        noise = np.broadcast_to(coarse[places][:, places], (size, size, 3))
        gradient = np.linspace(0, 1, size)[:, None, None] * random.random(3)
        yield np.asarray(255 * (0.6 * noise + 0.4 * gradient), np.uint8)


def spread(n: int, n_chosen: int) -> Ids:
    """Choose some of `n` places, as evenly as they go."""
    return np.unique(np.linspace(0, n - 1, min(n, n_chosen)).astype(np.int64))


SNAPSHOT = "0006"
"""Format of the generations that this program writes and reads; a catalog's own schema is `database.REVISION`."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares in a fused vector (`merging.merge`)."""

    picture: float
    """The rest is the name's."""
    tags: float
    """Of an icon that states some; the rest is picture and name."""


WEIGHTS = Weights(picture=0.4, tags=0.5)
"""Chosen on held-out names, the picture's in data/making/README.md, that of tags in docs/evaluation.md."""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What the manifest says of one index."""

    spec: str
    n: Count
    recall_at_10: float


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation holds; `manifest.json`, written last."""

    number: Number
    created_at: str
    schema: str
    """The format that it was written in (`SNAPSHOT`)."""
    revision: int
    """The catalog's revision at the snapshot: equal ones need no new generation."""
    fingerprint: Name
    dim: Count
    weights: Weights
    pictures: IndexFacts
    icons: IndexFacts
    calibration: Calibration
    """How similarities become scores."""
    counts: Accounting
    files: Files
    """All others of the generation."""
    library: str = ""
    """Id of the library (`catalog.contents.library_id`); "" in generations of older programs, which may be any's."""

    @classmethod
    def read(cls, generation: Generation) -> "Manifest":
        """Read a generation's manifest.

        Raises:
            LibraryError: it is missing, not whole, or of another format; the message says what mends that.
        """
        return read_manifest(
            cls, generation, advice="`icons index` builds a new one", check=partial(_check_format, generation)
        )


def answering_manifest(library: Library) -> Manifest | None:
    """Read what the generation that answers says of itself; None where none does, or this program can't read it."""
    return library.answering(Manifest.read)


def _check_format(generation: Generation, facts: Any) -> None:
    found = facts.get("schema") if isinstance(facts, dict) else None
    if not isinstance(found, str) or not re.fullmatch("[0-9]{4}", found):
        raise ValueError("it states no format")
    if found > SNAPSHOT:
        raise LibraryError(
            f'generation {generation.number} has format "{found}", newer than "{SNAPSHOT}" of this program; '
            "`pip install --upgrade icons` brings a program that reads it"
        )
    if found != SNAPSHOT:
        raise LibraryError(
            f'generation {generation.number} has format "{found}", this program reads "{SNAPSHOT}"; '
            "`icons index` builds a new one from what is embedded already"
        )
    if facts.get("number") != generation.number:
        raise ValueError(f"it is of generation {facts.get('number')}")
