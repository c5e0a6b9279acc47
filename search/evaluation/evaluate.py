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
from indexer.reports.figures import Ranks, means
from indexer.reports.terminal import Progress
from search.engine import Query, SearchEngine, Window
from search.evaluation.findings import EmptyRow, Evaluation, Row, measure
from search.evaluation.queries import (
    N_INSTEAD,
    Case,
    Corpus,
    Question,
    Regime,
    Tags,
    as_rank,
    find_answers,
    name_questions,
    read_queries,
    regimes,
)
from search.evaluation.rankers import (
    ENGINE,
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
from search.ranking.weights import GOOD_SCORE, LEAST_SCORE
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
    own, corpus, seed = subject.manifest.weights, subject.corpus, options.seed
    found = Evaluation(
        library=str(subject.library.root),
        generation=subject.manifest.number,
        n_icons=len(corpus),
        n_pictures=len(corpus.image_ids),
        picture_weight=own.picture if options.picture_weight is None else options.picture_weight,
        tag_weight=own.tags if options.tag_weight is None else options.tag_weight,
        seed=seed,
        encoders=contenders,
        files=[*map(str, files)],
        n_dropped=len(questions.dropped),
        unknown=questions.unknown,
    )
    *others, own_regime = regimes(Tags.read(subject.opened), questions.asked, n_tags=options.n_tags, seed=seed)
    own_names = name_questions(corpus, n=options.n_names, seed=seed)
    asked = [*others, replace(own_regime, questions=[*own_regime.questions, *own_names])]
    shots: Shots | None = None
    for contender in contenders:  # one after the other, so that the vectors of one are in memory at a time
        vectors = read_vectors_of(subject.library, contender, corpus)
        for regime in asked:
            if regime.questions:
                _ask_words(subject, found, contender, vectors, regime, progress)
        if options.n_screenshots:
            shots = shots or choose_shots(corpus, vectors, n=options.n_screenshots, seed=seed)
            _ask_with_screenshots(corpus, found, contender, vectors, shots, progress)
    found.sort_rows()
    if options.n_scored and questions.asked:
        found.empty = measure_empty_answers(
            subject.engine, corpus, questions.asked, n=options.n_scored, seed=seed, progress=progress
        )
    return found


def _ask_words(
    subject: Subject,
    found: Evaluation,
    contender: Contender,
    vectors: CorpusVectors,
    regime: Regime,
    progress: Progress,
) -> None:
    """Ask all questions of a regime; of the first encoder the worst of the last regime are shown."""
    weights, questions = Weights(picture=found.picture_weight, tags=found.tag_weight), regime.questions
    rankers = VectorRankers(subject.engine, subject.corpus, vectors, weights, regime.known)
    ranks: defaultdict[str, list[Ranks]] = defaultdict(list)
    for block in in_blocks(len(questions), n_candidates=len(subject.corpus)):
        for ranker, of_block in rankers.ranks(questions[block]).items():
            ranks[ranker] += of_block
        progress(f"Asking {contender.label}, {regime.name} known", block.stop, len(questions))
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        kinds[question.query.kind].append(place)
    for kind, places in kinds.items():
        for ranker, of_all in ranks.items():
            figures = measure([of_all[place] for place in places], seed=found.seed)
            found.rows.append(Row(kind, ranker, contender.label, len(places), figures, regime=regime.name))
    if contender is found.encoders[0]:
        found.worst = worst_cases(rankers, questions, ranks, subject.corpus, n=N_WORST)


def _ask_with_screenshots(
    corpus: Corpus,
    found: Evaluation,
    contender: Contender,
    vectors: CorpusVectors,
    shots: Shots,
    progress: Progress,
) -> None:
    found.n_unreadable = shots.unreadable
    if not len(shots):
        raise SourceError("no picture of this library can be read from its source any more; run `icons index`")
    for number, condition in enumerate(every := conditions(), 1):
        ranks = rank_shots(shots, vectors, condition)
        figures = measure(ranks, seed=found.seed)
        found.rows.append(Row(TASK, "pictures", contender.label, len(shots), figures, condition))
        progress(f"Screenshots for {contender.label}", number * len(shots), len(every) * len(shots))
        if condition == HARDEST and contender is found.encoders[0]:
            found.worst_shots = worst_shots(shots, ranks, corpus, vectors, condition, n=N_WORST_SHOTS)


def worst_cases(
    rankers: VectorRankers,
    questions: Sequence[Question],
    ranks: Mapping[str, Sequence[Ranks]],
    corpus: Corpus,
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
                right=corpus.shown(right, k=3),
                instead=corpus.shown(hits, k=N_INSTEAD),
            )
        )
    return cases


LIMITS = (0.05, LEAST_SCORE, 0.15, 0.2, 0.25, 0.3, 0.4, GOOD_SCORE)
"""Least scores of the best hit that are tried."""
EMPTY, OFF_TOPIC, MADE_UP = "wrongly empty", "off topic, answered", "made up, answered"
N_MADE_UP, MADE_UP_SEED = 100, 1


def measure_empty_answers(
    engine: SearchEngine, corpus: Corpus, questions: Sequence[Question], *, n: int, seed: int, progress: Progress
) -> list[EmptyRow]:
    """Ask `n` of the questions, by lot, and everything that has no answer.

    Of the former only those count that have a right icon among the first ten hits: the others have nothing to lose.
    """

    def ask(text: str) -> Sequence[Hit]:
        return engine.ask(Query(words=text), window=Window(k=10, min_score=0)).hits

    lot = np.sort(np.random.default_rng(seed).permutation(len(questions))[:n]).tolist()
    held_out = []
    for done, place in enumerate(lot, 1):
        hits = ask(questions[place].query.text)
        if np.isin([hit.id for hit in hits], corpus.icon_ids[questions[place].right]).any():
            held_out.append(hits[0].score)
        progress("Asking for what is there", done, len(lot))
    rows = [_empty_row(EMPTY, held_out, is_answered=False, seed=seed)] if held_out else []
    off_topic = (bundled("eval") / "off-topic.txt").read_text("utf-8").splitlines()
    for kind, texts in ((OFF_TOPIC, off_topic), (MADE_UP, made_up_words(N_MADE_UP, seed=MADE_UP_SEED))):
        scores = [max((hit.score for hit in ask(text)), default=0.0) for text in texts]
        progress(f"Asking what is {kind.partition(',')[0]}", len(texts), len(texts))
        rows.append(_empty_row(kind, scores, is_answered=True, seed=seed))
    return rows


def _empty_row(kind: str, best: Sequence[float], *, is_answered: bool, seed: int) -> EmptyRow:
    scores = np.array(best)
    errors = {f"{limit:g}": ((scores >= limit) == is_answered).astype(np.float64) for limit in LIMITS}
    return EmptyRow(kind, len(scores), means(errors, seed=seed))
