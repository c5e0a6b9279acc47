"""Are icons found wherever code names them, exactly where they stand, and nowhere else?"""

import time
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from search.code.files import Project
from search.code.names import scan as scan_in
from search.code.syntax import parse

scan = partial(scan_in, project=Project(()))


def _names(text: str, path: str = "App.tsx") -> list[tuple[str, str, str]]:
    """(what stands there, set, name) of each reference, in their order."""
    found = scan(text, path=path).references
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    return [(one.text, one.set, one.name) for one in found]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('import { ArrowLeft } from "lucide-react";', [("ArrowLeft", "lucide", "arrow-left")]),
        (
            "<p>don't</p><Icon icon='mdi:home'/> it's <Icon icon=\"mdi:x\"/>",
            [("mdi:home", "mdi", "home"), ("mdi:x", "mdi", "x")],
        ),
        (
            'import { Home as House, Trash2 } from "lucide-react";',
            [("Home", "lucide", "home"), ("Trash2", "lucide", "trash-2")],
        ),
        ("import {\n  BellIcon,\n} from '@heroicons/react/24/solid'", [("BellIcon", "heroicons", "bell-solid")]),
        ('import { type LucideIcon, Bell } from "lucide-react"', [("Bell", "lucide", "bell")]),
        ('import type { LucideIcon, LucideProps } from "lucide-react"', []),
        ('import { IconBrandX } from "@tabler/icons-react"', [("IconBrandX", "tabler", "brand-x")]),
        (
            'import { FaRegBell, FaHouse } from "react-icons/fa6"',
            [("FaRegBell", "fa6-regular", "bell"), ("FaHouse", "fa6-solid", "house")],
        ),
        ('import { mdiAccountCircle } from "@mdi/js"', [("mdiAccountCircle", "mdi", "account-circle")]),
        ('import HomeIcon from "@mui/icons-material/HomeOutlined"', [("HomeOutlined", "ic", "outline-home")]),
        ('import Bell from "lucide-react/dist/esm/icons/bell-ring"', [("bell-ring", "lucide", "bell-ring")]),
        ('const { Bell, X: Close } = require("lucide-react")', [("Bell", "lucide", "bell"), ("X", "lucide", "x")]),
        ('const Bell = lazy(() => import("lucide-react/icons/bell"))', [("bell", "lucide", "bell")]),
        ('import * as I from "lucide-react"; <I.Bell/>', [("Bell", "lucide", "bell")]),
        (
            'import * as I from "lucide-react"; I["Bell"]; I[ \'X\' ]',
            [("Bell", "lucide", "bell"), ("X", "lucide", "x")],
        ),
        (
            "<Icon :icon=\"ok ? 'mdi:bell' : 'mdi:bel'\" class=\"mdi:x y\" />",
            [("mdi:bell", "mdi", "bell"), ("mdi:bel", "mdi", "bel")],
        ),
        ("<Icon icon=\"{open ? 'mdi:bell' : 'mdi:bel'}\" />", [("mdi:bell", "mdi", "bell"), ("mdi:bel", "mdi", "bel")]),
        ("<i :class=\"['mdi', { 'mdi mdi-home': ok }]\" />", [("mdi-home", "mdi", "home")]),
        ("<svg><use :href=\"ok ? '#a' : '/s.svg#b'\" /></svg>", [("a", "", "a"), ("b", "", "b")]),
        ('export { House } from "lucide-react"', [("House", "lucide", "house")]),
        ('import Home from "~icons/mdi/home-variant"', [("home-variant", "mdi", "home-variant")]),
        ('import { Bell } from "./icons"', []),
        (
            'import { DynamicIcon, iconNames } from "lucide-react/dynamic"; import i from "lucide-react/dynamicIcons"',
            [],
        ),
        ('import type { X } from "lucide-react/dist/lucide-react"', []),
        ('import { X } from "lucide-react/dist/lucide-react"', [("X", "lucide", "x")]),
        ('import * as I from "@tabler/icons-react/dist/esm/icons/index.mjs"; I.IconX', [("IconX", "tabler", "x")]),
        ('import { Anchor } from "@phosphor-icons/react/dist/csr/Anchor"', [("Anchor", "ph", "anchor")]),
        ('const Bell = require("@mui/icons-material/Home"); Bell.muiName', [("Home", "ic", "baseline-home")]),
        ('import { heart } from "ionicons/icons"', [("heart", "ion", "heart")]),
        ('import home from "@iconify/icons-mdi/home"', [("home", "mdi", "home")]),
        ('import Home from "vue-material-design-icons/Home.vue"', [("Home", "mdi", "home")]),
        ("<p>{#if open}<Icon icon='mdi:x'/>{/if} #}", [("mdi:x", "mdi", "x")]),
        ('<Icon icon="acme:bell" /> "acme:bell"', [("acme:bell", "acme", "bell")]),
        ('<Icon icon="mdi:home" />', [("mdi:home", "mdi", "home")]),
        ('const menu = [{ icon: "lucide:bell" }]', [("lucide:bell", "lucide", "bell")]),
        (
            "<div text-lg i-ri:close-line hover:i-mdi-home?mask />",
            [("i-ri:close-line", "ri", "close-line"), ("i-mdi-home", "mdi", "home")],
        ),
        (
            '<div className="p-2 i-mdi-light-home hover:i-ph:bell" />',
            [("i-mdi-light-home", "mdi-light", "home"), ("i-ph:bell", "ph", "bell")],
        ),
        ('<i className="icon-[tabler--x] md:flex" />', [("tabler--x", "tabler", "x")]),
        ('<i class="iconify mdi--home" />', [("mdi--home", "mdi", "home")]),
        ('<i class="map--large card--wide" />', []),
        ('<i class="fa-solid fa-house fa-lg fa-spin" />', [("fa-house", "fa6-solid", "house")]),
        ('<i class="far fa-bell" />', [("fa-bell", "fa6-regular", "bell")]),
        ('<i class="mdi mdi-account mdi-24px" />', [("mdi-account", "mdi", "account")]),
        ('<i class="ph-bold ph-heart" />', [("ph-heart", "ph", "heart-bold")]),
        (
            '<i class="bi bi-alarm" /><i class="ri-home-line" />',
            [("bi-alarm", "bi", "alarm"), ("ri-home-line", "ri", "home-line")],
        ),
        ('<i data-lucide="bell"></i>', [("bell", "lucide", "bell")]),
        ('<ion-icon size="large" name="heart-outline" />', [("heart-outline", "ion", "heart-outline")]),
        ('<FontAwesomeIcon icon={["fas", "coffee"]} />', [("coffee", "fa6-solid", "coffee")]),
        ('<i class="material-icons md-24">arrow_back</i>', [("arrow_back", "ic", "baseline-arrow-back")]),
        ('<span className="material-icons-outlined"> home </span>', [("home", "ic", "outline-home")]),
        (
            '<span class="material-symbols-rounded">settings</span>',
            [("settings", "material-symbols", "settings-outline-rounded")],
        ),
        ("<mat-icon>delete_forever</mat-icon>", [("delete_forever", "ic", "baseline-delete-forever")]),
        (
            "<mat-icon>{ on ? 'home' : 'star' }</mat-icon>",
            [("home", "ic", "baseline-home"), ("star", "ic", "baseline-star")],
        ),
        (
            'import { FontAwesome as F } from "./fonts"; <><F name="rocket" /><Ionicons name="heart"/></>',
            [("rocket", "fa", "rocket"), ("heart", "ion", "heart")],
        ),
        ('const b = (await import("lucide-react"))["Bell"]', [("Bell", "lucide", "bell")]),
        (
            'type A = import("lucide-react").Foo; let b: { $: import("v").C<D> } = "mdi:x"; import("./a").then<E>(f)',
            [("mdi:x", "mdi", "x")],
        ),
        ('<mat-icon svgIcon="logo">x</mat-icon><span class="icons">home</span><i>home</i>', []),
        ('<svg><use href="#icon-home" /></svg>', [("icon-home", "", "icon-home")]),
        ('<use xlink:href="/sprite.svg#cart" />', [("cart", "", "cart")]),
        ('<a href="#top">up</a>', []),
        ('import Logo from "./icons/logo.svg?react"', [("./icons/logo.svg", "", "./icons/logo.svg")]),
        (
            'import * as I from "lucide-react"; const { Bell, X: Y } = I',
            [("Bell", "lucide", "bell"), ("X", "lucide", "x")],
        ),
        (
            "const Q = /[`\"]/g, u = /^a:\\/\\//.test(b) ? 'mdi:x' : `${c ? `mdi:bell` : d}`",
            [("mdi:x", "mdi", "x"), ("mdi:bell", "mdi", "bell")],
        ),
        (
            "<A @click=\"x = 'mdi:x'\" onclick=\"go('mdi:bell')\" a='[\"mdi:home\"]' v-bind=\"{ icon: 'mdi:cog' }\"/>",
            [(f"mdi:{one}", "mdi", one) for one in ("x", "bell", "home", "cog")],
        ),
        (
            '<mat-icon fontIcon="home"></mat-icon><mat-icon fontSet="own" fontIcon="star"></mat-icon>',
            [("home", "ic", "baseline-home")],
        ),
        (
            "<script>let { a = 'mdi:x' }: B = $props();</script>{#snippet b(c: D)}<A icon='mdi:bell'/>{/snippet}",
            [("mdi:x", "mdi", "x"), ("mdi:bell", "mdi", "bell")],
        ),
        ('lazy(() => import(/* chunk: "a" */ `@mui/icons-material/Home/index.js`))', [("Home", "ic", "baseline-home")]),
        (
            'const { Bell } = a ? require("lucide-react") : b, { X } = jest.requireActual("lucide-react")',
            [("Bell", "lucide", "bell"), ("X", "lucide", "x")],
        ),
        (
            '<FontAwesomeIcon icon={["fal", "fa-dove"]} /><FontAwesomeIcon icon="fa-house" />',
            [("fa-dove", "fa6-light", "dove"), ("fa-house", "fa6-solid", "house")],
        ),
        *(
            (code.replace("\n", "\r\n"), [("mdi:x", "mdi", "x"), ("mdi:home", "mdi", "home")])
            for code in (
                "---\nconst a = 'mdi:x'\n---\n<Icon icon='mdi:home'/>",
                "```ts\nconst a = 'mdi:x'\n```\n<Icon icon='mdi:home'/>",
                "\nexport const a = 'mdi:x'\n\n# it's `<Icon icon='mdi:y'>`\n<Icon icon='mdi:home'/>",
            )
        ),
        (
            'import a from "remixicon-svelte/icons/add-line"; import { PlusIcon } from "@radix-icons/vue";'
            'import { HugeiconsIcon } from "@hugeicons/svelte"',
            [("add-line", "ri", "add-line"), ("PlusIcon", "radix-icons", "plus")],
        ),
        (
            '`x`\n---\nicon: i-ph-bell\na:\n  - icon: "mdi:x"\n---\n::card\nicon: word\n```yaml\nicon: mdi:home\n```\n',
            [("i-ph-bell", "ph", "bell"), ("mdi:x", "mdi", "x")],
        ),
    ],
)
def test_each_form_is_read(code: str, found: list[tuple[str, str, str]]) -> None:
    assert _names(code, {"<": "a.svelte", "-": "a.astro", "`": "a.md", "\r": "a.mdx"}.get(code[0], "a.tsx")) == found


