"""How do figures differ between parts of the screens, and between kinds of icons?"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from indexer.arrays import Mask
from indexer.reports.measures import Figure, Scores, means, shares
from search.evaluation.screens.answers import AnsweredScreen
from search.evaluation.screens.contenders import Contender
from search.evaluation.screens.curves import average_precision
from search.evaluation.screens.figures import end_to_end, rank_boxes, true_ranks
from search.evaluation.screens.findings import FALSE_BOXES, GroupRow
from search.evaluation.screens.truth import KnownIcon, size_classes

OF_SCREENS: dict[str, Callable[[AnsweredScreen], str]] = {
    "template": lambda screen: screen.truth.screen.template,
    "theme": lambda screen: screen.truth.screen.theme,
    "scale": lambda screen: f"{screen.truth.screen.scale:g}",
}
OF_ICONS: dict[str, Callable[[KnownIcon], str]] = {
    "size": lambda icon: icon.size,
    "drawn": lambda icon: icon.drawn,
    "colours": lambda icon: icon.colours,
}


def group_rows(contenders: Sequence[Contender], screens: Sequence[AnsweredScreen], *, seed: int) -> Iterator[GroupRow]:
    """Figures of every contender on every part."""
    for by, part_of in OF_SCREENS.items():
        for value in sorted({part_of(screen) for screen in screens}):
            part = [screen for screen in screens if part_of(screen) == value]
            n_icons = sum(len(screen.truth.icons) for screen in part)
            for number, one in enumerate(contenders):
                figures = _of_screens(one, number, part, seed=seed)
                yield GroupRow(by, value, one.name, len(part), n_icons, figures)
    for by, kind_of in OF_ICONS.items():
        kinds = {kind_of(icon) for screen in screens for icon in screen.truth.icons}
        for kind in sorted(kinds, key=_place):
            every = [(screen, _of_kind(screen, kind_of, kind)) for screen in screens]
            chosen = [(screen, icons) for screen, icons in every if icons.any()]
            n_icons = sum(int(icons.sum()) for _, icons in chosen)
            for number, one in enumerate(contenders):
                yield GroupRow(by, kind, one.name, len(chosen), n_icons, _of_icons(number, chosen, seed=seed))


def _place(kind: str) -> tuple[int, str]:
    sizes = size_classes()
    return (sizes.index(kind) if kind in sizes else 0, kind)


def _of_kind(screen: AnsweredScreen, kind_of: Callable[[KnownIcon], str], kind: str) -> Mask:
    return np.array([kind_of(icon) == kind for icon in screen.truth.icons], bool)


def _of_screens(contender: Contender, number: int, part: Sequence[AnsweredScreen], *, seed: int) -> dict[str, Figure]:
    own = [screen.by_contender[number] for screen in part]
    loose = rank_boxes(own, part)
    found = np.array([one.is_found(screen.truth).sum() for one, screen in zip(own, part, strict=True)], np.float64)
    boxes = np.array([one.n_shown for one in own], np.float64)
    false = means({FALSE_BOXES: boxes - found}, seed=seed)
    icons = loose.n_icons.astype(np.float64)
    if not icons.any():
        return false
    over = {"recall": icons, "F1": (boxes + icons) / 2}
    figures = {"AP50": average_precision(loose, seed=seed), **shares(dict.fromkeys(over, found), of=over, seed=seed)}
    named = end_to_end(contender.threshold, own, part, seed=seed)
    return {**figures, **({"end-to-end F1": named.f1} if named else {}), **false}


def _of_icons(number: int, chosen: Sequence[tuple[AnsweredScreen, Mask]], *, seed: int) -> dict[str, Figure]:
    """Figures on some icons of each screen, given as a mask; screens that have none of them are not among these."""
    icons = [own for _, own in chosen]
    held = [own & screen.truth.is_held for screen, own in chosen]
    answers = [(screen.by_contender[number], screen.truth) for screen, _ in chosen]
    found = [one.is_found(truth) for one, truth in answers]
    figures = shares({"recall": _both(icons, found)}, of={"recall": _both(icons, icons)}, seed=seed)
    if any(own.any() for own in held):
        right = {
            "found and named": _both(held, [one.is_named(truth) for one, truth in answers]),
            "true box named": _both(held, [true_ranks(screen) == 1 for screen, _ in chosen]),
        }
        figures |= shares(right, of=dict.fromkeys(right, _both(held, held)), seed=seed)
    return figures


def _both(some: Sequence[Mask], others: Sequence[Mask]) -> Scores:
    return np.array([(one & other).sum() for one, other in zip(some, others, strict=True)], np.float64)
