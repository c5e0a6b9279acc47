"""Reserved sets, licences and nameless sets are kept out of the bundled model's training."""

import json
from pathlib import Path

import numpy as np
import pytest

from data.making.model.admission import add_described, is_reserved, looks_reserved, refuse
from indexer.finetune.gather import Gathered, Limits, Placed, TrainingIcon, gather, read_sources
from indexer.finetune.lesson import build_corpus, read_facts
from indexer.sources.records import IconSet, PictureAddress, Record

SHAPES = {"house": "M3 12 12 3l9 9v9H3z", "bin": "M6 6h12v15H6zM4 3h16v2H4z", "star": "M12 2l3 7h7l-6 4 3 8-7-5z"}


def record(key: str, licence: str | None = "MIT", *, name: str = "house") -> Record:
    return Record(name, name, name.encode(), IconSet(key, key.title(), licence=licence))


@pytest.mark.parametrize(
    "key", ["lucide-static", "feather", "octicons", "ion", "famicons", "@primer/octicons", "Lucide", "@Lucide/svelte",
            "@adobe/spectrum-css-workflow-icons", "lucide-react", "react-feather", "@spectrum-icons/workflow"],
)  # fmt: skip
def test_reserved_sets_are_refused_under_every_name(key: str) -> None:
    assert refuse(record(key)) == "reserved"
    assert is_reserved(IconSet(key, "Some", licence="MIT"))


def test_sets_of_similar_names_are_learnt_from_and_brands_flags_and_closed_licences_are_not() -> None:
    assert {refuse(record(key)) for key in ("@tabler/icons", "icon-park", "feathers", "spectrums", "ionic")} == {None}
    assert refuse(record("some", None)) == "no licence"
    assert refuse(record("some", "CC-BY-NC-4.0")) == "licence CC-BY-NC-4.0"
    assert refuse(record("simple-icons")) == "names are no meaning"
    assert refuse(record("mixed", name="flag-de")) == "brand or flag"


def icon_set(prefix: str, names: list[str], folder: Path) -> Path:
    icons = {name: {"body": f'<path d="{SHAPES[name]}"/>'} for name in names}
    info = {"name": prefix, "license": {"spdx": "MIT", "title": "MIT"}, "author": {"name": "A"}}
    file = folder / f"{prefix}.json"
    file.write_text(json.dumps({"prefix": prefix, "width": 24, "height": 24, "info": info, "icons": icons}), "utf-8")
    return file


def test_a_corpus_leaves_out_pictures_that_equal_a_reserved_one(tmp_path: Path) -> None:
    sources = [icon_set("lucide", ["house"], tmp_path), icon_set("fork", ["house", "bin", "star"], tmp_path)]
    limits = Limits(admit="shippable")
    placed = read_sources(dict.fromkeys(sources, ()), [])
    gathered = gather(placed, limits=limits, refuse=refuse, extra_tags=[{"bin": ["delete", "trash"]}])
    gathered.is_reserved = looks_reserved(placed, workers=0)
    build_corpus(gathered, tmp_path / "corpus", limits=limits, workers=0)
    facts = read_facts(tmp_path / "corpus")
    assert sorted(facts["words"]) == ["bin", "star"]
    assert facts["tags"][facts["words"].index("bin")] == ["delete", "trash"]
    assert facts["refused"]["looks like a reserved icon"] == 1
    assert facts["limits"]["admit"] == "shippable"
    pixels = np.load(tmp_path / "corpus" / "pixels.npy", mmap_mode="r")
    assert pixels[: len(facts["words"])].min(axis=(1, 2, 3)).max() < 30


def test_a_described_icon_is_there_twice_more_called_by_its_looks_alone() -> None:
    icons = [
        TrainingIcon(Placed(record("some", name=name), PictureAddress("folder", "", name, name)), name)
        for name in ("pin", "star")
    ]
    gathered = Gathered(icons)
    add_described(gathered, lambda digest: ["heart in a pin"] if digest == b"pin" else [])
    described = ("pin", ("heart in a pin",))
    assert [(icon.words, icon.own) for icon in gathered.icons] == [("pin", ()), ("star", ()), described, described]