def test_what_stands_in_comments_names_nothing() -> None:
    code = """
    // import { Bell } from "lucide-react"
    /* <Icon icon="mdi:home"/> */ const url = "http://x.example"; const b = "mdi:home";
    {/* <i className="fa-solid fa-house" /> */}
    const r = a.replace(/"mdi:x/g, ""), c = "mdi:cog";
    """
    assert _names(code) == [("mdi:home", "mdi", "home"), ("mdi:cog", "mdi", "cog")]
    page = """<!-- <i class="mdi mdi-home"></i> --><i class="mdi
      mdi-cog"></i>{{!-- <i class="mdi mdi-x"></i> "mdi:x" --}}{# "mdi:x" #}
      <style>/* url(a.svg) */ .x { mask: url("./b.svg"), url(./c.svg) }</style>"""
    assert _names("Use `<Icon icon='mdi:x'>`.", "a.md") == []
    assert _names(page, "a.html") == [("mdi-cog", "mdi", "cog"), ("./b.svg", "", "./b.svg"), ("./c.svg", "", "./c.svg")]


def test_a_name_that_is_put_together_while_it_runs_is_listed_and_not_guessed() -> None:
    found, declared = (
        scan(
            "<Icon icon={`mdi:${name}`} /> ; import * as I from 'lucide-react'; I[name];"
            "load(() => import('react-icons/fa6'), pick); import * as All from '@tabler/icons-react'; show(All);"
            "import(`lucide-react/icons/${name}`)",
            path=path,
        )
        for path in ("a.tsx", "a.d.ts")
    )
    assert [one.text for one in found.computed] == [
        *("mdi:${name}", "I[name]", "react-icons/fa6", "@tabler/icons-react", "lucide-react/icons/${name}")
    ]
    assert found.references == declared.computed == []


