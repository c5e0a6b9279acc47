"""A folder as npm's @iconify/json is, of three small sets; a library of Lucide; a browser where there is one."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import index_bundled
from tools import lacking

from data.making.detector.browser import PROGRAMS, Browser, find_browser, open_browser
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.evaluation.evaluate import Subject

_SQUARE = '<path fill="currentColor" d="M4 4h16v16H4z"/>'
_LINE = '<path fill="none" stroke="currentColor" stroke-width="2" d="M4 12h16"/>'


def write_set(folder: Path, prefix: str, bodies: dict[str, str]) -> None:
    icons = {name: {"body": body} for name, body in bodies.items()}
    facts = {"prefix": prefix, "info": {"palette": False}, "icons": icons, "width": 24, "height": 24}
    (folder / "json").mkdir(exist_ok=True)
    (folder / "json" / f"{prefix}.json").write_text(json.dumps(facts))


@pytest.fixture(scope="package")
def iconify(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("iconify")
    facts = {"total": 100, "palette": False, "category": "UI 24px"}
    licences = {"squares": "MIT", "lucide": "ISC", "heroicons": "MIT", "dashicons": "GPL-2.0-or-later"}
    (folder / "collections.json").write_text(
        json.dumps({prefix: {**facts, "license": {"spdx": licence}} for prefix, licence in licences.items()})
    )
    spinning = f'{_SQUARE}<animateTransform attributeName="transform"/>'
    bodies = {"home": _SQUARE, "arrow-left": _LINE, "chevron-down": _LINE, "close": _SQUARE, "loading": spinning}
    for prefix in licences:
        write_set(folder, prefix, bodies)
    return folder


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright.sync_api", reason="needs Python's playwright: pip install '.[test]'")
    if find_browser() is None:
        lacking(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    with open_browser() as opened:
        yield opened


NAMES = (
    "arrow-up", "arrow-down", "arrow-left", "arrow-right", "arrow-up-left", "bell", "camera", "cloud", "heart", "house",
    "house-plus", "house-wifi", "house-plug", "house-heart", "key", "lock", "moon", "sun", "trash", "trash-2", "zap",
)  # fmt: skip


@pytest.fixture(scope="package")
def lucide(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Some icons of Lucide with the bundled model: the bell under a second name, a star that its folder calls solid."""
    root = tmp_path_factory.mktemp("lucide")
    (root / "drawn" / "solid").mkdir(parents=True)
    samples = bundled("samples/lucide-static") / "icons"
    for name in NAMES:
        shutil.copy(samples / f"{name}.svg", root / "drawn")
    shutil.copy(samples / "bell.svg", root / "drawn" / "alarm-old.svg")
    shutil.copy(samples / "star.svg", root / "drawn" / "solid")
    index_bundled(root / "library", root / "drawn")
    return Library(root / "library")


@pytest.fixture(scope="package")
def subject(lucide: Library) -> Subject:
    return Subject(lucide)
