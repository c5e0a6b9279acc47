"""Pictures that are files: of folders, of manifests, of one file; what lies at a place, under which licence."""

import os
import re
import sys
from hashlib import blake2b
from pathlib import Path

import pytest
from small_icons import picture_at

from indexer.errors import SourceError
from indexer.languages.words import parse
from indexer.rendering.render import render
from indexer.sources.records import (
    FAMILIES,
    FileScan,
    PictureAddress,
    Record,
    content_digest,
    family,
    from_text,
    read_regular,
    stamp_of,
    to_text,
)
from indexer.sources.source import open_sources, read_picture

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes as a name")


def write(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{SVG}<!-- {path} -->")
    return root


def listing(folder: Path, name: str, text: str, *pictures: str) -> Path:
    """A manifest beside the pictures that it names."""
    (write(folder, *pictures) / name).write_text(text)
    return folder / name


def scan(location: Path, *, exclude: tuple[str, ...] = (), stamps: dict[str, str] | None = None) -> list[FileScan]:
    [source] = open_sources(location, exclude=exclude)
    return list(source.scan(stamps or {}))


def only(location: Path) -> Record:
    [found] = scan(location)
    [record] = found.records or ()
    return record


def stamps_of(found: list[FileScan]) -> dict[str, str]:
    return {one.path: one.stamp for one in found}


def paths(location: Path, *exclude: str) -> list[str]:
    return [found.path for found in scan(location, exclude=exclude)]


def test_every_picture_is_found_once_in_order_and_what_is_drawn_in_other_formats_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "b.svg", "a/z.PNG", "a/b/c.svgz", "c.webp", "d.jpg", "e.jpeg", "f.gif", "g.apng", "h.bmp", "i.ICO")
    write(tmp_path, "readme.md", "font.ttf", "svg", "j.avif", "k.ai", "out/e.pdf", "z/d.HEIC")
    found = scan(tmp_path, exclude=("out/",))
    read = "a/b/c.svgz a/z.PNG b.svg c.webp d.jpg e.jpeg f.gif g.apng h.bmp i.ICO j.avif"
    assert " ".join(one.path for one in found if one.records) == read
    assert {one.path: one.other for one in found if not one.records} == {"k.ai": ".ai", "z/d.HEIC": ".heic"}


SYMBOLS = (
    '<symbol id="i-home" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></symbol><symbol viewBox="0 0 1 1"/>'
    '<symbol id="i-both" viewBox="0 0 8 8"><use xlink:href="#i-home"/><path fill="url(#g)" d="M0 0v8h8z"/></symbol>'
)
SHEET = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" style="display:none">'
    f'<linearGradient id="g"><stop stop-color="red"/></linearGradient>{SYMBOLS}'
)


@pytest.mark.parametrize("kind", ["folder", "npm"])
def test_a_sheet_of_symbols_is_an_icon_for_each_id_and_a_picture_with_symbols_is_one(tmp_path: Path, kind: str) -> None:
    (tmp_path / "package.json").write_text('{"name": "%s"}' % ("acme-icons" * (kind == "npm")))
    (tmp_path / "signs.svg").write_text(f"{SHEET}</svg>")
    (tmp_path / "used.svg").write_text(f'{SHEET}<use xlink:href="#i-home"/></svg>')
    [source] = open_sources(tmp_path)
    sheet, picture = source.scan({})
    drawn = {one.name: render(read_picture(source.address_of(sheet, one)), size=8) for one in sheet.records}
    assert ([*drawn], source.kind, [one.member for one in picture.records]) == (["i-home", "i-both"], kind, [""])
    assert (drawn["i-home"].pixels == render(SVG.encode(), size=8).pixels).all() and drawn["i-both"].coloured
    with pytest.raises(SourceError, match='no symbol "i-gone"'):
        read_picture(picture_at(kind, tmp_path, "signs.svg", "i-gone"))


