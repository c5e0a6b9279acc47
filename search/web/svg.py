"""How pictures leave the server: SVGs as text, in one colour, or many as a stack; PNGs; screenshots, and their crops.

The fragment of a stack's address says which of its icons is seen. A browser makes a document of every SVG that it
shows, and each lengthens every task of the page: thirty icons took it 122 to 298 ms by themselves and 24 ms as a stack
(Chromium 150, one busy core). Icons of a stack share one document, so only those go into it as they are that are
nothing but shapes. Gradients, clips, masks and filters are found by ids, which begin with the name of their icon. All
others (styles, movements) stand in it as images of their own, with a document each.
"""

import base64
import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from indexer.errors import IconsError, LibraryError, RenderError
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.render import svg_document
from indexer.rendering.styles import box_of
from indexer.screens.files import UsageFolder
from search.drawings.clean import clean_tree, set_apart
from search.drawings.frameworks import AS_IT_IS, NamedIcon, coloured
from search.drawings.markup import XML
from search.drawings.markup import written as spelt
from search.engine import SearchEngine
from search.generation.opened import state_of
from search.pictures import digest_of
from search.query import values_of
from search.screens.opened import LEAST_SCORE, UsageIndex, shot_png, uses_of_icon
from search.screens.results import Use
from search.web.answers import UsageAnswer, picture_url, written
from search.web.connections import Gate

_HEAD = (
    b'<svg xmlns="http://www.w3.org/2000/svg"><style>:root>svg{display:none}:root>svg:target{display:inline}</style>'
)
_TAG = re.compile(rb"<(?!/)([^\s/>]*)")
_BESIDE_OTHERS = re.compile(
    rb"svg|g|path|circle|ellipse|rect|line|polyline|polygon|title|desc|defs|linearGradient|radialGradient|stop|clipPath"
    rb"|mask|pattern|symbol|use|filter|fe(?!Image)[A-Z][A-Za-z]+|\?xml|!--.*"
)
"""What icons of one document are made of, by the beginnings of what stands in angles."""
_OF_ROOT = re.compile(r"version|viewBox|width|height|x|y|fill(-\w+)?|stroke(-\w+)?|role|aria-\w+|id|class")


def svg_text(content: bytes, *, colour: str | None = None) -> bytes | None:
    """The text of an SVG, unpacked; None for anything but an SVG.

    `colour` is for what the icon leaves open: to currentColor, and to shapes without any fill, black otherwise.
    """
    try:
        document = svg_document(content)
    except RenderError:
        return None
    return document if document is None or colour is None else coloured(document, colour)


MOST_STACKED = 1_500_000
"""Bytes of the documents of one stack: some sets hold pictures of hundreds of kB, and a browser shows none before all
have come."""


def fitting(pictures: Iterable[tuple[str, bytes]]) -> tuple[dict[str, bytes], int]:
    """The SVGs among some pictures, as far as they fit into one stack, in their order; and how many did not fit."""
    documents: dict[str, bytes] = {}
    room, n_too_many = MOST_STACKED, 0
    for name, content in pictures:
        document = svg_text(content)
        if document is not None and len(document) <= room:
            documents[name] = document
            room -= len(document)
        else:
            n_too_many += document is not None
    return documents, n_too_many


def stacked(pictures: Mapping[str, bytes]) -> bytes:
    """Stack SVGs; the one that is called 17 is seen at the fragment #i17."""
    return b"".join([_HEAD, *(_layer(f"i{name}", document) for name, document in pictures.items()), b"</svg>"])


def _layer(layer: str, document: bytes) -> bytes:
    root = _shared(document, layer)
    box = None if root is None else box_of({"viewBox": root.get("viewBox", "")})
    if root is None or box is None:
        held = b'<svg id="%b"><image width="100%%" height="100%%" href="data:image/svg+xml;base64,%b"/></svg>'
        return held % (layer.encode(), base64.b64encode(document))
    # It stands in the middle of a square stack, no larger than its viewBox, which clips it.
    wide, high = (100 * side / max(box.width, box.height) for side in (box.width, box.height))
    place = {"x": (100 - wide) / 2, "y": (100 - high) / 2, "width": wide, "height": high}
    root.attrib = {"id": ""} | root.attrib | {"id": layer, **{name: f"{share:g}%" for name, share in place.items()}}
    return spelt(root, XML).encode()


