"""The icons of all screenshots of a library, open for questions: where an icon is used, what words mean, a picture.

Beside them the screenshots themselves, as they lie on the disk now.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from indexer.arrays import Floats, Ids, Pixels, Positions, grouped
from indexer.errors import LibraryError, RenderError, SourceError
from indexer.library.durable import differences
from indexer.library.folder import Library
from indexer.merging.manifest import sigmoid
from indexer.merging.vector_index import VectorIndex
from indexer.rendering.draw_pool import DrawPool
from indexer.reports.terminal import Progress, with_progress
from indexer.screens.files import MAX_BYTES, UsageGeneration, read_places
from indexer.screens.looks import ADVICE, UsageManifest, answering, damage_explained
from indexer.sources.records import content_digest, from_text, read_regular
from search.engine import SearchEngine
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.pictures import drawing
from search.query import Filters, Hit, Query, Window, refuse_empty
from search.ranking import weights
from search.screens.results import Box, Use, Uses


class UsageIndex:
    """One generation of what is known of screenshots. Many threads may ask at once.

    A drawing is what a box shows, pixel by pixel; screens are files of different content.
    """

    def __init__(self, generation: UsageGeneration, manifest: UsageManifest) -> None:
        self.generation = generation
        self.manifest = manifest
        with safe_open(generation.boxes, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
        self.sizes: NDArray[np.int32] = tensors["facts"][:, :2]
        """Width and height of each screen, (s, 2)."""
        self.n_screens = len(self.sizes)
        self.digests: NDArray[np.uint8] = tensors["digests"]
        """`content_digest` of each screen, (s, 16)."""
        self.corners: Floats = tensors["corners"]
        self.scores: Floats = tensors["scores"]
        """How sure it is that there is an icon in each box, (n,)."""
        self.shown: Ids = tensors["shown"]
        """The drawing of each box, (n,)."""
        self.screens: Ids = np.repeat(np.arange(self.n_screens), np.diff(tensors["starts"]))
        """The screen on which each box is, (n,)."""
        self._crop_starts: Ids = tensors["crop_starts"]
        self.n_drawings = len(self._crop_starts) - 1
        self._index = VectorIndex.open(generation.drawings, spec=manifest.spec) if manifest.spec else None

    @classmethod
    def open(cls, root: str | Path) -> Self:
        """Open the generation of screenshots that answers in the library at `root`.

        Raises:
            LibraryError: no screenshots are known, or what is known of them can't be read.
        """
        _, generation = answering(Library(Path(root)))
        manifest = UsageManifest.read(generation)
        for path, how in differences(generation.folder, manifest.files, sums=False):
            raise LibraryError(f'"{path}" {how}; {ADVICE}')
        with damage_explained(generation, manifest):
            return cls(generation, manifest)

    def explaining(self) -> AbstractContextManager[None]:
        """Tell what goes wrong during the block as damage, where a file is not as it was written."""
        return damage_explained(self.generation, self.manifest)

    def refuse_other_encoder(self, opened: Opened) -> None:
        """Refuse to compare vectors of two encoders.

        Raises:
            LibraryError: the icons were embedded with another one since.
        """
        if opened.manifest.fingerprint != self.manifest.fingerprint:
            raise LibraryError(
                "the icons were indexed with another encoder since the screenshots were looked at; "
                "`icons usage add` looks at them again"
            )

    def near(self, vectors: Floats, *, k: int) -> tuple[Ids, Floats]:
        """The drawings among the `k` nearest to any of some vectors (n, dim), ascending; and their cosines with each,
        (drawings, n).
        """
        if self._index is None or not len(vectors):
            return np.zeros(0, np.int64), np.zeros((0, len(vectors)), np.float32)
        found = np.unique(np.concatenate([near.ids for near in self._index.search_many(vectors, k=k)]))
        return found, np.asarray(self.vectors(found) @ vectors.T, np.float32)

    def vectors(self, drawings: Ids) -> Floats:
        """Vectors of some drawings, (n, dim)."""
        return self._index.reconstruct(drawings) if self._index else np.zeros((0, self.manifest.dim), np.float32)

    @cached_property
    def _by_drawing(self) -> tuple[Positions, Ids]:
        order = np.argsort(self.shown, kind="stable")
        return order, np.searchsorted(self.shown[order], np.arange(self.n_drawings + 1))

    def uses(self, drawing: int) -> Positions:
        """Rows of the boxes that show a drawing, ascending."""
        order, starts = self._by_drawing
        return order[starts[drawing] : starts[drawing + 1]]

    def use(self, row: int, *, score: float, icon: str | None) -> Use:
        """Tell of one box what it is taken for."""
        screen = int(self.screens[row])
        file, *also = self.files[screen]
        width, height = self.sizes[screen].tolist()
        return Use(
            file, tuple(also), width, height, Box.around(self.corners[row]), round(score, 4), icon, int(self.shown[row])
        )

    def is_icon(self, own: Floats, rival: Floats, *, expected: float = 0.0) -> Floats:
        """Probability by the cosine with the icon and the highest one with something else that it may be instead.

        Both equal leave half of what the likeness alone says; `expected` log-odds speak for the icon beforehand.
        """
        same = self.manifest.same
        return np.asarray(same.known.scores(own) * sigmoid(same.lead.logits(own - rival) + expected), np.float32)

    def place(self, row: int) -> tuple[str, int, int]:
        """By what boxes are ordered: file, top and left."""
        box = Box.around(self.corners[row])
        return self.files[int(self.screens[row])][0], box.top, box.left

    @cached_property
    def files(self) -> list[tuple[str, ...]]:
        """Paths of each screen as files have them: it may lie in several."""
        found: list[list[str]] = [[] for _ in range(self.n_screens)]
        for placed in read_places(self.generation):
            if placed.screen is not None and placed.screen >= self.n_screens:
                raise LibraryError(f'"{self.generation.places}" names a screen that is not there; {ADVICE}')
            if placed.screen is not None:
                found[placed.screen].append(from_text(placed.path))
        return [tuple(paths) for paths in found]

    @cached_property
    def screen_of(self) -> dict[str, int]:
        """The screen by the first of its paths."""
        return {paths[0]: screen for screen, paths in enumerate(self.files) if paths}

    def crop(self, drawing: int) -> bytes | None:
        """A PNG of a drawing and what is around it on some screen; None where no crops are kept."""
        start, end = self._crop_starts[drawing : drawing + 2].tolist()
        if end == start:
            return None
        with self.generation.crops.open("rb") as file:
            file.seek(start)
            return file.read(end - start)


_LONGEST_SIDE = 1_600
"""Pixels on a page."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot with what was found on it."""

    file: str
    uses: Sequence[Use]
    png: bytes | None
    """None where the file has gone, or is another one by now."""


