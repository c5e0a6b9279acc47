"""Hostile pictures, made when they are needed: what each file holds, and whether it is drawn or why it is refused.

Whatever is drawn shows the same black square on white. A drawing that read a file, fetched an address or ran a script
would show a red one. Bitmaps are cut, lie about their size, are wrongly labelled, or of an unusual kind; names are in
every alphabet, or what a shell or a file system could take for something else.
"""

import base64
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hostile_svgs import SQUARE, plain_square, svg, svgs
from PIL import Image
from small_icons import saved

from indexer.library.folder import Library
from indexer.library.shards import read_vectors

_WORDS = (
    "стрелка",
    "βέλος",
    "سهم",
    "חץ",
    "तीर",
    "矢印",
    "화살표",
    "箭头",
    "ลูกศร",
    "სამკუთხედი",
    "նետ",
    "ቀስት",
    "бұрғы",
    "mũi-tên",
    "şimşek",
    "straße",
    "İstanbul",
    "\ufb01ligrane",
    "\U0001d49c\U0001d4c7",
    "👩‍👩‍👧‍👦",
    "❤️",
    "🏳️‍🌈",
    "e\u0301\u0327\u0323" * 20,
)
_SIGNS = (
    "new\nline",
    "tab\tstop",
    "return\rhere",
    "bell\a",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\a",
    "\x9b31m",
    "\x7fdelete",
    'double"quote',
    "single'quote",
    "back\\slash",
    "back`tick",
    "$(touch pwned)",
    ";rm -rf .",
    "-rf",
    "--help",
    "~",
    "%s%n",
    "{0}",
    "[/red]",
    "[bold]",
    "<b>bold",
    "&amp;",
    "' OR 1=1 --",
    '"); DROP TABLE icons;--',
    "a*b?",
    "#2",
    "a#2",
    " leading",
    "trailing ",
    "…",
    "...",
    "CON",
    "\u202etfel",
    "\u200b",
    "\ufeffmark",
    "\u2028line",
    "\ufffd",
    "\U0010ffff",
)
_PAIRS = ("Twin", "twin", "TWIN", "caf\u00e9", "cafe\u0301", "\u212bngstrom", "\u00c5ngstrom", "A\u030angstrom")
"""Names that differ by case or by Unicode's normal form only."""
_BYTES = (b"latin-\xe9", b"\xff\xfe", b"cut-\xe2\x82", b"overlong-\xc0\xaf", b"surrogate-\xed\xa0\x80")

NAMES = (*_WORDS, *_SIGNS, *_PAIRS, *(name.decode("utf-8", "surrogateescape") for name in _BYTES), "n" * 251)


Named = tuple[str, bytes, str | None]
KINDS = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "BMP": "bmp", "WEBP": "webp", "ICO": "ico"}


