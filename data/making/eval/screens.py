"""Ways of finding icons side by side, on screens whose icons are known: figures, curves, parts, a page of the worst.

Connected components are the baseline, then the detector alone, then the detector with what the encoder sees, which is
what a user is shown. Screens are those of a folder, or 200 that are rendered from fixed seeds.

    python -m data.making.eval.screens --icons node_modules/@iconify/json --screens work/bench --report screens.html
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from data.making.eval.components import connected_components
from data.making.eval.curves import (
    RankedBoxes,
    average_precision,
    best_threshold,
    curve,
    false_at,
    precision_at,
    ranked,
)
from indexer.arrays import Floats, Mask, Pixels, Positions
from indexer.commands.options import json_option, library_option
from indexer.languages.words import printable
from indexer.process import cores, processor
from indexer.reports.figures import RESAMPLES, Figure, Scores, means, short, spell
from indexer.reports.terminal import Progress, ProgressLine, open_console, table_of
from indexer.screens.boxes import Boxes
from indexer.screens.located import FLOOR, Detector, open_locator, read_judge
from search.engine import SearchEngine
from search.evaluation.evaluate import Subject
from search.evaluation.screens import (
    NO_ICON,
    Answer,
    Naming,
    Quality,
    ScreenIcon,
    Truth,
    end_to_end,
    false_on_empty,
    match,
    name_boxes,
    naming,
    quality,
    quality_cells,
    quality_of_boxes,
    read_pixels,
    read_truths,
)
from search.generation.backend import Ability
from search.generation.opened import forgetful

if TYPE_CHECKING:
    from indexer.library.folder import Library

COMPONENTS, DETECTOR, BOTH = "components", "detector", "detector+encoder"
NAMES = (COMPONENTS, DETECTOR, BOTH)
N_SCREENS, SEED = 200, 7
"""Of the benchmark; thresholds are chosen on others."""
STRICT = 0.75
"""Intersection over union of a box that fits closely."""
RECALLS = tuple(round(0.05 * step, 2) for step in range(21))
"""At which a curve says its precision."""
THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))
FALSE_BOXES = "false boxes"
"""The one figure of a group that is no share: boxes a screen."""
_NOTHING_SHOWN = 1.01


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to find icons."""

    name: str
    threshold: float
    """Boxes of this score and more are what a user is shown."""
    detect: Callable[[Pixels], Boxes]
    """Finds icons in a picture, RGB (height, width, 3); with boxes below the threshold, for curves."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What one contender found in one screen."""

    shown: Answer
    scores: Floats
    """Of all boxes, best first; the first of them are shown."""
    icons: Positions
    """(n,): the icon that each box holds, by its row in the truth; `NO_ICON` for none."""
    icons_strictly: Positions
    """The same where a box has to fit closely."""


Answers = Sequence[Answered]
"""Of one contender, a screen each."""


