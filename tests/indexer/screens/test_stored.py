from pathlib import Path

import pytest

from indexer.errors import SourceError
from indexer.screens.stored import LINES, Screen, ScreenIcon, ScreenWriter, read_screens

SCREEN = Screen("00000.png", 20, 10, 1, "board", "dark", 7, (ScreenIcon((1, 2, 9, 8), "mdi:home", "inline"),))


def test_a_screen_is_read_as_it_was_written(tmp_path: Path) -> None:
    ScreenWriter(tmp_path).write(SCREEN, b"a picture")
    assert read_screens(tmp_path) == [SCREEN]
    assert (tmp_path / "00000.png").read_bytes() == b"a picture"


def test_a_line_that_was_cut_off_by_a_kill_is_forgotten(tmp_path: Path) -> None:
    ScreenWriter(tmp_path).write(SCREEN, b"a picture")
    with (tmp_path / LINES).open("a") as lines:
        lines.write('{"file": "00001.png", "wid')
    writer = ScreenWriter(tmp_path)
    assert list(writer.done) == ["00000.png"]
    assert (tmp_path / LINES).read_text().count("\n") == 1


@pytest.mark.parametrize("line", ["{}", "nonsense", "[1]"])
def test_what_is_no_screen_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / LINES).write_text(f"{line}\n")
    with pytest.raises(SourceError, match="line 1: not a screen"):
        read_screens(tmp_path)


def test_a_folder_without_screens_says_how_they_are_made(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"python -m indexer\.screens render"):
        read_screens(tmp_path)
