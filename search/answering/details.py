"""Icons as hits, one icon, one set: what is known of each."""

import os
import re
from collections.abc import Sequence
from itertools import islice, product
from pathlib import Path

import numpy as np

from indexer.arrays import Ids, Positions
from indexer.errors import UnknownIconError
from indexer.languages.dictionary import Dictionary
from indexer.languages.words import normalise, unprinted
from indexer.sources.records import family
from search.generation.backend import Ability, IconRow, SetFacts, numbered_key
from search.generation.facets import Facets
from search.generation.opened import Opened
from search.generation.snapshot import Snapshot
from search.query import refuse_broken, refuse_late
from search.ranking.features import Rows, rows_of
from search.ranking.order import NAMED, SetPriority, grouped, groups_of, order_of_sets, set_priority
from search.results import MOST_ALSO, Details, Hit, NameRead, SetCard


def others_bearing(opened: Opened, sets: SetPriority, ids: Ids) -> list[Ids]:
    """For each icon those with the same drawing, its variants apart; of the sets that stand best first."""
    facets, alike = opened.facets, opened.facets.alike(ids)
    of_hit = np.repeat(np.arange(len(ids)), [len(some) for some in alike])
    every = np.concatenate([ids[:0], *alike])
    is_other = facets.variants(facets.at(every)) != facets.variants(facets.at(ids))[of_hit]
    every, of_hit = every[is_other], of_hit[is_other]
    order = np.lexsort((*order_of_sets(opened, sets, every), of_hit))
    return np.split(every[order], np.searchsorted(of_hit, np.arange(1, len(ids))))


_NUMBERED = re.compile("#[0-9]+$")


def as_hits(opened: Opened, found: Rows, sets: SetPriority, *, flat: bool) -> list[Hit]:
    """Spell candidates as hits, in their order."""
    ids = found["icon"]
    others = [ids[:0] for _ in ids] if flat else others_bearing(opened, sets, ids)
    also = [some[:MOST_ALSO] for some in others]
    icons = opened.snapshot.candidates(np.concatenate([ids, *also]))
    groups = dict.fromkeys((icon.set_id, icon.name_id) for icon in icons.values())
    variants = opened.snapshot.variants(list(groups)) if groups else {}
    keys = {icon.id: _key(opened, icon, variants[icon.set_id, icon.name_id]) for icon in icons.values()}
    in_order = [icons[icon] for icon in ids.tolist()]
    digests = opened.snapshot.digests([icon.image_id for icon in in_order])
    rows = opened.facets.at(ids)
    is_exact = (groups_of(opened, found["judged"])[0] == groups_of(opened, ids)[0]) & (found["tier"] <= NAMED)
    traits = zip(
        opened.facets.looks(rows),
        rows["coloured"].tolist(),
        rows["animated"].tolist(),
        found["similarity"].tolist(),
        strict=True,
    )
    return [
        Hit(
            id=icon.id,
            key=keys[icon.id],
            image=icon.image_id,
            digest=digests[icon.image_id].hex(),
            name=icon.name,
            words=icon.words,
            set=icon.set,
            set_title=icon.set_title,
            style=style,
            size=icon.size,
            licence=icon.licence,
            licence_family=family(icon.licence),
            coloured=_known(coloured),
            animated=_known(animated),
            path=_file_of(icon),
            member=icon.member,
            score=round(float(found["confidence"][place]), 4),
            similarity=None if np.isnan(similarity) else round(similarity, 4),
            exact=bool(is_exact[place]),
            n_variants=1 if flat else len(variants[icon.set_id, icon.name_id]),
            also=tuple(keys[other] for other in also[place].tolist()),
            n_also=len(others[place]),
        )
        for place, (icon, (style, coloured, animated, similarity)) in enumerate(zip(in_order, traits, strict=True))
    ]


def hits_of(opened: Opened, ids: Ids, *, sets: SetPriority | None = None, flat: bool = False) -> list[Hit]:
    """Spell some icons as hits that nobody looked for: their score is 1."""
    rows = rows_of(ids)
    rows["similarity"], rows["confidence"] = np.nan, 1
    return as_hits(opened, rows, sets or set_priority(opened, ()), flat=flat)


