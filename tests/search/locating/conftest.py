"""A library of two sets: sample icons, and some of them in thin lines."""

from pathlib import Path

import pytest
from conftest import Once, index_bundled
from screens_with_icons import KEYS

from indexer.library.bundled import bundled
from search.engine import SearchEngine


@pytest.fixture(scope="session")
def samples(once: Once) -> Path:
    return once("located", _build) / "library"


def _build(folder: Path) -> None:
    files = {file.stem: file.read_text("utf-8") for file in sorted(bundled("samples").rglob("*.svg"))}
    for number, (name, svg) in enumerate(files.items()):
        if name in KEYS or number % 12 == 0:
            _write(folder / "lucide" / f"{name}.svg", svg)
        if name in KEYS or number % 40 == 0:
            _write(folder / "thin" / f"{name}.svg", svg.replace('stroke-width="2"', 'stroke-width="1"'))
    index_bundled(folder / "library", folder / "lucide", folder / "thin")


def _write(path: Path, svg: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(svg, "utf-8")


@pytest.fixture(scope="session")
def engine(samples: Path) -> SearchEngine:
    return SearchEngine.open(samples)
