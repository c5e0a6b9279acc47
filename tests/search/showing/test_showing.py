"""Do answers fit the terminal, with every key and path whole; do icons show on every ground; are sheets whole?

A terminal is a real pseudo-terminal, which answers as kitty, a sixel terminal or a plain one does.
"""

import base64
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from conftest import svg
from matplotlib import get_data_path
from PIL import Image
from rich.cells import cell_len
from rich.console import Console
from terminal import KITTY, PLAIN, SIXEL, in_terminal

from indexer.errors import IconsError, RenderError
from indexer.library.folder import Library
from indexer.rendering.render import render
from search.engine import Hit, SearchEngine
from search.showing import sheets
from search.showing.sheets import sheet_png
from search.showing.tables import print_hits, print_long_hits
from search.showing.terminal import Colour, is_dark, tile

LONG = "material-symbols-light:keyboard-double-arrow-right-outline-rounded-and-then-some"


@pytest.fixture(scope="module")
def hits(called: Library) -> Sequence[Hit]:
    return SearchEngine.open(called.root).search("home", k=4)


def _lines(hits: Sequence[Hit], *, width: int, long: bool = False, **options: int | bool) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    (print_long_hits if long else print_hits)(console, hits, **options)  # type: ignore[arg-type]
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("is_ranked", [True, False])
def test_lines_fit_and_keys_are_whole(hits: Sequence[Hit], width: int, is_ranked: bool) -> None:
    head, *rows = _lines(hits, width=width, is_ranked=is_ranked)
    assert all(cell_len(line) <= width for line in [head, *rows])
    assert [row.split()[1 + is_ranked] for row in rows] == [hit.key for hit in hits]
    assert "key" in head and "licence" in head and ("set" in head) >= (width > 40) and ("score" in head) is is_ranked


def test_a_pipe_gets_lines_of_80_columns(hits: Sequence[Hit]) -> None:
    facts = {"set_title": "A set with a long title", "licence": "LicenseRef-of-its-own", "style": "sharp outline"}
    keys = ["a-set-of-icons:arrow-bend-double-up-right-outline", *(hit.key for hit in hits)]
    assert max(map(cell_len, _lines([replace(hits[0], key=key, **facts) for key in keys], width=200))) <= 80


def test_a_key_that_is_too_long_has_a_line_of_its_own(hits: Sequence[Hit]) -> None:
    told = [
        replace(hits[0], key=LONG, licence="Apache-2.0", style="rounded outline"),
        replace(hits[1], licence="LicenseRef-a-very-long-name-of-a-licence", set_title="Sätze " * 9 + "図形"),
    ]
    _, first, rest, second = _lines(told, width=80)
    assert (first.split()[-1], rest.split()[-1]) == (LONG, "Apache-2.0")
    assert cell_len(second) <= 80 and "…" in second


def test_a_path_is_one_word_however_narrow_the_terminal_is(hits: Sequence[Hit]) -> None:
    deep = replace(hits[0], path=str(Path("/", *["a folder with a long name"] * 9, "home.svg")), member="")
    assert deep.path in [line.strip() for line in _lines([deep], width=40, long=True)]


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
    hit = SearchEngine.open(asked).search("house", k=1)[0]
    with pytest.raises(IconsError, match=r"ask for 1,000 with -k, or write \.html"):
        sheet_png("house", [(hit, None)] * 1001)


