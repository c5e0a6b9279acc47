"""Kinds of export that are text: files, a sprite, Iconify JSON, a package for React."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from search.drawings.chosen import Chosen, Drawing, markup, spelled, whole_svg
from search.drawings.clean import SVG
from search.drawings.collection import plain_name, unique
from search.drawings.frameworks import capitals
from search.drawings.licences import SetTerms, gallery, notice
from search.drawings.markup import TSX, written
from search.showing.sheets import kind_of


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


_SPRITE = "sprite.svg"
_OF_WHOLE = frozenset(("opacity", "filter", "mask", "clip-path", "transform", "style", "class"))
"""Attributes that a symbol does not take as a root does: these go to a group inside it."""


def make_sprite(material: Material) -> Made:
    """Write the sprite, and a page that shows it."""
    symbols = "\n".join(map(_symbol, material.drawn))
    credits = notice(material.terms).replace("--", "- -").rstrip("-")
    comment = f"<!--\n{credits}\n-->"
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0" style="position:absolute" aria-hidden="true">'
    sprite = f"{head}\n{comment}\n{symbols}\n</svg>\n"
    use = f'<svg width="24" height="24"><use href="{_SPRITE}#{material.drawn[0].icon.name}"/></svg>'
    names = [one.icon.name for one in material.drawn]
    tiles = [
        (name, f'<svg class="tile" role="img" aria-label="{name}"><use href="#{name}"/></svg>', "") for name in names
    ]
    # The page holds the sprite itself: opened from a disk, a browser takes no other file's symbols.
    page = gallery(material.name, use=use, tiles=tiles, sprite=sprite)
    files = {_SPRITE: sprite.encode(), "example.html": page}
    return Made(files, _SPRITE, [f"use: {use}"], names_of(material.drawn))


def _symbol(one: Drawing) -> str:
    inherited = {name: value for name, value in one.attributes.items() if name not in _OF_WHOLE}
    of_whole = {name: value for name, value in one.attributes.items() if name in _OF_WHOLE}
    body = markup(one.body)
    body = f"<g{spelled(of_whole)}>{body}</g>" if of_whole else body
    stated = {"id": one.icon.name, "viewBox": str(one.box), **inherited}
    return f"<symbol{spelled(stated)}>{body}</symbol>"


_SIDE = 16
"""What Iconify takes where a file states no width or height."""


def make_iconify(material: Material) -> Made:
    """Write Iconify JSON: `PREFIX.json` with all icons, or without a prefix a file for each set."""
    if prefix := material.prefix:
        by_name = {one.icon.name: one for one in material.drawn}
        name = f"{prefix}.json"
        return Made({name: _file(prefix, by_name, material.terms)}, name, [], {})
    of_sets: defaultdict[str, list[Drawing]] = defaultdict(list)
    for one in material.drawn:
        of_sets[one.icon.hit.set].append(one)
    prefixes = unique([plain_name(key) for key in of_sets])
    files = {}
    for own, (key, icons) in zip(prefixes, of_sets.items(), strict=True):
        names = unique([_own_name(one.icon.hit.name) for one in icons])
        terms = [one for one in material.terms if one.set == key]
        files[f"{own}.json"] = _file(own, dict(zip(names, icons, strict=True)), terms)
    return Made(files, next(iter(files)) if len(files) == 1 else None, [], {})


def _own_name(name: str) -> str:
    """An icon's name as its set has it, where Iconify takes that."""
    is_taken = all(part.isascii() and part.isalnum() and part == part.lower() for part in name.split("-"))
    return name if is_taken else plain_name(name)


def _file(prefix: str, icons: dict[str, Drawing], terms: Sequence[SetTerms]) -> bytes:
    info = {**_info(prefix, len(icons), terms), "palette": any(one.icon.hit.coloured for one in icons.values())}
    whole = {"prefix": prefix, "info": info, "icons": {name: _icon(one) for name, one in icons.items()}}
    return (json.dumps(whole, indent="\t", ensure_ascii=False) + "\n").encode()


