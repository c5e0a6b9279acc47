"""How well icons are found and named in prepared screens: boxes and names as `icons locate` shows them.

icons lab evaluate --screens-from FOLDER

A folder of prepared screens has pictures and `screens*.jsonl`, a line a screen, which says where its icons are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Mask, Pixels, Positions
from indexer.errors import SourceError
from indexer.languages.words import printable
from indexer.library.foreign import from_json
from indexer.reports.figures import Figure, Scores, means, short, spell
from indexer.reports.terminal import Progress, open_console, table_of
from indexer.screens.boxes import Boxes, iou_matrix
from indexer.screens.located import open_locator, seen_in
from search.engine import Filters, Hit, SearchEngine
from search.evaluation.evaluate import Subject
from search.evaluation.queries import Corpus
from search.generation.opened import forgetful
from search.ranking.order import set_priority
from search.screens.locate import name_crops


@dataclass(frozen=True, slots=True)
class ScreenIcon:
    """An icon on a screen: the box of its painted pixels (left, top, right, bottom), its key, how it is drawn."""

    box: tuple[float, float, float, float]
    key: str
    drawn: str


@dataclass(frozen=True, slots=True)
class Screen:
    """A picture of a screen, what it was made of, and its icons."""

    file: str
    width: int
    height: int
    scale: float
    template: str
    theme: str
    seed: int
    icons: tuple[ScreenIcon, ...]


def read_screens(folder: Path) -> list[Screen]:
    """Read what is known of the screens of a folder, in the order of their files.

    Raises:
        SourceError: there are none, or a line is not a screen's.
    """
    paths = sorted(folder.glob("screens*.jsonl"))
    if not paths:
        raise SourceError(f'no screens in "{folder}"; give a folder with pictures and screens.jsonl')
    return sorted((screen for path in paths for screen in read_lines(path)), key=lambda screen: screen.file)


def read_lines(path: Path) -> Iterator[Screen]:
    """Read a file of screens; what follows the last line's end was cut off by a kill.

    Raises:
        SourceError: a line is not a screen's.
    """
    for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1], start=1):
        try:
            yield from_json(Screen, line)
        except ValueError as error:
            raise SourceError(f'"{path}", line {number}: not a screen; render into an empty folder') from error


def read_pixels(folder: Path, screen: Screen) -> Pixels:
    """The picture of a screen, RGB (height, width, 3)."""
    with Image.open(folder / screen.file) as picture:
        return np.asarray(picture.convert("RGB"))


@dataclass(frozen=True)
class Truth:
    """The icons of one screen, as a library knows them."""

    folder: Path
    screen: Screen
    right: Sequence[frozenset[int]]
    """Of each icon of the screen the ids of the icons that name it rightly; none where the library lacks it."""

    @cached_property
    def corners(self) -> Floats:
        """Painted boxes, (n, 4), in pixels of the picture."""
        return np.array([icon.box for icon in self.screen.icons], np.float32).reshape(-1, 4)

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """The library's sets that the screen shows: a team asks for names in its own."""
        known = zip(self.screen.icons, self.right, strict=True)
        return tuple(sorted({icon.key.partition(":")[0] for icon, right in known if right}))

    @cached_property
    def is_held(self) -> Mask:
        """Whether the library holds each icon, (n,): others can't be named."""
        return np.array([bool(right) for right in self.right], bool)


def read_truths(folder: Path, corpus: Corpus) -> list[Truth]:
    """Read the screens of a folder, and what a library knows of their icons.

    Right are the icon of that key, all that have its very drawing, and the variants of these: what no picture tells
    apart.

    Raises:
        SourceError: there are none, or a line is not a screen's.
    """
    named = [*enumerate(zip(corpus.sets, corpus.names, strict=True))]
    rows = {f"{key}:{name}": [row] for row, (key, name) in reversed(named)}

    @cache
    def right(key: str) -> frozenset[int]:
        alike = corpus.drawn_alike(np.array(rows.get(key, ()), np.int64))
        return frozenset(corpus.icon_ids[corpus.variants(alike)].tolist())

    return [Truth(folder, one, [right(icon.key) for icon in one.icons]) for one in read_screens(folder)]


LEAST_IOU = 0.5
"""Least intersection over union of a box with the icon that it holds."""
NO_ICON = -1
N_NAMES = 5