def _shared(document: bytes, layer: str) -> Element | None:
    """The drawing with names of its own, if it is nothing but shapes that look alike beside others."""
    if b"\\" in document or not all(map(_BESIDE_OTHERS.fullmatch, _TAG.findall(document))):
        return None
    with suppress(IconsError):
        root = clean_tree(NamedIcon(layer, "", layer, document), AS_IT_IS)
        if len(root) and all(map(_OF_ROOT.fullmatch, root.attrib)):
            set_apart(root, name=layer)
            return root
    return None


_DRAWING_ID = re.compile("[0-9]{1,18}")


def id_of(engine: SearchEngine, icon: str) -> int:
    """Id of an icon that a request names: a number is one, whatever icons are called; all else is a key or name.

    Raises:
        UnknownIconError: there is none.
    """
    return int(icon) if _DRAWING_ID.fullmatch(icon) else engine.find(icon)


class Layer(NamedTuple):
    """A picture of a stack: an id, and the digest without which that may be another one in another library."""

    image: int
    digest: str | None

    @classmethod
    def read(cls, text: str) -> Self:
        """Read "17", or "17-" and the digest."""
        image, _, digest = text.partition("-")
        return cls(int(image), digest or None)

    def __str__(self) -> str:
        return str(self.image) if self.digest is None else f"{self.image}-{self.digest}"


