"""Does what leaves look as the icon does? Chromium draws both, large and small, on light and dark, still and moving.

A folder of npm packages (node_packages.py) with `@iconify/json` among them gives icons of all sets, 20 of each, or as
many as ICONS_SWEEP says, and the compilers of React, Vue and Svelte; without one, samples are compared in what no
compiler makes. Each part takes every twelfth set: `-k "part3"` runs one again.
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from itertools import product
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
from small_icons import drawn
from tools import lacking

from data.making.detector.browser import PROGRAMS, Browser, find_browser, open_chromium
from data.making.detector.page import Viewport
from data.making.exports import run_node
from indexer.errors import IconsError
from indexer.library.bundled import bundled
from indexer.rendering.draw_pool import DrawPool
from indexer.sources.iconify import build_svg, resolve_icon
from search.drawings.frameworks import AS_IT_IS, NamedIcon, framework
from search.drawings.kinds import Chosen, Drawing, Material, drawings, make_iconify, make_react, make_sprite, whole_svg
from search.drawings.licences import plain_name, unique
from search.drawings.web_font import make_font, outlined, place
from search.drawings.write import write
from search.query import Hit

SIDES = (24, 96)
GROUNDS = {"light": "#fff", "dark": "#468"}
MOST_DIFFERENT = 0.01
"""Of a tile: how far its pixels may be from the original's, in the mean; edges differ by less."""
_MORE_DIFFERENT = {
    **{("font", 24): 0.2, ("font", 96): 0.05, ("png-24", 24): 0.08, ("png-96", 96): 0.02},
    **{("sprite", 24): 0.02, ("package", 24): 0.02},
}
"""Where edges are drawn otherwise: Chromium darkens those of text, librsvg smooths as it does.

A line of text stands on whole pixels, too: a glyph may be moved by one.
"""
_DRAWN_WRONG = {("icon-park-solid:hand-right", "png-96"), ("icon-park-twotone:hand-up", "png-96")}
"""cairo leaves out half a stroke whose curve starts all but straight (`q-.005.024 20.277.003`)."""
_REFERENCES = {"css": "background", "font": "mask", "png-24": "at-24", "png-96": "at-96"}
"""What a form is held against that is no picture of any size: the original, the same way, and on the same pixels."""
_MOVES = (b"<animate", b"<set", b"@keyframes")
_A_PAGE = 24
_PARTS = 12
_OF_OTHER_SIDE = {24: ("png-96", "at-96"), 96: ("png-24", "at-24")}
_GAP = 8
_COMPILED = ("react", "jsx", "package", "vue", "svelte")
_PAGE = """<!doctype html><style>
body { margin: 0; color: #000; background: var(--ground) }
div { position: absolute }
</style><body></body>"""
_LAY = """tiles => { for (const [left, top, side, kind, text] of tiles) {
  const tile = document.createElement("div");
  tile.style = `left:${left}px;top:${top}px;width:${side}px;height:${side}px;font-size:${kind == "glyph" ? side : 0}px`;
  document.body.append(tile);
  const root = ["shadow", "xml"].includes(kind) ? tile.attachShadow({mode: "open"}) : tile;
  if (kind == "xml") root.append(new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
  else root.innerHTML = kind == "picture" ? `<img src="data:image/svg+xml,${encodeURIComponent(text)}">` : text;
  for (const one of root.querySelectorAll("*"))
    if (!one.parentElement?.closest("svg") && one.tagName != "STYLE")
    for (const [name, value] of [["display", "block"], ["width", "100%"], ["height", "100%"]])
      one.style.setProperty(name, value, "important");
} return Promise.all([document.fonts.ready, ...[...document.images].map(image => image.decode().catch(() => 0))]); }"""
_SEEK = """seconds => {
  const roots = [document, ...[...document.querySelectorAll("div")].map(tile => tile.shadowRoot).filter(Boolean)];
  for (const root of roots) {
    for (const svg of root.querySelectorAll("svg")) if (!svg.ownerSVGElement) {
      svg.pauseAnimations();
      for (let at = 0; at <= seconds + 0.01; at += 0.05) svg.setCurrentTime(at);
    }
    for (const moving of root.getAnimations({subtree: true})) { moving.pause(); moving.currentTime = seconds * 1000; }
  }
  return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())));
}"""
_RENDER = """
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { createSSRApp } from "vue";
import { renderToString } from "vue/server-renderer";
import { compile } from "svelte/compiler";
import { render } from "svelte/server";
import { readFileSync, writeFileSync, existsSync } from "node:fs";
const [folder] = process.argv.slice(1);
const asked = JSON.parse(readFileSync(`${folder}/asked.json`, "utf8"));
const made = [];
for (const [n, [form, code]] of asked.entries()) {
  try {
    if (form == "vue") {
      const [template, sheets] = code.slice(10).split("</template>");
      made.push(await renderToString(createSSRApp({ template })) + sheets);
    } else if (form == "svelte") {
      writeFileSync(`${folder}/made/${n}.js`, compile(code, { generate: "server" }).js.code);
      made.push(render((await import(`${folder}/made/${n}.js`)).default, { props: {} }).body);
    } else {
      const [component] = Object.values(await import(`${folder}/made/${n}.js`));
      made.push(renderToStaticMarkup(createElement(component, {})));
    }
  } catch (error) { made.push(`failed: ${error}`); }
}
console.log(JSON.stringify(made));
"""
_COMPILER = {
    "compilerOptions": {
        **{"jsx": "react-jsx", "strict": False, "skipLibCheck": True, "allowJs": True, "types": [], "rootDir": "src"},
        **{"module": "esnext", "moduleResolution": "bundler", "target": "es2022", "outDir": "made", "noCheck": True},
    },
    "include": ["src"],
}

