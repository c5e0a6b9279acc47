"""Styles of SVGs as browsers take them: variables, colours, conditions, animations; and icons held against Chromium."""

import base64
import json
import os
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import svg
from tools import lacking

from data.making.detector.browser import PROGRAMS, find_browser, open_browser
from indexer.errors import RenderError
from indexer.library.bundled import bundled
from indexer.rendering.render import draw, render
from indexer.rendering.styles import written_out
from indexer.sources.iconify import build_svg, resolve_icon

SQUARE = '<rect x="6" y="6" width="12" height="12" class="a" {}/>'
RED, GREEN, BLACK, WHITE = [255, 0, 0], [0, 128, 0], [0, 0, 0], [255, 255, 255]


def middle(body: str, *, root: str = "") -> list[int]:
    """The colour in the middle of a picture."""
    return render(svg(body).replace("<svg", f"<svg {root}", 1).encode(), size=64).pixels[32, 32].tolist()


@pytest.mark.parametrize(
    ("sheet", "attributes", "colour"),
    [
        ("", 'fill="var(--x, red)"', RED),
        ("", 'fill="var(--x,var( --y , rgb(255 0 0)))"', RED),
        ("", 'style="--x: red; fill: var(--x)"', RED),
        ("", 'fill="none" stroke="red" stroke-width="var(--x, 14)"', RED),
        ("", 'color="red" fill="var(--x, currentColor)"', RED),
        ("", 'fill="none" stroke="red" stroke-width="calc((2 * var(--x, 3px) + 1) * 6 / 3)"', RED),
        ("", 'fill="none" stroke="red" stroke-width="calc(14)"', RED),
        ("", 'fill="none" stroke="red" style="stroke-width:calc(20px - 2px * (1 + 2))"', RED),
        ("svg{fill:green}", 'fill="red" fill-opacity="calc(1 / 0)"', RED),
        (":is(g, svg) > :is(.x, .a){--x:red} rect:is(.a){fill:var(--x)} rect:is(.x, .y){fill:green}", "", RED),
        (":root{--x:red} .a{fill:var(--x)}", "", RED),
        ("svg{--x:red} rect{fill:var(--x, green)}", "", RED),
        ("* {--x:green} .a{--x:red} .a{fill:var(--x)}", "", RED),
        ("#i{--x:red} rect.a{--x:green} .b{--x:green} rect{fill:var(--x)}", 'id="i"', RED),
        (".a{--x:red!important} #i{--x:green} rect{fill:var(--x)}", 'id="i"', RED),
        ("svg > .a{--x:red} g .a{--x:green} rect{fill:var(--x)}", "", RED),
        (".dark{--x:green} [data-theme=dark]{--x:green} rect{fill:var(--x,red)}", "", RED),
        (":root{--x:var(--y);--y:var(--z);--z:red} rect{fill:var(--x)}", "", RED),
        (":root{--x:var(--y);--y:var(--x)} rect{fill:var(--x,red)}", "", RED),
        (":root{--c:red;color:var(--c)}", 'fill="currentColor"', RED),
        (":root{--X:red;--x:green} .a{fill:var(--X)} .b{fill:blue}", "", RED),
        ("@media (prefers-color-scheme:dark){.a{--x:green}} .a{fill:var(--x,red)}", "", RED),
        ("svg{fill:green} .a{fill:red} rect.a{fill:var(--missing)}", "", GREEN),
        ("svg{fill:green}", 'fill="var(--missing)"', GREEN),
        ("svg{--x:green} svg>.b{--x:red} g>.a{--x:red} svg > .a{fill:var(--x)}", "", GREEN),
        (".a{--x:green} g>.a{--x:red} .a{fill:var(--x)}", "", GREEN),
        ("@supports not (fill:red){.a{fill:red}} .a{stroke:none} svg{fill:green} @layer a{}", "", GREEN),
        ("svg{--x:green} @layer a{.a{fill:var(--x)}} @supports (fill:red){rect.a{fill:red}}", "", RED),
    ],
)
def test_a_variable_is_worth_what_the_file_says_else_what_stands_beside_it(
    sheet: str, attributes: str, colour: list[int]
) -> None:
    assert middle(f"<style>{sheet}</style>{SQUARE.format(attributes)}") == colour


_LEFT = '<rect id="g" width="10" height="24" fill="var(--x, black)"/>'
_PARTS = (
    '<clipPath id="c" clipPathUnits="objectBoundingBox"><path d="M0 0h.5v1H0z"/></clipPath>'
    '<linearGradient id="\u00e9 b"><stop stop-color="red"/></linearGradient>'
)
_WIDE = '<rect width="24" height="24" {}/>'


