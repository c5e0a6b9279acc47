"""Is an icon written as each framework's users write it? One icon, many, and what can't be written."""

import pytest
from drawn_icons import drawing, sample

from indexer.errors import IconsError
from search.drawings.drawn import AS_IT_IS, Look, NamedIcon
from search.drawings.frameworks import FRAMEWORKS, Framework, framework
from search.drawings.write import Snippet, laid_out, write

LOOK = Look(size=20, colour="#08f", stroke_width=1.5, corner="sharp")
_BELL_PATHS = "M10.268 21a2 2 0 0 0 3.464 0"


def of(name: str, *icons: NamedIcon, look: Look = AS_IT_IS) -> Snippet:
    return write(icons, framework(name), look)


@pytest.mark.parametrize(
    ("name", "icon", "imports", "use"),
    [
        ("lucide-react", sample("bell"), 'import { Bell } from "lucide-react";', "<Bell />"),
        (
            "lucide-react",
            sample("map", of="lucide-static"),
            'import { Map as MapIcon } from "lucide-react";',
            "<MapIcon />",
        ),
        ("lucide-react", sample("arrow-down-0-1"), 'import { ArrowDown01 } from "lucide-react";', "<ArrowDown01 />"),
        ("@lucide/vue", sample("bell"), 'import { Bell } from "@lucide/vue";', "<Bell />"),
        ("@lucide/svelte", sample("bell"), 'import { Bell } from "@lucide/svelte";', "<Bell />"),
        (
            "@tabler/icons-react",
            sample("2fa", of="tabler"),
            'import { Icon2fa } from "@tabler/icons-react";',
            "<Icon2fa />",
        ),
        (
            "@tabler/icons-react",
            sample("bell", of="@tabler/icons", path="/x/icons/filled/bell.svg"),
            'import { IconBellFilled } from "@tabler/icons-react";',
            "<IconBellFilled />",
        ),
        (
            "@phosphor-icons/react",
            sample("bell-fill", of="ph"),
            'import { BellIcon } from "@phosphor-icons/react";',
            '<BellIcon weight="fill" />',
        ),
        ("@phosphor-icons/vue", sample("bell", of="ph"), 'import { PhBell } from "@phosphor-icons/vue";', "<PhBell />"),
        (
            "@heroicons/react",
            sample("squares-2x2-20-solid", of="heroicons"),
            'import { Squares2X2Icon } from "@heroicons/react/20/solid";',
            "<Squares2X2Icon />",
        ),
        (
            "@heroicons/vue",
            sample("bell", of="heroicons", path="/x/24/outline/bell.svg"),
            'import { BellIcon } from "@heroicons/vue/24/outline";',
            "<BellIcon />",
        ),
        (
            "@mdi/js",
            sample("notifications", of="mdi"),
            'import Icon from "@mdi/react";\nimport { mdiBell } from "@mdi/js";',
            "<Icon path={mdiBell} />",
        ),
        (
            "@fortawesome/react-fontawesome",
            sample("github", of="fa6-brands"),
            'import { FontAwesomeIcon } from "@fortawesome/react-fontawesome";\n'
            'import { faGithub } from "@fortawesome/free-brands-svg-icons";',
            "<FontAwesomeIcon icon={faGithub} />",
        ),
        (
            "@iconify/react",
            sample("bell", of="lucide-static"),
            'import { Icon } from "@iconify/react";',
            '<Icon icon="lucide:bell" />',
        ),
        ("@iconify/vue", sample("bell"), 'import { Icon } from "@iconify/vue";', '<Icon icon="lucide:bell" />'),
        ("@iconify/svelte", sample("bell"), 'import Icon from "@iconify/svelte";', '<Icon icon="lucide:bell" />'),
        ("iconify-icon", sample("bell"), 'import "iconify-icon";', '<iconify-icon icon="lucide:bell"></iconify-icon>'),
        ("unocss", sample("bell"), "", '<span class="i-lucide-bell"></span>'),
        ("unocss", sample("bell", of="fa6-solid"), "", '<span class="i-fa6-solid:bell"></span>'),
        ("name", sample("bell"), "", "lucide:bell"),
    ],
)  # fmt: skip
def test_an_icon_is_imported_and_used_as_its_package_exports_it(
    name: str, icon: NamedIcon, imports: str, use: str
) -> None:
    snippet = of(name, icon)
    assert (snippet.imports, snippet.uses) == (imports, (use,))
    assert use in snippet.code


