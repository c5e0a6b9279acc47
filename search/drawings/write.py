"""A choice of icons written for a framework: what is imported, once, and one use an icon."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from indexer.arrays import grouped
from indexer.errors import IconsError
from search.drawings.clean import clean_tree
from search.drawings.frameworks import Export, Framework, Look, NamedIcon, exported, iconify_key, local_names
from search.drawings.licences import HYPHENS, unique
from search.drawings.markup import DRAWINGS, REACT_IMPORT, has_own_colours, slug
from search.drawings.shapes import ENDS


@dataclass(frozen=True, slots=True)
class Snippet:
    """Icons as code."""

    code: str
    """What a person copies: imports and uses as one text."""
    imports: str
    """"" where nothing is imported."""
    uses: tuple[str, ...]
    """One an icon, in the order that was asked for."""
    install: str | None
    """The command that installs what is imported; None where nothing is."""
    left_out: tuple[str, ...] = ()
    """What of the look this framework can't state, by the names of its fields; "stroke": that lines are drawn;
    "colours": those of the drawing itself; "motion": that it moves."""


_STROKED = re.compile(rb"\bstroke\s*[=:]\s*[\"']?\s*(?!none|transparent)[\w#]")


class _Written(NamedTuple):
    """What a form of framework writes for some icons."""

    imports: Sequence[str]
    """Lines."""
    uses: Sequence[str]
    packages: Sequence[str] = ()
    """Of npm."""
    left_out: tuple[str, ...] = ()
    """What of the look could not be stated."""


def write(icons: Sequence[NamedIcon], framework: Framework, look: Look) -> Snippet:
    """Write icons for a framework.

    Raises:
        IconsError: no icon, one of a set that the framework does not serve, one that its package does not export, or
            one that can't be drawn as it asks.
    """
    if not icons:
        raise IconsError("no icon to write; name one")
    for icon in icons:
        if framework.sets and icon.set not in framework.sets:
            raise IconsError(
                f'"{icon.key}" is not of {framework.sets[0]}, the set of {framework.name}; --format @iconify/react '
                "takes every set of Iconify, --format react, vue, svelte or svg any drawing"
            )
    written = _WRITERS[framework.form](icons, framework, look)
    imports = "\n".join(written.imports)
    remarks = [icon.key for icon in icons] if _needs_parting(written.uses, framework) else None
    code = laid_out(imports, written.uses, framework, remarks=remarks)
    install = f"npm install {' '.join(written.packages)}" if written.packages else None
    return Snippet(code, imports, tuple(written.uses), install, written.left_out)


def laid_out(
    imports: str, uses: Sequence[str], framework: Framework, *, remarks: Sequence[str | None] | None = None
) -> str:
    """Put imports and uses together as one text of the framework's language, each use behind its remark, if any."""
    is_whole = framework.form == "drawn"  # each use stands for itself, and is there once
    pairs = list(zip(uses, remarks or [None] * len(uses), strict=True))
    if is_whole:
        said = {use: [remark for other, remark in pairs if other == use and remark] for use in uses}
        pairs = [(use, ", ".join(some) or None) for use, some in said.items()]
    if framework.language == "text" and not _needs_parting(uses, framework):
        pairs = [(use, None) for use, _ in pairs]
    body = ("\n\n" if is_whole and framework.language not in ("text", "svg", "html") else "\n").join(
        f"{comment(remark, framework)}{use}" for use, remark in pairs
    )
    if not imports:
        return body
    match framework.language:
        case "vue":
            return f'<script setup lang="ts">\n{imports}\n</script>\n\n<template>\n{_indented(body)}\n</template>'
        case "svelte":
            return f'<script lang="ts">\n{_indented(imports)}\n</script>\n\n{body}'
        case "html":
            return f'<script type="module">\n{_indented(imports)}\n</script>\n\n{body}'
        case _:
            return f"{imports}\n\n{body}"


def _needs_parting(uses: Sequence[str], framework: Framework) -> bool:
    """Whether nothing else would say where one drawing ends: each is a file of its own, or a line of signs."""
    return framework.form == "drawn" and framework.language in ("vue", "svelte", "text") and len(set(uses)) > 1


def comment(remark: str | None, framework: Framework) -> str:
    """Write a remark as a line before a use; none where there is no remark."""
    if remark is None:
        return ""
    text = " ".join(remark.split())
    match framework.language:
        case "vue" | "svelte" | "html" | "svg":
            return f"<!-- {HYPHENS.sub('- ', text).replace('>', ')')} -->\n"
        case "text":
            return f"# {text}\n"
        case _:
            written = f"/* {text.replace('*/', '* /')} */"
            return f"{written}\n" if framework.language == "css" or framework.form == "drawn" else f"{{{written}}}\n"


def _element(*parts: str, end: str = " />") -> str:
    return f"<{' '.join(filter(None, parts))}{end}"


