"""Do packages export what snippets import? `python tests/search/snippets/test_exports.py NODE_MODULES` writes the
exceptions anew: what the rules get wrong of all icons of Iconify's sets."""

import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]  # as a script

from package_exports import FAMILIES, exports_of, icons_of

from indexer.errors import IconsError
from indexer.library.bundled import bundled
from search.snippets import exports
from search.snippets.drawn import NamedIcon
from search.snippets.exports import exported
from search.snippets.frameworks import framework

_FRAMEWORKS = {
    "lucide": "lucide-react",
    "tabler": "@tabler/icons-react",
    "phosphor": "@phosphor-icons/react",
    "heroicons": "@heroicons/react",
    "mdi": "@mdi/js",
    "font-awesome": "@fortawesome/react-fontawesome",
}


def rewrite(modules: Path) -> None:
    """Write the exceptions: with none, ask what the rule says of every icon, and hold it against the package."""
    exports.exceptions = lambda: {}
    found = {family: _wrong(family, modules) for family in FAMILIES}
    plain = {
        family: {
            "instead": {name: " ".join(sorted(names)) for name, names in sorted(instead.items())},
            "absent": " ".join(sorted(absent)),
        }
        for family, (instead, absent) in found.items()
    }
    bundled("snippets/exports.json").write_text(json.dumps(plain, indent=1) + "\n")


def _wrong(family: str, modules: Path) -> tuple[dict[str, set[str]], set[str]]:
    module, sets = FAMILIES[family]
    have = exports_of(module, modules)
    one = framework(_FRAMEWORKS[family.partition(" ")[0]])

    def asked(prefix: str, name: str) -> tuple[str, str, str]:
        icon = NamedIcon(f"{prefix}:{name}", prefix, name, None)
        told = exported(icon, one)
        return told.module, told.name, exports._PLACES[one.family](icon).base

    instead: dict[str, set[str]] = defaultdict(set)
    absent = set()
    for prefix in sets:
        for name, parent in icons_of(prefix, modules):
            try:
                place, told, base = asked(prefix, name)
            except IconsError:
                continue  # refused by the rule itself
            if place != module or told in have:
                continue
            other = asked(prefix, parent) if parent else None
            if other and other[0] == module and other[1] in have:
                instead[other[2]].add(base)
            else:
                absent.add(base)
    return instead, absent


if __name__ == "__main__":
    rewrite(Path(sys.argv[1]))
