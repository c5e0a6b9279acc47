"""Is an icon written as each framework's users write it? One icon, many, and what can't be written."""

from base64 import b64encode

import pytest
from drawn_icons import drawing, sample

from indexer.errors import IconsError
from search.drawings.frameworks import AS_IT_IS, FRAMEWORKS, Framework, Look, NamedIcon, framework
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
    assert (snippet.imports, snippet.uses, use in snippet.code) == (imports, (use,), True)


@pytest.mark.parametrize(
    ("name", "use", "left_out"),
    [
        (
            "lucide-react",
            '<Bell size={20} color="#08f" strokeWidth={1.5} strokeLinecap="square" strokeLinejoin="miter" />',
            (),
        ),
        (
            "@lucide/vue",
            '<Bell :size="20" color="#08f" :stroke-width="1.5" stroke-linecap="square" stroke-linejoin="miter" />',
            (),
        ),
        (
            "unocss",
            '<span class="i-lucide-bell" style="font-size: 20px; color: #08f"></span>',
            ("stroke_width", "corner"),
        ),
    ],
)
def test_a_look_is_stated_in_the_properties_of_each_framework(name: str, use: str, left_out: tuple[str, ...]) -> None:
    snippet = of(name, sample("bell"), look=LOOK)
    assert (snippet.uses, snippet.left_out) == ((use,), left_out)


@pytest.mark.parametrize(
    ("body", "left_out"),
    [
        ('<style>.a{fill:#e11d48}</style><path class="a" d="M2 2h9v9z"/>', ("colours",)),
        ('<path stroke="red" d="M2 2h9"/>', ("stroke", "colours")),
        ('<path fill="currentColor" d="M2 2h9v9z"/><path fill="none" d="M0 0h24"/>', ()),
        ('<path fill="currentColor" d="M2 2h9v9z"><animate attributeName="opacity" to="0"/></path>', ("motion",)),
    ],
)
def test_path_data_says_what_of_a_drawing_it_drops(body: str, left_out: tuple[str, ...]) -> None:
    assert of("path", drawing(body)).left_out == left_out


def test_one_name_of_two_modules_is_imported_under_two() -> None:
    stars = of("@fortawesome/react-fontawesome", sample("star", of="fa7-solid"), sample("star", of="fa7-regular"))
    assert stars.imports.split("\n")[1:] == [
        'import { faStar } from "@fortawesome/free-solid-svg-icons";',
        'import { faStar as faStarRegular } from "@fortawesome/free-regular-svg-icons";',
    ]
    assert stars.uses[1] == "<FontAwesomeIcon icon={faStarRegular} />"
    assert f"{stars.install}".endswith("@fortawesome/free-solid-svg-icons @fortawesome/free-regular-svg-icons")
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


def test_ids_of_no_two_keys_are_the_same() -> None:
    svg = drawing('<path id="a" d=""/>').svg
    keys = ("a-b:c", "a_b:c", "a:b-c", "a:b_c", "a.b:c", "a:b:c")
    assert len({of("html", NamedIcon(key, "", "x", svg)).code for key in keys}) == len(keys)


def test_drawings_of_one_name_are_told_apart() -> None:
    two = drawing("<path d='M0 0h1'/>", name="bell"), NamedIcon("a:bell", "a", "Bell", sample("bell").svg)
    first, second = of("react", *two).uses
    assert "function Bell(" in first and "function Bell2(" in second
    assert ".icon-bell-2 {" in of("css", *two).code


