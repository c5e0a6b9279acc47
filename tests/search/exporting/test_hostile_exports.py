"""What leaves is safe: no script, no handler, nothing from elsewhere, no name that breaks out of where it stands."""

import re
from xml.etree import ElementTree

import pytest

from search.drawings.collection import Collection, plain_name, unique
from search.drawings.export import KINDS, Kind, Options, export
from search.engine import SearchEngine

from .conftest import EVIL_TITLE

_BAD = re.compile(rb"<script|alert\(|onload|onclick|javascript:|https?://example|<foreignObject|@import", re.IGNORECASE)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_runs_or_reaches_out_leaves(engine: SearchEngine, kind: Kind) -> None:
    keys = ("traps:trap", "plain:house", "traps:\u732b <b>\x1b[31m")
    exported = export(engine, Collection("<b>x", keys), kind, Options(skip_unreadable=True))
    assert len(exported.icons) >= 2
    for name, content in exported.files.items():
        assert _BAD.search(content) is None, name
        assert re.fullmatch(r"[\w./-]+", name) and ".." not in name and not name.startswith("/")


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_strangers_stay_texts(engine: SearchEngine, kind: Kind) -> None:
    exported = export(engine, Collection(EVIL_TITLE, ("evil:ok", 'evil:"><x y="', "evil:twins")), kind)
    for name, content in exported.files.items():
        text = content.decode(errors="replace")
        if name.endswith(".svg"):
            assert all(not str(one.tag).endswith("script") for one in ElementTree.fromstring(content).iter())
        if name.endswith((".html", ".md", ".css", ".tsx", ".ts")):
            assert "<script" not in text and "\u202e" not in text, name
        if name.endswith((".css", ".tsx", ".ts")):
            assert "${x}" not in text and "*/ }" not in text, name
    if kind == "sprite":
        assert b'href="#evil-twins_-a"' in exported.files["sprite.svg"]  # ids that stand twice still draw


@pytest.mark.slow
def test_what_is_too_much_for_an_outline_is_told_and_stops_nothing(engine: SearchEngine) -> None:
    keys = ("evil:dashes", "evil:flat", "evil:ok", "evil:twins")
    exported = export(engine, Collection("x", keys), "font", Options(skip_unreadable=True))
    assert exported.icons == ("evil:ok", "evil:twins")
    reasons = {one.key: one.reason for one in exported.left_out}
    assert reasons == {"evil:flat": "is more than 16 times as wide as high", "evil:dashes": "took longer than 5 s"}


def test_names_are_safe_and_unique_whatever_they_were() -> None:
    own = ("a b", "a-b", "aB", "../../etc", "\u732b", "CON", "x" * 500, "A_b", "1")
    names = unique([plain_name(f"s {name}") for name in own])
    assert names[:4] == ["s-a-b", "s-a-b-2", "s-a-b-3", "s-etc"]
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) and len(name) <= 110 for name in names)
    assert len(set(names)) == len(names)
    assert unique(["a", "a", "a-2", "a"]) == ["a", "a-3", "a-2", "a-4"]
    plain = [plain_name(text) for text in ("con", "", "\u00c9toile 2", "3d")]
    assert plain == ["icon-con", "icon", "etoile-2", "icon-3d"]
    assert len(set(unique(["icon"] * 10_000))) == 10_000
