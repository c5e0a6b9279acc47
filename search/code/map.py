"""Icons of some sets -> the nearest of another: `map_icons(engine, [Name("mdi", "home")], "lucide")`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from indexer.errors import IconsError
from indexer.languages.words import normalise
from indexer.reports.terminal import Progress
from search.code.compare import BY_BOTH, BY_WORDS, DOUBTFUL, Best, Target, best_of, evidence_of, open_side
from search.code.known import KnownIcons
from search.code.names import Reference
from search.drawings.drawn import iconify_sets
from search.engine import SearchEngine
from search.generation.opened import Opened


class Name(NamedTuple):
    """An icon by the key of its set and its name there."""

    set: str
    name: str

    @property
    def key(self) -> str:
        """As people write it: "mdi:home"; the name alone where no set is known."""
        return f"{self.set}:{self.name}" if self.set else self.name


@dataclass(frozen=True, slots=True)
class Candidate:
    """An icon of the target set."""

    name: Name
    id: int
    image: int
    """Id of its picture."""


@dataclass(frozen=True, slots=True)
class IconMapping:
    """One icon, and what stands for it in the target set."""

    source: Name
    image: int | None
    """Id of its picture; None where the library has none, and words alone decided."""
    candidates: Sequence[Candidate]
    """The best first, and those that come next."""
    probability: float
    """That the first is right; 1 where a person chose it."""
    is_doubtful: bool
    is_chosen: bool = False
    """Whether a person chose the first."""

    @property
    def target(self) -> Candidate | None:
        """What stands for it; None where a person said that nothing does."""
        return self.candidates[0] if self.candidates else None

    def chosen(self, candidate: Candidate | None) -> "IconMapping":
        """The same, with what a person chose."""
        others = [one for one in self.candidates if candidate is None or one.name != candidate.name]
        candidates = [candidate, *others] if candidate else []
        return replace(self, candidates=candidates, probability=1.0, is_doubtful=False, is_chosen=True)


@dataclass(frozen=True, slots=True)
class Mapped:
    """Icons, and what stands for each in one set."""

    to: str
    mappings: Sequence[IconMapping]

    @property
    def doubtful(self) -> Sequence[IconMapping]:
        """Those to look at."""
        return [one for one in self.mappings if one.is_doubtful]

    @property
    def without_picture(self) -> Sequence[IconMapping]:
        """Those that words alone decided."""
        return [one for one in self.mappings if one.image is None and not one.is_chosen]


MOST = 20_000
"""Names of one list."""


def names_of_set(engine: SearchEngine, key: str) -> list[Name]:
    """All icons of a set, each drawing once, by the name that stands first.

    Raises:
        IconsError: the library has no such set; the message names near ones.
    """
    side = engine.with_generation(lambda opened: open_side(opened, key))
    firsts = {drawing: row for row, drawing in reversed(list(enumerate(side.drawings.tolist())))}
    return [Name(key, side.rows[row].name) for row in sorted(firsts.values())]


def source_sets(engine: SearchEngine, names: Sequence[str]) -> list[str]:
    """Keys of the sets that icons are of, each once; one that the library lacks may be any of Iconify's.

    Raises:
        IconsError: nobody knows it; the message names near ones.
    """
    keys: list[str] = []
    for name in names:
        try:
            keys += engine.set_keys([name])
        except IconsError:
            if name not in iconify_sets():
                raise
            keys.append(name)
    return list(dict.fromkeys(keys))


def target_set(engine: SearchEngine, name: str) -> str:
    """Key of the one set that stand-ins are looked for in.

    Raises:
        IconsError: it is unknown here, or several sets are meant.
    """
    first, *others = engine.set_keys([name])
    if others:
        raise IconsError(f'"{name}" means several sets: {", ".join([first, *others])}; give one of them')
    return first


_SHOWN = 20
"""Names that no set has, in an error."""


def source_names(engine: SearchEngine, lines: Sequence[str], sets: Sequence[str]) -> list[Name]:
    """The icons that are to be mapped, each once: those of a list, or all of some sets.

    Blank lines and those that begin with # say nothing. A name without a set is of the first of some sets; without
    these it is looked for by its words alone.

    Raises:
        IconsError: there are none, too many, or one is of none of the sets, or none that its set has.
    """
    if sets and not lines:
        return [name for key in sets for name in names_of_set(engine, key)]
    stripped = (line.strip() for line in lines)
    names = list(dict.fromkeys(_read(line, sets) for line in stripped if line and not line.startswith("#")))
    if not names:
        raise IconsError("no name to map; give some, as icons map home --from mdi --to lucide")
    if len(names) > MOST:
        raise IconsError(f"{len(names):,} names to map; give {MOST:,} or fewer")
    known, unknown = KnownIcons(engine), []
    for one in (one for one in names if one.set and known.set(one.set).own):
        if one.name not in known.set(one.set).names and one.name not in known.set(one.set).kept:
            near = known.nearest(Reference(0, 0, "iconify", *one, text=one.key))
            unknown.append(f'{one.set} has no icon "{one.name}"' + (f" (near: {near.text})" if near else ""))
    if unknown:
        rest = f"; and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else ""
        raise IconsError("; ".join(unknown[:_SHOWN]) + rest)
    return names


def _read(line: str, sets: Sequence[str]) -> Name:
    key, colon, name = line.partition(":")
    if colon and sets and key not in sets:
        raise IconsError(f'"{line}" is of "{key}", and --from says "{sets[0]}"; leave --from out')
    return Name(key, name) if colon else Name(sets[0] if sets else "", line)


def map_icons(engine: SearchEngine, sources: Sequence[Name], to: str, *, progress: Progress) -> Mapped:
    """Find for each icon the nearest of a set, by picture and name together.

    What the library has no picture of is looked for by its name alone.

    Raises:
        IconsError: the library has no such target set, or an icon is of the target set already.
    """
    key = target_set(engine, to)
    if any(source.set == key for source in sources):
        raise IconsError(f'"{key}" is both the set that icons are of and the one to look in; give another --to')
    distinct = list(dict.fromkeys(sources))
    return Mapped(key, engine.with_generation(lambda opened: _map(opened, distinct, key, progress)) if distinct else ())


def _map(opened: Opened, sources: Sequence[Name], key: str, progress: Progress) -> list[IconMapping]:
    target = Target(opened, open_side(opened, key))
    found: dict[Name, IconMapping] = {}

    def take(source: Name, image: int | None, best: Best) -> None:
        rows = (target.side.rows[row] for row in best.rows)
        candidates = [Candidate(Name(key, row.name), row.id, row.image_id) for row in rows]
        is_doubtful = best.probability < DOUBTFUL
        found[source] = IconMapping(source, image, candidates, best.probability, is_doubtful=is_doubtful)
        progress("Mapping", len(found), len(sources))

    held = set(opened.facets.labels("set").values)
    for set_key in dict.fromkeys(source.set for source in sources if source.set in held):
        side = open_side(opened, set_key)
        there = [source for source in sources if source.set == set_key and source.name in side.by_name]
        rows = [side.by_name[source.name] for source in there]
        for source, row, one in zip(there, rows, target.compare(side, rows) if rows else (), strict=True):
            best = best_of(evidence_of(one), target.side, BY_BOTH, look=side.own_look(row), name=source.name)
            take(source, side.rows[row].image_id, best)
    unseen = [source for source in sources if source not in found]
    spoken = target.spoken([normalise(source.name) for source in unseen])
    for source, evidence in zip(unseen, spoken, strict=True):
        take(source, None, best_of(evidence, target.side, BY_WORDS, name=source.name))
    return [found[source] for source in sources]


def mapped_json(mapped: Mapped) -> dict[str, Any]:
    """Spell it as one object."""
    icons = [
        {
            "source": one.source.key,
            "target": one.target.name.key if one.target else None,
            "probability": round(one.probability, 3),
            "is_doubtful": one.is_doubtful,
            "is_chosen": one.is_chosen,
            "by": "name" if one.image is None else "picture and name",
            "others": [candidate.name.key for candidate in one.candidates[1:]],
        }
        for one in mapped.mappings
    ]
    counts = {"n_doubtful": len(mapped.doubtful), "n_without_picture": len(mapped.without_picture)}
    return {"to": mapped.to, "icons": icons, **counts}
