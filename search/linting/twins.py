"""Rules of how icons look: those that show the same, or nearly, and names that do not say what is drawn.

Near means: every pixel of ink, and of ground, has one of its kind close by in the other picture, once both lie at the
same place. So an arrow to the left is not near one to the right, nor a clock at one near a clock at two.

A name is doubted by how much better the picture fits another name of the set, in standard deviations over the set's
pictures, less how much it looks like the pictures of icons that are named alike.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, grouped, spread_of
from indexer.languages.words import first_few
from search.linting.findings import Group, Rule, Violation
from search.linting.inspecting import GRID

_MOST_SHIFT = 8
"""Pixels of a mask, 1.5 units of 24: farther apart, the same drawing means something else."""
_LEAST_COSINE = 0.93
_LEAST_CORRELATION = 0.97
"""Of ink on a grid of 16 x 16: either makes a pair worth a closer look."""
_CLOSE, _NEAR = 2, 3
"""Pixels; a unit of 24 has five."""
_MOST_CLOSE = 8
_MOST_STRAYS = 60
_MOST_DIFFERENT = 0.06
"""Of the lesser ink."""
_MOST_HEAVIER = 1.5
"""Times the ink of the other one."""
_BLOCK = 1024


def find_identical(group: Group) -> Iterator[Violation]:
    """Find icons whose pixels are equal. Styles or sizes of one name may well be."""
    for rows in _drawn_alike(group).values():
        looks = {(group.seen.icons[row].file.style, group.seen.icons[row].file.size) for row in rows}
        of_words = {group.seen.icons[row].file.words: row for row in reversed(rows)}
        alike = rows if len(looks) == 1 else sorted(of_words.values())
        addresses = {row: group.seen.icons[row].file.address for row in alike}
        # One drawing under several names is what aliases of Iconify are.
        drawings = {(one.digest if "iconify" in one.kind else row): row for row, one in reversed(addresses.items())}
        alike = sorted(drawings.values())
        if len(alike) > 1:
            names = first_few([group.seen.icons[row].file.label for row in alike], most=4)
            yield Violation(tuple(alike), f"{len(alike)} icons show the same picture: {names}")


def _drawn_alike(group: Group) -> dict[int, list[int]]:
    drawn = group.seen.drawn
    alike = grouped((row for row in group.rows.tolist() if drawn[row]), lambda row: int(drawn[row]))
    return {digest: rows for digest, rows in alike.items() if len(rows) > 1}


def find_near(group: Group) -> Iterator[Violation]:
    """Find pairs that differ by less than can be seen at a glance."""
    repeated = {row for rows in _drawn_alike(group).values() for row in rows[1:]}
    rows = np.array([r for r in group.rows.tolist() if group.seen.drawn[r] and r not in repeated], np.int64)
    for one, other in _candidates(group, rows):
        files = group.seen.icons[one].file, group.seen.icons[other].file
        is_variant = files[0].words == files[1].words and files[0].size != files[1].size
        different = None if is_variant else _near(group.ink(one), group.ink(other))
        if different is not None:
            share = f"{different:.1%}" if different >= 0.001 else "less than 0.1%"
            yield Violation((one, other), f"{files[0].label} and {files[1].label} differ in {share} of their ink")


def _candidates(group: Group, rows: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Pairs that look alike to the encoder, or on a coarse grid."""
    if not len(rows):
        return
    # Ink on a grid of 16 x 16, each row of length 1 about its mean.
    cells = np.stack([group.ink(row).reshape(16, 8, 16, 8).mean(axis=(1, 3)).ravel() for row in rows])
    cells -= cells.mean(axis=1, keepdims=True)
    coarse = np.asarray(cells / (np.linalg.norm(cells, axis=1, keepdims=True) + 1e-9), np.float32)
    vectors = group.seen.vectors[rows]
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        alike = coarse[block] @ coarse[start:].T > _LEAST_CORRELATION
        if vectors.shape[1]:
            alike |= vectors[block] @ vectors[start:].T > _LEAST_COSINE
        for one, other in np.argwhere(np.triu(alike, 1)).tolist():
            yield int(rows[start + one]), int(rows[start + other])


