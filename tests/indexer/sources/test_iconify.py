import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_icons import picture_at

from indexer.errors import SourceError
from indexer.rendering.render import render
from indexer.sources.iconify import build_svg, read_icon_alone
from indexer.sources.records import FileScan, IconSet, content_digest
from indexer.sources.source import open_sources, read_indexed, read_picture

CORNER = '<path d="M1 2h4v2H1z"/>'
"""Off every axis, so that no turn or flip leaves it where it was."""


def write_set(file: Path, icons: dict[str, Any], **more: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"prefix": file.stem, "icons": icons, "width": 8, "height": 8, **more}))
    return file


def scan(location: Path, stamps: dict[str, str] | None = None) -> list[FileScan]:
    [source] = open_sources(location)
    return list(source.scan(stamps or {}))


def picture(file: Path, name: str) -> NDArray[np.uint8]:
    return render(read_picture(picture_at("iconify", file, "", name)), size=32).pixels


def test_a_picture_is_the_body_in_a_document_of_its_own(tmp_path: Path) -> None:
    wide = {"body": '<use xlink:href="#a"/>', "width": 12, "left": -2}
    file = write_set(tmp_path / "acme.json", {"home": {"body": CORNER}, "wide": wide})
    assert (
        read_picture(picture_at("iconify", file, "", "home"))
        == f'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" viewBox="0 0 8 8">{CORNER}</svg>'.encode()
    )
    other = read_picture(picture_at("iconify", file, "", "wide"))
    assert b'xmlns:xlink="http://www.w3.org/1999/xlink" width="12" height="8" viewBox="-2 0 12 8"' in other
    assert b'width="16" height="16" viewBox="0 0 16 16"' in build_svg({"body": ""}), "where nothing says another size"


@pytest.mark.parametrize(
    ("turned", "expected"),
    [
        ({"hFlip": True}, np.fliplr),
        ({"vFlip": True}, np.flipud),
        ({"hFlip": True, "vFlip": True}, lambda picture: np.rot90(picture, 2)),
        ({"rotate": 1}, lambda picture: np.rot90(picture, -1)),
        ({"rotate": 2}, lambda picture: np.rot90(picture, 2)),
        ({"rotate": 3}, lambda picture: np.rot90(picture, 1)),
        ({"rotate": 1, "hFlip": True}, lambda picture: np.rot90(np.fliplr(picture), -1)),
        ({"rotate": 5, "vFlip": True}, lambda picture: np.rot90(np.flipud(picture), -1)),
    ],
)
@pytest.mark.parametrize("box", [{}, {"left": -1, "top": -2}, {"left": -4, "width": 16, "height": 8}])
def test_aliases_turn_and_flip(tmp_path: Path, turned: dict[str, Any], expected: Any, box: dict[str, int]) -> None:
    file = write_set(tmp_path / "a.json", {"up": {"body": CORNER, **box}}, aliases={"b": {"parent": "up", **turned}})
    np.testing.assert_array_equal(picture(file, "b"), expected(picture(file, "up")))


def test_a_set_tells_facts_categories_and_styles_and_hides_icons(tmp_path: Path) -> None:
    names = ("home", "home-fill", "home-20-solid", "home-sharp-two-tone", "outline-car")
    info = {
        "name": "Acme Icons", "version": "1.2", "author": {"name": "A. C. Me"},
        "license": {"title": "MIT License", "spdx": "MIT"},
    }  # fmt: skip
    file = write_set(
        tmp_path / "acme.json",
        {name: {"body": CORNER} for name in names} | {"old": {"body": CORNER, "hidden": True}},
        info=info,
        aliases={"auto": {"parent": "outline-car"}, "older": {"parent": "old"}},
        categories={"Transport": ["outline-car"], "Things": ["outline-car"]},
        suffixes={"": "Regular", "fill": "Fill", "20-solid": "Solid 20x20", "sharp-two-tone": "Sharp Two Tone"},
        prefixes={"outline": "Outline"},
        not_found=["nothing"],
    )
    [found] = scan(file)
    assert found.skipped == 2
    assert [(one.member, one.style, one.size, one.categories) for one in found.records] == [
        ("home", None, None, ()),
        ("home-fill", "filled", None, ()),
        ("home-20-solid", "filled", 20, ()),
        ("home-sharp-two-tone", "sharp twotone", None, ()),
        ("outline-car", "outline", None, ("Transport", "Things")),
        ("auto", None, None, ("Transport", "Things")),
    ]
    assert {one.set for one in found.records} == {IconSet("acme", "Acme Icons", "1.2", "MIT", "A. C. Me")}
    odd = write_set(
        tmp_path / "a.json", {"home": {"body": CORNER, "rotate": "90deg"}},
        info="Acme", categories=["x"], suffixes={"fill": 3}, prefixes=0, aliases=[],
    )  # fmt: skip
    assert scan(odd)[0].records[0].set.title == "a", "facts of an unknown form say nothing"


def test_aliases_that_lead_nowhere_are_listed_and_stop_nothing(tmp_path: Path) -> None:
    file = write_set(
        tmp_path / "a.json",
        {"home": {"body": CORNER}, "flat": {"body": CORNER, "height": 0}, "none": {}, "odd": 3},
        aliases={"a": {"parent": "b"}, "b": {"parent": "a"}, "lost": {"parent": "gone"}},
    )
    [found] = scan(file)
    assert [record.member for record in found.records] == ["home"]
    assert dict(found.broken) == {
        "flat": "no area: left=0 top=0 width=8 height=0",
        "none": "no body",
        "odd": 'no icon "odd"',
        "a": "alias of itself: a -> b -> a",
        "b": "alias of itself: b -> a -> b",
        "lost": 'alias of "gone", which is not there',
    }