@pytest.mark.parametrize(
    ("body", "root", "seen"),
    [
        (f'<defs>{_LEFT}</defs><use href="#g" style="--x:red"/><use class="b" href="#g" x="12px"/>', "", [RED, GREEN]),
        (
            f'<symbol id="s" viewBox="0 0 9 24"><g><use href="#t"/></g></symbol><g id="t">{_LEFT}</g>'
            '<g id="l"><use href="#l"/></g><use href="#none"/><use class="b" href="#s" x="12" width="9" height="24"/>',
            "",
            [BLACK, GREEN],
        ),
        (
            '<style>rect{fill:var(--x)}</style><g style="--x:red"><rect width="10" height="24"/></g>'
            '<g class="b"><rect x="10" width="14" height="24"/></g>',
            "",
            [RED, GREEN],
        ),
        (_PARTS + _WIDE.format('fill="url(#%C3%A9%20b)"'), "", [RED, RED]),
        (_PARTS + _WIDE.format('style="fill:url(&quot;#%C3%A9%20b&quot;)"'), "", [RED, RED]),
        (f'<defs><g id="\u00fc">{_WIDE.format("")}</g></defs><use href="#%C3%BC"/>', "", [BLACK, BLACK]),
        (_LEFT, 'style="--x: red; transform: rotate(180deg)"', [WHITE, RED]),
        (_LEFT, 'class="b" transform="rotate(180)"', [WHITE, GREEN]),
        (_LEFT, 'class="b" style="background: rgb(255, 0, 0)"', [GREEN, RED]),
        (_LEFT.replace("/>", ' transform-origin="center" transform="rotate(180)"/>'), "", [WHITE, BLACK]),
        (f"<style>#g{{transform-origin:50% 12px;transform:scaleX(-1)}}</style>{_LEFT}", "", [WHITE, BLACK]),
        (_LEFT, 'class="b" style="-webkit-transform:rotate(180deg);transform:rotate(180deg)"', [WHITE, GREEN]),
        (_PARTS + _LEFT, 'class="b" style="background: red" clip-path="url(#c)"', [GREEN, WHITE]),
    ],
)
def test_places_references_and_the_root_are_taken_as_by_browsers(body: str, root: str, seen: list[list[int]]) -> None:
    whole = svg(f"<style>.b{{--x:green}}</style>{body}").replace("<svg", f"<svg {root}", 1)
    assert render(whole.encode(), size=48).pixels[24, [12, 32]].tolist() == seen


@pytest.mark.parametrize(
    ("colour", "seen"),  # by Chromium 150, on white
    [
        ("oklch(60% .2 30)", [222, 62, 45]),
        ("oklch(.9 .4 150)", [0, 255, 0]),
        ("oklab(60% .2 .1)", [232, 40, 44]),
        ("lab(50% 60 40)", [214, 60, 55]),
        ("lch(50 60 200 / 1)", [0, 142, 152]),
        ("color(srgb 1 0.5 0)", [255, 128, 0]),
        ("color(srgb-linear .5 .2 .1)", [188, 124, 89]),
        ("light-dark(oklch(60% .2 30), blue)", [222, 62, 45]),
        ("color-mix(in srgb, red 20%, hsl(240 100% 50%))", [51, 0, 204]),
        ("color-mix(in srgb, currentColor 20%, transparent)", [204, 204, 204]),
        ("color-mix(in srgb, red 20%, blue 30%)", [178, 127, 204]),
        ("rgb(var(--x, 255 0 0) / 50%)", [255, 127, 127]),
        ("rgb(from #336699 calc(r * 2) g b)", [102, 102, 153]),
        ("rgb(from var(--x, navy) r g b / 20%)", [204, 204, 230]),
        ("rgba(from currentColor r g b / alpha)", BLACK),
        ("oklch(from red calc(l * .8) c h / 50%)", [231, 127, 127]),
        ("oklch(from #0c8 l c calc(h + 90))", [77, 177, 255]),
        ("lab(from blue l a b)", [0, 0, 255]),
        ("oklch(from red l c x)", BLACK),
        ("oklch(60%)", BLACK),
        ("color-mix(in srgb, red)", BLACK),
        ("light-dark()", BLACK),
        ("color()", BLACK),
    ],
)
def test_a_colour_is_that_of_a_browser(colour: str, seen: list[int]) -> None:
    both = [middle(SQUARE.format(attributes)) for attributes in (f'fill="{colour}"', f'style="fill:{colour}"')]
    assert np.abs(np.subtract(both, seen)).max() <= 5


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        *(("print", False), ("screen", True), ("all", True), (" ", True), ("not print", True), ("not all", False)),
        *(("only screen", True), ("print, screen", True), ("(prefers-color-scheme: dark)", False)),
        *(("(prefers-color-scheme:light)", True), ("not (prefers-color-scheme: dark)", True)),
        *(("screen and (prefers-color-scheme:dark)", False), ("(prefers-reduced-motion: reduce)", False)),
        *(("(prefers-reduced-motion: no-preference)", True), ("(min-width:600px)", False), ("(max-width:9em)", True)),
        *(("(min-width: 16px)", True), ("screen and (max-width:10px)", False), ("not (max-height:10px)", True)),
    ],
)
def test_a_style_sheet_counts_where_its_condition_holds_on_a_light_screen(query: str, holds: bool) -> None:
    for sheet in (f'<style media="{query}">.a{{fill:red}}</style>', f"<style>@media {query}{{.a{{fill:red}}}}</style>"):
        assert middle(sheet + SQUARE.format("")) == (RED if holds else BLACK)


