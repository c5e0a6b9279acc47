"""A library of sample icons in two sets, and screenshots with some of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import Once, index_bundled
from PIL import Image
from screens_with_icons import saved, screen
from usage_screens import plain_sight

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.screens.add import AddOptions, add
from search.cli import main
from search.engine import SearchEngine
from search.screens.opened import UsageIndex

THEIRS = {"bell": "megaphone", "house": "hotel", "trash-2": "eraser", "star": "sparkles"}
"""Icons of the other set, by the sample icons that they are drawn like."""
OURS = ["heart", "search", "settings", "bell", "trash-2", "download", "calendar", "star", "house", "triangle-alert"]


@pytest.fixture(scope="session")
def used(once: Once) -> Path:
    """The library; the screens lie in `shots` beside it: two pages of ours, one of them dark, and one with theirs."""
    return once("used", _build) / "library"


def _build(folder: Path) -> None:
    files = {file.stem: file.read_text("utf-8") for file in sorted(bundled("samples").rglob("*.svg"))}
    for number, (name, svg) in enumerate(files.items()):
        if name in OURS or (number % 40 == 0 and name not in THEIRS.values()):
            _write(folder / "ours" / f"{name}.svg", svg)
    for name, drawn_like in THEIRS.items():
        _write(folder / "theirs" / f"{name}.svg", files[drawn_like])
    index_bundled(folder / "library", folder / "ours", folder / "theirs")
    _draw_screens(SearchEngine.open(folder / "library"), folder / "shots")
    library = Library(folder / "library")
    add(library, AddOptions(shots=[folder / "shots"]), lambda *_: None, sight=plain_sight(library))


def _write(path: Path, svg: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(svg, "utf-8")


def _draw_screens(engine: SearchEngine, folder: Path) -> None:
    folder.mkdir()
    ours = [f"ours:{name}" for name in OURS]
    saved(screen(engine, [ours[0], ours[1], ours[9], ours[8]]), folder / "a.png")
    saved(screen(engine, [*ours[1:6], ours[1]], ground=(18, 20, 26), ink=(235, 235, 240)), folder / "b.png")
    saved(screen(engine, ["theirs:bell", "theirs:bell", ours[6]]), folder / "c.png")


@pytest.fixture(scope="session")
def engine(used: Path) -> SearchEngine:
    return SearchEngine.open(used)


@pytest.fixture(scope="session")
def uses(used: Path) -> UsageIndex:
    return UsageIndex.open(used)


@pytest.fixture
def ask(used: Path) -> Callable[..., Result]:
    """Run `icons usage` over the library, or over another."""

    def run(*arguments: str | Path, library: Path = used) -> Result:
        return CliRunner().invoke(main, ["usage", *map(str, arguments), "--library", str(library)])

    return run


@pytest.fixture
def crop(used: Path, tmp_path: Path) -> Path:
    """A part of the first screenshot, cut out by hand: the search icon."""
    with Image.open(used.parent / "shots/a.png") as image:
        image.crop((174, 64, 210, 100)).save(tmp_path / "crop.png")
    return tmp_path / "crop.png"
