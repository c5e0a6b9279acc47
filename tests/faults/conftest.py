"""A library in the middle of its life, and a way to run its stages on a disk that fails."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from disk import compile_layer
from faults import Stages, draw, svg


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        pytest.skip("the counting file layer needs Linux and a C compiler")
    folder = tmp_path_factory.mktemp("layer")
    running = Stages(compile_layer(folder), folder / "log")
    yield running
    running.close()


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a few icons, one of them broken, one twice."""
    folder = tmp_path_factory.mktemp("drawings") / "icons"
    folder.mkdir()
    for number, letter in enumerate("abcde"):
        draw(folder, f"dot-{letter}", 4 + 3 * number, 12)
    draw(folder, "twin", 4, 12)
    (folder / "broken.svg").write_text("<svg")
    return folder


@pytest.fixture(scope="session")
def grown(stages: Stages, drawings: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of two generations, whose icons have changed since: one is new, changed, moved, gone, in part broken."""
    library = tmp_path_factory.mktemp("grown") / "library"
    given = {"sources": [str(drawings)], "model": str(tiny_model)}
    assert stages.result("index", library, given=given) == 1
    draw(drawings, "dot-f", 20, 20)
    assert stages.result("index", library, given=given) == 2
    draw(drawings, "new", 9, 20)
    draw(drawings, "dot-b", 9, 5)
    (drawings / "dot-c.svg").rename(drawings / "dot-z.svg")
    (drawings / "dot-d.svg").unlink()
    (drawings / "blank.svg").write_text(svg(""))
    return library
