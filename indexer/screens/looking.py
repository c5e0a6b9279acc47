"""What is in one screenshot: decoded in a worker process; here are its boxes, vectors and crops."""

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Pixels
from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.errors import LibraryError, RenderError, SourceError
from indexer.library.folder import Library
from indexer.library.shards import Failed
from indexer.library.traits import digest_of
from indexer.merging.manifest import answering_manifest
from indexer.rendering.draw_pool import DrawPool
from indexer.screens.files import MAX_BYTES, FileFacts
from indexer.screens.located import Locator, crops, detector_version, open_locator
from indexer.screens.looks import Look, LookKey
from indexer.sources.folders import reason_of
from indexer.sources.records import content_digest, read_regular

_SECONDS = 30.0
"""For a file of 64 million pixels on a busy machine."""
_ROUND = 0.25
"""Of its longer side, a crop shows around an icon."""
_LARGEST_CROP = 96
"""Pixels; larger ones are made smaller."""


@dataclass(frozen=True, slots=True)
class Sight:
    """By what icons are found and seen."""

    key: LookKey
    locator: Locator
    encoder: QueryEncoder


def open_sight(library: Library) -> Sight:
    """Open the encoder of the generation that answers, and the detector.

    Raises:
        LibraryError: nothing is indexed yet.
    """
    manifest = answering_manifest(library)
    if manifest is None:
        raise LibraryError(f'"{library.root}" holds no icons that can be searched; `icons index` comes first')
    encoder = open_query_encoder(library.encoder(manifest.fingerprint))
    key = LookKey(manifest.fingerprint, detector_version(), manifest.dim)
    return Sight(key, open_locator(manifest.fingerprint), encoder)


def open_pool(workers: int) -> DrawPool:
    """Start the processes that decode screenshots; a context manager."""
    return DrawPool(workers=workers, seconds=_SECONDS)


def look(facts: FileFacts, pool: DrawPool, sight: Sight, *, keeps_crops: bool) -> Look | Failed:
    """Look at a file, or say why that can't be done. Many threads may do so at once."""
    try:
        content = read_regular(facts.file, limit=MAX_BYTES)
    except (OSError, SourceError) as error:
        return Failed(reason_of(error), is_final=False)
    digest = content_digest(content)
    if digest.hex() != facts.digest:
        return Failed("changed while it was indexed", is_final=False)
    try:
        shot = pool.screenshot(content, size=sight.encoder.image_size)
    except RenderError as error:
        return Failed(str(error), is_final=True)
    return look_at(shot.pixels, sight, digest=digest, keeps_crops=keeps_crops)


def look_at(pixels: Pixels, sight: Sight, *, digest: bytes, keeps_crops: bool) -> Look:
    """Find the icons of a screen, RGB (height, width, 3)."""
    found = sight.locator.locate(pixels, sight.encoder)
    corners = found.boxes.corners
    seen = crops(pixels, corners, size=sight.encoder.image_size)
    return Look(
        digest=digest,
        facts=(pixels.shape[1], pixels.shape[0], found.n_found),
        corners=corners,
        scores=found.boxes.scores,
        drawings=np.array([digest_of(crop) for crop in seen], np.int64),
        vectors=found.vectors.reshape(len(corners), sight.key.dim),
        crops=[_png_of(pixels, box) for box in corners] if keeps_crops else None,
    )


def _png_of(pixels: Pixels, box: Floats) -> bytes:
    """A box with a little of what is around it, as a PNG."""
    height, width = pixels.shape[:2]
    around = max(2.0, _ROUND * float(max(box[2] - box[0], box[3] - box[1])))
    left, top = np.maximum(np.floor(box[:2] - around), 0).astype(int)
    right, bottom = np.minimum(np.ceil(box[2:] + around), [width, height]).astype(int)
    picture = Image.fromarray(pixels[top:bottom, left:right])
    picture.thumbnail((_LARGEST_CROP, _LARGEST_CROP))
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()
