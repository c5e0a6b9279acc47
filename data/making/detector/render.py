"""Many screens are made, each from its own seed alone, in processes with a browser each; one process writes them."""

import io
import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from PIL import Image

from data.making.detector.browser import Browser, open_browser, painted_icons
from data.making.detector.filler import Room, Templates, templates_of
from data.making.detector.icons import IconPool, Split
from data.making.detector.page import Page, choose_viewport
from indexer.arrays import Pixels
from indexer.errors import RenderError, SourceError
from indexer.library.durable import write_file
from indexer.process import end_with_starter
from search.evaluation.screens import Screen, read_lines

if TYPE_CHECKING:
    from indexer.reports.terminal import Progress

LINES = "screens.jsonl"


class ScreenWriter:
    """Writes screens into a folder; a run that was cut goes on there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._path = folder / LINES
        known = list(read_lines(self._path)) if self._path.exists() else []
        self.done = {screen.file: screen for screen in known}
        write_file(self._path, "".join(_line(screen) for screen in known).encode())

    def write(self, screen: Screen, png: bytes) -> None:
        """Keep a screen."""
        write_file(self._folder / screen.file, png)
        with self._path.open("ab") as lines:
            lines.write(_line(screen).encode())
            lines.flush()
            os.fsync(lines.fileno())
        self.done[screen.file] = screen


def _line(screen: Screen) -> str:
    return json.dumps(asdict(screen), ensure_ascii=False) + "\n"


_SEEDS_OF_A_RUN = 1_000_000
PLAIN = "plain-"
"""How names of templates begin that show no icon."""
PHONE = "phone"
"""Stands in names of templates that are made for a phone's window."""
_PLAIN_SHARE = 0.18


@dataclass(frozen=True, slots=True)
class Recipe:
    """What screens are made of. `only` is one template's name, or all of them."""

    icons: Path
    templates: Room = "training"
    sets: Split = "training"
    seed: int = 0
    only: str | None = None


class Studio:
    """Makes one screen after another; keeps sets of icons and a browser open."""

    def __init__(self, recipe: Recipe, browser: Browser) -> None:
        self._recipe = recipe
        self._browser = browser
        self._pool = IconPool(recipe.icons, split=recipe.sets)
        self._templates = templates_of(recipe.templates)
        if recipe.only is not None and recipe.only not in self._templates:
            raise SourceError(f'no template "{recipe.only}"; there are {", ".join(sorted(self._templates))}')

    def screen(self, number: int) -> tuple[Screen, Pixels]:
        """Make the screen of a number: always the same for the same recipe, browser and fonts."""
        seed = self._recipe.seed * _SEEDS_OF_A_RUN + number
        random = Random(seed)
        name = self._recipe.only or _choose(random, self._templates)
        viewport = choose_viewport(random, is_phone=PHONE in name)
        page = Page(random, pool=self._pool, viewport=viewport)
        body = self._templates[name](page)
        self._browser.show(page.document(body), viewport)
        pixels, icons = painted_icons(self._browser, scale=viewport.scale)
        height, width = pixels.shape[:2]
        facts = {"scale": viewport.scale, "template": name, "theme": page.theme.kind, "seed": seed}
        return Screen(file_name(number), width, height, **facts, icons=tuple(icons)), pixels  # type: ignore[arg-type]


def file_name(number: int) -> str:
    """The file of a screen."""
    return f"{number:05}.png"


def render_screens(
    recipe: Recipe, folder: Path, *, n: int, workers: int, progress: "Progress | None" = None
) -> dict[str, int]:
    """Render `n` screens into a folder, those that are not there yet; return how many screens and icons it has then.

    Raises:
        SourceError: the folder holds screens of another recipe, or the icons are not there.
        RenderError: there is no browser, or a process that draws has died.
    """
    writer = ScreenWriter(folder)
    _refuse_others(writer, recipe)
    missing = [number for number in range(n) if file_name(number) not in writer.done]
    for screen, png in _made(recipe, missing, workers=workers):
        writer.write(screen, png)
        if progress is not None:
            progress("rendering screens", len(writer.done), n)
    return {"screens": len(writer.done), "icons": sum(len(screen.icons) for screen in writer.done.values())}


def _refuse_others(writer: ScreenWriter, recipe: Recipe) -> None:
    for screen in writer.done.values():
        if screen.seed // _SEEDS_OF_A_RUN != recipe.seed:
            raise SourceError(f'"{screen.file}" is of another seed; choose an empty folder')


def _made(recipe: Recipe, numbers: list[int], *, workers: int) -> Iterator[tuple[Screen, bytes]]:
    if workers <= 1 or len(numbers) < workers:
        with open_browser() as browser:
            studio = Studio(recipe, browser)
            for number in numbers:
                yield _encoded(studio, number)
        return
    # Not multiprocessing's Pool: where its workers cannot begin, it starts others for ever.
    executor = ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_starter)
    try:
        for future in as_completed({executor.submit(_make, recipe, number) for number in numbers}):
            yield future.result()
    except BrokenProcessPool as error:
        raise RenderError(
            "a process that draws screens died, perhaps for want of memory; ask for fewer workers"
        ) from error
    finally:
        executor.shutdown(cancel_futures=True)


_STACK = ExitStack()


@cache
def _open_studio(recipe: Recipe) -> Studio:
    """This process's own, from its first screen on: what it can't open is said to who asked for the screen."""
    with ExitStack() as opening:
        studio = Studio(recipe, opening.enter_context(open_browser()))
        _STACK.push(opening.pop_all())  # where the recipe is refused the browser is closed: a process can open but one
    return studio


def _make(recipe: Recipe, number: int) -> tuple[Screen, bytes]:
    return _encoded(_open_studio(recipe), number)


def _encoded(studio: Studio, number: int) -> tuple[Screen, bytes]:
    screen, pixels = studio.screen(number)
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG", compress_level=4)
    return screen, written.getvalue()


def _choose(random: Random, templates: Templates) -> str:
    plain = sorted(name for name in templates if name.startswith(PLAIN))
    others = sorted(name for name in templates if not name.startswith(PLAIN))
    return random.choice(plain if plain and random.random() < _PLAIN_SHARE else others)
