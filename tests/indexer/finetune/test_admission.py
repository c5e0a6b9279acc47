"""Are reserved sets, licences and nameless sets kept out of training?"""

import json
from pathlib import Path

import numpy as np
import pytest

from indexer.finetune.captions import is_held_out, share_held_out
from indexer.finetune.gather import (
    Limits,
    Placed,
    base_of,
    digests_of,
    gather,
    is_reserved,
    plain_name,
    read_sources,
    refuse,
)
from indexer.finetune.lesson import build_corpus, key_of, read_facts
from indexer.sources.records import IconSet, PictureAddress, Record

SHAPES = {
    "house": "M3 12 12 3l9 9v9H3z",
    "bin": "M6 6h12v15H6zM4 3h16v2H4z",
    "arrow-up": "M12 3l8 9h-5v9H9v-9H4z",
    "star": "M12 2l3 7h7l-6 4 3 8-7-5-7 5 3-8-6-4h7z",
}


def record(key: str, licence: str | None = "MIT", *, name: str = "house", own: str | None = None) -> Record:
    return Record(name, name, b"x", IconSet(key, key.title(), licence=licence), licence=own)


@pytest.mark.parametrize(
    "key", ["lucide", "lucide-static", "lucide-lab", "feather", "octicon", "octicons", "ion", "ionicons", "famicons",
            "spectrum-css-workflow-icons", "@primer/octicons", "@adobe/spectrum-css-workflow-icons", "Lucide",
            "@lucide/lab", "@Lucide/svelte", "lucide-react", "lucide-vue-next", "react-feather",
            "@spectrum-icons/workflow", "@spectrum-web-components/icons-workflow", "@primer/octicons-react",
            "react-ionicons", "@famicons/svelte"],
)  # fmt: skip
def test_reserved_sets_are_refused_under_every_name(key: str) -> None:
    assert refuse(record(key)) == "reserved"
    assert is_reserved(IconSet(key, "Some", licence="MIT"))


@pytest.mark.parametrize("key", ["@tabler/icons", "at-icons", "icon-park", "feathers", "spectrums", "ionic"])
def test_sets_of_similar_names_are_not_reserved(key: str) -> None:
    assert refuse(record(key)) is None


@pytest.mark.parametrize(
    "licence",
    ["GPL-2.0-only", "GPL-3.0", "AGPL-3.0-only", "LGPL-2.1", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "Non-Commercial"],
)
def test_nc_and_gpl_licences_are_refused(licence: str) -> None:
    assert refuse(record("some", licence)) == f"licence {licence}"
    assert refuse(record("some", own=licence)) == f"licence {licence}"


@pytest.mark.parametrize("licence", ["MIT", "Apache-2.0", "CC-BY-4.0", "CC0-1.0", "OFL-1.1", "ISC", "CC-BY-SA-4.0"])
def test_open_licences_are_admitted(licence: str) -> None:
    assert refuse(record("some", licence)) is None


def test_unlicensed_brands_and_flags_are_refused() -> None:
    assert refuse(record("some", None)) == "no licence"
    assert refuse(record("simple-icons")) == "names are no meaning"
    assert refuse(record("mixed", name="flag-de")) == "brand or flag"


def test_a_picture_is_known_again_in_another_colour_of_the_same_grey() -> None:
    picture = np.full((8, 8, 3), 255, np.uint8)
    picture[2:5, 2:5] = (40, 60, 80)
    other = picture.copy()
    other[2:5, 2:5] = (60, 60, 60)
    assert not set(digests_of(picture)).isdisjoint(digests_of(other))


def icon_set(prefix: str, names: list[str], folder: Path) -> Path:
    icons = {name: {"body": f'<path d="{SHAPES[name]}"/>'} for name in names}
    info = {"name": prefix, "license": {"spdx": "MIT", "title": "MIT"}, "author": {"name": "A"}}
    file = folder / f"{prefix}.json"
    file.write_text(json.dumps({"prefix": prefix, "width": 24, "height": 24, "info": info, "icons": icons}), "utf-8")
    return file


