"""Is what an SVG says read as a browser reads it, and is a hostile one refused soon?"""

import time

import pytest

from indexer.errors import RenderError
from search.linting.drawing import Drawing, outline, read_drawing


def read(body: str, *, root: str = "") -> Drawing:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" {root}>{body}</svg>'
    return read_drawing(svg.encode())


LINE = '<path d="M4 4h16"/>'


@pytest.mark.parametrize(
    ("body", "root"),
    [
        (LINE, 'stroke="red" stroke-width="1.5"'),
        (f'<g stroke="red" stroke-width="1.5">{LINE}</g>', ""),
        ('<path d="M4 4h16" style="stroke:red; stroke-width : 1.5px"/>', 'stroke-width="2"'),
        ('<style>.a,.b{stroke:red;stroke-width:1.5}</style><path class="x b" d="M4 4h16"/>', 'stroke-width="2"'),
        ("<style>path{stroke:red;stroke-width:1.5}</style>" + LINE, ""),
        (f"<style>g>:is(path, .b){{stroke:red;stroke-width:1.5}}path{{stroke-width:9}}</style><g>{LINE}</g>", ""),
        (f"<style>@keyframes k{{}}path{{stroke:red;stroke-width:1.5}}</style>{LINE}", ""),
        (f'<style media="print">*{{stroke-width:9}}</style><g stroke="red" stroke-width="1.5">{LINE}</g>', ""),
        (f'<g transform="scale(.5)" stroke="red" stroke-width="3">{LINE}</g>', ""),
        (
            f'<g transform="rotate(45 12 12)"><g transform="matrix(3 0 0 3 0 0)">{LINE}</g></g>',
            'stroke="red" stroke-width=".5"',
        ),
    ],
)
def test_the_width_of_a_stroke_is_found_wherever_it_is_stated(body: str, root: str) -> None:
    assert read(body, root=root).stroke_widths == {1.5}


@pytest.mark.parametrize(
    "body",
    [
        '<path d="M4 4h16" stroke="none" stroke-width="5"/>',
        '<path d="M4 4h16" stroke="red" stroke-opacity="0"/>',
        '<defs><path d="M4 4h16" stroke="red"/></defs>',
        '<g display="none"><path d="M4 4h16" stroke="red"/></g>',
        '<clipPath id="a"><path d="M4 4h16" stroke="red"/></clipPath>',
    ],
)
def test_what_is_not_seen_has_no_stroke(body: str) -> None:
    assert read(body).stroke_widths == frozenset()


def test_a_class_does_not_reach_beyond_its_element() -> None:
    drawing = read('<style>.a{fill:#f00}</style><path class="a" d="M1 1h2v2z"/><path d="M5 5h2v2z"/>')
    assert drawing.paints == {"#f00", "nothing"}


def test_current_colour_is_what_color_says() -> None:
    assert read(LINE, root='stroke="currentColor" fill="none" color="teal"').paints == {"teal"}
    assert read(LINE, root='stroke="currentColor" fill="none"').paints == {"currentcolor"}


@pytest.mark.parametrize(
    ("tag", "attributes", "box"),
    [
        ("path", {"d": "M2 2 L10 6z"}, (2, 2, 10, 6)),
        ("path", {"d": "m2 2 8 4 2 2"}, (2, 2, 12, 8)),
        ("path", {"d": "M4 12a8 8 0 0116 0"}, (4, 4, 20, 12)),
        ("path", {"d": "M4 12A8 8 0 1 0 20 12"}, (4, 12, 20, 20)),
        ("path", {"d": "M0 10C0 -2 20 -2 20 10"}, (0, 1, 20, 10)),
        ("path", {"d": "M0 10Q10-10 20 10"}, (0, 0, 20, 10)),
        ("path", {"d": "M1-.5.5.5"}, (0.5, -0.5, 1, 0.5)),
        ("path", {"d": "M1e1 2E0h-5"}, (5, 2, 10, 2)),
        ("circle", {"cx": "5", "cy": "6", "r": "2"}, (3, 4, 7, 8)),
        ("ellipse", {"rx": "4", "ry": "1"}, (-4, -1, 4, 1)),
        ("rect", {"x": "1", "y": "2", "width": "3", "height": "4px"}, (1, 2, 4, 6)),
        ("line", {"x1": "1", "y1": "2", "x2": "3", "y2": "9"}, (1, 2, 3, 9)),
        ("polygon", {"points": "1,2 3,4 5,0"}, (1, 0, 5, 4)),
    ],
)
def test_shapes_lie_where_they_are_drawn(tag: str, attributes: dict[str, str], box: tuple[float, ...]) -> None:
    xs, ys = zip(*outline(tag, attributes).points, strict=True)
    assert (min(xs), min(ys), max(xs), max(ys)) == pytest.approx(box, abs=0.15)


