"""Icons of some sets -> the nearest of another: `map_icons(engine, [Name("mdi", "home")], "lucide")`."""

from collections.abc import Iterator, Sequence

from indexer.errors import IconsError
from indexer.naming.names import normalise
from indexer.reports.bars import Progress
from search.engine import SearchEngine
from search.generation.opened import Opened
from search.mapping.compare import Target
from search.mapping.judge import BY_BOTH, BY_WORDS, DOUBTFUL, Best, best_of, evidence_of
from search.mapping.mapped import Candidate, Mapped, Mapping, Name
from search.mapping.needs import read_names
from search.mapping.sides import Side, open_side
from search.snippets.keys import iconify_sets

_TITLE = "Mapping"


def names_of_set(engine: SearchEngine, key: str) -> list[Name]:
    """All icons of a set, each drawing once, by the name that stands first.

    Raises:
        IconsError: the library has no such set; the message names near ones.
    """
    side = engine.put(lambda opened: open_side(opened, key))
    firsts = {drawing: row for row, drawing in reversed(list(enumerate(side.drawings.tolist())))}
    return [Name(key, side.rows[row].name) for row in sorted(firsts.values())]


def source_sets(engine: SearchEngine, told: Sequence[str]) -> list[str]:
    """Keys of the sets that icons are of, each once; one that the library lacks may be any of Iconify's.

    Raises:
        IconsError: nobody knows it; the message names near ones.
    """
    return list(dict.fromkeys(key for one in told for key in _keys(engine, one)))


def _keys(engine: SearchEngine, told: str) -> Sequence[str]:
    try:
        return engine.set_keys([told])
    except IconsError:
        if told in iconify_sets():
            return [told]
        raise


def target_set(engine: SearchEngine, told: str) -> str:
    """Key of the one set that stand-ins are looked for in.

    Raises:
        IconsError: it is unknown here, or several sets are meant.
    """
    first, *others = engine.set_keys([told])
    if others:
        raise IconsError(f'"{told}" means several sets: {", ".join([first, *others])}; give one of them')
    return first


def source_names(engine: SearchEngine, told: Sequence[str], sets: Sequence[str]) -> list[Name]:
    """The icons that are to be mapped: those of a list, or all of some sets.

    Raises:
        IconsError: neither a name nor a set is given, or a set has no icons here.
    """
    if told or not sets:
        return read_names(told, sets)
    return [name for key in sets for name in names_of_set(engine, key)]


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
    return Mapped(key, engine.put(lambda opened: _map(opened, distinct, key, progress)))


def _map(opened: Opened, sources: Sequence[Name], key: str, progress: Progress) -> list[Mapping]:
    target = Target(opened, open_side(opened, key))
    found: dict[Name, Mapping] = {}
    held = set(opened.facets.labels("set").values)
    for set_key in dict.fromkeys(source.set for source in sources):
        if set_key in held:
            side = open_side(opened, set_key)
            wanted = {source: row for source in sources if (row := _row(side, source)) is not None}
            for mapping in _seen(target, side, wanted):
                found[mapping.source] = mapping
                progress(_TITLE, len(found), len(sources))
    for mapping in _unseen(target, [source for source in sources if source not in found]):
        found[mapping.source] = mapping
        progress(_TITLE, len(found), len(sources))
    return [found[source] for source in sources]


def _row(side: Side, source: Name) -> int | None:
    return side.by_name.get(source.name) if source.set == side.set else None


def _seen(target: Target, side: Side, wanted: dict[Name, int]) -> Iterator[Mapping]:
    """Map what there are pictures of."""
    if not wanted:
        return
    target.ready_for(side)
    compared = target.compare(side, list(wanted.values()))
    for (source, row), one in zip(wanted.items(), compared, strict=True):
        best = best_of(evidence_of(one), target.side, BY_BOTH, look=side.own_look(row), name=source.name)
        yield _mapping(source, side.rows[row].image_id, target.side, best)


def _unseen(target: Target, sources: Sequence[Name]) -> Iterator[Mapping]:
    """Map what there are names of alone."""
    if not sources:
        return
    spoken = target.spoken([normalise(source.name) for source in sources])
    for source, evidence in zip(sources, spoken, strict=True):
        yield _mapping(source, None, target.side, best_of(evidence, target.side, BY_WORDS, name=source.name))


def _mapping(source: Name, image: int | None, side: Side, best: Best) -> Mapping:
    rows = (side.rows[row] for row in best.rows)
    candidates = [Candidate(Name(side.set, row.name), row.id, row.image_id) for row in rows]
    return Mapping(source, image, candidates, best.probability, is_doubtful=best.probability < DOUBTFUL)
