"""What npm packages of icons export. Writes data/references/exported.json and data/snippets/exports.json.

The first holds names that sets and packages keep for old code, and exports that no name of a set tells. The second
holds what the rules of `search.drawings.frameworks` get wrong. NODE_MODULES holds the packages that
tests/node_packages.py lists, and for the first @iconify/json, `heroicons-1@npm:@heroicons/react@1`, and what
`data/references/code.toml` names.

    python -m data.making.exports references NODE_MODULES
    python -m data.making.exports snippets NODE_MODULES
"""

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from indexer.errors import SourceError
from indexer.library.bundled import bundled
from indexer.sources.iconify import resolve_icon
from search.code.files import design_of, folded, installed_exports, words
from search.code.files import modules as known_modules
from search.drawings import frameworks
from search.drawings.frameworks import FRAMEWORKS, NamedIcon

ALIASED = (
    *("lucide-react", "@tabler/icons-react"),
    *(f"@fortawesome/free-{one}-svg-icons" for one in ("solid", "regular", "brands")),
)
"""Modules that have one icon under several names."""
_FORMER = {f"@heroicons/react/{style}": f"heroicons-1/{style}" for style in ("outline", "solid")}
"""Modules of former versions, and what they are installed as."""
GONE = {
    "lucide-react": "chrome chromium codepen codesandbox dribbble facebook figma framer github gitlab instagram "
    "linkedin pocket rail-symbol slack trello twitch twitter youtube"
}
"""Icons that modules had for years: where none is installed, nobody knows which version the code is for."""
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
_ASK_ALIASES = """
const module = await import(process.argv[1]), texts = new Map(), names = [];
for (const [name, icon] of Object.entries(module)) {
  const aliases = icon?.iconName ? icon.icon[2].filter(one => typeof one === "string") : [];
  if (icon?.iconName) names.push([icon.iconName, aliases]);
  else if (icon) texts.set(icon, [...(texts.get(icon) ?? []), name]);
}
console.log(JSON.stringify({names, texts: [...texts].map(([icon, all]) => [icon.displayName, all])}));
"""
_ASK = """
const names = {};
for (const module of process.argv.slice(1)) names[module] = Object.keys(await import(module));
console.log(JSON.stringify(names));
"""
_DEFAULTS = re.compile(r"default as (\w+)")


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


class Sets:
    """Names that Iconify's sets show, and those that they keep hidden."""

    def __init__(self, modules: Path) -> None:
        self._folder = modules / "@iconify/json/json"
        self.keys = sorted(path.stem for path in self._folder.glob("*.json"))

    @cache  # noqa: B019 - one for a run
    def names(self, key: str) -> dict[bool, set[str]]:
        """By whether they are hidden."""
        found: dict[bool, set[str]] = {True: set(), False: set()}
        path = self._folder / f"{key}.json"
        written = json.loads(path.read_text("utf-8")) if path.is_file() else {"icons": {}}
        for name in (*written["icons"], *written.get("aliases", {})):
            found[bool(resolve_icon(written, name)[0].get("hidden"))].add(name)
        return found

    def shown(self, key: str) -> set[str]:
        """Names that all versions of a set show."""
        versions = [one for one in self.keys if design_of(one) == design_of(key)]
        return set.intersection(*(self.names(one)[False] for one in versions)) if versions else set()


def wrongly_spelt(module: str, sets: Sets, modules: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Names that a module exports and no name which a set shows tells; and what such a name tells in wrong capitals.

    All of a module whose icons are of several sets: a library may lack one of these.
    """
    folder, looks = str(modules.parent.absolute()), known_modules()[module].looks
    exported = installed_exports(folder, _FORMER.get(module, module)) - known_modules()[module].others
    told, letters = (
        {look.spell(name) or "" for look in looks for name in sets.shown(look.set)},
        set(map(folded, exported)),
    )
    gone = {look.spell(name) or "" for look in looks[1:] for name in GONE.get(module, "").split()}
    is_of_one = len({design_of(look.set) for look in looks}) == 1
    absent = frozenset(text for text in told - exported if folded(text) in letters)
    return exported - (told if is_of_one else set()) | gone, absent


def kept_by(module: str, sets: Sets, modules: Path) -> dict[str, str]:
    """Names that a module's set has, or had, beside those that all its versions show, each with the present one."""
    looks, own = known_modules()[module].looks, {look.set for look in known_modules()[module].looks}
    known = {folded(name): name for key in own for is_hidden in (True, False) for name in sets.names(key)[is_hidden]}
    shown = set().union(*(sets.names(key)[False] for key in own))
    said = json.loads(run_node(_ASK_ALIASES, module, modules=modules))
    groups = [(name, aliases) for name, aliases in said["names"]]
    for text, texts in said["texts"]:
        plain = [one for one in texts if f"{one}Icon" in texts] or texts
        names = [looks[-1].read(one) or "" for one in plain]
        groups.append((known.get(folded(text or ""), ""), [known.get(folded(name), name) for name in names]))
    kept = dict.fromkeys(shown - sets.shown(looks[0].set), "")
    for name, aliases in groups:
        present = name if name in shown else next((one for one in aliases if one in shown), "")
        kept |= {alias: present for alias in (name, *aliases) if alias and alias != present}
    return kept


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
def references(modules: Path) -> None:
    """Names that sets keep for old code, and names that packages export and no shown name tells."""
    sets, root = Sets(modules), modules.absolute()
    names = {key: dict.fromkeys(sets.names(key)[True], "") for key in sets.keys}
    names |= {key: dict.fromkeys(sets.names(key)[True] | sets.names(key)[False], "") for key in words("listed")}
    for module in ALIASED:
        names.setdefault(design_of(known_modules()[module].looks[0].set), {}).update(kept_by(module, sets, root))
    found = {module: wrongly_spelt(module, sets, root) for module in known_modules()}
    exports, absent = ({one: " ".join(sorted(both[n])) for one, both in found.items() if both[n]} for n in (0, 1))
    pairs = {key: (f"{old}={now}" if now else old for old, now in sorted(kept.items())) for key, kept in names.items()}
    plain = {"names": {key: " ".join(kept) for key, kept in sorted(pairs.items()) if names[key]}}
    written = json.dumps(plain | {"exports": exports, "absent": absent}, indent=1)
    bundled("references/exported.json").write_text(f"{written}\n", "utf-8")


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
