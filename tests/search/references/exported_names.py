"""What do packages export that Iconify's sets lack? Names that a set has given up, and newer ones.

Writes data/references/exported.json: `python tests/search/references/exported_names.py NODE_MODULES LIBRARY`, with the
packages in one folder and all of @iconify/json in the library.
"""

import json
import subprocess
import sys
from pathlib import Path

from search.engine import SearchEngine
from search.references.known import KnownIcons
from search.references.scan import scan

MODULES = (
    "lucide-react", "@tabler/icons-react", "@heroicons/react/24/outline", "@heroicons/react/24/solid",
    "@heroicons/react/20/solid", "@heroicons/react/16/solid", "@mdi/js", "@phosphor-icons/react",
    "@fortawesome/free-solid-svg-icons", "@fortawesome/free-regular-svg-icons", "@fortawesome/free-brands-svg-icons",
    *(f"react-icons/{one}" for one in ("ai", "bi", "bs", "cg", "fa", "fa6", "fc", "fi", "go", "gi", "gr", "hi", "hi2")),
    *(f"react-icons/{one}" for one in ("im", "io", "io5", "lu", "md", "pi", "ri", "rx", "si", "sl", "tb", "ti", "vsc")),
    "react-icons/wi",
)  # fmt: skip
_LIST = "const x = await import(process.argv[1]); console.log(JSON.stringify(Object.keys(x)))"
_AT_ONCE = 200


def exports_of(module: str, node_modules: Path) -> list[str]:
    """All that a module exports, as node sees it."""
    program = ["node", "--input-type=module", "--eval", _LIST, module]
    return json.loads(subprocess.run(program, cwd=node_modules.parent, check=True, capture_output=True).stdout)


def importing(module: str, names: list[str]) -> str:
    """Code that imports them."""
    parts = (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))
    return "\n".join(f'import {{ {", ".join(part)} }} from "{module}";' for part in parts)


def main(node_modules: str, library: str) -> None:
    """Write what each module exports that no set of the library has."""
    known = KnownIcons(SearchEngine.open(library), exported={})
    found = {}
    for module in MODULES:
        text = importing(module, exports_of(module, Path(node_modules).absolute()))
        references = scan(text, path="all.ts", kind="script").references
        found[module] = " ".join(one.text for one in references if known.has_set(one) and not known.find(one))
        print(f"{module}: {len(references):,} names, {len(found[module].split()):,} of them no set has")
    target = Path(__file__).parents[3] / "data" / "references" / "exported.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({module: names for module, names in found.items() if names}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