def test_everyday_words_with_a_colon_are_no_certain_icons() -> None:
    code = """emit("token:refresh"); emit("mdi:x"); <Icon icon="token:btc"/>; icons.use(a).on("token:paid");
    page = `<!DOCTYPE html><html><link href="/a.svg"></html>`; part = `<img src="/b.svg">`"""
    found = scan(code, path="a.tsx").references
    assert [(one.text, one.is_certain) for one in found] == [
        ("token:refresh", False),
        ("mdi:x", True),
        ("token:btc", True),
        ("token:paid", False),
        ("/a.svg", False),  # which lies where the page will
        ("/b.svg", True),
    ]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.tsx", '<Icon icon={ok ? "ph:bell" : "ph:bel"}/>'),
        ("a.tsx", '<Icon icon={a || "ph:bel"}/>'),
        ("a.tsx", '<Icon icon={a?.b[0] ?? "ph:bel"} />'),
        ("a.vue", "<Icon :icon=\"ok ? 'ph:bell' : 'ph:bel'\"/>"),
        ("a.html", "<Icon [icon]=\"'ph:bel'\"/>"),
        ("a.svelte", "<Icon icon=\"{ok && 'ph:bel'}\"/>"),
        ("a.astro", '<Icon name={n > 3 ? "ph:bell" : isNew(n) ? "ph:x" : "ph:bel"}/>'),
        ("a.js", 'x = { icon: (a || b.c) ? x : ("ph:bel") }'),
        ("a.ts", 'const icon = kind === "a" && !isOld ? `ph:bell` : `ph:bel`'),
        ("a.ts", 'const icon =\n  ok\n    ? "ph:x"\n    : "ph:bel"'),
    ],
)
def test_each_value_that_an_expression_may_have_is_certainly_an_icon(name: str, code: str) -> None:
    found = scan(code, path=name).references
    assert "ph:bel" in [one.text for one in found] and all(one.is_certain for one in found)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.tsx", '<Icon icon={kind === "token:a" ? x : y}/>'),
        ("a.tsx", '<Icon icon={x} on={ok ? "token:a" : y}/>'),
        ("a.tsx", '<Icon icon={map["token:a"]}/>'),
        ("a.svelte", '<Icon icon={pick(ok, "token:a")}/>'),
        ("a.vue", "<Icon icon='x' :on=\"ok ? 'token:a' : ''\"/>"),
        ("a.js", 'icon ? "token:a" : b'),
        ("a.js", 'if (icon === x || "token:a") {}'),
        ("a.js", 'icon => ok ? "token:a" : b'),
        ("a.js", 'a = { icon: x, on: ok ? "token:a" : b }'),
        ("a.ts", 'let icon: string;\n on: "token:a"'),
        ("a.astro", '<Icon icon={x}>{ok ? "token:a" : b}</Icon>'),
    ],
)
def test_what_stands_elsewhere_in_an_expression_is_no_certain_icon(name: str, code: str) -> None:
    assert [(one.text, one.is_certain) for one in scan(code, path=name).references] == [("token:a", False)]


