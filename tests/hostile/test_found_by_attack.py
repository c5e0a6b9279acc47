"""Inputs that an attack has found: each ended a run with a trace, led a name astray or took what was not given."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from conftest import Build, disc, svg

from indexer.commands.library import read_failures
from indexer.errors import IconsError
from indexer.library.folder import Library
from search.engine import SearchEngine

"""Half of a surrogate pair as bytes: no UTF-8, and nothing that SQLite or a digest takes."""


HALF = b"\xed\xa0\x80"
"""Half of a surrogate pair as bytes: no UTF-8, and nothing that SQLite or a digest takes."""
SETS = (
    b'{"prefix":"w","icons":{"b":{"body":"<!--%b--><path d=\\"M2 2h6v7z\\"/>"}}}',
    b'{"prefix":"x","icons":{"b%b":{"body":"<path d=\\"M2 2h7v7z\\"/>"}}}',
    b'{"prefix":"y%b","icons":{"b":{"body":"<path d=\\"M2 2h8v7z\\"/>"}}}',
    b'{"prefix":"z","info":{"name":"%b"},"icons":{"b":{"body":"<path d=\\"M2 2h9v7z\\"/>"}}}',
)


def test_half_of_a_pair_in_a_set_is_no_end_of_the_run(build: Build, library: Library, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(len(SETS))]
    for file, content in zip(files, SETS, strict=True):
        file.write_bytes(content % HALF)
    assert build(*files).counts.embedded == len(SETS)
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


def test_a_set_that_became_nonsense_after_it_was_indexed_is_named(
    build: Build, library: Library, tmp_path: Path
) -> None:
    icon_set = {"prefix": "tab", "icons": {"a": {"body": '<path d="M2 2h9v7z"/>'}}, "aliases": {"x": {"parent": "a"}}}
    (tmp_path / "tab.json").write_text(json.dumps(icon_set, indent="\t"))
    build(tmp_path / "tab.json")
    for alias in (None, {}, "str", 5, {"parent": 7}):
        (tmp_path / "tab.json").write_text(json.dumps(icon_set | {"aliases": {"x": alias}}, indent="\t"))
        engine = SearchEngine.open(library.root)
        with pytest.raises(IconsError):
            engine.picture(engine.find("tab:x"))


def test_a_picture_that_crashes_its_renderer_crashes_no_search(run: Callable[..., Result], tmp_path: Path) -> None:
    crashes = svg(f"<style>{':not(' * 20_000}a{{fill:red}}</style><path d='M2 2h9v7z'/>")
    (tmp_path / "crash.svg").write_text(crashes)
    done = run("search", "--image", tmp_path / "crash.svg")
    assert done.exit_code == 2
    assert "can't be looked for: the renderer crashed" in done.stderr
