"""How likely a crop shows an icon, by the cosine of their vectors; measured for each library.

Some of the library's own pictures are drawn as interfaces show them: small, in a colour, on a ground. `known` holds the
cosine of each with its own vector against those of what is no icon of the library: letters, numbers, noise, and the
nearest picture of another drawing and name, as if the library lacked the icon. `lead` is by how much a picture's own
vector is nearer than that of such another one.
"""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from indexer.arrays import Floats, Ids, Pixels
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import RenderError, SourceError
from indexer.library.folder import Generation
from indexer.merging.calibration import Curve, fit, pictures_of_nothing, spread
from indexer.merging.facets import read_array
from indexer.merging.manifest import Manifest
from indexer.merging.vector_index import VectorIndex
from indexer.rendering.draw_pool import DrawPool
from indexer.screens.located import crops
from indexer.screens.looks import Sameness
from indexer.sources.records import PictureAddress
from indexer.sources.source import read_picture

N_DRAWN = 160
_LEAST_DRAWN = 4
"""With fewer, sources have gone or there are hardly any icons: then the curve of picture queries has to do."""
_SIDES = (14, 40)
"""Pixels."""
_DEPTH = 64
"""Pictures among which the nearest of another drawing and name is looked for."""
_ROUND = 12
_TEXTS = (
    "a", "B", "g", "7", "3", "4", "9", "OK", "Hi", "12", "47", "&", "%", "M", "St", "No", "ab", "U", "Q", "1", "5", "2",
    "Yes", "e", "R", "@", "24", "W3",
)  # fmt: skip
N_NOISE = 24
_LEAST_LEAD = 25.0
"""Slope of `lead`: the few pictures of a small library lie far apart, which says nothing of two that are near. Of 5,533
pictures in three sets 28 was measured."""
_LACKING = 3
"""One in so many of the drawn ones counts as if the library lacked it."""
_PICTURES = """
    SELECT icons.image_id, icons.name_id, sources.kind, sources.location, files.path, icons.member, images.digest
    FROM icons JOIN images ON images.id = icons.image_id JOIN files ON files.id = icons.file_id
    JOIN sources ON sources.id = files.source_id
    WHERE icons.id IN (SELECT MIN(id) FROM icons GROUP BY image_id) ORDER BY icons.image_id
"""


class _Picture(NamedTuple):
    image: int
    name: int
    address: PictureAddress


def measure_sameness(generation: Generation, encoder: QueryEncoder) -> Sameness:
    """Draw some of a generation's pictures as screens show them, and fit the curves."""
    manifest = Manifest.read(generation)
    index = VectorIndex.open(generation.pictures, spec=manifest.pictures.spec)
    drawn = list(_drawn(_chosen(generation)))
    if len(drawn) < _LEAST_DRAWN:
        known = manifest.calibration.pictures.every
        return Sameness(known, Curve(_LEAST_LEAD, 0.0), manifest.pictures.n)
    seen = _encode(encoder, [screen for _, screen in drawn])
    images = np.array([picture.image for picture, _ in drawn], np.int64)
    own = (seen * index.reconstruct(images)).sum(axis=1).astype(np.float32)
    others = _Others(generation, index)
    best = np.array([others.best(one, picture) for one, (picture, _) in zip(seen, drawn, strict=True)], np.float32)
    nothing = _encode(encoder, list(_glyphs()))
    noise = encoder.encode_many_pictures(np.stack(list(pictures_of_nothing(N_NOISE, size=encoder.image_size))))
    none = [index.search(vector, k=1).scores[0] for vector in (*nothing, *noise)]
    known = fit(own, np.concatenate([np.array(none, np.float32), best[::_LACKING]]))
    lead = max(fit(own - best, best - own).slope, _LEAST_LEAD)
    return Sameness(known, Curve(lead, 0.0), manifest.pictures.n)


