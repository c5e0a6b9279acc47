"""Is an export whole, safe, the same each time; does it say what it lacks and on which terms; are collections read?"""

import io
import json
import re
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import build_library, draw_icons
from node_packages import node_modules
from PIL import Image

from data.making.exports import run_node
from indexer.errors import ExportError
from indexer.library.folder import Library
from indexer.rendering.render import draw
from indexer.sources.records import needs_credit, read_licence_file
from search.drawings.export import KINDS, Kind, Options, export
from search.drawings.frameworks import AS_IT_IS, Look
from search.drawings.kinds import Chosen, Material, drawings, make_react
from search.drawings.licences import Collection, collected, licences_summed_up, plain_name, read_collection, unique
from search.drawings.markup import component_name, slug
from search.engine import SearchEngine

from .conftest import EVIL_TITLE

THREE = Collection("Settings page", ("plain:house", "colours:sunset", "shared:hole"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_is_the_same_each_time_and_says_whose_icons_it_holds(engine: SearchEngine, kind: Kind) -> None:
    two = Collection("Settings page", ("plain:house", "shared:hole"))
    exported, again = (export(engine, two, kind) for _ in range(2))
    assert (exported.files, exported.content, exported.name) == (again.files, again.content, "settings-page")
    licences = exported.files["LICENCES.md"].decode()
    assert "MIT License" in licences and "Creative Commons Attribution Non Commercial 4.0" in licences
    assert "plain:house" in licences and "Not for commercial use." in licences
    assert exported.licences == "2 sets; 1 needs attribution; 1 non-commercial"
    assert "shared (CC-BY-NC-4.0): its icons may not be used commercially" in exported.remarks
    manifest, _ = read_collection(exported.files["collection.json"], name="")
    assert manifest.icons == two.icons
    assert json.loads(exported.files["collection.json"])["files"] == sorted(exported.files)


def test_a_zip_holds_each_icon_as_it_looks_under_a_name_of_its_own(engine: SearchEngine) -> None:
    keys = ("plain:house", "plain:House", "colours:sunrise", "colours:hover", "traps:logo", "lucide-static:house")
    found, again = collected("mine", [*keys[:5], keys[0]])
    exported = export(engine, found, "zip")
    with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
        pictures = {name: archive.read(name) for name in archive.namelist() if "/icons/" in name}
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert again == 1
    assert sorted(pictures) == [
        "mine/icons/colours-hover.svg",
        "mine/icons/colours-sunrise.svg",
        "mine/icons/plain-house-2.svg",
        "mine/icons/plain-house.svg",
        "mine/icons/traps-logo.png",
    ]
    assert Image.open(io.BytesIO(pictures["mine/icons/traps-logo.png"])).size == (48, 48)
    for key, name in zip(keys[:4], ("plain-house", "plain-house-2", "colours-sunrise", "colours-hover"), strict=True):
        alone = draw(engine.picture(engine.find(key)), size=64)
        assert (draw(pictures[f"mine/icons/{name}.svg"], size=64) == alone).all(), key


def test_what_can_not_be_exported_refuses_the_export_by_name(engine: SearchEngine) -> None:
    mixed = Collection("x", ("plain:house", "traps:logo", "plain:nothing", "colours:hover"))
    with pytest.raises(ExportError, match=r'2 icons.*"plain:nothing": no icon.*"traps:logo": it is a bitmap'):
        export(engine, mixed, "sprite")
    exported = export(engine, mixed, "sprite", Options(skip_unreadable=True))
    assert exported.icons == ("plain:house", "colours:hover")
    assert [one.key for one in exported.left_out] == ["plain:nothing", "traps:logo"]
    assert b"path:hover:where(.colours_hover,.colours_hover *){fill:red}" in exported.files["sprite.svg"]
    with pytest.raises(ExportError, match=r"no icon is left to be exported; can't be exported so: traps:logo$"):
        export(engine, Collection("x", ("traps:logo",)), "sprite", Options(skip_unreadable=True))


def test_a_source_that_has_gone_is_told(tmp_path: Path, tiny_model: Path) -> None:
    sources = draw_icons(tmp_path / "icons")
    build_library(Library(tmp_path / "library"), tiny_model, [sources])
    (sources / "dot-a.svg").unlink()
    (sources / "dot-b.svg").write_text("<svg/>")
    three = Collection("x", ("icons:dot-a", "icons:dot-b", "icons:dot-c"))
    exported = export(SearchEngine.open(tmp_path / "library"), three, "zip", Options(skip_unreadable=True))
    gone, changed = exported.left_out
    assert exported.icons == ("icons:dot-c",) and "can't be read" in gone.reason
    assert "has changed since it was indexed" in changed.reason


def test_two_keys_of_one_icon_give_it_once(engine: SearchEngine) -> None:
    number = str(engine.find("plain:wide-bar"))
    exported = export(engine, Collection("x", ("plain:wide-bar", number)), "sprite")
    assert exported.icons == ("plain:wide-bar",)
    assert exported.remarks[0] == f'"{number}" is "plain:wide-bar", which is there already: it stands there once'


@pytest.mark.parametrize("prefix", ["My Icons", "../x", "-a", "", "a" * 60, "1st"])
def test_a_prefix_that_no_tool_takes_is_refused(prefix: str) -> None:
    with pytest.raises(ExportError, match="use small letters"):
        Options(prefix=prefix)


def test_iconify_json_is_a_file_a_set_or_one_with_a_prefix(engine: SearchEngine) -> None:
    each = export(engine, THREE, "iconify")
    assert {"plain.json", "colours.json", "shared.json"} < set(each.files) and each.main is None
    plain = json.loads(each.files["plain.json"])
    assert plain["prefix"] == "plain" and plain["info"]["license"]["spdx"] == "MIT"
    assert plain["icons"] == {"house": {"body": '<path d="M12 3l9 8h-3v10H6V11H3z" />', "width": 24, "height": 24}}
    own = export(engine, THREE, "iconify", Options(prefix="app"))
    whole = json.loads(own.files["app.json"])
    names = ["plain-house", "colours-sunset", "shared-hole"]
    assert (own.main, list(whole["icons"])) == ("app.json", names)
    assert whole["info"]["license"]["title"].startswith("Creative Commons Attribution 4.0, ")


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("plain:house", "plain:wide-bar"), "1 set"),
        (("plain:house", "colours:sunset"), "2 sets; 1 needs attribution"),
        (
            ("colours:sunset", "shared:hole", "traps:trap", "shared:ghost"),
            "3 sets; 2 need attribution; 1 copyleft; 1 non-commercial; 1 unknown",
        ),
        ((), "0 sets"),
    ],
)
def test_licences_are_summed_up_in_a_line(engine: SearchEngine, keys: tuple[str, ...], line: str) -> None:
    assert licences_summed_up(engine.hits([engine.find(key) for key in keys])) == line