def test_a_corpus_leaves_out_pictures_that_equal_a_reserved_one(tmp_path: Path) -> None:
    sources = [icon_set("lucide", ["house"], tmp_path), icon_set("fork", ["house", "bin", "star"], tmp_path)]
    gathered = gather(read_sources(sources), extra_tags=[{"bin": ["delete", "trash"]}], limits=Limits())
    build_corpus(gathered, tmp_path / "corpus", limits=Limits(), workers=0)
    facts = read_facts(tmp_path / "corpus")
    assert sorted(facts["words"]) == ["bin", "star"]
    assert facts["tags"][facts["words"].index("bin")] == ["delete", "trash"]
    assert facts["refused"]["looks like a reserved icon"] == 1
    pixels = np.load(tmp_path / "corpus" / "pixels.npy", mmap_mode="r")
    assert pixels[: len(facts["words"])].min(axis=(1, 2, 3)).max() < 30
    assert [found["key"] for found in facts["sets"]] == ["fork"]


def test_tags_travel_to_the_same_name_in_another_set(tmp_path: Path) -> None:
    sources = [icon_set("one", ["arrow-up"], tmp_path), icon_set("two", ["star"], tmp_path)]
    gathered = gather(read_sources(sources), extra_tags=[{"up arrow": ["raise"]}], limits=Limits())
    tags = {icon.words: icon.tags for icon in gathered.icons}
    assert tags == {"arrow up": ("raise",), "star": ()}
    assert base_of("up arrow") == base_of("arrow up")


def test_icons_of_a_name_have_its_commonest_tags_and_some_of_the_rest_by_lot(tmp_path: Path) -> None:
    sources = [icon_set("one", ["star"], tmp_path), icon_set("two", ["star"], tmp_path)]
    by_lot = [f"rare {number}" for number in range(40)]
    limits = Limits(tags_per_icon=1, tags_by_lot=3)
    placed_icons = [*read_sources(sources), placed("star", digest=b"other")]
    gathered = gather(
        placed_icons, extra_tags=[{"star": by_lot}, {"star": ["night"]}, {"star": ["night"]}], limits=limits
    )
    tags = [icon.tags for icon in gathered.icons]
    assert [len(of_icon) for of_icon in tags] == [4] * len(tags)
    assert all(of_icon[0] == "night" and set(of_icon[1:]) <= set(by_lot) for of_icon in tags)
    assert len(set(tags)) > 1


def test_a_described_icon_is_there_twice_more_called_by_its_looks_alone(tmp_path: Path) -> None:
    looks = {b"pin": ["heart in a pin"]}
    named = [placed("pin"), placed("star")]
    gathered = gather(named, extra_tags=(), limits=Limits(), looks=lambda digest: looks.get(digest, ()))
    described = ("pin", ("heart in a pin",))
    assert sorted((icon.words, icon.own) for icon in gathered.icons) == [
        ("pin", ()),
        described,
        described,
        ("star", ()),
    ]


def test_another_drawing_of_a_thing_borrows_its_tags() -> None:
    names = ["bag 4", "tree alt", "user circle 2", "bag", "arrow up"]
    assert [plain_name(name) for name in names] == ["bag", "tree", "user", "bag", "arrow up"]
    assert plain_name("circle 2") == "circle"


@pytest.mark.parametrize("limits", [Limits(), Limits(held_out=3)])
def test_nothing_is_borrowed_from_or_by_a_held_out_name(limits: Limits) -> None:
    one_in = limits.held_out or share_held_out(3)
    free, held = (
        next(name for name in SOME_WORDS if is_held_out(name, one_in=one_in) == is_held and not borrows(name, one_in))
        for is_held in (False, True)
    )
    named = [placed(f"{free} 2"), placed(f"{held} 2"), placed("other")]
    gathered = gather(named, extra_tags=[{free: ["first"], held: ["second"]}], limits=limits)
    assert {icon.words: icon.tags for icon in gathered.icons} == {f"{free} 2": ("first",), f"{held} 2": (), "other": ()}


def test_a_corpus_keeps_its_key_unless_another_share_is_held_out() -> None:
    gathered = gather([placed("bag"), placed("bag 2")], extra_tags=(), limits=Limits())
    keys = [key_of(gathered, limits, size=64) for limits in (Limits(), Limits(held_out=3))]
    assert len(set(keys)) == 2
    assert "held_out" not in Limits().facts()
    assert Limits(held_out=3).facts()["held_out"] == 3


SOME_WORDS = [first + second for first in "bcdfghklmnp" for second in ("ag", "oat", "ell", "ook", "ush")]


def borrows(name: str, one_in: int) -> bool:
    return is_held_out(base_of(f"{name} 2"), one_in=one_in)


def placed(name: str, digest: bytes | None = None) -> Placed:
    digest = digest or name.encode()
    return Placed(
        Record(name, name, digest, IconSet("some", "Some", licence="MIT")),
        PictureAddress("folder", "", name, name, digest),
    )
