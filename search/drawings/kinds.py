"""The icons of an export, read and taken apart; and the kinds that are text: files, a sprite, Iconify JSON, React."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from indexer.arrays import grouped
from indexer.errors import ExportError, IconsError, RenderError, SourceError, UnknownIconError
from indexer.languages.words import counted, first_few
from indexer.rendering.render import svg_document
from indexer.rendering.styles import Box, box_of, group_root
from indexer.reports.terminal import Progress, with_progress
from search.drawings.clean import SVG, clean_tree, set_apart
from search.drawings.frameworks import ICON_NAME, Look, capitals, named_icon
from search.drawings.licences import HYPHENS, SetTerms, notice, plain_name, unique
from search.drawings.markup import TSX, XML, Markup, js_string, merging, written
from search.query import Hit
from search.showing.sheets import kind_of

if TYPE_CHECKING:
    from search.engine import SearchEngine


@dataclass(frozen=True, slots=True)
class Chosen:
    """One icon that is to be exported."""

    key: str
    """As the collection names it."""
    name: str
    """Letters, digits and hyphens, as no other icon of the export has it: "lucide-bell"."""
    hit: Hit
    content: bytes
    """Its picture, as the source holds it; an SVG as unpacked text."""
    is_svg: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An icon that is not in an export."""

    key: str
    reason: str


def read_chosen(
    engine: "SearchEngine", keys: Sequence[str], progress: Progress
) -> tuple[list[Chosen], list[LeftOut], list[str]]:
    """Read icons, in the order of their keys; and those that can't be read, with the reason, and remarks.

    Keys that lead to one icon give it once, under the first of them, with a remark.
    """
    ids, left_out, remarks = _find(engine, keys, progress)
    hits = dict(zip(ids, engine.hits(list(ids)), strict=True))
    remarks += [f'"{key}" is "{hits[icon].key}"' for icon, key in ids.items() if ":" not in key]
    contents: dict[int, tuple[bytes, bool]] = {}
    # Icons of one file beside each other: it is opened once.
    for icon in with_progress(sorted(hits, key=lambda icon: hits[icon].path), "reading icons", progress):
        try:
            picture = engine.picture(icon)
            document = svg_document(picture)
            contents[icon] = (picture, False) if document is None else (document, True)
        except (SourceError, RenderError, UnknownIconError) as error:  # the last: the library has changed meanwhile
            left_out.append(LeftOut(ids[icon], str(error)))
    kept = {icon: hit for icon, hit in hits.items() if icon in contents}
    names = unique([plain_name(f"{hit.set} {hit.name}") for hit in kept.values()])
    chosen = [
        Chosen(ids[icon], name, hit, *contents[icon]) for (icon, hit), name in zip(kept.items(), names, strict=True)
    ]
    return chosen, sorted(left_out, key=lambda one: keys.index(one.key)), remarks


def _find(
    engine: "SearchEngine", keys: Sequence[str], progress: Progress
) -> tuple[dict[int, str], list[LeftOut], list[str]]:
    """Ids of icons, and the first key that leads to each."""
    ids: dict[int, str] = {}
    left_out, remarks = [], []
    for key in with_progress(keys, "finding icons", progress):
        try:
            icon = engine.find(key)
        except UnknownIconError as error:
            left_out.append(LeftOut(key, str(error)))
        else:
            if icon in ids:
                remarks.append(f'"{key}" is "{ids[icon]}", which is there already: it stands there once')
            ids.setdefault(icon, key)
    return ids, left_out, remarks


def keys_of(left_out: Sequence[LeftOut]) -> str:
    """Name the first few; reasons may name files of this machine."""
    return first_few([one.key for one in left_out])


def refuse_left_out(left_out: Sequence[LeftOut]) -> None:
    """Refuse an export that would lack icons.

    Raises:
        ExportError: it would; the message names the first three and why.
    """
    if left_out:
        named = first_few([f'"{one.key}": {one.reason}' for one in left_out], between="; ")
        raise ExportError(
            f"{counted(len(left_out), 'icon')} can't be exported so, --skip-unreadable leaves out: {named}"
        )


_OF_DOCUMENT = frozenset(("xmlns", "viewBox", "width", "height", "x", "y", "version", "baseProfile", "id"))
"""Attributes of a root that say nothing of its shapes."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One icon, cleaned and taken apart. Its ids begin with its name, so that no other icon of an export has them."""

    icon: Chosen
    box: Box
    attributes: dict[str, str]
    """Of its root, which hold for all of it: fill, stroke-width, preserveAspectRatio."""
    body: list[Element]
    sides: tuple[str, str] | None
    """Width and height, where its root states them."""
    outline: str = ""
    """Of a glyph, in units of its box, y downwards, as SVG writes it: M, L, Q, C and Z, absolute."""
    colour: str | None = None
    """Of a glyph: its own, which a font does not keep; None where it leaves that open."""