_RED = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path fill="red" d="M0 0h9v9z"/></svg>'
_STEP = '<animate id="{}" attributeName="x" begin="{}" dur=".3s" values="{}" fill="freeze"/>'
_HARD = {
    "letters": '<defs><linearGradient id="渐变_1"><stop stop-color="#e11"/>'
    "</linearGradient>"
    '<linearGradient id="蒙版_1"><stop stop-color="#11e"/></linearGradient></defs>'
    '<path fill="url(#渐变_1)" d="M2 2h20v9H2z"/>'
    '<path fill="url(\'#%E8%92%99%E7%89%88_1\')" d="M2 13h20v9H2z"/>',
    "steps": f'<rect y="9" width="6" height="6">{_STEP.format("a", "0s;b_1.end", "2;16")}'
    f"{_STEP.format('b_1', 'a.end+.1s', '16;2')}</rect>",
    "waits": f'<rect y="9" width="6" height="6">{_STEP.format("to-1", "0s;to-2.end+0.1s", "2;16")}'
    f"{_STEP.format('to-2', 'to-1.end+.1s', '16;2')}</rect>",
    "colour": '<path fill="red" d="M2 2h20v9z"><animate attributeName="fill" dur="1s" to="#00f" fill="freeze"/></path>',
    "way": '<path id="p" d="M4 4h16v16" fill="none"/><circle r="3"><animateMotion dur="5s"><mpath href="#p"/>'
    "</animateMotion></circle>",
    "order": '<circle cx="12" cy="12" r="6" fill="#fff" stroke="#111" stroke-width="8" paint-order="stroke"/>',
    "mask": '<mask id="m" mask-type="alpha"><circle cx="12" cy="12" r="8"/></mask>'
    '<path mask="url(#m)" d="M0 0h24v24z"/>',
    "picture": f'<image width="20" height="20" href="data:image/svg+xml,{quote(_RED)}"/>',
    "print": '<style media="print">.p{fill:red}</style><style>@media print{.p{fill:red}}.p{stroke:#0a0}</style>'
    '<path class="p" d="M12 2l10 20H2z"/>',
    "rules": "<style>g.a path,rect.b{fill:#0c0!important}g>circle{fill:red}#x .d{fill:blue}*{stroke:#000}</style>"
    '<g class="a"><path style="fill:red" d="M2 2h8v8z"/><circle cx="16" cy="6" r="4"/></g><rect class="b" width="9" '
    'height="9" y="12"/><g id="x"><rect class="d" x="12" y="12" width="9" height="9"/></g>',
    "query": "<style>@supports (fill:red){path:first-of-type{fill:#c0c}}</style>"
    '<path d="M2 2h9v20z"/><path d="M13 2h9v20z"/>',
    "frames": "<style>@keyframes k{to{transform:translateX(9px)}}.a{animation:k 5s linear}</style>"
    '<path class="a" d="M2 2h8v8H2z"/>',
    "frames-2": "<style>@keyframes k{to{transform:translateY(9px)}}.a{animation:k 5s linear;fill:red}</style>"
    '<path class="a" d="M2 2h8v8H2z"/>',
    "blend": '<path fill="red" d="M0 0h14v14H0z"/><path fill="#0f0" style="mix-blend-mode:multiply" '
    'd="M8 8h14v14H8z"/>',
    "parts": '<symbol id="s" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></symbol><use href="#s" width="12" height="12"/>'
    '<switch><foreignObject requiredExtensions="x"/><svg x="50%" y="50%" width="9" height="9" viewBox="0 0 9 18">'
    '<circle cx="5" cy="9" r="5"/></svg></switch>',
}
"""What made icons differ once, and is not in sets of Iconify."""

