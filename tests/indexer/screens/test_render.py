import multiprocessing
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from indexer.errors import RenderError, SourceError
from indexer.screens.browser import Browser
from indexer.screens.icon_pool import IconPool
from indexer.screens.page import Page, Viewport
from indexer.screens.render import PLAIN, Recipe, Studio, render_screens, templates_of
from indexer.screens.stored import Screen, ScreenWriter, read_screens


def body_of(name: str, iconify: Path, *, seed: int) -> str:
    pool = IconPool(iconify, split="training")
    page = Page(Random(seed), pool=pool, viewport=Viewport(800, 600, 1))
    return page.document(templates_of("training")[name](page))


@pytest.mark.parametrize("name", sorted(templates_of("training")))
def test_a_template_shows_icons_unless_it_is_a_plain_one(name: str, iconify: Path) -> None:
    bodies = [body_of(name, iconify, seed=seed) for seed in range(2)]
    assert all(("data-icon=" in body) is not name.startswith(PLAIN) for body in bodies)
    assert bodies[0] != bodies[1]


def test_a_screen_depends_on_its_seed_alone(iconify: Path, browser: Browser) -> None:
    screens = []
    for numbers in ((0, 1), (1,)):
        studio = Studio(Recipe(iconify, only="data-table"), browser)
        screens.append([studio.screen(number) for number in numbers][-1])
    (one, pixels), (other, same) = screens
    assert one == other
    assert len(one.icons) > 5
    assert (pixels == same).all()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_rerun_makes_what_is_missing(iconify: Path, browser: Browser, tmp_path: Path, workers: str) -> None:
    made, _ = Studio(Recipe(iconify, only="plain-form"), browser).screen(0)
    ScreenWriter(tmp_path).write(made, b"kept")
    options = (
        "--icons",
        str(iconify),
        "--out",
        str(tmp_path),
        "--screens",
        "3",
        "--only",
        "plain-form",
        "--workers",
        workers,
    )
    command = (sys.executable, "-m", "indexer.screens", "render", *options)
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert [screen.seed for screen in read_screens(tmp_path)] == [0, 1, 2]
    assert (tmp_path / "00000.png").read_bytes() == b"kept"
    assert (tmp_path / "00002.png").read_bytes().startswith(b"\x89PNG")
    assert said.endswith("3 screens, 0 icons\n")


@pytest.mark.slow
def test_a_process_that_dies_ends_the_run_and_what_was_made_is_kept(iconify: Path, tmp_path: Path) -> None:
    def kill_them(_: str, n_done: int, n: int) -> None:
        if n_done == 1:
            for process in multiprocessing.active_children():
                process.kill()

    with pytest.raises(RenderError, match="ask for fewer workers"):
        render_screens(Recipe(iconify, only="plain-form"), tmp_path, n=40, workers=2, progress=kill_them)
    assert 1 <= len(read_screens(tmp_path)) < 40


@pytest.mark.slow
def test_what_a_process_cannot_draw_is_said_by_the_run(iconify: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match='no template "nonsense"'):
        render_screens(Recipe(iconify, only="nonsense"), tmp_path, n=2, workers=2)


def test_a_folder_of_another_seed_is_refused(iconify: Path, tmp_path: Path) -> None:
    ScreenWriter(tmp_path).write(Screen("00000.png", 9, 9, 1, "board", "dark", 0, ()), b"kept")
    with pytest.raises(SourceError, match="another seed"):
        render_screens(Recipe(iconify, seed=4), tmp_path, n=2, workers=1)


def test_boxes_lie_inside_their_picture(iconify: Path, browser: Browser) -> None:
    screen, pixels = Studio(Recipe(iconify, only="icon-grid"), browser).screen(3)
    assert pixels.shape == (screen.height, screen.width, 3)
    for icon in screen.icons:
        left, top, right, bottom = icon.box
        assert 0 <= left < right <= screen.width
        assert 0 <= top < bottom <= screen.height