_PARTS = some.sampled_from([
    *("'", '"', "`", "/*", "*/", "//", "\n", "<!--", "-->", "<script>", "</script>", "${", "}", "{", "[", "\\", "/"),
    *(' icon="mdi:home" ', " i-mdi-home ", ' import { Bell } from "lucide-react"\n', "fa-solid fa-house", "=", "é"),
])  # fmt: skip


@settings(deadline=None)  # the first one reads tables
@given(
    some.lists(_PARTS, max_size=60).map("".join),
    some.sampled_from(["a.tsx", "a.ts", "a.vue", "a.svelte", "a.astro", "a.php", "a.md", "a.mdx", "a.scss", "a.json"]),
)
def test_whatever_stands_there_offsets_are_of_the_text(text: str, name: str) -> None:
    assert all(text[one.start : one.end] == one.text for one in parse(text, name).texts)
    lines = text.split("\n")
    for one in scan(text, path=name).references:
        assert text[one.start : one.end] == one.text
        assert lines[one.line - 1][one.column - 1 :].startswith(one.text.split("\n")[0])


@pytest.mark.parametrize(
    "text",
    [
        *("'" * 300_001, '"' * 300_001, "`" * 300_001, "/" * 300_001, "(/[" * 100_000, "/*" * 150_000, "{" * 300_000),
        *("import {" * 40_000, "<script>" * 40_000, "<!--" * 75_000, "<use href=" * 30_000, "i-" * 150_000),
        *(
            "a-" * 150_000,
            "import * as a from " * 15_000,
            '="' * 150_000,
            "<ion-icon " * 30_000,
            "<i class=material-icons>" * 20_000,
            "icon=" * 60_000,
            "icon=a?" * 40_000 + '"a:b"',
            'icon=a?"ab:cd":' * 20_000,
            "icon={" + 'a||"ab:cd"||' * 25_000,
            ":icon=\"'a:b'" * 27_000,
            "icon=" + "((((((((((!a?" * 20_000,
            "<icon name=a?'ab:cd'" * 15_000,
        ),
        *(
            '\\"' * 150_000,
            "\\'" * 150_000,
            '"\\\n' * 100_000,
            "{#" * 150_000,
            "{{!--" * 60_000,
            "import " + " " * 300_000,
        ),
        *(
            'import * as a from "lucide-react"; a[' * 8_000,
            'import * as a from "lucide-react"; a["' * 8_000,
            "const a" + " " * 300_000,
            "url(" + " " * 300_000,
        ),
        'x="mdi:' + "a-" * 150_000 + '"',
    ],
    ids=lambda text: text[:8],
)
@pytest.mark.parametrize("name", ["a.tsx", "a.vue", "a.svelte", "a.css"])
@pytest.mark.parametrize("share", [0.03, pytest.param(1, marks=pytest.mark.slow)])
def test_no_text_takes_long(text: str, name: str, share: float) -> None:
    started = time.process_time()
    scan(text[: int(share * len(text))] + text[-9:], path=name)
    assert time.process_time() - started < 2 + 6 * share, "what grows with the square of the text takes minutes"
