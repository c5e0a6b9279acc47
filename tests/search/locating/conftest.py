"""A library of two sets: sample icons, and some of them in thin lines."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from screens_with_icons import KEYS

from indexer.library.bundled import bundled
from search.cli import main
from search.engine import SearchEngine


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("located")
    files = {file.stem: file.read_text("utf-8") for file in sorted(bundled("samples").rglob("*.svg"))}
    for key, step, width in (("lucide", 12, 2), ("thin", 40, 1)):
        (folder / key).mkdir()
        for number, (name, svg) in enumerate(files.items()):
            if name in KEYS or number % step == 0:
                drawn = svg.replace('stroke-width="2"', f'stroke-width="{width}"')
                (folder / key / f"{name}.svg").write_text(drawn, "utf-8")
    sources = [str(folder / "lucide"), str(folder / "thin")]
    given = ["--devices", "cpu", "--workers", "0", "--library", str(folder / "library")]
    done = CliRunner().invoke(main, ["index", *sources, *given])
    assert done.exit_code == 0, done.output
    return folder / "library"


@pytest.fixture(scope="session")
def engine(samples: Path) -> SearchEngine:
    return SearchEngine.open(samples)