def _key(opened: Opened, icon: IconRow, variants: Sequence[tuple[int, str]]) -> str:
    """Spell what comes back to this icon: its set and name, and its id where another one comes first by these."""
    first = next(other for other, name in variants if name == icon.name)
    is_first = first == icon.id and icon.set_id not in opened.snapshot.second_sets
    is_plain = ":" not in icon.set + icon.name and not _NUMBERED.search(icon.name)  # falls apart in one way alone
    return f"{icon.set}:{icon.name}" if is_first and is_plain else numbered_key(icon.set, icon.name, icon.id)


def _known(trait: int) -> bool | None:
    return None if trait < 0 else bool(trait)


def _file_of(icon: IconRow) -> str:
    """Where the file lies that holds an icon; paths in a manifest are relative to the manifest's folder."""
    if icon.kind == "manifest":
        from indexer.sources.folders import path_of_row  # the other kinds need none of all that this imports

        return str(Path(icon.location).parent / path_of_row(icon.path))
    return os.path.join(icon.location, icon.path) if icon.path else icon.location  # noqa: PTH118 - ten times as quick


MOST_SHOWN = 200
"""Variants, and equal drawings, of one icon."""
_ID = re.compile("(?:^|#)([0-9]{1,18})$")


def find_icon(opened: Opened, spelling: str) -> int:
    """Find an icon by its key ("mdi:home", "mdi:home#123"), its name ("home") as it is or as it is printed, or its id.

    The set of a key may be called as code calls it: "lucide:house" is found where the set is "lucide-static".

    Raises:
        UnknownIconError: there is none; the message names near ones.
        IconsError: it is no Unicode text.
    """
    refuse_broken(spelling)
    snapshot = opened.snapshot
    called, _, name = spelling.strip().partition(":")
    of_sets = opened.facets.labels("set").in_code(called) if name else ()  # what code calls otherwise, by its own key
    as_typed = (spelling, spelling.strip(), unprinted(spelling), *(f"{key}:{name}" for key in of_sets))
    for find, spelt in product((_exactly, _by_words), dict.fromkeys(as_typed)):
        if (found := find(snapshot, spelt)) is not None:
            return int(found)
    near = snapshot.keys_near(spelling.strip())
    hint = f"near: {', '.join(near)}" if near else "`icons search` finds one by words"
    raise UnknownIconError(f'no icon "{spelling}" in this library; {hint}')


def _exactly(snapshot: Snapshot, spelling: str) -> int | None:
    """A key names one icon; a name that is spelt so comes before an id."""
    number = _ID.search(spelling)
    own = int(number[1]) if number else None
    key = None if own is None else snapshot.key_of(own)
    if key == spelling:
        return own
    if (found := snapshot.with_key(spelling, as_words=False)) is not None:
        return found
    if (found := snapshot.spelt(spelling)) is not None:
        return found
    return own if key and number and spelling == number[1] else None


def _by_words(snapshot: Snapshot, spelling: str) -> int | None:
    """A key or a name in any spelling."""
    if (found := snapshot.with_key(spelling, as_words=True)) is not None:
        return found
    named = snapshot.named(normalise(spelling))
    return int(named.min()) if len(named) else None


def show_icon(opened: Opened, icon: int) -> Details:
    """Tell everything that a library knows of one icon.

    Raises:
        UnknownIconError: no icon has this id.
    """
    found = opened.snapshot.icon(icon)
    variants = opened.snapshot.variants_of(found.set_id, found.name_id)
    [alike] = opened.facets.alike(np.array([icon]))
    reading = opened.snapshot.reading_of(found.name_id)
    languages = Dictionary.bundled().languages if reading else {}
    return Details(
        hit=hits_of(opened, np.array([icon]))[0],
        name_read=reading and NameRead(reading[0], languages.get(reading[0], reading[0]), *reading[1:]),
        **opened.snapshot.facts(icon),
        variants=hits_of(opened, variants[variants != icon][:MOST_SHOWN]),
        near_duplicates=hits_of(opened, np.setdiff1d(alike, variants)[:MOST_SHOWN]),
    )


