"""Kinds of export that are text: files, a sprite, Iconify JSON, a package for React."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from search.drawings.chosen import Chosen, Drawing, Drawn, markup, spelled, whole_svg
from search.drawings.clean import SVG
from search.drawings.collection import pascal_case, plain_name, unique
from search.drawings.licences import SetTerms, by_set, gallery
from search.drawings.markup import TSX, written
from search.showing.sheets import suffix_of

FOLDER = "icons"


def picture_files(drawn: Sequence[Drawn], bitmaps: Sequence[Chosen]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Write each icon as a file; and tell which file is whose, by keys."""
    contents = {one.icon.key: (f"{FOLDER}/{one.icon.name}.svg", whole_svg(one.drawing)) for one in drawn}
    contents |= {one.key: (f"{FOLDER}/{one.name}{suffix_of(one.content)}", one.content) for one in bitmaps}
    return dict(contents.values()), {key: name for key, (name, _) in contents.items()}


SPRITE, EXAMPLE = "sprite.svg", "example.html"
_OF_WHOLE = frozenset(("opacity", "filter", "mask", "clip-path", "transform", "style", "class"))
"""Attributes that a symbol does not take as a root does: these go to a group inside it."""


def sprite_files(drawn: Sequence[Drawn], *, title: str, notice: str) -> dict[str, bytes]:
    """Write the sprite, and a page that shows it; `notice` tells in the sprite whose icons these are."""
    symbols = "\n".join(map(_symbol, drawn))
    comment = f"<!--\n{_in_comment(notice)}\n-->"
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0" style="position:absolute" aria-hidden="true">'
    sprite = f"{head}\n{comment}\n{symbols}\n</svg>\n"
    # The page holds the sprite itself: opened from a disk, a browser takes no other file's symbols.
    page = gallery(title, use=use_line(drawn), tiles=[_tile(one.icon.name) for one in drawn], sprite=sprite)
    return {SPRITE: sprite.encode(), EXAMPLE: page}


def use_line(drawn: Sequence[Drawn]) -> str:
    """How a page shows the first icon of a sprite."""
    return f'<svg width="24" height="24"><use href="{SPRITE}#{drawn[0].icon.name}"/></svg>'


def _symbol(one: Drawn) -> str:
    attributes = one.drawing.attributes
    inherited = {name: value for name, value in attributes.items() if name not in _OF_WHOLE}
    of_whole = {name: value for name, value in attributes.items() if name in _OF_WHOLE}
    body = markup(one.drawing.body)
    body = f"<g{spelled(of_whole)}>{body}</g>" if of_whole else body
    stated = {"id": one.icon.name, "viewBox": str(one.drawing.box), **inherited}
    return f"<symbol{spelled(stated)}>{body}</symbol>"


def _in_comment(text: str) -> str:
    return text.replace("--", "- -").rstrip("-")


def _tile(name: str) -> tuple[str, str, str]:
    return name, f'<svg class="tile" role="img" aria-label="{name}"><use href="#{name}"/></svg>', ""


_SIDE = 16
"""What Iconify takes where a file states no width or height."""


def iconify_files(drawn: Sequence[Drawn], terms: Sequence[SetTerms], *, prefix: str | None) -> dict[str, bytes]:
    """Write Iconify JSON: `PREFIX.json` with all icons, or without a prefix a file for each set."""
    if prefix is not None:
        names = [one.icon.name for one in drawn]
        return {f"{prefix}.json": _file(prefix, dict(zip(names, drawn, strict=True)), list(terms))}
    of_sets: defaultdict[str, list[Drawn]] = defaultdict(list)
    for one in drawn:
        of_sets[one.icon.hit.set].append(one)
    prefixes = unique([plain_name(key) for key in of_sets])
    files = {}
    for own, (key, icons) in zip(prefixes, of_sets.items(), strict=True):
        names = unique([_own_name(one.icon.hit.name) for one in icons])
        files[f"{own}.json"] = _file(own, dict(zip(names, icons, strict=True)), by_set(terms, key))
    return files


def _own_name(name: str) -> str:
    """An icon's name as its set has it, where Iconify takes that."""
    is_taken = all(part.isascii() and part.isalnum() and part == part.lower() for part in name.split("-"))
    return name if is_taken else plain_name(name)


def _file(prefix: str, icons: dict[str, Drawn], terms: Sequence[SetTerms]) -> bytes:
    info = {**_info(prefix, len(icons), terms), "palette": any(one.icon.hit.coloured for one in icons.values())}
    whole = {"prefix": prefix, "info": info, "icons": {name: _icon(one.drawing) for name, one in icons.items()}}
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


def component_names(drawn: Sequence[Drawn]) -> list[str]:
    """What the components are called: LucideBell, each name once."""
    return unique([pascal_case(one.icon.name) for one in drawn], between="_")


def react_files(
    drawn: Sequence[Drawn], terms: Sequence[SetTerms], *, name: str, size: int | None = None
) -> dict[str, bytes]:
    """Write the package's sources; `npm install && npm run build` makes the rest."""
    names = component_names(drawn)
    files = {
        "package.json": _json(_package(name)),
        "tsconfig.json": _json(_COMPILER),
        "README.md": _readme(name, names, terms),
        "src/types.ts": _TYPES,
        "src/index.ts": _index(drawn, names),
    }
    default = '"1em"' if size is None else str(size)
    files |= {
        f"src/icons/{one.icon.name}.tsx": _component(one, own, default) for one, own in zip(drawn, names, strict=True)
    }
    return {path: text.encode() for path, text in files.items()}


def import_line(name: str, drawn: Sequence[Drawn]) -> str:
    """How code takes the first icon from the package."""
    return f'import {{ {component_names(drawn)[0]} }} from "{name}"'


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


def _index(drawn: Sequence[Drawn], names: Sequence[str]) -> str:
    lines = ['export type { IconProps } from "./types.js";']
    lines += [f'export {{ {own} }} from "./icons/{one.icon.name}.js";' for one, own in zip(drawn, names, strict=True)]
    return "\n".join(lines) + "\n"


def _component(one: Drawn, name: str, size: str) -> str:
    return (
        'import { forwardRef } from "react";\nimport type { IconProps } from "../types.js";\n\n'
        f"export const {name} = /* @__PURE__ */ forwardRef<SVGSVGElement, IconProps>"
        f"(function {name}({{ size = {size}, ...props }}, ref) {{\n"
        f"  return (\n{written(_root(one), TSX, rest=_PROPERTIES, indent=2)}\n  );\n}});\n"
    )


def _root(one: Drawn) -> Element:
    """An icon's root as the component has it; what leaves its colour open takes that of the text."""
    own = dict(one.drawing.attributes)
    if "fill" not in own and one.icon.hit.coloured is False:
        own["fill"] = "currentColor"
    root = Element("svg", {"xmlns": SVG, "viewBox": str(one.drawing.box), **own})
    root.extend(one.drawing.body)
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
