"""A picture, SVG or bitmap -> RGB uint8 at the model's size, on a ground on which it shows.

The content decides what kind it is, never the name. A picture keeps its aspect, is centred on a square canvas, and
its alpha is composited on white; a picture that does not show on white, but does on black, is composited on black. What
equals its ground everywhere on both is refused as blank. A shape of one colour that fills the whole canvas is an icon.

How its ink lies (in lines or areas, in one tone or two, in how many hues) is measured on a grid of 64 x 64, whatever
size the model sees, so that a stroke of 2 px of 24 is as thick for every model. A row of a mask of the grid is an
integer of 64 bits, the first column the highest: to erode all rows of many pictures takes a few shifts.
"""

import functools
import io
import math
import re
import struct
import warnings
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np
import webencodings
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from indexer.arrays import Ids, Mask, Pixels
from indexer.errors import RenderError
from indexer.sources.records import ICON_FILES, is_styled

BLANK = "blank: nothing is drawn"

CLEAR_CONTRAST = 24
"""Of 255: a picture with less than this on white (an icon in #eee) is tried on black."""
VISIBLE_CONTRAST = 4
"""Of 255: less than this is noise of the compression, not a shape."""
_COLOUR_BITS = np.uint32(0x00FFFFFF)
"""Of a pixel as a little-endian number."""


def lay(pictures: "Sequence[tuple[Pixels, Made]]", *, size: int) -> "list[Rendered | None]":
    """Lay RGB or RGBA, (height, width, 3 or 4), on the middle of squares; of each is told how it was made.

    None stands for a picture of which nothing shows.
    """
    canvas = np.zeros((len(pictures), size, size, 4), np.uint8)
    for square, (picture, _) in zip(canvas, pictures, strict=True):
        height, width, n_channels = picture.shape
        top, left = (size - height) // 2, (size - width) // 2
        square[top : top + height, left : left + width, 3] = 255
        square[top : top + height, left : left + width, :n_channels] = picture
    is_black = ~(canvas.view("<u4")[..., 0] & _COLOUR_BITS).any(axis=(1, 2))
    laid: list[Rendered | None] = [None] * len(pictures)
    for alike, n_channels in ((np.flatnonzero(is_black), 1), (np.flatnonzero(~is_black), 3)):
        if len(alike):  # of black, as most icons are, one channel says on any ground what three would
            channels, on_light, shows = _on_grounds(canvas[alike], n_channels)
            channels, on_light, places = channels[shows], on_light[shows], alike[shows].tolist()
            pixels = np.empty((len(places), size, size, 3), np.uint8)
            for channel in range(3):  # a plane at a time: three times as fast as transposing
                pixels[..., channel] = channels[:, channel % n_channels]
            coloured = np.count_nonzero(shows_colour(channels), axis=(1, 2)) > _COLOURED_SHARE * size**2
            grounds, made = np.where(on_light, "light", "dark").tolist(), [pictures[place][1] for place in places]
            facts = pixels, grounds, coloured.tolist(), made
            for place, *its in zip(places, *facts, measure(channels, on_light=on_light), strict=True):
                laid[place] = Rendered(*its)
    return laid


def _on_grounds(canvas: Pixels, n_channels: int) -> tuple[Pixels, Mask, Mask]:
    """Composite each on the ground on which it shows; say which ones that is white for, and which ones show at all."""
    light, dark = (_on_shade(canvas, n_channels, shade) for shade in (255, 0))
    on_white, on_black = ((it.max((2, 3)) - it.min((2, 3))).max(1) for it in (light, dark))  # of any channel
    from_white, from_black = 255 - light.min((1, 2, 3)), dark.max((1, 2, 3))
    is_even = np.maximum(on_white, on_black) < VISIBLE_CONTRAST  # of one colour all over: a full square, or nothing
    is_light = np.where(
        is_even,
        from_white >= np.minimum(from_black, CLEAR_CONTRAST),
        on_white >= np.minimum(on_black, CLEAR_CONTRAST),
    )
    channels = np.where(is_light[:, None, None, None], light, dark)
    return channels, is_light, ~is_even | (np.maximum(from_white, from_black) >= VISIBLE_CONTRAST)