def drawings(icons: Iterable[Chosen], look: Look, *, shared: bool) -> tuple[list[Drawing], list[LeftOut]]:
    """Take icons apart; those that are no SVG, or a broken one, are left out with the reason.

    `shared`: they will stand in one document, where a style sheet of one would hold for all.
    """
    drawn, left_out = [], []
    for icon in icons:
        try:
            drawn.append(_take_apart(icon, look, shared=shared))
        except IconsError as error:
            left_out.append(LeftOut(icon.key, str(error)))
    return drawn, left_out


def _take_apart(icon: Chosen, look: Look, *, shared: bool) -> Drawing:
    if not icon.is_svg:
        raise IconsError(f'it is a bitmap ("{icon.hit.path}"); only --as zip takes it')
    root = clean_tree(named_icon(icon.hit, icon.content), look)
    set_apart(root, name=icon.name, is_alone=not shared)
    if shared:
        group_root(root)
    if all(element.tag != "style" for element in root.iter()):
        for element in root.iter():
            element.attrib.pop("class", None)  # a page's own rules might be for it
    sides = (root.get("width", ""), root.get("height", ""))
    attributes = {name: value for name, value in root.items() if name not in _OF_DOCUMENT}
    box = box_of(root.attrib)
    if box is None:
        raise RenderError("svg: states neither a viewBox nor width and height")
    return Drawing(icon, box, attributes, list(root), sides if all(sides) else None)


def spelt(*numbers: float) -> str:
    """Spell numbers as short as they are exact."""
    exact = (int(one) if one == int(one) and abs(one) < 1e15 else one for one in numbers)
    return " ".join(map(repr, exact))


def element(tag: str, attributes: Mapping[str, str], body: Iterable[Element]) -> Element:
    """Put elements into one."""
    whole = Element(tag, dict(attributes))
    whole.extend(body)
    return whole


def whole_svg(drawing: Drawing) -> bytes:
    """Spell a drawing as a document of its own."""
    width, height = drawing.sides or (spelt(drawing.box.width), spelt(drawing.box.height))
    own = {"xmlns": SVG, "width": width, "height": height, "viewBox": spelt(*drawing.box), **drawing.attributes}
    return written(element("svg", own, drawing.body), XML).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Material:
    """What an export is made of."""

    name: str
    drawn: Sequence[Drawing]
    bitmaps: Sequence[Chosen]
    """Of a zip; all others hold drawings alone."""
    terms: Sequence[SetTerms]
    prefix: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class Made:
    """One kind's own part of an export."""

    files: Mapping[str, bytes]
    main: str | None
    """The file that is enough by itself."""
    remarks: Sequence[str]
    facts: Mapping[str, Mapping[str, Any]]
    """What the manifest says of each icon, by key."""


def names_of(drawn: Sequence[Drawing]) -> dict[str, dict[str, str]]:
    """What the manifest says of icons that are called by a name."""
    return {one.icon.key: {"name": one.icon.name} for one in drawn}


def make_zip(material: Material) -> Made:
    """Write each icon as a file."""
    files = {one.icon.key: (f"icons/{one.icon.name}.svg", whole_svg(one)) for one in material.drawn}
    files |= {one.key: (f"icons/{one.name}{kind_of(one.content)[1]}", one.content) for one in material.bitmaps}
    return Made(dict(files.values()), None, [], {key: {"file": name} for key, (name, _) in files.items()})


_STYLE = """:root{color-scheme:light dark}body{margin:2rem;font:14px/1.5 system-ui,sans-serif}
ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:1.5rem 1rem;padding:0;list-style:none}
li{text-align:center;overflow-wrap:anywhere}li code,li small{display:block}
li .tile{display:block;width:auto;height:2.5rem;margin:.5rem auto;font-size:2.5rem;line-height:1}"""


def gallery(
    title: str, *, use: str, tiles: Iterable[tuple[str, str, str]], stylesheet: str = "", sprite: str = ""
) -> bytes:
    """Spell the page; a tile is an icon's name, its markup, which bears the class "tile", and a remark."""
    items = "\n".join(
        f"<li>{markup}<code>{escape(name)}</code>{f'<small>{escape(remark)}</small>' if remark else ''}</li>"
        for name, markup, remark in tiles
    )
    link = f'<link rel="stylesheet" href="{escape(stylesheet)}">\n' if stylesheet else ""
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n{link}<style>{_STYLE}</style>\n'
        f"<h1>{escape(title)}</h1>\n<p><code>{escape(use)}</code></p>\n{sprite}<ul>\n{items}\n</ul>\n</html>\n"
    ).encode()


