"""Do imports, keys and classes of code name the stand-in afterwards, and does all else stay?"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from search.code.components import Targets
from search.code.map import Candidate, Choice, Name, choose, map_icons
from search.code.rewrite import Rewritten, diff_of, icons_named, read_names, write_changes
from search.code.rewrite import rewrite as rewrite_code
from search.drawings.frameworks import Export, NamedIcon
from search.engine import SearchEngine

STANDS = {
    "fa6-solid:house": "lucide:home",
    "fa6-solid:star": "lucide:star",
    "fa6-solid:bell": "lucide:bell-plus",
    "fa6-solid:user": "lucide:map-pin",
    "ic:baseline-home": "lucide:home",
    "tabler:home": "lucide:home",
    "mdi:home": "lucide:home",
    "mdi:star": "lucide:star",
    "mdi:bell": "lucide:bell",
}
HOME = 'x("mdi:home");'
Rewrite = Callable[..., Rewritten]
KILLED = """import os, signal, sys; from pathlib import Path; from indexer.library.durable import replace_file
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
replace_file(Path(sys.argv[1]), b'half')"""
KEPT = ("st_mode", "st_uid", "st_gid", "st_nlink")
REACT = ('import { FaHouse } from "react-icons/fa6";', 'import { Home as FaHouse } from "lucide-react";')
AWESOME, FACE = (
    'import { FontAwesomeIcon } from "@fortawesome/react-fontawesome";\n',
    'import Face from "@mui/icons-material/Home";\n',
)
SOLID = 'import { faHouse, faStar } from "@fortawesome/free-solid-svg-icons";\n'
LIBRARY = 'import { library } from "@fortawesome/fontawesome-svg-core";\n'
HEAD = AWESOME + SOLID
CASES = {
    "one name": ("a.tsx", *REACT),
    "a name of its own": (
        "a.tsx",
        'import { FaHouse as Home, FaStar as S } from "react-icons/fa6";',
        'import { Home, Star as S } from "lucide-react";',
    ),
    "others stay": (
        "a.tsx",
        "import { FaGhost, FaHouse, type IconType } from 'react-icons/fa6'",
        "import { FaGhost, type IconType } from 'react-icons/fa6'\nimport { Home as FaHouse } from 'lucide-react'",
    ),
    "attributes go with their import": (
        "a.tsx",
        'import { FaGhost, FaHouse } from "react-icons/fa6" with {\n  type: "macro",\n};\nfoo();\n',
        'import { FaGhost } from "react-icons/fa6" with {\n  type: "macro",\n};\n'
        'import { Home as FaHouse } from "lucide-react" with {\n  type: "macro",\n};\nfoo();\n',
    ),
    "over lines": (
        "a.tsx",
        'import {\n  FaBell,\n  FaUser,\n} from "react-icons/fa6";\n',
        'import {\n  BellPlus as FaBell,\n  MapPin as FaUser,\n} from "lucide-react";\n',
    ),
    "windows": (
        "a.tsx",
        'import {\r\n  FaBell,\r\n  FaGhost\r\n} from "react-icons/fa6";\r\nfoo();\r\n',
        'import { FaGhost } from "react-icons/fa6";\r\n'
        'import { BellPlus as FaBell } from "lucide-react";\r\nfoo();\r\n',
    ),
    "given on": (
        "a.ts",
        'export { FaHouse as default } from "react-icons/fa6";',
        'export { Home as default } from "lucide-react";',
    ),
    "imports of one package become one, behind a byte order mark": (
        "a.tsx",
        '\ufeffimport { FaHouse } from "react-icons/fa6";\r\nimport { FaStar as S } from "react-icons/fa6";\r\n',
        '\ufeffimport { Home as FaHouse, Star as S } from "lucide-react";\r\n',
    ),
    "one that is there takes others": (
        "a.tsx",
        'import A from "react-icons/fa6/FaHouse"; import { Bell } from "lucide-react"; f();\n',
        'import { Bell, Home as A } from "lucide-react"; f();\n',
    ),
    "modules of one icon are given on": (
        "a.ts",
        'export { default as A } from "react-icons/fa6/FaHouse";\nexport { default } from "react-icons/fa6/FaStar";',
        'export { Home as A, Star as default } from "lucide-react";\n',
    ),
    "each script of a page has its own": (
        "a.html",
        '<script type="module">import { FaHouse } from "react-icons/fa6";</script>\n' * 2,
        '<script type="module">import { Home as FaHouse } from "lucide-react";</script>\n' * 2,
    ),
    "vue": (
        "a.vue",
        '<script setup>\nimport { HomeIcon } from "@heroicons/vue/24/solid"\n</script>\n<template>\n'
        '  <Icon icon="fa6-solid:bell" />\n</template>\n',
        '<script setup>\nimport { HomeIcon } from "@heroicons/vue/24/solid"\n</script>\n<template>\n'
        '  <Icon icon="lucide:bell-plus" />\n</template>\n',
    ),
    "keys": ("a.js", 'const a = ["mdi:home", "mdi:bell"];', 'const a = ["lucide:home", "lucide:bell"];'),
    "classes of unocss": (
        "a.html",
        '<i class="i-mdi-home hover:i-mdi:star"></i>',
        '<i class="i-lucide-home hover:i-lucide:star"></i>',
    ),
    "classes of tailwind": ("a.html", '<i class="icon-[mdi--home]"></i>', '<i class="icon-[lucide--home]"></i>'),
    "a module of one icon": ("a.ts", 'import A from "~icons/mdi/home";', 'import A from "~icons/lucide/home";'),
    "a module of one component": (
        "a.tsx",
        'import HouseIcon from "react-icons/fa6/FaHouse";',
        'import { Home as HouseIcon } from "lucide-react";',
    ),
    "one default under two names": (
        "a.tsx",
        'export { default as Home, default as Start } from "react-icons/fa6/FaHouse";',
        'export { Home, Home as Start } from "lucide-react";',
    ),
    "a comment says nothing": ("a.ts", '// "mdi:home"\nx("mdi:home");', '// "mdi:home"\nx("lucide:home");'),
    "elements that draw what is imported": (
        "a.tsx",
        f'{HEAD}// faHouse\na(<FontAwesomeIcon\n icon={{faHouse}} size="lg"\n className="x" fixedWidth />);\n'
        "b(<p><FontAwesomeIcon icon={faStar}></FontAwesomeIcon></p>);",
        'import { Home, Star } from "lucide-react";\n// faHouse\na(<Home size="1.25em"\n className="x" />);\n'
        'b(<p><Star size="1em"></Star></p>);',
    ),
    "elements that choose between two": (
        "a.tsx",
        f"{HEAD}a(<p><FontAwesomeIcon icon={{on ? faHouse : faStar}} /></p>, "
        '<FontAwesomeIcon icon={x ? on : y ? faHouse : faStar} id="a" />);',
        'import { Home, Star } from "lucide-react";\na(<p>{on ? <Home size="1em" /> : <Star size="1em" />}</p>, '
        '(x ? on : y ? <Home size="1em" id="a" /> : <Star size="1em" id="a" />));',
    ),
    "a name that is taken, what else is imported, and a use as a value": (
        "a.tsx",
        f"{HEAD}const Home = () => <FontAwesomeIcon icon={{faHouse}} />; f(faStar);",
        'import { Home as HomeIcon } from "lucide-react";\n'
        'import { faStar } from "@fortawesome/free-solid-svg-icons";\n'
        'const Home = () => <HomeIcon size="1em" />; f(faStar);',
    ),
    "what is registered, and looked up by its name": (
        "a.tsx",
        f"{HEAD}{LIBRARY}library.add(faHouse, faStar);\n"
        'a(<FontAwesomeIcon icon="house" />, <FontAwesomeIcon icon={["fas", "star"]} spin />);',
        f'{AWESOME}import {{ Home }} from "lucide-react";\n'
        'import { faStar } from "@fortawesome/free-solid-svg-icons";\n'
        f"{LIBRARY}library.add(faStar);\n"
        'a(<Home size="1em" />, <FontAwesomeIcon icon={["fas", "star"]} spin />);',
    ),
    "elements of vue": (
        "a.vue",
        f'<script setup>\n{SOLID}</script>\n<template><font-awesome-icon icon="fa-solid fa-house" v-if="a" />\n'
        '<FontAwesomeIcon :icon="on ? faHouse : faStar" /></template>',
        '<script setup>\nimport { Home, Star } from "@lucide/vue";\n</script>\n<template>'
        '<Home width="1em" height="1em" v-if="a" />\n'
        '<component :is="on ? Home : Star" width="1em" height="1em" /></template>',
    ),
    "elements of svelte": (
        "a.svelte",
        f'<script>import Fa from "svelte-fa";\n{SOLID}</script><Fa icon={{on ? faHouse : faStar}} size="2x" />',
        '<script>import { Home, Star } from "@lucide/svelte";\n</script>'
        '{#if on}<Home size="2em" />{:else}<Star size="2em" />{/if}',
    ),
    "a type before, and all on one line": (
        "a.tsx",
        f'import type {{ A }} from "@mdi/js";\n{HEAD[:-1]} {LIBRARY[:-1]} library.add(faHouse);\n'
        'a(<FontAwesomeIcon icon="house" />, <FontAwesomeIcon icon={faStar} />);',
        'import type { A } from "@mdi/js";\nimport { Home, Star } from "lucide-react";\n\n'
        'a(<Home size="1em" />, <Star size="1em" />);',
    ),
    "a component that is an element, while a key, a word and a parameter have its name": (
        "a.tsx",
        f"{FACE}a(<Face />, {{ Face: 1 }}, b.Face, 'is Face'); const f = (Face) => 1;",
        'import { Home as Face } from "lucide-react";\n'
        "a(<Face />, { Face: 1 }, b.Face, 'is Face'); const f = (Face) => 1;",
    ),
    "a component as a value, where no type of its package is asked for": (
        "a.tsx",
        f"{REACT[0]}\nconst a = {{ icon: FaHouse }};",
        f"{REACT[1]}\nconst a = {{ icon: FaHouse }};",
    ),
    "what draws mdi's paths": (
        "a.tsx",
        'import Icon from "@mdi/react";\nimport { mdiHome } from "@mdi/js";\na(<Icon path={mdiHome} size={0.5} />);',
        'import { Home } from "lucide-react";\na(<Home size="0.75rem" />);',
    ),
}
BY_HAND = {
    "handed on in an object": f"{FACE}const a = {{ icon: Face }};",
    "handed on by its own name": f"{FACE}const a = {{ Face }};",
    "handed on in a list": f"{FACE}const a = [Face];",
    "handed on to an element": f"{FACE}a(<Item icon={{Face}} />);",
    "handed on if something is so": f"{FACE}a(<Item icon={{on ? Face : undefined}} />);",
    "handed on where nothing is given": f"{FACE}const Item = ({{ Icon = Face }}) => <Icon />;",
    "handed on to a function": f"{FACE}styled(Face);",
    "handed on to all": f"{FACE}export {{ Face }};",
    "handed on as it is imported": 'export { default as Face } from "@mui/icons-material/Home";',
    "handed on for its type": 'import { FaHouse } from "react-icons/fa6";\nconst a = FaHouse;\n'
    "function b(c: typeof FaHouse) {}",
    "handed on where types of its package are named": 'import { type IconType } from "react-icons";\n'
    'import { FaHouse } from "react-icons/fa6";\nconst a: IconType = FaHouse;',
    "an element with more than is known of a component": f"{HEAD}"
    "a(<FontAwesomeIcon icon={faHouse} spin />, <FontAwesomeIcon icon={on ? faHouse : faStar} />);",
    "an element that holds something": f"{HEAD}a(<FontAwesomeIcon icon={{faHouse}}>x</FontAwesomeIcon>, faStar);",
    "an element of no size that is known": f"{HEAD}a(<FontAwesomeIcon icon={{faHouse}} size={{n}} />, faStar);",
    "an element of which something is spread": f"{HEAD}a(<FontAwesomeIcon icon={{faHouse}} {{...b}} />, faStar);",
    "an attribute of the old component alone": 'import { FaHouse } from "react-icons/fa6"; a(<FaHouse title="b" />);',
    "a width that is a colour elsewhere": 'import { IconHome } from "@tabler/icons-react"; a(<IconHome stroke="2" />);',
    "another package of Font Awesome": 'import fa from "@fortawesome/fontawesome";\n' + SOLID,
    "an element in a page that has no script": '<script>export default {};</script><font-awesome-icon icon="house" />',
    "two that would be one": f"{AWESOME}{SOLID.replace('Star', 'House as h')}"
    "a(<FontAwesomeIcon icon={on ? faHouse : h} />);",
    "registered for what is computed": f"{HEAD}{LIBRARY}"
    "library.add(faHouse, faStar);\na(<FontAwesomeIcon icon={a} />);",
    "a whole module": 'import * as Fa from "react-icons/fa6";\nFa.FaHouse;',
    "an object": 'import { faHouse } from "@fortawesome/free-solid-svg-icons";',
    "react native": 'import { MdHome } from "x";\nconst a = require("react-icons/fa6").FaHouse;\n'
    'const { FaHouse } = require("react-icons/fa6");',
    "a font": '<i class="fa-solid fa-house"></i>',
    "loaded while running": 'const A = lazy(() => import("react-icons/fa6").then((all) => all.FaHouse));',
    "all of a module": 'export * from "react-icons/fa6";\nimport("react-icons/md");',
    "a mock, a type, no icon": 'jest.mock("react-icons/fa6");\nimport { type Fa, IconBase } from "react-icons/fa6";',
    "no such icon": 'x("mdi:hoome");',
    "a mock by import": 'vi.mock(import("react-icons/fa6"));',
    "a property of an old component of svelte": 'import { Home } from "mdi-svelte"; a(<Home strokeWidth={1} />);',
    "what an application has registered": '<mat-icon svgIcon="mdi:home" />',
    "comments inside": 'import { /* old */ FaHouse } from "react-icons/fa6";',
}


@pytest.fixture
def rewrite(engine: SearchEngine, tmp_path: Path) -> Rewrite:
    """Write files and rewrite them as STANDS says."""

    def run(files: dict[str, str], *, stands: dict[str, str] = STANDS, also_doubtful: bool = False) -> Rewritten:
        for name, text in files.items():
            (tmp_path / name).write_bytes(text.encode())
        code = read_names(engine, [tmp_path], sets=["fa6-solid", "mdi", "map", "ic", "tabler"], to="lucide")
        mapped = map_icons(engine, icons_named(code), "lucide", progress=lambda *_: None)
        choices = {source: Choice(target, is_doubtful=False) for source, target in stands.items()}
        chosen = choose(engine, mapped, choices)
        return rewrite_code(engine, code, chosen, also_doubtful=also_doubtful, progress=lambda *_: None)

    return run


@pytest.mark.parametrize(("name", "before", "after"), CASES.values(), ids=CASES)
def test_code_names_the_stand_in_and_nothing_else_changes(
    rewrite: Rewrite, tmp_path: Path, name: str, before: str, after: str
) -> None:
    (change,) = rewrite({name: before}).changes
    assert change.after == after
    assert write_changes([change]) == []
    assert (tmp_path / name).read_bytes().decode() == after
    assert rewrite({}).changes == []


@pytest.mark.parametrize(("case", "code"), BY_HAND.items(), ids=BY_HAND)
def test_what_is_not_safe_is_left_to_a_person(rewrite: Rewrite, case: str, code: str) -> None:
    found = rewrite({"a.vue" if code.startswith("<script>") else "a.tsx": code})
    assert found.changes == [] and found.places and all(one.why for one in found.places)
    assert {one.fate for one in found.places if one.to} <= {"doubtful" if "handed on" in case else "by hand"}
    assert {one.to for one in found.places} <= {"lucide:home", "lucide:star", ""}


def test_doubtful_ones_stay_unless_they_are_asked_for(rewrite: Rewrite) -> None:
    code = {"a.ts": 'x("mdi:account"); y("mdi:home");'}
    found = rewrite(code)
    assert [one.source for one in found.places if one.fate == "doubtful"] == ["mdi:account"]
    assert found.changes[0].after.startswith('x("mdi:account"); y("lucide:home")')
    forced = rewrite(code, also_doubtful=True)
    assert "mdi:" not in forced.changes[0].after and forced.changes[0].n_places == 2


def test_a_word_that_may_be_no_icon_and_one_that_nothing_stands_for_stay(rewrite: Rewrite) -> None:
    assert rewrite({"a.ts": HOME}, stands={"mdi:home": ""}).changes == []
    found = rewrite({"a.ts": 'emit("map:home"); x({ icon: "map:pin" });'}, also_doubtful=True)
    assert [one.reference.text for one in found.places if one.fate == "by hand"] == ["map:home"]
    assert found.changes[0].after.startswith('emit("map:home"); x({ icon: "lucide:')


def test_a_package_exports_what_it_does_as_it_is_installed_and_what_is_built_in_needs_one(
    rewrite: Rewrite, tmp_path: Path
) -> None:
    (module := tmp_path / "node_modules" / "lucide-react").mkdir(parents=True)
    (module / "index.d.ts").write_text("export declare const Star: Icon;")
    found = rewrite(
        {"a.tsx": 'import { FaHouse, FaStar } from "react-icons/fa6";', "b.astro": '<Icon name="mdi:bell"/>'}
    )
    assert [one.why for one in found.places] == ["lucide-react as it is installed has no Home", "", ""]
    assert found.packages == ["@iconify-json/lucide", "lucide-react"]


def test_svelte_gets_components_of_its_version_of_today(engine: SearchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    icon, candidate = NamedIcon("tabler:x", "tabler", "x", None), Candidate(Name("tabler", "x"), 1, 1)
    monkeypatch.setattr(targets := Targets(engine, "tabler"), "icon", lambda _: icon)
    assert targets.in_place_of(candidate, "@lucide/svelte", "a.svelte", ()) == Export(
        "@tabler/icons-svelte-runes", "IconX"
    )


def test_a_file_keeps_its_owner_its_permissions_and_a_link_to_it(rewrite: Rewrite, tmp_path: Path) -> None:
    (file := tmp_path / "a.ts").touch(0o750)
    if os.geteuid() == 0:
        os.chown(file, 1234, 2345)
    (link := tmp_path / "b.ts").symlink_to("a.ts")
    changes = [replace(change, path=link) for change in rewrite({"a.ts": HOME}).changes]
    before = [getattr(file.stat(), name) for name in KEPT]
    assert write_changes(changes) == [] and file.read_text() == 'x("lucide:home");'
    assert [getattr(file.stat(), name) for name in KEPT] == before
    assert link.is_symlink() and len(list(tmp_path.iterdir())) == 2


def test_a_file_that_would_lose_something_stays_and_the_others_are_written(rewrite: Rewrite, tmp_path: Path) -> None:
    changes = rewrite({"linked.ts": HOME, "read-only.ts": HOME, "new.ts": HOME, f"{'n' * 252}.ts": HOME}).changes
    (tmp_path / "linked.js").hardlink_to(tmp_path / "linked.ts")
    (tmp_path / "read-only.ts").chmod(0o444)
    (tmp_path / "new.ts").write_text(f"{HOME} y();")
    whys = ["it has 2 hard links", "it has changed since it was read", "it is read-only"]
    assert [why for _, why in write_changes(changes)] == whys
    assert [(tmp_path / f"{name}.ts").read_text() for name in ("linked", "read-only", "new")] == [
        HOME,
        HOME,
        f"{HOME} y();",
    ]
    assert (tmp_path / f"{'n' * 252}.ts").read_text() == 'x("lucide:home");'


def test_a_file_that_can_not_be_written_is_told_and_the_others_are_written(rewrite: Rewrite, tmp_path: Path) -> None:
    changes = rewrite({"a.ts": HOME + " " * 100, "b.ts": HOME}).changes
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        left = write_changes(changes)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert left == [(tmp_path / "a.ts", "it can't be written (File too large)")]
    assert (tmp_path / "b.ts").read_text() == 'x("lucide:home");'
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.ts", "b.ts"]


def test_what_a_killed_writer_has_left_goes_with_the_next_one(rewrite: Rewrite, tmp_path: Path) -> None:
    """Killed where the file aside is whole and about to take its name."""
    changes = rewrite({"a.ts": HOME}).changes
    (tmp_path / f".aside-{os.getppid()}-0123abcd-a.ts").write_text("of one who still writes")
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a.ts"], check=False)
    assert len(list(tmp_path.iterdir())) == 3
    assert write_changes(changes) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == [f".aside-{os.getppid()}-0123abcd-a.ts", "a.ts"]


def test_the_diff_is_what_patch_takes(rewrite: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    changes = rewrite(
        {"a.ts": 'x("mdi:home");\n\x0cy();\n', "b.ts": 'x("mdi:star");', "c.ts": 'x("mdi:bell");\r\nz();\r\n'}
    ).changes
    diff = "".join(line for change in changes for line in diff_of(change))
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    assert [change.path.read_bytes().decode() for change in changes] == [change.after for change in changes]
