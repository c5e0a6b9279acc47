"""Does `icons check` find what is not there, name what is nearest, and leave the rest in peace?"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from called_icons import build_called
from click.testing import CliRunner, Result

from indexer.library.folder import Library
from search.cli import main
from search.code.check import check_text
from search.code.known import slip_of
from search.engine import SearchEngine

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>'
GOOD = """import { Bell, Home as House, ArrowRightCircle, type LucideIcon } from "lucide-react";
import { FaHouse } from "react-icons/fa6";
const menu = [{ icon: "mdi:home", event: "token:refresh" }];
"""
BAD = """import { ArrowRigth, CigaretteOf, Plus } from "lucide-react";
const menu = [{ icon: "mdi:hoem-outline" }];
export const Menu = () => <i className="p-2 i-lucide-bel fa-solid fa-hose" />;
"""


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build_called(tmp_path_factory.mktemp("checked"))


@pytest.fixture
def check(called: Library) -> Callable[..., Result]:
    def run(*arguments: "Path | str") -> Result:
        return CliRunner().invoke(main, ["check", *map(str, arguments), "--library", str(called.root)])

    return run


def _write(folder: Path, files: Mapping[str, "str | bytes"]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


Run = Callable[..., Result]


def _found(result: Result) -> Sequence[tuple[str, int, int, str]]:
    return [(one["kind"], one["line"], one["column"], one["text"]) for one in json.loads(result.stdout)["findings"]]


def test_code_whose_icons_are_all_there_is_clean(check: Run, tmp_path: Path) -> None:
    result = check(_write(tmp_path, {"App.tsx": GOOD}))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "files: 1; names of icons: 5 (lucide 3, fa6-solid 1, mdi 1)\nnothing to be mended" in result.stderr


def test_what_is_not_there_is_named_with_its_place_and_the_nearest_in_the_codes_own_form(
    check: Run, tmp_path: Path
) -> None:
    source = _write(tmp_path, {"src/Bad.tsx": BAD}) / "src"
    result = check(source)
    assert (result.exit_code, result.stdout.splitlines()) == (1, [
        f'{source}/Bad.tsx:1:10: lucide has no icon "arrow-rigth"; near: ArrowRight',
        f'{source}/Bad.tsx:1:22: lucide has no icon "cigarette-of"; near: CigaretteOff',
        f'{source}/Bad.tsx:2:24: mdi has no icon "hoem-outline"; near: mdi:home-outline',
        f'{source}/Bad.tsx:3:45: lucide has no icon "bel"; near: i-lucide-bell',
        f'{source}/Bad.tsx:3:67: fa6-solid has no icon "hose"; near: fa-house',
    ])  # fmt: skip
    plain = json.loads(check(source, "--json").stdout)
    assert (plain["is_clean"], plain["n_files"], plain["n_references"]) == (False, 1, 6)
    assert plain["findings"][0]["nearest"] == {
        "set": "lucide", "name": "arrow-right", "text": "ArrowRight", "by": "name", "score": pytest.approx(1 - 1 / 11),
    }  # fmt: skip


def test_a_name_that_is_no_slip_is_looked_for_by_what_it_means(check: Run, tmp_path: Path) -> None:
    _write(tmp_path, {"a.ts": 'import { NoSmoking } from "lucide-react"; const a = { icon: "fa6-solid:person" }'})
    near = [one["nearest"] for one in json.loads(check(tmp_path, "--json").stdout)["findings"]]
    assert [(one["text"], one["by"]) for one in near] == [("CigaretteOff", "meaning"), ("fa6-solid:user", "meaning")]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("bel", "bell"), ("hose", "house"), ("hoem", "home"), ("belll", "bell"), ("bat", "bag")],
)
def test_letters_left_out_doubled_or_in_other_places_come_before_replaced_ones(typed: str, meant: str) -> None:
    names = ["bag", "bed", "bell", "bolt", "home", "hotel", "house", "nose"]
    found = slip_of(typed, names)
    assert found is not None and found[0] == meant


def test_a_component_must_be_spelt_as_it_is_exported(check: Run, tmp_path: Path) -> None:
    _write(tmp_path, {"a.ts": 'import { Arrowright, ArrowRightIcon, LucideArrowRight } from "lucide-react"'})
    assert _found(check(tmp_path, "--json")) == [("no-icon", 1, 10, "Arrowright")]


def test_the_package_that_is_installed_decides_what_may_be_imported(check: Run, tmp_path: Path) -> None:
    types = 'declare const Bell: Icon;\nexport { Bell, Bell as BellIcon, Filter };\nexport * from "./more";\n'
    package = {
        "package.json": '{"name": "lucide-react", "types": "dist/lucide-react.d.ts"}',
        "dist/lucide-react.d.ts": types,
        "dist/more.d.ts": "export declare const Brandnew: Icon;",
    }
    code = 'import { Bell, BellIcon, Filter, Brandnew, Star, Flter } from "lucide-react"'
    installed = {f"node_modules/lucide-react/{name}": content for name, content in package.items()}
    result = check(_write(tmp_path, {**installed, "src/a.ts": code}) / "src", "--json")
    assert _found(result) == [("no-icon", 1, 44, "Star"), ("no-icon", 1, 50, "Flter")]
    assert json.loads(result.stdout)["findings"][1]["nearest"]["text"] == "Filter"


def test_sets_that_the_library_lacks_are_told_and_are_no_finding(check: Run, tmp_path: Path) -> None:
    result = check(_write(tmp_path, {"a.tsx": '<Icon icon="tabler:nonsense" />'}))
    assert result.exit_code == 0
    assert 'set "tabler" is not in this library, 1 of its names not looked up; `icons index' in result.stderr


def test_own_icons_that_are_missing_or_unused_are_told(check: Run, tmp_path: Path) -> None:
    files = {
        "src/App.tsx": 'import Home from "./icons/hone.svg"; <img src="/icons/cart.svg" /><Own name="star" />',
        "src/index.html": '<symbol id="icon-x"/><use href="#icon-x"/><use href="#icon-home"/><use href="#gone"/>',
        **{f"src/icons/{name}.svg": SVG for name in ("home", "cart", "star", "forgotten")},
    }
    source = _write(tmp_path, files) / "src"
    result = check(source, "--icons", source / "icons")
    assert result.stdout.splitlines() == [
        f'{source}/App.tsx:1:19: there is no file "./icons/hone.svg"; near: home.svg',
        f'{source}/icons/forgotten.svg: no code names "forgotten.svg"',
        f'{source}/index.html:1:79: no part "gone" is defined in this code',
    ]


SPRITE = f'{SVG[:-6]}<!-- <symbol id="old"/> --><symbol id="cart"/><symbol id="icon-home"/></svg>'
LOGO = '<use href="/sprite.svg#cart"/>'


@pytest.mark.parametrize(
    ("sprite", "code"),
    [
        ("public/sprite.svg", LOGO),
        ("static/img/sprite.svg", '<use xlink:href="/img/sprite.svg?v=2#cart"/>'),
        ("src/icons/sprite.svg", '<use href="./icons/sprite.svg#icon-home"/>'),
        ("app/templates/sprite.svg", '<use href="/assets/sprite.svg#cart"/><use href="{base}/sprite.svg#cart"/>'),
        ("src/sprite.svg", "a { mask: url(@/sprite.svg#cart) }"),
        ("assets/sprite.svg", '<use href="#icon-home"/>'),
        ("design/cart.svg", '<use href="/built/sprite.svg#icon-cart"/><use href="#icon-cart"/>'),
        ("src/font.svg", "@font-face { src: url(./font.svg#whatever) }"),
        ("a.svg", '<use href="https://x.example/s.svg#a"/><use href="@acme/icons/s.svg#a"/><use href="/icons#a"/>'),
    ],
)
def test_parts_of_a_sprite_file_are_looked_for_in_it_wherever_in_the_project_it_lies(
    check: Run, tmp_path: Path, sprite: str, code: str
) -> None:
    font = SVG.replace("<path", '<font id="Own"/><path')
    content = SPRITE if "sprite" in sprite else font if "font" in sprite else SVG
    source = _write(tmp_path, {"package.json": "{}", sprite: content, "src/App.vue": code})
    for place in (source, source / "src", source / "src/App.vue"):
        result = check(place)
        assert (result.exit_code, result.stdout) == (0, "")


def test_a_missing_part_of_a_sprite_and_a_missing_sprite_are_told_with_the_nearest(check: Run, tmp_path: Path) -> None:
    code = """<use href="/sprite.svg#cat"/> <use href="/sprit.svg#cart"/> <use href="./gone.svg#cart"/>
