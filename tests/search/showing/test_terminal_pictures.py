"""What does a terminal get? A real pseudo-terminal, which answers as kitty, a sixel terminal or a plain one does."""

import base64
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from terminal import KITTY, PLAIN, PROGRAM, SIXEL, in_terminal


def house(asked: Path, *options: str) -> list[str | Path]:
    return ["search", "--library", asked, "house", "--set", "own", "--min-score", "0", "-k", "1", *options]


def test_a_plain_terminal_gets_half_blocks_above_the_table(asked: Path) -> None:
    code, shown = in_terminal(*house(asked))
    assert code == 0
    blocks = [line for line in shown.splitlines() if "▀" in line]
    assert len(blocks) == 8
    assert {line.count("▀") for line in blocks} == {16}
    assert "\x1b[38;2;255;255;255;48;2;255;255;255m" in blocks[0], "white paper"
    assert "38;2;0;0;0;48;2;0;0;0m" in blocks[5], "black walls"
    assert shown.index("▀") < shown.index("1 house") < shown.index("score")


DARK = {b"\x1b]11;?": b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", **PLAIN}
LIGHT = {b"\x1b]11;?": b"\x1b]11;rgb:fd/f6/e3\x07", **PLAIN}


def test_on_a_dark_ground_icons_are_light_and_there_is_no_box(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=DARK, COLORFGBG="0;15")
    assert code == 0
    blocks = [line for line in shown.splitlines() if "▀" in line]
    assert "\x1b[38;2;30;30;46;48;2;30;30;46m" in blocks[0], "the terminal's own ground"
    assert "38;2;232;232;232;48;2;232;232;232m" in blocks[5], "light walls"
    assert "255;255;255" not in shown and "\x1b]11;rgb" not in shown


@pytest.mark.slow
def test_on_a_light_ground_icons_are_dark(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=LIGHT)
    assert code == 0
    blocks = [line for line in shown.splitlines() if "▀" in line]
    assert "\x1b[38;2;253;246;227;48;2;253;246;227m" in blocks[0]
    assert "38;2;0;0;0;48;2;0;0;0m" in blocks[5]


@pytest.mark.parametrize(
    ("stated", "paper"),
    [("15;0", "0;0;0"), *(pytest.param(one, "255;255;255", marks=pytest.mark.slow) for one in ("0;default;15", ""))],
)
def test_a_terminal_that_does_not_tell_its_ground_is_believed_its_environment(
    asked: Path, stated: str, paper: str
) -> None:
    code, shown = in_terminal(*house(asked), COLORFGBG=stated)
    assert code == 0
    assert f"\x1b[38;2;{paper};48;2;{paper}m" in next(line for line in shown.splitlines() if "▀" in line)


@pytest.mark.slow
def test_a_picture_from_a_pipe_does_not_keep_the_ground_from_being_asked(asked: Path, shot: Path) -> None:
    arguments = ["search", "--library", asked, "--image", "-", "--min-score", "0", "-k", "1"]
    code, shown = in_terminal(*arguments, answers=DARK, piped=shot.read_bytes())
    assert code == 0 and "38;2;30;30;46;48;2;30;30;46m" in shown


def test_kitty_gets_the_pixels_that_were_indexed(asked: Path) -> None:
    from indexer.rendering.render import render

    code, shown = in_terminal(*house(asked), answers=KITTY)
    assert code == 0
    sent = "".join(re.findall(r"\x1b_Gi=\d+,m=[01],f=100,q=2;([^\x1b]+)\x1b", shown))
    with Image.open(io.BytesIO(base64.b64decode(sent))) as picture:
        assert picture.size == (80, 80)
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    drawn = render((asked.parent / "icons" / "house.svg").read_bytes(), size=80).pixels.astype(int)
    assert np.abs(pixels - drawn).mean() < 6
    assert "\U0010eeee" in shown and "▀" not in shown


@pytest.mark.slow
def test_kitty_is_told_its_pictures_by_full_colours_whatever_the_environment_says(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=KITTY, COLORTERM="", TERM="xterm-kitty")
    assert code == 0
    places = [line for line in shown.splitlines() if "\U0010eeee" in line]
    assert len(places) == 4
    assert all("\x1b[38;2;" in line for line in places)


def test_a_sixel_terminal_gets_sixels(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=SIXEL)
    assert code == 0
    assert shown.count("\x1bP") == 1
    assert "▀" not in shown and "\U0010eeee" not in shown


def test_pictures_can_be_turned_off_by_the_environment(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=KITTY, ICONS_PICTURES="0")
    assert code == 0 and "house" in shown
    assert "\x1b_G" not in shown and "▀" not in shown and "\x1b[c" not in shown


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, pytest.param({"NO_COLOR": "1"}, marks=pytest.mark.slow)])
def test_a_terminal_that_can_draw_nothing_is_not_asked(asked: Path, environment: dict[str, str]) -> None:
    code, shown = in_terminal(*house(asked), **environment)
    assert code == 0 and "house" in shown
    assert "▀" not in shown and "\x1b[c" not in shown


@pytest.mark.slow
def test_what_is_meant_for_programs_brings_no_pictures(asked: Path) -> None:
    code, shown = in_terminal(*house(asked, "--json"), answers=KITTY)
    assert code == 0 and "\x1b" not in shown


def test_a_picture_from_a_pipe_leaves_the_terminal_its_pictures(asked: Path, shot: Path) -> None:
    arguments = ["search", "--library", asked, "--image", "-", "--min-score", "0", "-k", "1"]
    code, shown = in_terminal(*arguments, answers=KITTY, piped=shot.read_bytes())
    assert code == 0, shown
    assert "\U0010eeee" in shown


@pytest.mark.slow
def test_a_terminal_that_never_answers_gets_half_blocks_and_no_trace(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers={}, pixels=(0, 0))
    assert code == 0 and "▀" in shown
    assert "Traceback" not in shown and "assuming" not in shown


@pytest.mark.slow
def test_a_terminal_without_a_size_gets_a_table_alone(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), cells=(0, 0))
    assert code == 0 and "house" in shown
    assert "▀" not in shown and "Traceback" not in shown


@pytest.mark.slow
def test_show_draws_the_icon_above_its_facts(asked: Path) -> None:
    code, shown = in_terminal("show", "--library", asked, "own:house")
    assert code == 0
    assert shown.index("▀") < shown.index("categories")


@pytest.mark.slow
def test_a_pipe_gets_no_pictures(asked: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, *map(str, house(asked))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "house" in done.stdout
    assert "▀" not in done.stdout and "\x1b" not in done.stdout