def _info(prefix: str, total: int, terms: Sequence[SetTerms]) -> dict[str, Any]:
    """What Iconify's tools show of a set; several sets share a file only under a prefix of one's own."""
    licences = list(dict.fromkeys(one.title for one in terms))
    licence: dict[str, str] = {"title": ", ".join(licences)}
    if len(licences) == 1:
        licence |= {"spdx": terms[0].spdx} if terms[0].spdx else {}
        licence |= {"url": terms[0].url} if terms[0].url else {}
    own = {one.set: one for one in terms}
    name = terms[0].set_title if len(own) == 1 else prefix
    authors = dict.fromkeys(one.author or one.set_title for one in own.values())
    version = {"version": terms[0].version} if len(own) == 1 and terms[0].version else {}
    return {"name": name, "total": total, **version, "author": {"name": ", ".join(authors)}, "license": licence}


def _icon(drawing: Drawing) -> dict[str, Any]:
    """An icon as Iconify holds it: what stands in its SVG, and its box."""
    body = markup(drawing.body)
    attributes = {name: value for name, value in drawing.attributes.items() if name != "preserveAspectRatio"}
    if attributes:
        body = f"<g{spelled(attributes)}>{body}</g>"
    box = {"left": drawing.box.left, "top": drawing.box.top}
    placed = {name: _plain(value) for name, value in box.items() if value}
    sides = {"width": _plain(drawing.box.width), "height": _plain(drawing.box.height)}
    return {"body": body, **placed, **{name: value for name, value in sides.items() if value != _SIDE}}


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number


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
_PROPERTIES = (
    'width={size} height={size} role="img" aria-hidden={props["aria-label"] ? undefined : true} ref={ref} {...props}'
)


def make_react(material: Material) -> Made:
    """Write the package's sources; `npm install && npm run build` makes the rest."""
    name, drawn = material.prefix or material.name, material.drawn
    components = unique([capitals(one.icon.name) for one in drawn], between="_")
    index = ['export type { IconProps } from "./types.js";']
    index += [
        f'export {{ {own} }} from "./icons/{one.icon.name}.js";' for one, own in zip(drawn, components, strict=True)
    ]
    files = {
        "package.json": _json(_package(name)),
        "tsconfig.json": _json(_COMPILER),
        "README.md": _readme(name, components, material.terms),
        "src/types.ts": _TYPES,
        "src/index.ts": "\n".join(index) + "\n",
    }
    default = '"1em"' if material.size is None else str(material.size)
    for one, component in zip(drawn, components, strict=True):
        files[f"src/icons/{one.icon.name}.tsx"] = _component(one, component, default)
    use = f'use: import {{ {components[0]} }} from "{name}", after npm install && npm run build'
    return Made({path: text.encode() for path, text in files.items()}, None, [use], names_of(drawn))


def _package(name: str) -> dict[str, object]:
    return {
        "name": name,
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


def _json(facts: object) -> str:
    return json.dumps(facts, indent=2) + "\n"


def _component(one: Drawing, name: str, size: str) -> str:
    return (
        'import { forwardRef } from "react";\nimport type { IconProps } from "../types.js";\n\n'
        f"export const {name} = /* @__PURE__ */ forwardRef<SVGSVGElement, IconProps>"
        f"(function {name}({{ size = {size}, ...props }}, ref) {{\n"
        f"  return (\n{written(_root(one), TSX, rest=_PROPERTIES, indent=2)}\n  );\n}});\n"
    )


def _root(one: Drawing) -> Element:
    """An icon's root as the component has it; what leaves its colour open takes that of the text."""
    own = dict(one.attributes)
    if "fill" not in own and one.icon.hit.coloured is False:
        own["fill"] = "currentColor"
    root = Element("svg", {"xmlns": SVG, "viewBox": str(one.box), **own})
    root.extend(one.body)
    return root


def _readme(name: str, names: Sequence[str], terms: Sequence[SetTerms]) -> str:
    credit = "\n".join(f"- {one.credit}" for one in terms)
    return (
        f"# {name}\n\n{len(names):,} icons as components for React.\n\n```sh\nnpm install && npm run build\n```\n\n"
        f'```tsx\nimport {{ {names[0]} }} from "{name}";\n\n<{names[0]} size={{24}} color="navy" aria-label="..." />\n'
        "```\n\nEvery property of an SVG goes through, and so does a ref. `color` is for what an icon leaves open.\n"
        "Without `aria-label` an icon is hidden from screen readers.\n\n"
        f"## Licences\n\n{credit}\n\n[LICENCES.md](LICENCES.md) says what they ask for.\n"
    )
