"""What isolation costs is measured on clean icons, against processes that take no care at all."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.bench.isolation import measure
from indexer.errors import BenchError
from indexer.rendering.slots import Job
from indexer.sources.records import content_digest
from search.cli import main


@pytest.mark.slow
def test_clean_icons_are_drawn_both_ways_and_the_cost_is_told() -> None:
    done = CliRunner().invoke(main, ["bench", "isolation", "--images", "64", "--repeats", "1", "--workers", "1"])
    assert done.exit_code in (0, 1)
    assert done.stdout.startswith("64 pictures, 1 processes: ")
    assert "MB a worker" in done.stdout


def test_what_is_no_file_of_its_own_or_no_clean_icon_is_refused(tmp_path: Path) -> None:
    inside = Job(0, "iconify", str(tmp_path), "set.json", "home", b"")
    with pytest.raises(BenchError, match="holds icons inside files; give a folder of SVG files"):
        measure([inside], size=16, workers=1, repeats=1)
    (tmp_path / "broken.svg").write_text("<svg")
    broken = Job(0, "folder", str(tmp_path), "broken.svg", "", content_digest(b"<svg"))
    with pytest.raises(BenchError, match=r"broken\.svg"):
        measure([broken], size=16, workers=1, repeats=1)