def read_shots(index: UsageIndex, uses: Sequence[Use], *, most: int, progress: Progress) -> Iterator[Shot]:
    """Read the first screenshots of some uses, each once."""
    chosen = list(grouped(uses, lambda use: use.file).items())[:most]
    with drawing() as pool:
        for file, on_it in with_progress(chosen, "Reading screenshots", progress):
            png = None
            with suppress(RenderError):
                png = shot_png(index, index.screen_of[file], pool)
            yield Shot(file, on_it, png)


def shot_png(index: UsageIndex, screen: int, pool: DrawPool) -> bytes | None:
    """Draw a screen, no larger than a page wants it; None where its file has gone, or is another one by now.

    Raises:
        RenderError: it can't be drawn.
    """
    for path in index.files[screen]:
        with suppress(OSError, SourceError):
            content = read_regular(Path(path), limit=MAX_BYTES)
            if content_digest(content) == index.digests[screen].tobytes():
                return pool.png(content, size=min(_LONGEST_SIDE, int(index.sizes[screen].max())))
    return None


LEAST_SCORE = 0.5
"""From which an icon is said to be used, where nothing else was asked for."""
_NEAR = 2_000
"""Drawings that are looked at for an icon."""
_NEAR_EACH = 200
"""For each of the icons that answer some words."""
_N_ANSWERS = 300
"""Icons that words may mean."""
_LEAST_ANSWER = 0.3
"""Score of such an icon."""
_N_RIVALS = 64
"""Pictures of the library among which another meaning of a drawing is looked for."""


_ASKED = re.compile(
    r"^\s*(?:where|on which (?:screens|screenshots|pages)) (?:do|does|did|is|are)\b\s*(?:(?:we|you|they|i)\b\s*)?"
    r"(?:(?:show|use|have|see|find)\b\s*)?(?:(?:an?|the|any)\b\s*)?(?P<what>.*?)(?:\s+(?:used|shown))?[\s?]*$",
    re.IGNORECASE,
)
"""A whole question: what is asked for stands in the middle of it."""


Judged = tuple[Ids, Floats, Ids]
"""Drawings that may be what was asked for, their scores, and what each is taken for; -1 for nothing of the library."""


def uses_of_icon(
    index: UsageIndex, engine: SearchEngine, icon: int, *, k: int = 20, least: float = LEAST_SCORE
) -> Uses:
    """Find where an icon of the library, or a variant of it, is used; what is more like another icon is that one.

    Raises:
        UnknownIconError: no icon has this id.
        LibraryError: icons and screens were seen by two encoders.
    """
    engine.hits([icon])  # refuses one that is not there
    return _uses(index, engine, lambda opened: _judge_icon(index, opened, icon), k=k, least=least)