def test_an_icon_carries_its_name_its_set_and_what_folders_say(tmp_path: Path) -> None:
    root = write(tmp_path / "acme", "24px/filled/arrow-right.svg")
    record = only(root)
    assert (record.member, record.name, record.style, record.size) == ("", "arrow-right", "filled", 24)
    assert (record.set.key, record.set.title, record.set.licence) == ("acme", "acme", None)
    assert record.digest == content_digest((root / "24px/filled/arrow-right.svg").read_bytes())
    assert parse(record.name, style=record.style, size=record.size).words == "arrow right"


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path, "a.svg", "b.svg")
    stamps = stamps_of(scan(tmp_path))
    (tmp_path / "b.svg").write_text(SVG)
    first, second = scan(tmp_path, stamps=stamps)
    assert (first.path, first.records, first.error, second.records is None) == ("a.svg", None, None, False)


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
    assert {one.path: one.error for one in scan(root)} == {"a/one.svg": None, "within.svg": None} | {
        path: f'leads out of the source to "{target}"; index that as well if it is wanted'
        for path, target in {"above/": tmp_path, "link/": outside, "two.svg": outside / "two.svg"}.items()
    }


def test_a_picture_replaced_by_a_link_out_of_the_source_is_not_read(tmp_path: Path) -> None:
    root, outside = write(tmp_path / "root", "a.svg", "b/c.svg"), write(tmp_path / "outside", "c.svg")
    (root / "a.svg").unlink()
    (root / "a.svg").symlink_to(outside / "c.svg")
    (root / "b").rename(tmp_path / "aside")
    (root / "b").symlink_to(outside)
    for path in ("a.svg", "b/c.svg"):
        with pytest.raises(SourceError, match="leads out of the source"):
            read_picture(picture_at("folder", root, path, ""))
    link = picture_at("folder", root / "a.svg", "", "")  # which the user has named
    assert read_picture(link) == (outside / "c.svg").read_bytes()


def test_a_dangling_link_and_a_pipe_are_listed_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.svg").symlink_to(tmp_path / "gone.svg")
    (tmp_path / "b.svg").symlink_to(tmp_path / "b.svg")
    os.mkfifo(tmp_path / "c.svg")
    found = {one.path: (one.error, one.records) for one in scan(tmp_path)}
    assert found.pop("b.svg")[0] is not None
    assert found == {"a.svg": ("No such file or directory", None), "c.svg": ("not a regular file", None)}


def test_a_file_that_is_given_in_pieces_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(bytes(range(200)))
    real = os.read
    monkeypatch.setattr("os.read", lambda file, n: real(file, min(n, 7)))
    assert read_regular(tmp_path / "file") == bytes(range(200))
    assert read_regular(tmp_path / "file", limit=90, cut=True) == bytes(range(90))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_listed_and_tried_again(tmp_path: Path) -> None:
    write(tmp_path, "a.svg", "b/c.svg", "d.svg")
    (tmp_path / "a.svg").chmod(0)
    (tmp_path / "b").chmod(0)
    found = scan(tmp_path)
    denied = "Permission denied"
    assert [(one.path, one.error) for one in found] == [("a.svg", denied), ("b/", denied), ("d.svg", None)]
    (tmp_path / "b").chmod(0o700)
    (tmp_path / "a.svg").chmod(0o600)
    assert [one.records is not None for one in scan(tmp_path, stamps=stamps_of(found))] == [True, True, False]


def test_what_older_programs_drew_wrongly_is_read_again_as_another_picture(tmp_path: Path) -> None:
    for content, is_other in ((SVG.encode(), False), (b'<svg fill="var(--a)"/>', True), (b"\0\0\1\0\1\0", True)):
        file, old = tmp_path / "a.svg", blake2b(content, digest_size=16).digest()
        file.write_bytes(content)
        [found] = scan(tmp_path, stamps={"a.svg": stamp_of(file)})
        assert (found.records[0].digest != old) is is_other
        assert read_picture(PictureAddress("folder", str(tmp_path), "a.svg", "", old)) == content
        assert scan(tmp_path, stamps=stamps_of([found]))[0].records is None


@only_linux
def test_names_that_are_not_utf8_can_be_stored_and_read_back(tmp_path: Path) -> None:
    odd = os.fsdecode(b"fl\xe8che\\x.svg")
    (tmp_path / odd).write_text(SVG)
    [found] = scan(tmp_path)
    assert (found.path, from_text(found.path)) == (r"fl\xe8che\\x.svg", odd) and found.records[0].name == "flèche\\x"
    (tmp_path / odd).rename(tmp_path / os.fsdecode(b"\xe8.svg"))
    (tmp_path / "icons.csv").write_bytes(b"file_path\n\xe8.svg\n")
    [found] = scan(tmp_path / "icons.csv")
    assert (found.path, found.error) == (r"\xe8.svg", None)
    assert read_picture(picture_at("manifest", tmp_path / "icons.csv", found.path, "")) == SVG.encode()


