"""Where do the right answers of each question stand? Asks rankers all questions, and shows which went worst."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids
from indexer.reports.measures import UNRANKED, Ranks, right_ranks
from indexer.reports.terminal import Progress
from search.evaluation.corpus import Originals
from search.evaluation.queries import Question
from search.evaluation.rankers import Rankers, VectorRankers, in_blocks
from search.generation.backend import IconRow
from search.ranking.order import group

N_INSTEAD = 5
N_RIGHT_SHOWN = 3
_LOOKED_AT = 200
"""Icons of which the first hits are taken, after variants and equal pictures have become one hit."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An icon in a report: ids of the catalog, its name and its set."""

    icon: int
    image: int
    name: str
    set: str

    @classmethod
    def of(cls, icon: IconRow) -> "Shown":
        """Keep of an icon what a report says."""
        return cls(icon.id, icon.image_id, icon.name, icon.set)


@dataclass(frozen=True, slots=True)
class Case:
    """One query with what came of it."""

    query: str
    """Words, or for a screenshot the name of the icon."""
    task: str
    rank: int | None
    """Of the first right answer, None where no right answer was ranked."""
    n_right: int
    right: Sequence[Shown]
    """Right answers, best ranked first."""
    instead: Sequence[Shown]
    """The first hits."""
    picture: bytes | None = None
    """The screenshot that was asked with."""


def rank_answers(
    rankers: Rankers, questions: Sequence[Question], *, n_icons: int, title: str, progress: Progress
) -> dict[str, list[Ranks]]:
    """Ask all questions; the ranks of each one's right answers, ascending, by ranker."""
    ranks: defaultdict[str, list[Ranks]] = defaultdict(list)
    for block in in_blocks(len(questions), n_candidates=n_icons):
        part = questions[block]
        for ranker, scores in rankers.scores([question.query.text for question in part]).items():
            for row, question in zip(scores, part, strict=True):
                row[question.aside] = -np.inf
                ranks[ranker].append(right_ranks(row, question.right))
        progress(title, block.stop, len(questions))
    return dict(ranks)


def worst_cases(
    rankers: VectorRankers,
    questions: Sequence[Question],
    ranks: Mapping[str, Sequence[Ranks]],
    originals: Originals,
    *,
    n: int,
) -> list[Case]:
    """Show the `n` questions whose first right answer stands lowest for the engine, the worst first.

    Of those that the engine leaves without one, it is the order of the fused vectors that tells.
    """
    first, by_vectors = (np.array([found[0] for found in ranks[name]], np.int64) for name in ("engine", "fused"))
    cases = []
    for place in np.lexsort((-by_vectors, -first))[:n].tolist():
        question = questions[place]
        scores = rankers.scores([question.query.text])["engine"][0]
        scores[question.aside] = -np.inf
        right = question.right[np.argsort(-scores[question.right], kind="stable")]
        order = np.argsort(-scores, kind="stable")
        cases.append(
            Case(
                query=question.query.text,
                task=question.query.kind,
                rank=as_rank(int(first[place])),
                n_right=len(question.right),
                right=first_hits(right, originals, k=N_RIGHT_SHOWN),
                instead=first_hits(order[np.isfinite(scores[order])], originals, k=N_INSTEAD),
            )
        )
    return cases


def first_hits(rows: Ids, originals: Originals, *, k: int) -> list[Shown]:
    """Show the first `k` hits of some rows, best first, as a search would: variants and equal pictures once."""
    looked_at = rows[:_LOOKED_AT].tolist()
    icons = originals.icons(looked_at)
    return shown([icons[row] for row in looked_at], k=k)


def shown(icons: Sequence[IconRow], *, k: int) -> list[Shown]:
    """Show the first `k` hits of some icons, best first."""
    kept = group((((icon.set_id, icon.name_id), icon.image_id) for icon in icons), k=k)
    return [Shown.of(icons[place]) for place in kept]


def as_rank(rank: int) -> int | None:
    """Spell a rank for people and programs."""
    return None if rank == UNRANKED else rank


def rows_of_kind(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Places of the questions of each kind, kinds in the order in which they first come."""
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        kinds[question.query.kind].append(place)
    return dict(kinds)