def _exported(icons: Sequence[NamedIcon], framework: Framework, look: Look) -> _Written:
    """What a package exports for its icons: a component each, or a drawing each for the one component."""
    exports = [exported(icon, framework) for icon in icons]
    stated, left_out = _stated(framework, look)
    names, imports = local_names(exports), _imported(exports)
    if not framework.component:
        weights = (f'weight="{one.weight}"' if one.weight else "" for one in exports)
        uses = [_element(name, weight, *stated) for name, weight in zip(names, weights, strict=True)]
        return _Written(imports, uses, framework.packages, left_out)
    uses = [_element(f"{framework.component} {framework.attribute}={{{name}}}", *stated) for name in names]
    packages = [*dict.fromkeys((*framework.packages, *(one.module for one in exports)))]
    return _Written([_component_import(framework), *imports], uses, packages, left_out)


def _keys(icons: Sequence[NamedIcon], framework: Framework, look: Look) -> _Written:
    """A component that takes the key, or, without one, the key alone."""
    if not framework.component:
        return _Written([], [icon.key for icon in icons])
    stated, left_out = _stated(framework, look)
    head = f"{framework.component} {framework.attribute}"
    end = f"></{framework.component}>" if framework.language == "html" else " />"  # no slash ends its elements
    uses = [_element(f'{head}="{iconify_key(icon)}"', *stated, end=end) for icon in icons]
    return _Written([_component_import(framework)], uses, framework.packages, left_out)


def _classes(icons: Sequence[NamedIcon], framework: Framework, look: Look) -> _Written:
    """UnoCSS: a colon before the name where the prefix has hyphens of its own, so that it is not cut elsewhere."""
    keys = [iconify_key(icon) for icon in icons]
    stated, left_out = _stated(framework, look)
    style = f' style="{"; ".join(stated)}"' if stated else ""
    uses = [f'<span class="i-{key.prefix}{":" if "-" in key.prefix else "-"}{key.name}"{style}></span>' for key in keys]
    packages = [*framework.packages, *dict.fromkeys(f"@iconify-json/{key.prefix}" for key in keys)]
    return _Written([], uses, packages, left_out)


def _drawn(icons: Sequence[NamedIcon], framework: Framework, look: Look) -> _Written:
    uses = [DRAWINGS[framework.name](icon, look) for icon in _with_distinct_names(icons)]
    left_out: tuple[str, ...] = ()
    if framework.name == "path":  # numbers alone
        lost = {
            "stroke": any(_STROKED.search(icon.svg or b"") for icon in icons),
            "colours": any(has_own_colours(clean_tree(icon, look)) for icon in icons),
            "motion": any(re.search(rb"<animate|<set\s|keyframes\s", icon.svg or b"") for icon in icons),
        }
        left_out = (*(name for name, is_lost in lost.items() if is_lost), *_stated(framework, look)[1])
    elif framework.name == "css" and look.colour and not all("var(--icon)" in use for use in uses):
        left_out = ("colour",)  # it is drawn in its own
    return _Written([REACT_IMPORT] if framework.name == "react" else [], uses, left_out=left_out)


def _with_distinct_names(icons: Sequence[NamedIcon]) -> list[NamedIcon]:
    """Give other names to icons that would be called as another one before them: BellFilled2, .icon-bell-2."""
    names = {icon.key: icon.name for icon in icons}
    slugs = [slug(name) for name in names.values()]
    ends = {key: new.removeprefix(old) for key, old, new in zip(names, slugs, unique(slugs), strict=True)}
    return [replace(icon, name=f"{icon.name}{ends[icon.key]}") for icon in icons]


_WRITERS: Mapping[str, Callable[[Sequence[NamedIcon], Framework, Look], _Written]] = {
    "component": _exported,
    "exported": _exported,
    "key": _keys,
    "class": _classes,
    "drawn": _drawn,
}


def _stated(framework: Framework, look: Look) -> tuple[list[str], tuple[str, ...]]:
    """A look as a use states it, and what of it has no way to be stated."""
    values = {
        name: it for name in ("size", "colour", "stroke_width", "corner") if (it := getattr(look, name)) is not None
    }
    stated = []
    for name, value in values.items():
        if form := framework.look.get(name):
            spelt = value if isinstance(value, str) else f"{value:g}"
            parts = ENDS[value] if name == "corner" else [spelt] * form.count("%s")
            stated.append(form % tuple(parts))
    return stated, tuple(name for name in values if name not in framework.look)


def _imported(exports: Sequence[Export]) -> list[str]:
    """One import a module, each name once."""
    named = [(one.module, one.called(local)) for one, local in zip(exports, local_names(exports), strict=True)]
    names = {module: [name for _, name in some] for module, some in grouped(named, lambda one: one[0]).items()}
    return [f'import {{ {", ".join(dict.fromkeys(some))} }} from "{module}";' for module, some in names.items()]


def _component_import(framework: Framework) -> str:
    if framework.component == framework.component_module:
        return f'import "{framework.component}";'  # a web component
    name = framework.component if framework.is_default else f"{{ {framework.component} }}"
    return f'import {name} from "{framework.component_module}";'


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
