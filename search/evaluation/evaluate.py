"""How good searches of a library are: rankers side by side on query files and on screenshots of its own icons.

Reads one generation, the vectors of the encoders that are compared, and query files; exact search, fp32.

    icons lab evaluate --queries queries.jsonl --report report.html
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indexer.errors import QueryFileError, SourceError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.merging.manifest import Weights, made_up_words
from indexer.reports.figures import Ranks, means, right_ranks
from indexer.reports.terminal import Progress
from search.engine import Query, SearchEngine, Window
from search.evaluation.corpus import N_INSTEAD, Case, Corpus, Originals, as_rank
from search.evaluation.findings import ENGINE, EmptyRow, Evaluation, Row, measure
from search.evaluation.queries import Question, Regime, Tags, find_answers, name_questions, read_queries, regimes
from search.evaluation.rankers import (
    Contender,
    CorpusVectors,
    VectorRankers,
    find_contenders,
    in_blocks,
    read_vectors_of,
)
from search.evaluation.screenshots import (
    CHANGES,
    TASK,
    USUAL_SIZE,
    Condition,
    Shots,
    choose_shots,
    conditions,
    rank_shots,
    worst_shots,
)
from search.generation.opened import open_current
from search.ranking.weights import BEST_SCORE, GOOD_SCORE
from search.results import Hit

N_WORST = 24
N_WORST_SHOTS = 12
HARDEST = Condition(USUAL_SIZE, CHANGES)
"""The screenshots of which the worst are shown."""


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What is compared, and on what."""

    queries: Sequence[Path] = ()
    """None: the bundled benchmark where the library is the bundled sample icons, else no words are asked."""
    models: Sequence[str] = ()
    """None: the encoder in use."""
    picture_weight: float | None = None
    tag_weight: float | None = None
    """None: those that the library's index was made with."""
    n_tags: int = 500
    """Tags of the library that are asked for."""
    n_names: int = 500
    """Names of the library that are asked for."""
    n_screenshots: int = 500
    n_scored: int = 500
    """Queries of the query files by which empty answers are measured."""
    seed: int = 0


class Subject:
    """An opened library: what is evaluated, and where a report takes its pictures from."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.opened = open_current(library)
        self.engine = SearchEngine(library, self.opened)
        self.manifest = self.opened.manifest
        self.corpus = Corpus.read(self.opened.generation)
        self.originals = Originals(self.opened.snapshot, self.corpus)

    def query_files(self, options: EvaluateOptions) -> list[Path]:
        """Choose the query files: those of the options, else the bundled benchmark for the bundled icons."""
        is_bundled = self.opened.snapshot.locations() == {str(bundled("samples/lucide-static"))}
        files = list(options.queries) or ([bundled("eval") / "lucide-1.62.0.jsonl.xz"] if is_bundled else [])
        asks_tags = options.n_tags and self.opened.facets.labels("tag").values
        if not (files or options.n_screenshots or options.n_names or asks_tags):
            raise QueryFileError("nothing to ask; give --queries FILE, or --names, --tags or --screenshots above 0")
        return files


def evaluate(subject: Subject, options: EvaluateOptions, progress: Progress) -> Evaluation:
    """Measure all rankers of all encoders on all tasks.

    Raises:
        QueryFileError: a query file is not as it should be, or there is nothing to ask.
        LibraryError, ModelError: a model is unknown, or the library has no vectors of it.
    """
    contenders = find_contenders(subject.library, options.models, in_use=subject.manifest.fingerprint)
    files = subject.query_files(options)
    questions = find_answers([query for file in files for query in read_queries(file)], subject.corpus)
    own = subject.manifest.weights
    found = Evaluation(
        library=str(subject.library.root),
        generation=subject.manifest.number,
        n_icons=len(subject.corpus),
        n_pictures=len(subject.corpus.image_ids),
        picture_weight=own.picture if options.picture_weight is None else options.picture_weight,
        tag_weight=own.tags if options.tag_weight is None else options.tag_weight,
        seed=options.seed,
        encoders=contenders,
        files=[*map(str, files)],
        n_dropped=len(questions.dropped),
        unknown=questions.unknown,
    )
    *others, own_regime = regimes(Tags.read(subject.opened), questions.asked, n_tags=options.n_tags, seed=options.seed)
    own_names = name_questions(subject.corpus, n=options.n_names, seed=options.seed)
    asked = [*others, replace(own_regime, questions=[*own_regime.questions, *own_names])]
    _Run(subject, [regime for regime in asked if regime.questions], options.n_screenshots, found, progress).compare()
    if options.n_scored and questions.asked:
        found.empty = measure_empty_answers(
            subject.engine, subject.corpus, questions.asked, n=options.n_scored, seed=options.seed, progress=progress
        )
    return found


@dataclass(slots=True)
class _Run:
    """One evaluation under way: fills `found`."""

    subject: Subject
    regimes: Sequence[Regime]
    n_screenshots: int
    found: Evaluation
    progress: Progress
    shots: Shots | None = None
    """The same for all encoders; chosen by the vectors of the first."""

    def compare(self) -> None:
        """Ask one encoder after the other, so that the vectors of one are in memory at a time."""
        for contender in self.found.encoders:
            vectors = read_vectors_of(self.subject.library, contender, self.subject.corpus)
            for regime in self.regimes:
                self._ask_words(contender, vectors, regime)
            if self.n_screenshots:
                self._ask_with_screenshots(contender, vectors)
        self.found.sort_rows()

    def _ask_words(self, contender: Contender, vectors: CorpusVectors, regime: Regime) -> None:
        subject, found = self.subject, self.found
        weights = Weights(picture=found.picture_weight, tags=found.tag_weight)
        rankers = VectorRankers(subject.engine, subject.corpus, vectors, weights, regime.known)
        title = f"Asking {contender.label}, {regime.name} known"
        ranks = rank_answers(rankers, regime.questions, subject.corpus, title=title, progress=self.progress)
        kinds: defaultdict[str, list[int]] = defaultdict(list)
        for place, question in enumerate(regime.questions):
            kinds[question.query.kind].append(place)
        for kind, places in kinds.items():
            for ranker, of_all in ranks.items():
                figures = measure([of_all[place] for place in places], seed=found.seed)
                found.rows.append(Row(kind, ranker, contender.label, len(places), figures, regime=regime.name))
        if not found.worst and regime is self.regimes[-1]:
            found.worst = worst_cases(rankers, regime.questions, ranks, subject.originals, n=N_WORST)

    def _ask_with_screenshots(self, contender: Contender, vectors: CorpusVectors) -> None:
        every, originals, seed = conditions(), self.subject.originals, self.found.seed
        shots = self.shots = self.shots or choose_shots(
            self.subject.corpus, originals, vectors, n=self.n_screenshots, seed=seed
        )
        self.found.n_unreadable = shots.unreadable
        if not len(shots):
            raise SourceError("no picture of this library can be read from its source any more; run `icons index`")
        for number, condition in enumerate(every, 1):
            ranks = rank_shots(shots, vectors, condition)
            figures = measure(ranks, seed=seed)
            self.found.rows.append(Row(TASK, "pictures", contender.label, len(shots), figures, condition))
            self.progress(f"Screenshots for {contender.label}", number * len(shots), len(every) * len(shots))
            if condition == HARDEST and not self.found.worst_shots:
                self.found.worst_shots = worst_shots(shots, ranks, originals, vectors, condition, n=N_WORST_SHOTS)


N_RIGHT_SHOWN = 3


def rank_answers(
    rankers: VectorRankers, questions: Sequence[Question], corpus: Corpus, *, title: str, progress: Progress
) -> dict[str, list[Ranks]]:
    """Ask all questions; the ranks of each one's right answers, ascending, by ranker."""
    ranks: defaultdict[str, list[Ranks]] = defaultdict(list)
    for block in in_blocks(len(questions), n_candidates=len(corpus)):
        part = questions[block]
        for ranker, scores in rankers.scores([question.query.text for question in part]).items():
            for row, question in zip(scores, part, strict=True):
                row[corpus.outside(question.sets)] = -np.inf
                ranks[ranker].append(right_ranks(row, question.right))
        ranks[ENGINE] += map(rankers.engine.ranks, part)
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
    first, by_vectors = (np.array([found[0] for found in ranks[name]], np.int64) for name in (ENGINE, "fused"))
    cases = []
    for place in np.lexsort((-by_vectors, -first))[:n].tolist():
        question = questions[place]
        hits = rankers.engine.hits(question.query.text, question.sets)
        right = np.concatenate([hits[np.isin(hits, question.right)], question.right])
        cases.append(
            Case(
                query=question.query.text,
                task=question.query.kind,
                rank=as_rank(int(first[place])),
                n_right=len(question.right),
                right=originals.shown(right, k=N_RIGHT_SHOWN),
                instead=originals.shown(hits, k=N_INSTEAD),
            )
        )
    return cases