class SentPicture(NamedTuple):
    """A picture that is ready to leave: hashing one here keeps that off the loop that answers everybody."""

    content: bytes
    tag: str
    """Stands for these bytes and no others."""
    is_fixed: bool
    """Whether what was asked for can never mean another picture."""

    @classmethod
    def of(cls, content: bytes, *, is_fixed: bool = False) -> Self:
        """Take the digest."""
        return cls(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"', is_fixed)


class Drawings:
    """Reads and draws what is stored, in threads and processes that others use, too."""

    def __init__(self, engine: SearchEngine, gate: Gate, pool: DrawPool) -> None:
        self._engine = engine
        self._gate = gate
        self._pool = pool

    async def pixels(self, picture: bytes) -> NDArray[np.uint8]:
        """Draw a stranger's picture for the encoder, (size, size, 3); only a drawing process decodes it."""
        return await self._gate.run(lambda: self._pool.pixels(picture, size=self._engine.image_size))

    async def svg(self, icon: str, *, colour: str | None, digest: str | None) -> SentPicture | None:
        """Read an icon's SVG, perhaps in a colour; None where it is a bitmap. Nothing but what was indexed is sent."""

        def read() -> SentPicture | None:
            found = self._stored(icon)
            document = svg_text(found, colour=colour)
            return None if document is None else SentPicture.of(document, is_fixed=digest == digest_of(found))

        return await self._gate.run(read)

    def _stored(self, icon: str) -> bytes:
        return self._engine.together(lambda engine: engine.picture(id_of(engine, icon)))

    async def svgs(self, layers: Sequence[Layer]) -> tuple[SentPicture, list[int]]:
        """Stack the SVGs of some pictures; with the ids of those that are not in the stack.

        It is not fixed if one could not be read: it may be there the next time.
        """
        asked = {layer.image: layer for layer in layers}

        def right() -> Iterator[tuple[str, bytes]]:
            for image, content in self._engine.pictures(list(asked)):
                if asked[image].digest in (None, digest_of(content)):
                    yield str(asked[image]), content

        def stack() -> tuple[SentPicture, list[int]]:
            documents, n_too_many = fitting(right())
            left_out = [image for image, layer in asked.items() if str(layer) not in documents]
            is_fixed = len(left_out) <= n_too_many and all(layer.digest for layer in layers)
            return SentPicture.of(stacked(documents), is_fixed=is_fixed), left_out

        return await self._gate.run(stack)

    async def png(self, icon: str, *, colour: str | None, size: int, digest: str | None) -> SentPicture:
        """Draw an icon as a PNG, its longer side `size`."""

        def draw() -> SentPicture:
            found = self._stored(icon)
            content = found if colour is None else svg_text(found, colour=colour) or found
            return SentPicture.of(self._pool.png(content, size=size), is_fixed=digest == digest_of(found))

        return await self._gate.run(draw)


_log = logging.getLogger(__name__)


class Screens:
    """The usage index that answers, opened when somebody asks; without one there is nothing to tell."""

    def __init__(self, engine: SearchEngine, pool: DrawPool, *, asking: Gate, reading: Gate) -> None:
        self._engine = engine
        self._pool = pool
        self._asking = asking
        """For what computes or draws a whole screen."""
        self._reading = reading
        self._folder = UsageFolder(engine.library)
        self._lock = Lock()
        self._state: object = None
        """Of the generation of screenshots that was opened last."""
        self._opened: UsageIndex | None = None

    def _index(self) -> UsageIndex | None:
        """The generation of screenshots that answers now, if it was seen by the encoder of the icons.

        What was removed from it is gone from the next request on.
        """
        with self._lock:
            number = self._folder.current()
            state = None if number is None else (number, state_of(self._folder.generation(number)))
            if state != self._state:
                self._opened, self._state = None, state
                try:
                    self._opened = None if state is None else UsageIndex.open(self._engine.library.root)
                except LibraryError as error:
                    _log.warning("%s", error)
            index = self._opened
        is_comparable = index is not None and index.manifest.fingerprint == self._engine.manifest.fingerprint
        return index if is_comparable else None

    async def uses(self, icon: str, *, k: int, min_score: float | None) -> bytes:
        """Tell where an icon, or a variant of it, is used, as JSON.

        Raises:
            UnknownIconError: there is no such icon.
        """

        def ask(engine: SearchEngine) -> bytes:
            number = id_of(engine, icon)
            engine.hits([number])  # refuses one that is not there
            index = self._index()
            if index is None:
                return written(UsageAnswer, _NOTHING)
            with index.explaining():
                found = uses_of_icon(index, engine, number, k=k, least=LEAST_SCORE if min_score is None else min_score)
                known = {"n_known": index.n_screens, "generation": index.generation.number}
                uses = {"uses": [_spelled(index, use) for use in found.uses]}
            return written(UsageAnswer, values_of(found) | known | uses)

        return await self._asking.run(lambda: self._engine.together(ask))

    async def crop(self, generation: int, drawing: int, *, revision: str | None) -> SentPicture | None:
        """A drawing as it was seen on some screen; None where no such crop is kept."""

        def read() -> SentPicture | None:
            index = self._of(generation, revision)
            if index is None or drawing >= index.n_drawings:
                return None
            try:
                png = index.crop(drawing)
            except OSError:  # another generation has taken its place
                return None
            return None if png is None or self._index() is not index else SentPicture.of(png)

        return await self._reading.run(read)

    async def shot(self, generation: int, screen: int, *, revision: str | None) -> SentPicture | None:
        """A screenshot as it lies on the disk now; None where it has gone, or is another one by now.

        Raises:
            RenderError: it can't be drawn.
        """

        def draw() -> SentPicture | None:
            index = self._of(generation, revision)
            if index is None or screen >= index.n_screens:
                return None
            png = shot_png(index, screen, self._pool)
            return None if png is None else SentPicture.of(png)

        return await self._asking.run(draw)

    def _of(self, generation: int, revision: str | None) -> UsageIndex | None:
        """The index, if it is still this generation: rows of another mean something else."""
        index = self._index()
        is_same = index is not None and index.generation.number == generation
        return index if index and is_same and revision in (None, index.manifest.revision) else None


_NOTHING = {"uses": [], "n_found": 0, "n_screens": 0, "n_known": 0, "generation": None}


def _spelled(index: UsageIndex, use: Use) -> dict[str, Any]:
    """Spell one use; of a path only the name leaves the server."""
    screen, of = index.screen_of[use.file], index.manifest
    at = f"usage/{index.generation.number}"
    return {
        **values_of(use),
        "file": Path(use.file).name,
        "also": sorted({Path(path).name for path in use.also}),
        "screen": screen,
        "screen_url": picture_url(f"{at}/screens/{screen}", of.revision),
        "crop_url": picture_url(f"{at}/crops/{use.drawing}", of.revision) if of.has_crops else None,
    }
