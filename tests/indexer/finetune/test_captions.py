"""What icons may be called, and how often; which are admitted or held out; captions are shown, corrected, learnt."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_finetune import arguments, run

from indexer.finetune.captions import (
    KINDS,
    SHARES,
    Limits,
    Placed,
    base_of,
    gather,
    is_held_out,
    make_captions,
    plain_name,
    refuse_licence,
    share_held_out,
)
from indexer.finetune.lesson import read_material
from indexer.finetune.options import Learning, Places
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
        assert len(phrase.split()) == 2 and set(phrase.split()) <= {"bin", "delete", "remove", "rubbish"}


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
    gathered = gather(names, limits=limits or Limits(variants_per_name=2), refuse=lambda _: None, extra_tags=extra)
    return {f"{icon.placed.record.set.key} {icon.words}": icon.tags for icon in gathered.icons}


@pytest.mark.parametrize("licence", ["MIT", "Apache-2.0", "CC-BY-4.0", "CC0-1.0", "OFL-1.1", "ISC", "CC-BY-SA-4.0"])
def test_open_licences_are_permissive_and_others_and_none_are_not(licence: str) -> None:
    assert refuse_licence(licence) is None and refuse_licence(None) == "no licence"
    others = ("GPL-2.0-only", "AGPL-3.0-only", "LGPL-2.1", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "Non-Commercial")
    assert [refuse_licence(other) for other in others] == [f"licence {other}" for other in others]


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


def test_a_sample_is_shown_as_a_table(icons: Path) -> None:
    shown = run("lab", "captions", str(icons), "-n", "64").output
    assert all(part in shown for part in ("disc left", "round", "64 icons; --out FILE.csv writes all of them")), shown


def test_captions_written_and_corrected_are_learnt_instead_of_mined_ones(
    icons: Path, start: Path, tmp_path: Path
) -> None:
    file, out = tmp_path / "captions.csv", tmp_path / "mine"
    run("lab", "captions", str(icons), "--out", str(file))
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 64
    first = next(row for row in rows if row["file"].endswith("/disc-left.svg"))
    assert (first["name"], first["set"], first["licence"], first["base"]) == ("disc left", "icons", "MIT", "disc left")
    assert {"disc left", "round", "full", "disc"} <= set(first["captions"].split("; "))
    file.write_text(f"file,captions\n{first['file']},the sun at noon; sun\n/nowhere.svg,nothing\n")
    told = run(*arguments(icons, start, out, "--captions", str(file), "--allow-regression")).output
    assert '"/nowhere.svg": own captions, but no such icon' in told
    material = read_material(Places(out).corpus, Learning(), seed=0)
    row = material.facts["own"].index(["the sun at noon", "sun"])
    assert material.facts["words"][row] == "disc left"
    learnt = [material.captions.texts[number] for number in material.captions.of(row)]
    assert learnt == ["the sun at noon", "sun"]


def test_what_is_learnt_from_is_chosen_as_for_a_training(icons: Path, tmp_path: Path) -> None:
    def rows(*options: str) -> list[dict[str, Any]]:
        file = tmp_path / "captions.jsonl"
        run("lab", "captions", str(icons), "--out", str(file), *options)
        return [json.loads(line) for line in file.read_text().splitlines()]

    usual = rows()
    held = {row["base"] for row in usual if row["held_out"]}
    assert held and all(row["held_out"] == (row["base"] in held) for row in usual)
    assert all(row["captions"][0] == row["name"] for row in usual)
    assert sum(row["held_out"] for row in rows("--set", "held_out=2")) > len(held)
    assert {row["set"] for row in rows("--set", "names_per_set=3")} == {"icons"}
    assert len({row["base"] for row in rows("--set", "names_per_set=3")}) == 3


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        ("csv", "file,captions\n/a.svg,\n", 'line 2 has no "captions"'),
        ("csv", "name,captions\na,b\n", 'line 2 has no "file"'),
        ("csv", "file,captions\n", "holds no captions"),
        ("csv", "file,captions\n/nowhere.svg,a\n", "is one of the icons"),
        ("jsonl", "[" * 100_000, "holds no captions"),
        ("jsonl", "3", "line 1: no JSON object; `icons lab captions"),
        ("csv", 'file,captions\n/a.svg,"a\n', 'line 2: a text that begins with " does not end'),
        ("jsonl", '{"file": "a.svg", "captions": {}}', 'line 1 has no "captions"'),
    ],
)
def test_what_can_not_be_read_as_captions_says_so(
    icons: Path, tmp_path: Path, kind: str, content: str, reason: str
) -> None:
    file = tmp_path / f"captions.{kind}"
    file.write_text(content)
    assert reason in run("lab", "captions", str(icons), "--captions", str(file), code=2).output


def test_captions_go_to_files_of_two_kinds_and_halves_of_signs_are_no_text(icons: Path, tmp_path: Path) -> None:
    file, first = tmp_path / "captions.jsonl", icons / "disc-left.svg"
    file.write_text(f'{{"file": "{first}", "captions": 3}}\n{{"file": "{first}", "captions": ["half \\ud800"]}}\n')
    run("lab", "captions", str(icons), "--captions", str(file), "--out", str(out := tmp_path / "out.jsonl"))
    (found,) = [row for line in out.read_text().splitlines() if (row := json.loads(line))["file"] == str(first)]
    assert found["captions"] == ["3", "half ?"]
    names = {str(tmp_path / "captions.txt"): "neither .csv nor", "/proc/captions.csv": "can't be written"}
    assert all(said in run("lab", "captions", str(icons), "--out", it, code=2).output for it, said in names.items())


def test_no_list_is_read_from_an_endless_device(icons: Path, start: Path, tmp_path: Path) -> None:
    endless = tmp_path / "words.csv"
    endless.symlink_to("/dev/zero")
    train = arguments(icons, start, tmp_path / "mine")
    for given in (
        ["lab", "captions", str(icons), "--captions", str(endless)],
        [*train, "--captions", str(endless)],
        [*train, "--new-model", str(endless)],
        [*train, "--set", "keep_words_weight=1", "--set", f"keep_words={endless}"],
    ):
        told = run(*given, code=2).output
        assert f'"{endless}"' in told.splitlines()[-1]
        assert "it has more than" in told.splitlines()[-1] or "not a regular file" in told.splitlines()[-1]


def test_a_manifest_of_captions_teaches_them_each(icons: Path, start: Path, tmp_path: Path) -> None:
    """One row a caption, as image and text lists have it."""
    folder, out = icons.parent, tmp_path / "mine"
    manifest = folder / "pairs.csv"
    lines = [f"ring-left.svg,{text}\n" for text in ("a ring", "wedding")] + [
        f"{name}.svg,the {name}\n"
        for name in ("box-top", "bar-top", "disc-right", "cross-left", "dots-left", "slope-top")
    ]
    manifest.write_text("file_path,caption\n" + "".join(lines))
    run(*arguments(manifest, start, out, "--batch", "4", "--allow-regression", "--set", "held_out=50"))
    facts = json.loads((Places(out).corpus / "corpus.json").read_text())
    assert ["a ring", "wedding"] in facts["own"] and len(facts["words"]) == 7


def test_the_sheet_of_augmentations_is_drawn_without_training(icons: Path, start: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    how = ("--show-augmentations", str(sheet), "--workers", "0", "--model", f"local-dir:{start}")
    run("lab", "finetune", str(icons), *how)
    with Image.open(sheet) as drawn:
        assert drawn.format == "PNG"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sheet.png"]
    assert "Missing option '--out'" in run("lab", "finetune", str(icons), code=2).output
