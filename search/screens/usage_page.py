"""Where icons are used in screenshots, shown: a report of sets and doubles, a page of uses."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from indexer.arrays import Floats, Ids, grouped, in_chunks
from indexer.languages.words import counted, printable
from indexer.reports.figures import Html, page, section, table_html
from indexer.reports.terminal import Progress, open_console, table_of
from search.engine import SearchEngine
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.query import Filters
from search.ranking import weights
from search.screens.opened import Shot, UsageIndex, read_shots
from search.screens.results import Use, Uses
from search.showing.sheets import data_uri, shown

Origin = Literal["ours", "foreign", "unknown"]
LEAST_SURE = 0.5
_NEAREST = 24
"""Pictures of the whole library that are looked at for each drawing."""
_AT_ONCE = 1_024
"""Drawings."""


class Named(NamedTuple):
    """What a drawing is taken for."""

    drawing: int
    origin: Origin
    icon: int
    """Id of the icon that it is most like: of our set where it is ours, else of the library."""
    score: float
    """How sure that is."""
    ours: int
    """Id of the icon of our set that it is most like, and so may be replaced by."""
    variant: int
    """Of the icon: a number that all variants of it share."""
    meaning: str
    """By the names of what it is like in all sets."""


class _Namer:
    """Judges drawings by their likeness with the pictures of some sets, which are ours, and with all others."""

    def __init__(self, index: UsageIndex, opened: Opened, sets: Sequence[str]) -> None:
        index.refuse_other_encoder(opened)
        self.index = index
        self.opened = opened
        self.facets = facets = opened.in_memory(Ability.USAGE)
        icons = facets.every(facets.select(Filters(sets=tuple(sets))))
        images, first = np.unique(opened.facets.at(icons)["image"], return_index=True)
        self.ours: Ids = icons[first]
        """Icons of ours, one a picture."""
        self.vectors = opened.pictures.reconstruct(images)
        """Of their pictures."""
        self.drawings = np.unique(facets.at(icons)["drawing"])
        self.order = np.argsort(facets.column("image"), kind="stable")
        """Rows of all icons by their pictures."""
        self.words = opened.snapshot.all_words()

    def name(self, drawings: Ids) -> Iterator[Named]:
        """Tell what each drawing is taken for."""
        vectors, same, facets = self.index.vectors(drawings), self.index.manifest.same, self.facets
        cosines = vectors @ self.vectors.T
        best = cosines.argmax(axis=1)
        likes = self.ours[best].tolist()
        nears = self.opened.pictures.search_many(vectors, k=_NEAREST)
        images, every = facets.column("image")[self.order], facets.column("icon")
        shown = [np.asarray(every[self.order[np.searchsorted(images, near.ids)]], np.int64) for near in nears]
        are_foreign = [~np.isin(facets.at(icons)["drawing"], self.drawings) for icons in shown]
        others = [next(iter(near.scores[foreign]), -1.0) for near, foreign in zip(nears, are_foreign, strict=True)]
        own = cosines[np.arange(len(cosines)), best]
        is_ours = self.index.is_icon(own, np.array(others, np.float32), expected=weights.PREFERRED)
        known = same.known.scores(np.array([near.scores[0] for near in nears], np.float32))
        are_own = (is_ours >= LEAST_SURE).tolist()
        icons = [like if is_own else int(found[0]) for like, is_own, found in zip(likes, are_own, shown, strict=True)]
        variants = self.opened.facets.variants(facets.at(np.array(icons, np.int64)))
        for row, drawing in enumerate(drawings.tolist()):
            yield Named(
                drawing,
                origin="ours" if are_own[row] else "foreign" if known[row] >= LEAST_SURE else "unknown",
                icon=icons[row],
                score=float(is_ours[row] if are_own[row] else known[row]),
                ours=likes[row],
                variant=int(variants[row]),
                meaning=self._meaning(shown[row], nears[row].scores),
            )

    def _meaning(self, icons: Ids, cosines: Floats) -> str:
        """Name what is shown, by the icons that are most like it, best first.

        Each set has one vote, for the name of the icon that it has nearest; it weighs as much as that is nearer.
        """
        known = self.facets.at(icons)
        names, (_, first) = known["name"], np.unique(known["set"], return_index=True)
        weights = np.exp(self.index.manifest.same.lead.slope * (cosines - cosines[0]))
        votes: dict[str, float] = defaultdict(float)
        for place in sorted(first.tolist()):
            votes[self.words[int(names[place])]] += float(weights[place])
        return max(votes, key=lambda words: (round(votes[words], 6), -len(words), words))


_EXAMPLES = 3
"""Uses that are named of each icon, on different screens where there are several."""
_SAME_WAY = 0.95
"""Cosine of two drawings that are one icon at two sizes or in two colours."""
_LONGEST_JOIN = 400
"""Ways of one meaning that are held against each other."""


@dataclass(frozen=True, slots=True)
class Used:
    """An icon, or what looks like it, and how often the screens show it."""

    icon: str
    """Key of the icon, the shortest of the variants that were met: of our set, or of that which has the likest one."""
    score: float
    """How sure that is, of the surest drawing."""
    n: int
    """Places."""
    n_screens: int
    ours: str
    """Key of the icon of our set that is most like it."""
    meaning: str
    examples: Sequence[Use]


@dataclass(frozen=True, slots=True)
class Meaning:
    """Something that the screens draw in several ways."""

    words: str
    n: int
    """Places of all ways."""
    ways: Sequence[Used]
    """The most frequent first."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What the screens show, held against our set; all most frequent first."""

    sets: tuple[str, ...]
    n_screens: int
    n_boxes: int
    n_icons_of_sets: int
    """Names of icons that our sets have."""
    used: Sequence[Used]
    foreign: Sequence[Used]
    """What is like an icon of another set, but none of ours."""
    unknown: Sequence[Used]
    """What is like nothing in the library: own drawings, logos, and what is no icon."""
    several: Sequence[Meaning]