<use href="/sprite.svg#old"/> <use href="#icon-hom"/>"""
    _write(tmp_path, {"public/sprite.svg": SPRITE, "index.html": code})
    file = tmp_path / "index.html"
    result = check(tmp_path)
    assert (result.exit_code, result.stdout.splitlines()) == (1, [
        f'{file}:1:24: "/sprite.svg" has no part "cat"; near: cart',
        f'{file}:1:42: there is no file "/sprit.svg"; near: sprite.svg',
        f'{file}:1:72: there is no file "./gone.svg"',
        f'{file}:2:24: "/sprite.svg" has no part "old"',
        f'{file}:2:43: no part "icon-hom" is defined in this code; near: icon-home',
    ])  # fmt: skip
    assert _found(check(tmp_path, "--json"))[1] == ("no-file", 1, 42, "/sprit.svg")


def test_a_sprite_that_code_names_is_used(check: Run, tmp_path: Path) -> None:
    code = '<use href="./icons/sprite.svg#icon-home"/>'
    source = _write(tmp_path, {"App.tsx": code, "icons/sprite.svg": SPRITE, "icons/other.svg": SVG})
    result = check(source, "--icons", source / "icons")
    assert result.stdout.splitlines() == [f'{source}/icons/other.svg: no code names "other.svg"']


def test_a_text_alone_is_read_as_a_part_of_the_project_or_of_none(
    called: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SearchEngine.open(called.root)
    code = f'{LOGO}<use href="/sprite.svg#gone"/><use href="#gone"/><img src="./star.svg"/><img src="./gone.svg"/>'
    monkeypatch.chdir(_write(tmp_path, {"public/sprite.svg": SPRITE, "src/star.svg": SVG}))
    assert check_text(engine, code, name="App.tsx").findings == []
    _write(tmp_path, {"package.json": "{}"})
    found = [(one.kind, one.text) for one in check_text(engine, code, name="App.tsx").findings]
    assert found == [("no-part", "gone"), ("no-part", "gone"), ("no-file", "./gone.svg")]


def test_more_sets_than_may_be_are_a_finding_brands_and_styles_aside(check: Run, tmp_path: Path) -> None:
    code = '["lucide:bell", "lucide:star", "mdi:home", "fa6-solid:house", "logos:react", "fa6-regular:bell"]'
    source = _write(tmp_path, {"a.json": code, "b.json": '["mdi:star", "mdi:home"]'})
    result = check(source, "--max-sets", "1", "--json")
    assert _found(result) == [("too-many-sets", 1, 3, "lucide:bell"), ("too-many-sets", 1, 45, "fa6-solid:house")]
    assert json.loads(result.stdout)["mixed"] == {str(source / "a.json"): ["fa", "lucide", "mdi"]}
    assert check(source, "--max-sets", "3").exit_code == 0


def test_what_git_ignores_packages_and_links_are_not_read(check: Run, tmp_path: Path) -> None:
    other = _write(tmp_path / "other", {"Bad.tsx": BAD})
    files = dict.fromkeys(("ignored/a.tsx", "node_modules/x/a.tsx", "dist/a.js", "src/a.min.js"), BAD)
    source = _write(tmp_path / "project", {**files, ".gitignore": "ignored/\n", "src/App.tsx": GOOD})
    (source / "src" / "linked").symlink_to(other)
    (source / "src" / "linked.tsx").symlink_to(other / "Bad.tsx")
    result = check(source, "--json")
    assert (result.exit_code, json.loads(result.stdout)["n_files"]) == (0, 1)


def test_files_that_can_not_be_read_are_listed(check: Run, tmp_path: Path) -> None:
    source = _write(tmp_path, {"a.tsx": GOOD, "b.tsx": b"\xff\xfe\x00", "c.js": b"x" * 2_000_001})
    result = check(source)
    assert result.exit_code == 0
    assert f"{source}/b.tsx: not read: it is not UTF-8" in result.stderr
    assert f"{source}/c.js: not read: file of 2 MB, the limit is 2 MB" in result.stderr


@pytest.mark.parametrize(
    ("files", "arguments", "why"),
    [
        ({"a.png": ""}, (".",), "holds no code"),
        ({"a.png": ""}, ("a.png",), "is no file of code that is read"),
        ({"a.ts": ""}, (".", "--icons", "."), "holds no SVG"),
        ({"a.ts": ""}, (".", "--json", "--sarif"), "two forms of output"),
    ],
)
def test_what_makes_no_sense_is_refused(
    check: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], arguments: Any, why: str
) -> None:
    monkeypatch.chdir(_write(tmp_path, files))
    result = check(*arguments)
    assert result.exit_code == 2 and why in result.stderr


def test_sarif_tells_rules_places_and_messages(check: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_write(tmp_path, {"src/Bad?%41.tsx": BAD}))
    result = check("src", "--sarif")
    [run] = json.loads(result.stdout)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert result.exit_code == 1
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == ["no-icon"] * 5
    assert run["results"][0]["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "src/Bad%3F%2541.tsx"},
                "region": {"startLine": 1, "startColumn": 10, "endColumn": 20},
            }
        }
    ]
    assert {(one["level"], one["message"]["text"][:18]) for one in run["results"]} >= {("error", "lucide has no icon")}


def test_the_workflow_of_the_document_is_yaml_that_checks_and_uploads() -> None:
    yaml = pytest.importorskip("yaml")
    document = Path(__file__).parents[3] / "docs" / "checking.md"
    [block] = re.findall(r"```yaml\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    steps = yaml.safe_load(block)["jobs"]["check"]["steps"]
    assert [step["run"] for step in steps if "icons" in step.get("run", "")][1:] == [
        "icons index node_modules",
        "icons check src --sarif > icons.sarif",
    ]
    assert steps[-1]["with"] == {"sarif_file": "icons.sarif"}