@pytest.mark.parametrize("path", ["a/b.svg", "\\", "\\x41", "\udce8", "\\\udcff\\\\", "ü"])
def test_a_path_survives_being_kept_as_text(path: str) -> None:
    assert from_text(to_text(path).encode().decode()) == path


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


KNOWN: dict[str | None, str] = {
    "MIT": "permissive",
    "Apache-2.0": "permissive",
    "Apache 2.0": "permissive",
    "BSD-3-Clause": "permissive",
    "ISC": "permissive",
    "0BSD": "permissive",
    "Unlicense": "permissive",
    "The Unlicense": "permissive",
    "CC0-1.0": "permissive",
    "Public Domain": "permissive",
    "CC-BY-4.0": "attribution",
    "CC BY 3.0": "attribution",
    "Creative Commons Attribution 4.0": "attribution",
    "CC-BY-SA-4.0": "share-alike",
    "OFL-1.1": "share-alike",
    "SIL Open Font License": "share-alike",
    "MPL-2.0": "share-alike",
    "GPL-2.0-or-later": "copyleft",
    "LGPL-2.1": "copyleft",
    "AGPL-3.0-only": "copyleft",
    "CC-BY-NC-4.0": "non-commercial",
    "CC-BY-NC-SA-4.0": "non-commercial",
    "free for non-commercial use": "non-commercial",
    "CC-BY-ND-4.0": "no-derivatives",
    "UNLICENSED": "withheld",
    "No license": "withheld",
    "proprietary": "withheld",
    "SEE LICENSE IN LICENSE.txt": "unknown",
    "Commitment": "unknown",
    "": "unknown",
    None: "unknown",
}


def test_a_licence_belongs_to_one_family_however_it_is_spelled_and_the_strictest_of_several_counts() -> None:
    assert {licence: family(licence) for licence in KNOWN} == KNOWN
    assert {licence: family(licence.lower()) for licence in KNOWN if licence} == {k: v for k, v in KNOWN.items() if k}
    assert set(KNOWN.values()) == set(FAMILIES)
    assert (family("(MIT AND CC-BY-4.0)"), family("MIT OR GPL-3.0-only")) == ("attribution", "copyleft")


def test_every_column_is_taken(tmp_path: Path) -> None:
    text = (
        "file_path,name,caption,tags,categories,set,style,size,licence\n"
        'img/home.svg,home,"a small house","house; building",Places,acme,Filled,24px,MIT\n'
    )
    record = only(listing(tmp_path, "icons.csv", text, "img/home.svg"))
    assert (record.member, record.name, record.caption) == ("", "home", "a small house")
    assert (record.tags, record.categories, record.set.key) == (("house", "building"), ("Places",), "acme")
    assert (record.style, record.size, record.licence) == ("Filled", 24, "MIT")
    assert record.digest == content_digest((tmp_path / "img" / "home.svg").read_bytes())


