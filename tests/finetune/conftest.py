"""Sixty small drawn icons with tags, and a tiny model to begin with."""

import json
from pathlib import Path

import pytest
from lessons import PLACES, SHAPES, save_model

_BODIES = {
    "disc": '<circle cx="{x}" cy="{y}" r="5"/>',
    "ring": '<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#000" stroke-width="2"/>',
    "bar": '<path d="M{x} {y}h9v3h-9z"/>',
    "cross": '<path d="M{x} {y}h3v-4h3v4h3v3h-3v4h-3v-4h-3z"/>',
    "corner": '<path d="M{x} {y}h8v3h-5v6h-3z"/>',
    "box": '<path d="M{x} {y}h7v7h-7z"/>',
    "dots": '<circle cx="{x}" cy="{y}" r="2"/><circle cx="18" cy="{y}" r="2"/>',
    "slope": '<path d="M{x} {y}l9 9h-9z"/>',
}
_TAGS = {"disc": "round, full", "ring": "round, hollow", "bar": "line", "cross": "plus, add", "box": "square"}
_STYLES = ("", "-filled")


@pytest.fixture(scope="session")
def icons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest of 64 icons: eight shapes in four places, twice."""
    folder = tmp_path_factory.mktemp("icons")
    lines = ["file_path,name,tags,licence"]
    for row, shape in enumerate(SHAPES):
        for column, place in enumerate(PLACES):
            for number, style in enumerate(_STYLES):
                x, y = 4 + 3 * column, 5 + row % 4 * 3 + number
                name = f"{shape}-{place}{style}"
                body = _BODIES[shape].format(x=x, y=y)
                drawn = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'
                (folder / f"{name}.svg").write_text(drawn)
                lines.append(f'{name}.svg,{name},"{_TAGS.get(shape, "")}",MIT')
    (folder / "icons.csv").write_text("\n".join(lines) + "\n")
    return folder / "icons.csv"


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("start") / "model")


@pytest.fixture
def own_iconify(tmp_path: Path) -> Path:
    icons = {f"shape-{chr(97 + n)}": {"body": f'<path d="M2 2h{n + 4}v{n + 3}z"/>'} for n in range(12)}
    info = {"name": "Own", "license": {"spdx": "MIT"}}
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"prefix": "own", "width": 24, "height": 24, "info": info, "icons": icons}), "utf-8")
    return file