def rank_of(hits: Sequence[Hit], right: frozenset[int]) -> float:
    """Place of the first right one among what a box was called, from 1; infinite where none of the first is right."""
    return next((place for place, hit in enumerate(hits, 1) if hit.id in right), np.inf)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was shown of one screen."""

    truth: Truth
    boxes: Boxes
    """Best first."""
    icons: Positions
    """(n,): the icon that each box holds, by its row in the truth; `NO_ICON` for none."""
    names: Sequence[Sequence[Hit]]
    """Of each box what it was called, best first."""
    true_names: Sequence[Sequence[Hit]]
    """Of the icons inside their painted boxes: what naming reaches where nothing has to be found."""

    def is_found(self) -> Mask:
        """Whether a box holds each icon of the screen."""
        return np.isin(np.arange(len(self.truth.right)), self.icons)

    def is_named(self) -> Mask:
        """Whether each icon of the screen is found and named rightly."""
        held = zip(self.names, self.icons.tolist(), strict=True)
        named = [icon for name, icon in held if icon != NO_ICON and rank_of(name, self.truth.right[icon]) == 1]
        return np.isin(np.arange(len(self.truth.right)), named)

    def true_ranks(self) -> Scores:
        """Place of each icon's first right name among those of its true box, infinite where none is right."""
        return np.array([*map(rank_of, self.true_names, self.truth.right)], np.float64)


@dataclass(frozen=True, slots=True)
class Quality:
    """What stands above one threshold."""

    threshold: float
    precision: Figure
    recall: Figure
    f1: Figure


@dataclass(frozen=True, slots=True)
class Naming:
    """How often true boxes are named rightly: the ceiling of what finding and naming reach together."""

    n_icons: int
    top_1: Figure
    top_5: Figure


@dataclass(frozen=True, slots=True)
class ScreenEvaluation:
    """All that was measured, on what, and what was left out."""

    library: str
    generation: int
    screens: str
    n_screens: int
    n_empty: int
    """Screens without icons."""
    n_icons: int
    n_held: int
    """Icons of the screens that the library holds; others are neither right nor wrong when it comes to names."""
    boxes: Quality
    false_on_empty: Figure | None
    """Boxes on an icon-free screen; None where every screen has icons."""
    end_to_end: Quality | None
    """Boxes whose first name is right. None: the library holds no icon of these screens."""
    naming: Naming | None


def evaluate_screens(subject: Subject, folder: Path, progress: Progress, *, seed: int = 0) -> ScreenEvaluation:
    """Look at every screen of a folder as a user's screenshot is looked at.

    Raises:
        SourceError: there are no screens.
        IconsError: the detector can't be read.
    """
    truths = read_truths(folder, subject.corpus)
    locator, answers = open_locator(subject.manifest.fingerprint), []
    encoder = subject.engine.with_generation(lambda opened: forgetful(opened.encoder))
    for truth in truths:
        pixels = read_pixels(truth.folder, truth.screen)
        located = locator.locate(pixels, encoder)
        names = name_vectors(subject.engine, located.vectors, sets=truth.sets)
        true_names = name_boxes(subject.engine, pixels, truth.corners, sets=truth.sets)
        answers.append(Answer(truth, located.boxes, match(located.boxes, truth.corners), names, true_names))
        progress("Looking at screens", len(answers), len(truths))
    threshold = locator.judge.threshold if locator.judge else 0.0
    return ScreenEvaluation(
        library=str(subject.library.root),
        generation=subject.manifest.number,
        screens=str(folder),
        n_screens=len(truths),
        n_empty=sum(not truth.right for truth in truths),
        n_icons=sum(len(truth.right) for truth in truths),
        n_held=sum(int(truth.is_held.sum()) for truth in truths),
        boxes=quality_of_boxes(threshold, answers, seed=seed),
        false_on_empty=false_on_empty(answers, seed=seed),
        end_to_end=end_to_end(threshold, answers, seed=seed),
        naming=naming(answers, seed=seed),
    )


def match(boxes: Boxes, icons: Floats, *, least_iou: float = LEAST_IOU) -> Positions:
    """Row of the icon (m, 4) that each of some boxes holds, best first; `NO_ICON` where it holds none.

    Each box takes the icon that it overlaps most among those that no better box has taken, as COCO matches. So what
    holds above a threshold is the same whatever was found below it.
    """
    found = np.full(len(boxes.scores), NO_ICON, np.intp)
    if not len(icons):
        return found
    overlaps = iou_matrix(boxes.corners, icons)
    for row, overlap in enumerate(overlaps):
        icon = int(overlap.argmax())
        if overlap[icon] >= least_iou:
            found[row] = icon
            overlaps[:, icon] = NO_ICON
    return found