N_SAMPLED = 8
"""Icons of a set's sample."""
MEANINGS = (
    ("home", "house"),
    ("user", "account", "person"),
    ("heart", "favorite", "love"),
    ("settings", "cog", "gear", "setting"),
    ("search", "magnify", "magnifier", "magnifying glass"),
    ("bell", "notification", "notifications"),
    ("star",),
    ("mail", "email", "envelope"),
    ("camera",),
    ("calendar",),
    ("lock",),
    ("cloud",),
    ("trash", "delete", "trash can", "bin"),
    ("phone", "call"),
    ("download",),
    ("play",),
)
"""What most sets draw, under its usual names: the same things beside each other show how sets differ."""
_LEAST_SHARE = 0.05
"""Of a set's icons, that have a style or a category which its card names."""
_MOST_CATEGORIES = 5
_SPREAD = 4
"""Times as many icons are looked at where names say nothing: some have the same drawing."""


def set_cards(opened: Opened) -> list[SetCard]:
    """Tell of every set, by key."""
    facts = opened.facets.precomputed_sets()
    if facts is None:
        facts = set_facts(opened, opened.in_memory(Ability.SET_CARDS))
    about = {row.key: row for row in opened.snapshot.sets()}
    shown = iter(hits_of(opened, np.array([icon for one in facts for icon in one.sample], np.int64), flat=True))
    return [
        SetCard(
            key=one.key,
            title=about[one.key].title,
            n=one.n,
            licence=about[one.key].licence,
            licence_family=family(about[one.key].licence),
            styles=one.styles,
            categories=one.categories,
            version=about[one.key].version,
            author=about[one.key].author,
            newest=one.newest,
            sample=list(islice(shown, len(one.sample))),
        )
        for one in facts
    ]


def set_facts(opened: Opened, facets: Facets) -> list[SetFacts]:
    """Look through all icons of every set, by key."""
    values, of_sets = facets.labels("set").values, facets.column("set")
    order = np.argsort(of_sets, kind="stable")
    rows_of = np.split(order, np.searchsorted(of_sets[order], np.arange(1, len(values))))[: len(values)]
    called = [[facets.positions(np.sort(opened.snapshot.named(name))) for name in names] for names in MEANINGS]
    usual = [np.concatenate(rows) for rows in called]  # of the first name of a meaning first
    return [
        _facts(facets, key, rows, _sample(opened, facets, rows, usual))
        for key, rows in zip(values, rows_of, strict=True)
    ]


def _facts(facets: Facets, key: str, rows: Positions, sample: Ids) -> SetFacts:
    refuse_late()
    ids = facets.column("icon")[rows]
    counts = facets.count(ids, kinds=("style", "category"))
    often = {
        kind: tuple(one.value for one in found if one.n >= _LEAST_SHARE * len(rows)) for kind, found in counts.items()
    }
    return SetFacts(
        key=key,
        n=len(rows),
        styles=often["style"],
        categories=often["category"][:_MOST_CATEGORIES],
        newest=int(ids.max()),
        sample=tuple(sample.tolist()),
    )


def _sample(opened: Opened, facets: Facets, rows: Positions, usual: Sequence[Positions]) -> Ids:
    """Ids of icons that show what a set is like: of usual meanings, then evenly spread; no drawing comes twice."""
    looks, sets = facets.column("look"), facets.column("set")
    values, counts = np.unique(looks[rows], return_counts=True)
    look = values[counts.argmax()]
    typical = rows[looks[rows] == look]
    meant = [named[sets[named] == sets[rows[0]]] for named in usual]
    firsts = [named[np.argsort(looks[named] != look, kind="stable")][:1] for named in meant]
    spread = typical[np.linspace(0, len(typical) - 1, min(len(typical), _SPREAD * N_SAMPLED)).astype(np.int64)]
    ids = facets.column("icon")[np.concatenate([*firsts, spread, rows[:N_SAMPLED]])]
    return np.asarray(ids[grouped(opened, ids, flat=False)[:N_SAMPLED]])
