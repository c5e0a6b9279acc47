"""Does `icons check` find what is not there, name what is nearest, and leave the rest in peace?"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexer.library.folder import Library
from search.cli import main
from search.code.check import check_text
from search.engine import SearchEngine

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>'
SPRITE = f'{SVG[:-6]}<!-- <symbol id="old"/> --><symbol id="cart"/><symbol id="icon-home"/></svg>'
LOGO = '<use href="/sprite.svg#cart"/>'
GOOD = """import { Bell, Home as House, ArrowRightCircle, type LucideIcon } from "lucide-react";
import { FaHouse } from "react-icons/fa6";
const menu = [{ icon: "mdi:home", event: "token:refresh" }];
"""
BAD = """import { ArrowRigth, CigaretteOf, Plus } from "lucide-react";
const menu = [{ icon: "mdi:hoem-outline" }];
export const Menu = () => <i className="p-2 i-lucide-bel fa-solid fa-hose" />;
"""
MANY_SETS = {
    "a.json": '["lucide:bell", "lucide:star", "mdi:home", "fa6-solid:house", "logos:react", "fa6-regular:bell"]',
    "b.json": '["mdi:star", "mdi:home"]',
}
INSTALLED = {
    "node_modules/lucide-react/package.json": '{"name": "lucide-react", "types": "dist/lucide-react.d.ts"}',
    "node_modules/lucide-react/dist/lucide-react.d.ts": "declare const Bell: Icon;\n"
    'export { Bell, Bell as BellIcon, Filter };\nexport * from "./more";\n',
    "node_modules/lucide-react/dist/more.d.ts": "export declare const Brandnew: Icon;",
}
_UNKNOWN = 'import { Bolt, Clok, type Props } from "@acme/icons"; import { Sub } from "@acme/icons/sub"'
ACME = {  # a package that no table knows, which is read by what it says of itself
    "node_modules/@acme/icons/package.json": json.dumps(
        {
            "exports": {
                ".": {"import": {"types": "./lib/all.d.ts", "default": "./all.mjs"}},
                "./shared": {"types": "./lib/shared.d.ts"},
            }
        }
    ),
    "node_modules/@acme/icons/lib/all.d.ts": 'export * from "@acme/icons/shared"; export * from "./clock.js";\n'
    'export { default as Bolt } from "./bolt"',
    "node_modules/@acme/icons/lib/shared.d.ts": "export interface Props {}",
    "node_modules/@acme/icons/lib/clock.d.ts": "export declare const Clock: unknown;",
}
OLDER = {
    "node_modules/lucide-react/index.d.ts": "export declare const Home: I, HomeIcon: I, Mouse: I, MouseIcon: I;",
    "node_modules/@radix-ui/react-icons/index.d.ts": "export { GitHubLogoIcon } from './all'",
}
Files = Mapping[str, str | bytes]
PROJECTS: Mapping[str, tuple[Files, Sequence[str], Sequence[str], str]] = {  # files, arguments, stdout, part of stderr
    "all there": (
        *({"App.tsx": GOOD}, (), ()),
        "files: 1; names of icons: 5 (lucide 3, fa6-solid 1, mdi 1)\nnothing to be mended",
    ),
    "not there": (
        *({"Bad.tsx": BAD}, ()),
        (
            'Bad.tsx:1:10: lucide has no icon "ArrowRigth"; near: ArrowRight',
            'Bad.tsx:1:22: lucide has no icon "CigaretteOf"; near: CigaretteOff',
            'Bad.tsx:2:24: mdi has no icon "hoem-outline"; near: mdi:home-outline',
            'Bad.tsx:3:45: lucide has no icon "bel"; near: i-lucide-bell',
            'Bad.tsx:3:67: fa6-solid has no icon "hose"; near: fa-house',
        ),
        "5 to be mended",
    ),
    "no slip, but near by meaning": (
        *({"a.ts": 'import { NoSmoking } from "lucide-react"; const a = { icon: "fa6-solid:person" }'}, ()),
        (
            'a.ts:1:10: lucide has no icon "NoSmoking"; near: CigaretteOff',
            'a.ts:1:62: fa6-solid has no icon "person"; near: fa6-solid:user',
        ),
        "",
    ),
    "a component spelt otherwise": (
        *({"a.ts": 'import { Arrowright, ArrowRightIcon, LucideArrowRight } from "lucide-react"'}, ()),
        *(('a.ts:1:10: lucide has no icon "Arrowright"; near: ArrowRight',), ""),
    ),
    "the installed package decides": (
        {**INSTALLED, "a.ts": 'import { Bell, BellIcon, Filter, Brandnew, Star, Flter } from "lucide-react"'},
        (),
        ('a.ts:1:44: lucide has no icon "Star"; near: Bell', 'a.ts:1:50: lucide has no icon "Flter"; near: Filter'),
        "",
    ),
    "names that a set keeps for old code": (
        {
            "a.tsx": 'import { faHome, faHouse, faHoome } from "@fortawesome/free-solid-svg-icons";\n'
            'import { Album } from "lucide-react"; <Icon icon="lucide:smile" className="i-lucide-area-chart"/>',
            "b.html": '<i class="fas fa-home"></i><iconify-icon icon="fa6-solid:home"></iconify-icon>',
        },
        (),
        (
            'a.tsx:1:27: fa6-solid has no icon "faHoome"; near: faHome',
            'b.html:1:48: fa6-solid has no icon "home"; near: fa6-solid:house',
        ),
        "kept for old code: 2\n  a.tsx:1:10: faHome, now faHouse\n  b.html:1:15: fa-home, now fa-house\n",
    ),
    "a set beside it that the library lacks": (
        *({"a.ts": 'import { FaGithub, FaRegFutbol, FaRegNothing, FaHoouse, FaHome } from "react-icons/fa6"'}, ()),
        (
            'a.ts:1:47: fa6-solid has no icon "FaHoouse"; near: FaHouse',
            'a.ts:1:57: fa6-solid has no icon "FaHome"; near: FaHouse',
        ),
        'set "fa6-regular" is not in this library, 1 of its names not looked up; `icons index',
    ),
    "a package that no table knows": (
        *({"a.ts": _UNKNOWN, "b.ts": 'import conf from "cosmiconfig"; import {Icon} from "@iconify/react"'}, (), ()),
        'package "@acme/icons" is not installed here, 3 of its names not looked up; `npm install`',
    ),
    "a package that no table knows, installed": (
        *({**ACME, "a.ts": _UNKNOWN}, (), ('a.ts:1:16: @acme/icons has no icon "Clok"; near: Clock',)),
        'package "@acme/icons" is not installed here, 1 of its names not looked up',
    ),
    "a package that can't be read to its end": (
        {
            **ACME,
            "node_modules/@acme/icons/lib/clock.d.ts": 'export * from "not-installed"',
            "a.ts": _UNKNOWN,
        },
        *((), (), 'package "@acme/icons" is not installed here, 3 of its names not looked up'),
    ),
    "an installed version that has former names": (
        *({**OLDER, "a.ts": 'import { House, HouseIcon, Home } from "lucide-react"'}, ()),
        (
            'a.ts:1:10: lucide has no icon "House"; near: Home',
            'a.ts:1:17: lucide has no icon "HouseIcon"; near: HomeIcon',
        ),
        "names of icons: 3 (lucide 3)",
    ),
    "capitals are the package's": (
        *({**OLDER, "a.ts": 'import { GitHubLogoIcon, GithubLogoIcon } from "@radix-ui/react-icons"'}, ()),
        *(('a.ts:1:26: radix-icons has no icon "GithubLogoIcon"; near: GitHubLogoIcon',), ""),
    ),
    "packages as they were called": (
        {
            "a.jsx": 'import { MenuIcon } from "@heroicons/react/outline"; import { IconX } from "@tabler/icons";\n'
            'import X from "@material-ui/icons/Close"'
        },
        *((), ()),
        "names of icons: 3 (heroicons-outline 1, tabler 1, ic 1)",
    ),
    "a set that the library lacks": (
        *({"a.tsx": '<Icon icon="tabler:nonsense" />'}, (), ()),
        'set "tabler" is not in this library, 1 of its names not looked up; `icons index',
    ),
    "what may be no icon of a package": (
        *({"a.tsx": 'import { makeThing } from "@tabler/icons-react"; const a = { icon: "group-hover:x" };'}, (), ()),
        'package "@tabler/icons-react" is not installed here, 1 of its names not looked up; `npm install` brings what'
        " it exports\nfiles: 1; names of icons: 0\n",
    ),
    "own icons": (
        {
            "App.tsx": 'import Home from "./icons/hone.svg"; <img src="/icons/cart.svg" /><Own name="star" />',
            "index.html": '<symbol id="icon-x"/><use href="#icon-x"/><use href="#icon-home"/><use href="#gone"/>',
            **{f"icons/{name}.svg": SVG for name in ("home", "cart", "star", "forgotten")},
        },
        ("--icons", "icons"),
        (
            'App.tsx:1:19: there is no file "./icons/hone.svg"; near: home.svg',
            'icons/forgotten.svg: no code names "forgotten.svg"',
            'index.html:1:79: no part "gone" is defined in this code',
        ),
        "",
    ),
    "parts of sprites": (
        {
            "public/sprite.svg": SPRITE,
            "a.html": '<use href="/sprite.svg#cat"/> <use href="/sprit.svg#cart"/> <use href="./gone.svg#cart"/>\n'
            '<use href="/sprite.svg#old"/> <use href="#icon-hom"/>',
        },
        (),
        (
            'a.html:1:24: "/sprite.svg" has no part "cat"; near: cart',
            'a.html:1:42: there is no file "/sprit.svg"; near: sprite.svg',
            'a.html:1:72: there is no file "./gone.svg"',
            'a.html:2:24: "/sprite.svg" has no part "old"',
            'a.html:2:43: no part "icon-hom" is defined in this code; near: icon-home',
        ),
        "",
    ),
    "a sprite that is used": (
        {
            "App.tsx": '<use href="./icons/sprite.svg#icon-home"/>',
            "icons/sprite.svg": SPRITE,
            "icons/other.svg": SVG,
        },
        *(("--icons", "icons"), ('icons/other.svg: no code names "other.svg"',), ""),
    ),
    "more sets than may be": (
        *(MANY_SETS, ("--max-sets", "1")),
        (
            "a.json:1:3: 3 sets are used, 1 may be: lucide 2 times",
            "a.json:1:45: 3 sets are used, 1 may be: fa 2 times",
        ),
        "sets beside each other: 1\n  a.json: fa, lucide, mdi",
    ),
    "as many sets as may be": (MANY_SETS, ("--max-sets", "3"), (), ""),
    "what is not read": (
        {
            **dict.fromkeys(("ignored/a.tsx", "node_modules/x/a.tsx", "dist/a.js", "a.min.js"), BAD),
            **{".gitignore": "ignored/\n", "App.tsx": GOOD},
        },
        *((), (), "files: 1; "),
    ),
    "what can't be read": (
        *({"a.tsx": GOOD, "b.tsx": b"\xff\xfe\x00", "c.js": b"x" * 2_000_001}, (), ()),
        "b.tsx: not read: it is not UTF-8\nc.js: not read: file of 2 MB, the limit is 2 MB",
    ),
    "what no parser understands": (
        {
            "a.ts": 'const a = `mdi:home\nconst b = "mdi:hoem-outline"',
            "b.vue": '<script setup>\nconst a = [{ icon: "mdi:home" ;\n</script>\n<Icon icon="mdi:home" />',
        },
        *((), ('a.ts:2:12: mdi has no icon "hoem-outline"; near: mdi:home-outline',)),
        "a.ts: not read: line 1 is no valid code; what follows may not have been looked up\nb.vue: not read: line 2 ",
    ),
    "what may be left unread": ({"a.tsx": b"\xff"}, ("--allow-unread",), (), "a.tsx: not read: it is not UTF-8"),
    "what a module of the project passes on": (
        {
            "tsconfig.json": '{ // so\n "compilerOptions": {"baseUrl": ".", "paths": {"@ui/*": ["src/ui/*"],}}}',
            "src/ui/icons.ts": 'export * from "lucide-react"\nexport const Logo = 1\nexport { a as Own } from "./o"',
            "src/ui/index.ts": 'export * from "./icons"\nexport * as Icons from "lucide-react"\nexport * from "."',
            "src/a.tsx": 'import { Bel, Logo, Own, Bell, type LucideIcon } from "@ui/icons";\n'
            'import { Hom, Icons } from "./ui"; import * as I from "src/ui/icons"; import { Stra } from "@/ui/icons";\n'
            "const a = <I.Hom/>",
        },
        (),
        (
            'src/a.tsx:1:10: lucide has no icon "Bel"; near: Bell',
            'src/a.tsx:2:10: lucide has no icon "Hom"; near: Home',
            'src/a.tsx:2:80: lucide has no icon "Stra"; near: Star',
            'src/a.tsx:3:14: lucide has no icon "Hom"; near: Home',
        ),
        "",
    ),
    "an element that is called otherwise here": (
        {"a.tsx": 'import { DynamicIcon as D } from "lucide-react/dynamic";\nconst a = <D name="belll" />;'},
        *((), ('a.tsx:2:20: lucide has no icon "belll"; near: bell',), ""),
    ),
    "patterns of files, signs of HTML, of CSS, and of strings": (
        {
            **{f"icons/{stem}.svg": SVG for stem in ("a'b", "x", "b c", "d(e)", "f g", "h-1", "\u00fc i")},
            "a.html": '<img src="icons/a&#39;b.svg">',
            "b.ts": 'import.meta.glob("./icons/x*.svg"); const h = `./icons/h-${n}.svg`, u = "icons/\\u00fc i.svg"',
            "c.css": "a { mask: url(icons/b\\ c.svg), url(\"icons/d\\(e).svg\"), url('icons/f\\20 g.svg') }\n"
            "b { mask: url(./icons/j\\ k.svg) }",
        },
        ("--icons", "icons"),
        ('c.css:2:15: there is no file "./icons/j\\ k.svg"',),
        "",
    ),
    "all of a folder, what loaders are asked for, and what a test imports": (
        {
            "icons/a b.svg": SVG,
            "a.js": 'require.context("./icons", false, /svg$/); require("!!raw-loader!./icons/a.svg")',
            "b.test.js": 'import a from "./icons/c.svg"; const b = "./icons/d.svg"',
        },
        ("--icons", "icons"),
        (
            'a.js:1:66: there is no file "./icons/a.svg"',
            'b.test.js:1:16: there is no file "./icons/c.svg"',
        ),
        "",
    ),
    "packages that the project calls otherwise, and those of its workspace": (
        {
            "package.json": '{"dependencies": {"old": "npm:lucide-react@0.2", "lost": "npm:lucide-react"}}',
            "node_modules/old/index.d.ts": OLDER["node_modules/lucide-react/index.d.ts"],
            "packages/ui/package.json": '{"name": "@acme/ui", "main": "./dist/index.js"}',
            "packages/ui/src/index.ts": 'export * from "lucide-react"',
            "a.ts": 'import { House } from "old"; import { House as A, Hous } from "lost";',
            "b.ts": 'import { Hom } from "@acme/ui"',
        },
        (),
        (
            'a.ts:1:10: lucide has no icon "House"; near: Home',
            'a.ts:1:51: lucide has no icon "Hous"; near: House',
            'b.ts:1:10: lucide has no icon "Hom"; near: Home',
        ),
        "",
    ),
    "Font Awesome 4, a module of no icon, brands that are gone": (
        {
            "a.html": '\ufeff<i class="fa fa-github fa-bar-chart-o"></i><i class="fa fa-hoome"></i>',
            "b.ts": 'import A from "@fortawesome/free-solid-svg-icons/fHouse"; import { Github } from "lucide-react"',
        },
        (),
        (
            'a.html:1:57: fa6-solid has no icon "hoome"; near: fa-house',
            'b.ts:1:50: fa6-solid has no icon "fHouse"; near: faHouse',
        ),
        "",
    ),
    "strings that may be no icons": (
        {"a.ts": 'const t = ["mdi:10", "mdi:hover"]', "a.test.ts": 'const t = ["mdi:test", "mdi:home"]'},
        *((), ('a.ts:1:23: mdi has no icon "hover"; near: mdi:star',), "names of icons: 2 (mdi 2)"),
    ),
    "files by names as they come": (
        {
            "package.json": "{}",
            **{
                f"site/img/{stem}.svg": SVG
                for stem in ("a b", "t\u00fcr", "a&b", "x (1)", "up!", "i,n", "j,k", "a+b", "100%25", "a\u0308", "c d")
            },
            "site/img/never.svg": SVG,
            "static/top.svg": SVG,
            "site/style.css": "a { background: url('./img/i,n.svg') } b { background: url(./img/up!.svg) }",
            "site/a.html": '<img src="img/a%20b.svg"><img src="./img/t%C3%BCr.svg"><img src="./img/a&amp;b.svg">\n'
            '<img srcset="/img/a+b.svg 1x, img/100%2525.svg 2x"><img src="top.svg"><img src="img/a%20c.svg">\n'
            '<img srcset="img/j,k.svg 1x,img/up!.svg" src="img/\u00e4.svg">',
            "site/c.md": "[![c](img/c%20d.svg)](/c) ![is made by a build](img/made.svg)",
            "site/b.tsx": 'const a = () => import("./img/x (1).svg?react"), b = <img src="/img/gone.svg" />',
        },
        ("--icons", "site/img"),
        (
            'site/a.html:2:81: there is no file "img/a%20c.svg"; near: a b.svg',
            'site/b.tsx:1:64: there is no file "/img/gone.svg"',
            'site/img/never.svg: no code names "never.svg"',
        ),
        "",
    ),
}


@pytest.fixture
def check(called: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Write files into the working directory, and check them."""
    monkeypatch.chdir(tmp_path)

    def run(files: Files, *arguments: str) -> Result:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return CliRunner().invoke(main, ["check", *(arguments or ["."]), "--library", str(called.root)])

    return run


