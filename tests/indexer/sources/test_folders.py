import os
import re
import sys
from pathlib import Path

import pytest
from small_icons import picture_at

from indexer.errors import SourceError
from indexer.languages.names import parse
from indexer.sources.records import FileScan, Record, content_digest, from_text, to_text
from indexer.sources.source import open_sources, read_picture

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'

needs_permissions = pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)


def write(root: Path, *paths: str) -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(SVG + path.encode(errors="replace"))
    return root


def scan(location: Path, *, exclude: tuple[str, ...] = (), stamps: dict[str, str] | None = None) -> list[FileScan]:
    [source] = open_sources(location, exclude=exclude)
    return list(source.scan(stamps or {}))


def only(location: Path) -> Record:
    [found] = scan(location)
    assert found.records is not None
    [record] = found.records
    return record


def paths(location: Path, *exclude: str) -> list[str]:
    return [found.path for found in scan(location, exclude=exclude)]


def test_every_picture_is_found_once_in_order(tmp_path: Path) -> None:
    write(tmp_path, "b.svg", "a/z.PNG", "a/b/c.svgz", "c.webp", "d.jpg", "e.jpeg", "f.gif", "g.apng", "h.bmp", "i.ICO")
    write(tmp_path, "readme.md", "font.ttf", "svg")
    expected = "a/b/c.svgz a/z.PNG b.svg c.webp d.jpg e.jpeg f.gif g.apng h.bmp i.ICO".split()  # noqa: SIM905
    assert paths(tmp_path) == expected


def test_an_icon_carries_its_name_its_set_and_what_folders_say(tmp_path: Path) -> None:
    root = write(tmp_path / "acme", "24px/filled/arrow-right.svg")
    record = only(root)
    assert (record.member, record.name, record.style, record.size) == ("", "arrow-right", "filled", 24)
    assert (record.set.key, record.set.title, record.set.licence) == ("acme", "acme", None)
    assert record.digest == content_digest((root / "24px/filled/arrow-right.svg").read_bytes())
    assert parse(record.name, style=record.style, size=record.size).words == "arrow right"


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path, "a.svg", "b.svg")
    stamps = {found.path: found.stamp for found in scan(tmp_path)}
    (tmp_path / "b.svg").write_bytes(SVG)
    first, second = scan(tmp_path, stamps=stamps)
    assert (first.path, first.records, first.error) == ("a.svg", None, None)
    assert second.records is not None


def test_patterns_leave_files_out_as_git_would(tmp_path: Path) -> None:
    write(tmp_path, "a.svg", ".hidden.svg", ".cache/b.svg", "build/c.svg", "x/build/d.svg", "x/e.png", "x/keep.png")
    assert paths(tmp_path, ".*", "build/", "*.png", "!keep.png") == ["a.svg", "x/keep.png"]
    assert paths(tmp_path, "/x/") == [".cache/b.svg", ".hidden.svg", "a.svg", "build/c.svg"]


def test_what_gitignore_files_leave_out_is_left_out_when_asked(tmp_path: Path) -> None:
    write(tmp_path, "a.svg", "out/b.svg", "x/c.svg", "x/d.svg", "x/y/d.svg", ".git/e.svg", "d.svg")
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "x" / ".gitignore").write_text("d.svg\n")
    (tmp_path / "x" / "y" / ".gitignore").write_text("!d.svg\n!\n\\\n")  # the last two are no patterns
    assert paths(tmp_path, "@gitignore") == ["a.svg", "d.svg", "x/c.svg", "x/y/d.svg"]
    assert paths(tmp_path, "@gitignore", "!out/", "x/") == ["a.svg", "d.svg", "out/b.svg"]
    assert len(paths(tmp_path)) == 7


def test_linked_folders_are_neither_walked_twice_nor_followed_out_of_the_source(tmp_path: Path) -> None:
    root = write(tmp_path / "root", "a/one.svg")
    outside = write(tmp_path / "outside", "two.svg")
    (root / "a" / "loop").symlink_to(root)
    (root / "above").symlink_to(tmp_path)
    (root / "same").symlink_to(root / "a")
    (root / "link").symlink_to(outside)
    (root / "two.svg").symlink_to(outside / "two.svg")
    (root / "within.svg").symlink_to(root / "a" / "one.svg")
    found = scan(root)
    assert [one.path for one in found if one.error is None] == ["a/one.svg", "within.svg"]
    assert {one.path: one.error for one in found if one.error is not None} == {
        path: f'leads out of the source to "{target}"; index that as well if it is wanted'
        for path, target in {"above/": tmp_path, "link/": outside, "two.svg": outside / "two.svg"}.items()
    }


