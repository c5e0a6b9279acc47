import json
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import SourceError
from indexer.sources.records import FileScan, IconSet, Record
from indexer.sources.source import open_sources, read_picture, why_empty

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'

PHOSPHOR = """
var t = /* @__PURE__ */ ((i) => (i.REGULAR = "regular", i))(t || {}), e = /* @__PURE__ */ ((i) => (i.ARROWS = "arrows",
i.NATURE = "nature", i.DEV = "technology & development", i))(e || {}), a = ((i) => (i.NATURE = "trees", i))(a || {});
const n = [
  { name: "acorn", pascal_name: "Acorn", categories: [e.DEV, e.NATURE], figma_category: a.NATURE,
    tags: ["*new*", "nut [edible]", "the \\"seed\\""], codepoint: 60314 },
  { name: "asclepius", pascal_name: "Asclepius", alias: { name: "snake-staff", pascal_name: "SnakeStaff" },
    categories: [], figma_category: a.NATURE, tags: [], codepoint: 1 }
];
export { n as icons };
"""


ACORN = ("nut [edible]", 'the "seed"'), ("technology & development", "nature")
SMILE = ("😀", "happy", "grin", "smile"), ("smileys emotion", "face smiling")


def package(root: Path, name: str, *svgs: str, files: dict[str, Any] | None = None, **manifest: Any) -> Path:
    folder = root / "node_modules" / name
    written = {"package.json": {"name": name, "version": "1.2.3", "license": "MIT", **manifest}, **(files or {})}
    for path in (*svgs, *written):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    for path in svgs:
        (folder / path).write_text(f"{SVG}<!-- {path} -->")
    for path, content in written.items():
        (folder / path).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def scan(location: Path, stamps: dict[str, str] | None = None) -> list[FileScan]:
    [source] = open_sources(location)
    assert source.kind == "npm"
    return list(source.scan(stamps or {}))


def records(location: Path) -> dict[str, Record]:
    found = scan(location)
    assert [scanned.error for scanned in found if scanned.error] == []
    return {scanned.path: record for scanned in found for record in scanned.records or ()}


@pytest.mark.parametrize(
    ("stated", "licence"),
    [
        ("ISC", "ISC"),
        ({"type": "MIT"}, "MIT"),
        ([{"type": "MIT"}, {"type": "OFL-1.1"}], "MIT OR OFL-1.1"),
        (None, None),
    ],
)
def test_a_package_tells_its_name_version_licence_and_author(
    tmp_path: Path, stated: object, licence: str | None
) -> None:
    folder = package(tmp_path, "lucide-static", "icons/home.svg", license=stated, author="Jo Doe <jo@example.org> (x)")
    known = IconSet("lucide-static", "lucide-static", "1.2.3", licence, "Jo Doe")
    assert records(folder)["icons/home.svg"].set == known


ATLASKIT = """const metadata = {
  'add-item': {
    keywords: ['add-item', 'additem', 'icon', "jira status", 'plus'],
    componentName: 'AddItemIcon'
  },
  add: {
    keywords: [],
    componentName: 'AddIcon'
  }
};"""

AKSEL = """const metadata = {"Airplane":{"id":"Airplane","name":"Airplane","category":"Transportation",
"keywords":["fly","reise","travel"],"variant":"Stroke"}};

 export default metadata;"""

GROMMET = """export default {
  Accessibility: ['body', 'disabled'],
  AidOption: ['first-aid', 'first aid kit'],
};"""

RED_HAT = """set: ui

icons:
 - name: rh-ui-icon-cloud
   icon: cloud
   description: "Cloud shape"
   accepted_metaphors:
    - cloud computing
    - "remote: storage"
   rejected_metaphors:
    - weather

 - name: rh-ui-icon-plain
   icon: plain
   accepted_metaphors:
    - nothing
"""


