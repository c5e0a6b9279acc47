"""Is an icon found again from a screenshot of it? Takes screenshots of a library's own icons and ranks its pictures.

A screenshot goes the way of any picture query: encoded bytes, `cutout.cut_out`, the picture tower. It is ranked
against every picture of the library. Right are the icon's own picture, those of its variants, and those that are equal
to it pixel by pixel, which no picture could tell apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids
from indexer.errors import RenderError, SourceError
from indexer.reports.bars import Progress
from indexer.reports.measures import Ranks, right_ranks
from indexer.sources.records import content_digest
from search.evaluation.asking import N_INSTEAD, Case, Shown, as_rank, shown
from search.evaluation.contenders import CorpusVectors
from search.evaluation.corpus import Corpus
from search.evaluation.originals import Originals
from search.evaluation.rankers import ENCODED_AT_ONCE, in_blocks
from search.evaluation.screenshots import CHANGES, Condition, take_screenshot

TASK = "screenshot"
IDENTITY_SIZE = 128
"""Pixels at which two pictures are compared."""
NEAR = 0.999
"""Least cosine of pictures that can be equal: as vectors are kept in fp16, equal pixels give a little less than 1."""
N_NEAR = 64
"""At most so many are held against a picture; equal ones are the nearest."""


@dataclass(frozen=True, slots=True)
class Shots:
    """Icons to take screenshots of; pictures are given by their places in a corpus."""

    images: Ids
    """(n,), ascending."""
    contents: Sequence[bytes]
    """Of each."""
    seeds: Sequence[tuple[int, int]]
    """Of each: the task's seed and the picture's id in the catalog."""
    right: Sequence[Ids]
    """Pictures that are right for each, ascending."""
    unreadable: int
    """Pictures of the sample that are left out because their source has gone or changed."""

    def __len__(self) -> int:
        return len(self.images)


def choose_shots(
    corpus: Corpus, originals: Originals, vectors: CorpusVectors, *, n: int, seed: int, progress: Progress
) -> Shots:
    """Choose `n` pictures of a corpus by lot, all if it has fewer; `vectors` tell which others may be equal to them."""
    lot = np.random.default_rng(seed).permutation(np.flatnonzero(vectors.has_image))[:n]
    contents = {image: content for image in sorted(lot.tolist()) if (content := _content(originals, image)) is not None}
    images = np.fromiter(contents, np.int64)
    equal = equal_pictures(images, originals, vectors, progress=progress)
    right = []
    for image, others in zip(images.tolist(), equal, strict=True):
        variants = corpus.variants(corpus.showing(np.array([image])))
        right.append(np.union1d(corpus.image_rows[variants], others))
    seeds = [(seed, image) for image in corpus.image_ids[images].tolist()]
    return Shots(images, list(contents.values()), seeds, right, len(lot) - len(images))


def equal_pictures(images: Ids, originals: Originals, vectors: CorpusVectors, *, progress: Progress) -> list[Ids]:
    """For each picture those that are equal to it pixel by pixel, itself included; only those near to it are drawn."""
    near = [_near(image, vectors) for image in images.tolist()]
    to_draw = np.unique(np.concatenate([images, *near])).tolist()
    digests = {}
    for place, image in enumerate(to_draw, 1):
        digests[image] = _pixel_digest(_content(originals, image))
        progress("Looking for equal pictures", place, len(to_draw))
    return [
        np.array([other for other in others.tolist() if other == image or _are_equal(digests[image], digests[other])])
        for image, others in zip(images.tolist(), near, strict=True)
    ]


def _near(image: int, vectors: CorpusVectors) -> Ids:
    likeness = vectors.images @ vectors.images[image]
    likeness[image] = np.inf
    near = np.flatnonzero(likeness >= NEAR)
    return near[np.argsort(-likeness[near], kind="stable")][:N_NEAR]


def _pixel_digest(content: bytes | None) -> bytes | None:
    from indexer.rendering.render import draw

    try:
        return None if content is None else content_digest(draw(content, size=IDENTITY_SIZE).tobytes())
    except RenderError:
        return None


def _are_equal(one: bytes | None, other: bytes | None) -> bool:
    return one is not None and one == other


def take(shots: Shots, place: int, condition: Condition) -> bytes:
    """Take one screenshot of a sample: the same bytes for the same seed and library, whatever else is asked."""
    from indexer.rendering.render import draw

    icon = draw(shots.contents[place], size=condition.size)
    beside: list[NDArray[np.uint8]] = []
    if "crop" in condition.changes:
        random = np.random.default_rng([*shots.seeds[place], len(CHANGES)])
        others = random.integers(len(shots), size=2).tolist()
        beside = [draw(shots.contents[other], size=condition.size) for other in others]
    return take_screenshot(icon, beside, condition, seed=shots.seeds[place])


def rank_shots(shots: Shots, vectors: CorpusVectors, condition: Condition) -> list[Ranks]:
    """Ranks of each screenshot's right pictures, ascending."""
    ranks: list[Ranks] = []
    for block in in_blocks(len(shots), n_candidates=len(vectors.images), most=ENCODED_AT_ONCE):
        places = range(block.start, block.stop)
        scores = _scores([take(shots, place, condition) for place in places], vectors)
        ranks += [right_ranks(row, shots.right[place]) for place, row in zip(places, scores, strict=True)]
    return ranks


def worst_shots(
    shots: Shots, ranks: Sequence[Ranks], originals: Originals, vectors: CorpusVectors, condition: Condition, *, n: int
) -> list[Case]:
    """Show the `n` screenshots whose right picture stands lowest, the worst first."""
    first = np.array([found[0] for found in ranks], np.int64)
    worst = np.argsort(-first, kind="stable")[:n].tolist()
    return [_case(shots, place, int(first[place]), originals, vectors, condition) for place in worst]


def _case(
    shots: Shots, place: int, rank: int, originals: Originals, vectors: CorpusVectors, condition: Condition
) -> Case:
    picture = take(shots, place, condition)
    [scores] = _scores([picture], vectors)
    order = np.argsort(-scores, kind="stable")[: 10 * N_INSTEAD]
    [icon] = originals.showing(shots.images[[place]])
    return Case(
        query=icon.name,
        task=f"{TASK} {condition.label}",
        rank=as_rank(rank),
        n_right=len(shots.right[place]),
        right=[Shown.of(icon)],
        instead=shown(originals.showing(order), k=N_INSTEAD),
        picture=picture,
    )


def _scores(pictures: Sequence[bytes], vectors: CorpusVectors) -> Floats:
    """Score every picture of the corpus for each one asked with, (asked, corpus); one that shows nothing ranks none."""
    size = vectors.encoder.image_size
    pixels = [_pixels(picture, size) for picture in pictures]
    nothing = np.zeros((size, size, 3), np.uint8)
    queries = vectors.encoder.encode_many_pictures(np.stack([nothing if it is None else it for it in pixels]))
    scores: Floats = queries @ vectors.images.T
    scores[:, ~vectors.has_image] = -np.inf
    scores[[it is None for it in pixels]] = -np.inf
    return scores


def _pixels(picture: bytes, size: int) -> NDArray[np.uint8] | None:
    from indexer.rendering.cutout import cut_out

    try:
        return cut_out(picture, size=size)
    except RenderError:
        return None


def _content(originals: Originals, image: int) -> bytes | None:
    try:
        return originals.content(image)
    except SourceError:
        return None
