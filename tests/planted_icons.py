"""Sample icons with one defect of every kind, each planted into an icon of its own."""

from collections.abc import Callable
from pathlib import Path

from lint_icons import copy_samples, shapes_of, text_of
from PIL import Image

_METADATA = (
    '<metadata xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:RDF><rdf:Description rdf:about="drawing"/>'
    + "<!-- exported -->" * 3
    + "</rdf:RDF></metadata>"
)
_PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def _replaced(name: str, old: str, new: str) -> str:
    text = text_of(name)
    assert old in text
    return text.replace(old, new)


def _with(name: str, more: str) -> str:
    return text_of(name).replace("</svg>", f"{more}</svg>")


def _moved(name: str, transform: str) -> str:
    return text_of(name).replace(shapes_of(name), f'<g transform="{transform}">{shapes_of(name)}</g>')


PLANTED: dict[str, tuple[str, Callable[[], str], set[str]]] = {
    "a copy": ("album-2", lambda: text_of("album"), {"identical"}),
    "a copy moved by a hair": ("tractor-2", lambda: _moved("tractor", "translate(.3 .2)"), {"near-duplicate"}),
    "a larger canvas": (
        "bell-plus",
        lambda: _moved("bell-plus", "scale(1.33333333)").replace("0 0 24 24", "0 0 32 32"),
        {"view-box"},
    ),
    "no viewBox": ("cog", lambda: _replaced("cog", 'viewBox="0 0 24 24"', ""), {"view-box"}),
    "a line out of the canvas": (
        "equal-approximately",
        lambda: _with("equal-approximately", '<path d="M-3 12h30"/>'),
        {"out-of-bounds", "live-area"},
    ),
    "a line up to the edge": ("book-search", lambda: _with("book-search", '<path d="M12 1.3v21.4"/>'), {"live-area"}),
    "beside the middle": ("chevron-left", lambda: _moved("chevron-left", "translate(-5 0)"), {"off-centre"}),
    "a thinner stroke": ("dna-off", lambda: _replaced("dna-off", 'width="2"', 'width="1.5"'), {"stroke-width"}),
    "scaled by a group": (
        "power",
        lambda: _moved("power", "translate(3 3) scale(.75)"),
        {"stroke-width"},
    ),
    "butt ends": ("git-branch-plus", lambda: _replaced("git-branch-plus", 'cap="round"', 'cap="butt"'), {"line-cap"}),
    "sharp turns": ("sword", lambda: _replaced("sword", 'join="round"', 'join="miter"'), {"corner"}),
    "a sharp rectangle": (
        "mail-search",
        lambda: _with("mail-search", '<rect x="6" y="8" width="3" height="3"/>'),
        {"radius"},
    ),
    "a colour": ("balloon", lambda: _replaced("balloon", "currentColor", "#e11d48"), {"colour"}),
    "a colour in a style sheet": (
        "clipboard",
        lambda: _with("clipboard", "<style>.lucide{stroke:#1d4ed8}</style>"),
        {"colour"},
    ),
    "pixels": ("radar", lambda: _with("radar", f'<image href="{_PIXEL}" width="1" height="1"/>'), {"raster"}),
    "text": ("form", lambda: _with("form", '<text x="9" y="9" font-size="3">a</text>'), {"text"}),
    "a script": ("menu", lambda: _with("menu", "<script>fetch('/')</script>"), {"active"}),
    "a handler": ("move", lambda: _replaced("move", "<svg", '<svg onload="fetch()"'), {"active"}),
    "metadata": ("siren", lambda: _with("siren", _METADATA), {"bloat"}),
    "nothing": ("ribbon", lambda: text_of("ribbon").replace(shapes_of("ribbon"), ""), {"blank"}),
    "half a file": ("shrimp", lambda: text_of("shrimp")[:150], {"broken"}),
}

_PAIRS = (("ambulance", "croissant"), ("thumbs-up", "database-check"), ("hamburger", "playing-card"))
EXCHANGED = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}


def plant(folder: Path) -> Path:
    """Copy samples into a new folder, and plant all defects."""
    copy_samples(folder)
    for name, drawn, _ in PLANTED.values():
        (folder / f"{name}.svg").write_text(drawn(), "utf-8")
    for one, other in EXCHANGED.items():
        (folder / f"{one}.svg").write_text(text_of(other))
    Image.new("RGB", (24, 24), "red").save(folder / "photo.png")
    return folder