_TEXT = drawing("<text>{{ 1 }} {a} ${b} `c` &lt;d&gt; \\ </text>")
_STYLED = drawing('<g style="fill:red;mix-blend-mode:multiply"><path class="a" stroke-width="2" d="M0 0"/></g>')
_SUN = drawing(
    '<style>.a{fill:url(#g)}.b,.c{opacity:.5}</style><linearGradient id="g"><stop offset="0"/></linearGradient>'
    '<title id="t">Sun</title><path class="a b" d="M0 0h9v9z"/><use xlink:href="#g"/>',
    root=' role="img" aria-labelledby="t"',
    name="sun",
)
_SHEET = drawing("<style>@keyframes k{to{opacity:0}}.a>path{fill:red}</style><g class='a'><path d='M0 0'/></g>")
_ROOT_STYLE = drawing("<path d='M0 0'/>", root=' style="fill-rule:evenodd;--c:#c00"')
_LETTERS = drawing(
    '<linearGradient id="渐变_1"/><clipPath id="é-b"/><path clip-path="url(\'#%C3%A9-b\')" fill="url(#渐变_1)" d=""/>'
)
_STEPS = drawing(
    '<path d=""><animate id="go" begin="0s;back_1.end+.1s"/><animate id="back_1" begin="go.end"/>'
    '<animate id="a-b" begin="a\\-b.end" attributeName="fill" values="red;blue"/></path>'
)
_ATTRIBUTES = drawing('<mask mask-type="alpha"/><path paint-order="stroke" transform-box="fill-box" onload="x" d=""/>')
_INNER = (
    '<svg xmlns="http://www.w3.org/2000/svg"><script>x</script><path d=""/><image href="https://example.com"/></svg>'
)
_PICTURE = drawing(f'<image href="data:image/svg+xml;base64,{b64encode(_INNER.encode()).decode()}"/>')
_PRINTED = drawing(
    '<style media="print">.p{fill:#f00}</style><style type="text/less">.p{fill:#f00}</style>'
    "<style>@media print{.p{fill:#f00}}@media screen{g>.q.p{fill:#0a0!important}}g .q{fill:#00f}.p{stroke:#000}</style>"
    '<path class="p" d=""/><g><path class="q p" d=""/></g>'
)
_TITLE = "<title>\u201cT\xfcr\u201d \u20ac</title>"
_IN_1252 = f'<?xml version="1.0" encoding="windows-1252"?><svg xmlns="http://www.w3.org/2000/svg">{_TITLE}</svg>'
_START = 'import type { SVGProps } from "react";\n\nexport function Drawn(props: SVGProps<SVGSVGElement>) {'
_COLOURED = drawing('<path fill="#f00" d="M0 0h9v9z"/>')


