"""Are the icons of a picture told over HTTP, under its filters and limits, and is what is none refused?"""

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image, ImageDraw
from serving import serving_icons

API = "/api/v1"
PLACES = [(40, 30), (300, 34), (40, 160)]
"""Of three icons, in the order in which one reads."""


def _png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def _screen() -> bytes:
    image = Image.new("RGB", (480, 240), "white")
    pen = ImageDraw.Draw(image)
    for left, top in PLACES:
        pen.ellipse((left, top, left + 23, top + 23), outline="black", width=3)
        pen.line((left + 12, top + 6, left + 12, top + 18), fill="black", width=2)
        pen.line((left + 6, top + 12, left + 18, top + 12), fill="black", width=2)
    return _png(image)


def _photograph() -> bytes:
    """Light that changes slowly from corner to corner."""
    rows, columns = np.mgrid[0:240, 0:480]
    return _png(Image.fromarray(np.dstack([rows // 2, columns // 3, 200 - rows // 4]).astype(np.uint8)))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[httpx.Client]:
    with serving_icons(tmp_path_factory.mktemp("located"), tiny_model, "--upload-mb", "0.2") as opened:
        yield opened


def test_every_icon_of_a_screen_is_told_with_its_box_and_hits(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?k=2&min_score=0", content=_screen()).json()
    assert (told["file"], told["width"], told["height"], told["kind"]) == (None, 480, 240, "screen")
    assert (told["n_found"], told["is_cut"], told["generation"]) == (3, False, 1)
    for icon, (left, top) in zip(told["icons"], PLACES, strict=True):
        assert icon["box"] == pytest.approx([left, top, left + 24, top + 24], abs=4)
        assert len(icon["hits"]) == 2
        assert all(hit["svg_url"] in (None, f"{API}/icons/{hit['id']}/svg?v={hit['digest']}") for hit in icon["hits"])
        assert "/" not in icon["hits"][0]["path"]
    as_form = client.post(f"{API}/locate?k=2&min_score=0", files={"picture": ("x.png", _screen(), "image/png")}).json()
    assert as_form["icons"] == told["icons"]


def test_filters_hold_for_names_not_for_boxes(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?set=own&min_score=0", content=_screen()).json()
    assert len(told["icons"]) == 3
    assert {hit["set"] for icon in told["icons"] for hit in icon["hits"]} == {"own"}


def test_who_asks_may_say_what_a_picture_is(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?as_kind=icon&min_score=0", content=_screen()).json()
    assert (told["kind"], [icon["box"] for icon in told["icons"]]) == ("icon", [[0, 0, 480, 240]])
    alone = client.get(f"{API}/icons/icons:dot-c/png?size=64").content
    assert client.post(f"{API}/locate", content=alone).json()["kind"] == "icon"


def test_a_photograph_has_no_icons(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate", content=_photograph()).json()
    assert (told["kind"], told["icons"], told["n_found"]) == ("neither", [], 0)


@pytest.mark.parametrize(
    ("asked", "picture", "status", "told"),
    [
        ("", b"", 422, "empty"),
        ("", b"no picture", 422, "not a picture"),
        ("", b"x" * 300_000, 413, "0.2 MB"),
        ("", _png(Image.new("RGB", (300, 200), "white")), 422, "of one colour all over"),
        ("", _png(Image.new("1", (9_000, 9_000))), 422, "million pixels"),
        ("set=gone", _screen(), 400, 'no set "gone"'),
        ("k=0", _screen(), 422, 'k is "0"'),
        ("k=101", _screen(), 422, 'k is "101"'),
        ("as_kind=photo", _screen(), 422, 'as_kind is "photo"'),
        ("q=dot", _screen(), 422, 'q is "dot"'),
    ],
)
def test_what_can_not_be_answered_is_told_in_a_sentence(
    client: httpx.Client, asked: str, picture: bytes, status: int, told: str
) -> None:
    answer = client.post(f"{API}/locate?{asked}", content=picture)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert told in answer.json()["error"]
    assert client.get("/health").status_code == 200