@dataclass(frozen=True, slots=True)
class ContenderRow:
    """How well one contender finds icons, over all screens."""

    contender: str
    ap50: Figure
    """Average precision where box and icon overlap by half."""
    ap75: Figure
    best: Quality
    """At the threshold with the highest F1 on these very screens: what no user has."""
    fixed: Quality
    """At the contender's own threshold."""
    false_on_empty: Figure | None
    end_to_end: Quality | None
    precisions: Sequence[float]
    """At `RECALLS`, as far as they are reached."""
    f1: Sequence[float]
    """At `THRESHOLDS`."""
    false: Sequence[float]
    """Boxes on an icon-free screen at `THRESHOLDS`."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One contender on a part of the screens, or on a part of the icons of all screens."""

    by: str
    value: str
    contender: str
    n_screens: int
    n_icons: int
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that was measured, and on what."""

    facts: Sequence[str]
    rows: Sequence[ContenderRow]
    naming: Naming | None
    groups: Sequence[GroupRow]

    def of_group(self, by: str) -> list[GroupRow]:
        """Rows of one way to part the screens or icons."""
        return [row for row in self.groups if row.by == by]


def open_contender(name: str, engine: SearchEngine) -> Contender:
    """Open a way of finding by its name; the encoder is that of the library.

    Raises:
        IconsError: the detector can't be read.
    """
    if name == COMPONENTS:
        return Contender(name, 1.0, connected_components)
    if name == BOTH:
        locator = open_locator(engine.manifest.fingerprint)
        encoder = engine.with_generation(lambda opened: forgetful(opened.encoder))
        threshold = locator.judge.threshold if locator.judge else 0.0
        return Contender(name, threshold, lambda pixels: locator.candidates(pixels, encoder).boxes)
    detector, judge = Detector(), read_judge(None)

    def detect(pixels: Pixels) -> Boxes:
        found = detector.detect(pixels, least_score=FLOOR)
        return Boxes(found.corners, judge.scores(found, np.zeros((len(found.scores), 0), np.float32)))

    return Contender(name, judge.threshold, detect)


def ask(
    contenders: Sequence[Contender], truths: Sequence[Truth], engine: SearchEngine, progress: Progress
) -> list[Answers]:
    """Have all contenders look at each screen, one screen in memory at a time."""
    answers: list[list[Answered]] = [[] for _ in contenders]
    for number, truth in enumerate(truths, 1):
        pixels = read_pixels(truth.folder, truth.screen)
        true_names = name_boxes(engine, pixels, truth.corners, sets=truth.sets)
        for contender, own in zip(contenders, answers, strict=True):
            boxes = contender.detect(pixels)
            boxes = boxes.at(np.argsort(-boxes.scores, kind="stable"))
            icons = match(boxes, truth.corners)
            shown = boxes.at(np.flatnonzero(boxes.scores >= contender.threshold))
            names = name_boxes(engine, pixels, shown.corners, sets=truth.sets)
            answer = Answer(truth, shown, icons[: len(shown.scores)], names, true_names)
            own.append(Answered(answer, boxes.scores, icons, match(boxes, truth.corners, least_iou=STRICT)))
        progress("Looking at screens", number, len(truths))
    return list(answers)


def compare(
    subject: Subject, folder: Path, progress: Progress, *, seed: int = 0, names: Sequence[str] = NAMES
) -> tuple[Comparison, list[Answers]]:
    """Have contenders look at every screen of a folder; the figures, and what they rest on.

    Raises:
        SourceError: there are no screens.
        IconsError: a detector can't be read.
    """
    truths = read_truths(folder, subject.corpus)
    contenders = [open_contender(name, subject.engine) for name in names]
    answers = ask(contenders, truths, subject.engine, progress)
    pairs = list(zip(contenders, answers, strict=True))
    facts = (
        f"{len(truths):,} screens, {sum(not truth.screen.icons for truth in truths):,} of them without icons; "
        f"{sum(len(truth.screen.icons) for truth in truths):,} icons, of which {subject.library.root}, generation "
        f"{subject.manifest.number}, holds {sum(int(truth.is_held.sum()) for truth in truths):,}; {folder}",
        f"measured on {processor()}, {cores()} cores",
    )
    rows = [contender_row(contender, own, seed=seed) for contender, own in pairs]
    ceiling = naming([one.shown for one in answers[0]], seed=seed)
    return Comparison(facts, rows, ceiling, list(group_rows(pairs, colours_of(subject), seed=seed))), answers


def contender_row(contender: Contender, own: Answers, *, seed: int) -> ContenderRow:
    """Figures of a contender over all screens."""
    loose, shown = rank_boxes(own), [one.shown for one in own]
    of = curve(loose)
    best = best_threshold(of)
    above = [int(np.searchsorted(-of.scores, -threshold, side="right")) for threshold in THRESHOLDS]
    return ContenderRow(
        contender=contender.name,
        ap50=average_precision(loose, seed=seed),
        ap75=average_precision(rank_boxes(own, strictly=True), seed=seed),
        best=_above(_NOTHING_SHOWN if best is None else best, own, seed=seed),
        fixed=quality_of_boxes(contender.threshold, shown, seed=seed),
        false_on_empty=false_on_empty(shown, seed=seed),
        end_to_end=end_to_end(contender.threshold, shown, seed=seed),
        precisions=[round(value, 4) for value in precision_at(of, RECALLS)],
        f1=[round(float(of.f1[n - 1]), 4) if n else 0.0 for n in above],
        false=[round(value, 3) for value in false_at(loose, THRESHOLDS)],
    )


def rank_boxes(own: Answers, *, strictly: bool = False) -> RankedBoxes:
    """Rank what one contender found in all screens."""
    held = [(one.icons_strictly if strictly else one.icons) != NO_ICON for one in own]
    return ranked([one.scores for one in own], held, [len(one.shown.truth.screen.icons) for one in own])


def _above(threshold: float, own: Answers, *, seed: int) -> Quality:
    counts = []
    for one in own:
        is_shown = one.scores >= threshold
        n_right = int((one.icons[is_shown] != NO_ICON).sum())
        counts.append((n_right, int(is_shown.sum()), len(one.shown.truth.screen.icons)))
    return quality(threshold, counts, seed=seed)


_OF_SCREENS: dict[str, Callable[[Truth], str]] = {
    "template": lambda truth: truth.screen.template,
    "theme": lambda truth: truth.screen.theme,
    "scale": lambda truth: f"{truth.screen.scale:g}",
}
NOT_KNOWN = "not known"
SIZES = (8.0, 12.0, 16.0, 24.0, 48.0)
"""CSS pixels: where the classes of size begin, after the first."""


def size_classes() -> list[str]:
    """All classes of size, small ones first."""
    between = [f"{low:g}-{high:g} px" for low, high in pairwise(SIZES)]
    return [f"below {SIZES[0]:g} px", *between, f"{SIZES[-1]:g} px and more"]


def size_class(icon: ScreenIcon, scale: float) -> str:
    """Class of the longer painted side of an icon, in CSS pixels: "12-16 px"."""
    side = max(icon.box[2] - icon.box[0], icon.box[3] - icon.box[1]) / scale
    return size_classes()[int(np.searchsorted(SIZES, side, side="right"))]


def colours_of(subject: Subject) -> dict[str, str]:
    """Whether each icon of a library has colours of its own, by its key."""
    coloured = subject.opened.in_memory(Ability.EVALUATE).column("coloured").tolist()
    names = zip(subject.corpus.sets, subject.corpus.names, coloured, strict=True)
    words = {1: "coloured", 0: "one colour"}
    return {f"{key}:{name}": words.get(value, NOT_KNOWN) for key, name, value in names}


def group_rows(
    pairs: Sequence[tuple[Contender, Answers]], colours: Mapping[str, str], *, seed: int
) -> Iterator[GroupRow]:
    """Figures of every contender on every part of the screens, and on every kind of icon."""
    kinds: dict[str, Callable[[Truth, ScreenIcon], str]] = {
        "size": lambda truth, icon: size_class(icon, truth.screen.scale),
        "drawn": lambda _, icon: icon.drawn,
        "colours": lambda _, icon: colours.get(icon.key, NOT_KNOWN),
    }
    truths = [one.shown.truth for one in pairs[0][1]]
    for by, part_of in _OF_SCREENS.items():
        for value in sorted({part_of(truth) for truth in truths}):
            for contender, own in pairs:
                part = [one for one in own if part_of(one.shown.truth) == value]
                n_icons = sum(len(one.shown.truth.screen.icons) for one in part)
                yield GroupRow(by, value, contender.name, len(part), n_icons, _of_screens(contender, part, seed=seed))
    for by, kind_of in kinds.items():
        of_each = [[kind_of(truth, icon) for icon in truth.screen.icons] for truth in truths]
        for kind in sorted({kind for of_truth in of_each for kind in of_truth}, key=_place):
            chosen = [np.array([one == kind for one in of_truth], bool) for of_truth in of_each]
            n_screens, n_icons = sum(bool(some.any()) for some in chosen), sum(int(some.sum()) for some in chosen)
            for contender, own in pairs:
                yield GroupRow(by, kind, contender.name, n_screens, n_icons, _of_icons(own, chosen, seed=seed))


def _place(kind: str) -> tuple[int, str]:
    sizes = size_classes()
    return (sizes.index(kind) if kind in sizes else 0, kind)


def _of_screens(contender: Contender, part: Answers, *, seed: int) -> dict[str, Figure]:
    shown = [one.shown for one in part]
    found = np.array([one.is_found().sum() for one in shown], np.float64)
    boxes = np.array([len(one.icons) for one in shown], np.float64)
    false = means({FALSE_BOXES: boxes - found}, seed=seed)
    if not any(one.truth.screen.icons for one in shown):
        return false
    named = end_to_end(contender.threshold, shown, seed=seed)
    of_boxes = quality_of_boxes(contender.threshold, shown, seed=seed)
    figures = {"AP50": average_precision(rank_boxes(part), seed=seed), "recall": of_boxes.recall, "F1": of_boxes.f1}
    return {**figures, **({"end-to-end F1": named.f1} if named else {}), **false}


def _of_icons(own: Answers, chosen: Sequence[Mask], *, seed: int) -> dict[str, Figure]:
    """Shares of some icons of each screen, given as a mask; screens that have none of them do not count."""
    kept = [(one.shown, some) for one, some in zip(own, chosen, strict=True) if some.any()]
    icons = _counts([some for _, some in kept])
    figures = means({"recall": _counts([one.is_found() & some for one, some in kept])}, of={"recall": icons}, seed=seed)
    held = [some & one.truth.is_held for one, some in kept]
    if not any(some.any() for some in held):
        return figures
    right = {
        "found and named": _counts([one.is_named() & some for (one, _), some in zip(kept, held, strict=True)]),
        "true box named": _counts([(one.true_ranks() == 1) & some for (one, _), some in zip(kept, held, strict=True)]),
    }
    return figures | means(right, of=dict.fromkeys(right, _counts(held)), seed=seed)


def _counts(masks: Sequence[Mask]) -> Scores:
    return np.array([mask.sum() for mask in masks], np.float64)


def print_comparison(comparison: Comparison) -> None:
    """Print what was looked at, and the figures of every contender."""
    console = open_console()
    for line in comparison.facts:
        console.print(printable(line), highlight=False, markup=False)
    head = ("boxes", "AP50", "AP75", "threshold", "precision", "recall", "F1", "best F1", "at", "false/empty")
    rows = []
    for row in comparison.rows:
        best = (short(row.best.f1.value), f"{row.best.threshold:.2f}")
        false = spell(row.false_on_empty, True, count) if row.false_on_empty else ""
        rows.append(
            (row.contender, spell(row.ap50, True), spell(row.ap75, True), *quality_cells(row.fixed), *best, false)
        )
    named = [(row.contender, *quality_cells(row.end_to_end)) for row in comparison.rows if row.end_to_end]
    if ceiling := comparison.naming:
        named.append(("true boxes, first / among five", "", spell(ceiling.top_1, True), spell(ceiling.top_5, True), ""))
    tables = [table_of(head, rows), table_of(("boxes and names", "threshold", "precision", "recall", "F1"), named)]
    for by in dict.fromkeys(row.by for row in comparison.groups):
        table = group_table(comparison.of_group(by))
        tables.append(table_of(table[0], table[1:], n_left=2))
    for shown in tables:
        console.print()
        console.print(shown)


def group_table(rows: Sequence[GroupRow]) -> list[list[str]]:
    """Lay out one way to part screens or icons: a head, and a line a part and contender."""
    measures = list(dict.fromkeys(name for row in rows for name in row.figures))
    lines = [[f"by {rows[0].by}", "contender", "screens", "icons", *measures]]
    for row in rows:
        figures = [_cell(name, row.figures.get(name)) for name in measures]
        lines.append([row.value, row.contender, f"{row.n_screens:,}", f"{row.n_icons:,}", *figures])
    return lines


def _cell(measure: str, figure: Figure | None) -> str:
    return spell(figure, written=count if measure == FALSE_BOXES else short) if figure else ""


def count(value: float) -> str:
    """Spell how many boxes there are on average."""
    return f"{value:.2f}"


def render_bench(icons: Path, folder: Path, progress: Progress, *, n: int = N_SCREENS) -> None:
    """Render the benchmark's screens into a folder, with templates and sets that no detector has learnt from.

    Raises:
        SourceError: the icons are not there.
        RenderError: playwright or Chromium is missing.
    """
    from data.making.detector.render import Recipe, render_screens

    recipe = Recipe(icons=icons, templates="held-out", sets="held-out", seed=SEED)
    render_screens(recipe, folder, n=n, workers=min(cores(), 4), progress=progress)


@click.command()
@click.option("--screens", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of screens.")
@click.option(
    "--icons",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of npm's @iconify/json: render the benchmark's screens first, as far as they are missing.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of intervals.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False, writable=True), help="Write an HTML page.")
@library_option
@json_option
def main(library: "Library", screens: Path, icons: Path | None, seed: int, report: Path | None, as_json: bool) -> None:
    """Measure ways of finding icons side by side."""
    from indexer.reports.figures import check_page, write_page

    if report:
        check_page(report)
    with ProgressLine() as progress:
        if icons:
            render_bench(icons, screens, progress)
        subject = Subject(library)
        comparison, answers = compare(subject, screens, progress, seed=seed)
    if as_json:
        click.echo(json.dumps(comparison_json(comparison)))
    else:
        print_comparison(comparison)
    if report:
        from data.making.eval.screens_page import comparison_html

        write_page(report, comparison_html(comparison, answers[-1], subject.corpus.content_of))


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Spell a comparison for programs."""
    return {**asdict(comparison), "recalls": RECALLS, "thresholds": THRESHOLDS, "resamples": RESAMPLES}


if __name__ == "__main__":
    main()