LIMITS = (0.05, BEST_SCORE, 0.15, 0.2, 0.25, 0.3, 0.4, GOOD_SCORE)
"""Least scores of the best hit that are tried."""
EMPTY, OFF_TOPIC, MADE_UP = "wrongly empty", "off topic, answered", "made up, answered"
N_MADE_UP, MADE_UP_SEED = 100, 1
_HITS_LOOKED_AT = Window(k=10, min_score=0)


def measure_empty_answers(
    engine: SearchEngine, corpus: Corpus, questions: Sequence[Question], *, n: int, seed: int, progress: Progress
) -> list[EmptyRow]:
    """Ask `n` of the questions, by lot, and everything that has no answer.

    Of the former only those count that have a right icon among the first ten hits: the others have nothing to lose.
    """

    def ask(text: str) -> Sequence[Hit]:
        return engine.ask(Query(words=text), window=_HITS_LOOKED_AT).hits

    lot = np.sort(np.random.default_rng(seed).permutation(len(questions))[:n]).tolist()
    held_out = []
    for done, place in enumerate(lot, 1):
        hits = ask(questions[place].query.text)
        if np.isin([hit.id for hit in hits], corpus.icon_ids[questions[place].right]).any():
            held_out.append(hits[0].score)
        progress("Asking for what is there", done, len(lot))
    rows = [_empty_row(EMPTY, held_out, is_answered=False, seed=seed)] if held_out else []
    off_topic = (bundled("eval") / "off-topic.txt").read_text("utf-8").splitlines()
    made_up = made_up_words(N_MADE_UP, seed=MADE_UP_SEED)
    for kind, texts in ((OFF_TOPIC, off_topic), (MADE_UP, made_up)):
        scores = []
        for done, text in enumerate(texts, 1):
            scores.append(max((hit.score for hit in ask(text)), default=0.0))
            progress(f"Asking what is {kind.partition(',')[0]}", done, len(texts))
        rows.append(_empty_row(kind, scores, is_answered=True, seed=seed))
    return rows


def _empty_row(kind: str, best: Sequence[float], *, is_answered: bool, seed: int) -> EmptyRow:
    scores = np.array(best)
    errors = {f"{limit:g}": ((scores >= limit) == is_answered).astype(np.float64) for limit in LIMITS}
    return EmptyRow(kind, len(scores), means(errors, seed=seed))