Run = Callable[..., Result]


@pytest.mark.parametrize(("files", "arguments", "lines", "told"), PROJECTS.values(), ids=PROJECTS)
def test_what_is_wrong_is_a_line_with_its_place_and_all_else_is_on_stderr(
    check: Run, files: Files, arguments: Sequence[str], lines: Sequence[str], told: str
) -> None:
    result = check(files, ".", *arguments)
    assert (result.stdout.splitlines(), told in result.stderr) == (list(lines), True)
    assert result.exit_code == int(bool(lines) or ("not read:" in told and not arguments))


def test_json_has_counts_places_and_how_near_the_nearest_is(check: Run) -> None:
    plain = json.loads(check({"Bad.tsx": BAD}, ".", "--json").stdout)
    assert (plain["is_clean"], plain["n_files"], plain["n_references"]) == (False, 1, 6)
    assert plain["findings"][0] == {
        **{"kind": "no-icon", "path": "Bad.tsx", "line": 1, "column": 10, "text": "ArrowRigth"},
        **{"message": 'lucide has no icon "ArrowRigth"; near: ArrowRight'},
        "nearest": {
            **{"set": "lucide", "name": "arrow-right", "text": "ArrowRight", "by": "name"},
            "score": pytest.approx(1 - 1 / 11),
        },
    }


