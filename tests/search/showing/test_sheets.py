"""Sheets of hits: every picture in one file, written whole."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from PIL import Image

from indexer.errors import IconsError
from indexer.rendering.render import render
from search.engine import SearchEngine
from search.showing.sheets import sheet_png

Run = Callable[..., Result]
ALL = ("--min-score", "0", "--flat", "-k", "50")


def test_a_png_sheet_shows_every_hit_as_it_was_indexed(run: Run, asked: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "hits.PNG"
    done = run("search", "house", "--set", "own", *ALL, "--sheet", sheet)
    assert f"wrote {sheet}" in done.stderr
    with Image.open(sheet) as opened:
        pixels = np.asarray(opened.convert("RGB"))
    for name in ("house", "arrow-left", "filled", "arrow-right"):
        drawn = render((asked.parent / "icons" / f"{name}.svg").read_bytes(), size=96).pixels
        assert any(drawn[48].tobytes() in row.tobytes() for row in pixels), name


def test_an_html_sheet_shows_every_hit_and_runs_no_script(run: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "new folder" / "hits.html"
    run("search", "<script>alert(1)</script> house", *ALL, "--sheet", sheet)
    page = sheet.read_text()
    assert page.count("<img ") == 8 and "<script" not in page
    assert "H4sI" not in page, "a packed SVG, which browsers don't unpack"


def test_a_png_of_more_hits_than_memory_holds_is_refused(asked: Path) -> None:
    engine = SearchEngine.open(asked)
    hit = engine.show(engine.find("own:house")).hit
    with pytest.raises(IconsError, match=r"ask for 1,000 with -k, or write \.html"):
        sheet_png("house", [(hit, None)] * 1001)


@pytest.mark.parametrize("name", ["sheet.html", "sheet.png"])
def test_a_sheet_is_written_whole_over_an_old_one(run: Run, tmp_path: Path, name: str) -> None:
    sheet = tmp_path / name
    sheet.write_bytes(b"old")
    assert run("search", "--like", "own:house", *ALL, "--sheet", sheet).exit_code == 0
    assert sheet.stat().st_size > 1000
    assert [path.name for path in tmp_path.iterdir()] == [name]