def test_a_picture_replaced_by_a_link_out_of_the_source_is_not_read(tmp_path: Path) -> None:
    root, outside = write(tmp_path / "root", "a.svg", "b/c.svg"), write(tmp_path / "outside", "c.svg")
    (root / "a.svg").unlink()
    (root / "a.svg").symlink_to(outside / "c.svg")
    (root / "b" / "c.svg").unlink()
    (root / "b").rmdir()
    (root / "b").symlink_to(outside)
    for path in ("a.svg", "b/c.svg"):
        with pytest.raises(SourceError, match="leads out of the source"):
            read_picture(picture_at("folder", root, path, ""))
    named = read_picture(picture_at("folder", root / "a.svg", "", ""))  # a link that the user has named
    assert named == (outside / "c.svg").read_bytes()


def test_a_dangling_link_and_a_pipe_are_listed_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.svg").symlink_to(tmp_path / "gone.svg")
    (tmp_path / "b.svg").symlink_to(tmp_path / "b.svg")
    os.mkfifo(tmp_path / "c.svg")
    found = {one.path: (one.error, one.records) for one in scan(tmp_path)}
    assert found.pop("b.svg")[0] is not None
    assert found == {"a.svg": ("No such file or directory", None), "c.svg": ("not a regular file", None)}


@needs_permissions
def test_what_may_not_be_read_is_listed_and_tried_again(tmp_path: Path) -> None:
    write(tmp_path, "a.svg", "b/c.svg", "d.svg")
    (tmp_path / "a.svg").chmod(0)
    (tmp_path / "b").chmod(0)
    first, second, third = scan(tmp_path)
    assert (first.path, first.error) == ("a.svg", "Permission denied")
    assert (second.path, second.error) == ("b/", "Permission denied")
    assert third.records is not None
    (tmp_path / "b").chmod(0o700)
    (tmp_path / "a.svg").chmod(0o600)
    again = scan(tmp_path, stamps={found.path: found.stamp for found in (first, second, third)})
    assert [found.records is not None for found in again] == [True, True, False]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes as a name")
def test_names_that_are_not_utf8_can_be_stored_and_read_back(tmp_path: Path) -> None:
    odd = os.fsdecode(b"fl\xe8che\\x.svg")
    (tmp_path / odd).write_bytes(SVG)
    [found] = scan(tmp_path)
    assert found.path == r"fl\xe8che\\x.svg"
    assert from_text(found.path) == odd
    assert found.records is not None
    assert found.records[0].name == "flèche\\x"
    found.path.encode()


@pytest.mark.parametrize("path", ["a/b.svg", "\\", "\\x41", "\udce8", "\\\udcff\\\\", "ü"])
def test_a_path_survives_being_kept_as_text(path: str) -> None:
    to_text(path).encode()
    assert from_text(to_text(path)) == path


@pytest.mark.parametrize(
    ("file", "text", "licence"),
    [
        (
            "LICENSE",
            "MIT License\n\nPermission is hereby granted, free of charge,\nto any person obtaining a copy",
            "MIT",
        ),
        ("LICENSE.txt", "Apache License\n      Version 2.0, January 2004", "Apache-2.0"),
        ("COPYING", "CC0 1.0 Universal", "CC0-1.0"),
        ("LICENSE", "All rights reserved.", None),
        ("LICENSE", "CC0 1.0 Universal ... Creative Commons Attribution 4.0 International", None),
    ],
)
def test_a_licence_is_named_only_where_it_is_plain(tmp_path: Path, file: str, text: str, licence: str | None) -> None:
    (write(tmp_path, "a.svg") / file).write_text(text)
    assert only(tmp_path).set.licence == licence


@pytest.mark.parametrize("pattern", ["!", "\\"])
def test_what_is_no_pattern_is_refused_by_its_value(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(SourceError, match=f'"{re.escape(pattern)}" is no pattern'):
        paths(write(tmp_path, "a.svg"), "*.png", pattern)