def report(index: UsageIndex, engine: SearchEngine, sets: Sequence[str], *, progress: Progress) -> UsageReport:
    """Hold all that the screens show against some sets, which are ours.

    Raises:
        IconsError: a set is unknown here; the message names near ones.
        LibraryError: icons and screens were seen by two encoders.
    """
    keys = tuple(engine.set_keys(sets))

    def judge(opened: Opened) -> list[Named]:
        namer, named = _Namer(index, opened, keys), list[Named]()
        for drawings in in_chunks(np.arange(index.n_drawings, dtype=np.int64), _AT_ONCE):
            named += namer.name(drawings)
            progress("Naming the drawings", len(named), index.n_drawings)
        return named

    named = engine.with_generation(judge)
    groups = grouped(named, lambda one: (one.origin, one.variant if one.origin != "unknown" else one.drawing))
    spelled = {
        hit.id: hit.key for hit in engine.hits(sorted({one.icon for one in named} | {one.ours for one in named}))
    }
    used = (_used_of(index, members, spelled) for members in groups.values())
    every = sorted(used, key=lambda group: (-group.used.n, group.used.icon))
    return UsageReport(
        sets=keys,
        n_screens=index.n_screens,
        n_boxes=len(index.shown),
        n_icons_of_sets=sum(len(engine.names_in(key)) for key in keys),
        used=[group.used for group in every if group.origin == "ours"],
        foreign=[group.used for group in every if group.origin == "foreign"],
        unknown=[group.used for group in every if group.origin == "unknown"],
        several=_several([group for group in every if group.origin != "unknown"]),
    )


class _Group(NamedTuple):
    """A `Used`, and the vector of its most frequent drawing."""

    origin: Origin
    used: Used
    vector: Floats


def _used_of(index: UsageIndex, members: Sequence[Named], spelled: dict[int, str]) -> _Group:
    most = max(members, key=lambda one: (len(index.uses(one.drawing)), one.score))
    boxes = np.sort(np.concatenate([index.uses(one.drawing) for one in members]))
    screens, first = np.unique(index.screens[boxes], return_index=True)
    key = min((spelled[one.icon] for one in members), key=lambda key: (len(key), key))
    chosen = boxes[first][:_EXAMPLES]
    scores = {one.drawing: one.score for one in members}
    examples = [
        index.use(box, score=scores[int(index.shown[box])], icon=None if most.origin == "unknown" else key)
        for box in chosen.tolist()
    ]
    score = max(one.score for one in members)
    return _Group(
        most.origin,
        Used(key, round(score, 4), len(boxes), len(screens), spelled[most.ours], most.meaning, examples),
        index.vectors(np.array([most.drawing]))[0],
    )


def _several(groups: Sequence[_Group]) -> list[Meaning]:
    """Meanings that have more than one way, the most frequent first, of groups in this order.

    What is drawn like a more frequent way is none: the same icon at another size may be named otherwise.
    """
    found = []
    for words, members in grouped(groups, lambda group: group.used.meaning).items():
        kept: list[_Group] = []
        for group in members[:_LONGEST_JOIN]:
            if all(float(group.vector @ other.vector) < _SAME_WAY for other in kept):
                kept.append(group)
        if len(kept) > 1:
            found.append(Meaning(words, sum(way.used.n for way in kept), [way.used for way in kept]))
    return sorted(found, key=lambda meaning: (-meaning.n, meaning.words))