def _on_shade(canvas: Pixels, n_channels: int, shade: int) -> Pixels:
    """Composite RGBA, (n, size, size, 4), on black (0) or white (255): channels, (n, 1 or 3, size, size)."""
    alpha = canvas[:, None, ..., 3]
    if n_channels == 1:
        return np.asarray(~alpha & np.uint8(shade))
    blend = np.stack([canvas[..., channel] for channel in range(3)], axis=1).astype(np.uint16)
    blend *= alpha
    blend += (255 - alpha) * np.uint16(shade) + np.uint16(128)
    blend += blend >> 8
    return (blend >> 8).astype(np.uint8)  # exactly blend / 255, rounded


GRID = 64
_COLOUR = 48
"""Of 255, between a pixel's strongest channel and its weakest: the slate greys of interfaces (#64748b) reach 39."""
_HUE_SHARE = 0.05
"""Of the coloured pixels; fewer of one hue are its edge with another."""


def shows_colour(channels: Pixels) -> Mask:
    """Which pixels show a colour, and no shade of grey: of RGB, or one channel, (n, 3 or 1, size, size)."""
    return np.asarray(channels.max(axis=1) - channels.min(axis=1) > _COLOUR)


def measure(channels: Pixels, *, on_light: Mask) -> NDArray[np.int8]:
    """Measure pictures on their grounds, (n, 3 or 1, size, size), on which they show: an `Ink` each, (n, 9)."""
    if channels.shape[2:] != (GRID, GRID):
        planes = channels.reshape(-1, *channels.shape[2:])
        grids = [np.asarray(Image.fromarray(plane).resize((GRID, GRID), Image.Resampling.BOX)) for plane in planes]
        channels = np.reshape(grids, (*channels.shape[:2], GRID, GRID))
    depth = np.where(on_light[:, None, None], 255 - channels.min(axis=1), channels.max(axis=1))
    top = depth.max(axis=(1, 2)).astype(np.int64)
    some, half, dark = (
        _rows(depth > least.astype(np.uint8)[:, None, None]) for least in (top // 10, top // 2, top * 3 // 4)
    )
    n_some, n_half = _count(some), _count(half)
    _, *thick = accumulate(range(4), lambda rows, _: _worn(rows), initial=half)
    shown = shows_colour(channels)
    n_shown = np.count_nonzero(shown, axis=(1, 2))
    n_hues = n_shown  # none in one channel
    if channels.shape[1] > 1:  # sixths of the colour circle differ in which channel exceeds which
        red, green, blue = (channels[:, channel] for channel in range(3))
        sixths = (red > green) + 2 * (green > blue) + 4 * (blue > red)
        hues = [np.count_nonzero(shown & (sixths == sixth), axis=(1, 2)) > _HUE_SHARE * n_shown for sixth in range(8)]
        n_hues = np.sum(hues, axis=0)
    ink = [  # as `Ink` has them
        _percent(n_some, GRID * GRID),
        _percent(_count(_worn(some & ~dark)), n_some),
        _percent(n_half, _count(_enclosed(half))),
        *(_percent(_count(rows), n_half) for rows in thick),
        _percent(n_shown, n_some),
        n_hues,
    ]
    return np.stack(ink, axis=1).astype(np.int8)


def _rows(mask: Mask) -> NDArray[np.uint64]:
    return np.packbits(mask, axis=2).view(">u8")[..., 0].astype(np.uint64)


def _count(rows: NDArray[np.uint64]) -> Ids:
    return np.asarray(np.bitwise_count(rows).sum(axis=1), np.int64)


def _percent(part: Ids, whole: Ids | int) -> Ids:
    return np.asarray((200 * part + whole) // (2 * whole), np.int64)


def _worn(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Take a pixel off every edge: what has all eight neighbours is left."""
    across, worn = rows & rows >> 1 & rows << 1, np.zeros_like(rows)
    worn[:, 1:-1] = across[:, :-2] & across[:, 1:-1] & across[:, 2:]
    return worn


def _enclosed(rows: Any) -> NDArray[np.uint64]:
    """Find the pixels that have ink on all four sides, or are ink."""
    right = left = rows
    for step in (1, 2, 4, 8, 16, 32):
        right, left = right | right >> step, left | left << step
    down = np.bitwise_or.accumulate(rows, axis=1)
    return np.asarray(right & left & down & np.bitwise_or.accumulate(rows[:, ::-1], axis=1)[:, ::-1], np.uint64)


MAX_SVG_BYTES = 1_000_000

# Groups are atomic: without that, a file of many comments and no <svg> takes exponential time to refuse.
SVG_START = re.compile(
    rb"(?>\xef\xbb\xbf)?\s*+"
    rb"(?>(?>(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?>\[.*?\]\s*+>|>))\s*+)*)"
    rb"<(?>[A-Za-z_][\w.-]*+:)?svg(?=[\s/>])",
    re.DOTALL,
)
_XML_DECLARATION = re.compile(
    r"""\A(?:\s+<\?xml\b|<\?xml\b(?!\s+version=["']1\.0["'](?:\s+encoding=["']utf-8["'])?(?:\s+standalone=\S+?)?\s*\?>)).*?\?>""",
    re.DOTALL | re.IGNORECASE,
)
"""One that is not plain: it names the encoding that is just being left, or a version that no browser asks for."""
_ENCODING = re.compile(rb"""\s*<\?xml\b[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']""")
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
# Entities are how a small file grows without end, or reads other files. What stands for a short text without markup or
# another entity does neither, and old exports of Illustrator abbreviate their namespaces so.
_PLAIN_ENTITY = re.compile(rb"""<!ENTITY\s+[\w:][\w:.-]*\s+(?>"[^"&%<]{0,200}"|'[^'&%<]{0,200}')\s*>""")
_ATTRIBUTE = re.compile(rb"\s(width|height|viewBox)\s*=\s*[\"']([^\"']{1,80})[\"']")


def svg_document(content: bytes) -> bytes | None:
    """The SVG's text, unpacked and in an encoding that the checks below can read; None for anything but an SVG."""
    content = _gunzip(content) if content.startswith(b"\x1f\x8b") else content
    if content.startswith(_UTF16_STARTS) or (
        SVG_START.match(content) and not (content.startswith(b"<svg") and content.isascii())
    ):
        content = _XML_DECLARATION.sub("", webencodings.decode(content, _encoding(content))[0], count=1).encode()
    if SVG_START.match(content) is None:
        return None
    if len(content) > MAX_SVG_BYTES:
        raise RenderError(f"SVG of {len(content) / 1e6:.2f} MB, the limit is {MAX_SVG_BYTES / 1e6:.0f} MB")
    if b"<!ENTITY" in content and content.count(b"<!ENTITY") != len(_PLAIN_ENTITY.findall(content)):
        raise RenderError("svg: declares entities (<!ENTITY) that are more than short plain text")
    return content


def _encoding(content: bytes) -> webencodings.Encoding:
    """What an SVG is written in that has no mark, as browsers take it."""
    if b"\0" in content[:2]:
        return webencodings.lookup("utf-16le" if content[0] else "utf-16be")
    known = webencodings.lookup(found[1].decode()) if (found := _ENCODING.match(content)) else None
    # Some say UTF-16 that are not.
    return webencodings.UTF8 if known is None or known.name.startswith("utf-16") else known


def _gunzip(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(content, MAX_SVG_BYTES + 1)
    except zlib.error as error:
        raise RenderError(f"svgz: {error}") from error
    if len(unpacked) > MAX_SVG_BYTES:
        raise RenderError(f"SVGZ that unpacks to more than {MAX_SVG_BYTES / 1e6:.0f} MB")
    if not unpacker.eof:
        raise RenderError("truncated SVGZ")
    return unpacked


def stated_side(document: bytes) -> float | None:
    """The longer side in px as the root element states it, None where it states nothing plain."""
    start = SVG_START.match(document)
    assert start is not None
    stated = dict(_ATTRIBUTE.findall(document[start.end() : document.find(b">", start.end(), start.end() + 4000)]))
    of_box = stated.get(b"viewBox", b"").replace(b",", b" ").split()[2:4]
    sides = [stated[b"width"], stated[b"height"]] if {b"width", b"height"} <= stated.keys() else of_box
    try:
        longer = max(float(side.removesuffix(b"px")) for side in sides)
    except ValueError:
        return None
    return longer if 0 < longer < math.inf else None


RECIPE = 1
"""Changes whenever the same bytes give other pixels, so that vectors of two recipes are never mixed."""

MAX_BITMAP_PIXELS = 64_000_000
MAX_SCREEN_PIXELS = 36_000_000
"""Of a picture that is not made smaller: a screen of 8K has 33 million."""

_BITMAP_STARTS = {
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"BM": "BMP",
    b"RIFF": "WEBP",
    b"....ftypavi[fs]": "AVIF",
    **dict.fromkeys(ICON_FILES, "ICO"),
}
_COLOURED_SHARE = 0.001
"""Of all pixels: a badge of three pixels' radius has 28 of 4,096, the rim of a grey shape in a JPEG fewer than 4."""
_SVG_MOVES = (b"<animate", b"<set ", b"keyframes ")
"""By SMIL or by a style sheet; scripts never run here."""
_MOVING_BITMAPS = ("AVIF", "GIF", "PNG", "WEBP")

_CSS_DPI, _VIPS_DPI = 96, 72
"""An inch is 96 px in CSS. libvips takes it for 72 unless set, and then draws everything larger by their ratio."""


class Made(NamedTuple):
    """How a picture was made."""

    animated: bool
    roughness: int = 0
    """0 of what is drawn in lines and areas; then bitmaps, the transparent ones first, the larger of them first."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One picture as the model sees it: `pixels` is uint8 RGB, (size, size, 3), C-contiguous."""

    pixels: NDArray[np.uint8]
    background: Literal["light", "dark"]
    coloured: bool
    made: Made
    ink: NDArray[np.int8]
    """How its ink lies, by which styles differ: the numbers of an `Ink`."""


def render(content: bytes, *, size: int) -> Rendered:
    """Draw a picture so that its longer side is `size` pixels.

    Raises RenderError, whose message is the reason (`BLANK`, "not a picture", "truncated PNG", "svg: ...").
    """
    [laid] = lay([decode(content, size=size)], size=size)
    if laid is None:
        raise RenderError(BLANK)
    return laid


def draw(content: bytes, *, size: int) -> NDArray[np.uint8]:
    """Draw a picture on nothing: RGBA, (height, width, 4), longer side `size`, colours not weighed by alpha.

    Raises RenderError as `render` does, but never for a blank picture.
    """
    picture, _ = decode(content, size=size)
    return picture if picture.shape[2] == 4 else np.dstack([picture, np.full(picture.shape[:2], 255, np.uint8)])


def as_png(pixels: Pixels) -> bytes:
    """Write RGB or RGBA, (height, width, 3 or 4), as a PNG."""
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG")
    return written.getvalue()


def decode(content: bytes, *, size: int | None) -> tuple[NDArray[np.uint8], Made]:
    """RGB or RGBA, (height, width, 3 or 4), and how it was made; natural size where `size` is None.

    Raises RenderError as `draw` does.
    """
    document = svg_document(content)
    if document is None:
        return _draw_bitmap(content, size=size)
    moves = any(map(document.__contains__, _SVG_MOVES))
    if is_styled(document):
        from indexer.rendering.styles import written_out  # few pictures need it

        document = written_out(document)
    picture = _draw_svg(document, size=size)
    if moves and not picture[..., 3].any():
        from indexer.rendering.styles import most_seen

        picture = _draw_svg(most_seen(document), size=size)
    return picture, Made(moves)


@functools.cache
def libvips() -> Any:
    """Libvips, set up once: one thread a process (workers are processes) and no cache, which would only fill memory."""
    import pyvips

    pyvips.concurrency_set(1)
    pyvips.cache_set_max(0)
    return pyvips


def _draw_svg(document: bytes, *, size: int | None) -> NDArray[np.uint8]:
    """RGBA, longer side `size`, or natural size. A buffer has no address, so librsvg reads no file that it names."""
    vips = libvips()
    try:
        image, width, height = (
            _scaled_svg(document, size=size) if size else _load_svg(document, scale=_VIPS_DPI / _CSS_DPI)
        )
        if not size and width * height > MAX_SCREEN_PIXELS:
            raise RenderError(f"svg: of more than {MAX_SCREEN_PIXELS // 1_000_000} million pixels")
        # A region is drawn in this thread; write_to_memory() starts a pool of threads first, a third of an icon's time.
        drawn = vips.Region.new(image).fetch(0, 0, width, height)
    except vips.Error as error:
        # The lines before the last one only say which operation it was.
        last = [line.strip() for line in str(error).splitlines() if line.strip()][-1]
        raise RenderError(f"svg: {re.sub(r'^(?:svgload_buffer|glib): ', '', last)}") from error
    return np.frombuffer(drawn, np.uint8).reshape(height, width, 4)


def _scaled_svg(document: bytes, *, size: int) -> tuple[Any, int, int]:
    """A vips image, not drawn yet, whose longer side is `size`; its width and height, which pyvips is slow to tell.

    The size that the root element states saves a second parse. A statement that is missing or misleading (units, style
    sheets) costs one, never the result: what counts is the side that librsvg arrives at.
    """
    stated = stated_side(document)
    scale = size / stated * _VIPS_DPI / _CSS_DPI if stated else 1.0
    for attempt in range(5 if stated else 4):  # sides are whole pixels, so a small picture's scale is vague at first
        image, width, height = _load_svg(document, scale=scale)
        if max(width, height) == size:
            return image, width, height
        scale = scale * size / max(width, height) if attempt or not stated else 1.0
    raise RenderError(f"svg: cannot be scaled to {size} px")


def _load_svg(document: bytes, *, scale: float) -> tuple[Any, int, int]:
    # Options in one string, and the height without a property: pyvips looks those up one by one.
    vips = libvips()
    image = vips.Operation.call("svgload_buffer", document, string_options=f"dpi={_CSS_DPI},scale={scale!r}")
    return image, image.width, vips.vips_lib.vips_image_get_page_height(image.pointer)


def _draw_bitmap(content: bytes, *, size: int | None) -> tuple[NDArray[np.uint8], Made]:
    """RGB or RGBA, longer side `size`, or natural size: an animation's first frame, an ICO's largest entry."""
    kind = next((kind for start, kind in _BITMAP_STARTS.items() if re.match(start, content, re.DOTALL)), None)
    if kind is None:
        raise RenderError("not a picture" if content else "empty file")
    most_pixels = MAX_BITMAP_PIXELS if size else MAX_SCREEN_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # An ICO's entries tell their true size only when they are decoded; there Pillow's own bound holds.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(_best_icon(content) if kind == "ICO" else content), formats=[kind]) as image:
                if image.width * image.height > most_pixels:
                    raise Image.DecompressionBombError  # noqa: TRY301 - as Pillow's own
                largest = int(4 * math.log2(max(image.size)))  # before a JPEG is decoded at a part of its size
                picture, moves = np.asarray(_decoded(image, size=size)), _does_bitmap_move(image, kind)
                with suppress(EOFError):
                    while moves and picture.shape[2] == 4 and not picture[..., 3].any():
                        image.seek(image.tell() + 1)
                        picture = np.asarray(_decoded(image, size=size))
                is_clear = picture.shape[2] == 4 and picture[..., 3].min() < 255
                return picture, Made(moves, (1 if is_clear else 64) + max(0, 60 - largest))
        except Exception as error:  # hostile bytes make a decoder raise anything, from struct.error to IndexError
            raise RenderError(_bitmap_reason(error, kind=kind, most_pixels=most_pixels)) from error


def _best_icon(content: bytes) -> bytes:
    """Make an ICO of the largest and deepest picture of an ICO or a cursor.

    Where none of 32 bits has any alpha, 24 are said to count, so that its mask does: so browsers take it.
    """
    pictures = []
    for at in range(6, 6 + 16 * content[4], 16):
        length, start = struct.unpack_from("<II", content, at + 8)
        picture, sides = content[start : start + length], content[at : at + 2]
        header, width, height, depth = struct.unpack_from("<III2xH", picture)
        if picture.startswith(b"\x89PNG"):
            depth = 32
        elif depth == 32 and not any(picture[header + 3 : header + 2 * width * height : 4]):
            depth = 24
        area = (sides[0] or 256) * (sides[1] or 256)
        pictures.append((area, depth, struct.pack("<HHH2sHHHII", 0, 1, 1, sides, 0, 1, depth, length, 22) + picture))
    return max(pictures)[2]


def _does_bitmap_move(image: Image.Image, kind: str) -> bool:
    """Whether an opened bitmap has more than one frame."""
    try:
        return kind in _MOVING_BITMAPS and bool(getattr(image, "is_animated", False))
    except Exception:  # hostile bytes make a decoder raise anything; a second frame that can't be read moves nothing
        return False


def _bitmap_reason(error: Exception, *, kind: str, most_pixels: int) -> str:
    match error:
        case Image.DecompressionBombWarning() | Image.DecompressionBombError():
            return f"{kind} of more than {most_pixels // 1_000_000} million pixels"
        case UnidentifiedImageError():
            return f"{kind}: its header cannot be read"
    said = str(error) or type(error).__name__
    if isinstance(error, EOFError) or "truncated" in said.lower():
        return f"truncated {kind}"
    return f"{kind}: {said.splitlines()[0]}"


def _decoded(image: Image.Image, *, size: int | None) -> Image.Image:
    """RGB or RGBA, upright, its longer side `size`."""
    if size:
        width, height = _fitted(image, size=size)
        image.draft(None, (2 * width, 2 * height))  # a JPEG is decoded at 1/2, 1/4 or 1/8 already; the rest is bicubic
    image = _eight_bit(ImageOps.exif_transpose(image))
    mode = "RGBA" if image.has_transparency_data else "RGB"
    image = image.convert(mode)
    if not size:
        return image
    # Weighed by alpha ("RGBa"), so that the colour that hides under transparent pixels does not bleed into the edges.
    weighed = image.convert("RGBa") if mode == "RGBA" else image
    return weighed.resize(_fitted(image, size=size), Image.Resampling.BICUBIC, reducing_gap=3.0).convert(mode)


def _fitted(image: Image.Image, *, size: int) -> tuple[int, int]:
    longer = max(image.size)
    return max(1, round(image.width * size / longer)), max(1, round(image.height * size / longer))


def _eight_bit(image: Image.Image) -> Image.Image:
    """16-bit grey in 8 bits. Pillow's own conversion cuts every value above 255 to white."""
    if not image.mode.startswith("I"):
        return image
    deep = np.asarray(image).astype(np.int64).clip(0, 65535)
    grey = Image.fromarray(((deep * 255 + 32767) // 65535).astype(np.uint8))
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        grey.putalpha(Image.fromarray(np.where(deep == transparent, 0, 255).astype(np.uint8)))
    return grey