@pytest.mark.parametrize(
    ("name", "svg", "file", "content", "said"),
    [
        (
            "@gravity-ui/icons",
            "svgs/archive.svg",
            "metadata.json",
            {
                "icons": [
                    {"name": "archive", "svgName": "archive", "keywords": ["tray", "box"], "categories": ["files"]}
                ]
            },
            (("tray", "box"), ("files",)),
        ),
        (
            "@gitlab/svgs",
            "dist/sprite_icons/admin.svg",
            "dist/icons.meta.json",
            {"admin": {"keywords": ["wrench", "tool"], "description": "Used for the Admin section."}},
            (("wrench", "tool"), ()),
        ),
        (
            "@mynaui/icons",
            "icons/union.svg",
            "meta.json",
            {"union": {"tags": ["combine", "ui", "icon", "merge"], "regular": "<path/>"}},
            (("combine", "merge"), ()),
        ),
        (
            "@shopware-ag/meteor-icon-kit",
            "icons/regular/activity.svg",
            "icons/meta.json",
            [{"name": "activity", "mode": mode, "tags": ["motion", "energy"]} for mode in ("regular", "solid")],
            (("motion", "energy"), ()),
        ),
        (
            "eos-icons",
            "svg/material/smoke_free.svg",
            "dist/js/eos-icons.json",
            [{"name": "smoke_free", "tags": ["eos", "no smoking", "cigar"], "category": "places"}],
            (("no smoking", "cigar"), ("places",)),
        ),
        (
            "healthicons",
            "public/icons/svg/filled/vehicles/war.svg",
            "public/icons/meta-data.json",
            [
                {
                    "id": "war",
                    "category": "vehicles",
                    "path": "vehicles/war",
                    "tags": ["Army", "dhis2:war"],
                    "title": "Tank",
                }
            ],
            (("Tank", "Army"), ("vehicles",)),
        ),
        (
            "@navikt/aksel-icons",
            "dist/svg/Airplane.svg",
            "dist/metadata.mjs",
            AKSEL,
            (("fly", "reise", "travel"), ("Transportation",)),
        ),
        ("grommet-icons", "img/aid-option.svg", "es6/metadata.js", GROMMET, (("first-aid", "first aid kit"), ())),
        ("@rhds/icons", "ui/cloud.svg", "metadata/ui.yaml", RED_HAT, (("cloud computing", "remote: storage"), ())),
        (
            "@atlaskit/icon",
            "svgs/add-item.svg",
            "dist/es2019/metadata-core.js",
            ATLASKIT,
            (("jira status", "plus"), ()),
        ),
        (
            "@primer/octicons",
            "build/svg/alert-fill-24.svg",
            "build/data.json",
            {"alert": {"keywords": ["warning"]}, "alert-fill": {"keywords": ["danger"]}},
            (("danger",), ()),
        ),
        (
            "@mdi/svg",
            "svg/abjad-arabic.svg",
            "meta.json",
            [{"name": "abjad-arabic", "aliases": ["writing-system-arabic"], "tags": ["Alpha / Numeric"]}],
            (("writing system arabic",), ("Alpha / Numeric",)),
        ),
        (
            "ionicons",
            "dist/svg/home-sharp.svg",
            "dist/ionicons.json",
            {"icons": [{"name": "home", "tags": ["house"]}, {"name": "home-outline", "tags": ["house", "outline"]}]},
            (("house",), ()),
        ),
        (
            "@vscode/codicons",
            "src/icons/home.svg",
            "dist/metadata.json",
            {"home": {"tags": ["house"], "category": "ui"}},
            (("house",), ("ui",)),
        ),
        (
            "@vaadin/icons",
            "assets/svg/home.svg",
            "assets/vaadin-font-icons.json",
            [{"name": "home", "meta": ["house"], "categories": ["Map"]}, {"name": "x"}],
            (("house",), ("Map",)),
        ),
        (
            "@carbon/pictograms",
            "svg/home.svg",
            "metadata.json",
            {"icons": [{"friendlyName": "Home", "aliases": ["house"], "assets": [{"filepath": "home.svg"}]}]},
            (("Home", "house"), ()),
        ),
    ],
)
def test_design_systems_tell_tags(
    tmp_path: Path, name: str, svg: str, file: str, content: Any, said: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    [record] = records(package(tmp_path, name, svg, files={file: content})).values()
    assert (record.tags, record.categories) == said


def _carbon(name: str, file: str) -> dict[str, Any]:
    words = {"friendlyName": name.upper(), "aliases": ["x"], "category": "C", "subcategory": "D"}
    return {"name": name, **words, "assets": [{"filepath": file}]}


Told = tuple[str, str | None, int | None, tuple[str, ...], tuple[str, ...]]
"""Name, style, size, tags, categories."""


@pytest.mark.parametrize(
    ("name", "files", "left_alone", "expected"),
    [
        (
            "@tabler/icons",
            {"icons.json": {"home": {"name": "home", "category": "Map", "tags": ["house", 4]}}},
            ["categories/outline/Map/home.svg"],
            {
                "icons/outline/home.svg": ("home", "outline", None, ("house", "4"), ("Map",)),
                "icons/filled/home.svg": ("home", "filled", None, ("house", "4"), ("Map",)),
            },
        ),
        (
            "@phosphor-icons/core",
            {"dist/index.mjs": PHOSPHOR},
            [],
            {
                "assets/bold/acorn-bold.svg": ("acorn-bold", "bold", None, *ACORN),
                "assets/regular/acorn.svg": ("acorn", None, None, *ACORN),
                "assets/fill/asclepius-fill.svg": ("asclepius-fill", "filled", None, ("snake staff",), ()),
            },
        ),
        (
            "@carbon/icons",
            {"metadata.json": {"icons": [_carbon("h", "32/Q/h.svg"), _carbon("home", "16/home.svg")]}},
            [],
            {
                "svg/16/home.svg": ("home", None, 16, ("HOME", "x"), ("C", "D")),
                "svg/32/Q/h.svg": ("h", None, 32, ("H", "x"), ("C", "D")),
                "svg/caret.svg": ("caret", None, None, (), ()),
            },
        ),
        (
            "@fortawesome/fontawesome-free",
            {
                "metadata/icon-families.json": {
                    "house": {"label": "House", "search": {"terms": ["abode"]}, "aliases": {"names": ["home-alt"]}}
                }
            },
            ["svgs-full/solid/house.svg", "sprites/solid.svg"],
            {
                "svgs/solid/house.svg": ("house", "filled", None, ("House", "abode", "home alt"), ()),
                "svgs/solid/home-alt.svg": ("home-alt", "filled", None, ("House", "abode", "home alt"), ()),
            },
        ),
        (
            "openmoji",
            {
                "data/openmoji.json": [
                    {
                        "emoji": "😀", "hexcode": "1F600", "group": "smileys-emotion", "subgroups": "face-smiling",
                        "annotation": "grinning face", "tags": "happy, grin", "openmoji_tags": "smile, happy",
                    }
                ]
            },
            ["src/1F600.svg"],
            {"color/svg/1F600.svg": ("grinning face", "color", None, *SMILE),
             "black/svg/1F600.svg": ("grinning face", "outline", None, *SMILE)},
        ),
    ],
)  # fmt: skip
def test_packages_tell_names_styles_sizes_and_tags_of_their_own_tree_alone(
    tmp_path: Path, name: str, files: dict[str, Any], left_alone: list[str], expected: dict[str, Told]
) -> None:
    found = records(package(tmp_path, name, *expected, *left_alone, files=files)).items()
    assert {path: (one.name, one.style, one.size, one.tags, one.categories) for path, one in found} == expected


def test_new_tags_are_seen_though_the_pictures_are_old(tmp_path: Path) -> None:
    folder = package(tmp_path, "lucide-static", "icons/home.svg", files={"tags.json": {}})
    [before] = scan(folder)
    assert [same.records for same in scan(folder, {before.path: before.stamp})] == [None]
    (folder / "tags.json").write_text('{"home": ["house"]}')
    assert [after.records[0].tags for after in scan(folder, {before.path: before.stamp})] == [("house",)]


@pytest.mark.parametrize("content", ["{", "[]", '{"home": 3}', '"x"'])
def test_tags_that_cannot_be_read_are_listed_and_cost_no_icon(tmp_path: Path, content: str) -> None:
    icon, problem = scan(package(tmp_path, "lucide-static", "icons/home.svg", files={"tags.json": content}))
    assert (icon.records[0].tags, problem.path) == ((), "tags.json")
    assert problem.error.startswith(("tags in an unknown form: ", "not valid JSON: "))


def test_tags_in_several_files_hold_for_one_icon(tmp_path: Path) -> None:
    said = {"line": ["vision", "view"], "solid": ["view", "look"]}
    icons = {key: [{"name": "eye", "tags": tags, "category": "Photography"}] for key, tags in said.items()}
    files = {"json/thinline.json": "{", **{f"json/{key}.json": icon for key, icon in icons.items()}}
    icon, problem = scan(package(tmp_path, "@iconscout/unicons", "svg/line/eye.svg", files=files))
    [record] = icon.records
    assert (record.tags, record.categories) == (("vision", "view", "look"), ("Photography",))
    assert problem.path == "json/thinline.json"


def test_an_unknown_package_is_a_plain_folder_with_its_facts(tmp_path: Path) -> None:
    svgs = ("svg/24px/outline/home.svg", "sprite.svg", "fonts/acme.svg", "node_modules/other-icons/x.svg")
    folder = package(tmp_path, "acme-icons", *svgs)
    [(path, record)] = records(folder).items()
    assert (path, record.style, record.size) == ("svg/24px/outline/home.svg", "outline", 24)
    assert (record.set.key, record.set.version, record.set.licence) == ("acme-icons", "1.2.3", "MIT")
    # and so is a known one of another shape
    assert list(records(package(tmp_path, "lucide-static", "pictures/home.svg"))) == ["pictures/home.svg"]


def test_a_sheet_of_symbols_adds_what_is_no_file(tmp_path: Path) -> None:
    sheet = '<svg xmlns="http://www.w3.org/2000/svg"><symbol id="home"/><symbol id="bell"/></svg>'
    found = scan(
        package(
            *(tmp_path, "acme-icons", "icons/home.svg", "node_modules/other-icons/bell.svg"),
            files={"acme-icons.svg": sheet},
        )
    )
    assert [[record.name for record in scanned.records or ()] for scanned in found] == [["bell"], ["home"]]


def test_what_pnpm_links_is_read_where_it_stands_and_is_no_link_out_of_a_project(tmp_path: Path) -> None:
    stored = package(tmp_path / "node_modules/.pnpm/lucide-static@1", "lucide-static", "icons/home.svg")
    for modules in (tmp_path / "node_modules", tmp_path / "packages/web/node_modules"):
        modules.mkdir(parents=True, exist_ok=True)
        (modules / "lucide-static").symlink_to(stored)
        [source] = open_sources(modules)
        [found] = source.scan({})
        assert (found.error, read_picture(source.address_of(found, found.records[0]))[:4]) == (None, b"<svg")
    (tmp_path / "packages/web/package.json").write_text('{"name": "web"}')
    assert scan(tmp_path / "packages/web") == []


def test_a_folder_without_pictures_says_so_and_where_they_may_be(tmp_path: Path) -> None:
    (cache := tmp_path / "pnp/.yarn/cache").mkdir(parents=True)
    for name in ("lucide-static-npm-0.400.0-0a1b2c3d4e-8.zip", "@tabler-icons-npm-3.0.0-1-8.zip", "lodash-npm-4-1.zip"):
        (cache / name).touch()
    (tmp_path / "pnp/.pnp.js").write_text('["./../berry/cache/acme-icons-npm-1.0.0-5-8.zip/node_modules/acme-icons/"]')
    (tmp_path / "pnp/src").mkdir()
    package(tmp_path / "usual", "lucide-static", "icons/home.svg")
    zipped = (
        "its packages (@tabler-icons, acme-icons, lucide-static) are zipped by Yarn PnP: `yarn config set nodeLinker"
    )
    for place, said in (
        ("pnp", f".webp); {zipped}"),
        ("pnp/src", f".webp); {zipped}"),
        ("pnp/node_modules", f"does not exist; {zipped}"),
        ("usual", f'.webp); "{tmp_path}/usual/node_modules" may: give that'),
    ):
        try:
            [source] = open_sources(tmp_path / place, exclude=["node_modules/"])
            assert list(source.scan({})) == []
            why = str(why_empty(source))
        except SourceError as error:
            why = str(error)
        assert why.startswith(f'"{tmp_path / place}" ') and said in why


def test_node_modules_is_one_source_for_each_package_of_icons(tmp_path: Path) -> None:
    package(tmp_path, "lucide-static", "icons/home.svg")
    package(tmp_path, "@tabler/icons", "icons/outline/home.svg")
    package(tmp_path, "acme-icons", "home.svg")
    package(tmp_path, "by-keyword", "home.svg", keywords=["icons"])
    package(tmp_path, "some-library", "logo.svg")
    package(tmp_path, "emojilib", "logo.svg", files={"dist/emoji-en-US.json": {}})  # a package of words
    package(tmp_path, "icons-without-pictures")
    package(tmp_path, "@iconify/json", files={"collections.json": {}, "json/a.json": {"prefix": "a", "icons": {}}})
    modules = tmp_path / "node_modules"
    assert [(source.location.relative_to(modules).as_posix(), source.kind) for source in open_sources(modules)] == [
        ("@iconify/json", "iconify"),
        *((name, "npm") for name in ("@tabler/icons", "acme-icons", "by-keyword", "lucide-static")),
    ]
    package(tmp_path / "code", "react")
    package(tmp_path / "code", "react-feather")
    with pytest.raises(SourceError, match=r"react-feather.*`npm install feather-icons` has them"):
        open_sources(tmp_path / "code" / "node_modules")