def test_the_file_tells_warnings_credits_and_the_text_that_lay_with_the_source(engine: SearchEngine) -> None:
    keys = ("colours:sunset", "shared:ghost", "traps:trap", "lucide-static:bell")
    text = export(engine, Collection("Mine", keys), "zip").files["LICENCES.md"].decode()
    assert text.startswith("# Licences of the icons in Mine\n\n4 sets; 1 needs attribution; 1 copyleft; 1 unknown.")
    for line in (
        "- shared (GPL-3.0-only): its icons may put what you build with them under their licence.",
        "- traps (no licence): its icons state no licence that is known here.",
        "\n\ncolours icons, Creative Commons Attribution 4.0 (https://spdx.org/licenses/CC-BY-4.0.html)\n\n",
        "- Licence: ISC License (`ISC`), https://spdx.org/licenses/ISC.html",
        "    Copyright (c) 2026 Lucide Icons and Contributors",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("licence", "is_asked"),
    [
        *((licence, True) for licence in ("CC-BY-4.0", "CC BY-NC-SA 4.0", "Creative Commons Attribution 3.0")),
        *((licence, False) for licence in ("MIT", "CC0-1.0", "OFL-1.1", "GPL-3.0-only", None, "Abby's licence")),
    ],
)
def test_credit_is_asked_for_by_creative_commons_by(licence: str | None, is_asked: bool) -> None:
    assert needs_credit(licence) is is_asked


