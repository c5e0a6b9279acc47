"""What npm packages of icons really export, and what Iconify's sets hold: read from a node_modules folder.

The environment names it (ICONS_NODE_MODULES). `icons` itself needs none of them:

    npm install --ignore-scripts --legacy-peer-deps lucide-react @lucide/{vue,svelte} \\
        @tabler/icons-{react,vue,svelte} \\
        @phosphor-icons/{react,vue} @heroicons/{react,vue} @mdi/{js,react} @iconify/{react,vue,svelte,collections} \\
        @fortawesome/{react-fontawesome,fontawesome-svg-core} @fortawesome/free-{solid,regular,brands}-svg-icons \\
        @iconify-json/{lucide,tabler,ph,heroicons,mdi} @iconify-json/{fa,fa6,fa7}-{solid,regular,brands} iconify-icon \\
        @unocss/{core,preset-icons} typescript vue @vue/compiler-sfc svelte react @types/react parse5
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

VARIABLE = "ICONS_NODE_MODULES"
_ASK = """
const names = {};
for (const module of process.argv.slice(1)) names[module] = Object.keys(await import(module));
console.log(JSON.stringify(names));
"""
_DEFAULTS = re.compile(r"default as (\w+)")
FAMILIES = {  # family and folder -> module, and the sets of Iconify whose icons are looked for in it
    "lucide": ("lucide-react", ["lucide"]),
    "tabler": ("@tabler/icons-react", ["tabler"]),
    "phosphor": ("@phosphor-icons/react", ["ph"]),
    "heroicons 24/outline": ("@heroicons/react/24/outline", ["heroicons"]),
    "heroicons 24/solid": ("@heroicons/react/24/solid", ["heroicons"]),
    "heroicons 20/solid": ("@heroicons/react/20/solid", ["heroicons"]),
    "heroicons 16/solid": ("@heroicons/react/16/solid", ["heroicons"]),
    "mdi": ("@mdi/js", ["mdi"]),
    **{
        f"font-awesome {style}": (
            f"@fortawesome/free-{style}-svg-icons",
            [f"{v}-{style}" for v in ("fa7", "fa6", "fa")],
        )
        for style in ("solid", "regular", "brands")
    },
}


def node_modules() -> Path:
    """The folder that the environment names; without one the test is skipped."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no folder of npm packages; the first lines of {Path(__file__).name} say which")
    return Path(named)


def run_node(script: str, *arguments: str, modules: Path) -> str:
    """Run a module of JavaScript beside the packages; what it prints."""
    command = ["node", "--input-type=module", "--eval", script, "--", *arguments]
    done = subprocess.run(command, cwd=modules.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
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
