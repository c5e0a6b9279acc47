"""What similarity is a good hit? Fits, for one library and one encoder, the curves that turn similarities into scores.

Held against each other are the best hits of two kinds of queries. Some have an answer: the library's own names and
pictures, each asked as if its icon were not there (its namesakes, its equal drawings left out). Some have none: made-up
words, what no icon is about, and pictures of nothing. A score of 0.5 is a similarity that the best hits of either kind
reach equally often; both kinds count alike, however many were asked.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids
from indexer.encoders.query_encoder import QueryEncoder
from indexer.publishing.curves import Calibration, Curve, CurveBySize, fit
from indexer.publishing.evidence import of_words
from indexer.publishing.lexicon import Lexicon
from indexer.publishing.vector_index import VectorIndex

N_ASKED = 256
"""Names, and pictures, that are asked as if they were new."""
N_NONSENSE, N_PICTURES = 40, 48
TEMPERATURE = 2.5
"""How much less evidence says of one hit than of the whole answer: over the open benchmark, log-odds of the first ten
hits to be right rise by 15 a unit of cosine, the curve of that library's answers by 38."""
N_FEW, ONE_IN = 256, 64
"""Pictures that a filter leaves: so many at least, or one in so many."""
_DEPTH = 400
"""Icons among which one of another name is looked for: a name of many sets has a few hundred bearers."""

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
class Answering:
    """What of a generation answers."""

    icons: VectorIndex
    pictures: VectorIndex
    lexicon: Lexicon
    encoder: QueryEncoder
    bearers: tuple[Ids, Ids]
    """Ids of icons, ascending, and of their names."""
    drawings: tuple[Ids, Ids]
    """Ids of pictures, ascending, and the number of the drawing that each shows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Words as a query, their vector, and the id of the name that they are."""

    words: str
    vector: Floats
    name: int = -1
    """That of nonsense nobody bears."""


def calibrate(by: Answering, names: Sequence[Asked]) -> Calibration:
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
    size = by.encoder.image_size
    nothing = by.encoder.encode_many_pictures(np.stack(list(pictures_of_nothing(N_PICTURES, size=size))))

    def curve(only: Ids | None) -> Curve:
        shown = _best_others(by.pictures, looks, drawings[chosen], images, drawings, only)
        return fit(shown, _best(by.pictures, nothing, only))

    few = images[spread(len(images), max(N_FEW, len(images) // ONE_IN))]
    return CurveBySize(few=curve(few), n_few=len(few), every=curve(None), n_every=len(images))


def _calibrate_words(by: Answering, names: Sequence[Asked]) -> tuple[float, Curve]:
    """What a cosine is worth, by cosines alone; then what all the evidence is worth, names included."""
    nonsense = [*made_up_words(N_NONSENSE), *OFF_TOPIC]
    vectors = by.encoder.encode_many_words(nonsense)
    found = [_others(by, asked) for asked in (*names, *map(Asked, nonsense, vectors))]

    def curve(measure: Callable[[Floats, Floats], Floats]) -> Curve:
        best = np.array([measure(*of_query).max() for of_query in found], np.float32)
        return fit(best[: len(names)], best[len(names) :])

    unit = round(TEMPERATURE / curve(lambda similarities, _: similarities).slope, 6)
    of_answers = curve(partial(of_words, unit=unit))
    return unit, Curve(round(of_answers.slope / TEMPERATURE, 4), of_answers.centre)


def _others(by: Answering, asked: Asked) -> tuple[Floats, Floats]:
    """Similarities of the nearest icons that bear another name, and what their names cover of the words.

    Where there is no other, one that fits wholly.
    """
    found = by.icons.search(asked.vector, k=_DEPTH)
    ids, names = by.bearers
    bearing = names[np.searchsorted(ids, found.ids)]
    is_other = bearing != asked.name
    if not is_other.any():
        return np.ones(1, np.float32), np.ones(1, np.float32)
    return found.scores[is_other], by.lexicon.fits(asked.words)[by.lexicon.rows(bearing[is_other])]


def made_up_words(n: int, *, seed: int = 0) -> list[str]:
    """Make up words that can be spoken and mean nothing, always the same for a seed."""
    random = np.random.default_rng(seed)
    consonants, vowels = list("bcdfghjklmnpqrstvwxz"), list("aeiou")
    words = []
    for length in random.integers(5, 11, size=n).tolist():
        letters = [
            random.choice(vowels if place % 2 and random.random() < 0.8 else consonants) for place in range(length)
        ]
        words.append("".join(letters))
    return words


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


def spread(n: int, wanted: int) -> Ids:
    """Choose `wanted` of `n` places, as evenly as they go."""
    return np.unique(np.linspace(0, n - 1, min(n, wanted)).astype(np.int64))


def _best_others(index: VectorIndex, queries: Floats, own: Ids, ids: Ids, owners: Ids, only: Ids | None) -> Floats:
    """Best similarity of each query among ids of another owner; 1 where there is no other."""
    best = []
    for query, mine in zip(queries, own.tolist(), strict=True):
        found = index.search(query, k=_DEPTH, only=only)
        others = found.scores[owners[np.searchsorted(ids, found.ids)] != mine]
        best.append(others[0] if len(others) else 1.0)
    return np.array(best, np.float32)


def _best(index: VectorIndex, queries: Floats, only: Ids | None) -> Floats:
    return np.array([index.search(query, k=1, only=only).scores[0] for query in queries], np.float32)
