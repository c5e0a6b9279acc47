"""Iconify JSON, manifests and facts of packages as hostile input: what can't be is listed, the rest is kept."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from small_icons import picture_at

from indexer.catalog.database import open_catalog
from indexer.catalog.scan import remember, scan
from indexer.errors import SourceError
from indexer.sources.records import FileScan
from indexer.sources.source import open_sources, read_picture

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'
GOOD = {"body": '<path d="M0 0h8v8z"/>'}


def scanned(location: Path) -> list[FileScan]:
    [source] = open_sources(location)
    return list(source.scan({}))


def iconify(folder: Path, **facts: Any) -> Path:
    file = folder / "set.json"
    file.write_text(json.dumps({"prefix": "x", "icons": {"good": GOOD}} | facts), "utf-8")
    return file


def assert_catalogued(location: Path, folder: Path, *, n_icons: int) -> None:
    """What was read can be stored, named and found again, whatever it holds."""
    engine = open_catalog(folder / "catalog.sqlite")
    with engine.begin() as connection:
        remember(connection, location, exclude=())
    assert scan(engine).icons == n_icons
    engine.dispose()


@pytest.mark.parametrize("wrong", [3, "x", [], [[]], None, True, {"a": 1}, {"good": []}, {"": None}, {"a": {"b": {}}}])
@pytest.mark.parametrize("fact", ["aliases", "info", "categories", "suffixes", "prefixes", "width", "lastModified"])
def test_a_fact_of_a_wrong_type_costs_no_icon_of_its_set(tmp_path: Path, fact: str, wrong: object) -> None:
    [found] = scanned(iconify(tmp_path, **{fact: wrong}))
    kept = [record.name for record in found.records or ()] + [name for name, _ in found.broken]
    assert "good" in kept
    assert found.error is None


def test_a_text_without_end_is_no_name_no_prefix_and_no_reason(tmp_path: Path) -> None:
    endless = "x" * 5_000_000
    icons = {endless: GOOD, "good": GOOD, "wide": GOOD | {"width": endless}}
    aliases = {"lost": {"parent": endless}, "list": {"parent": [endless]}}
    [found] = scanned(
        iconify(tmp_path, icons=icons, aliases=aliases, categories={endless: ["good"]}, info={"name": endless})
    )
    assert [record.name for record in found.records or ()] == ["good", "lost"]
    assert (found.records or ())[0].categories == ()
    assert len(found.broken) == 3
    assert all(len(member) + len(reason) < 500 for member, reason in found.broken)
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
    assert time.process_time() - started < 10
    assert found.records is not None
    assert len(found.records) == 5_000
    assert len(found.broken) == 1_000
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
    assert good.records is not None
    assert same.records is not None


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
    assert found
    assert all(len(one.error or "") < 500 for one in found)
    assert_catalogued(tmp_path / "rows.csv", tmp_path, n_icons=sum(len(one.records or ()) for one in found))


def test_a_line_of_json_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    (tmp_path / "icon.svg").write_text(SVG)
    line = json.dumps({"file_path": "icon.svg"})
    (tmp_path / "rows.jsonl").write_text(f"{line}\n{line[:-1]}" + " " * 20_000_000)
    first, problem = scanned(tmp_path / "rows.jsonl")
    assert first.records is not None
    assert problem.error == "a line of more than 10 million characters"


@pytest.mark.parametrize("column", ["name", "set", "style", "licence", "tags", "categories"])
def test_a_column_without_end_costs_its_row_only(tmp_path: Path, column: str) -> None:
    (tmp_path / "icon.svg").write_text(SVG)
    rows = [{"file_path": "icon.svg", column: "x" * 1_000_000}, {"file_path": "icon.svg", column: "x"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    bad, good = scanned(tmp_path / "rows.jsonl")
    assert bad.error == f'line 1: "{column}" of more than 1,000 characters'
    assert good.records is not None


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
    [found] = source.scan({})
    assert found.records is not None


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
