"""Icons are admitted by their licence, and tags travel by name, but for held-out names."""

import numpy as np
import pytest

from indexer.finetune.gather import (
    Limits,
    Placed,
    base_of,
    digests_of,
    gather,
    is_held_out,
    plain_name,
    refuse_licence,
    share_held_out,
)
from indexer.finetune.lesson import key_of
from indexer.sources.records import IconSet, PictureAddress, Record


def placed(name: str, *, key: str = "some", licence: str | None = "MIT") -> Placed:
    record = Record(name, name, f"{key} {name}".encode(), IconSet(key, key.title(), licence=licence))
    return Placed(record, PictureAddress("folder", "", name, name))


def tags_of(
    names: list[Placed], limits: Limits | None = None, *extra: dict[str, list[str]]
) -> dict[str, tuple[str, ...]]:
    gathered = gather(names, limits=limits or Limits(), refuse=lambda _: None, extra_tags=extra)
    return {f"{icon.placed.record.set.key} {icon.words}": icon.tags for icon in gathered.icons}


@pytest.mark.parametrize(
    "licence", ["GPL-2.0-only", "AGPL-3.0-only", "LGPL-2.1", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "Non-Commercial"]
)
def test_nc_and_gpl_licences_are_not_permissive(licence: str) -> None:
    assert refuse_licence(licence) == f"licence {licence}"


@pytest.mark.parametrize("licence", ["MIT", "Apache-2.0", "CC-BY-4.0", "CC0-1.0", "OFL-1.1", "ISC", "CC-BY-SA-4.0"])
def test_open_licences_are_permissive_and_none_is_not(licence: str) -> None:
    assert refuse_licence(licence) is None
    assert refuse_licence(None) == "no licence"


def test_a_picture_is_known_again_in_another_colour_of_the_same_grey() -> None:
    picture = np.full((8, 8, 3), 255, np.uint8)
    picture[2:5, 2:5] = (40, 60, 80)
    other = picture.copy()
    other[2:5, 2:5] = (60, 60, 60)
    assert not set(digests_of(picture)).isdisjoint(digests_of(other))


def test_tags_travel_to_the_same_name_in_another_set_and_the_commonest_come_first() -> None:
    assert tags_of([placed("arrow up"), placed("star")], None, {"up arrow": ["raise"]}) == {
        "some arrow up": ("raise",),
        "some star": (),
    }
    by_lot = [f"rare {number}" for number in range(40)]
    of_star = {"star": by_lot}, {"star": ["night"]}, {"star": ["night"]}
    sets = [placed("star", key=key) for key in ("one", "two", "three")]
    found = list(tags_of(sets, Limits(tags_per_icon=1, tags_by_lot=3), *of_star).values())
    assert all(tags[0] == "night" and len(tags) == 4 and set(tags[1:]) <= set(by_lot) for tags in found)
    assert len(set(found)) > 1


def test_another_drawing_of_a_thing_borrows_its_tags() -> None:
    names = ["bag 4", "tree alt", "user circle 2", "bag", "arrow up", "circle 2"]
    assert [plain_name(name) for name in names] == ["bag", "tree", "user", "bag", "arrow up", "circle"]


@pytest.mark.parametrize("limits", [Limits(), Limits(held_out=3)])
def test_nothing_is_borrowed_from_or_by_a_held_out_name(limits: Limits) -> None:
    one_in = limits.held_out or share_held_out(3)
    words = [first + second for first in "bcdfghklmnp" for second in ("ag", "oat", "ell", "ook", "ush")]
    free, held = (
        next(
            word
            for word in words
            if is_held_out(word, one_in=one_in) == is_held and not is_held_out(base_of(f"{word} 2"), one_in=one_in)
        )
        for is_held in (False, True)
    )
    icons = [placed(f"{free} 2"), placed(f"{held} 2"), placed("other")]
    found = tags_of(icons, limits, {free: ["first"], held: ["second"]})
    assert found == {f"some {free} 2": ("first",), f"some {held} 2": (), "some other": ()}


def test_a_corpus_keeps_its_key_unless_another_share_is_held_out() -> None:
    gathered = gather([placed("bag"), placed("bag 2")], limits=Limits(), refuse=lambda _: None)
    keys = [key_of(gathered, limits, size=64) for limits in (Limits(), Limits(held_out=3))]
    assert len(set(keys)) == 2
    assert "held_out" not in Limits().facts()
    assert Limits(held_out=3).facts()["held_out"] == 3
