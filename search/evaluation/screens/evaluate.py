"""How well are icons found and named in screenshots? Contenders side by side on screens whose icons are known.

Reads a folder of screens (`indexer.screens.stored`), or renders one, and the current generation of a library.

    icons evaluate --screens --report screens.html
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.process import cores, processor
from indexer.reports.bars import Progress
from indexer.screens.stored import read_screens
from search.evaluation.evaluate import Subject
from search.evaluation.screens.answers import AnsweredScreen, ask_contenders
from search.evaluation.screens.contenders import NAMES, Contender, open_contender
from search.evaluation.screens.cost import measure_cost, usual_picture
from search.evaluation.screens.figures import contender_row, naming
from search.evaluation.screens.findings import ContenderRow, ScreenEvaluation
from search.evaluation.screens.groups import group_rows
from search.evaluation.screens.rendered import bench_screens, find_icons
from search.evaluation.screens.truth import KnownIcons, Truth


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """What is looked at."""

    cache: Path
    """Where rendered screens are kept."""
    folder: Path | None = None
    """Of screens; None: those of the benchmark, rendered at the first time."""
    icons: Path | None = None
    """npm's @iconify/json, to render with; None: where the library has it from."""
    seed: int = 0
    """Of intervals."""
    contenders: Sequence[str] = NAMES
    with_cost: bool = True


def evaluate_screens(
    subject: Subject, options: ScreenOptions, progress: Progress
) -> tuple[ScreenEvaluation, list[AnsweredScreen]]:
    """Have every contender look at every screen; the figures, and what they rest on.

    Raises:
        SourceError: there are no screens, or the icon sets for them are missing.
        RenderError: the browser that draws them is missing.
        IconsError: a detector can't be read.
    """
    folder = options.folder or _render(subject, options, progress)
    known = KnownIcons(subject.opened, subject.corpus)
    truths = [known.truth(folder, screen) for screen in read_screens(folder)]
    contenders = [open_contender(name, subject.engine) for name in options.contenders]
    screens = _ask(contenders, truths, subject, progress)
    rows = [contender_row(one, n, screens, seed=options.seed) for n, one in enumerate(contenders)]
    if options.with_cost:
        rows = _with_costs(rows, subject, truths, progress)
    evaluation = ScreenEvaluation(
        library=str(subject.library.root),
        generation=subject.manifest.number,
        n_library_icons=len(subject.corpus),
        screens=str(folder),
        n_screens=len(truths),
        n_empty=sum(not truth.icons for truth in truths),
        n_icons=sum(len(truth.icons) for truth in truths),
        n_held=sum(int(truth.is_held.sum()) for truth in truths),
        sets=dict(Counter(icon.key.partition(":")[0] for truth in truths for icon in truth.icons).most_common()),
        seed=options.seed,
        machine=f"{processor()}, {cores()} cores",
        rows=rows,
        naming=naming(screens, seed=options.seed),
        groups=list(group_rows(contenders, screens, seed=options.seed)),
    )
    return evaluation, screens


def _render(subject: Subject, options: ScreenOptions, progress: Progress) -> Path:
    return bench_screens(options.icons or find_icons(subject.opened), options.cache, progress)


def _ask(
    contenders: Sequence[Contender], truths: Sequence[Truth], subject: Subject, progress: Progress
) -> list[AnsweredScreen]:
    answered = []
    for screen in ask_contenders(contenders, truths, subject.engine):
        answered.append(screen)
        progress("Looking at screens", len(answered), len(truths))
    return answered


def _with_costs(
    rows: Sequence[ContenderRow], subject: Subject, truths: Sequence[Truth], progress: Progress
) -> list[ContenderRow]:
    picture, measured = usual_picture(truths), []
    for row in rows:
        measured.append(replace(row, cost=measure_cost(subject.library, row.contender, picture)))
        progress("Measuring time and memory", len(measured), len(rows))
    return measured
