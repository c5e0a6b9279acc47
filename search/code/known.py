"""Whether there is such an icon: in the library's sets, or in the package that a project has installed."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Literal

from indexer.arrays import grouped
from indexer.library.bundled import bundled
from search.code.files import (
    Look,
    design_of,
    folded,
    installed_exports,
    modules,
    read_component,
    spell_component,
    words,
)
from search.code.names import Reference
from search.drawings.frameworks import FRAMEWORKS, exceptions, packages_of
from search.engine import SearchEngine
from search.query import Filters, Query, Window


@cache
def _bundled() -> Mapping[str, Mapping[str, str]]:
    """What sets and packages know beside the names that sets show, as of November 2026.

    "names": those that a set keeps for old code, with the present ones, as "home=house", or all; "exports" of modules
    that no name tells, and "absent" ones that a name tells wrongly. `data/making/exports.py` makes the list.
    """
    return dict(json.loads(bundled("references/exported.json").read_bytes()))


def _kept(key: str) -> dict[str, str]:
    """Names that a set keeps for old code, each with the present one; "" where none is known."""
    return {name: now for name, _, now in (one.partition("=") for one in _bundled()["names"].get(key, "").split())}


def _listed(kind: Literal["exports", "absent"], module: str) -> frozenset[str]:
    """Names of a module, or of one that is made of the same icons."""
    looks, written = _looks(module), _bundled()[kind]
    alike = next((one for one in written if _looks(one) == looks), "")
    return frozenset(written.get(module if module in written else alike, "").split())


def _installed(reference: Reference) -> frozenset[str]:
    """What the package that the project has installed exports; nothing where none is, or no component is named."""
    folder = os.path.realpath(os.path.dirname(reference.path) or ".")  # noqa: PTH120
    return installed_exports(folder, reference.file or reference.module) if reference.is_component else frozenset()


class SetNames:
    """The names of one set of the library, called as Iconify calls it."""

    def __init__(self, engine: SearchEngine, key: str, *, is_iconify: bool = False) -> None:
        self.own = engine.sets_called(key) or engine.present_sets(packages_of(key))
        """Its keys in the library; none where it is not there."""
        self.names = frozenset(name for own in self.own for name in engine.names_in(own))
        self.kept = {**({} if is_iconify else _kept(design_of(key))), **_kept(key)}

    @cached_property
    def by_letters(self) -> Mapping[str, Sequence[str]]:
        """Names by what a component tells of them; those that the set shows come first."""
        return grouped((*sorted(self.names), *self.kept), folded)

    def called(self, reference: Reference, name: str) -> str | None:
        """A name as it is spelt here, if it is one."""
        if not reference.is_component:
            return name if name in self.names or name in self.kept else None
        names, looks = self.by_letters.get(folded(name), ()), _looks(reference.module)
        return next(
            (one for one in names if any(look.spell(one) == reference.text for look in looks)),
            names[0] if names else None,
        )

    def present(self, name: str) -> str:
        """What the set calls an icon now."""
        return now if (now := self.kept.get(name, "")) in self.names and name not in self.names else name

    def others(self, name: str) -> Sequence[str]:
        """All that an icon is or was called otherwise."""
        now = self.kept.get(name) or name
        return [one for one in (now, *(old for old, new in self.kept.items() if new == now)) if one != name]


_OF_ICONIFY = ("iconify", "svgIcon", "unocss", "tailwind", "unplugin-icons")
"""Forms that name what Iconify has, and not what a package has beside it."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was probably meant."""

    set: str
    name: str
    text: str
    """As the code would write it."""
    by: str
    """"name": it is spelt much alike; "meaning": what the words say."""
    score: float
    """0 to 1: how alike the spellings are, or how sure the match of the meaning is."""