def _near(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float | None:
    """The share of the ink in which two pictures differ at one place; None where they are not near."""
    least = int(min(one.sum(), other.sum()))
    if not least or max(one.sum(), other.sum()) > _MOST_HEAVIER * least:
        return None
    moved = _moved(other, onto=one)
    if moved is None or (different := int((one ^ moved).sum()) / least) > _MOST_HEAVIER - 1:
        return None
    n_close = strays(one, moved, by=_CLOSE)
    is_slight = n_close <= _MOST_STRAYS and different <= _MOST_DIFFERENT
    return different if n_close <= _MOST_CLOSE or (is_slight and not strays(one, moved, by=_NEAR)) else None


def _moved(mask: NDArray[np.bool_], *, onto: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """A picture moved so that the boxes of both have one middle; None where these are too far apart or differ."""
    (top, left, high, wide), (other_top, other_left, other_high, other_wide) = _box(onto), _box(mask)
    down, across = (2 * (top - other_top) + high - other_high) // 2, (2 * (left - other_left) + wide - other_wide) // 2
    is_other_size = abs(high - other_high) > 2 * _NEAR or abs(wide - other_wide) > 2 * _NEAR
    if is_other_size or max(abs(down), abs(across)) > _MOST_SHIFT:
        return None
    moved = np.zeros_like(mask)
    moved[max(0, down) : GRID + min(0, down), max(0, across) : GRID + min(0, across)] = mask[
        max(0, -down) : GRID + min(0, -down), max(0, -across) : GRID + min(0, -across)
    ]
    return moved


def _box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Top, left, height and width of the ink."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(rows[0]), int(columns[0]), int(rows[-1] - rows[0] + 1), int(columns[-1] - columns[0] + 1)


def grown(mask: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """A mask with all pixels that are within `by` pixels of it, about as a disc: in steps, square and cross in turn."""
    for step in range(by):
        wider = mask.copy()
        wider[1:] |= mask[:-1]
        wider[:-1] |= mask[1:]
        source = wider.copy() if step % 2 else mask
        wider[:, 1:] |= source[:, :-1]
        wider[:, :-1] |= source[:, 1:]
        mask = wider
    return mask


def strays(one: NDArray[np.bool_], other: NDArray[np.bool_], *, by: int) -> int:
    """Count the pixels of either picture, ink or ground, that have none of their kind within `by` pixels in the other.

    Ground counts as ink does: a hole that is missing is a difference, however small the distance to ink.
    """
    pairs = ((one, other), (other, one), (~one, ~other), (~other, ~one))
    return sum(int((first & ~grown(second, by)).sum()) for first, second in pairs)


LEAST_DOUBT = 3.9
"""Measured on lucide, tabler, mdi and phosphor with names changed about: finds about two of three."""
_LEAST_ICONS = 40
"""Of which the encoder knows what is usual."""
_WEIGHT_OF_ALIKE = 0.34
_N_ALIKE = 8
"""Names nearest to a name, whose pictures a picture is held against."""
_N_SHOWN = 3
_BRANDS = frozenset(("brand", "brands", "logo", "logos"))
"""A mark looks like nothing that its name says."""


def find_misnamed(group: Group) -> Iterator[Violation]:
    """Find pictures that fit another name of the set far better than their own."""
    seen = group.seen
    rows = np.array([row for row in group.rows.tolist() if seen.drawn[row]], np.int64)
    if group.encoder is None or len(rows) < _LEAST_ICONS or not seen.vectors.shape[1]:
        return
    names = sorted({seen.icons[row].file.words for row in rows.tolist()})
    number = {words: place for place, words in enumerate(names)}
    own = np.array([number[seen.icons[row].file.words] for row in rows.tolist()])
    doubts, likely = judge(seen.vectors[rows], group.encoder.words(names), own)
    icon_of = {int(name): int(row) for name, row in zip(own[::-1], rows[::-1], strict=True)}
    for place in np.argsort(-doubts).tolist():
        if doubts[place] < LEAST_DOUBT:
            return
        words, others = names[own[place]], [int(name) for name in likely[place] if name != own[place]]
        its_own = set(words.split())
        if not its_own & _BRANDS and not any(its_own & set(names[name].split()) for name in others):
            shown = ", ".join(f'"{names[name]}"' for name in others)
            message = f'is called "{words}", and looks like {shown}'
            yield Violation((int(rows[place]),), message, looks_like=tuple(icon_of[name] for name in others))


def judge(pictures: Floats, texts: Floats, own: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Hold pictures (n, dim) against names (m, dim); `own` is the name of each picture.

    Return the doubt about each, and the names that fit it best, (n, _N_SHOWN), the best first.
    """
    naming = spread_of(pictures, texts, of_each=True)
    doubt, likely = np.empty(len(pictures)), np.empty((len(pictures), min(_N_SHOWN, len(texts))), np.int64)
    alike = _alike(pictures, texts, own)
    for start in range(0, len(pictures), _BLOCK):
        block = slice(start, start + _BLOCK)
        fits = naming.of(pictures[block] @ texts.T)
        places = np.arange(len(fits))
        best = np.argsort(-fits, axis=1)[:, : likely.shape[1]]
        likely[block] = best
        doubt[block] = fits[places, best[:, 0]] - fits[places, own[block]] - _WEIGHT_OF_ALIKE * alike[block]
    return doubt, likely


def _alike(pictures: Floats, texts: Floats, own: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much each picture looks like that one, of those named alike, which it looks like most; standardised."""
    icons_of = grouped(range(len(own)), lambda place: int(own[place]))
    likeness = spread_of(pictures, pictures)
    nearest = np.empty((len(texts), min(_N_ALIKE, len(texts))), np.int64)
    for start in range(0, len(texts), _BLOCK):
        nearest[start : start + _BLOCK] = np.argpartition(
            -(texts[start : start + _BLOCK] @ texts.T), nearest.shape[1] - 1, axis=1
        )[:, : nearest.shape[1]]
    alike = np.full(len(pictures), 0.0)
    for place, name in enumerate(own.tolist()):
        others = [other for near in {name, *nearest[name].tolist()} for other in icons_of[near] if other != place]
        if others:
            alike[place] = likeness.of((pictures[others] @ pictures[place]).max())
    return alike


RULES = (
    Rule(
        "identical",
        "warning",
        "icons of other names that show the same pixels",
        "keep one, and let the other names lead to it",
        find_identical,
        is_of_whole_set=True,
    ),
    Rule(
        "near-duplicate",
        "warning",
        "icons that show nearly the same",
        "keep the better one, or make the difference plain",
        find_near,
        needs_vectors=True,
    ),
    Rule(
        "name",
        "note",
        "names that do not say what is drawn, as the encoder sees it",
        "look whether two files were mixed up; else accept it",
        find_misnamed,
        is_of_whole_set=True,
        needs_vectors=True,
    ),
)