def test_a_look_is_stated_in_the_properties_of_each_framework() -> None:
    assert of("lucide-react", sample("bell"), look=LOOK).uses == (
        '<Bell size={20} color="#08f" strokeWidth={1.5} strokeLinecap="square" strokeLinejoin="miter" />',
    )
    assert of("@lucide/vue", sample("bell"), look=LOOK).uses == (
        '<Bell :size="20" color="#08f" :stroke-width="1.5" stroke-linecap="square" stroke-linejoin="miter" />',
    )
    told = of("unocss", sample("bell"), look=LOOK)
    assert told.uses == ('<span class="i-lucide-bell" style="font-size: 20px; color: #08f"></span>',)
    assert told.left_out == ("stroke_width", "corner")


def test_many_icons_come_with_one_import_and_what_to_install() -> None:
    snippet = of("lucide-react", sample("bell"), sample("moon"), sample("bell"))
    assert snippet.imports == 'import { Bell, Moon } from "lucide-react";'
    assert snippet.uses == ("<Bell />", "<Moon />", "<Bell />")
    assert snippet.install == "npm install lucide-react"
    told = of("@fortawesome/react-fontawesome", sample("bell", of="fa7-solid"), sample("bell", of="fa7-regular"))
    assert told.install is not None
    assert told.install.endswith("@fortawesome/free-solid-svg-icons @fortawesome/free-regular-svg-icons")


def test_one_name_of_two_modules_is_imported_under_two() -> None:
    told = of("@fortawesome/react-fontawesome", sample("star", of="fa7-solid"), sample("star", of="fa7-regular"))
    assert told.imports.split("\n")[1:] == [
        'import { faStar } from "@fortawesome/free-solid-svg-icons";',
        'import { faStar as faStarRegular } from "@fortawesome/free-regular-svg-icons";',
    ]
    assert told.uses[1] == "<FontAwesomeIcon icon={faStarRegular} />"
    both = of("@heroicons/react", sample("bell", of="heroicons"), sample("bell-solid", of="heroicons"))
    assert both.uses == ("<BellIcon />", "<BellIcon24Solid />")


def test_remarks_stand_before_uses_and_close_nothing() -> None:
    icons, remarks = [sample("bell"), sample("moon")], ["*/ alert() /*", "--> <b>"]
    for name in ("lucide-react", "@lucide/vue", "react", "css", "svg", "svelte"):
        snippet = of(name, *icons)
        text = laid_out(snippet.imports, snippet.uses, framework(name), remarks=remarks)
        ending = "-->" if framework(name).language in ("vue", "svg", "svelte") else "*/"
        assert text.count(ending) == len(icons), name


def test_one_drawing_for_two_needs_is_defined_once() -> None:
    snippet = of("react", sample("bell"), sample("bell"))
    text = laid_out(snippet.imports, snippet.uses, framework("react"), remarks=["alarm", "news"])
    assert text.count("function Bell") == 1 and "/* alarm, news */" in text


@pytest.mark.parametrize("name", ["path", "data-uri", "vue", "svelte"])
def test_many_drawings_in_one_text_say_where_each_begins(name: str) -> None:
    bell, star = of(name, sample("bell")).code, of(name, sample("star")).code
    head, gap = ("# {}\n", "\n") if name in ("path", "data-uri") else ("<!-- {} -->\n", "\n\n")
    both = f"{head.format('lucide:bell')}{bell}{gap}{head.format('lucide:star')}{star}"
    assert of(name, sample("bell"), sample("star")).code == both
    asked = laid_out("", [bell, star], framework(name), remarks=["alarm", "rating"])
    assert asked == both.replace("lucide:bell", "alarm").replace("lucide:star", "rating")