def test_a_png_writes_names_in_a_font_that_has_their_signs_or_in_latin_letters(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, listed = SearchEngine.open(asked), tmp_path / "fc-list"
    hit = engine.show(engine.find("own:house")).hit
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def sheet(font: str, name: str) -> bytes:
        listed.write_text(f"#!/bin/sh\necho '{font}'")
        listed.chmod(0o755)
        sheets._font_with.cache_clear()
        return sheet_png("", [(replace(hit, name=name, words="over"), None)])

    assert sheet(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf: ", "Über") != sheet("", "Uber")
    assert sheet_png("", [(replace(hit, animated=True), None)]) != sheet_png("", [(hit, None)])  # which it says
    with pytest.warns(UserWarning, match="no font here has all signs"):
        assert (sheet("", "Über"), sheet("", "検索")) == (sheet("", "Uber"), sheet("", "over"))


@pytest.mark.parametrize("arguments", [("show", "own:arrow-left"), ("search", "house", "--why", "own:arrow-left")])
def test_sixty_columns_hold_all_but_a_path(asked: Path, arguments: tuple[str, ...]) -> None:
    code, shown = in_terminal(*arguments, "--library", asked, cells=(40, 60), ICONS_PICTURES="0", NO_COLOR="1")
    lines = [line for line in shown.splitlines() if str(asked.parent) not in line]
    assert code == 0 and "own:" in shown and "…" not in shown and max(map(len, map(str.rstrip, lines))) <= 60


@pytest.mark.parametrize("name", ["sheet.html", "sheet.png"])
def test_a_sheet_is_written_whole_over_an_old_one(run: Run, tmp_path: Path, name: str) -> None:
    sheet = tmp_path / name
    sheet.write_bytes(b"old")
    assert run("search", "--like", "own:house", *ALL, "--sheet", sheet).exit_code == 0
    assert sheet.stat().st_size > 1000 and [path.name for path in tmp_path.iterdir()] == [name]


NIGHT, CREAM = (30, 30, 46), (253, 246, 227)
BLACK = svg('<path d="M4 4h16v16h-16z"/>').encode()
RED = svg('<path fill="#e11" d="M4 4h16v16h-16z"/>').encode()
RED_AND_BLACK = svg('<path fill="#e11" d="M4 4h8v16h-8z"/><path d="M12 4h8v16h-8z"/>').encode()


@pytest.mark.parametrize(
    ("content", "ground", "corner", "middle"),
    [
        (BLACK, None, (255, 255, 255), (0, 0, 0)),
        (BLACK, NIGHT, NIGHT, (232, 232, 232)),
        (BLACK, CREAM, CREAM, (0, 0, 0)),
        (RED, NIGHT, NIGHT, (238, 17, 17)),
        (RED_AND_BLACK, NIGHT, (255, 255, 255), (238, 17, 17)),
        (RED_AND_BLACK, CREAM, CREAM, (238, 17, 17)),
    ],
)
def test_ink_shows_on_its_ground(content: bytes, ground: Colour | None, corner: Colour, middle: Colour) -> None:
    drawn = tile(content, size=24, ground=ground)
    assert (drawn.shape, drawn.dtype, *map(tuple, drawn[[0, 12], [0, 10]])) == ((24, 24, 3), np.uint8, corner, middle)


def test_a_wide_picture_stands_in_the_middle() -> None:
    wide = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"><path d="M0 0h24v12h-24z"/></svg>'
    drawn = tile(wide, size=24, ground=NIGHT)
    assert [tuple(drawn[row, 12]) for row in (5, 6, 17, 18)] == [NIGHT, (232, 232, 232), (232, 232, 232), NIGHT]


@pytest.mark.parametrize("ground", [None, NIGHT, CREAM])
def test_what_is_no_picture_is_refused(ground: Colour | None) -> None:
    with pytest.raises(RenderError):
        tile(b"no picture", size=24, ground=ground)


@pytest.mark.parametrize(
    ("ground", "answer"), [(NIGHT, True), (CREAM, False), ((0, 43, 54), True), ((238, 232, 213), False)]
)
def test_a_ground_is_dark_where_black_does_not_show(ground: Colour, answer: bool) -> None:
    assert is_dark(ground) is answer


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
    unseen = ("\x1b_G", "▀", "\x1b[c", "Traceback", *(["\x1b["] * ("NO_COLOR" in how)))
    assert code == 0 and "house" in shown and not any(sign in shown for sign in unseen)


def test_kitty_gets_the_pixels_that_were_indexed(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=KITTY)
    sent = "".join(re.findall(r"\x1b_Gi=\d+,m=[01],f=100,q=2;([^\x1b]+)\x1b", shown))
    with Image.open(io.BytesIO(base64.b64decode(sent))) as picture:
        assert picture.size == (80, 80)
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    drawn = render((asked.parent / "icons" / "house.svg").read_bytes(), size=80).pixels.astype(int)
    assert np.abs(pixels - drawn).mean() < 6 and code == 0 and "\U0010eeee" in shown and "▀" not in shown


def test_a_sixel_terminal_gets_sixels(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers=SIXEL)
    assert (code, shown.count("\x1bP")) == (0, 1) and "▀" not in shown and "\U0010eeee" not in shown


def test_a_picture_from_a_pipe_leaves_the_terminal_its_pictures(asked: Path, shot: Path) -> None:
    asking = ("search", "--library", asked, "--image", "-", *ALL[:2], "-k", "1")
    code, shown = in_terminal(*asking, answers=KITTY, piped=shot.read_bytes())
    assert code == 0 and "\U0010eeee" in shown, shown


@pytest.mark.slow
def test_a_terminal_that_never_answers_gets_half_blocks_and_no_trace(asked: Path) -> None:
    code, shown = in_terminal(*house(asked), answers={}, pixels=(0, 0))
    assert code == 0 and "▀" in shown and "Traceback" not in shown and "assuming" not in shown


@pytest.mark.slow
def test_show_draws_the_icon_above_its_facts(asked: Path) -> None:
    code, shown = in_terminal("show", "--library", asked, "own:house")
    assert code == 0 and shown.index("▀") < shown.index("categories")
