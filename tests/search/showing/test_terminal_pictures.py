"""What does a terminal get? A real pseudo-terminal, which answers as kitty, a sixel terminal or a plain one does."""

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from terminal import KITTY, PLAIN, SIXEL, in_terminal


def house(asked: Path, *options: str) -> list[str | Path]:
    return ["search", "--library", asked, "house", "--set", "own", "--min-score", "0", "-k", "1", *options]


DARK = {b"\x1b]11;?": b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", **PLAIN}
LIGHT = {b"\x1b]11;?": b"\x1b]11;rgb:fd/f6/e3\x07", **PLAIN}


@pytest.mark.parametrize(
    ("answers", "stated", "paper", "ink"),
    [
        (PLAIN, "", "255;255;255", "0;0;0"),
        (DARK, "0;15", "30;30;46", "232;232;232"),
        pytest.param(LIGHT, "", "253;246;227", "0;0;0", marks=pytest.mark.slow),
        pytest.param(PLAIN, "15;0", "0;0;0", "232;232;232", marks=pytest.mark.slow),
        pytest.param(PLAIN, "0;default;15", "255;255;255", "0;0;0", marks=pytest.mark.slow),
    ],
)
def test_half_blocks_stand_above_the_table_on_the_ground_that_the_terminal_has_or_states(
    asked: Path, answers: dict[bytes, bytes], stated: str, paper: str, ink: str
) -> None:
    code, shown = in_terminal(*house(asked), answers=answers, COLORFGBG=stated)
    blocks = [line for line in shown.splitlines() if "▀" in line]
    assert (code, len(blocks), {line.count("▀") for line in blocks}) == (0, 8, {16})
    assert f"\x1b[38;2;{paper};48;2;{paper}m" in blocks[0] and f"38;2;{ink};48;2;{ink}m" in blocks[5]
    assert shown.index("▀") < shown.index("1 house") < shown.index("score") and "\x1b]11;rgb" not in shown


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ((), {"ICONS_PICTURES": "0"}),
        *(
            pytest.param(options, how, marks=pytest.mark.slow)
            for options, how in (
                *(((), {"TERM": "dumb"}), ((), {"NO_COLOR": "1"}), ((), {"cells": (0, 0)}), (("--json",), {})),
            )
        ),
    ],
)
def test_where_nothing_is_to_be_drawn_the_terminal_is_not_asked(
    asked: Path, options: tuple[str, ...], how: dict[str, Any]
) -> None:
    code, shown = in_terminal(*house(asked, *options), answers=KITTY, **how)
    assert code == 0 and "house" in shown
    assert not any(sign in shown for sign in ("\x1b_G", "▀", "\x1b[c", "Traceback"))
    assert "NO_COLOR" not in how or "\x1b[" not in shown


def test_kitty_gets_the_pixels_that_were_indexed(asked: Path) -> None:
    from indexer.rendering.render import render

    code, shown = in_terminal(*house(asked), answers=KITTY)
    sent = "".join(re.findall(r"\x1b_Gi=\d+,m=[01],f=100,q=2;([^\x1b]+)\x1b", shown))
    with Image.open(io.BytesIO(base64.b64decode(sent))) as picture:
        assert picture.size == (80, 80)
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    drawn = render((asked.parent / "icons" / "house.svg").read_bytes(), size=80).pixels.astype(int)
    assert np.abs(pixels - drawn).mean() < 6
    assert code == 0 and "\U0010eeee" in shown and "▀" not in shown


def test_a_sixel_terminal_gets_sixels(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=SIXEL)
    assert (code, shown.count("\x1bP")) == (0, 1)
    assert "▀" not in shown and "\U0010eeee" not in shown


def test_a_picture_from_a_pipe_leaves_the_terminal_its_pictures(asked: Path, shot: Path) -> None:
    arguments = ["search", "--library", asked, "--image", "-", "--min-score", "0", "-k", "1"]
    code, shown = in_terminal(*arguments, answers=KITTY, piped=shot.read_bytes())
    assert code == 0 and "\U0010eeee" in shown, shown


@pytest.mark.slow
def test_a_terminal_that_never_answers_gets_half_blocks_and_no_trace(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers={}, pixels=(0, 0))
    assert code == 0 and "▀" in shown
    assert "Traceback" not in shown and "assuming" not in shown


@pytest.mark.slow
def test_show_draws_the_icon_above_its_facts(asked: Path) -> None:
    code, shown = in_terminal("show", "--library", asked, "own:house")
    assert code == 0 and shown.index("▀") < shown.index("categories")