def _glyphs() -> Iterator[Pixels]:
    """Draw letters and numbers as screens show them."""
    random = np.random.default_rng(0)
    for number, text in enumerate(_TEXTS):
        ground, ink = ((28, 31, 38), (224, 226, 230)) if number % 2 else ((255, 255, 255), (51, 56, 64))
        picture = Image.new("RGB", (96, 64), ground)
        font = ImageFont.load_default(int(random.integers(12, 30)))
        ImageDraw.Draw(picture).text((_ROUND, _ROUND), text, font=font, fill=ink)
        yield np.asarray(picture)


def _chosen(generation: Generation) -> list[_Picture]:
    with closing(sqlite3.connect(f"{generation.catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute(_PICTURES).fetchall()
    drawn = (rows[place] for place in spread(len(rows), N_DRAWN).tolist())
    return [_Picture(image, name, PictureAddress(*address)) for image, name, *address in drawn]


def _drawn(pictures: list[_Picture]) -> Iterator[tuple[_Picture, Pixels]]:
    """Yield those whose source still holds them, each on a ground, `_ROUND` pixels of which stand around it."""
    random = np.random.default_rng(0)
    with DrawPool(workers=1) as pool:
        for picture in pictures:
            side, is_dark = int(random.integers(*_SIDES)), bool(random.integers(2))
            with suppress(OSError, SourceError, RenderError):
                content = read_picture(picture.address)
                yield picture, _on_screen(pool.png(content, size=side), random, is_dark=is_dark)


def _on_screen(png: bytes, random: np.random.Generator, *, is_dark: bool) -> Pixels:
    """Put an icon on a light or dark ground; one that is black or white takes a colour that shows there."""
    icon = np.asarray(Image.open(io.BytesIO(png)).convert("RGBA")).astype(np.float32)
    ground = random.integers(16, 56, 3) if is_dark else random.integers(232, 256, 3)
    alpha, colours = icon[..., 3:] / 255, icon[..., :3]
    inked = colours[alpha[..., 0] > 0.5]
    if len(inked) and np.ptp(inked, axis=0).max() < 24:
        colours = (random.integers(170, 256, 3) if is_dark else random.integers(0, 110, 3)).astype(np.float32)
    screen = np.empty((icon.shape[0] + 2 * _ROUND, icon.shape[1] + 2 * _ROUND, 3), np.float32)
    screen[:] = ground
    screen[_ROUND:-_ROUND, _ROUND:-_ROUND] = alpha * colours + (1 - alpha) * ground
    return np.asarray(np.round(screen), np.uint8)


def _encode(encoder: QueryEncoder, screens: list[Pixels]) -> Floats:
    """Encode what stands on each screen, cut along what differs from its ground, (n, dim)."""
    size = encoder.image_size
    seen = np.concatenate([crops(screen, _box_of(screen)[None], size=size) for screen in screens])
    return np.concatenate([encoder.encode_many_pictures(seen[start : start + 32]) for start in range(0, len(seen), 32)])


def _box_of(screen: Pixels) -> Floats:
    differs = np.abs(screen.astype(np.int16) - screen[0, 0].astype(np.int16)).max(axis=2) > 24
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return np.array([_ROUND, _ROUND, screen.shape[1] - _ROUND, screen.shape[0] - _ROUND], np.float32)
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], np.float32)


class _Others:
    """What a picture may be confused with: those of another drawing whose icons bear another name."""

    def __init__(self, generation: Generation, index: VectorIndex) -> None:
        rows: NDArray[Any] = read_array(generation.facets)
        order = np.argsort(rows["image"], kind="stable")
        self._index = index
        self._images: Ids = rows["image"][order]
        self._names: Ids = rows["name"][order]
        self._drawings: Ids = read_array(generation.drawings)[order]

    def best(self, vector: Floats, picture: _Picture) -> float:
        """The highest cosine of them; -1 where there are none among the nearest."""
        own = self._drawings[np.searchsorted(self._images, picture.image)]
        found = self._index.search(vector, k=_DEPTH)
        starts = np.searchsorted(self._images, found.ids)
        ends = np.searchsorted(self._images, found.ids, side="right")
        for score, start, end in zip(found.scores.tolist(), starts.tolist(), ends.tolist(), strict=True):
            if self._drawings[start] != own and picture.name not in self._names[start:end]:
                return float(score)
        return -1.0
