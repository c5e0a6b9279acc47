"""What leaves is safe: no script, no handler, nothing from elsewhere, no name that breaks out of where it stands."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import build_library
from small_icons import BOMB, drawn

from indexer.library.folder import Library
from search.drawings.collection import Collection, plain_name, unique
from search.drawings.export import KINDS, Kind, Options, export
from search.engine import SearchEngine

_BAD = re.compile(rb"<script|alert\(|onload|onclick|javascript:|https?://example|<foreignObject|@import", re.IGNORECASE)
EVIL_TITLE = '--><script>alert(1)</script>*/ }\n\u202e" /> `${x}`'


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_runs_or_reaches_out_leaves(engine: SearchEngine, kind: Kind) -> None:
    keys = ("traps:trap", "plain:house", "traps:\u732b <b>\x1b[31m")
    exported = export(engine, Collection("<b>x", keys), kind, Options(skip_unreadable=True))
    assert len(exported.icons) >= 2
    for name, content in exported.files.items():
        assert _BAD.search(content) is None, name
        assert re.fullmatch(r"[\w./-]+", name) and ".." not in name and not name.startswith("/")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> SearchEngine:
    """A set whose title, author and names are attacks, and drawings that are too much."""
    root = tmp_path_factory.mktemp("hostile")
    wild = '<path fill="none" stroke="#000" stroke-width="9" stroke-dasharray=".0001" d="M0 0h24v24H0z"/>'
    twins = '<g id="a"><path id="a" d="M1 1h9v9H1z"/></g><use href="#a" x="9"/>'
    info = {"name": EVIL_TITLE, "author": {"name": EVIL_TITLE}, "license": {"title": EVIL_TITLE}}
    icons = {
        "ok": {"body": '<path d="M2 2h20v9H2z"/>'},
        "dashes": {"body": wild},
        "twins": {"body": twins},
        '"><x y="': {"body": '<path d="M2 2h9v9H2z"/>'},
        "flat": {"body": '<path d="M2 2h9v9H2z"/>', "width": 200, "height": 10},
    }
    (root / "evil.json").write_text(
        json.dumps({"prefix": "evil", "info": info, "icons": icons, "width": 24, "height": 24})
    )
    folder = root / "bombs"
    folder.mkdir()
    (folder / "bomb.svg").write_bytes(BOMB)
    (folder / "fine.svg").write_text(drawn('<path d="M2 2h20v9H2z"/>'))
    build_library(Library(root / "library"), tiny_model, [root / "evil.json", folder])
    return SearchEngine.open(root / "library")


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_strangers_stay_texts(hostile: SearchEngine, kind: Kind) -> None:
    keys = ("evil:ok", 'evil:"><x y="')
    exported = export(hostile, Collection(EVIL_TITLE, keys), kind)
    for name, content in exported.files.items():
        text = content.decode(errors="replace")
        if name.endswith(".svg"):
            assert all(not str(one.tag).endswith("script") for one in ElementTree.fromstring(content).iter())
            if name.endswith(".json"):
                json.loads(text)
            elif not name.endswith((".ttf", ".woff2")):
                assert "<script" not in text and "\u202e" not in text, name
            if name.endswith((".css", ".tsx", ".ts")):
                assert "${x}" not in text and "*/" not in text


def test_ids_that_stand_twice_in_an_icon_still_draw(hostile: SearchEngine) -> None:
    exported = export(hostile, Collection("x", ("evil:twins", "evil:ok")), "sprite")
    assert b'href="#evil-twins_-a"' in exported.files["sprite.svg"]


@pytest.mark.slow
def test_what_is_too_much_for_an_outline_is_told_and_stops_nothing(hostile: SearchEngine) -> None:
    keys = ("evil:dashes", "evil:flat", "evil:ok", "evil:twins")
    exported = export(hostile, Collection("x", keys), "font", Options(skip_unreadable=True))
    assert "evil:ok" in exported.icons
    reasons = {one.key: one.reason for one in exported.left_out}
    assert reasons["evil:flat"] == "is more than 16 times as wide as high"
    assert reasons["evil:dashes"] == "took longer than 5 s"
    assert "evil:twins" in exported.icons


def test_names_are_safe_and_unique_whatever_they_were() -> None:
    own = ("a b", "a-b", "aB", "../../etc", "\u732b", "CON", "x" * 500, "A_b", "1")
    names = unique([plain_name(f"s {name}") for name in own])
    assert names[:4] == ["s-a-b", "s-a-b-2", "s-a-b-3", "s-etc"]
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) and len(name) <= 110 for name in names)
    assert len(set(names)) == len(names)
    assert unique(["a", "a", "a-2", "a"]) == ["a", "a-3", "a-2", "a-4"]
    assert [plain_name(text) for text in ("con", "", "\u00c9toile 2", "3d")] == [
        "icon-con",
        "icon",
        "etoile-2",
        "icon-3d",
    ]
    assert len(set(unique(["icon"] * 10_000))) == 10_000
