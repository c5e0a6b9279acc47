"""The icons of all screenshots of a library, open for questions, and the screenshots themselves."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from indexer.arrays import Floats, Ids, Positions
from indexer.errors import LibraryError, RenderError, SourceError
from indexer.library.durable import differences
from indexer.library.folder import Library
from indexer.merging.vector_index import VectorIndex
from indexer.rendering.draw_pool import DrawPool
from indexer.reports.terminal import Progress
from indexer.screens.files import MAX_BYTES, UsageGeneration, read_places
from indexer.screens.looks import ADVICE, UsageManifest, answering, damage_explained
from indexer.sources.records import content_digest, from_text, read_regular
from search.generation.opened import Opened
from search.pictures import drawing
from search.screens.results import Box, Use


class UsageIndex:
    """One generation of what is known of screenshots. Many threads may ask at once.

    A drawing is what a box shows, pixel by pixel; screens are files of different content.
    """

    def __init__(self, generation: UsageGeneration, manifest: UsageManifest) -> None:
        self.generation = generation
        self.manifest = manifest
        tensors = _tensors(generation.boxes)
        self.sizes: NDArray[np.int32] = tensors["facts"][:, :2]
        """Width and height of each screen, (s, 2)."""
        self.digests: NDArray[np.uint8] = tensors["digests"]
        """`content_digest` of each screen, (s, 16)."""
        self.corners: Floats = tensors["corners"]
        self.scores: Floats = tensors["scores"]
        """How sure it is that there is an icon in each box, (n,)."""
        self.shown: Ids = tensors["shown"]
        """The drawing of each box, (n,)."""
        self._starts: Ids = tensors["starts"]
        self._crop_starts: Ids = tensors["crop_starts"]
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

    @property
    def n_drawings(self) -> int:
        """How many there are."""
        return len(self._crop_starts) - 1

    @property
    def n_screens(self) -> int:
        """How many there are."""
        return len(self.sizes)

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
        if self._index is None:
            return np.zeros((0, self.manifest.dim), np.float32)
        return self._index.reconstruct(drawings)

    @cached_property
    def _by_drawing(self) -> tuple[Positions, Ids]:
        order = np.argsort(self.shown, kind="stable")
        return order, np.searchsorted(self.shown[order], np.arange(self.n_drawings + 1))

    def uses(self, drawing: int) -> Positions:
        """Rows of the boxes that show a drawing, ascending."""
        order, starts = self._by_drawing
        return order[starts[drawing] : starts[drawing + 1]]

    @cached_property
    def n_uses(self) -> Ids:
        """In how many boxes each drawing is shown, (drawings,)."""
        return np.bincount(self.shown, minlength=self.n_drawings)

    def screens(self, boxes: Positions) -> Ids:
        """The screens on which some boxes are."""
        return np.asarray(np.searchsorted(self._starts, boxes, side="right") - 1, np.int64)

    def box(self, row: int) -> Box:
        """A box in whole pixels of its screen."""
        left, top = np.floor(self.corners[row, :2]).astype(int).tolist()
        right, bottom = np.ceil(self.corners[row, 2:]).astype(int).tolist()
        return Box(left, top, right, bottom)

    def place(self, row: int) -> tuple[str, int, int]:
        """By what boxes are ordered: file, top and left."""
        box = self.box(row)
        return self.files[int(self.screens(np.array([row]))[0])][0], box.top, box.left

    @cached_property
    def files(self) -> list[tuple[str, ...]]:
        """Paths of each screen as files have them: it may lie in several."""
        found: list[list[str]] = [[] for _ in range(self.n_screens)]
        for placed in read_places(self.generation):
            if placed.screen is None:
                continue
            if placed.screen >= self.n_screens:
                raise LibraryError(f'"{self.generation.places}" names a screen that is not there; {ADVICE}')
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


def _tensors(path: Path) -> dict[str, NDArray[Any]]:
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)


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
    by_file: dict[str, list[Use]] = {}
    for use in uses:
        by_file.setdefault(use.file, []).append(use)
    chosen = list(by_file.items())[:most]
    with drawing() as pool:
        for number, (file, on_it) in enumerate(chosen):
            progress("Reading screenshots", number, len(chosen))
            png = None
            with suppress(RenderError):
                png = shot_png(index, index.screen_of[file], pool)
            yield Shot(file, on_it, png)


def shot_png(index: UsageIndex, screen: int, pool: DrawPool) -> bytes | None:
    """Draw a screen, no larger than a page wants it; None where its file has gone, or is another one by now.

    Raises:
        RenderError: it can't be drawn.
    """
    content = _read(index.files[screen], digest=index.digests[screen].tobytes())
    if content is None:
        return None
    return pool.png(content, size=min(_LONGEST_SIDE, int(index.sizes[screen].max())))


def _read(files: Sequence[str], *, digest: bytes) -> bytes | None:
    """The bytes that were looked at, from whichever file still holds them."""
    for path in files:
        with suppress(OSError, SourceError):
            content = read_regular(Path(path), limit=MAX_BYTES)
            if content_digest(content) == digest:
                return content
    return None