@pytest.mark.parametrize(
    ("name", "icon", "parts", "others"),
    [
        (
            "react",
            _STYLED,
            (
                _START,
                ' {...props} style={{ isolation: "isolate", ...props.style } as object}>',
                '<path className="a" d="M0 0" strokeWidth="2" />',
            ),
            (),
        ),
        ("react", _STYLED, ('style={{ fill: "red", mixBlendMode: "multiply" } as object}',), ()),
        ("jsx", _STYLED, ("export function Drawn(props) {",), ("as object",)),
        ("vue", _TEXT, ("v-pre>", "{{ 1 }}"), ()),
        ("vue", sample("bell"), (), ("v-pre",)),
        ("svelte", _TEXT, ("&#123;&#123; 1 &#125;&#125; &#123;a&#125;",), ()),
        ("react", _TEXT, ('{"{{ 1 }} {a} ${b} `c` \\u003cd> \\\\ "}',), ()),
        (
            *("html", _SUN),
            (
                'id="own__sun__g"',
                'href="#own__sun__g"',
                'style="fill:url(#own__sun__g);opacity:.5"',
                'aria-labelledby="own__sun__t"',
            ),
            ("<style", "class=", "aria-hidden"),
        ),
        ("svg", _SUN, ("<style",), ()),  # a file is a world of its own
        ("react", _SHEET, ("@keyframes",), ()),
        (
            "react",
            _ROOT_STYLE,
            (' {...props} style={{ fillRule: "evenodd", "--c": "#c00", ...props.style } as object}>',),
            (),
        ),
        ("jsx", _ROOT_STYLE, (' {...props} style={{ fillRule: "evenodd", "--c": "#c00", ...props.style }}>',), ()),
        ("svelte", _ROOT_STYLE, (' {...props} style={["fill-rule:evenodd;--c:#c00", props.style].join(";")}>',), ()),
        (
            "html",
            _LETTERS,
            ('id="own__drawn__6e1053d8_1"', "url(#own__drawn__6e1053d8_1)", "url(#own__drawn__e9_b)"),
            ("%",),
        ),
        (
            "html",
            _STEPS,
            ('begin="0s;own__drawn__back_1.end+.1s"', 'begin="own__drawn__a_b.end"', 'attributeName="fill"'),
            (),
        ),
        ("html", _ATTRIBUTES, ('paint-order="stroke"', 'transform-box="fill-box"', 'mask-type="alpha"'), ("onload",)),
        ("jsx", _ATTRIBUTES, ('paintOrder="stroke"', 'transform-box="fill-box"', 'mask-type="alpha"'), ()),
        ("html", _PICTURE, ('href="data:image/svg+xml,%3Csvg', "path"), ("script", "image/svg+xml;base64", "example")),
        (
            "html",
            _PRINTED,
            ('style="stroke:#000"', 'style="stroke:#000;fill:#00f;fill:#0a0!important"'),
            ("<style", "#f00"),
        ),
        (
            "html",
            _SHEET,
            ("@keyframes own__drawn__k", ".a&gt;path:where(.own__drawn,.own__drawn *){", 'class="own__drawn"'),
            (),
        ),
        (
            *(
                "html",
                drawing("<style>g .a>path{fill:red}g>path{fill:blue}</style><g><a class='a'><path d=''/></a></g>"),
            ),
            ('<path style="fill:red" />',),
            ("<style", "blue"),
        ),
        (
            *("html", drawing("<style>.a{fill:red;.b{fill:blue}}</style><g class='a'><path class='b' d=''/></g>")),
            ("<style",),
            ('style="fill:red"',),
        ),
        (
            *(
                "html",
                drawing('<style>svg{position:fixed}</style><path style="POSITION:fixed;fill:red" data-a="b" d=""/>'),
            ),
            ('style="fill:red"',),
            ("fixed", "data-"),
        ),
        (
            *("jsx", drawing('<path aria-label="a" aria-a.b="c" d=""/>')),
            ('aria-label="a"',),
            ("a.b",),
        ),
        (
            *(
                "html",
                drawing("<style>svg :is(.a, .b>*) , .c{fill:red}</style><g class='b'><path class='d' d=''/></g>"),
            ),
            ('style="fill:red"',),
            ("<style",),
        ),
        (
            *("html", drawing("<style>@keyframes k{}:is(.a, .b){fill:red}</style><path class='a' d=''/>")),
            (".a:where(.own__drawn,.own__drawn *),.b:where(.own__drawn,.own__drawn *){fill:red}",),
            (":is",),
        ),
        ("vue", _SHEET, ("</template>\n\n<style>\n@media all {@keyframes own__drawn__k{",), ()),
        *(
            (
                "html",
                drawing(f"<defs><g id='{id}'/></defs><path fill='{link}' d=''/>"),
                (f"url(#own__drawn__{own})",),
                (),
            )
            for id, link, own in (
                ("a b", 'url("#a b")', "a_b"),
                ("a(1)", 'url("#a(1)")', "a_1_"),
                ("a&#39;b", 'url("#a&#39;b")', "a_b"),
                ("100%", "url(#100%25)", "100_"),
                ("50%25", "url(#50%25)", ""),  # an id is never encoded
            )
        ),
        ("html", drawing("<g id='a b'/><path fill='url(#a b)' d=''/>"), ("url(#a b)",), ()),
        (
            *("html", drawing("<style>.a{fill:red}</style><g class='a'><set attributeName='class' to='b'/></g>")),
            (".a:where(.own__drawn,.own__drawn *){fill:red}", 'class="a"'),
            (),
        ),
        ("html", drawing("<style type='TEXT/CSS'>.a{fill:red}</style><g class='a'/>"), ('style="fill:red"',), ()),
        ("svg", _SHEET, ("@keyframes k{", ".a&gt;path{"), ("own__drawn",)),
        ("css", drawing('<path d="M0 0" style="color:#c00;fill:currentColor"/>'), ("background: url(",), ("mask",)),
        (
            "html",
            NamedIcon("a:b", "a", "b", _IN_1252.encode("cp1252")),
            (_TITLE,),
            (),
        ),
        ("css", sample("bell"), ("background: #08f;", "mask: var(--icon)", "width: 20px;"), ()),
        ("css", _COLOURED, ('background: url("data:image/svg+xml,',), ("mask",)),
    ],
)
def test_code_of_a_drawing_is_what_its_language_takes(
    name: str, icon: NamedIcon, parts: tuple[str, ...], others: tuple[str, ...]
) -> None:
    written = of(name, icon, look=LOOK if name == "css" else AS_IT_IS)
    assert [part for part in (*parts, *others) if (part in written.code) is (part in others)] == []
    assert written.left_out == (("colour",) if "mask" in others else ())  # a class of an icon in its own takes none


def test_a_data_uri_stands_between_double_quotes() -> None:
    uri = of("data-uri", drawing("<text>\"a' (b) #c%</text>")).code
    assert uri.startswith("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'")
    assert not set(uri) & set('"<>#()\n')