Tile = tuple[str, str]
"""How it is put into the page, and its text."""
Forms = dict[str, dict[str, Tile]]
"""By the key of an icon, and by form."""
Difference = tuple[str, str, int, str, int, float]
"""Key, form, side, ground, seconds, and how far it is from the original."""


def modules_here() -> Path | None:
    return Path(os.environ["ICONS_NODE_MODULES"]) if "ICONS_NODE_MODULES" in os.environ else None


def icons(part: int) -> Iterator[NamedIcon]:
    """Hard drawings, and icons spread over each set of a part, or samples."""
    if part == 0:
        yield from (NamedIcon(f"hard:{name}", "hard", name, drawn(body).encode()) for name, body in _HARD.items())
    folder = (modules_here() or Path()) / "@iconify" / "json" / "json"
    n_of_a_set = int(os.environ.get("ICONS_SWEEP", "20"))
    for file in sorted(folder.glob("*.json"))[part::_PARTS] if modules_here() else ():
        whole = json.loads(file.read_text("utf-8"))
        names = list(whole["icons"])
        for name in names[:: max(1, len(names) // n_of_a_set)][:n_of_a_set]:
            yield NamedIcon(f"{file.stem}:{name}", file.stem, name, build_svg(resolve_icon(whole, name)[0]))
    if not modules_here():
        samples = sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))[part :: 40 * _PARTS]
        yield from (NamedIcon(f"lucide:{file.stem}", "lucide", file.stem, file.read_bytes()) for file in samples)


def as_address(content: bytes, kind: str = "svg+xml") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def written(icon: NamedIcon, *, moves: bool) -> Iterator[tuple[str, Tile]]:
    """The snippets of an icon that no compiler makes, and those that one will."""
    for form in ("svg", "html", "data-uri", "css", "react", "jsx", "vue", "svelte"):
        try:
            code = write([icon], framework(form), AS_IT_IS).code
        except IconsError:
            continue
        match form:
            case "svg":
                yield form, ("xml" if moves else "picture", code)
            case "data-uri" if not moves:
                yield form, ("light", f'<img src="{code}">')
            case "css" if not moves:
                yield form, ("shadow", f'<style>{code}</style><span class="icon-{code[6:].split()[0]}"'
                             "></span>")  # fmt: skip
            case "html" | "react" | "jsx" | "vue" | "svelte":
                yield form, ("light", code)


