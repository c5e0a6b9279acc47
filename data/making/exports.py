"""What npm packages of icons export. Writes data/references/exported.json and data/snippets/exports.json.

The first holds names that packages export and Iconify's sets lack: given up by a set, or newer. The second holds what
the rules of `search.drawings.frameworks` get wrong. NODE_MODULES holds react-icons, and the packages that
tests/node_packages.py lists; the library all of @iconify/json.

    python -m data.making.exports references NODE_MODULES --library LIBRARY
    python -m data.making.exports snippets NODE_MODULES
"""

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import library_option
from indexer.errors import SourceError
from indexer.library.bundled import bundled
from search.code.known import KnownIcons
from search.code.names import scan
from search.drawings import frameworks
from search.drawings.drawn import NamedIcon
from search.drawings.frameworks import FRAMEWORKS
from search.engine import SearchEngine

if TYPE_CHECKING:
    from indexer.library.folder import Library

MODULES = (
    "lucide-react", "@tabler/icons-react", "@heroicons/react/24/outline", "@heroicons/react/24/solid",
    "@heroicons/react/20/solid", "@heroicons/react/16/solid", "@mdi/js", "@phosphor-icons/react",
    "@fortawesome/free-solid-svg-icons", "@fortawesome/free-regular-svg-icons", "@fortawesome/free-brands-svg-icons",
    *(f"react-icons/{one}" for one in ("ai", "bi", "bs", "cg", "fa", "fa6", "fc", "fi", "go", "gi", "gr", "hi", "hi2")),
    *(f"react-icons/{one}" for one in ("im", "io", "io5", "lu", "md", "pi", "ri", "rx", "si", "sl", "tb", "ti", "vsc")),
    "react-icons/wi",
)  # fmt: skip
FAMILIES = {  # family and folder -> module, and the sets of Iconify whose icons are looked for in it
    "lucide": ("lucide-react", ["lucide"]),
    "tabler": ("@tabler/icons-react", ["tabler"]),
    "phosphor": ("@phosphor-icons/react", ["ph"]),
    **{
        f"heroicons {style}": (f"@heroicons/react/{style}", ["heroicons"])
        for style in ("24/outline", "24/solid", "20/solid", "16/solid")
    },
    "mdi": ("@mdi/js", ["mdi"]),
    **{
        f"font-awesome {style}": (
            f"@fortawesome/free-{style}-svg-icons",
            [f"{v}-{style}" for v in ("fa7", "fa6", "fa")],
        )
        for style in ("solid", "regular", "brands")
    },
}
_ASK = """
const names = {};
for (const module of process.argv.slice(1)) names[module] = Object.keys(await import(module));
console.log(JSON.stringify(names));
"""
_DEFAULTS = re.compile(r"default as (\w+)")
_AT_ONCE = 200


def run_node(script: str, *arguments: str, modules: Path) -> str:
    """Run a module of JavaScript beside the packages; what it prints.

    Raises:
        SourceError: it fails.
    """
    command = ["node", "--input-type=module", "--eval", script, "--", *arguments]
    done = subprocess.run(command, cwd=modules.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SourceError(f'"{" ".join(arguments)}" can\'t be read by node: {done.stderr[-4000:]}')
    return done.stdout


@cache
def exports_of(module: str, modules: Path) -> frozenset[str]:
    """Names that a module exports; those of Svelte's, which Node does not import, by their index."""
    if "svelte" not in module:
        return frozenset(json.loads(run_node(_ASK, module, modules=modules))[module])
    files = (modules / module / "dist").rglob("*.js")
    return frozenset(name for file in files for name in _DEFAULTS.findall(file.read_text("utf-8")))


def icons_of(prefix: str, modules: Path) -> Iterator[tuple[str, str | None]]:
    """Names of a set of Iconify, each with the name of the icon that it is an alias of, unturned."""
    whole = json.loads((modules / "@iconify-json" / prefix / "icons.json").read_text("utf-8"))
    yield from ((name, None) for name in whole["icons"])
    for name, alias in whole.get("aliases", {}).items():
        is_turned = alias.keys() - {"parent", "hidden", "width", "height", "left", "top"}
        yield name, None if is_turned else alias["parent"]


def missing_in(known: KnownIcons, module: str, names: list[str]) -> str:
    """Of the names that a module exports, those that no set of a library has, parted by spaces."""
    parts = (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))
    code = "\n".join(f'import {{ {", ".join(part)} }} from "{module}";' for part in parts)
    references = scan(code, path="all.ts").references
    return " ".join(one.text for one in references if known.has_set(one) and not known.find(one))


def wrong_exports(family: str, modules: Path) -> tuple[dict[str, set[str]], set[str]]:
    """Names that are exported as another's, by that other; and names that are not exported at all.

    Without exceptions: what the rule alone says of every icon is held against the package.
    """
    module, sets = FAMILIES[family]
    of = family.split(" ", maxsplit=1)[0]
    one = next(one for one in FRAMEWORKS.values() if one.family == of and one.language == "tsx")
    instead: dict[str, set[str]] = defaultdict(set)
    absent = set()
    for prefix in sets:
        for name, parent in icons_of(prefix, modules):
            icon = NamedIcon(f"{prefix}:{name}", prefix, name, None)
            export, base = frameworks.exported(icon, one), frameworks._place(icon, one.family)[0]
            if export.module != module or export.name in exports_of(module, modules):
                continue
            other = NamedIcon(f"{prefix}:{parent}", prefix, parent, None) if parent else None
            if other and frameworks.exported(other, one).name in exports_of(module, modules):
                instead[frameworks._place(other, one.family)[0]].add(base)
            else:
                absent.add(base)
    return {name: others - absent for name, others in instead.items() if others - absent}, absent


@click.group()
def main() -> None:
    """Write what packages export otherwise than names of icons tell."""


_MODULES = click.argument("modules", type=click.Path(exists=True, file_okay=False, path_type=Path))


@main.command()
@_MODULES
@library_option
def references(modules: Path, library: "Library") -> None:
    """Names that packages export and no set of the library has."""
    known, root = KnownIcons(SearchEngine.open(library.root), exported={}), modules.absolute()
    found = {module: missing_in(known, module, sorted(exports_of(module, root))) for module in MODULES}
    held = {module: names for module, names in found.items() if names}
    bundled("references/exported.json").write_text(json.dumps(held, indent=1) + "\n", "utf-8")


@main.command()
@_MODULES
def snippets(modules: Path) -> None:
    """Names whose export the rules get wrong."""
    frameworks.exceptions = lambda: {}  # type: ignore[assignment]
    plain = {}
    for family in FAMILIES:
        instead, absent = wrong_exports(family, modules.absolute())
        others = {name: " ".join(sorted(names)) for name, names in sorted(instead.items())}
        plain[family] = {"instead": others, "absent": " ".join(sorted(absent))}
    bundled("snippets/exports.json").write_text(json.dumps(plain, indent=0) + "\n")


if __name__ == "__main__":
    main()