def name_boxes(engine: SearchEngine, pixels: Pixels, corners: Floats, *, sets: tuple[str, ...] = ()) -> list[list[Hit]]:
    """Name what is inside each of some boxes (n, 4) of a picture in some sets, or in all: what comes nearest."""
    if not len(corners):
        return []
    vectors = engine.with_generation(lambda opened: seen_in(pixels, corners, forgetful(opened.encoder)))
    return name_vectors(engine, vectors, sets=sets)


def name_vectors(engine: SearchEngine, vectors: Floats, *, sets: tuple[str, ...] = ()) -> list[list[Hit]]:
    """Name what the encoder sees as some vectors (n, dim)."""

    return engine.with_generation(
        lambda opened: name_crops(opened, vectors, Filters(sets=sets), set_priority(opened, ()), k=N_NAMES, min_score=0)
    )


def quality(threshold: float, counts: Sequence[tuple[int, int, int]], *, seed: int) -> Quality:
    """Precision, recall and F1 over all screens together, from each one's boxes that are right, boxes, icons."""
    right, boxes, icons = np.array(counts, np.float64).reshape(-1, 3).T
    over = {"precision": boxes, "recall": icons, "f1": (boxes + icons) / 2}
    return Quality(threshold, **means(dict.fromkeys(over, right), of=over, seed=seed))


def quality_of_boxes(threshold: float, answers: Sequence[Answer], *, seed: int) -> Quality:
    """Count as right what is found."""
    counts = [(int(one.is_found().sum()), len(one.icons), len(one.truth.right)) for one in answers]
    return quality(threshold, counts, seed=seed)


def end_to_end(threshold: float, answers: Sequence[Answer], *, seed: int) -> Quality | None:
    """Count as right what is found and named; icons that the library lacks and the boxes on them are left aside."""
    counts = []
    for one in answers:
        lacking = np.append(~one.truth.is_held, False)[one.icons]  # `NO_ICON` is the last
        n_boxes, n_icons = len(one.icons) - int(lacking.sum()), int(one.truth.is_held.sum())
        counts.append((int(one.is_named().sum()), n_boxes, n_icons))
    return quality(threshold, counts, seed=seed) if any(n_icons for *_, n_icons in counts) else None


def false_on_empty(answers: Sequence[Answer], *, seed: int) -> Figure | None:
    """Boxes on an icon-free screen, on average; None where there is no such screen."""
    counts = [len(one.icons) for one in answers if not one.truth.right]
    return means({"false": np.array(counts, np.float64)}, seed=seed)["false"] if counts else None


def naming(answers: Sequence[Answer], *, seed: int) -> Naming | None:
    """How often the library's own names are right where boxes are; None where it holds none of these icons."""
    held = np.array([one.truth.is_held.sum() for one in answers], np.float64)
    if not held.any():
        return None
    within = {
        f"top_{most}": np.array([(one.true_ranks() <= most).sum() for one in answers], np.float64) for most in (1, 5)
    }
    return Naming(int(held.sum()), **means(within, of=dict.fromkeys(within, held), seed=seed))


def print_screens(evaluation: ScreenEvaluation) -> None:
    """Print what was looked at, and the figures."""
    console = open_console()
    whole, named, on_empty = evaluation.end_to_end, evaluation.naming, evaluation.false_on_empty
    lines = [
        f"{evaluation.n_screens:,} screens, {evaluation.n_empty:,} of them without icons; "
        f"{evaluation.n_icons:,} icons; {evaluation.screens}",
        f"named by {evaluation.library}, generation {evaluation.generation}, which holds {evaluation.n_held:,} of "
        "the icons on the screens; each screen is named by the sets that it shows",
        *([f"boxes on a screen without icons: {spell(on_empty, True, '{:.2f}'.format)}"] if on_empty else ()),
        *(
            ()
            if evaluation.n_held
            else ("no names were measured: index the sets that the screens show, and give --library",)
        ),
        "",
    ]
    for line in lines:
        console.print(printable(line), highlight=False, markup=False)
    firsts = [spell(figure, True) for figure in (named.top_1, named.top_5)] if named else []
    cells = [
        ("boxes", *quality_cells(evaluation.boxes)),
        *([("boxes and names", *quality_cells(whole))] if whole else ()),
        *([("true boxes named, first / among five", "", *firsts, "")] if firsts else ()),
    ]
    console.print(table_of(("", "threshold", "precision", "recall", "F1"), cells))


def quality_cells(of: Quality) -> tuple[str, ...]:
    """Spell a quality for a table."""
    shares = map(short, (of.precision.value, of.recall.value))
    return (f"{of.threshold:.2f}", *shares, spell(of.f1, with_interval=True))