_SPRITE = "sprite.svg"
_OF_WHOLE = frozenset(("opacity", "style", "class"))
"""Attributes that a symbol does not take as a root does: these go to a group inside it."""


def make_sprite(material: Material) -> Made:
    """Write the sprite, and a page that shows it."""
    symbols = "\n".join(map(_symbol, material.drawn))
    comment = f"<!--\n{HYPHENS.sub('- ', notice(material.terms)).rstrip('-')}\n-->"
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0" style="position:absolute" aria-hidden="true">'
    sprite = f"{head}\n{comment}\n{symbols}\n</svg>\n"
    use = f'<svg width="24" height="24"><use href="{_SPRITE}#{material.drawn[0].icon.name}"/></svg>'
    names = [one.icon.name for one in material.drawn]
    tiles = [
        (name, f'<svg class="tile" role="img" aria-label="{name}"><use href="#{name}"/></svg>', "") for name in names
    ]
    # The page holds the sprite itself: opened from a disk, a browser takes no other file's symbols.
    page = gallery(material.name, use=use, tiles=tiles, sprite=sprite)
    return Made({_SPRITE: sprite.encode(), "example.html": page}, _SPRITE, [f"use: {use}"], names_of(material.drawn))


def _symbol(one: Drawing) -> str:
    of_whole = {name: value for name, value in one.attributes.items() if name in _OF_WHOLE}
    stated = {"id": one.icon.name, "viewBox": spelt(*one.box)}
    stated |= {name: value for name, value in one.attributes.items() if name not in _OF_WHOLE}
    body = [element("g", of_whole, one.body)] if of_whole else one.body
    return written(element("symbol", stated, body), XML)


_SIDE = 16
"""What Iconify takes where a file states no width or height."""


def make_iconify(material: Material) -> Made:
    """Write Iconify JSON: `PREFIX.json` with all icons, or without a prefix a file for each set."""
    if prefix := material.prefix:
        by_name = {one.icon.name: one for one in material.drawn}
        name = f"{prefix}.json"
        return Made({name: _file(prefix, by_name, material.terms)}, name, [], {})
    of_sets = grouped(material.drawn, lambda one: one.icon.hit.set)
    prefixes = unique([plain_name(key) for key in of_sets])
    files = {}
    for own, (key, icons) in zip(prefixes, of_sets.items(), strict=True):
        stated = (one.icon.hit.name for one in icons)
        names = unique([name if ICON_NAME.fullmatch(name) else plain_name(name) for name in stated])
        named = dict(zip(names, icons, strict=True))
        files[f"{own}.json"] = _file(own, named, [one for one in material.terms if one.set == key])
    return Made(files, next(iter(files)) if len(files) == 1 else None, [], {})


def _file(prefix: str, icons: dict[str, Drawing], terms: Sequence[SetTerms]) -> bytes:
    info = {**_info(prefix, len(icons), terms), "palette": any(one.icon.hit.coloured for one in icons.values())}
    whole = {"prefix": prefix, "info": info, "icons": {name: _icon(one) for name, one in icons.items()}}
    return (json.dumps(whole, indent="\t", ensure_ascii=False) + "\n").encode()


def _info(prefix: str, total: int, terms: Sequence[SetTerms]) -> dict[str, Any]:
    """What Iconify's tools show of a set; several sets share a file only under a prefix of one's own."""
    licences = list(dict.fromkeys(one.title for one in terms))
    more = {"spdx": terms[0].spdx, "url": terms[0].url} if len(licences) == 1 else {}
    licence = {"title": ", ".join(licences), **{name: value for name, value in more.items() if value}}
    own = {one.set: one for one in terms}
    name = terms[0].set_title if len(own) == 1 else prefix
    authors = dict.fromkeys(one.author or one.set_title for one in own.values())
    version = {"version": terms[0].version} if len(own) == 1 and terms[0].version else {}
    return {"name": name, "total": total, **version, "author": {"name": ", ".join(authors)}, "license": licence}


def _icon(drawing: Drawing) -> dict[str, Any]:
    """An icon as Iconify holds it: what stands in its SVG, and its box."""
    attributes = {name: value for name, value in drawing.attributes.items() if name != "preserveAspectRatio"}
    body = [element("g", attributes, drawing.body)] if attributes else drawing.body
    usual = Box(left=0, top=0, width=_SIDE, height=_SIDE)
    sides = zip(Box._fields, drawing.box, usual, strict=True)
    stated = {name: json.loads(spelt(value)) for name, value, otherwise in sides if value != otherwise}
    return {"body": "".join(written(one, XML) for one in body), **stated}