def exported(some: Sequence[NamedIcon], found: Forms) -> str:
    """Add what exports hold of icons, and what stands before them in the page; return the style of the font."""
    names = unique([plain_name(f"{one.set} {one.name}") for one in some])
    chosen = []
    for one, own in zip(some, names, strict=True):
        hit = Hit(
            **{
                **dict.fromkeys(one.name for one in fields(Hit)),
                "key": one.key,
                "name": one.name,
                "set": one.set,
                "path": "",
            }
        )
        chosen.append(Chosen(one.key, own, hit, one.svg or b"", is_svg=True))
    for drawing in drawings(chosen, AS_IT_IS, shared=False)[0]:
        moves = any(sign in drawing.icon.content for sign in _MOVES)
        text = whole_svg(drawing).decode()
        found[drawing.icon.key]["zip"] = ("xml" if moves else "picture", text)
    in_one = drawings(chosen, AS_IT_IS, shared=True)[0]
    for drawing in in_one:
        own, forms = drawing.icon.name, found[drawing.icon.key]
        material = Material("x", [drawing], [], [], None, None)
        sprite = make_sprite(material).files["sprite.svg"].decode()
        if b"@keyframes" not in drawing.icon.content:  # no script reaches what moves in a `use`
            forms["sprite"] = ("shadow", f'{sprite}<svg><use href="#{own}"/></svg>')
        [(_, whole)] = make_iconify(material).files.items()
        icon = next(iter(json.loads(whole)["icons"].values()))
        view = f"{icon.get('left', 0)} {icon.get('top', 0)} {icon.get('width', 16)} {icon.get('height', 16)}"
        forms["iconify"] = ("shadow", f'<svg viewBox="{view}">{icon["body"]}</svg>')
        forms["package"] = ("light", make_react(material).files[f"src/icons/{own}.tsx"].decode())
    return font_of([one for one in in_one if found[one.icon.key]["original"][0] != "xml"][::4], found)


def font_of(some: Sequence[Drawing], found: Forms) -> str:
    """Add the glyphs that a font has of icons; return the style that they need."""
    glyphs = outlined(some, lambda *_: None)[0]
    if not glyphs:
        return ""
    made = make_font(Material("x", glyphs, [], [], None, None), place([one.icon.key for one in glyphs], {}))
    for one in glyphs:
        share, forms = min(1, one.box.height / one.box.width), found[one.icon.key]
        spread = f"font-size:{share}em;line-height:{1 / share};text-align:center;white-space:nowrap"
        forms["font"] = ("glyph", f'<i class="x x-{one.icon.name}" style="{spread}"></i>')
        mask = f'background:#000;mask:center/contain no-repeat url("{as_address(one.icon.content)}")'
        forms["mask"] = ("light", f"<span style='{mask}'></span>")
    address = f"data:font/woff2;base64,{base64.b64encode(made.files['x.woff2']).decode()}"
    return re.sub(r'url\("x\.woff2[^"]*"\)', f'url("{address}")', made.files["x.css"].decode())


