"""A library of what exports meet: icons of a package with its licence, colours, gradients, sheets, bitmaps, traps."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Once, build_library
from PIL import Image
from small_icons import BOMB, drawn

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.engine import SearchEngine

SAMPLES = bundled("samples/lucide-static")
N_SAMPLES = 12
EVIL_TITLE = '--><script>alert(1)</script>*/ }\n\u202e" /> `${x}`'
_GRADIENT = (
    '<defs><linearGradient id="a" x1="0" x2="1"><stop stop-color="{}"/><stop offset="1" stop-color="{}"/>'
    '</linearGradient><clipPath id="b"><circle cx="12" cy="12" r="{}"/></clipPath></defs>'
    '<rect width="24" height="24" fill="url(#a)" clip-path="url(#b)"/>'
)
ROWS = (  # name, set, licence, what is drawn
    ("house", "plain", "MIT", '<path d="M12 3l9 8h-3v10H6V11H3z"/>'),
    ("House", "plain", "MIT", '<path d="M12 2l10 9h-3v10H5V11H2z"/>'),
    ("wide-bar", "plain", "MIT", '<path d="M2 9h20v6H2z"/>'),
    ("sunrise", "colours", "CC-BY-4.0", _GRADIENT.format("#f00", "#ff0", 11)),
    ("sunset", "colours", "CC-BY-4.0", _GRADIENT.format("#00f", "#0ff", 7)),
    (
        *("knot", "colours", "CC-BY-4.0"),
        '<defs><g id="a"><path d="M4 4h6v6H4z"/></g><mask id="b"><path fill="#fff" d="M0 0h24v12H0z"/></mask></defs>'
        '<use href="#a"/><use xlink:href="#a" x="9" y="4" fill="#c0f"/>'
        '<g mask="url(#b)"><circle cx="12" cy="12" r="5"/></g>',
    ),
    (
        *("sheet-red", "colours", "CC-BY-4.0"),
        "<style>.cls-1{fill:#d00;opacity:.5}.cls-2,#dot{fill:none;stroke:#090}</style>"
        '<path class="cls-1" d="M2 2h9v20H2z"/><circle class="cls-2" cx="17" cy="7" r="4"/>'
        '<circle id="dot" cx="17" cy="17" r="4"/>',
    ),
    ("sheet-blue", "colours", "CC-BY-4.0", '<style>.cls-1{fill:#00d}</style><path class="cls-1" d="M4 4h16v16H4z"/>'),
    (
        *("hover", "colours", "CC-BY-4.0"),
        '<style>path:hover{fill:red}</style><path d="M4 4h16v9H4z"/>',
    ),
    (
        *("twice", "shared", "MIT"),
        '<symbol id="s" viewBox="0 0 9 9"><path d="M0 0h9v9H0z"/></symbol><use href="#s" width="9" height="9"/>',
    ),
    ("ghost", "shared", "GPL-3.0-only", '<path d="M4 4h16v16H4z" opacity=".4"/><path d="M8 8h8v8H8z"/>'),
    ("blue", "shared", "CC-BY-NC-4.0", '<path d="M4 4h16v16H4z" fill="#00f"/>'),
    ("turned", "shared", "MIT", '<path d="M4 4h16v9H4z"/>'),
    ("hole", "shared", "CC-BY-NC-4.0", '<path fill-rule="evenodd" d="M2 2h20v20H2zM8 8h8v8H8z"/>'),
    (
        *("trap", "traps", ""),
        '<script>alert(1)</script><path onload="alert(2)" d="M2 22L12 2l10 20z"/><a href="javascript:alert(3)">'
        '<path d="M1 1h2v2H1z"/></a><foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onclick="alert(4)"/>'
        '</foreignObject><image href="https://example.com/beacon.png" width="3" height="3"/>'
        "<style>@import 'https://example.com/x.css';</style>",
    ),
)


def write_sources(root: Path) -> list[Path]:
    """A manifest of drawn icons, some of Lucide as its package, and a set of Iconify."""
    folder = root / "own"
    folder.mkdir(parents=True)
    rows = []
    for number, (name, own_set, licence, body) in enumerate(ROWS):
        turn = ' transform="rotate(45)"' if name == "turned" else ""
        svg = drawn(body).replace("<svg ", f'<svg xmlns:xlink="http://www.w3.org/1999/xlink"{turn} ')
        (folder / f"{number}.svg").write_text(svg)
        rows.append({"file_path": f"{number}.svg", "name": name, "set": own_set, "licence": licence})
    Image.new("RGB", (48, 48), "red").save(folder / "logo.png")
    (folder / "bomb.svg").write_bytes(BOMB)
    traps = {"logo.png": "logo", "odd.svg": "\u732b <b>\x1b[31m"}
    rows += [{"file_path": file, "name": name, "set": "traps"} for file, name in traps.items()]
    (folder / "odd.svg").write_text(drawn('<path d="M3 5h18v3H3z"/>'))
    (folder / "icons.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    package = root / "lucide-static"
    (package / "icons").mkdir(parents=True)
    shutil.copy(SAMPLES / "package.json", package)
    shutil.copy(SAMPLES / "LICENSE", package)
    files = sorted((SAMPLES / "icons").glob("*.svg"))
    for file in {*files[:: len(files) // N_SAMPLES][:N_SAMPLES], SAMPLES / "icons" / "bell.svg"}:
        shutil.copy(file, package / "icons")
    return [folder / "icons.jsonl", package, *_write_hostile(root)]


def _write_hostile(root: Path) -> list[Path]:
    """A set whose title, author and names are attacks, and drawings that are too much."""
    wild = '<path fill="none" stroke="#000" stroke-width="9" stroke-dasharray=".0001" d="M0 0h24v24H0z"/>'
    twins = '<g id="a"><path id="a" d="M1 1h9v9H1z"/></g><use href="#a" x="9"/>'
    info = {"name": EVIL_TITLE, "author": {"name": EVIL_TITLE}, "license": {"title": EVIL_TITLE}}
    icons = {
        "ok": {"body": '<path d="M2 2h20v9H2z"/>'},
        "dashes": {"body": wild},
        "twins": {"body": twins},
        '"><x y="': {"body": '<path d="M2 2h9v9H2z"/>'},
        "flat": {"body": '<path d="M2 2h9v9H2z"/>', "width": 200, "height": 10},
    }
    whole = {"prefix": "evil", "info": info, "icons": icons, "width": 24, "height": 24}
    (root / "evil.json").write_text(json.dumps(whole))
    (root / "bombs").mkdir()
    (root / "bombs" / "bomb.svg").write_bytes(BOMB)
    (root / "bombs" / "fine.svg").write_text(drawn('<path d="M2 2h20v9H2z"/>'))
    return [root / "evil.json", root / "bombs"]


@pytest.fixture(scope="package")
def library_of_many(once: Once, tiny_model: Path) -> Path:
    """No test changes it or its sources."""

    def write(folder: Path) -> None:
        build_library(Library(folder / "library"), tiny_model, write_sources(folder))

    return once("exported", write) / "library"


@pytest.fixture(scope="package")
def engine(library_of_many: Path) -> SearchEngine:
    return SearchEngine.open(library_of_many)
