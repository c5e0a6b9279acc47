"""Questions asked of rankers, the worst of them shown; and how often the engine leaves an answer wrongly empty."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids
from indexer.library.bundled import bundled
from indexer.merging.calibration import made_up_words
from indexer.reports.measures import UNRANKED, Figure, Ranks, means, right_ranks
from indexer.reports.terminal import Progress
from search.engine import Query, SearchEngine, Window
from search.evaluation.corpus import Corpus, Originals
from search.evaluation.queries import Question
from search.evaluation.rankers import Rankers, VectorRankers, in_blocks
from search.generation.backend import IconRow
from search.ranking.order import BEST_SCORE, GOOD_SCORE, group
from search.results import Hit

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


LIMITS = (0.05, BEST_SCORE, 0.15, 0.2, 0.25, 0.3, 0.4, GOOD_SCORE)
"""Least scores of the best hit that are tried."""
EMPTY, OFF_TOPIC, MADE_UP = "wrongly empty", "off topic, answered", "made up, answered"
N_MADE_UP, MADE_UP_SEED = 100, 1
_HITS_LOOKED_AT = Window(k=10, min_score=0)


@dataclass(frozen=True, slots=True)
class EmptyRow:
    """How often each limit errs on one kind of queries."""

    kind: str
    n_queries: int
    figures: Mapping[str, Figure]
    """Share of the queries by limit, spelt as a number."""


def measure_empty_answers(
    engine: SearchEngine, corpus: Corpus, questions: Sequence[Question], *, n: int, seed: int, progress: Progress
) -> list[EmptyRow]:
    """Ask `n` of the questions, by lot, and everything that has no answer.

    Of the former only those count that have a right icon among the first ten hits: the others have nothing to lose.
    """
    lot = np.sort(np.random.default_rng(seed).permutation(len(questions))[:n]).tolist()
    held_out = []
    for done, place in enumerate(lot, 1):
        hits = _ask(engine, questions[place].query.text)
        right = corpus.icon_ids[questions[place].right]
        if np.isin([hit.id for hit in hits], right).any():
            held_out.append(hits[0].score)
        progress("Asking for what is there", done, len(lot))
    rows = [_empty_row(EMPTY, held_out, is_answered=False, seed=seed)] if held_out else []
    off_topic = (bundled("eval") / "off-topic.txt").read_text("utf-8").splitlines()
    made_up = made_up_words(N_MADE_UP, seed=MADE_UP_SEED)
    for kind, texts in ((OFF_TOPIC, off_topic), (MADE_UP, made_up)):
        scores = []
        for done, text in enumerate(texts, 1):
            scores.append(max((hit.score for hit in _ask(engine, text)), default=0.0))
            progress(f"Asking what is {kind.partition(',')[0]}", done, len(texts))
        rows.append(_empty_row(kind, scores, is_answered=True, seed=seed))
    return rows


def _ask(engine: SearchEngine, text: str) -> Sequence[Hit]:
    return engine.ask(Query(words=text), window=_HITS_LOOKED_AT).hits


def _empty_row(kind: str, best: Sequence[float], *, is_answered: bool, seed: int) -> EmptyRow:
    scores = np.array(best)
    errors = {f"{limit:g}": ((scores >= limit) == is_answered).astype(np.float64) for limit in LIMITS}
    return EmptyRow(kind, len(scores), means(errors, seed=seed))