def test_a_licence_file_is_read_from_inside_the_source_alone(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "secret").write_text("secret")
    (package / "LICENSE").symlink_to(tmp_path / "secret")
    assert read_licence_file("npm", package) is None
    (package / "licence.md").write_text(" MIT, mine \n")
    assert read_licence_file("npm", package) == "MIT, mine"
    assert read_licence_file("iconify", package) is None
    (package / "licence.md").write_bytes(b"x" * 200_001)
    assert read_licence_file("npm", package) is None


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
        assert b'href="#evil_twins__a"' in exported.files["sprite.svg"]  # ids that stand twice still draw


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
    plain = {
        **{"con": "icon-con", "": "icon", "\u00c9toile 2": "etoile-2", "3d": "icon-3d", "a \u2013 +": "a"},
        **{"設定": "u8a2d-u5b9a", "设置": "u8bbe-u7f6e", "arrow-左": "arrow-u5de6", "🏠": "house-building"},
        **{"дом": "dom", "ホーム": "homu", "설정": "seoljeong", "ሰላም": "u1230-u120b-u121d"},
    }
    assert {text: plain_name(text) for text in plain} == plain
    assert (slug("设置"), component_name("设置"), slug("+")) == ("u8bbe-u7f6e", "U8bbeU7f6e", "icon")
    assert len(set(unique(["icon"] * 10_000))) == 10_000


BELL = 0xE000


def test_a_collection_comes_back_as_it_was_written() -> None:
    mine = Collection("Mine", ("lucide:bell", "mdi:home"), {"lucide:bell": BELL, "lucide:gone": BELL + 1})
    written = mine.as_file({key: {} for key in mine.icons})
    assert read_collection(written, name="file") == (mine, 0)
    stated = json.loads(written)
    assert (stated["format"], stated["version"]) == ("icons-collection", 1)
    assert stated["icons"] == [{"key": "lucide:bell", "code_point": BELL}, "mdi:home"]


@pytest.mark.parametrize(
    "text",
    [
        "lucide:bell\nmdi:home\n",
        "\ufefflucide:bell\r\n\r\n# these\n  mdi:home   # a house\nlucide:bell",
        '["lucide:bell", "mdi:home"]',
        '{"icons": ["lucide:bell", {"key": "mdi:home"}]}',
        '{"key": "lucide:bell", "score": 1}\n{"key": "mdi:home", "score": 0.5}\n',
    ],
)
def test_every_way_to_list_keys_is_read(text: str) -> None:
    for encoding in ("utf-8", "utf-16", "utf-16-le"):
        found, n_again = read_collection(text.encode(encoding), name="file")
        assert (found.name, found.icons) == ("file", ("lucide:bell", "mdi:home"))
        assert n_again == text.count("lucide:bell") - 1


def test_a_key_with_a_number_is_no_comment() -> None:
    assert read_collection(b"mdi:home#12 # twelfth", name="x")[0].icons == ("mdi:home#12",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "the collection is empty"),
        (b"[]", "the collection is empty"),
        (b"\xff\xfe\x00", "can't be read: it is neither UTF-8"),
        (b'{"icons": ', "can't be read: Expecting value"),
        (b'{"name": "x"}', '"icons.0.key" is missing'),
        (b'{"icons": [3]}', '"icons.0.key" may not be 3'),
        (b'{"icons": [""]}', '"icons.0.key" may not be'),
        (b'["a\\u001bb"]', '"icons.0.key" may not be'),
        (b'{"name": 3, "icons": ["a:b"]}', '"name" may not be 3'),
        (b'{"version": 2, "icons": ["a:b"]}', '"version" may not be 2'),
        (b'{"format": "other", "icons": ["a:b"]}', "\"format\" may not be 'other'"),
        (b'{"icons": [{"key": "a:b", "code_point": 65}]}', '"icons.0.code_point" may not be 65'),
        (b'{"icons": [{"key": "a:b", "code_point": true}]}', '"icons.0.code_point" may not be True'),
        (b'{"icons": [{"key": "a:b", "code_point": 57344}, {"key": "c:d", "code_point": 57344}]}', "two icons one"),
        (b'{"icons": ["a:b"], "taken_code_points": []}', '"taken_code_points" may not be'),
        (b"[" * 100_000, "nested too deeply"),
        (b"a" * 5_000_001, "the limit is 5 MB"),
        ("\n".join(f"a:{n}" for n in range(10_001)).encode(), "10,000 at most"),
    ],
)
def test_what_is_no_collection_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    with pytest.raises(ExportError, match=reason):
        read_collection(text, name="file")