def compiled(found: Forms, folder: Path, modules: Path) -> None:
    """Let the frameworks' own compilers make HTML of their code, in one run."""
    asked = [(key, form, forms[form][1]) for key, forms in found.items() for form in _COMPILED if form in forms]
    (folder / "src").mkdir(parents=True)
    (folder / "node_modules").symlink_to(modules)
    for n, (_, form, code) in enumerate(asked):
        if form in ("react", "jsx", "package"):
            (folder / "src" / f"{n}.{'jsx' if form == 'jsx' else 'tsx'}").write_text(code, "utf-8")
    (folder / "asked.json").write_text(json.dumps([one[1:] for one in asked]))
    (folder / "tsconfig.json").write_text(json.dumps(_COMPILER))
    (folder / "package.json").write_text('{"type": "module"}')
    done = subprocess.run([modules / ".bin" / "tsc", "-p", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    made = json.loads(run_node(_RENDER, str(folder), modules=modules))
    for (key, form, _), html in zip(asked, made, strict=True):
        found[key][form] = ("shadow", html)


def forms_of(some: Sequence[NamedIcon], folder: Path, modules: Path | None) -> tuple[Forms, str]:
    """All forms of icons that can be shown here, the original among them; and a style that they need."""
    found: Forms = {}
    with DrawPool(workers=1) as pool:
        for icon in some:
            content = icon.svg or b""
            moves = any(sign in content for sign in _MOVES)
            around = f"<span style='background:center/contain no-repeat url(\"{as_address(content)}\")'></span>"
            found[icon.key] = {"original": ("xml" if moves else "picture", content.decode())}
            found[icon.key] |= {"background": ("light", around), **dict(written(icon, moves=moves))}
            for side in () if moves else SIDES:
                png = pool.png(content, size=side)
                width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
                place = f"{(side - width) // 2}px {(side - height) // 2}px/{width}px {height}px no-repeat"
                for form, address in (("png", as_address(png, "png")), ("at", as_address(content))):
                    found[icon.key][f"{form}-{side}"] = (
                        "light",
                        f"<span style='background:url(\"{address}\") {place}'></span>",
                    )
    style = exported(some, found)
    if modules is not None:
        compiled(found, folder, modules)
    shown = {
        key: {form: tile for form, tile in forms.items() if modules is not None or form not in _COMPILED}
        for key, forms in found.items()
    }
    return shown, style


def shown_as(tiles: Mapping[str, Tile]) -> dict[str, str]:
    """Of each form the first one that is the same, element for element: it is drawn once."""
    first: dict[Tile, str] = {}
    found = {}
    for form, (kind, text) in tiles.items():
        spelt = text
        with suppress(ElementTree.ParseError):
            spelt = ElementTree.canonicalize(text, strip_text=True)
        found[form] = first.setdefault((kind, spelt), form)
    return found


def differences(page: Browser, found: Mapping[str, Mapping[str, Tile]], style: str) -> Iterator[Difference]:
    """Show icons a row each, first the original."""
    forms = list(dict.fromkeys(form for tiles in found.values() for form in tiles))
    shown = {key: shown_as(tiles) for key, tiles in found.items()}
    row, column = SIDES[-1] + _GAP, sum(SIDES) + 2 * _GAP
    places = {
        (key, form, side): (n * column + (side > SIDES[0]) * (SIDES[0] + _GAP), line * row)
        for line, key in enumerate(found)
        for n, form in enumerate(dict.fromkeys(shown[key].values())) for side in SIDES
        if form not in _OF_OTHER_SIDE[side]
    }  # fmt: skip
    page.show(
        f"{_PAGE}<style>{style}</style>",
        Viewport(max(len({*one.values()}) for one in shown.values()) * column, len(found) * row, 1),
    )
    page.run(_LAY, [[*at, side, *found[key][form]] for (key, form, side), at in places.items()])
    for seconds in (0, 3) if any(tiles["original"][0] == "xml" for tiles in found.values()) else (0,):
        page.run(_SEEK, seconds)
        for ground, colour in GROUNDS.items():
            page.run("colour => document.body.style.setProperty('--ground', colour)", colour)
            shot = page.pixels().astype(np.int16)
            for key, form, side in product(found, forms, SIDES):
                drawn_as = shown[key].get(form)
                if drawn_as in (None, *_REFERENCES.values()) or form == "original" or form in _OF_OTHER_SIDE[side]:
                    continue
                own, reference = (
                    shot[top : top + side, left : left + side]
                    for left, top in (places[key, drawn_as, side], places[key, _REFERENCES.get(form, "original"), side])
                )
                moved = (np.roll(own, by, axis=0) for by in ((-1, 0, 1) if form == "font" else (0,)))
                yield (
                    key,
                    form,
                    side,
                    ground,
                    seconds,
                    min(float(np.abs(one - reference).mean() / 255) for one in moved),
                )


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS), ids="part{}".format)
def test_every_form_of_an_icon_looks_as_the_icon(tmp_path: Path, part: int) -> None:
    pytest.importorskip("playwright.sync_api", reason="needs Python's playwright: pip install '.[test]'")
    if find_browser() is None:
        lacking(f"no browser here, looked for {', '.join(PROGRAMS)}; on Debian: apt install chromium")
    found, style = forms_of(list(icons(part)), tmp_path / "compiled", modules_here())
    keys = sorted(found, key=lambda key: found[key]["original"][0])
    with open_chromium() as chromium:
        page = Browser.of(chromium.new_page())
        tiles = [
            tile
            for at in range(0, len(keys), _A_PAGE)
            for tile in differences(page, {key: found[key] for key in keys[at : at + _A_PAGE]}, style)
        ]
    differing = {
        tile[:-1]: tile[-1]
        for tile in tiles
        if tile[-1] > _MORE_DIFFERENT.get(tile[1:3], MOST_DIFFERENT) and tile[:2] not in _DRAWN_WRONG
    }
    assert differing == {}, f"{len(differing):,} of {len(tiles):,} tiles"