class KnownIcons:
    """The library's sets, each read when code first names it."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self.set = cache(partial(SetNames, engine))
        """A set, by the key that Iconify has for it."""
        self._spelt = cache(self._spell)

    @cached_property
    def _here(self) -> Sequence[str]:
        return [count.value for count in self._engine.facets().get("set", ())]

    def as_here(self, key: str, name: str) -> tuple[str, str]:
        """An icon as the library has it, (set, name): of another version of the set where its own lacks it."""
        for version in (key, *(one for one in self._here if design_of(one) == design_of(key))):
            now = self.set(version).present(name)
            if now in self.set(version).names:
                key, name = version, now
                break
        return next(iter(self.set(key).own), key), name

    def _sets(self, reference: Reference) -> Iterator[tuple[str, SetNames, str, str]]:
        """All that a text may mean: key, set, name, and that as it is spelt there; "" where it is none."""
        for key, name in reference.readings:
            known = self.set(key, is_iconify=reference.form in _OF_ICONIFY)
            yield key, known, name, known.called(reference, name) or ""

    def _spell(self, module: str) -> Mapping[str, str]:
        """What a module exports, as far as lists and the library's sets tell, by how it is compared.

        Where nobody has listed what it exports, capitals say nothing.
        """
        listed, family = _listed("exports", module), FRAMEWORKS[module].family if module in FRAMEWORKS else ""
        gone = exceptions()[family].absent if family in exceptions() else ()
        sets = [(look, self.set(look.set)) for look in _looks(module)]
        names = [(look, name) for look, known in sets for name in known.names.difference(gone)]
        names += [(look, name) for look, known in sets for name in known.kept if not listed]
        texts = {*listed, *(look.spell(name) or "" for look, name in names)} - _listed("absent", module)
        return {text if listed else folded(text): text for text in texts}

    def _exports(self, reference: Reference) -> frozenset[str]:
        """What may be imported from the module; nothing where no component is."""
        return _installed(reference) or frozenset(
            (self._spelt(reference.module) if reference.is_component else {}).values()
        )

    def _is_exported(self, reference: Reference) -> bool:
        known = _installed(reference) or self._spelt(reference.module)
        return reference.text in known or folded(reference.text) in known

    def has_set(self, reference: Reference) -> bool:
        """Whether it can be said if there is such an icon: by the package that is installed, or by all sets that it may
        be of.
        """
        sets = list(self._sets(reference))
        here = [design_of(key) for key, known, _, _ in sets if known.own or key in words("listed")]
        # material-symbols holds, or keeps, all that ic does
        needed = {design_of(key) for key, *_ in sets if reference.form != "ligature" or key != "ic"}
        if _installed(reference) or not reference.is_component:
            return bool(_installed(reference) or (here and needed <= {*here}))
        if here[:1] == [design_of(reference.set)] and _listed("exports", reference.module) and not needed <= {*here}:
            return any(called for *_, called in sets) or self.is_refuted(reference)  # all that it exports is listed
        return needed <= {*here} and reference.module in modules()

    def lacking(self, reference: Reference) -> str:
        """The first set that a text may mean and that is not here."""
        return next((key for key, known, *_ in self._sets(reference) if not known.own), reference.set)

    def is_refuted(self, reference: Reference) -> bool:
        """Whether what may be no icon is one with a slip, or is nothing that the installed package exports."""
        exports = () if self._is_exported(reference) else self._exports(reference)
        return bool(exports and (_installed(reference) or slip_of(reference.text, sorted(exports))))

    def find(self, reference: Reference) -> tuple[str, str] | None:
        """The icon that is named, as (set, name) with its present name there; None where there is none."""
        if reference.is_component and not self._is_exported(reference):
            return None
        return next(
            ((key, known.present(called)) for key, known, _, called in self._sets(reference) if called),
            (reference.set, reference.name) if reference.is_component else None,
        )

    def renamed(self, reference: Reference) -> str | None:
        """What stands for a name that is kept for old code, as the code would write it."""
        key, name, now = next(
            ((key, called, known.present(called)) for key, known, _, called in self._sets(reference) if called),
            ("", "", ""),
        )
        text = _rewritten(reference, key, now) if now != name else ""
        return text if not reference.is_component or text in self._exports(reference) else None

    def nearest(self, reference: Reference) -> Nearest | None:
        """The icon that was probably meant, of the same set: by another of its names, by how it is spelt, else by its
        meaning; None where nothing comes near.
        """
        exports = self._exports(reference) if reference.is_component else None
        return next((one for one in self._near(reference) if exports is None or one.text in exports), None)

    def _near(self, reference: Reference) -> Iterator[Nearest]:
        is_component, sets = reference.is_component, list(self._sets(reference))
        for key, known, name, called in sets:
            others = (other for other in known.others(called or name) if is_component or other in known.names)
            yield from (Nearest(key, other, _rewritten(reference, key, other), "name", 1.0) for other in others)
        if is_component and (slip := slip_of(reference.text, sorted(self._exports(reference)))):
            (key, name), *others_meant = read_component(_looks(reference.module), slip[0]) or [(reference.set, slip[0])]
            meant = reference._replace(text=slip[0], set=key, name=name, others=tuple(others_meant))
            score = 1 - slip[1] / max(len(reference.name), len(name))
            yield Nearest(*(self.find(meant) or (key, name)), slip[0], "name", score)
        for key, known, name, _ in sets if not is_component else ():
            if slip := slip_of(name, sorted(known.names)):
                score = 1 - slip[1] / max(len(name), len(slip[0]))
                yield Nearest(key, slip[0], _rewritten(reference, key, slip[0]), "name", score)
        key, name = next(((key, name) for key, name in reference.readings if self.set(key).own), ("", ""))
        said = (reference.text.replace("_", "-") if reference.form == "ligature" else name).replace("-", " ")
        filters, query = Filters(sets=tuple(self.set(key).own)), Query(words=said, prefer=())
        for hit in self._engine.ask(query, filters=filters, window=Window(k=5)).hits if key else ():
            yield Nearest(key, hit.name, _rewritten(reference, key, hit.name), "meaning", hit.score)


def slip_of(name: str, names: Sequence[str]) -> tuple[str, float, int] | None:
    """The one of some names that slips of the keys make of a name, and how many these are.

    Who types leaves letters out, or changes their places, more often than one letter becomes another.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA  # letters that have changed places are one slip

    # a slip for each five letters
    near = process.extract(
        name, names, scorer=OSA.distance, processor=str.lower, score_cutoff=max(1, len(name) // 5), limit=None
    )
    return min(near, key=lambda one: (one[1], (Counter(name.lower()) - Counter(one[0].lower())).total()), default=None)


def _looks(module: str) -> Sequence[Look]:
    return modules()[module].looks if module in modules() else ()


def _rewritten(reference: Reference, key: str, name: str) -> str:
    """A name in the form of what stands in the code."""
    if reference.is_component:
        return spell_component(_looks(reference.module), name, like=reference.text, sets=(key,)) or name
    if reference.form == "ligature":  # the word that is drawn as the icon of this name
        before, _, after = reference.name.partition(reference.text.replace("_", "-"))
        return name.removeprefix(before).removesuffix(after).replace("-", "_")
    if reference.form in ("iconify", "tailwind"):
        return f"{key}{'--' if reference.form == 'tailwind' else ':'}{name}"
    return f"{reference.text.removesuffix(reference.name)}{name}" if reference.text.endswith(reference.name) else name
