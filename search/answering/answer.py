"""Answers: hits of a query or icons that are browsed, why each stands where it does; one icon, one set."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice, product
from pathlib import Path
from typing import cast

import numpy as np

from indexer.arrays import Ids, Positions
from indexer.errors import IconsError, UnknownIconError, UnsupportedError
from indexer.languages.dictionary import Dictionary
from indexer.languages.words import normalise, normalise_tag, stated_look, unprinted
from indexer.merging.browsing import first_of_groups, hits_among
from indexer.sources.records import family
from search.generation.backend import Ability, Arranged, IconRow, SetFacts, numbered_key
from search.generation.facets import Facets
from search.generation.opened import Opened
from search.generation.snapshot import Snapshot
from search.query import (
    MOST_ALSO,
    MOST_COUNTED,
    MOST_HITS,
    Answer,
    Details,
    Explanation,
    FacetCount,
    Filters,
    Hit,
    Judged,
    NameRead,
    Query,
    ReadAs,
    ReadWord,
    SetCard,
    Sort,
    Window,
    refuse_broken,
    refuse_late,
)
from search.ranking import weights
from search.ranking.features import SIGNALS, Rows, rows_of
from search.ranking.order import (
    NAMED,
    TIERS,
    SetPriority,
    grouped,
    groups_of,
    order_of_sets,
    set_priority,
)
from search.ranking.parsing import ParsedQuery
from search.ranking.results import Results
from search.ranking.retrieve import Question, question_of


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
_KNOWN = (False, True, None)
"""What the codes 0, 1 and -1 say of a trait."""


def as_hits(opened: Opened, found: Rows, sets: SetPriority, *, flat: bool) -> list[Hit]:
    """Spell candidates as hits, in their order."""
    ids = found["icon"]
    others = [ids[:0] for _ in ids] if flat else others_bearing(opened, sets, ids)
    also = [some[:MOST_ALSO] for some in others]
    icons = opened.snapshot.candidates(np.concatenate([ids, *also]))
    variants = opened.snapshot.variants(list(dict.fromkeys((icon.set_id, icon.name_id) for icon in icons.values())))
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
            coloured=_KNOWN[coloured],
            animated=_KNOWN[animated],
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
    facts = opened.facets.published_sets()
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


def answer(opened: Opened, query: Query, filters: Filters, window: Window) -> Answer:
    """Answer a query from one generation; errors as `SearchEngine.ask`."""
    if query.is_empty:
        return _browse(opened, query.prefer or (), filters, window)
    window.refuse_deep()
    question = question_of(opened, query)
    results, parsed = Results(question, filters, window), question.parsed
    hits = _in_order(results, question, window, window.offset + window.k)
    return Answer(
        hits=as_hits(opened, hits[window.offset : window.offset + window.k], question.sets, flat=window.flat),
        n_found=results.n,
        is_more=results.is_more,
        facets=results.count() if window.facets else None,
        spelled=parsed.wording.spelled if parsed else None,
        read_as=_read_as(parsed),
        is_doubtful=_is_doubtful(question, results.hits[:1]),
    )


def _read_as(parsed: ParsedQuery | None) -> ReadAs | None:
    """How a query in another language was read."""
    if parsed is None or (reading := parsed.reading) is None:
        return None
    words = (ReadWord(piece.text, tuple(term for term, _ in piece.terms)) for piece in reading.pieces)
    name = Dictionary.bundled().languages[reading.language]
    return ReadAs(reading.language, name, reading.english, reading.is_english_too, tuple(words))


def _is_doubtful(question: Question, best: Rows) -> bool:
    """Whether the best hit is no good one, is what is to be left out, or lacks the look that is asked for."""
    look = stated_look(question.parsed.wording.style) if question.parsed else None
    lacks_look = look is not None and not question.opened.facets.in_style(best["icon"], look).all()
    return lacks_look or bool(((best["confidence"] < weights.GOOD_SCORE) | (best["left out"] == 1)).any())


def _in_order(results: Results, question: Question, window: Window, n: int) -> Rows:
    """The first `n` hits as they are shown, or more; by relevance no hit has a better score than one before it."""
    opened = question.opened
    if window.sort != "relevance":
        hits = results.at_least(MOST_COUNTED)[:MOST_COUNTED]
        hits = hits[np.argsort(hits["icon"])]
        return hits[opened.facets.in_order(opened.facets.at(hits["icon"]), window.sort)]
    hits = results.at_least(n)
    hits["confidence"] = np.minimum.accumulate(hits["confidence"])
    return hits


Counts = dict[str, list[FacetCount]]


def _browse(opened: Opened, prefer: tuple[str, ...], filters: Filters, window: Window) -> Answer:
    """Show the icons that the filters leave, by set and name if nothing else is asked.

    Raises:
        UnsupportedError: the window lies beyond those that the engine has put in order.
    """
    sort = "set" if window.sort == "relevance" else window.sort
    asked = (filters, sort, window.flat)
    if filters == Filters():
        hits, n_found = opened.facets.browsed(sort, flat=window.flat)
        if len(hits) < min(n_found, window.offset + window.k):
            opened.engine.require(Ability.SORTED_LIBRARY)
    else:
        hits = cast(Arranged, _remembered(opened, "arranged", _arrange)(*asked))
        n_found = len(hits)
    shown = hits[window.offset : window.offset + window.k].astype(np.int64)
    return Answer(
        hits=hits_of(opened, shown, sets=set_priority(opened, prefer), flat=window.flat),
        n_found=n_found,
        is_more=False,
        facets=cast(Counts, _remembered(opened, "counted", _count)(*asked)) if window.facets else None,
        spelled=None,
        read_as=None,
        is_doubtful=False,
    )


def _remembered(opened: Opened, name: str, make: Callable[..., object], *, most: int = 8) -> Callable[..., object]:
    """The last answers of a function of this generation: who turns pages asks for the same one again."""
    return cast(Callable[..., object], opened.facets.keep(name, lambda: lru_cache(maxsize=most)(partial(make, opened))))


def _arrange(opened: Opened, filters: Filters, sort: Sort, flat: bool) -> Arranged:
    """Ids of all hits; one stands for its variants and equal drawings, the cleanest, then the first in this order."""
    ids = _ordered(opened, filters, sort)
    rows = opened.facets.at(ids)
    chosen = slice(None) if flat else hits_among(rows, opened.facets.variants(rows))
    return cast(Arranged, ids[chosen].astype(np.int32))


def _count(opened: Opened, filters: Filters, sort: Sort, flat: bool) -> Counts:
    """How many hits each value of a filter would leave: which icons are one hit is decided in the same order."""
    if filters == Filters():
        return opened.facets.count_all("flat" if flat else sort)
    ids = _ordered(opened, filters, sort)
    return opened.facets.count(ids, choose=None if flat else first_of_groups(*groups_of(opened, ids)))


def _ordered(opened: Opened, filters: Filters, sort: Sort) -> Ids:
    """Ids of the icons that the filters leave: kept, since hits are counted once they are shown."""
    return cast(Ids, _remembered(opened, "ordered", _put_in_order, most=1)(filters, sort))


def _put_in_order(opened: Opened, filters: Filters, sort: Sort) -> Ids:
    refuse_late()
    ids = opened.facets.every(opened.facets.select(filters))
    return ids[opened.facets.in_order(opened.facets.at(ids), sort)]


def explain(opened: Opened, query: Query, icon: int, filters: Filters, window: Window) -> Explanation:
    """Tell what a query of words makes of an icon, whether it finds it or not.

    Raises:
        IconsError: the query holds a picture or keywords, or no words.
        UnknownIconError: no icon has this id.
    """
    opened.snapshot.icon(icon)
    question = question_of(opened, query)
    if (parsed := question.parsed) is None or question.look is not None:
        raise IconsError("only a query of words alone can be explained")
    results = Results(question, filters, window)
    rows = results.judged(np.append(opened.facets.alike(np.array([icon]))[0], icon))
    sought = rows["icon"][results.are_hits(rows)]  # a preferred set's icon is shown where one with its drawing stands
    with suppress(UnsupportedError):  # it may lie deeper than the engine looks
        while window.sort == "relevance" and not results.have_seen(sought) and len(results.hits) < MOST_HITS:
            results.at_least(len(results.hits) + 1)
    hits = _in_order(results, question, window, 1)
    wording, judged = parsed.wording, _judge(question, results, hits, icon)
    return Explanation(
        typed=wording.typed,
        name=wording.name,
        style=wording.style,
        parts=wording.parts,
        drawn=wording.drawn,
        synonyms=tuple(name for name, _ in wording.synonyms),
        without=question.avoided.words,
        spelled=wording.spelled,
        read_as=_read_as(parsed),
        icon=judged,
        first=_judge(question, results, hits, int(hits["icon"][0])) if len(hits) else None,
        shown=judged.shown,
    )


def _judge(question: Question, results: Results, hits: Rows, icon: int) -> Judged:
    """What is known of an icon, and where it stands among the hits."""
    opened, row = question.opened, results.judged(np.array([icon]))
    known, vector = opened.snapshot.icon(icon), question.parsed.vector if question.parsed else row["vectors"]
    [name] = opened.encoder.encode_many_words((known.words,))
    [picture] = opened.pictures.reconstruct(np.array([known.image_id]))
    cosines = {"picture": float(picture @ vector), "name": float(name @ vector)}
    if tags := tuple(filter(None, dict.fromkeys(map(normalise_tag, opened.snapshot.facts(icon)["tags"])))):
        mean = opened.encoder.encode_many_words(tags).mean(axis=0)
        cosines["tags"] = float(mean @ vector / np.linalg.norm(mean))
    cosines["fused"] = float(row["vectors"][0])
    places = np.flatnonzero(hits["icon"] == icon)
    own = {"vectors": 1 / opened.manifest.calibration.unit, **SIGNALS}
    features = {name: float(row[name][0]) for name in own}
    [hit] = as_hits(opened, hits[places] if len(places) else row, question.sets, flat=False)
    is_hit = len(places) > 0 or bool(results.are_hits(row)[0])
    place, shown = _place(opened, icon, hits, flat=results.is_flat) if is_hit else (None, _kept_out(results, row))
    return Judged(
        hit=hit,
        rank=int(places[0]) + 1 if len(places) else None,
        place=place,
        shown=shown,
        tier=TIERS[row["tier"][0]],
        cosines={arm: round(value, 4) for arm, value in cosines.items()},
        features={name: round(value, 4) + 0.0 for name, value in features.items()},  # 0 is no -0
        weights={name: round(weight, 4) for name, weight in own.items()},
        evidence={name: round(value * own[name], 3) + 0.0 for name, value in features.items()},
    )


def _place(opened: Opened, icon: int, hits: Rows, *, flat: bool) -> tuple[int | None, str]:
    """The place of the hit that shows an icon, and how: itself, in the place of another, or one that stands for it."""
    groups = groups_of(opened, np.array([icon]))
    shown, judged = (groups_of(opened, hits[name]) for name in ("icon", "judged"))
    for place in np.flatnonzero(hits["icon"] == icon).tolist():
        if hits["judged"][place] == icon:
            return place + 1, "a hit"
        how = "its variant" if judged[0][place] == groups[0] else "which has its drawing, in a set that comes later"
        return place + 1, f"a hit, in the place of {hits_of(opened, hits['judged'][[place]])[0].key}, {how}"
    # Where a preferred set's icon is shown, that one and the one in whose place it is stand for their variants.
    is_variant = (shown[0] == groups[0]) | (judged[0] == groups[0])
    for place in () if flat else np.flatnonzero(is_variant | (shown[1] == groups[1]))[:1].tolist():
        how = "its variant" if is_variant[place] else "which has its drawing"
        key = hits_of(opened, hits["icon"][[place]])[0].key
        return place + 1, f"no hit of its own: {key}, {how}, stands for it as number {place + 1}"
    return None, f"a hit, behind the first {len(hits):,}"


def _kept_out(results: Results, row: Rows) -> str:
    """Say what keeps an icon from being a hit: filters, what is to be left out, its score."""
    cutoff, score = results.cutoff, row["score"][0]
    is_low, is_empty, fits = score < cutoff.least, np.isinf(cutoff.least), results.may_answer(row["icon"])[0]
    reasons = {
        "the filters leave it out": not fits,
        "it is what is to be left out": is_low and row["left out"][0] > 0,
        f"no icon has a score of {weights.LEAST_SCORE}, the best one has {cutoff.best:.3f}": is_low
        and is_empty
        and fits,
        f"its score {score:.3f} is below {cutoff.least:.3f}": is_low and not is_empty,
    }
    return f"not a hit: {', and '.join(reason for reason, is_so in reasons.items() if is_so)}"
