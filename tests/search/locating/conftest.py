"""A library of two sets: sample icons, and some of them in thin lines."""

from pathlib import Path

import pytest
from conftest import Once, index_bundled
from known_screens import KEYS

from indexer.library.bundled import bundled
from search.engine import SearchEngine


@pytest.fixture(scope="session")
def samples(once: Once) -> Path:
    return once("located", _build) / "library"


def _build(folder: Path) -> None:
    files = {file.stem: file.read_text("utf-8") for file in sorted(bundled("samples").rglob("*.svg"))}
    for key, step, width in (("lucide", 12, 2), ("thin", 40, 1)):
        (folder / key).mkdir()
        for number, (name, svg) in enumerate(files.items()):
            if name in KEYS or number % step == 0:
                drawn = svg.replace('stroke-width="2"', f'stroke-width="{width}"')
                (folder / key / f"{name}.svg").write_text(drawn, "utf-8")
    index_bundled(folder / "library", folder / "lucide", folder / "thin")


@pytest.fixture(scope="session")
def engine(samples: Path) -> SearchEngine:
    return SearchEngine.open(samples)
