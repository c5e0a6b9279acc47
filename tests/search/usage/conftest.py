"""A library of sample icons in two sets, and screenshots with some of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import Once, index_bundled
from known_screens import plain_sight, saved, screen

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
    ours = {name for number, name in enumerate(files) if number % 40 == 0} - set(THEIRS.values()) | set(OURS)
    drawn = {f"ours/{name}.svg": files[name] for name in files if name in ours}
    drawn |= {f"theirs/{name}.svg": files[drawn_like] for name, drawn_like in THEIRS.items()}
    for place in ("ours", "theirs", "shots"):
        (folder / place).mkdir()
    for place, content in drawn.items():
        (folder / place).write_text(content, "utf-8")
    index_bundled(folder / "library", folder / "ours", folder / "theirs")
    engine, keys = SearchEngine.open(folder / "library"), [f"ours:{name}" for name in OURS]
    saved(screen(engine, [keys[0], keys[1], keys[9], keys[8]]), folder / "shots/a.png")
    saved(screen(engine, [*keys[1:6], keys[1]], ground=(18, 20, 26), ink=(235, 235, 240)), folder / "shots/b.png")
    saved(screen(engine, ["theirs:bell", "theirs:bell", keys[6]]), folder / "shots/c.png")
    library = Library(folder / "library")
    add(library, AddOptions(shots=[folder / "shots"]), lambda *_: None, sight=plain_sight(library))


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
