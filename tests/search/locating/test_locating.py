import numpy as np
import pytest
from screens_with_icons import KEYS, screen

from data.making.eval.components import connected_components
from indexer.arrays import Pixels
from indexer.screens import located
from indexer.screens.located import Locator, crops
from search.engine import SearchEngine
from search.generation import facets
from search.query import Filters, Query, Window
from search.screens import locate
from search.screens.locate import reading_order


def test_every_icon_of_a_screen_is_named_row_by_row(engine: SearchEngine) -> None:
    found = engine.locate(screen(engine))
    assert [icon.hits[0].name for icon in found.icons] == KEYS
    assert (found.kind, found.n_found, found.is_cut) == ("screen", 8, False)
    first = found.icons[0].box
    assert (first.left, first.top) == pytest.approx((31, 71), abs=2)
    assert 20 <= first.right - first.left <= 24


@pytest.mark.parametrize("sets", [(), ("thin",)])
def test_every_crop_is_answered_as_a_picture_query_is_under_the_same_filter(
    engine: SearchEngine, sets: tuple[str, ...]
) -> None:
    pixels, only = screen(engine), Filters(sets=sets)
    found = engine.locate(pixels, k=5, filters=only)
    corners = np.array([icon.box for icon in found.icons], np.float32)
    for icon, crop in zip(found.icons, crops(pixels, corners, size=engine.image_size), strict=True):
        asked = engine.ask(Query(picture=crop), window=Window(k=5), filters=only).hits
        assert [(hit.key, hit.also) for hit in icon.hits] == [(hit.key, hit.also) for hit in asked] != []
        assert [hit.score for hit in icon.hits] == pytest.approx([hit.score for hit in asked], abs=2e-3)


def test_of_many_icons_that_a_filter_leaves_the_same_are_found(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels, only = screen(engine), Filters(sets=("thin",))
    compared = engine.locate(pixels, filters=only)
    monkeypatch.setattr(facets, "_FEW", 0)
    assert engine.locate(pixels, filters=only).icons == compared.icons
    monkeypatch.setattr(locate, "N_NEAREST", 1)
    monkeypatch.setattr(locate, "STEP", 2)
    assert [icon.hits[0] for icon in engine.locate(pixels, filters=only, k=1).icons] == [
        icon.hits[0] for icon in compared.icons
    ]


def test_equal_crops_are_encoded_once(engine: SearchEngine) -> None:
    seen: list[int] = []

    class Counting:
        image_size = engine.image_size

        def encode_many_pictures(self, pixels: Pixels) -> np.ndarray:
            seen.append(len(pixels))
            return engine.with_generation(lambda opened: opened.encoder.encode_many_pictures(pixels))

    pixels = screen(engine, ["star"] * 8)
    found = Locator(connected_components, None).locate(pixels, Counting())  # type: ignore[arg-type]
    assert (found.n_found, seen) == (8, [1])
    assert (found.vectors == found.vectors[0]).all()


def test_the_user_says_what_a_picture_is(engine: SearchEngine) -> None:
    bar = np.ascontiguousarray(screen(engine, ["star"])[62:102, 22:62])
    found, [icon] = engine.locate(bar), engine.locate(bar, as_kind="screen").icons
    assert (found.kind, tuple(found.icons[0].box), found.icons[0].score) == ("icon", (0, 0, 40, 40), 1.0)
    assert tuple(icon.box) != (0, 0, 40, 40) and icon.hits[0].name == "star"
    [whole] = engine.locate(screen(engine), as_kind="icon").icons
    assert tuple(whole.box) == (0, 0, 640, 240)


def test_a_limit_says_so(engine: SearchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(located, "MOST_ICONS", 5)
    found = engine.locate(screen(engine))
    assert (len(found.icons), found.n_found, found.is_cut) == (5, 8, True)


def test_one_row_is_read_from_left_to_right() -> None:
    corners = [[50, 12, 70, 32], [10, 10, 30, 30], [12, 60, 28, 70], [90, 8, 110, 40], [60, 58, 80, 72]]
    assert reading_order(np.array(corners, np.float32)).tolist() == [1, 0, 3, 2, 4]
    assert reading_order(np.zeros((0, 4), np.float32)).tolist() == []