def test_one_line_of_signs_bears_no_remark() -> None:
    bell = of("path", sample("bell")).code
    assert laid_out("", [bell], framework("path"), remarks=["alarm"]) == bell
    assert laid_out("", ["ph:bell", "ph:star"], framework("name"), remarks=["a", "b"]) == "ph:bell\nph:star"


def test_drawings_of_one_name_are_told_apart() -> None:
    two = drawing("<path d='M0 0h1'/>", name="bell"), NamedIcon("a:bell", "a", "Bell", sample("bell").svg)
    first, second = of("react", *two).uses
    assert "function Bell(" in first and "function Bell2(" in second
    assert ".icon-bell-2 {" in of("css", *two).code


def test_a_component_of_react_hands_its_properties_on() -> None:
    icon = drawing('<g style="fill:red;mix-blend-mode:multiply"><path class="a" stroke-width="2" d="M0 0"/></g>')
    code, untyped = of("react", icon).code, of("jsx", icon).code
    start = 'import type { SVGProps } from "react";\n\nexport function Drawn(props: SVGProps<SVGSVGElement>) {'
    assert code.startswith(start) and " {...props}>" in code
    assert '<path className="a" d="M0 0" strokeWidth="2" />' in code
    assert 'style={{ fill: "red", mixBlendMode: "multiply" } as object}' in code
    assert untyped.startswith("export function Drawn(props) {") and "as object" not in untyped


def test_text_is_no_code_in_any_language() -> None:
    icon = drawing("<text>{{ 1 }} {a} ${b} `c` &lt;d&gt; \\ </text>")
    assert "v-pre>" in of("vue", icon).code and "{{ 1 }}" in of("vue", icon).code
    assert "&#123;&#123; 1 &#125;&#125; &#123;a&#125;" in of("svelte", icon).code
    assert '{"{{ 1 }} {a} ${b} `c` \\u003cd> \\\\ "}' in of("react", icon).code
    assert "v-pre" not in of("vue", sample("bell")).code


def test_ids_bear_the_name_of_the_icon_and_rules_lie_on_elements() -> None:
    body = (
        '<style>.a{fill:url(#g)}.b,.c{opacity:.5}</style><linearGradient id="g"><stop offset="0"/></linearGradient>'
        '<title id="t">Sun</title><path class="a b" d="M0 0h9v9z"/><use xlink:href="#g"/>'
    )
    icon = drawing(body, root=' role="img" aria-labelledby="t"', name="sun")
    code = of("html", icon).code
    for part in ('id="sun-g"', 'href="#sun-g"', 'style="fill:url(#sun-g);opacity:.5"', 'aria-labelledby="sun-t"'):
        assert part in code
    assert "<style" not in code and "class=" not in code and "aria-hidden" not in code
    assert "<style" in of("svg", icon).code  # a file is a world of its own


def test_a_sheet_that_does_more_stays_and_vue_refuses_it() -> None:
    icon = drawing("<style>@keyframes k{to{opacity:0}}.a>path{fill:red}</style><g class='a'><path d='M0 0'/></g>")
    assert "@keyframes" in of("react", icon).code
    with pytest.raises(IconsError, match="holds a <style>, which Vue's templates refuse"):
        of("vue", icon)


def test_css_is_a_mask_or_the_colours_of_the_icon() -> None:
    mask = of("css", sample("bell"), look=Look(colour="red", size=20)).code
    assert "background: red;" in mask and "mask: var(--icon)" in mask and "width: 20px;" in mask
    coloured = of("css", drawing('<path fill="#f00" d="M0 0h9v9z"/>')).code
    assert 'background: url("data:image/svg+xml,' in coloured and "mask" not in coloured


