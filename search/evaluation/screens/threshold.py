"""From which score on should a contender's boxes count? The one with the best F1 that leaves icon-free screens clean.

Reads screens of a validation split, which are none of those that it is measured on.

    python -m search.evaluation.screens.threshold FOLDER --library FOLDER
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from indexer.commands.options import json_option, library_option
from indexer.errors import IconsError
from indexer.reports.bars import ProgressLine
from indexer.screens.stored import Screen, read_pixels, read_screens
from search.evaluation.screens.answers import LOOSE
from search.evaluation.screens.contenders import NAMES, Contender, open_contender
from search.evaluation.screens.curves import RankedBoxes, best_threshold, curve, false_on_empty, ranked
from search.evaluation.screens.findings import MOST_FALSE
from search.evaluation.screens.matching import NO_ICON, best_first, match

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from indexer.reports.bars import Progress


@dataclass(frozen=True, slots=True)
class Chosen:
    """A threshold, and what stands above it on the screens that it was chosen on."""

    contender: str
    threshold: float
    precision: float
    recall: float
    f1: float
    false_on_empty: float
    is_bound: bool
    """Whether a lower threshold would have a better F1, and too many boxes on icon-free screens."""


def choose_threshold(contender: Contender, boxes: RankedBoxes, *, most_false: float = MOST_FALSE) -> Chosen | None:
    """Choose the threshold with the best F1 that leaves at most so many boxes on an icon-free screen.

    None: nothing is found. It lies halfway to the next lower score: the last digits of one box decide nothing.
    """
    of = curve(boxes)
    false = np.array(false_on_empty(boxes, of.scores.tolist()))
    best = best_threshold(of, false <= most_false)
    if best is None:
        return None
    place = int(np.searchsorted(-of.scores, -best))
    below = of.scores[place + 1] if place + 1 < len(of.scores) else best
    return Chosen(
        contender=contender.name,
        threshold=round(float(best + below) / 2, 4),
        precision=round(float(of.precision[place]), 4),
        recall=round(float(of.recall[place]), 4),
        f1=round(float(of.f1[place]), 4),
        false_on_empty=round(float(false[place]), 3),
        is_bound=best != best_threshold(of),
    )


def look(contender: Contender, folder: Path, screens: list[Screen], progress: "Progress") -> RankedBoxes:
    """Have a contender look at all screens of a folder."""
    scores, rights = [], []
    for n, screen in enumerate(screens, 1):
        boxes = best_first(contender.detect(read_pixels(folder, screen)))
        icons = np.array([icon.box for icon in screen.icons], np.float32).reshape(-1, 4)
        scores.append(boxes.scores)
        rights.append(match(boxes, icons, least_iou=LOOSE) != NO_ICON)
        progress(f"Looking with {contender.name}", n, len(screens))
    return ranked(scores, rights, [len(screen.icons) for screen in screens])


def _choose_all(
    library: "Library", folder: Path, names: tuple[str, ...], most_false: float, progress: "Progress"
) -> Iterator[Chosen]:
    from search.engine import SearchEngine

    engine, screens = SearchEngine.open(library.root), read_screens(folder)
    for name in names:
        contender = open_contender(name, engine)
        boxes = look(contender, folder, screens, progress)
        chosen = choose_threshold(contender, boxes, most_false=most_false)
        if chosen is None:
            least = false_on_empty(boxes, [boxes.scores.max(initial=0)])[0]
            raise IconsError(f"{name}: its surest boxes alone are {least:.2f} an icon-free screen; give --most-false")
        yield chosen


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--contender", "names", multiple=True, type=click.Choice(NAMES), help="Repeatable; all if not given.")
@click.option("--most-false", default=MOST_FALSE, show_default=True, help="Boxes on an icon-free screen, on average.")
@library_option
@json_option
def main(library: "Library", folder: Path, names: tuple[str, ...], most_false: float, as_json: bool) -> None:
    """Choose the thresholds of contenders on a folder of screens."""
    with ProgressLine() as progress:
        found = list(_choose_all(library, folder, names or NAMES, most_false, progress))
    for chosen in found:
        click.echo(json.dumps(asdict(chosen)) if as_json else _line(chosen, most_false))


def _line(chosen: Chosen, most_false: float) -> str:
    figures = f"precision {chosen.precision:.3f}, recall {chosen.recall:.3f}, F1 {chosen.f1:.3f}"
    bound = f"; a lower one has a better F1 and more than {most_false:g} on them" if chosen.is_bound else ""
    return (
        f"{chosen.contender}: {chosen.threshold:.4f}, {figures}, "
        f"boxes on an icon-free screen {chosen.false_on_empty:.2f}{bound}"
    )


if __name__ == "__main__":
    try:
        main()
    except IconsError as error:
        sys.exit(f"Error: {error}")