LISTS: dict[str, tuple[bytes, str, tuple[str, ...]]] = {
    "blanks": (b"file_path, name, tags\np/b.svg, stop, red\n", "stop", ("red",)),
    "semicolons": (b"\xef\xbb\xbf File Path ;Name;TAGS\r\np/b.svg;stop;a, b\r\n;;\r\n", "stop", ("a", "b")),
    "tabs": (b'file_path\tname\ttags\np/b.svg\t5" stop\tred;big\n', '5" stop', ("red", "big")),
    "stated": (b'"sep=;"\r\nfile_path;name\r\np/b.svg;stop\r\n', "stop", ()),
    "pandas": (b',file-path,name,tags\n0,p/b.svg,NaN,"[\'red\', ""it\'s""]"\n', "b", ("red", "it's")),
    "numpy": (b"file_path,name,tags\np/b.svg,None,\"['red' 'stop sign']\"\n", "b", ("red", "stop sign")),
    "database": (b'file_path,tags\np/b.svg,"{red,""stop sign""}"\n', "b", ("red", "stop sign")),
    "quotes": (b'file_path,name,tags\r\np/b.svg,"a ""b""\r\nc","red\nbig"\r\n', 'a "b"\r\nc', ("red", "big")),
    "windows": ("file_path;name;tags\r\np\\bär.svg;für;Straße\r\n".encode("cp1252"), "für", ("Straße",)),
    "a page": (b"filePath\np/b%C3%A4r.svg\n", "bär", ()),
    "an address": (b"FILEPATH\nfile:p/b%C3%A4r.svg\n", "bär", ()),
    "macintosh": ("file_path,name\rp/bär.svg,für\r".encode("mac-roman"), "für", ()),
    "two signs": ("file_path\np/ba\u0308r.svg\n".encode(), "bär", ()),
    "utf-16": ("file_path\tname\np/bär.svg\t設定\n".encode("utf-16"), "設定", ()),
    "utf-16, no mark": ("file_path\tname\np/bär.svg\t設定\n".encode("utf-16-le"), "設定", ()),
    "utf-16-be": ("file_path;name\np/bär.svg;設定\n".encode("utf-16-be"), "設定", ()),
    "json": (
        b'\n{"file_path": "p/b.svg", "name": null, "tags": ["x", "y", 3, "", {}], "size": 20}\n',
        "b",
        ("x", "y", "3"),
    ),
    "json list": (b'[\n {"File Path": "p/b.svg",\n  "name": NaN, "tags": "[\\"t\\\\u00fcr\\"]"}]', "b", ("tür",)),
    "json, utf-16": ('{"file_path": "p/bär.svg", "name": "für"}'.encode("utf-16"), "für", ()),
}


@pytest.mark.parametrize("written", LISTS)
def test_lists_of_excel_pandas_and_windows_are_read(tmp_path: Path, written: str) -> None:
    content, name, tags = LISTS[written]
    (write(tmp_path, "p/b.svg", "p/bär.svg") / "list.csv").write_bytes(content)
    [found] = scan(tmp_path / "list.csv")
    assert (found.error, found.records[0].name, found.records[0].tags) == (None, name, tags)
    assert read_picture(picture_at("manifest", tmp_path / "list.csv", found.path, "")).startswith(b"<svg")


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_row_that_can_not_be_read_is_told_with_its_line_and_the_others_are_taken(
    tmp_path: Path, separator: str
) -> None:
    lines = [f"a.svg{separator}n{number}".encode() for number in range(2, 1002)]
    wrong = {
        5: (b'a.svg;"never closed', 'a text that begins with " does not end'),
        20: (b'a.svg;"closed; here"', ""),
        600: (b"a.svg;n;more", f'no column is left for "more"; put text that has "{separator}" in it in quotes'),
        700: ("a.svg;звезда".encode("cp1251"), '"name" is neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8'),
        800: ("a.svg;für".encode("cp1252"), ""),
        999: (b"a.svg;\xc3\xbc\xff", '"name" is neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8'),
    }
    for line, (row, _) in wrong.items():
        lines[line - 2] = row.replace(b";", separator.encode(), 1).replace(b";more", separator.encode() + b"more")
    write(tmp_path, "a.svg").joinpath("a.csv").write_bytes(
        b"\n".join([b"file_path" + separator.encode() + b"name", *lines])
    )
    found = scan(tmp_path / "a.csv")
    assert len(found) == 1000
    assert [one.error for one in found if one.error] == [
        f"line {line}: {why}" for line, (_, why) in wrong.items() if why
    ]
    names = {one.records[0].name for one in found if one.records}
    assert {"closed; here", "für", "n6", "n1001"} < names


def test_rows_that_name_no_file_are_listed_with_their_line(tmp_path: Path) -> None:
    rows = scan(listing(tmp_path, "icons.csv", "name,file_path\nx,\ny,a.svg\n", "a.svg"))
    assert [(found.path, found.error) for found in rows] == [("#2", 'line 2: no "file_path"'), ("a.svg", None)]
    lines = listing(tmp_path, "icons.jsonl", '{"file_path": "a.svg"}\n{"name"\n[]\n{"file_path": "\\ud83d"}\n')
    good, broken, *others = [(found.path, found.error) for found in scan(lines)]
    assert (good, broken[1][:24]) == (("a.svg", None), "line 2: not valid JSON: ")
    assert others == [("#3", "line 3: no JSON object"), ("#4", "line 4: \"'\\ud83d'\" is no path")]
    listed = listing(tmp_path, "list.jsonl", '[{"file_path": "a.svg"},\n{"name",\n{"file_path": "a.svg"}]')
    assert [(found.error or "")[:23] for found in scan(listed)] == ["", "line 2: not valid JSON:", ""]