def test_the_whole_package_is_one_source_of_many_files(tmp_path: Path) -> None:
    for prefix in ("mdi", "bi"):
        write_set(tmp_path / "json" / f"{prefix}.json", {"home": {"body": CORNER}})
    (tmp_path / "collections.json").write_text("{}")
    first, second = scan(tmp_path)
    assert (first.path, second.path) == ("json/bi.json", "json/mdi.json")
    assert read_picture(picture_at("iconify", tmp_path, "json/bi.json", "home"))
    write_set(tmp_path / "json" / "bi.json", {"home": {"body": CORNER}, "user": {"body": CORNER}})
    again = scan(tmp_path, {"json/bi.json": first.stamp, "json/mdi.json": second.stamp})
    assert [found.records is None for found in again] == [False, True]


def test_a_package_for_one_set_keeps_its_facts_beside_it(tmp_path: Path) -> None:
    write_set(tmp_path / "icons.json", {"home-fill": {"body": CORNER}}, prefix="acme")
    (tmp_path / "info.json").write_text(json.dumps({"name": "Acme Icons", "license": {"title": "Free"}}))
    metadata: dict[str, dict[str, Any]] = {"suffixes": {"fill": "Fill"}, "categories": {"Buildings": ["home-fill"]}}
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    [found] = scan(tmp_path)
    [record] = found.records
    assert (record.set.key, record.set.title, record.set.licence) == ("acme", "Acme Icons", "Free")
    assert (found.path, record.style, record.categories) == ("icons.json", "filled", ("Buildings",))
    metadata["suffixes"]["fill"] = "Filled in"
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    assert scan(tmp_path, {found.path: found.stamp})[0].records is not None


def test_a_file_that_is_no_json_is_listed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"prefix": "a", "icons": {"home": {"body"')
    [found] = scan(tmp_path / "a.json")
    assert found.error.startswith("not valid JSON: ")
    (tmp_path / "b.json").write_text('{"prefix": "b", "icons": []}')
    assert scan(tmp_path / "b.json")[0].error == 'not an Iconify set: "prefix" or "icons" is missing'


def _write_tabbed(folder: Path, icon_set: dict[str, object]) -> Path:
    file = folder / "own.json"
    file.write_text(json.dumps(icon_set, indent="\t", ensure_ascii=False), "utf-8")
    return file


TABBED = {
    "prefix": "own",
    "icons": {
        "home": {"body": '<path d="M0 0h1v1z"/>'},
        "home-2": {"body": '<path d="M1 1h1v1z"/>', "width": 8, "left": -2},
        'quo"te': {"body": '<!-- \n\t\t"home": { -->'},
        "ünïcode": {"body": "<g/>"},
    },
    "aliases": {"house": {"parent": "home", "hFlip": True}, "cottage": {"parent": "house", "rotate": 1}},
    "width": 24,
    "height": 16,
}


ORDERED = ["9", "10", "100", "007", "10k", "1password", "4294967296", "9-plus", "a", "a-b", "ab", "b"]
BODIES = {name: {"body": f'<path d="M{at} 0h1v1z"/>'} for at, name in enumerate(ORDERED)}


SETS = (TABBED, {"prefix": "own", "icons": BODIES}, {"prefix": "own", "icons": dict(reversed(BODIES.items()))})


@pytest.mark.parametrize("indent", ["\t", None, 2, "  "])
@pytest.mark.parametrize(("icon_set", "is_in_order"), list(zip(SETS, (True, True, False), strict=True)))
def test_an_icon_is_found_by_its_line_or_in_the_whole_however_a_set_is_written(
    tmp_path: Path, indent: str | int | None, icon_set: dict[str, Any], is_in_order: bool
) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps(icon_set, indent=indent, ensure_ascii=False), "utf-8")
    for name in (*icon_set["icons"], *icon_set.get("aliases", {})):
        whole = read_picture(picture_at("iconify", file, "", name))
        assert not is_in_order or read_icon_alone(file, name) == (whole if indent == "	" else None)
        assert read_indexed(picture_at("iconify", file, "", name, digest=content_digest(whole))) == whole


def test_an_icon_that_is_not_there_is_not_found_by_a_line(tmp_path: Path) -> None:
    file = _write_tabbed(tmp_path, {**TABBED, "aliases": {"loop": {"parent": "loop"}, "lost": {"parent": "gone"}}})
    assert [read_icon_alone(file, name) for name in ("gone", "loop", "lost", "")] == [None] * 4
    file.write_text("")
    assert read_icon_alone(file, "home") is None


def test_only_what_was_indexed_is_read(tmp_path: Path) -> None:
    file = _write_tabbed(tmp_path, TABBED)
    digest = content_digest(read_picture(picture_at("iconify", file, "", "home")))
    assert read_indexed(picture_at("iconify", file, "", "home", digest=digest))
    _write_tabbed(tmp_path, {**TABBED, "icons": {**TABBED["icons"], "home": {"body": "<g/>"}}})  # type: ignore[dict-item]
    with pytest.raises(SourceError, match="has changed since it was indexed"):
        read_indexed(picture_at("iconify", file, "", "home", digest=digest))
    file.unlink()
    with pytest.raises(SourceError, match="can't be read"):
        read_indexed(picture_at("iconify", file, "", "home", digest=digest))