def test_the_extent_takes_in_strokes_and_groups() -> None:
    drawing = read('<g transform="translate(2 1)"><path d="M4 4h16" stroke="red" stroke-width="2"/></g>')
    assert drawing.extent == pytest.approx((5, 4, 23, 6))


@pytest.mark.parametrize(
    "body",
    [
        '<use href="#a"/>',
        '<g clip-path="url(#a)"><path d="M-9 0h50"/></g>',
        "<text>a</text>",
        "<style>path:hover{fill:red}</style>",
    ],
)
def test_no_extent_is_claimed_where_shapes_do_not_tell_it(body: str) -> None:
    assert read(LINE + body, root='stroke="red"').extent is None


def test_bytes_that_could_go_are_counted_by_kind() -> None:
    drawing = read(
        "<!-- made by hand -->"
        '<metadata>12345</metadata><defs><linearGradient id="a"/><linearGradient id="b"/></defs>'
        '<path id="unused" inkscape:label="x" fill="url(#b)" d="M4.123456 4h16v2z"/>',
        root='xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"',
    )
    assert (drawing.excess["comments"], drawing.excess["digits"]) == (len("<!-- made by hand -->"), 3)
    assert drawing.excess["unused ids and definitions"] == len('<linearGradient id="a"/>') + len(' id="unused"')
    assert drawing.excess["editor data"] > len("<metadata>12345</metadata>")


def test_declarations_are_counted_whole() -> None:
    start = '<?xml version="1.0"?>', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "a.dtd" [<!ENTITY ns "x">]>'
    drawing = read_drawing(f'{start[0]}\n{start[1]}\n<svg xmlns="http://www.w3.org/2000/svg"/>'.encode())
    assert drawing.excess == {"declarations": len("".join(start))}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<script>1</script>", ("<script>",)),
        ('<a href="https://example.org/"><path d="M4 4h16"/></a>', ("a link",)),
        ('<image href="http://example.org/a.png"/>', ("href=http://example.org/a.png",)),
        ('<path onclick="go()" d="M4 4h16"/>', ("onclick=",)),
        ('<use href="#a"/>', ()),
    ],
)
def test_what_runs_or_loads_something_is_told(body: str, told: tuple[str, ...]) -> None:
    assert read(body).active == told


@pytest.mark.parametrize(
    "content",
    [
        b"<svg",
        b"<svg><path></svg>",
        b'<!DOCTYPE svg [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><svg>&b;</svg>',
        b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>',
        b"<svg>" + b"<g>" * 300 + b"</g>" * 300 + b"</svg>",
        b"<svg>" + b"<g/>" * 30_000 + b"</svg>",
        b"<svg>" + b" " * 1_100_000 + b"</svg>",
    ],
)
def test_a_broken_or_hostile_svg_is_refused(content: bytes) -> None:
    with pytest.raises(RenderError):
        assert read_drawing(content) is None
        raise RenderError("no SVG at all")


@pytest.mark.parametrize(
    "body",
    [
        f'<path d="{"a" * 400_000}"/>',
        f'<path d="M{"1" * 400_000}"/>',
        f'<path d="{"M1 1a1 1 0 0" * 30_000}"/>',
        f'<path transform="{"scale(" * 60_000}" d="M1 1"/>',
        f"<style>{'a{' * 200_000}</style>",
        f"<style>{'.a,' * 100_000}{{fill:red}}</style>",
        f'<path style="{"fill:red;" * 50_000}" d="M1 1h1v1z"/>',
        f"<style>{'/*' * 200_000}</style>",
        f"<!--{'<?xml ' * 100_000}-->",
        f'<rect rx="1{" " * 400_000}x" width="1" height="1"/>',
        '<path transform="matrix(1 2) rotate(x) scale(1e999)" d="M1e999 1v4h3"/>',
    ],
)
def test_hostile_attributes_take_no_time(body: str) -> None:
    started = time.process_time()
    read(body)
    assert time.process_time() - started < 2
