"""What icons may be called, and how often; which are admitted or held out; tags travel by name."""

import numpy as np
import pytest

from indexer.finetune.captions import KINDS, SHARES, make_captions
from indexer.finetune.gather import (
    Limits,
    Placed,
    base_of,
    gather,
    is_held_out,
    plain_name,
    refuse_licence,
    share_held_out,
)
from indexer.sources.records import IconSet, PictureAddress, Record

WORDS = ["trash", "bin", "trash", "arrow up"]
TAGS = [["delete", "remove"], ["trash"], [], []]


def test_a_name_of_several_words_is_called_by_its_words_too_but_not_by_small_ones() -> None:
    assert make_captions(["arrow from the up 2"], [[]], seed=0).texts == ["arrow from the up 2", "arrow"]


def test_phrases_join_tags_and_words_of_the_name() -> None:
    captions = make_captions(["bin"], [["delete", "remove", "rubbish"]], seed=1)
    phrases = [captions.texts[number] for number in captions.of(0, "phrase")]
    assert phrases
    for phrase in phrases:
        assert len(phrase.split()) == 2
        assert set(phrase.split()) <= {"bin", "delete", "remove", "rubbish"}


def test_kinds_are_drawn_by_their_shares_however_many_captions_they_have() -> None:
    captions = make_captions(["arrow up"], [["above", "raise", "top", "north"]], seed=0)
    drawn = captions.draw(np.zeros(20_000, np.int64), np.random.default_rng(0))
    for kind in ("name", "tag", "phrase", "part"):
        share = np.isin(drawn, captions.of(0, kind)).mean()
        assert abs(share - SHARES[KINDS.index(kind)]) < 0.015, kind


def test_own_captions_take_the_place_of_mined_ones() -> None:
    captions = make_captions(WORDS, TAGS, seed=0, own=[["to throw away"], [], [], []])
    assert [captions.texts[number] for number in captions.of(0)] == ["to throw away"]
    assert captions.texts[captions.of(1)[0]] == "bin"


def test_what_a_growing_library_holds_out_was_held_out_before() -> None:
    counts = [share_held_out(n) for n in (60, 2000, 58_000)]
    assert counts == [5, 10, 50]
    names = [f"name {number}" for number in range(5000)]
    held = [{name for name in names if is_held_out(name, one_in=one_in)} for one_in in counts]
    assert held[2] < held[1] < held[0]


def placed(name: str, *, key: str = "some", licence: str | None = "MIT") -> Placed:
    record = Record(name, name, f"{key} {name}".encode(), IconSet(key, key.title(), licence=licence))
    return Placed(record, PictureAddress("folder", "", name, name))


def tags_of(
    names: list[Placed], limits: Limits | None = None, *extra: dict[str, list[str]]
) -> dict[str, tuple[str, ...]]:
    gathered = gather(names, limits=limits or Limits(), refuse=lambda _: None, extra_tags=extra)
    return {f"{icon.placed.record.set.key} {icon.words}": icon.tags for icon in gathered.icons}


@pytest.mark.parametrize("licence", ["MIT", "Apache-2.0", "CC-BY-4.0", "CC0-1.0", "OFL-1.1", "ISC", "CC-BY-SA-4.0"])
def test_open_licences_are_permissive_and_others_and_none_are_not(licence: str) -> None:
    assert refuse_licence(licence) is None
    assert refuse_licence(None) == "no licence"
    for other in ("GPL-2.0-only", "AGPL-3.0-only", "LGPL-2.1", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "Non-Commercial"):
        assert refuse_licence(other) == f"licence {other}"


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