def test_path_data_is_that_of_every_shape() -> None:
    shapes = (
        '<path fill="none" d="M0 0h24v24H0z"/><path d=" M1 1\n h2 "/><circle cx="5" cy="5" r="2"/>'
        '<rect x="1" y="2" width="6" height="4" rx="1"/><rect width="2" height="3"/><line x1="1" y1="2" x2="3" y2="4"/>'
        '<polygon points="0,0 1,0 1,1"/><polyline points="0 0 2 2"/><ellipse rx="2" ry="1"/><circle r="0"/>'
        '<polygon points=" "/>'
    )
    assert of("path", drawing(shapes)).code.split("\n") == [
        "M1 1 h2",
        "M7,5 A2 2 0 1 1 3,5 A2 2 0 1 1 7,5 Z",
        "M2,2 H6 A1 1 0 0 1 7,3 V5 A1 1 0 0 1 6,6 H2 A1 1 0 0 1 1,5 V3 A1 1 0 0 1 2,2 Z",
        "M0,0 H2 V3 H0 V0 Z",
        "M1,2 L3,4",
        "M0,0 1,0 1,1 Z",
        "M0 0 2 2",
        "M2,0 A2 1 0 1 1 -2,0 A2 1 0 1 1 2,0 Z",
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
    assert (framework("LUCIDE").name, framework("lucide-vue-next").name) == ("lucide-react", "@lucide/vue")


@pytest.mark.parametrize(
    "given",
    [{"colour": 'red"/>'}, {"colour": "red\n"}, {"colour": "nonsense"}, {"size": 0}, {"stroke_width": float("nan")}],
)
def test_a_look_that_could_mean_more_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(IconsError, match=f"{next(iter(given)).replace('_', ' ')} is "):
        Look(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("one", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_every_framework_says_what_it_is_and_writes_a_sample(one: Framework) -> None:
    snippet = of(one.name, sample("bell", of=one.sets[0] if one.sets else "lucide"))
    assert snippet.code and one.title and (snippet.install is not None) == bool(one.packages)


_ROOT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"'
_WIDTHS = f'{_ROOT} stroke="#000" stroke-width="2"><path stroke-width="1"/><path style="stroke-width:.5px"/></svg>'
_BEVEL = '<path style="stroke-linejoin:bevel;fill:red" stroke-linecap="x"/>'
_ENDS = f'{_ROOT} stroke="red" stroke-linecap="butt">{_BEVEL}</svg>'


@pytest.mark.parametrize(
    ("svg", "look", "parts", "others"),
    [
        (f"{_ROOT}><path d='M0 0'/></svg>", {"size": 48}, ('width="48" height="24"',), ()),
        (
            '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="8px"/>',
            {"size": 32},
            ('width="32" height="16"', 'viewBox="0 0 16 8"'),
            (),
        ),
        (
            _WIDTHS,
            {"stroke_width": 3},
            ('stroke-width="3"', 'stroke-width="1.5"', "stroke-width:0.75"),
            ('stroke-width="2"',),
        ),
        (f'{_ROOT} stroke="red"><path/></svg>', {"stroke_width": 1.5}, ('stroke-width="1.5"',), ()),
        (f"{_ROOT}><path/></svg>", {"stroke_width": 1.5, "corner": "sharp"}, (), ("stroke",)),
        (_ENDS, {"corner": "sharp"}, ('cap="square"', 'join="miter"', "fill:red"), ("butt", "bevel", 'cap="x"')),
        (_ENDS, {"corner": "round"}, ('cap="round"', 'join="round"', "fill:red"), ("butt", "bevel", 'cap="x"')),
        (
            f'{_ROOT}><path d="M0 0h9v9z"/><path fill="#00f" d="M1 1h1"/></svg>',
            {"colour": "red"},
            ('fill="red">', 'fill="#00f"'),
            (),
        ),
    ],
)
def test_a_copy_looks_as_it_is_asked_to(
    svg: str, look: dict[str, object], parts: tuple[str, ...], others: tuple[str, ...]
) -> None:
    """Widths keep their proportions, ends are those of all strokes, a colour goes to what an icon leaves open."""
    icon = NamedIcon("own:icon", "own", "icon", svg.encode())
    text = write([icon], framework("svg"), Look(**look)).code  # type: ignore[arg-type]
    assert [part for part in parts if part not in text] == [] == [part for part in others if part in text]