def _judge_icon(index: UsageIndex, opened: Opened, icon: int) -> Judged:
    facets = opened.in_memory(Ability.USAGE)
    row = facets.positions(np.array([icon]))
    sets, names, shown = facets.column("set"), facets.column("name"), facets.drawings
    is_own = ((sets == sets[row]) & (names == names[row])) | (shown == shown[row])
    is_rival = (sets == sets[row]) & ~is_own
    variants = np.flatnonzero(is_own)
    images = facets.column("image")
    drawings, cosines = index.near(opened.pictures.reconstruct(images[variants]), k=_NEAR)
    rivals = opened.pictures.reconstruct(np.unique(images[is_rival]))
    in_set = (index.vectors(drawings) @ rivals.T).max(axis=1, initial=-1)
    elsewhere = _rivals(index, opened, drawings, images[variants])
    likeness = cosines.max(axis=1, initial=-1)
    scores = np.minimum(index.is_icon(likeness, in_set), index.is_icon(likeness, elsewhere, expected=weights.PREFERRED))
    return drawings, scores, facets.column("icon")[variants[cosines.argmax(axis=1)]]


def uses_of_words(
    index: UsageIndex,
    engine: SearchEngine,
    query: Query,
    *,
    filters: Filters | None = None,
    k: int = 20,
    least: float = LEAST_SCORE,
) -> Uses:
    """Find where icons are used that some words mean, by the icons that answer them; most of all by their names.

    Raises:
        IconsError: the query is empty, or a filter names what is not in this library.
        LibraryError: icons and screens were seen by two encoders.
    """
    refuse_empty(query.words)
    query = replace(query, words=asked_for(query.words))
    answer = engine.ask(query, filters=filters or Filters(), window=Window(k=_N_ANSWERS, flat=True))
    hits = [hit for hit in answer.hits if hit.score >= _LEAST_ANSWER]
    return _uses(index, engine, lambda opened: _judge_words(index, opened, hits), k=k, least=least)


def asked_for(words: str) -> str:
    """What a question asks for: "where do we show a warning?" wants warnings; other words stay as they are."""
    asked = _ASKED.match(words)
    return (asked and asked["what"]) or words


def _judge_words(index: UsageIndex, opened: Opened, hits: Sequence[Hit]) -> Judged:
    icons, images = (np.array([getattr(hit, name) for hit in hits], np.int64) for name in ("id", "image"))
    scores = np.array([hit.score for hit in hits], np.float32)
    if not len(images):
        return images, scores, icons
    drawings, cosines = index.near(opened.pictures.reconstruct(images), k=_NEAR_EACH)
    found = scores * index.is_icon(cosines, _rivals(index, opened, drawings, images)[:, None])
    best = found.argmax(axis=1)
    return drawings, found[np.arange(len(found)), best], icons[best]


def _rivals(index: UsageIndex, opened: Opened, drawings: Ids, images: Ids) -> Floats:
    """The highest cosine of each drawing with a picture of the library that is none of some, nor looks the same."""
    facets = opened.in_memory(Ability.USAGE)
    order = np.argsort(facets.column("image"), kind="stable")
    sorted_images, shown = facets.column("image")[order], facets.drawings[order]
    own = np.unique(shown[np.searchsorted(sorted_images, images)])
    best = np.full(len(drawings), -1, np.float32)
    for row, near in enumerate(opened.pictures.search_many(index.vectors(drawings), k=_N_RIVALS)):
        is_other = ~np.isin(shown[np.searchsorted(sorted_images, near.ids)], own)
        if is_other.any():
            best[row] = near.scores[is_other][0]
    return best


def uses_of_picture(
    index: UsageIndex, engine: SearchEngine, pixels: Pixels, *, k: int = 20, least: float = LEAST_SCORE
) -> Uses:
    """Find where a picture is used, which `cutout.cut_out` draws at the encoder's size.

    Raises:
        LibraryError: icons and screens were seen by two encoders.
    """

    def judge(opened: Opened) -> Judged:
        drawings, cosines = index.near(opened.encoder.encode_picture(pixels)[None], k=_NEAR)
        return drawings, index.manifest.same.known.scores(cosines[:, 0]), np.full(len(drawings), -1)

    return _uses(index, engine, judge, k=k, least=least)


def _uses(index: UsageIndex, engine: SearchEngine, judge: Callable[[Opened], Judged], *, k: int, least: float) -> Uses:
    """All boxes that show what was found, the surest first; equally sure ones by file and place.

    Raises:
        LibraryError: icons and screens were seen by two encoders.
    """

    def compared(opened: Opened) -> Judged:
        index.refuse_other_encoder(opened)
        return judge(opened)

    drawings, scores, icons = engine.with_generation(compared)
    order = [row for row in np.argsort(-scores, kind="stable").tolist() if scores[row] >= least]
    boxes = [index.uses(int(drawings[row])) for row in order]
    screens = np.unique(index.screens[np.concatenate(boxes)]) if boxes else ()
    found = [(row, box) for row, shown in zip(order, boxes, strict=True) for box in shown.tolist()]
    taken = sorted(found, key=lambda one: (-round(float(scores[one[0]]), 2), index.place(one[1])))[:k]
    keys = {hit.id: hit.key for hit in engine.hits(sorted({int(icons[row]) for row, _ in taken} - {-1}))}
    uses = [index.use(box, score=float(scores[row]), icon=keys.get(int(icons[row]))) for row, box in taken]
    return Uses(uses, sum(map(len, boxes)), len(screens), round(float(scores.max(initial=0)), 4))
