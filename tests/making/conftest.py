"""A folder as npm's @iconify/json is, of three small sets, and a browser where there is one."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import lacking

from data.making.detector.browser import PROGRAMS, Browser, find_browser, open_browser

_SQUARE = '<path fill="currentColor" d="M4 4h16v16H4z"/>'
_LINE = '<path fill="none" stroke="currentColor" stroke-width="2" d="M4 12h16"/>'


def _write_set(folder: Path, prefix: str, bodies: dict[str, str]) -> None:
    icons = {name: {"body": body} for name, body in bodies.items()}
    facts = {"prefix": prefix, "info": {"palette": False}, "icons": icons, "width": 24, "height": 24}
    (folder / "json").mkdir(exist_ok=True)
    (folder / "json" / f"{prefix}.json").write_text(json.dumps(facts))


@pytest.fixture(scope="package")
def iconify(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("iconify")
    facts = {"total": 100, "palette": False, "category": "UI 24px"}
    licences = {"squares": "MIT", "lucide": "ISC", "heroicons": "MIT", "dashicons": "GPL-2.0-or-later"}
    collections = {prefix: {**facts, "license": {"spdx": licence}} for prefix, licence in licences.items()}
    (folder / "collections.json").write_text(json.dumps(collections))
    spinning = f'{_SQUARE}<animateTransform attributeName="transform"/>'
    bodies = {"home": _SQUARE, "arrow-left": _LINE, "chevron-down": _LINE, "close": _SQUARE, "loading": spinning}
    for prefix in licences:
        _write_set(folder, prefix, bodies)
    return folder


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright.sync_api", reason="needs Python's playwright: pip install '.[test]'")
    if find_browser() is None:
        lacking(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    with open_browser() as opened:
        yield opened
