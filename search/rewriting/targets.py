"""How is an icon of the target set written in place of another: as a key, a class, or an import of its own package?"""

import re

from indexer.errors import IconsError
from search.engine import SearchEngine
from search.mapping.mapped import Candidate
from search.references.packages import package_of
from search.snippets.drawn import NamedIcon, named_icon
from search.snippets.exports import Export, exported
from search.snippets.frameworks import FRAMEWORKS, Framework
from search.snippets.keys import IconifyKey, iconify_key

_KINDS = ("react", "vue", "svelte")
_OF_REACT = ("@mui/icons-material", "@ant-design/icons")
_DRAWN_BY_OTHERS = ("@fortawesome/", "@mdi/")
"""Scopes of packages that export drawings, which one component draws."""
_BETWEEN = re.compile(r"[-/@]")


class RefusedError(IconsError):
    """An icon has no such form; the message says why."""


def ecosystem(module: str) -> str | None:
    """What the components of a module are for: "react", "vue", "svelte"; None where it exports no such components."""
    package = package_of(module)
    if package.startswith(_DRAWN_BY_OTHERS):
        return None
    words = _BETWEEN.split(package)
    if "native" in words:
        return None
    return "react" if package in _OF_REACT else next((kind for kind in _KINDS if kind in words), None)


class Targets:
    """Icons of the target set, as code writes them."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self._icons: dict[int, NamedIcon] = {}
        self._modules: set[str] = set()

    def key(self, candidate: Candidate) -> IconifyKey:
        """As Iconify calls it.

        Raises:
            RefusedError: it is of no set of Iconify.
        """
        try:
            return iconify_key(self._icon(candidate))
        except IconsError as error:
            raise RefusedError(f"{candidate.name.key} has no key of Iconify") from error

    def export(self, candidate: Candidate, module: str) -> Export:
        """What is imported in place of a component of another package.

        Raises:
            RefusedError: no package has it as a component of that kind.
        """
        kind = ecosystem(module)
        if kind is None:
            raise RefusedError(f"what {module} exports is no component by itself")
        icon = self._icon(candidate)
        framework = _framework(icon.set, kind)
        if framework is None:
            raise RefusedError(f"no package is known that has {icon.set} as components for {kind}")
        try:
            found = exported(icon, framework)
        except IconsError as error:
            raise RefusedError(f"{framework.packages[0]} does not export {icon.key}") from error
        if found.weight is not None:
            raise RefusedError(f'{found.name} of {found.module} takes weight="{found.weight}" where it is used')
        self._modules.add(found.module)
        return found

    def packages(self) -> list[str]:
        """Packages to install for what was imported."""
        return sorted(set(map(package_of, self._modules)))

    def _icon(self, candidate: Candidate) -> NamedIcon:
        if candidate.id not in self._icons:
            self._icons[candidate.id] = named_icon(self._engine.show(candidate.id).hit)
        return self._icons[candidate.id]


def _framework(key: str, kind: str) -> Framework | None:
    of_set = (one for one in FRAMEWORKS.values() if one.form == "component" and key in one.sets)
    return next((one for one in of_set if ecosystem(one.packages[0]) == kind), None)
