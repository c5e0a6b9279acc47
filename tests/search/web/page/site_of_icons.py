"""What the page is tried on: 100 icons with the bundled model, and a server for them."""

import base64
import json
import shutil
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn
from click.testing import CliRunner

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.cli import main
from search.engine import SearchEngine
from search.web.connections import Limits
from search.web.serve import create_app

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOOKS = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}
SAMPLES = bundled("samples/lucide-static")
CHOSEN = (
    *("arrow-left", "arrow-right", "arrow-up", "arrow-down", "undo", "undo-2", "settings", "shopping-cart", "bell-off"),
    *("moon", "bed", "triangle-alert", "trash", "trash-2", "house", "heart", "copy", "save", "circle-alert", "bell"),
)
RED = "#d7263d"
DRAWN = (  # name, style, tags, categories, licence, what is drawn
    ("arrow-left", "outline", "back", "arrows", "MIT", '<path d="M21 12H3l8 8M3 12l8-8" fill="none" stroke="#000"/>'),
    ("arrow-left", "filled", "back", "arrows", "MIT", '<path d="M2 12L13 2v6h9v8h-9v6z"/>'),
    ("tulip", "filled", "flower", "nature", "CC-BY-4.0", f'<rect x="3" y="3" width="18" height="18" fill="{RED}"/>'),
    ("snow", "filled", "winter", "nature", "CC-BY-4.0", '<circle cx="12" cy="12" r="10" fill="#fff"/>'),
    ("night", "filled", "dark", "nature", "MIT", '<circle cx="12" cy="12" r="11"/>'),
    (
        *("spinner", "outline", "wait", "media", "MIT"),
        '<circle cx="12" cy="12" r="9" fill="none" stroke="#000" stroke-dasharray="40"><animateTransform dur="1s" '
        'attributeName="transform" type="rotate" values="0 12 12;360 12 12" repeatCount="indefinite"/></circle>',
    ),
    (
        *("trap", "filled", "danger", "media", "MIT"),
        '<script>document.title = "stolen"; top.document.title = "stolen"</script>'
        '<path onload="top.document.title = \'stolen\'" d="M2 22L12 2l10 20z"/>',
    ),
)


def looks(quick: str) -> list[object]:
    """All looks of the page as parameters, of which the gate tries one."""
    slow = pytest.mark.slow
    return [pytest.param(look, marks=() if name == quick else slow, id=name) for name, look in LOOKS.items()]


def write_icons(root: Path) -> list[Path]:
    """Two sources: some of Lucide, and a manifest of icons in colours, in white, moving, and dangerous."""
    lucide = root / "lucide-static"
    (lucide / "icons").mkdir(parents=True)
    shutil.copy(SAMPLES / "package.json", lucide)
    files = sorted((SAMPLES / "icons").glob("*.svg"))
    for file in {*files[::24], *(SAMPLES / "icons" / f"{name}.svg" for name in CHOSEN)}:
        shutil.copy(file, lucide / "icons")
    drawn = root / "drawn"
    drawn.mkdir()
    lines = []
    for number, (name, style, tags, categories, licence, body) in enumerate(DRAWN):
        file = drawn / f"{name}-{number}.svg"
        file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>')
        row = {"file_path": file.name, "name": name, "style": style, "tags": tags, "categories": categories}
        lines.append(json.dumps({**row, "licence": licence, "set": "drawn"}))
    (drawn / "dot.png").write_bytes(square_png(16, grey=90))
    dot = {"file_path": "dot.png", "name": "dot", "tags": "bullet, circle, full stop, mark, period, point"}
    lines.append(json.dumps({**dot, "set": "drawn", "licence": "MIT"}))
    (drawn / "icons.jsonl").write_text("\n".join(lines) + "\n")
    return [lucide, drawn / "icons.jsonl"]


def square_png(side: int, *, grey: int) -> bytes:
    """A grey square in white, as PNG."""
    edge = side // 4
    rows = [
        bytes([0, *(grey if edge <= x < side - edge and edge <= y < side - edge else 255 for x in range(side))])
        for y in range(side)
    ]

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")


def build_library(root: Path, *sources: Path) -> Library:
    """Index with the bundled model, as a user does; the bundled samples where no source is given."""
    arguments = ["index", *map(str, sources), "--library", str(root), "--devices", "cpu", "--workers", "0"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return Library(root)


@contextmanager
def serve_library(library: Library, *, port: int = 0) -> Iterator[str]:
    """Serve a library until the block ends, however it does: its thread would keep Python alive."""
    listening = socket.create_server(("127.0.0.1", port))
    app = create_app(SearchEngine.open(library.root), Limits(seconds=60))  # a search that is late is not asked again
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


_PIXEL = """async ([shot, x, y]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${shot}`;
  await image.decode();
  const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
  pen.drawImage(image, 0, 0);
  return [...pen.getImageData(x, y, 1, 1).data.slice(0, 3)];
}"""


def pixel(page: "Page", shot: bytes, *, x: int, y: int) -> list[int]:
    """The colour of one pixel of a screenshot, told by the browser itself."""
    colour: list[int] = page.evaluate(_PIXEL, [base64.b64encode(shot).decode(), x, y])
    return colour