def test_what_an_animation_leaves_is_drawn() -> None:
    ends = '<animate fill="freeze" attributeName="opacity" {}/>'
    each = [ends.format(how) for how in ('to="1"', 'begin="1s" values="0; .5; 1"', 'begin="a.end" to="1"')]
    later = ends.format('begin="2s" to="1"') + ends.format('begin="a.end" to="0"')
    assert {tuple(middle(f'<g opacity="0">{it}{SQUARE.format("")}</g>')) for it in (*each, later)} == {(0, 0, 0)}


def test_variables_that_grow_and_what_is_no_xml_end_soon() -> None:
    doubling, started = "".join(f"--x{n}:var(--x{n + 1}) var(--x{n + 1});" for n in range(60)), time.process_time()
    assert middle(f"<style>:root{{{doubling}--x60:red}} .a{{fill:var(--x0)}}</style>{SQUARE.format('')}") == BLACK
    assert written_out(b"<svg>var(") == b"<svg>var("
    with pytest.raises(RenderError, match="nested more than 250 deep"):
        middle("<g>" * 100_000 + SQUARE.format('fill="var(--x)"') + "</g>" * 100_000)
    assert time.process_time() - started < 5


def test_to_write_styles_out_changes_no_icon_that_needs_it_not() -> None:
    for file in sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))[::40]:
        content = file.read_bytes()
        assert np.array_equal(draw(written_out(content), size=64), draw(content, size=64))


SIZE, ACROSS = 64, 10
N_OF_SET = 2
BLANK = ("oui:empty", "oui:timeslider", "logos:million-icon")
"""In Iconify: on purpose, without a fill, and since librsvg draws no gradient that is turned so far away."""
MEAN, MOST = 1.5, 6.0
"""Of 255. Edges alone make the one; the other is an icon that is little but edges."""


def icons_of_many_sets() -> dict[str, bytes]:
    """Of each set in the folder of npm's @iconify/json that `ICONS_ICONIFY` names; else 300 of the bundled set."""
    if folder := os.environ.get("ICONS_ICONIFY"):
        sets = [json.loads(file.read_text()) for file in sorted(Path(folder, "json").glob("*.json"))]
        keys = [(some, name) for some in sets for name in [*some["icons"]][:: 1 + len(some["icons"]) // N_OF_SET]]
        built = {f"{some['prefix']}:{name}": build_svg(resolve_icon(some, name)[0]) for some, name in keys}
        return {key: content for key, content in built.items() if b"<animate" not in content and key not in BLANK}
    files = sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))[::7]
    return {file.stem: file.read_bytes() for file in files}


def tile(content: bytes, background: str) -> str:
    """An icon where it is drawn, on its ground."""
    height, width = draw(content, size=SIZE).shape[:2]
    place = f"left:{(SIZE - width) // 2}px;top:{(SIZE - height) // 2}px;width:{width}px;height:{height}px"
    ground, data = {"light": "#fff", "dark": "#000"}[background], base64.b64encode(content).decode()
    return f'<i style="background:{ground}"><img style="{place}" src="data:image/svg+xml;base64,{data}"></i>'


@pytest.mark.slow
def test_icons_are_drawn_as_chromium_shows_them() -> None:
    if find_browser() is None:
        lacking(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    icons = icons_of_many_sets()
    drawn = {key: render(content, size=SIZE) for key, content in icons.items()}
    style = f"body{{margin:0}}i{{position:relative;float:left;width:{SIZE}px;height:{SIZE}px}}img{{position:absolute}}"
    apart: dict[str, float] = {}
    with open_browser() as browser:
        for start in range(0, len(drawn), ACROSS**2):
            keys = [*drawn][start : start + ACROSS**2]
            tiles = "".join(tile(icons[key], drawn[key].background) for key in keys)
            browser.show(f"<!doctype html><style>{style}</style>{tiles}", (ACROSS * SIZE, ACROSS * SIZE, 1))
            shown = browser.pixels().reshape(ACROSS, SIZE, ACROSS, SIZE, 3).swapaxes(1, 2).reshape(-1, SIZE, SIZE, 3)
            for key, pixels in zip(keys, shown, strict=False):
                apart[key] = float(np.abs(pixels.astype(int) - drawn[key].pixels).mean())
    worst = sorted(apart, key=apart.__getitem__)[-30:]
    assert np.mean([*apart.values()]) < MEAN
    assert apart[worst[-1]] < MOST, [(key, round(apart[key], 1)) for key in worst]
