"""Eight icons of two sets, with a bitmap, a packed SVG and a name that a terminal could take for orders."""

import gzip
import io
import json
from pathlib import Path

from PIL import Image

from indexer.library.stores import spelled
from indexer.sources.records import PictureAddress

ARROW = '<path d="M14 4l-8 8 8 8v-5h7v-6h-7z"/>'
HOUSE = '<path d="M12 3l9 8h-3v10H6V11H3z"/>'
ROWS = [
    {"file_path": "arrow-left.svg", "name": "arrow-left", "set": "own", "tags": "back, west", "categories": "arrows"},
    {"file_path": "filled.svg", "name": "arrow-left-filled", "set": "own", "tags": "back", "categories": "arrows"},
    {"file_path": "arrow-right.svg", "name": "arrow-right", "set": "own", "tags": "forward", "categories": "arrows"},
    {"file_path": "house.svg", "name": "house", "set": "own", "tags": "home", "categories": "places", "size": 24},
    {"file_path": "other.svg", "name": "house", "set": "other", "licence": "GPL-3.0-only"},
    {"file_path": "logo.png", "name": "logo", "set": "other", "licence": "GPL-3.0-only"},
    {"file_path": "packed.svgz", "name": "packed", "set": "other"},
    {"file_path": "odd.svg", "name": "[red]odd[/nothing] \x1b[31mname", "set": "other"},
]


def picture_at(kind: str, location: Path, path: str, member: str, *, digest: bytes = b"") -> PictureAddress:
    """The address of a picture in a source; without a digest whatever lies there."""
    return PictureAddress(kind, spelled(location), path, member, digest)


def drawn(body: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'


def draw_sources(folder: Path) -> Path:
    """Draw the icons and list them in a manifest."""
    folder.mkdir()
    bodies = {
        "arrow-left": ARROW,
        "filled": '<path d="M15 2L4 12l11 10v-6h7V8h-7z"/>',
        "arrow-right": '<path d="M10 4l8 8-8 8v-5H3v-6h7z"/>',
        "house": HOUSE,
        "other": '<path d="M2 12L12 2l10 10v9H2z"/>',
        "odd": '<circle cx="8" cy="8" r="6"/>',
    }
    for name, body in bodies.items():
        (folder / f"{name}.svg").write_text(drawn(body))
    picture = Image.new("RGB", (48, 48), "white")
    picture.paste((200, 30, 30), (8, 8, 30, 40))
    picture.save(folder / "logo.png")
    (folder / "packed.svgz").write_bytes(gzip.compress(drawn('<path d="M4 4h9v16H4z"/>').encode()))
    (folder / "icons.jsonl").write_text("\n".join([json.dumps({"licence": "MIT", **row}) for row in ROWS]) + "\n")
    return folder / "icons.jsonl"


BOMB = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"><defs>'
    '<g id="a0"><rect width="9" height="9"/></g>'
    + "".join(f'<g id="a{n}">' + f'<use xlink:href="#a{n - 1}"/>' * 10 + "</g>" for n in range(1, 8))
    + '</defs><use xlink:href="#a7"/></svg>'
).encode()
"""Ten million shapes in 2 kB."""

SLOW = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><filter id="a" x="0" y="0" width="1" height="1">'
    + '<feTurbulence baseFrequency=".9" numOctaves="9"/>' * 100
    + "</filter>"
    + '<rect width="9" height="9" filter="url(#a)"/>' * 100
    + "</svg>"
).encode()
"""A minute of noise, and no limit of the library that draws it is near."""


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """A bitmap as it lies in a file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()
