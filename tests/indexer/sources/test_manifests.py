import json
import os
import sys
from pathlib import Path

import pytest
from small_icons import picture_at

from indexer.sources.records import FileScan, Record, content_digest
from indexer.sources.source import open_sources, read_picture

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'


def write(folder: Path, name: str, text: str, *pictures: str) -> Path:
    for picture in pictures:
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        (folder / picture).write_text(f"{SVG}<!-- {picture} -->")
    (folder / name).write_text(text)
    return folder / name


def scan(manifest: Path, stamps: dict[str, str] | None = None) -> list[FileScan]:
    [source] = open_sources(manifest)
    assert source.kind == "manifest"
    return list(source.scan(stamps or {}))


def only(manifest: Path) -> Record:
    [found] = scan(manifest)
    assert found.records is not None, found.error
    [record] = found.records
    return record


def test_every_column_is_taken(tmp_path: Path) -> None:
    text = (
        "file_path,name,caption,tags,categories,set,style,size,licence\n"
        'img/home.svg,home,"a small house","house; building",Places,acme,Filled,24px,MIT\n'
    )
    record = only(write(tmp_path, "icons.csv", text, "img/home.svg"))
    assert (record.member, record.name, record.caption) == ("", "home", "a small house")
    assert (record.tags, record.categories) == (("house", "building"), ("Places",))
    assert (record.set.key, record.style, record.size, record.licence) == ("acme", "Filled", 24, "MIT")
    assert record.digest == content_digest((tmp_path / "img" / "home.svg").read_bytes())


def test_json_lines_have_lists(tmp_path: Path) -> None:
    row = {"file_path": "a.svg", "tags": ["x", "y", 3, ""], "categories": "p, q", "size": 20, "style": None}
    record = only(write(tmp_path, "icons.jsonl", f"\n{json.dumps(row)}\n", "a.svg"))
    assert (record.tags, record.categories, record.size, record.style) == (("x", "y", "3"), ("p", "q"), 20, None)


@pytest.mark.parametrize("separator", ["\t", ";", ","])
def test_the_separator_is_told_by_the_header(tmp_path: Path, separator: str) -> None:
    text = (
        f"file_path{separator}caption\na.svg{separator}one, two\n"
        if separator != ","
        else "file_path,caption\na.svg,one\n"
    )
    record = only(write(tmp_path, "icons.csv", text, "a.svg"))
    assert record.caption == ("one" if separator == "," else "one, two")


def test_rows_that_name_no_file_are_listed_with_their_line(tmp_path: Path) -> None:
    csv = write(tmp_path, "icons.csv", "name,file_path\nx,\ny,a.svg\n", "a.svg")
    assert [(found.path, found.error) for found in scan(csv)] == [("#2", 'line 2: no "file_path"'), ("a.svg", None)]
    lines = write(tmp_path, "icons.jsonl", '{"file_path": "a.svg"}\n{"name"\n[]\n{"file_path": "\\ud83d"}\n')
    errors = [(found.path, found.error) for found in scan(lines)]
    assert errors[0] == ("a.svg", None)
    assert errors[1][1] is not None
    assert errors[1][1].startswith("line 2: not valid JSON: ")
    assert errors[2] == ("#3", "line 3: no JSON object")
    assert errors[3][0] == "#4"


def test_a_missing_file_costs_its_row_only_and_the_path_alone_is_needed(tmp_path: Path) -> None:
    picture = tmp_path / "elsewhere" / "arrow-right.svg"
    manifest = write(tmp_path, "mine.csv", f"file_path\ngone.svg\n{picture}\n", "elsewhere/arrow-right.svg")
    first, second = scan(manifest)
    assert (first.path, first.error, first.records) == ("gone.svg", "No such file or directory", None)
    assert second.path == str(picture)
    assert second.records is not None
    [record] = second.records
    assert (record.name, record.set.key, record.tags, record.caption) == ("arrow-right", "mine", (), None)
    assert read_picture(picture_at("manifest", manifest, second.path, "")) == picture.read_bytes()


def test_a_manifest_without_the_column_is_listed_as_a_whole(tmp_path: Path) -> None:
    [found] = scan(write(tmp_path, "icons.csv", "filepath,name\na.svg,a\n", "a.svg"))
    assert (found.path, found.error) == ("", 'no column "file_path" in the first line "filepath,name"')


def test_a_file_listed_again_is_another_icon(tmp_path: Path) -> None:
    text = "file_path,name\na.svg,one\na.svg,two\na#2.svg,three\na.svg#2,four\n"
    manifest = write(tmp_path, "icons.csv", text, "a.svg", "a#2.svg", "a.svg#2")
    found = scan(manifest)
    assert [scanned.path for scanned in found] == ["a.svg", "a.svg#2", "a#2.svg", "a.svg#2#1"]
    for scanned in found:
        assert scanned.records is not None
        content = read_picture(picture_at("manifest", manifest, scanned.path, ""))
        assert content_digest(content) == scanned.records[0].digest
    assert b"<!-- a.svg#2 -->" in read_picture(picture_at("manifest", manifest, "a.svg#2#1", ""))
    assert b"<!-- a.svg -->" in read_picture(picture_at("manifest", manifest, "a.svg#2", ""))


def test_a_changed_row_or_a_changed_file_is_read_again(tmp_path: Path) -> None:
    manifest = write(
        tmp_path, "icons.csv", "file_path,name\na.svg,one\nb.svg,two\nc.svg,three\n", "a.svg", "b.svg", "c.svg"
    )
    stamps = {found.path: found.stamp for found in scan(manifest)}
    (tmp_path / "b.svg").write_text(SVG)
    manifest.write_text("file_path,name\na.svg,one\nb.svg,two\nc.svg,other\n")
    assert [found.records is not None for found in scan(manifest, stamps)] == [False, True, True]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes as a name")
def test_paths_that_are_not_utf8_are_found(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xe8.svg")).write_text(SVG)
    (tmp_path / "icons.csv").write_bytes(b"file_path\n\xe8.svg\n")
    [found] = scan(tmp_path / "icons.csv")
    assert (found.path, found.error) == (r"\xe8.svg", None)
    assert read_picture(picture_at("manifest", tmp_path / "icons.csv", found.path, "")) == SVG.encode()


def test_an_empty_manifest_has_no_columns(tmp_path: Path) -> None:
    assert scan(write(tmp_path, "icons.csv", ""))[0].error == 'no column "file_path" in the first line ""'
    assert scan(write(tmp_path, "icons.jsonl", "")) == []
