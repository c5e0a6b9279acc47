"""Which pairs of query and icon are to be judged? Draws queries and pools the first hits of three rankers.

Reads a library and a query file; leaves out what was judged before. Pooling: Manning, Raghavan,
Schütze, Introduction to Information Retrieval, 2008, section 8.5.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.naming.names import normalise
from indexer.reports.bars import Progress
from search.evaluation.contenders import find_contenders, read_vectors_of
from search.evaluation.corpus import Corpus
from search.evaluation.evaluate import Subject
from search.evaluation.judged import GAINS, Judgement, first_rows
from search.evaluation.queries import Question, find_answers, read_queries
from search.evaluation.rankers import VectorRankers, in_blocks

RANKERS = ("names", "pictures", "engine")
N_LABELLED = 3
"""Icons that the query file itself calls right, the best ranked by the engine, which are looked at as well."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A query and the icons that are to be judged for it."""

    query: str
    kind: str
    rows: Sequence[int]
    """Of the corpus, in an order that tells nothing of rankers."""


def pool(
    subject: Subject, queries: Path, *, n: int, judged: Sequence[Judgement], seed: int, progress: Progress
) -> list[Pooled]:
    """Draw `n` queries of a file by lot and pool their first hits; those without a new icon are left out.

    Raises:
        QueryFileError: the file is not as it should be, or none of its answers is in the library.
    """
    questions = find_answers(read_queries(queries), subject.corpus).asked
    lot = np.random.default_rng(seed).permutation(len(questions))[:n]
    drawn = [questions[place] for place in np.sort(lot).tolist()]
    known: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in judged:
        known[line.query, line.kind].update(normalise(name) for grade in GAINS for name in line.grades[grade])
    pooled = []
    for (text, kind), rows in _hits_by_query(subject, drawn, progress).items():
        order = random.Random(f"{seed} {text}")
        if new := _unjudged(rows, subject.corpus, known[text, kind], order):
            pooled.append(Pooled(text, kind, new))
    return pooled


def _unjudged(rows: Ids, corpus: Corpus, known: Collection[str], order: random.Random) -> list[int]:
    """Leave out what a grade of a known name says already, and what that of another icon will say; shuffle the rest."""
    names, new = set(known), []
    for row in rows.tolist():
        if names.isdisjoint(normalise(corpus.names[other]) for other in corpus.alike(np.array([row]))):
            names.add(normalise(corpus.names[row]))
            new.append(row)
    order.shuffle(new)
    return new


def _hits_by_query(
    subject: Subject, questions: Sequence[Question], progress: Progress
) -> Mapping[tuple[str, str], Ids]:
    """First hits by text and kind: lines of a query file that agree in both are judged as one."""
    found: dict[tuple[str, str], Ids] = {}
    for question, rows in zip(questions, _first_hits(subject, questions, progress), strict=True):
        key = question.query.text, question.query.kind
        found[key] = np.union1d(found.get(key, rows), rows)
    return found


def _first_hits(subject: Subject, questions: Sequence[Question], progress: Progress) -> Iterator[Ids]:
    """Rows that any of the rankers has among its first hits, and some of those that are labelled; ascending."""
    corpus, manifest = subject.corpus, subject.manifest
    [contender] = find_contenders(subject.library, (), in_use=manifest.fingerprint)
    vectors = read_vectors_of(subject.library, contender, corpus)
    rankers = VectorRankers(subject.opened, corpus, vectors, manifest.weights)
    for block in in_blocks(len(questions), n_candidates=len(corpus)):
        part = questions[block]
        scores = rankers.scores([question.query.text for question in part])
        for row, question in enumerate(part):
            for ranker in RANKERS:
                scores[ranker][row, question.aside] = -np.inf
            firsts = [first_rows(scores[ranker][row], corpus) for ranker in RANKERS]
            yield np.unique(np.concatenate([*firsts, _labelled(question, scores["engine"][row])]))
        progress("Asking three rankers", block.stop, len(questions))


def _labelled(question: Question, scores: Floats) -> Ids:
    found: Ids = question.right[np.argsort(-scores[question.right], kind="stable")[:N_LABELLED]]
    return found
