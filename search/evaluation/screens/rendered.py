"""Which screens is it measured on? Those of the benchmark: rendered from fixed seeds where they are not yet.

Templates and sets of icons are those that no detector has learnt from. Screens are kept in a folder of their own for
each state of the program that draws them and each version of the icons, so a second run renders nothing.
"""

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

from indexer.errors import SourceError
from indexer.process import cores
from indexer.reports.bars import Progress
from indexer.screens.icon_pool import IconPool
from indexer.screens.render import Recipe, render_screens
from search.generation.opened import Opened

N_SCREENS = 200
SEED = 7
"""Of the test screens; thresholds are chosen on others."""
COLLECTIONS = "collections.json"


def bench_screens(icons: Path, cache: Path, progress: Progress, *, n: int = N_SCREENS) -> Path:
    """Render the benchmark's screens into a folder of `cache` unless they are there; `icons` is npm's @iconify/json.

    Raises:
        SourceError: the icons are not there.
        RenderError: playwright or Chromium is missing.
    """
    recipe = Recipe(icons=icons, templates="held-out", sets="held-out", seed=SEED)
    IconPool(icons, split=recipe.sets)
    folder = cache / "screens" / _digest(icons, n)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        render_screens(recipe, folder, n=n, workers=min(cores(), 4), progress=progress)
    return folder


def find_icons(opened: Opened) -> Path:
    """Find npm's @iconify/json among the sources of a library.

    Raises:
        SourceError: it is none of them.
    """
    for location in sorted(opened.snapshot.locations()):
        place = Path(location)
        for folder in (place, *place.parents[:2]):
            if (folder / COLLECTIONS).is_file():
                return folder
    raise SourceError(
        "screens are rendered with icons of npm's @iconify/json, and this library has none of them; "
        "give its folder by --iconify, or rendered screens by --screens-from"
    )


def _digest(icons: Path, n: int) -> str:
    """Stands for all that a screen depends on here, but the browser and the fonts."""
    found = hashlib.sha256(f"{n} {SEED}".encode())
    spec = find_spec("indexer.screens")
    for place in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(place).rglob("*.py")):
            found.update(file.read_bytes())
    package = icons / "package.json"
    found.update(str(json.loads(package.read_text("utf-8")).get("version")).encode() if package.is_file() else b"")
    return found.hexdigest()[:12]