_REACT = ">=18"
_TYPES = """import type { SVGProps } from "react";

export interface IconProps extends SVGProps<SVGSVGElement> {
  /** Width and height, as 24 or "1.5rem"; as it was exported if not given. */
  size?: number | string;
}
"""
_COMPILER = {
    "compilerOptions": {
        "target": "ES2020",
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "jsx": "react-jsx",
        "declaration": True,
        "strict": True,
        "skipLibCheck": True,
        "rootDir": "src",
        "outDir": "dist",
    },
    "include": ["src"],
}
_PACKAGE = {
    "version": "1.0.0",
    "private": True,
    "license": "SEE LICENSE IN LICENCES.md",
    "type": "module",
    "sideEffects": False,
    "main": "./dist/index.js",
    "types": "./dist/index.d.ts",
    "exports": {".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"}},
    "files": ["dist", "LICENCES.md"],
    "scripts": {"build": "tsc", "prepare": "tsc"},
    "peerDependencies": {"react": _REACT},
    "devDependencies": {"@types/react": _REACT, "react": _REACT, "typescript": ">=5"},
}
_PROPERTIES = (
    'width={size} height={size} role="img" aria-hidden={props["aria-label"] ? undefined : true} ref={ref} {...props}'
)

_STYLED_WIDTH = re.compile(r'\bstrokeWidth: (".*?")')


def _package_attribute(name: str, value: str) -> str:
    """As types take it; `strokeWidth` of a component reaches the strokes that state a width themselves."""
    if name == "stroke-width":
        return f"strokeWidth={{props.strokeWidth ?? {js_string(value)}}}"
    return _STYLED_WIDTH.sub(r"strokeWidth: props.strokeWidth ?? \1", TSX.attribute(name, value))


_OF_PACKAGES = Markup(_package_attribute, TSX.text, TSX.style)


def make_react(material: Material) -> Made:
    """Write the package's sources; `npm install && npm run build` makes the rest."""
    name, drawn = material.prefix or material.name, material.drawn
    _, *components = unique(["IconProps", *(capitals(one.icon.name) for one in drawn)], between="_")
    index = ['export type { IconProps } from "./types.js";']
    index += [
        f'export {{ {own} }} from "./icons/{one.icon.name}.js";' for one, own in zip(drawn, components, strict=True)
    ]
    files = {
        "package.json": json.dumps({"name": name, **_PACKAGE}, indent=2) + "\n",
        "tsconfig.json": json.dumps(_COMPILER, indent=2) + "\n",
        "README.md": _readme(name, components, material.terms),
        "src/types.ts": _TYPES,
        "src/index.ts": "\n".join(index) + "\n",
    }
    default = '"1em"' if material.size is None else str(material.size)
    for one, component in zip(drawn, components, strict=True):
        files[f"src/icons/{one.icon.name}.tsx"] = _component(one, component, default)
    return Made(
        {path: text.encode() for path, text in files.items()},
        None,
        [f'use: import {{ {components[0]} }} from "{name}", after npm install && npm run build'],
        names_of(drawn),
    )


def _component(one: Drawing, name: str, size: str) -> str:
    """What leaves its colour open takes that of the text."""
    takes_text = "fill" not in one.attributes and one.icon.hit.coloured is False
    # JSX takes no attribute twice, and these two the component states itself.
    attributes = {name: value for name, value in one.attributes.items() if name not in ("role", "aria-hidden")}
    own = {"xmlns": SVG, "viewBox": spelt(*one.box), **attributes}
    if takes_text:
        own["fill"] = "currentColor"
    return (
        'import { forwardRef } from "react";\nimport type { IconProps } from "../types.js";\n\n'
        f"export const {name} = /* @__PURE__ */ forwardRef<SVGSVGElement, IconProps>"
        f"(function {name}({{ size = {size}, ...props }}, ref) {{\n"
        f"  return (\n{merging(element('svg', own, one.body), _OF_PACKAGES, rest=_PROPERTIES)}\n  );\n}});\n"
    )


def _readme(name: str, names: Sequence[str], terms: Sequence[SetTerms]) -> str:
    credit = "\n".join(f"- {one.credit}" for one in terms)
    return (
        f"# {name}\n\nIcons as components for React: {len(names):,}.\n\n```sh\nnpm install && npm run build\n```\n\n"
        f'```tsx\nimport {{ {names[0]} }} from "{name}";\n\n<{names[0]} size={{24}} color="navy" aria-label="..." />\n'
        "```\n\nEvery property of an SVG goes through, and so does a ref. `color` is for what an icon leaves open.\n"
        "Without `aria-label` an icon is hidden from screen readers.\n\n"
        f"## Licences\n\n{credit}\n\n[LICENCES.md](LICENCES.md) says what they ask for.\n"
    )
