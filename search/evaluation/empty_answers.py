"""How often is an answer wrongly empty, and how often is there one where none can be? The engine's rates, by score.

Asked are held-out queries, what no icon is about (`data/eval/off-topic.txt`), and made-up words; neither of the last
two are what a library's curves are fitted with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.library.bundled import bundled
from indexer.publishing.calibration import made_up_words
from indexer.reports.bars import Progress
from indexer.reports.measures import Figure, means
from search.engine import Query, SearchEngine, Window
from search.evaluation.corpus import Corpus
from search.evaluation.queries import Question
from search.ranking.scores import BEST_SCORE, GOOD_SCORE
from search.results import Hit

LIMITS = (0.05, BEST_SCORE, 0.15, 0.2, 0.25, 0.3, 0.4, GOOD_SCORE)
"""Least scores of the best hit that are tried."""
EMPTY, OFF_TOPIC, MADE_UP = "wrongly empty", "off topic, answered", "made up, answered"
N_MADE_UP, MADE_UP_SEED = 100, 1
_FIRST_HITS = Window(k=10, min_score=0)


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
    rows = [_row(EMPTY, held_out, is_answered=False, seed=seed)] if held_out else []
    off_topic = (bundled("eval") / "off-topic.txt").read_text("utf-8").splitlines()
    made_up = made_up_words(N_MADE_UP, seed=MADE_UP_SEED)
    for kind, texts in ((OFF_TOPIC, off_topic), (MADE_UP, made_up)):
        scores = []
        for done, text in enumerate(texts, 1):
            scores.append(max((hit.score for hit in _ask(engine, text)), default=0.0))
            progress(f"Asking what is {kind.partition(',')[0]}", done, len(texts))
        rows.append(_row(kind, scores, is_answered=True, seed=seed))
    return rows


def _ask(engine: SearchEngine, text: str) -> Sequence[Hit]:
    return engine.ask(Query(words=text), window=_FIRST_HITS).hits


def _row(kind: str, best: Sequence[float], *, is_answered: bool, seed: int) -> EmptyRow:
    scores = np.array(best)
    errors = {f"{limit:g}": ((scores >= limit) == is_answered).astype(np.float64) for limit in LIMITS}
    return EmptyRow(kind, len(scores), means(errors, seed=seed))