def test_a_data_uri_stands_between_double_quotes() -> None:
    uri = of("data-uri", drawing("<text>\"a' (b) #c%</text>")).code
    assert uri.startswith("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'")
    assert not set(uri) & set('"<>#()\n')


def test_path_data_is_that_of_every_shape() -> None:
    shapes = (
        '<path fill="none" d="M0 0h24v24H0z"/><path d=" M1 1\n h2 "/><circle cx="5" cy="5" r="2"/>'
        '<rect x="1" y="2" width="6" height="4" rx="1"/><rect width="2" height="3"/><line x1="1" y1="2" x2="3" y2="4"/>'
        '<polygon points="0,0 1,0 1,1"/><polyline points="0 0 2 2"/><ellipse rx="2" ry="1"/><circle r="0"/>'
    )
    assert of("path", drawing(shapes)).code.split("\n") == [
        "M1 1 h2",
        "M7 5a2 2 0 1 1 -4 0a2 2 0 1 1 4 0z",
        "M2 2h4a1 1 0 0 1 1 1v2a1 1 0 0 1 -1 1h-4a1 1 0 0 1 -1 -1v-2a1 1 0 0 1 1 -1z",
        "M0 0h2v3h-2z",
        "M1 2L3 4",
        "M0 0L1 0L1 1z",
        "M0 0L2 2",
        "M2 0a2 1 0 1 1 -4 0a2 1 0 1 1 4 0z",
    ]
    assert of("path", sample("bell")).code.startswith(_BELL_PATHS)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('<g transform="scale(2)"><path d="M0 0"/></g>', "has a transform"),
        ("<text>a</text>", "holds <text>, which is no shape"),
        ('<path fill="url(#a)" d="M0 0"/>', "is filled with a pattern or gradient"),
        ('<circle r="50%"/>', 'has a length of "50%"'),
        ("", "holds no shape"),
    ],
)
def test_what_path_data_cannot_say_is_refused(body: str, why: str) -> None:
    with pytest.raises(IconsError, match=why):
        of("path", drawing(body))


@pytest.mark.parametrize(
    ("name", "icon", "why"),
    [
        (
            "lucide-react",
            sample("home", of="mdi"),
            '"mdi:home" is not of lucide, the set of lucide-react; --format',
        ),
        ("lucide-react", sample("github"), '"lucide:github" is not exported by lucide-react; --format react writes'),
        (
            "@iconify/vue",
            sample("bell", of="mine"),
            '"mine:bell" is not of Iconify; --format svg, react, vue or svelte',
        ),
        ("svg", NamedIcon("a:b", "a", "b", b"\x89PNG\r\n"), '"a:b" is a bitmap and no SVG'),
        ("svg", NamedIcon("a:b", "a", "b", None), 'the drawing of "a:b" is not at hand'),
        ("svg", NamedIcon("a:b", "a", "b", b"<svg><path"), "it is no well-formed SVG"),
    ],
)
def test_what_cannot_be_written_is_refused_with_a_way_out(name: str, icon: NamedIcon, why: str) -> None:
    with pytest.raises(IconsError) as refused:
        of(name, icon)
    assert why in str(refused.value)


def test_a_framework_that_is_none_names_near_ones() -> None:
    with pytest.raises(IconsError, match='no format "lucide-raect"; near: lucide-react'):
        framework("lucide-raect")
    assert framework("LUCIDE").name == "lucide-react"
    assert framework("lucide-vue-next").name == "@lucide/vue"


@pytest.mark.parametrize(
    "given", [{"colour": 'red"/>'}, {"colour": "red\n"}, {"size": 0}, {"stroke_width": float("nan")}]
)
def test_a_look_that_could_mean_more_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(IconsError, match=f"{next(iter(given)).replace('_', ' ')} is "):
        Look(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("one", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_every_framework_says_what_it_is_and_writes_a_sample(one: Framework) -> None:
    snippet = of(one.name, sample("bell", of=one.sets[0] if one.sets else "lucide"))
    assert snippet.code and one.title
    assert (snippet.install is not None) == bool(one.packages)