def square(mode: str = "RGB", side: int = 32) -> Image.Image:
    image = Image.new("RGB", (side, side), "white")
    image.paste((0, 0, 0), (side // 4, side // 4, side * 3 // 4, side * 3 // 4))
    return image.convert(mode)


def bitmaps() -> Iterator[Named]:
    """Yield (file name, content, pattern of the reason or None where the square is drawn)."""
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
    for kind, suffix in KINDS.items():
        whole = saved(noise, kind)
        yield from (
            (f"cut-half.{suffix}", whole[: len(whole) // 2], rf"^(truncated )?{kind}"),
            (f"cut-header.{suffix}", whole[:14], rf"^(truncated )?{kind}"),
            (f"garbage.{suffix}", whole[:12] + np.random.default_rng(1).bytes(3000), rf"^(truncated )?{kind}"),
            (f"zeros.{suffix}", whole[:8] + bytes(3000), rf"^(truncated )?{kind}|not a picture"),
            (f"trailing.{suffix}", saved(square(), kind) + b"trailing" * 1000, None),
            (f"random.{suffix}", np.random.default_rng(2).bytes(3000), "not a picture"),
            (f"empty.{suffix}", b"", "empty file"),
            (f"html.{suffix}", b"<!DOCTYPE html><html><svg></svg></html>" + suffix.encode(), "not a picture"),
        )
    yield from _lies()
    yield from _pngs()
    yield from _others()
    yield from _inside()
    yield from _labels()


def png(width: int, height: int, *chunks: tuple[bytes, bytes], depth: int = 8, colour: int = 2) -> bytes:
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)), *chunks, (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, parts))


def one_bit(side: int) -> bytes:
    """A black picture of one bit a pixel: it packs to a thousandth, and unpacks to four bytes a pixel."""
    packer = zlib.compressobj(1)
    row = bytes(1 + side // 8)
    pixels = b"".join(packer.compress(row * 1000) for _ in range(side // 1000)) + packer.flush()
    return png(side, side, (b"IDAT", pixels), depth=1, colour=0)


def _webp(width: int, height: int) -> bytes:
    """The header of a lossless WebP, and nothing of its pixels."""
    data = b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14) + bytes(64)
    return b"RIFF" + struct.pack("<I", 12 + len(data)) + b"WEBPVP8L" + struct.pack("<I", len(data)) + data


def _chunk(part: tuple[bytes, bytes]) -> bytes:
    kind, data = part
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _lies() -> Iterator[Named]:
    """Pictures that state more pixels than anybody draws; all but one hold next to none."""
    limit = "of more than 64 million pixels$"
    for name, side in {"100-megapixels": 10_000, "terapixel": 1_000_000, "beyond": 2**31 - 1}.items():
        yield f"png-{name}.png", png(side, side, (b"IDAT", zlib.compress(b"\0"))), limit
    for name, side in {"65500": 65_500, "20000": 20_000}.items():
        jpeg = bytearray(saved(square(), "JPEG"))
        start = jpeg.index(b"\xff\xc0")
        jpeg[start + 5 : start + 9] = struct.pack(">HH", side, side)
        yield f"jpeg-{name}.jpg", bytes(jpeg), limit
        gif = bytearray(saved(square("P"), "GIF"))
        gif[6:10] = struct.pack("<HH", side, side)
        yield f"gif-{name}.gif", bytes(gif), limit
        bmp = bytearray(saved(square(), "BMP"))
        bmp[18:26] = struct.pack("<ii", side, side)
        yield f"bmp-{name}.bmp", bytes(bmp), limit
    yield "png-zero.png", png(0, 0, (b"IDAT", zlib.compress(b""))), r"^PNG"
    yield "bmp-negative.bmp", bytes(bmp[:18]) + struct.pack("<ii", -64, -64) + bytes(bmp[26:]), r"BMP"
    packed = one_bit(10_000)
    yield "png-real-100-megapixels.png", packed, limit
    yield "webp-16383.webp", _webp(16_383, 16_383), limit
    entry = struct.pack("<BBBBHHII", 0, 0, 0, 0, 1, 32, len(packed), 22)
    yield from (
        ("ico-100-megapixels.ico", struct.pack("<HHH", 0, 1, 1) + entry + packed, limit),
        ("ico-65535-entries.ico", struct.pack("<HHH", 0, 1, 65_535) + entry, "ICO"),
        ("ico-itself.ico", struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", 9, 9, 0, 0, 1, 32, 22, 0), "ICO"),
        (
            "ico-beyond.ico",
            struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", 9, 9, 0, 0, 1, 32, 99, 2**31),
            "ICO",
        ),
    )


def _pngs() -> Iterator[Named]:
    """What a PNG may carry beside its pixels."""
    rows = np.zeros((32, 1 + 32 * 3), np.uint8)
    rows[:, 1:] = np.asarray(square()).reshape(32, -1)
    pixels = zlib.compress(rows.tobytes())
    bomb = zlib.compress(bytes(20_000_000), 9)
    yield from (
        ("text-bomb.png", png(32, 32, (b"zTXt", b"k\0\0" + bomb), (b"IDAT", pixels)), "^PNG: "),
        ("profile-bomb.png", png(32, 32, (b"iCCP", b"k\0\0" + bomb), (b"IDAT", pixels)), "^PNG: "),
        ("pixels-bomb.png", png(32, 32, (b"IDAT", zlib.compress(rows.tobytes() + bytes(20_000_000), 9))), None),
        ("many-chunks.png", png(32, 32, *[(b"tEXt", b"k\0v")] * 50_000, (b"IDAT", pixels)), None),
        (
            "two-headers.png",
            png(32, 32, (b"IHDR", struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0)), (b"IDAT", pixels)),
            "^PNG: ",
        ),
        ("no-pixels.png", png(32, 32), r"PNG"),
        ("no-palette.png", png(32, 32, (b"IDAT", pixels), colour=3), r"PNG|blank"),
        ("odd-depth.png", png(32, 32, (b"IDAT", pixels), depth=7), r"^PNG"),
        ("exif-broken.png", png(32, 32, (b"eXIf", b"MM\0*\xff\xff\xff\xff"), (b"IDAT", pixels)), None),
        ("frames-declared.png", png(32, 32, (b"acTL", struct.pack(">II", 2**31 - 1, 0)), (b"IDAT", pixels)), None),
        ("bad-sum.png", png(32, 32, (b"IDAT", pixels)).replace(b"IDAT", b"IDAT\0"), r"PNG"),
    )
    for mode in ("1", "L", "LA", "P", "RGBA", "I;16"):
        image = square("L" if mode == "I;16" else mode)
        if mode == "I;16":
            image = Image.fromarray(np.asarray(image).astype(np.uint16) * 257)
        yield f"mode-{mode.replace(';', '-')}.png", saved(image, "PNG"), None
    yield "one-pixel-faint.png", saved(Image.new("RGBA", (1, 1), (255, 0, 0, 2)), "PNG"), "blank"
    yield "one-pixel-clear.png", saved(Image.new("RGBA", (1, 1)), "PNG"), "blank"


def _others() -> Iterator[Named]:
    yield from (
        ("cmyk.jpg", saved(square("CMYK"), "JPEG", quality=95), None),
        ("grey.jpg", saved(square("L"), "JPEG", quality=95), None),
        ("progressive.jpg", saved(square(), "JPEG", quality=95, progressive=True), None),
    )
    exif = Image.Exif()
    exif[0x0112] = 6
    yield "turned.jpg", saved(square(), "JPEG", quality=95, exif=exif), None
    exif[0x0112] = 99
    yield from (
        ("turned-oddly.jpg", saved(square(), "JPEG", quality=95, exif=exif), None),
        (
            "exif-broken.jpg",
            saved(square(), "JPEG", quality=95, exif=b"Exif\0\0MM\0*\xff\xff\xff\xff" + b"\xff" * 99),
            None,
        ),
        ("exif-loop.jpg", saved(square(), "JPEG", quality=95, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\x08"), None),
    )
    frames = [Image.new("RGB", (32, 32), "red")] * 300
    for kind, suffix in (("GIF", "gif"), ("PNG", "png"), ("WEBP", "webp")):
        options = {"lossless": True} if kind == "WEBP" else {}
        yield (
            f"moving.{suffix}",
            saved(square(), kind, save_all=True, append_images=frames, duration=10, **options),
            None,
        )
    yield "clear.gif", saved(Image.new("P", (64, 64)), "GIF", transparency=0), "blank"
    yield "wave.webp", b"RIFF\x24\0\0\0WAVEfmt " + bytes(40), "WEBP"


def _inside() -> Iterator[Named]:
    """A bitmap within an SVG."""
    data = base64.b64encode(one_bit(20_000)).decode()
    hidden = f'<image x="-30" width="24" height="24" href="data:image/png;base64,{data}"/>'
    yield "data-400-megapixels.svg", svg(SQUARE + hidden), "want of memory|took longer"


def _labels() -> Iterator[Named]:
    """The kind is told from the content: a wrong suffix does no harm, and what is no picture is called so."""
    yield from (
        ("png-as.jpg", saved(square(), "PNG"), None),
        ("svg-as.png", svg(SQUARE + "<!-- as a PNG -->"), None),
        ("gif-as.ico", saved(square("P"), "GIF"), None),
        ("tiff-as.png", saved(square(), "TIFF"), "not a picture"),
        ("pdf-as.png", b"%PDF-1.7\n", "not a picture"),
        ("zip-as.png", b"PK\x03\x04" + bytes(100), "not a picture"),
        ("program-as.png", b"\x7fELF" + bytes(100), "not a picture"),
        ("postscript-as.png", b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) run", "not a picture"),
        ("text-as.webp", b"RIFFRAFF", "WEBP"),
    )


@dataclass(frozen=True, slots=True)
class Case:
    """One file of the corpus; `reason` is a pattern of why it is refused, None where the square is drawn."""

    path: str
    content: bytes
    reason: str | None = None

    @property
    def is_slow(self) -> bool:
        """Takes as long as it is let: only a limit of time or memory ends it."""
        return self.reason is not None and "took longer" in self.reason


def cases(secret: Path, port: int) -> Iterator[Case]:
    """Yield all pictures; the canaries in `secret` must not be read, `port` must not be asked."""
    for name, content, reason in svgs(secret, port):
        yield Case(f"svg/{name}.svg", content, reason)
    for name, content, reason in bitmaps():
        yield Case(f"bitmap/{name}", content, reason)
    for number, name in enumerate(NAMES):
        yield Case(f"names/{name}.svg", plain_square(f"name {number}"))


def write(folder: Path, found: list[Case]) -> None:
    """Write the corpus; the same bytes in every run."""
    for case in found:
        file = folder / case.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(case.content)


def vectors_by_digest(library: Library, fingerprint: str) -> dict[bytes, bytes]:
    """The vector of each picture that has one, by the digest of its content."""
    with closing(sqlite3.connect(library.catalog)) as connection:
        digests = dict(connection.execute("SELECT id, digest FROM images ORDER BY id"))
    ids = np.array([*digests], np.int64)
    found, filled = read_vectors(library.vectors(fingerprint), "images", ids, fingerprint=fingerprint)
    return {digests[number]: found[row].tobytes() for row, number in enumerate(ids.tolist()) if filled[row]}