def test_components_take_the_size_and_the_stroke_that_were_asked_for(engine: SearchEngine) -> None:
    options = Options(look=Look(size=20, stroke_width=1.5, colour="#08f"))
    exported = export(engine, Collection("x", ("lucide-static:bell",)), "react", options)
    source = exported.files["src/icons/lucide-static-bell.tsx"].decode()
    parts = (
        "({ size = 20, ...props }, ref)",
        'strokeWidth={props.strokeWidth ?? "1.5"}',
        'stroke="#08f"',
        "role",
        "{...props}",
    )
    assert [part for part in parts if part not in source] == []


OUTLINED = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" role="img" aria-hidden="true" fill="none">
<style>.a{stroke:currentColor;stroke-width:1px}</style><path d="M1 1h7" stroke="currentColor" stroke-width="2"/>
<path class="a" d="M1 5h7"/></svg>"""
FILLED = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" aria-hidden="true"><path d="M1 1h7v7z"/></svg>'


def package_of(engine: SearchEngine, **icons: str) -> dict[str, str]:
    """The files of a package of icons, by their names and drawings."""
    [hit] = engine.hits([engine.find("plain:house")])
    chosen = [Chosen(name, name, hit, svg.encode(), is_svg=True) for name, svg in icons.items()]
    made = make_react(Material("own", drawings(chosen, AS_IT_IS, shared=True)[0], [], [], None, None))
    return {path: content.decode() for path, content in made.files.items()}


def test_a_component_states_nothing_twice_and_all_its_strokes_follow(engine: SearchEngine) -> None:
    source = package_of(engine, outlined=OUTLINED)["src/icons/outlined.tsx"]
    assert [source.count(stated) for stated in ("role=", "aria-hidden=")] == [1, 1]
    assert 'strokeWidth={props.strokeWidth ?? "2"}' in source and 'strokeWidth: props.strokeWidth ?? "1px"' in source


@pytest.mark.slow
def test_what_a_component_is_given_is_in_its_markup(engine: SearchEngine, tmp_path: Path) -> None:
    modules = node_modules()
    for path, text in package_of(engine, outlined=OUTLINED, filled=FILLED).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "node_modules").symlink_to(modules)
    use = 'import { Filled } from "./index.js";\nexport const used = <Filled size={30} color="navy" {} />;\n'
    for given, code in {'className="a" strokeWidth={1}': 0, "siz={3}": 2}.items():
        (tmp_path / "src" / "use.tsx").write_text(use.replace("{}", given))
        built = subprocess.run([modules / ".bin" / "tsc", "-p", tmp_path], capture_output=True, text=True, check=False)
        assert built.returncode == code, built.stdout
    script = f"""import {{ createElement }} from "react"; import {{ renderToStaticMarkup }} from "react-dom/server";
    import {{ Outlined, Filled }} from "{tmp_path}/dist/index.js";
    const given = {{ size: 30, color: "navy", strokeWidth: 3, className: "a", "aria-label": "Bell" }};
    for (const one of [Outlined, Filled]) console.log(renderToStaticMarkup(createElement(one, given)));"""
    outlined, filled = run_node(script, modules=modules).splitlines()
    for root in (outlined.partition(">")[0], filled.partition(">")[0]):
        stated = ('width="30"', 'height="30"', 'color="navy"', 'class="a"', 'aria-label="Bell"')
        assert [one for one in stated if one not in root] == [] and "aria-hidden" not in root
    assert 'stroke-width="3"' in outlined.partition("<path")[2] and "stroke-width:3" in outlined, outlined


def test_what_the_root_of_an_icon_says_stays_on_its_symbol(engine: SearchEngine) -> None:
    two = Collection("x", ("lucide-static:bell", "shared:turned"))
    sprite = export(engine, two, "sprite").files["sprite.svg"].decode()
    *_, bell, turned = ElementTree.fromstring(sprite)
    assert bell.attrib == {
        **{"id": "lucide-static-bell", "viewBox": "0 0 24 24", "fill": "none", "stroke": "currentColor"},
        **{"stroke-width": "2", "stroke-linecap": "round", "stroke-linejoin": "round"},
    }
    assert turned[0].attrib == {"transform": "translate(12 12) rotate(45) translate(-12 -12)"}
    assert "lucide-static icons, ISC License" in sprite[: sprite.index("<symbol")]
