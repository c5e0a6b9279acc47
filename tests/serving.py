"""A library worth serving, and a server in a process of its own, whose every answer is as OpenAPI declares it."""

import copy
import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import build_library, disc, svg
from jsonschema import Draft202012Validator
from PIL import Image, ImageDraw

from indexer.bench import processes
from indexer.library.folder import Library
from search.engine import SearchEngine
from search.web.serve import new_api


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which holds objects to the fields that are declared."""
    told = copy.deepcopy(new_api().openapi())
    for schema in told["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return told


def check_declared(answer: httpx.Response) -> None:
    """Refuse an answer of the API that its document does not tell of."""
    path = answer.request.url.path
    declared = next((methods for template, methods in _paths() if template.fullmatch(path)), {}).get(
        answer.request.method.lower()
    )
    if declared is None:
        return
    told = declared["responses"].get(str(answer.status_code))
    assert told is not None, f"{answer.request.method} {path} answers {answer.status_code}, which is not declared"
    if answer.status_code == 304 or answer.request.method == "HEAD":
        return
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in told["content"], f"{path} is {kind}, which is not declared for {answer.status_code}"
    if kind == "application/json":
        answer.read()
        _validator(json.dumps(told["content"][kind]["schema"])).validate(answer.json())


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(schema), "components": document()["components"]})


@cache
def _paths() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """A pattern for each path: those of pictures come before those that would take them for names."""
    return [
        (re.compile(re.sub(r"\\{\w+\\}", ".+", re.escape(path))), methods)
        for path, methods in document()["paths"].items()
    ]


HOSTILE = svg(
    '<script>document.title="taken over";fetch("/metrics")</script>'
    '<path d="M3 3h9v4h-9z" onclick="alert(1)"/><image href="http://127.0.0.1:9/x.png" width="3" height="3"/>'
)
START = "from search.cli import main; main()"


def write_icons(folder: Path) -> None:
    """Nine discs, an arrow in two styles, and one of everything that needs care."""
    folder.mkdir(parents=True)
    for number in range(9):
        (folder / f"dot-{'abcdefghi'[number]}.svg").write_text(disc(4 + 2 * number, 12))
    (folder / "arrow-up.svg").write_text(svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>'))
    (folder / "arrow-up-filled.svg").write_text(svg('<path d="M12 1l9 11h-5v11h-8v-11h-5z"/>'))
    (folder / "hostile.svg").write_text(HOSTILE)
    (folder / "current.svg").write_text(svg('<path fill="currentColor" d="M2 2h9v20h-9z"/>'))
    (folder / "packed.svgz").write_bytes(gzip.compress(svg('<path d="M2 12h20v3h-20z"/>').encode()))
    photo = Image.new("RGB", (60, 40), "white")
    ImageDraw.Draw(photo).ellipse((10, 5, 40, 35), fill="black")
    photo.save(folder / "photo.png")


def write_set(file: Path) -> None:
    """An Iconify set, laid out as its packages are."""
    icons = {f"shape-{chr(97 + n)}": {"body": f'<path d="M2 2h{n + 4}v{n + 3}z"/>'} for n in range(5)}
    aliases = {"turned": {"parent": "shape-b", "rotate": 1}}
    info = {"name": "Own Set", "license": {"spdx": "MIT"}}
    whole = {"prefix": "own", "info": info, "icons": icons, "aliases": aliases, "width": 24, "height": 24}
    file.write_text(json.dumps(whole, indent="\t"), "utf-8")


def index_icons(folder: Path, model: Path, *more: Path) -> Library:
    """Those icons in `icons` of a folder, and a library of them and of more sources beside."""
    write_icons(folder / "icons")
    library = Library(folder / "library")
    build_library(library, model, [folder / "icons", *more])
    return library


@contextmanager
def serving(library: Library, *options: str) -> Iterator[tuple[httpx.Client, "subprocess.Popen[bytes]"]]:
    """Run `icons serve` until the block ends; a client for it, to which every answer is as declared; its process."""
    hooks = {"response": [check_declared]}
    with (
        processes.serving(str(library.root), *options) as server,
        httpx.Client(base_url=f"http://{server.host}:{server.port}", timeout=30, event_hooks=hooks) as client,
    ):
        yield client, server.process


@pytest.fixture(scope="module")
def icon_library(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    """Those icons and that set, in a folder of their own."""
    folder = tmp_path_factory.mktemp("served")
    write_set(folder / "own.json")
    return index_icons(folder, tiny_model, folder / "own.json")


@pytest.fixture(scope="module")
def client(icon_library: Library) -> Iterator[httpx.Client]:
    """Of a server of that library, which takes small pictures alone."""
    with serving(icon_library, "--upload-mb", "0.2", "--seconds", "6") as (opened, _):
        yield opened


@pytest.fixture(scope="module")
def engine(icon_library: Library) -> SearchEngine:
    """Over that library, in this process."""
    return SearchEngine.open(icon_library.root)