MOST_SHOTS = 60
"""On one page."""
_MOST_CROPS = 200
_MOST_ROWS = 400
_MOST_UNKNOWN = 200
STYLE = """<style>
.crops { display: flex; flex-wrap: wrap; gap: .5rem; } .crops a, .crops span { color: inherit; text-decoration: none;
  width: 5.2rem; font-size: .7rem; text-align: center; overflow-wrap: anywhere; line-height: 1.25; }
.crop { display: block; box-sizing: border-box; width: 4rem; height: 4rem; margin: 0 auto .25rem; object-fit: contain;
  border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
.crop.none { display: grid; place-items: center; color: var(--soft); }
.screen { margin: 1.6rem 0; } .screen > p { margin: 0 0 .4rem; font-size: .87rem; overflow-wrap: anywhere; }
.screen small { color: var(--soft); } .framed { position: relative; max-width: 100%; border: 1px solid var(--line); }
.framed img { display: block; width: 100%; } .framed i { position: absolute; box-sizing: content-box;
  margin: -4px; padding: 1px; border: 3px solid var(--c4); border-radius: 5px; box-shadow: 0 0 0 2px #fffc; }
:is(th, td) img.icon { width: 2.4rem; height: 2.4rem; box-sizing: border-box; padding: .3rem; background: #fff;
  border: 1px solid var(--line); border-radius: .4rem; }
:is(th, td) .crop { display: inline-block; margin: 0 .25rem 0 0; width: 3rem; height: 3rem; vertical-align: middle; }
:is(th, td):has(.crop) { white-space: nowrap; }
th, td { vertical-align: middle; }
</style>"""


def uses_page(index: UsageIndex, asked: str, found: Uses, *, progress: Progress) -> str:
    """Lay uses out as one file that needs nothing beside it."""
    shots = list(read_shots(index, found.uses, most=MOST_SHOTS, progress=progress))
    n_hidden = len({use.file for use in found.uses}) - len(shots)
    facts = [f"{counted(found.n_found, 'place')} on {counted(found.n_screens, 'screenshot')}; the surest first."]
    facts += [f"The first {len(found.uses):,} are shown."] * (len(found.uses) < found.n_found)
    facts += [f"{counted(n_hidden, 'more screenshot')}: crops alone."] * (n_hidden > 0)
    links = {shot.file: f"#shot-{number}" for number, shot in enumerate(shots)}
    crops = [_crop(index, use, _label(use), link=links.get(use.file, "")) for use in found.uses[:_MOST_CROPS]]
    screens = "".join(_screen(index, shot, number) for number, shot in enumerate(shots))
    sections = [STYLE, section("Crops", table=_together(crops)), screens]
    return page(f"icons usage: {printable(asked)}", facts=facts, sections=sections)


def _label(use: Use) -> str:
    return f"{use.score:.2f}" + (f" {use.icon}" if use.icon else "")


def _together(crops: Sequence[str]) -> str:
    return f'<div class="crops">{"".join(crops)}</div>'


def _crop(index: UsageIndex, use: Use, label: str, *, link: str = "") -> str:
    """A crop with what is to be said of it."""
    kind = f'a href="{link}"' if link else "span"
    return f'<{kind} title="{shown(use.file)}">{_picture(index, use.drawing)}{shown(label)}</{kind[:4].strip()}>'


def _picture(index: UsageIndex, drawing: int) -> str:
    """A crop as an image, or a mark where none is kept."""
    png = index.crop(drawing)
    return f'<img class="crop" alt="" src="{data_uri(png)}">' if png else '<span class="crop none">no crop</span>'


def _screen(index: UsageIndex, shot: Shot, number: int) -> str:
    n = len(shot.uses)
    head = f"<p><b>{shown(shot.file)}</b> <small>{counted(n, 'place')}</small></p>"
    if shot.png is None:
        body = "<p><small>The file has gone, or is another one by now: these are its crops.</small></p>" + _together(
            [_crop(index, use, f"{use.score:.2f}") for use in shot.uses]
        )
    else:
        styles = ((use.box.style(use.width, use.height), shown(_label(use))) for use in shot.uses)
        frames = "".join(f'<i style="{style}" title="{label}"></i>' for style, label in styles)
        framed = f'<img alt="" src="{data_uri(shot.png)}">{frames}'
        body = f'<div class="framed" style="width: {shot.uses[0].width}px">{framed}</div>'
    return f'<section class="screen" id="shot-{number}">{head}{body}</section>'


