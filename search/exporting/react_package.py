"""How are icons a package for React? A component a file, which takes size, colour and ref; `tsc` builds it."""

import json
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from search.exporting.drawn import Drawn
from search.exporting.licences import SetTerms
from search.exporting.names import pascal_case, unique
from search.snippets.clean import SVG
from search.snippets.jsx import TSX
from search.snippets.markup import written

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
