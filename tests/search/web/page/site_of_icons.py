"""What the page is tried on: 100 icons with the bundled model, and a server for them."""

import io
import json
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from PIL import Image, ImageColor
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.engine import SearchEngine
from search.web.connections import Limits
from search.web.serve import create_app

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., "Page"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ZOOMED = {"viewport": {"width": 640, "height": 430}, "device_scale_factor": 2}
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": PHONE,
    "200 %": ZOOMED,
    "forced": {"forced_colors": "active"},
}
SAMPLES = bundled("samples/lucide-static")
CHOSEN = (
    *("arrow-left", "arrow-right", "arrow-up", "arrow-down", "undo", "undo-2", "settings", "shopping-cart", "bell-off"),
    *("moon", "bed", "triangle-alert", "trash", "trash-2", "house", "heart", "copy", "save", "circle-alert", "bell"),
)
RED = "#d7263d"
CLIPBOARD = "() => navigator.clipboard.readText()"
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
    dot_png = Image.new("L", (16, 16), 255)
    dot_png.paste(90, (4, 4, 12, 12))
    dot_png.save(drawn / "dot.png")
    dot = {"file_path": "dot.png", "name": "dot", "tags": "bullet, circle, full stop, mark, period, point"}
    lines.append(json.dumps({**dot, "set": "drawn", "licence": "MIT"}))
    (drawn / "icons.jsonl").write_text("\n".join(lines) + "\n")
    return [lucide, drawn / "icons.jsonl"]


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


Text = str | re.Pattern[str] | list[str]


def shows(page: "Page", state: Mapping[str, Text | bool | int], *, url: str = "") -> None:
    """Wait until each place is as it should be: the text of the first that a selector finds, or all texts, whether it
    is seen, or how many there are; and until the address is like a pattern.
    """
    for selector, expected in state.items():
        found = page.locator(selector)
        if expected is True:
            expect(found.first).to_be_visible()
        elif expected is False:
            expect(found.filter(visible=True)).to_have_count(0)
        elif isinstance(expected, int):
            expect(found).to_have_count(expected)
        else:
            expect(found if isinstance(expected, list) else found.first).to_have_text(expected)
    expect(page).to_have_url(re.compile(url or "."))


def click(page: "Page | Locator", *buttons: str) -> None:
    """Click buttons by their names, one after the other."""
    for name in buttons:
        page.get_by_role("button", name=name, exact=True).first.click()


def press(page: "Page", *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def tile(page: "Page", name: str) -> "Locator":
    """The first tile of a name."""
    return page.locator("#grid button.tile", has=page.locator(f'.name:text-is("{name}")')).first


def requests_of(page: "Page") -> list[str]:
    """Addresses that a page asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def choose(page: "Page", *names: str, n: int = 0) -> None:
    """Keep icons by their names, until so many are kept."""
    for name in names:
        page.locator("#words").fill(name)
        shows(page, {"#summary": re.compile(f"“{name}”")})
        tile(page, name).focus()
        press(page, "x")
    shows(page, {"#tray strong": re.compile(rf"^{n or len(names)} icons?$")})


def save_collection(page: "Page", name: str) -> None:
    """Save what is kept under a name."""
    click(page, "Save as collection")
    page.get_by_label("Name", exact=True).fill(name)
    click(page, "Save")
    shows(page, {"#naming": 0})


def shelf(page: "Page") -> "Locator":
    """Open the list of collections."""
    click(page, "Kept icons")
    shows(page, {"#shelf": True})
    return page.locator("#shelf")


def centre(picture: "Locator") -> tuple[int, ...]:
    """Colour in the middle of what is painted."""
    with Image.open(io.BytesIO(picture.screenshot())) as shot:
        return tuple(shot.convert("RGB").getpixel((shot.width // 2, shot.height // 2)))  # type: ignore[arg-type]


def expect_centre(page: "Page", picture: "Locator", colour: str) -> None:
    """Wait until it is painted so: a picture comes a moment after its tile."""
    expected = ImageColor.getrgb(colour)
    for _ in range(50):
        with suppress(PlaywrightError):  # its tile was drawn anew meanwhile
            if centre(picture) == expected:
                return
        page.wait_for_timeout(100)
    assert centre(picture) == expected
