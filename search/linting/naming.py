"""Rule: whether a name says what is drawn, as the encoder sees it.

What counts is how much better the picture fits another name of the set than its own, in standard deviations over the
set's pictures, less how much it looks like the pictures of icons that are named alike.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from search.linting.findings import Group, Rule, Violation

LEAST_DOUBT = 3.9
"""Measured on lucide, tabler, mdi and phosphor with names changed about: finds about two of three."""
_LEAST_ICONS = 40
"""Of which the encoder knows what is usual."""
_WEIGHT_OF_ALIKE = 0.34
_N_ALIKE = 8
"""Names nearest to a name, whose pictures a picture is held against."""
_N_SHOWN = 3
_BLOCK = 1024
_BRANDS = frozenset(("brand", "brands", "logo", "logos"))
"""A mark looks like nothing that its name says."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """How a picture fits the names of its set."""

    doubt: NDArray[np.float64]
    likely: NDArray[np.int64]
    """Names that fit each picture best, (n, _N_SHOWN), the best first."""


def find_misnamed(group: Group) -> Iterator[Violation]:
    """Find pictures that fit another name of the set far better than their own."""
    seen = group.seen
    rows = np.array([row for row in group.rows.tolist() if seen.drawn[row]], np.int64)
    if group.encoder is None or len(rows) < _LEAST_ICONS or not seen.vectors.shape[1]:
        return
    names = sorted({seen.icons[row].words for row in rows.tolist()})
    number = {words: place for place, words in enumerate(names)}
    own = np.array([number[seen.icons[row].words] for row in rows.tolist()])
    doubts = judge(seen.vectors[rows], group.encoder.words(names), own)
    icon_of = {int(name): int(row) for name, row in zip(own[::-1], rows[::-1], strict=True)}
    for place in np.argsort(-doubts.doubt).tolist():
        if doubts.doubt[place] < LEAST_DOUBT:
            return
        words = names[own[place]]
        likely = [int(name) for name in doubts.likely[place] if name != own[place]]
        if not _BRANDS & set(words.split()) and not _shares_word(words, [names[name] for name in likely]):
            shown = ", ".join(f'"{names[name]}"' for name in likely)
            yield Violation(
                (int(rows[place]),),
                f'is called "{words}", and looks like {shown}',
                looks_like=tuple(icon_of[name] for name in likely),
            )


def _shares_word(words: str, others: list[str]) -> bool:
    return any(set(words.split()) & set(other.split()) for other in others)


def judge(pictures: Floats, texts: Floats, own: NDArray[np.int64]) -> Doubt:
    """Hold pictures (n, dim) against names (m, dim); `own` is the name of each picture."""
    # Mean and spread of a name's fit over all pictures, without the table of all fits.
    means = pictures.mean(axis=0) @ texts.T
    squares = pictures.T @ pictures / len(pictures)
    spreads = np.sqrt(np.maximum(np.einsum("md,de,me->m", texts, squares, texts) - means**2, 1e-8))
    doubt, likely = np.empty(len(pictures)), np.empty((len(pictures), min(_N_SHOWN, len(texts))), np.int64)
    alike = _alike(pictures, texts, own)
    for start in range(0, len(pictures), _BLOCK):
        block = slice(start, start + _BLOCK)
        fits = (pictures[block] @ texts.T - means) / spreads
        places = np.arange(len(fits))
        best = np.argsort(-fits, axis=1)[:, : likely.shape[1]]
        likely[block] = best
        doubt[block] = fits[places, best[:, 0]] - fits[places, own[block]] - _WEIGHT_OF_ALIKE * alike[block]
    return Doubt(doubt, likely)


def _alike(pictures: Floats, texts: Floats, own: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much each picture looks like that one, of those named alike, which it looks like most; standardised."""
    icons_of: dict[int, list[int]] = defaultdict(list)
    for place, name in enumerate(own.tolist()):
        icons_of[name].append(place)
    mean, spread = _usual_cosine(pictures)
    nearest = np.empty((len(texts), min(_N_ALIKE, len(texts))), np.int64)
    for start in range(0, len(texts), _BLOCK):
        cosines = texts[start : start + _BLOCK] @ texts.T
        nearest[start : start + _BLOCK] = np.argpartition(-cosines, nearest.shape[1] - 1, axis=1)[:, : nearest.shape[1]]
    alike = np.full(len(pictures), 0.0)
    for place, name in enumerate(own.tolist()):
        others = [other for near in {name, *nearest[name].tolist()} for other in icons_of[near] if other != place]
        if others:
            alike[place] = (float((pictures[others] @ pictures[place]).max()) - mean) / spread
    return alike


def _usual_cosine(pictures: Floats) -> tuple[float, float]:
    """Mean and standard deviation of the cosine of two pictures of a set."""
    some = pictures[:: max(1, len(pictures) // 2000)]
    cosines = some @ some.T
    return float(cosines.mean()), max(float(cosines.std()), 1e-4)


RULES = (
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
