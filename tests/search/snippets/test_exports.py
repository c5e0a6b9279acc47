"""Do packages export what snippets import? Held against the packages for every icon of Iconify's sets and the samples.

`python -m data.making.exports snippets NODE_MODULES` writes data/snippets/exports.json anew: what the rules get wrong.
"""

from pathlib import Path

import pytest
from node_packages import node_modules

from data.making.exports import exports_of, icons_of
from indexer.errors import IconsError
from search.drawings.drawn import NamedIcon
from search.drawings.frameworks import FRAMEWORKS, exported, framework

_PACKAGES = [one.name for one in FRAMEWORKS.values() if one.family]


@pytest.mark.slow
@pytest.mark.parametrize("name", _PACKAGES)
def test_every_icon_of_a_set_is_imported_by_a_name_that_its_package_exports(name: str) -> None:
    modules, one = node_modules(), framework(name)
    refused = written = 0
    for prefix in one.sets:
        if not (modules / "@iconify-json" / prefix).is_dir():
            continue
        for icon, _ in icons_of(prefix, modules):
            try:
                export = exported(NamedIcon(f"{prefix}:{icon}", prefix, icon, None), one)
            except IconsError:
                refused += 1
                continue
            if export.name not in exports_of(export.module, modules) and not _is_newer(
                one.family, export.name, modules
            ):
                pytest.fail(f"{name}: {prefix}:{icon} is not {export.name}")
            written += 1
    assert written > 300 and refused <= 0.02 * written


def _is_newer(family: str, name: str, modules: Path) -> bool:
    """Whether the package that is released first exports a name: those for other frameworks follow with theirs."""
    first = {"lucide": "lucide-react", "tabler": "@tabler/icons-react"}.get(family)
    return first is not None and name in exports_of(first, modules)
