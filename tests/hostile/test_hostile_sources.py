"""Iconify JSON, manifests and packages as hostile input: what can't be is listed, the rest is kept."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from conftest import Build, disc, svg
from small_icons import picture_at

from indexer.catalog.database import open_catalog
from indexer.catalog.scan import remember, scan
from indexer.commands.library import read_failures
from indexer.errors import IconsError, SourceError
from indexer.library.folder import Library
from indexer.sources.records import FileScan
from indexer.sources.source import open_sources, read_picture
from search.engine import SearchEngine

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'
GOOD = {"body": '<path d="M0 0h8v8z"/>'}


def scanned(location: Path) -> list[FileScan]:
    [source] = open_sources(location)
    return list(source.scan({}))


def iconify(folder: Path, **facts: Any) -> Path:
    file = folder / "set.json"
    file.write_text(json.dumps({"prefix": "x", "icons": {"good": GOOD}} | facts), "utf-8")
    return file


@pytest.mark.parametrize("wrong", [3, "x", [], [[]], None, True, {"a": 1}, {"good": []}, {"": None}, {"a": {"b": {}}}])
@pytest.mark.parametrize("fact", ["aliases", "info", "categories", "suffixes", "prefixes", "width", "lastModified"])
def test_a_fact_of_a_wrong_type_costs_no_icon_of_its_set(tmp_path: Path, fact: str, wrong: object) -> None:
    [found] = scanned(iconify(tmp_path, **{fact: wrong}))
    assert "good" in [*(record.name for record in found.records), *dict(found.broken)]


def test_a_text_without_end_is_no_name_no_prefix_and_no_reason(tmp_path: Path) -> None:
    endless = "x" * 5_000_000
    icons = {endless: GOOD, "good": GOOD, "wide": GOOD | {"width": endless}}
    aliases = {"lost": {"parent": endless}, "list": {"parent": [endless]}}
    [found] = scanned(
        iconify(tmp_path, icons=icons, aliases=aliases, categories={endless: ["good"]}, info={"name": endless})
    )
    assert [(record.name, record.categories) for record in found.records] == [("good", ()), ("lost", ())]
    assert len(found.broken) == 3 and all(len(member) + len(reason) < 500 for member, reason in found.broken)
    [found] = scanned(iconify(tmp_path, prefix="x" * 5_000))
    assert found.error == 'not an Iconify set: "prefix" or "icons" is missing'


def test_thousands_of_affixes_categories_and_aliases_take_no_longer_than_their_file(tmp_path: Path) -> None:
    names = [f"a-{number}" for number in range(5_000)]
    facts: dict[str, Any] = {
        "icons": dict.fromkeys(names, GOOD),
        "aliases": {f"b-{number}": {"parent": f"b-{number + 1}"} for number in range(1_000)},
        "suffixes": {f"s{number}": "Filled" for number in range(5_000)} | {"7": "Filled"},
        "categories": {f"c{number}": ["a-1"] for number in range(5_000)},
    }
    file = iconify(tmp_path, **facts)
    started = time.process_time()
    [found] = scanned(file)
    assert time.process_time() - started < 10 and (len(found.records), len(found.broken)) == (5_000, 1_000)
    looks = {record.name: record.style for record in found.records}
    assert (looks["a-7"], looks["a-8"]) == ("filled", None)


@pytest.mark.parametrize("path", ["../secret.svg", "a/../../secret.svg", "{secret}", "link/secret.svg", "link.svg"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_path_that_climbs_out_of_the_manifests_folder_is_not_read(tmp_path: Path, form: str, path: str) -> None:
    folder, secret = tmp_path / "icons", tmp_path / "secret.svg"
    (folder / "a").mkdir(parents=True)
    secret.write_text(SVG)
    (folder / "good.svg").write_text(SVG)
    (folder / "link").symlink_to(tmp_path)
    (folder / "link.svg").symlink_to(secret)
    rows = [path.format(secret=secret), "good.svg", "a/../good.svg"]
    text = "\n".join(["file_path", *rows] if form == "csv" else [json.dumps({"file_path": row}) for row in rows])
    manifest = folder / f"rows.{form}"
    manifest.write_text(text + "\n")
    bad, good, same = scanned(manifest)
    assert bad.error == f'leads out of the source to "{secret}"; index that as well if it is wanted'
    assert good.records and same.records


@pytest.mark.parametrize(
    "content",
    [
        b"file_path,name\nicon.svg,a\0b\n\0\0\0,x\nicon.svg\0,y\n",
        b'file_path,name\n"icon.svg,never closed\nicon.svg,x\n',
        b"file_path,name\nicon.svg,\xff\xfe\xed\xa0\x80\n",
        b"file_path,file_path\nicon.svg,icon.svg,icon.svg,icon.svg\n",
        b"n\xe9,name\nicon.svg,x\n",
        b"\xff\xfef\0i\0l\0e\0",
        b"file_path\r\ricon.svg\r\n\n\n\ricon.svg",
        b"file_path,name\nicon.svg," + b"x" * 11_000_000,
        pytest.param(b"x" * 11_000_000, marks=pytest.mark.slow),
    ],
    ids=["nul", "quote", "bytes", "twice", "latin", "utf16", "line-ends", "long-field", "one-line"],
)
def test_any_bytes_in_a_manifest_are_rows_or_listed_and_can_be_catalogued(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "icon.svg").write_text(SVG)
    (tmp_path / "rows.csv").write_bytes(content)
    found = scanned(tmp_path / "rows.csv")
    assert found and all(len(one.error or "") < 500 for one in found)
    engine = open_catalog(tmp_path / "catalog.sqlite")
    with engine.begin() as connection:
        remember(connection, tmp_path / "rows.csv", exclude=())
    assert scan(engine).icons == sum(len(one.records or ()) for one in found)
    engine.dispose()


def test_a_line_of_json_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    (tmp_path / "icon.svg").write_text(SVG)
    line = json.dumps({"file_path": "icon.svg"})
    (tmp_path / "rows.jsonl").write_text(f"{line}\n{line[:-1]}" + " " * 20_000_000)
    _, problem = scanned(tmp_path / "rows.jsonl")
    assert problem.error == "a line of more than 10 million characters"


@pytest.mark.parametrize("column", ["name", "set", "style", "licence", "tags", "categories"])
def test_a_column_without_end_costs_its_row_only(tmp_path: Path, column: str) -> None:
    (tmp_path / "icon.svg").write_text(SVG)
    rows = [{"file_path": "icon.svg", column: "x" * 1_000_000}, {"file_path": "icon.svg", column: "x"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    bad, good = scanned(tmp_path / "rows.jsonl")
    assert (bad.error, good.error) == (f'line 1: "{column}" of more than 1,000 characters', None)


@pytest.mark.parametrize("is_device", [False, True])
@pytest.mark.parametrize("name", ["LICENSE", "package.json", ".gitignore", "icons.json", "collections.json"])
def test_no_pipe_is_waited_for_and_no_device_read_where_facts_are_looked_for(
    tmp_path: Path, name: str, is_device: bool
) -> None:
    (tmp_path / "icon.svg").write_text(SVG)
    if is_device:
        (tmp_path / name).symlink_to("/dev/zero")
    else:
        os.mkfifo(tmp_path / name)
    [source] = open_sources(tmp_path, exclude=("@gitignore",))
    assert [found.error for found in source.scan({})] == [None]


def test_an_icon_whose_set_became_a_link_out_is_not_served(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "json").mkdir(parents=True)
    (package / "collections.json").write_text("{}")
    outside = iconify(tmp_path, icons={"good": {"body": "secret"}})
    (package / "json" / "set.json").write_text(json.dumps({"prefix": "x", "icons": {"good": GOOD}}))
    assert b"secret" not in read_picture(picture_at("iconify", package, "json/set.json", "good"))
    (package / "json" / "set.json").unlink()
    (package / "json" / "set.json").symlink_to(outside)
    with pytest.raises(SourceError, match="leads out of the source"):
        read_picture(picture_at("iconify", package, "json/set.json", "good"))


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
    assert build(*files).counts.embedded == len(SETS) and SearchEngine.open(library.root).search("b", k=1)


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
    assert (build(package.parent).counts.embedded, _reasons(library)) == (1, {"@locked": "Permission denied"})


def test_a_packages_folder_of_icons_that_leads_out_of_it_is_not_walked(tmp_path: Path) -> None:
    package, secret = tmp_path / "lucide-static", tmp_path / "outside" / "secret.svg"
    for folder in (secret.parent, package):
        folder.mkdir()
    secret.write_text(SVG)
    (package / "package.json").write_text('{"name": "lucide-static"}')
    (package / "icons").symlink_to(secret.parent)
    [found] = scanned(package)
    assert found.error.startswith("leads out of the source to")


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
    (tmp_path / "crash.svg").write_text(svg(f"<style>{':not(' * 20_000}a{{fill:red}}</style><path d='M2 2h9v7z'/>"))
    done = run("search", "--image", tmp_path / "crash.svg")
    assert done.exit_code == 2 and "can't be looked for: the renderer crashed" in done.stderr
