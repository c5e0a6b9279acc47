"""Icons of some sets -> the nearest of another: `map_icons(engine, [Name("mdi", "home")], "lucide")`.

A mapping can be looked at and corrected, as CSV or as one HTML page. A row is an icon and what stands for it. One that
is marked doubtful stays so; one whose mark was taken away, or whose target is another than was proposed, is what a
person chose. An empty target says that nothing stands for it.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indexer.errors import IconsError
from indexer.languages.words import first_few, normalise, printable
from indexer.library.bundled import bundled
from indexer.library.named import read_list, text_of
from indexer.reports.terminal import Progress
from search.code.compare import BY_BOTH, BY_WORDS, DOUBTFUL, Target, best_of, open_side
from search.code.known import KnownIcons
from search.code.names import Reference
from search.drawings.frameworks import iconify_sets
from search.engine import SearchEngine
from search.generation.opened import Opened
from search.showing.sheets import data_uri, script_digest, shown


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
        return replace(
            self,
            candidates=([candidate, *others] if candidate else []),
            probability=1.0,
            is_doubtful=False,
            is_chosen=True,
        )


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
    return [Name(key, side.rows[row].name) for row in sorted(np.unique(side.drawings, return_index=True)[1])]


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


def source_names(engine: SearchEngine, lines: Sequence[str], sets: Sequence[str]) -> list[Name]:
    """The icons that are to be mapped, each once: those of a list, or all of some sets.

    Blank lines and what stands behind # say nothing. A name without a set is of the first of some sets; without
    these it is looked for by its words alone.

    Raises:
        IconsError: there are none, too many, or one is of none of the sets, or none that its set has.
    """
    if sets and not lines:
        return [name for key in sets for name in names_of_set(engine, key)]
    stripped = dict.fromkeys(line.partition(" #")[0].strip() for line in lines)
    names = list(dict.fromkeys(_read(line, sets) for line in stripped if line and not line.startswith("#")))
    if not names:
        raise IconsError("no name to map; give some, as icons map home --from mdi --to lucide")
    if len(names) > MOST:
        raise IconsError(f"{len(names):,} names to map; give {MOST:,} or fewer")
    known, unknown = KnownIcons(engine), []
    here = ((one, known.set(one.set)) for one in names if one.set and known.set(one.set).own)
    for one in (one for one, held in here if one.name not in held.names and one.name not in held.kept):
        near = known.nearest(Reference(0, 0, "iconify", *one, text=one.key))
        unknown.append(f'{one.set} has no icon "{one.name}"' + (f" (near: {near.text})" if near else ""))
    if unknown:
        raise IconsError(first_few(unknown, most=20, between="; "))
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

    def take(source: Name, image: int | None, rows: Sequence[int], probability: float) -> None:
        icons = [target.side.rows[row] for row in rows]
        candidates = [Candidate(Name(key, icon.name), icon.id, icon.image_id) for icon in icons]
        found[source] = IconMapping(source, image, candidates, probability, is_doubtful=probability < DOUBTFUL)
        progress("Mapping", len(found), len(sources))

    held = set(opened.facets.labels("set").values)
    for set_key in dict.fromkeys(source.set for source in sources if source.set in held):
        side = open_side(opened, set_key)
        there = [source for source in sources if source.set == set_key and source.name in side.by_name]
        rows = [side.by_name[source.name] for source in there]
        for source, row, evidence in zip(there, rows, target.compare(side, rows) if rows else (), strict=True):
            best = best_of(evidence, target.side, BY_BOTH, look=side.own_look(row), name=source.name)
            take(source, side.rows[row].image_id, *best)
    unseen = [source for source in sources if source not in found]
    for source, words in zip(unseen, target.spoken([normalise(source.name) for source in unseen]), strict=True):
        take(source, None, *best_of(words, target.side, BY_WORDS, name=source.name))
    return [found[source] for source in sources]


def mapped_json(mapped: Mapped) -> dict[str, Any]:
    """Spell it as one object."""
    return {
        "to": mapped.to,
        "icons": list(map(_mapping_json, mapped.mappings)),
        "n_doubtful": len(mapped.doubtful),
        "n_without_picture": len(mapped.without_picture),
    }


def _mapping_json(one: IconMapping) -> dict[str, Any]:
    return {
        "source": one.source.key,
        "target": one.target.name.key if one.target else None,
        "probability": round(one.probability, 3),
        "is_doubtful": one.is_doubtful,
        "is_chosen": one.is_chosen,
        "by": "name" if one.image is None else "picture and name",
        "others": [candidate.name.key for candidate in one.candidates[1:]],
    }


COLUMNS = ("source", "target", "probability", "doubtful", "others")
MOST_BYTES = 8_000_000
"""Of a file that is read."""
_YES = "yes"


class Choice(NamedTuple):
    """What a file says of one icon."""

    target: str
    """Key; "" for nothing."""
    is_doubtful: bool


def to_csv(mapped: Mapped) -> str:
    """Write a mapping as CSV."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in mapped.mappings:
        target, *others = [candidate.name.key for candidate in one.candidates] or [""]
        # No program that opens the file takes a name for a formula.
        keys = [re.sub(r"\A(?=[=+@\t-])", "'", printable(key)) for key in (one.source.key, target, " ".join(others))]
        rows.writerow([*keys[:2], f"{one.probability:.2f}", _YES if one.is_doubtful else "", keys[2]])
    return written.getvalue()


