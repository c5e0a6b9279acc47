"""Shards of looks -> a new generation of what is known of screenshots; and how likely a crop shows an icon.

That is measured for each library, by the cosine of their vectors: some of its own pictures are drawn as interfaces show
them, small, in a colour, on a ground. `known` holds the cosine of each with its own vector against those of what is no
icon of the library: letters, numbers, noise, and the nearest picture of another drawing and name, as if the library
lacked the icon. `lead` is by how much a picture's own vector is nearer than that of such another one.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from safetensors.numpy import save

from indexer.arrays import Floats, Halves, Numbers, Pixels, in_chunks
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import LibraryError, RenderError, SourceError
from indexer.library.folder import Generation, write_manifest
from indexer.library.shards import Failed
from indexer.merging.facets import read_array, reading
from indexer.merging.manifest import Curve, Manifest, fit, pictures_of_nothing, spread
from indexer.merging.vector_index import VectorIndex, build_recommended, fp32_chunks
from indexer.rendering.draw_pool import DrawPool
from indexer.screens.files import FileFacts, Placed, UsageFolder, UsageGeneration
from indexer.screens.located import crops
from indexer.screens.looks import (
    FORMAT,
    Look,
    LookKey,
    Sameness,
    UsageCounts,
    UsageManifest,
    laid_out,
    look_paths,
    read_looks,
)
from indexer.sources.records import PictureAddress
from indexer.sources.source import read_picture


@dataclass(frozen=True, slots=True)
class UsageContent:
    """What the next generation is to say."""

    files: Sequence[FileFacts]
    """By path."""
    failures: Mapping[bytes, Failed]
    """Why screens could not be used, by digest."""
    has_crops: bool
    same: Sameness

    def revision(self, key: LookKey) -> str:
        """Hash of all that a generation is made of."""
        entries = [(facts.path, facts.digest, _reason(facts, self.failures)) for facts in self.files]
        return hashlib.sha256(json.dumps([str(key), self.has_crops, entries]).encode()).hexdigest()


def merge_usage(folder: UsageFolder, key: LookKey, content: UsageContent, *, keep_before: bool) -> UsageManifest:
    """Build the next generation and make it current.

    Raises:
        ShardError: a shard is damaged.
        LibraryError: a screen was looked at and is in no shard.
    """
    with folder.next_generation(keeps_before=keep_before) as built:
        looks, vectors = _gather(folder, key, content, built)
        places = _placed(content, {look.digest: row for row, look in enumerate(looks)})
        built.places.write_text("".join(f"{json.dumps(astuple(place))}\n" for place in places), "utf-8")
        n_indexed = len({place.screen for place in places} - {None})
        n_failed = sum(place.screen is None for place in places)
        manifest = UsageManifest(
            number=built.number,
            format=FORMAT,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            revision=content.revision(key),
            fingerprint=key.fingerprint,
            detector=key.detector,
            dim=key.dim,
            spec=_write_index(built.drawings, vectors, key.dim),
            has_crops=content.has_crops,
            same=content.same,
            counts=UsageCounts(
                found=len(places),
                indexed=n_indexed,
                duplicate=len(places) - n_indexed - n_failed,
                failed=n_failed,
                icons=sum(len(look.scores) for look in looks),
                drawings=len(vectors),
                cut=sum(look.facts[2] > len(look.scores) for look in looks),
            ),
            files=built.describe(),
        )
        write_manifest(built, manifest)
    return manifest


def _placed(content: UsageContent, screens: Mapping[bytes, int]) -> list[Placed]:
    """What became of each file; `screens` has the row of each by its digest.

    Raises:
        LibraryError: of one that is not known.
    """
    places = []
    for facts in content.files:
        screen = screens.get(bytes.fromhex(facts.digest or ""))
        places.append(Placed(facts.path, screen, _reason(facts, content.failures) if screen is None else None))
    if n_missing := sum(place.screen is None and place.reason is None for place in places):
        raise LibraryError(f"{n_missing} screenshots have neither a look nor a reason; run `icons usage add`")
    return places


def _gather(
    folder: UsageFolder, key: LookKey, content: UsageContent, built: UsageGeneration
) -> tuple[list[Look], list[Halves]]:
    """Write boxes and crops; return the screens, each once, and the vector of each drawing."""
    left = {bytes.fromhex(facts.digest) for facts in content.files if facts.digest}
    looks: list[Look] = []
    vectors: list[Halves] = []
    rows, crop_starts = Numbers[int](), [0]
    with built.crops.open("wb") as crops:
        for path in look_paths(folder.looks_of(key)):
            shard = read_looks(path, key=key)
            if content.has_crops and not shard.has_crops:
                continue
            for row in (row for row, digest in enumerate(shard.screens()) if digest in left):
                look = shard.look(row, with_crops=content.has_crops)
                for place, drawing in enumerate(look.drawings.tolist()):
                    if rows[drawing] == len(vectors):  # a new one
                        vectors.append(look.vectors[place])
                        crop_starts.append(crop_starts[-1] + crops.write(look.crops[place] if look.crops else b""))
                left.remove(look.digest)
                shown = np.array([rows[drawing] for drawing in look.drawings.tolist()], np.int64)
                looks.append(replace(look, drawings=shown, vectors=look.vectors[:0], crops=None))
    shown = np.concatenate([np.zeros(0, np.int64), *(look.drawings for look in looks)])
    built.boxes.write_bytes(save(laid_out(looks) | {"shown": shown, "crop_starts": np.array(crop_starts, np.int64)}))
    return looks, vectors


def _reason(facts: FileFacts, failures: Mapping[bytes, Failed]) -> str | None:
    if facts.digest is None:
        return facts.error or "not read"
    failed = failures.get(bytes.fromhex(facts.digest))
    return failed.reason if failed else None


def _write_index(path: Path, drawings: Sequence[Halves], dim: int) -> str:
    """Index the vectors of all drawings; return the kind of the index, "" where there is nothing to index."""
    if not drawings:
        path.touch()
        return ""
    vectors, ids = np.stack(drawings), np.arange(len(drawings), dtype=np.int64)
    return build_recommended(path, ids, fp32_chunks(vectors), partial(fp32_chunks, vectors), dim=dim)


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
    with reading(generation.catalog) as connection:
        rows = connection.execute(_PICTURES).fetchall()
    chosen = (rows[place] for place in spread(len(rows), N_DRAWN).tolist())
    drawn = list(_drawn(_Picture(image, name, PictureAddress(*address)) for image, name, *address in chosen))
    if len(drawn) < _LEAST_DRAWN:
        known = manifest.calibration.pictures.every
        return Sameness(known, Curve(_LEAST_LEAD, 0.0), manifest.pictures.n)
    pictures, screens = zip(*drawn, strict=True)
    seen = _encode(encoder, screens)
    own = (seen * index.reconstruct(np.array([picture.image for picture in pictures], np.int64))).sum(axis=1)
    best = _best_others(generation, index, seen, pictures)
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
        ImageDraw.Draw(picture).text(
            (_ROUND, _ROUND), text, font=ImageFont.load_default(int(random.integers(12, 30))), fill=ink
        )
        yield np.asarray(picture)


def _drawn(pictures: Iterator[_Picture]) -> Iterator[tuple[_Picture, Pixels]]:
    """Yield those whose source still holds them, each on a ground, `_ROUND` pixels of which stand around it."""
    random = np.random.default_rng(0)
    with DrawPool(workers=1) as pool:
        for picture in pictures:
            side, is_dark = int(random.integers(*_SIDES)), bool(random.integers(2))
            with suppress(OSError, SourceError, RenderError):
                yield picture, _on_screen(pool.png(read_picture(picture.address), size=side), random, is_dark=is_dark)


def _on_screen(png: bytes, random: np.random.Generator, *, is_dark: bool) -> Pixels:
    """Put an icon on a light or dark ground; one that is black or white takes a colour that shows there."""
    icon = np.asarray(Image.open(io.BytesIO(png)).convert("RGBA")).astype(np.float32)
    ground = random.integers(16, 56, 3) if is_dark else random.integers(232, 256, 3)
    alpha, colours = icon[..., 3:] / 255, icon[..., :3]
    inked = colours[alpha[..., 0] > 0.5]
    if len(inked) and np.ptp(inked, axis=0).max() < 24:
        colours = (random.integers(170, 256, 3) if is_dark else random.integers(0, 110, 3)).astype(np.float32)
    screen = np.full((icon.shape[0] + 2 * _ROUND, icon.shape[1] + 2 * _ROUND, 3), ground, np.float32)
    screen[_ROUND:-_ROUND, _ROUND:-_ROUND] = alpha * colours + (1 - alpha) * ground
    return np.asarray(np.round(screen), np.uint8)


def _encode(encoder: QueryEncoder, screens: Sequence[Pixels]) -> Floats:
    """Encode what stands on each screen, cut along what differs from its ground, (n, dim)."""
    seen = np.concatenate([crops(screen, _box_of(screen)[None], size=encoder.image_size) for screen in screens])
    return np.concatenate([encoder.encode_many_pictures(some) for some in in_chunks(seen, 32)])


def _box_of(screen: Pixels) -> Floats:
    differs = np.abs(screen.astype(np.int16) - screen[0, 0].astype(np.int16)).max(axis=2) > 24
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return np.array([_ROUND, _ROUND, screen.shape[1] - _ROUND, screen.shape[0] - _ROUND], np.float32)
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], np.float32)


def _best_others(generation: Generation, index: VectorIndex, seen: Floats, pictures: Sequence[_Picture]) -> Floats:
    """The highest cosine of each with a picture of another drawing, of icons with other names; -1 without any."""
    rows = read_array(generation.facets)
    order = np.argsort(rows["image"], kind="stable")
    images, names, drawings = rows["image"][order], rows["name"][order], read_array(generation.drawings)[order]
    best = np.full(len(seen), -1, np.float32)
    for row, picture in enumerate(pictures):
        own = drawings[np.searchsorted(images, picture.image)]
        found = index.search(seen[row], k=_DEPTH)
        starts, ends = (np.searchsorted(images, found.ids, side=side) for side in ("left", "right"))
        best[row] = next(
            (
                score
                for score, start, end in zip(found.scores, starts, ends, strict=True)
                if drawings[start] != own and picture.name not in names[start:end]
            ),
            -1,
        )
    return best