def report_page(index: UsageIndex, engine: SearchEngine, report: UsageReport) -> str:
    """Lay a report out as one file that needs nothing beside it."""
    icon = _icons(engine, report)
    ours = ", ".join(report.sets)

    def crops(used: Used) -> Html:
        return Html(
            "".join(_picture(index, drawing) for drawing in dict.fromkeys(use.drawing for use in used.examples))
        )

    def figures(used: Used) -> tuple[str, str, str]:
        return f"{used.n:,}", f"{used.n_screens:,}", f"{used.score:.2f}"

    use = [(icon(one.icon), one.icon, crops(one), *figures(one)) for one in report.used[:_MOST_ROWS]]
    foreign = [
        (crops(one), icon(one.icon), one.icon, icon(one.ours), one.ours, *figures(one))
        for one in report.foreign[:_MOST_ROWS]
    ]
    ways = [(words, crops(way), way.icon, *figures(way)[:2]) for words, way in _ways(report, most=_MOST_ROWS)]
    like = "like an icon of another set; beside it ours that is most like it"
    places = ("places", "screenshots", "how sure")
    tables = (
        (f"Used icons of {ours}", len(report.used), "", ("icon", "", "on screen", *places), use, 3),
        ("Not from our set", len(report.foreign), like, ("on screen", "like", "", "ours", "", *places), foreign, 5),
        ("Drawn in several ways", len(report.several), "", ("meaning", "on screen", "like", *places[:2]), ways, 3),
    )
    sections = [STYLE]
    for title, n, remark, head, rows, n_left in tables:
        cut = f"the first {_MOST_ROWS:,} are shown" if n > _MOST_ROWS else ""
        table = table_html(head, rows, n_left=n_left) if rows else "<p>None.</p>"
        sections.append(section(title, small="; ".join(filter(None, (f"{n:,}", cut, remark))), table=table))
    small = f"{len(report.unknown):,}: like no icon of the library; own drawings, logos, or no icons at all"
    unknown = [_crop(index, one.examples[0], f"{one.n:,} x") for one in report.unknown[:_MOST_UNKNOWN]]
    facts = [
        f"{counted(report.n_screens, 'screenshot')}, {counted(report.n_boxes, 'place')} found that may show icons.",
        f"{len(report.used):,} of the {report.n_icons_of_sets:,} icons of {ours} are used.",
    ]
    sections.append(section("Not known", small=small, table=_together(unknown)))
    return page(f"icons usage report: {ours}", facts=facts, sections=sections)


def _icons(engine: SearchEngine, report: UsageReport) -> Callable[[str], Html]:
    """The picture of each icon, by its key."""
    keys = {used.icon for used in (*report.used, *report.foreign)[: 2 * _MOST_ROWS]}
    keys |= {used.ours for used in report.foreign[:_MOST_ROWS]}
    images = {hit.key: hit.image for hit in engine.hits([engine.find(key) for key in sorted(keys)])}
    contents: Mapping[int, bytes] = dict(engine.pictures(sorted(set(images.values()))))

    def picture(key: str) -> Html:
        content = contents.get(images.get(key, -1))
        return Html(f'<img class="icon" alt="" src="{data_uri(content)}">' if content else "")

    return picture


def _ways(report: UsageReport, *, most: int) -> Iterator[tuple[str, Used]]:
    """Ways to draw some meanings, each meaning beside its first way."""
    for meaning in report.several[:most]:
        yield from zip((meaning.words, *[""] * len(meaning.ways)), meaning.ways, strict=False)


MOST_ROWS = 20
"""Of each part of a report; --json and --html have all."""


def print_uses(found: Uses) -> None:
    """Print a line a place: how sure, where on which screenshot, and what it is taken for."""
    rows = ((f"{use.score:.2f}", f"{use.box.at} {use.box.extent}", use.icon or "", use.file) for use in found.uses)
    open_console().print(table_of(("score", "at", "icon", "screenshot"), rows, n_left=4))


def print_report(report: UsageReport) -> None:
    """Print the most frequent of each part."""
    console, ours = open_console(), ", ".join(report.sets)
    used = f"used of {ours}: {len(report.used):,} of {counted(report.n_icons_of_sets, 'icon')}"
    ways = [(words, way.icon, way) for words, way in _ways(report, most=MOST_ROWS)]
    parts = (
        (used, [(one.icon, "", one) for one in report.used]),
        (f"not from {ours}: {len(report.foreign):,}", [(one.icon, f"ours: {one.ours}", one) for one in report.foreign]),
        (f"drawn in several ways: {counted(len(report.several), 'meaning')}", ways),
    )
    for title, named in parts:
        console.print(title, highlight=False, markup=False, style="bold")
        rows = [(*names, f"{one.n:,}", f"{one.n_screens:,}", f"{one.score:.2f}") for *names, one in named[:MOST_ROWS]]
        if rows:
            console.print(table_of(("icon", "", "places", "screenshots", "sure"), rows, n_left=2))
        if len(named) > MOST_ROWS:
            console.print(f"and {len(named) - MOST_ROWS:,} more; --json has all", highlight=False, style="dim")
        console.print()
    n = sum(used.n for used in report.unknown)
    unknown = f"like nothing in the library: {counted(len(report.unknown), 'drawing')} at {counted(n, 'place')}"
    console.print(unknown, highlight=False, markup=False, style="bold")