def read_choices(path: Path) -> Mapping[str, Choice]:
    """Read a file that was written so, by the keys of its icons.

    Raises:
        SourceError: it can't be read, or lacks a column.
    """
    rows = read_list(path, COLUMNS[:4], needed=COLUMNS[:2], limit=MOST_BYTES, hint="; `icons map --csv` writes a list")
    cells = ([(text_of(row.get(column)) or "").removeprefix("'") for column in COLUMNS[:4]] for _, row in rows)
    return {source: Choice(target, is_doubtful=doubt.lower() == _YES) for source, target, _, doubt in cells}


def choose(engine: SearchEngine, mapped: Mapped, choices: Mapping[str, Choice]) -> Mapped:
    """Put what a file says in the place of what was found; icons that it does not name stay as they are.

    Raises:
        IconsError: it names a target that the library does not have, or one of another set.
    """
    mappings = []
    for one in mapped.mappings:
        choice = choices.get(one.source.key)
        if choice is None or (choice.is_doubtful and one.target and one.target.name.key == choice.target):
            mappings.append(one)
        elif not choice.target:
            mappings.append(one.chosen(None))
        else:
            hit = engine.show(
                engine.find(choice.target if ":" in choice.target else f"{mapped.to}:{choice.target}")
            ).hit
            if hit.set != mapped.to:
                raise IconsError(
                    f'"{choice.target}" is of "{hit.set}", and stand-ins are of "{mapped.to}"; choose one of these'
                )
            mappings.append(one.chosen(Candidate(Name(hit.set, hit.name), hit.id, hit.image)))
    return replace(mapped, mappings=mappings)


_ROW = """<li class="{kind}" data-source="{key}" data-probability="{probability:.2f}"><fieldset aria-label="{key}">
<span class="source">{picture}{name}</span><span class="candidates">{candidates}</span>
<span class="sure"><span>{sure}</span></span></fieldset></li>"""
_CANDIDATE = """<label><input type="radio" name="{group}" value="{key}"{checked}>{picture}{name}</label>"""


def mapping_page(mapped: Mapped, pictures_of: Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]) -> bytes:
    """Lay a mapping out as a page; `pictures_of` reads pictures by their ids, as far as they can be read."""
    ordered = sorted(mapped.mappings, key=lambda one: (not one.is_doubtful, one.probability if one.is_doubtful else 0))
    sets = ", ".join(dict.fromkeys(one.source.set for one in mapped.mappings if one.source.set)) or "names"
    images = {candidate.image for one in ordered for candidate in one.candidates}
    pictures = dict(pictures_of(sorted(images | {one.image for one in ordered if one.image is not None})))
    page = bundled("references/mapping.html").read_text("utf-8")
    script = page.partition("<script>")[2].partition("</script>")[0]
    values = {
        "digest": script_digest(script),
        "title": shown(f"{sets} to {mapped.to}"),
        "n": f"{len(ordered):,}",
        "n_doubtful": str(len(mapped.doubtful)),
        "rows": "\n".join(_row(number, one, pictures) for number, one in enumerate(ordered)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], page).encode()


def _row(number: int, one: IconMapping, pictures: Mapping[int, bytes]) -> str:
    by = "" if one.image is not None or one.is_chosen else "<br>by name alone"
    candidates = (
        _CANDIDATE.format(
            group=f"g{number}",
            key=shown(candidate.name.key) if candidate else "",
            name=shown(candidate.name.name) if candidate else "none",
            picture=_picture(candidate.image, pictures) if candidate else '<span class="picture">&#8709;</span>',
            checked=" checked" if place == 0 else "",
        )
        for place, candidate in enumerate([*one.candidates, None])
    )
    return _ROW.format(
        kind="doubtful" if one.is_doubtful else "chosen" if one.is_chosen else "sure-of",
        key=shown(one.source.key),
        name=shown(one.source.name),
        probability=one.probability,
        picture=_picture(one.image, pictures),
        candidates="".join(candidates),
        sure=f"{'doubtful ' if one.is_doubtful else ''}{one.probability:.0%}{by}",
    )


def _picture(image: int | None, pictures: Mapping[int, bytes]) -> str:
    content = None if image is None else pictures.get(image)
    drawn = f'<img alt="" loading="lazy" src="{data_uri(content)}">' if content is not None else "?"
    return f'<span class="picture">{drawn}</span>'
