"""Where an icon is used, over HTTP; no file leaves that the usage index does not list."""

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from known_screens import plain_sight, save_screen
from PIL import Image
from serving import serving

from indexer.library.folder import Library
from indexer.screens.add import AddOptions, add, remove
from search.engine import SearchEngine
from search.screens.opened import UsageIndex, uses_of_icon

API = "/api/v1"


def copy_of(asked: Path, folder: Path) -> Library:
    shutil.copytree(asked, folder / "held")
    return Library(folder / "held")


def add_shots(library: Library, folder: Path) -> Path:
    """Two screens that are known, one of them twice."""
    save_screen(folder / "a.png", ["house", "arrow-left"])
    save_screen(folder / "b.png", ["house", "disc", "disc"])
    shutil.copy(folder / "a.png", folder / "copy.png")
    add(library, AddOptions(shots=[folder], workers=1), lambda *_: None, sight=plain_sight(library))
    return folder


@pytest.fixture(scope="module")
def unchanged(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library that no test changes; its screenshots lie in `private/shots` beside it."""
    folder = tmp_path_factory.mktemp("usage")
    library = copy_of(asked, folder)
    add_shots(library, folder / "private" / "shots")
    return library


@pytest.fixture(scope="module")
def client(unchanged: Library) -> Iterator[httpx.Client]:
    with serving(unchanged) as (opened, _):
        yield opened


@pytest.fixture
def library(asked: Path, tmp_path: Path) -> Library:
    return copy_of(asked, tmp_path)


@pytest.fixture
def shots(library: Library, tmp_path: Path) -> Path:
    return add_shots(library, tmp_path / "shots")


@pytest.fixture
def own_client(library: Library, shots: Path) -> Iterator[httpx.Client]:
    """For a test that changes what is served."""
    with serving(library) as (opened, _):
        yield opened


def uses_of(client: httpx.Client, icon: str = "house", **parameters: Any) -> dict[str, Any]:
    answer = client.get(f"{API}/icons/{icon}/usage", params={"min_score": 0, **parameters})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_icon_is_told_with_its_places_as_the_command_tells_them(client: httpx.Client, unchanged: Library) -> None:
    engine, index = SearchEngine.open(unchanged.root), UsageIndex.open(unchanged.root)
    expected = uses_of_icon(index, engine, engine.find("house"), least=0)
    told = uses_of(client)
    assert (told["n_found"], told["n_screens"]) == (expected.n_found, expected.n_screens)
    assert (told["n_known"], told["generation"]) == (2, 1)
    assert [(use["box"], use["score"]) for use in told["uses"]] == [(list(one.box), one.score) for one in expected.uses]
    assert {tuple(use["also"]) for use in told["uses"] if use["file"] == "a.png"} == {("copy.png",)}
    assert "private" not in json.dumps(told)
    assert len(uses_of(client, k=1)["uses"]) == 1


def test_a_crop_and_its_screenshot_are_at_their_addresses(client: httpx.Client, unchanged: Library) -> None:
    use = next(use for use in uses_of(client)["uses"] if use["file"] == "b.png")
    crop, screen = client.get(use["crop_url"]), client.get(use["screen_url"])
    assert (crop.headers["content-type"], screen.headers["content-type"]) == ("image/png", "image/png")
    left, top, right, bottom = use["box"]
    with Image.open(io.BytesIO(crop.content)) as cropped, Image.open(io.BytesIO(screen.content)) as whole:
        assert cropped.width >= right - left and cropped.height >= bottom - top
        with Image.open(unchanged.root.parent / "private/shots/b.png") as shot:
            assert whole.size == (use["width"], use["height"]) == shot.size
    assert screen.headers["cache-control"] == "private, no-store"
    assert client.get(use["crop_url"], headers={"If-None-Match": crop.headers["etag"]}).status_code == 304


@pytest.mark.slow
def test_only_the_screenshot_that_was_looked_at_is_sent_or_its_copy(
    own_client: httpx.Client, shots: Path, tmp_path: Path
) -> None:
    copied, alone = (
        next(use for use in uses_of(own_client)["uses"] if use["file"] == file) for file in ("a.png", "b.png")
    )
    (shots / "a.png").unlink()
    assert own_client.get(copied["screen_url"]).status_code == 200
    (shots / "b.png").unlink()
    (shots / "b.png").symlink_to(save_screen(tmp_path / "secret.png", ["disc"]))
    gone = own_client.get(alone["screen_url"])
    assert gone.status_code == 404 and "another one by now" in gone.json()["error"]
    assert own_client.get(alone["crop_url"]).status_code == 200


@pytest.mark.parametrize("path", ["1/crops/99", "7/crops/0", "1/screens/99", "7/screens/0"])
def test_what_is_not_in_the_index_is_not_there(client: httpx.Client, path: str) -> None:
    assert client.get(f"{API}/usage/{path}").status_code == 404


@pytest.mark.slow
def test_what_is_removed_is_told_no_more(own_client: httpx.Client, library: Library, shots: Path) -> None:
    before = next(use for use in uses_of(own_client)["uses"] if use["file"] == "b.png")
    remove(library, [shots / "b.png"])
    told = uses_of(own_client)
    assert (told["n_known"], told["generation"]) == (1, 2)
    assert {use["file"] for use in told["uses"]} == {"a.png"}
    assert own_client.get(before["screen_url"]).status_code == 404
