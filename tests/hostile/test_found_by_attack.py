"""Inputs that an attack has found: each ended a run with a trace, led a name astray or took what was not given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Build, disc, svg

from indexer.commands.library import read_failures
from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.sources.source import open_sources
from search.engine import SearchEngine

HALF = b"\xed\xa0\x80"
"""Half of a surrogate pair as bytes: no UTF-8, and nothing that SQLite or a digest takes."""
BODY = b'"<path d=\\"M2 2h9v7z\\"/>"'


@pytest.mark.parametrize(
    "content",
    [
        b'{"prefix":"x","icons":{"b":{"body":"<!--%b--><path d=\\"M2 2h9v7z\\"/>"}}}' % HALF,
        b'{"prefix":"x","icons":{"b%b":{"body":%b}}}' % (HALF, BODY),
        b'{"prefix":"x%b","icons":{"b":{"body":%b}}}' % (HALF, BODY),
        b'{"prefix":"x","info":{"name":"%b"},"icons":{"b":{"body":%b}}}' % (HALF, BODY),
    ],
)
def test_half_of_a_pair_in_a_set_is_no_end_of_the_run(
    build: Build, library: Library, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "set.json").write_bytes(content)
    assert build(tmp_path / "set.json").counts.embedded == 1
    assert SearchEngine.open(library.root).search("b", k=1)


def _reasons(library: Library) -> dict[str, str]:
    return {Path(failure["file"]).name: failure["reason"] for failure in read_failures(library)}


def test_a_set_or_package_whose_name_is_no_text_is_listed_beside_the_others(
    build: Build, library: Library, tmp_path: Path
) -> None:
    sets, modules = tmp_path / "sets", tmp_path / "node_modules"
    (sets / "json").mkdir(parents=True)
    (sets / "collections.json").write_text("{}")
    good = {"prefix": "a", "icons": {"b": {"body": '<path d="M2 2h9v7z"/>'}}}
    for name in (b"a.json", b"\xff.json"):
        Path(os.fsdecode(bytes(sets / "json") + b"/" + name)).write_text(json.dumps(good))
    for name in (b"good", b"bad\xff", b"odd"):
        folder = Path(os.fsdecode(bytes(modules) + b"/" + name))
        folder.mkdir(parents=True)
        stated = {"odd": {"of": "another type"}}.get(name.decode(errors="replace"), f"{name!r}-icons")
        (folder / "package.json").write_text(json.dumps({"name": stated}))
        (folder / "dot.svg").write_text(disc(4, 12))
    counts = build(sets, modules).counts
    assert (counts.found, counts.embedded, counts.failed) == (4, 2, 2)
    assert set(_reasons(library).values()) == {"its name is not UTF-8; rename it"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_stops_no_other_package(build: Build, library: Library, tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "good-icons"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "good-icons"}')
    (package / "dot.svg").write_text(disc(4, 12))
    (package.parent / "@locked").mkdir(mode=0)
    assert build(package.parent).counts.embedded == 1
    assert _reasons(library) == {"@locked": "Permission denied"}


@pytest.mark.parametrize("alias", [None, {}, "str", 5, {"parent": 7}])
def test_a_set_that_became_nonsense_after_it_was_indexed_is_named(
    build: Build, library: Library, tmp_path: Path, alias: object
) -> None:
    icon_set = {"prefix": "tab", "icons": {"a": {"body": '<path d="M2 2h9v7z"/>'}}, "aliases": {"x": {"parent": "a"}}}
    (tmp_path / "tab.json").write_text(json.dumps(icon_set, indent="\t"))
    build(tmp_path / "tab.json")
    icon_set["aliases"] = {"x": alias}
    (tmp_path / "tab.json").write_text(json.dumps(icon_set, indent="\t"))
    engine = SearchEngine.open(library.root)
    with pytest.raises(IconsError):
        engine.picture(engine.find("tab:x"))


def test_a_packages_folder_of_icons_that_leads_out_of_it_is_not_walked(
    build: Build, library: Library, tmp_path: Path
) -> None:
    outside, package = tmp_path / "outside", tmp_path / "lucide-static"
    for folder in (outside, package):
        folder.mkdir()
    (outside / "secret.svg").write_text(disc(4, 12))
    (package / "package.json").write_text('{"name": "lucide-static"}')
    (package / "icons").symlink_to(outside)
    (tmp_path / "dot.svg").write_text(disc(4, 12))
    assert build(package, tmp_path / "dot.svg").counts.found == 2
    (reason,) = _reasons(library).values()
    assert reason.startswith("leads out of the source to")


def test_a_path_without_end_is_no_reason_without_end(build: Build, library: Library, tmp_path: Path) -> None:
    (tmp_path / "dot.svg").write_text(disc(4, 12))
    rows = [{"file_path": "dot.svg"}, {"file_path": "y\0" * 10**6}, {"file_path": "z/" * 10**6}]
    (tmp_path / "icons.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert build(tmp_path / "icons.jsonl").counts.failed == 2
    assert all(len(failure["reason"]) < 300 for failure in read_failures(library))


def test_a_licence_that_is_added_later_is_noticed(build: Build, library: Library, icon_folder: Path) -> None:
    build(icon_folder)
    (icon_folder / "LICENSE").write_text("Permission is hereby granted, free of charge, to any person obtaining a copy")
    build()
    assert SearchEngine.open(library.root).search("dot a", k=1)[0].licence == "MIT"
    assert build().generation is None


CRASHES = svg(f"<style>{':not(' * 20_000}a{{fill:red}}</style><path d='M2 2h9v7z'/>")


def test_a_picture_that_crashes_its_renderer_crashes_no_search(asked: Path, tmp_path: Path) -> None:
    (tmp_path / "crash.svg").write_text(CRASHES)
    command = [sys.executable, "-c", "from search.cli import main; main()", "search", "--library", str(asked)]
    done = subprocess.run([*command, "--image", tmp_path / "crash.svg"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "can't be looked for: the renderer crashed" in done.stderr


TWINS = {
    "names": {"tab\tby": 1, "tab tby": 2, "go\nto": 3, "go nto": 4, "home": 5, "names:home": 6},
    "a": {"b:c": 7},
    "a:b": {"c": 8},
}


def test_every_key_leads_to_its_own_icon_and_every_printed_name_to_one_of_that_name(
    build: Build, library: Library, tmp_path: Path
) -> None:
    for number, (prefix, names) in enumerate(TWINS.items()):
        icons = {name: {"body": f'<path d="M2 2h{n + 3}v{n + 5}z"/>'} for name, n in names.items()}
        (tmp_path / f"{number}.json").write_text(json.dumps({"prefix": prefix, "icons": icons}))
    folder = tmp_path / "names"
    for number in range(12):
        (folder / "abcdefghijkl"[number]).mkdir(parents=True)
        (folder / "abcdefghijkl"[number] / "home.svg").write_text(disc(3 + number, 12))
        (folder / f"home#{number}.svg").write_text(disc(3 + number, 15))
    build(*(tmp_path / f"{number}.json" for number in range(3)), folder)
    engine = SearchEngine.open(library.root)
    from indexer.languages.words import printable

    hits = [engine.show(icon).hit for icon in range(1, 33)]
    assert len({hit.key for hit in hits}) == len(hits) == 32
    for hit in hits:
        assert engine.find(hit.key) == engine.find(printable(hit.key)) == hit.id
        found = engine.show(engine.find(printable(hit.name))).hit
        assert hit.name in (found.name, found.key)


def test_an_open_folder_of_packages_lists_what_it_can_not_open(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    (modules / "ok-icons").mkdir(parents=True)
    (modules / "ok-icons" / "package.json").write_text('{"name": "ok-icons"}')
    (modules / "ok-icons" / "dot.svg").write_text(disc(4, 12))
    (modules / "@file").write_text("no folder")
    assert [source.location.name for source in open_sources(modules)] == ["ok-icons"]