def test_a_missing_file_costs_its_row_only_and_the_path_alone_is_needed(tmp_path: Path) -> None:
    picture = tmp_path / "elsewhere" / "arrow-right.svg"
    manifest = listing(tmp_path, "mine.csv", f"file_path\ngone.svg\n{picture}\n", "elsewhere/arrow-right.svg")
    first, second = scan(manifest)
    assert (first.path, first.error, first.records) == ("gone.svg", "No such file or directory", None)
    [record] = second.records
    assert (second.path, record.set.key) == (str(picture), "mine")
    assert (record.name, record.tags, record.caption) == ("arrow-right", (), None)
    assert read_picture(picture_at("manifest", manifest, second.path, "")) == picture.read_bytes()


def test_a_file_listed_again_is_another_icon(tmp_path: Path) -> None:
    text = "file_path,name\na.svg,one\na.svg,two\na#2.svg,three\na.svg#2,four\n"
    manifest = listing(tmp_path, "icons.csv", text, "a.svg", "a#2.svg", "a.svg#2")
    found = scan(manifest)
    assert [scanned.path for scanned in found] == ["a.svg", "a.svg#2", "a#2.svg", "a.svg#2#1"]
    for scanned in found:
        content = read_picture(picture_at("manifest", manifest, scanned.path, ""))
        assert content_digest(content) == scanned.records[0].digest
    assert b"<!-- a.svg#2 -->" in read_picture(picture_at("manifest", manifest, "a.svg#2#1", ""))
    assert b"<!-- a.svg -->" in read_picture(picture_at("manifest", manifest, "a.svg#2", ""))


def test_a_changed_row_or_a_changed_file_is_read_again(tmp_path: Path) -> None:
    text = "file_path,name\na.svg,one\nb.svg,two\nc.svg,three\n"
    manifest = listing(tmp_path, "icons.csv", text, "a.svg", "b.svg", "c.svg")
    stamps = stamps_of(scan(manifest))
    (tmp_path / "b.svg").write_text(SVG)
    manifest.write_text("file_path,name\na.svg,one\nb.svg,two\nc.svg,other\n")
    assert [found.records is not None for found in scan(manifest, stamps=stamps)] == [False, True, True]


@pytest.mark.parametrize(("text", "header"), [("filename,name\na.svg,a\n", "filename,name"), ("", "")])
def test_a_manifest_without_the_column_is_listed_as_a_whole(tmp_path: Path, text: str, header: str) -> None:
    [found] = scan(listing(tmp_path, "icons.csv", text, "a.svg"))
    assert (found.path, found.error) == ("", f'no column "file_path" in the first line "{header}"')
    assert scan(listing(tmp_path, "icons.jsonl", "")) == []


def test_a_record_can_be_read_again_from_every_kind_of_source(tmp_path: Path) -> None:
    write(tmp_path, "plain/x/a.svg", "package/icons/b.svg")
    for name, text in {
        "package/package.json": '{"name": "lucide-static"}',
        "set.json": '{"prefix": "set", "icons": {"c": {"body": ""}}}',
        "rows.csv": "file_path\nplain/x/a.svg\n",
        "rows.jsonl": '{"file_path": "package/icons/b.svg"}',
    }.items():
        (tmp_path / name).write_text(text)
    found = []
    for location in ("plain", "package", "set.json", "rows.csv", "rows.jsonl", "plain/x/a.svg"):
        [source] = open_sources(tmp_path / location)
        [scanned] = source.scan({})
        [record] = scanned.records
        content = read_picture(picture_at(source.kind, source.location, scanned.path, record.member))
        assert content_digest(content) == record.digest
        found.append((source.kind, record.name, record.set.key))
    assert [kind for kind, *_ in found] == ["folder", "npm", "iconify", "manifest", "manifest", "folder"]
    assert found[-1] == ("folder", "a", "x"), "of a single picture"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("gone", "does not exist"), ("notes.txt", "is neither"), ("package.json", "is neither")],
)
def test_what_is_no_source_is_refused_by_name(tmp_path: Path, name: str, reason: str) -> None:
    for other in ("notes.txt", "package.json"):
        (tmp_path / other).write_text('{"name": "x"}')
    with pytest.raises(SourceError, match=f'{name}" {reason}'):
        open_sources(tmp_path / name)