def test_links_are_not_followed(check: Run, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(tmp_path / "node_modules")
    (tmp_path / "linked.tsx").symlink_to("node_modules/Bad.tsx")
    result = check({"node_modules/Bad.tsx": BAD, "App.tsx": GOOD}, ".")
    assert result.exit_code == 0 and "files: 1; " in result.stderr


@pytest.mark.parametrize("place", [".", "src", "src/App.vue"])
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
    check: Run, sprite: str, code: str, place: str
) -> None:
    content = (
        SPRITE if "sprite" in sprite else SVG.replace("<path", '<font id="Own"/><path' if "font" in sprite else "<path")
    )
    result = check({"package.json": "{}", sprite: content, "src/App.vue": code}, place)
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_text_alone_is_read_as_a_part_of_the_project_or_of_none(called: Library, check: Run) -> None:
    engine = SearchEngine.open(called.root)
    code = f'{LOGO}<use href="/sprite.svg#gone"/><use href="#gone"/><img src="./star.svg"/><img src="./gone.svg"/>'
    check({"public/sprite.svg": SPRITE, "src/star.svg": SVG})
    assert check_text(engine, code, name="App.tsx").findings == []
    check({"package.json": "{}"})
    assert [(one.kind, one.text) for one in check_text(engine, code, name="App.tsx").findings] == [
        *[("no-part", "gone")] * 2,
        ("no-file", "./gone.svg"),
    ]


@pytest.mark.parametrize(
    ("file", "arguments", "why"),
    [
        ("a.png", (".",), "holds no code"),
        ("a.png", ("a.png",), "is no file of code that is read"),
        ("a.ts", (".", "--icons", "."), "holds no SVG"),
        ("a.ts", (".", "--json", "--sarif"), "two forms of output"),
    ],
)
def test_what_makes_no_sense_is_refused(check: Run, file: str, arguments: Sequence[str], why: str) -> None:
    result = check({file: ""}, *arguments)
    assert result.exit_code == 2 and why in result.stderr


def test_sarif_tells_rules_places_and_messages(check: Run) -> None:
    [run] = json.loads(check({"src/Bad?%41.tsx": BAD}, "src", "--sarif").stdout)["runs"]
    assert [run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] for one in run["results"]] == ["no-icon"] * 5
    assert run["results"][0]["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "src/Bad%3F%2541.tsx"},
                "region": {"startLine": 1, "startColumn": 10, "endColumn": 20},
            }
        }
    ]
    assert {(one["level"], one["message"]["text"][:18]) for one in run["results"]} >= {("error", "lucide has no icon")}
