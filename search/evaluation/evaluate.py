"""How good are searches of a library? Rankers side by side on query files and on screenshots of its own icons.

Reads one generation, the vectors of the encoders that are compared, and query files; exact search, fp32.

    icons lab evaluate --queries queries.jsonl --report report.html
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.errors import QueryFileError, SourceError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.merging.manifest import Weights
from indexer.reports.measures import Ranks
from indexer.reports.terminal import Progress
from search.engine import SearchEngine
from search.evaluation.asking import rank_answers, rows_of_kind, worst_cases
from search.evaluation.corpus import Corpus, Originals
from search.evaluation.described import ask_described, described_rows, measure_empty_answers, read_described
from search.evaluation.findings import Evaluation, Row, measure
from search.evaluation.judged import Judgement, ask_judged, read_judgements
from search.evaluation.queries import Regime, Tags, find_answers, name_questions, read_queries, regimes
from search.evaluation.rankers import (
    Contender,
    CorpusVectors,
    KeywordRanker,
    Rankers,
    VectorRankers,
    find_contenders,
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

N_WORST = 24
N_WORST_SHOTS = 12
HARDEST = Condition(USUAL_SIZE, CHANGES)
"""The screenshots of which the worst are shown."""


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What is compared, and on what."""

    queries: Sequence[Path] = ()
    """None: the bundled benchmark where the library is the bundled sample icons, else no words are asked."""
    described: Sequence[Path] = ()
    """Files of described drawings (`described`)."""
    judged: Sequence[Path] = ()
    """Files of judgements (`judged`). None: as with queries."""
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
        self.is_bundled = self.opened.snapshot.locations() == {str(bundled("samples/lucide-static"))}

    def query_files(self, options: EvaluateOptions) -> list[Path]:
        """Choose the query files: those that were given, else the bundled benchmark for the bundled icons."""
        files = list(options.queries) or ([bundled("eval") / "lucide-1.62.0.jsonl.xz"] if self.is_bundled else [])
        asks_tags = options.n_tags and self.opened.facets.labels("tag").values
        has_files = bool(files or options.described or options.judged)
        if not (has_files or options.n_screenshots or options.n_names or asks_tags):
            raise QueryFileError(
                "nothing to ask; give --queries FILE, --described FILE or --judged FILE, "
                "or --names, --tags or --screenshots above 0"
            )
        return files

    def judged_files(self, options: EvaluateOptions) -> list[Path]:
        """Choose the files of judgements: those that were given, else the bundled one where its queries are asked."""
        asks_bundled = self.is_bundled and not options.queries
        return list(options.judged) or ([bundled("eval") / "judged-lucide.jsonl"] if asks_bundled else [])


def evaluate(subject: Subject, options: EvaluateOptions, progress: Progress) -> Evaluation:
    """Measure all rankers of all encoders on all tasks.

    Raises:
        QueryFileError: a query file is not as it should be, or there is nothing to ask.
        LibraryError, ModelError: a model is unknown, or the library has no vectors of it.
    """
    contenders = find_contenders(subject.library, options.models, in_use=subject.manifest.fingerprint)
    files = subject.query_files(options)
    questions = find_answers([query for file in files for query in read_queries(file)], subject.corpus)
    described = {str(file): read_described(file) for file in options.described}
    judged_files = subject.judged_files(options)
    judged = [line for file in judged_files for line in read_judgements(file)]
    own = subject.manifest.weights
    weights = Weights(
        picture=own.picture if options.picture_weight is None else options.picture_weight,
        tags=own.tags if options.tag_weight is None else options.tag_weight,
    )
    found = Evaluation(
        library=str(subject.library.root),
        generation=subject.manifest.number,
        n_icons=len(subject.corpus),
        n_pictures=len(subject.corpus.image_ids),
        picture_weight=weights.picture,
        tag_weight=weights.tags,
        seed=options.seed,
        encoders=contenders,
        files=[*map(str, files), *described, *map(str, judged_files)],
        n_dropped=len(questions.dropped),
        unknown=questions.unknown,
    )
    *others, own_regime = regimes(Tags.read(subject.opened), questions.asked, n_tags=options.n_tags, seed=options.seed)
    names = name_questions(subject.corpus, n=options.n_names, seed=options.seed)
    asked = [*others, replace(own_regime, questions=[*own_regime.questions, *names])]
    _Run(subject, asked, judged, options.n_screenshots, found, progress).compare(contenders)
    if options.n_scored and questions.asked:
        found.empty = measure_empty_answers(
            subject.engine, subject.corpus, questions.asked, n=options.n_scored, seed=options.seed, progress=progress
        )
    found.described_answers = ask_described(subject.engine, described, progress)
    found.described = described_rows(found.described_answers, seed=options.seed)
    return found


class _Run:
    """One evaluation under way: fills `found`."""

    def __init__(
        self,
        subject: Subject,
        regimes: Sequence[Regime],
        judged: Sequence[Judgement],
        n_screenshots: int,
        found: Evaluation,
        progress: Progress,
    ) -> None:
        self._subject = subject
        self._regimes = [regime for regime in regimes if regime.questions]
        self._judged = judged
        self._weights = Weights(picture=found.picture_weight, tags=found.tag_weight)
        self._n_screenshots = n_screenshots
        self._shots: Shots | None = None
        self._found = found
        self._progress = progress

    def compare(self, contenders: Sequence[Contender]) -> None:
        """Ask keywords, then one encoder after the other, so that the vectors of one are in memory at a time."""
        if not (self._regimes or self._judged or self._n_screenshots):
            return
        for regime in self._regimes:
            self._ask(KeywordRanker(self._subject.corpus, regime.known), regime, encoder=None)
        for contender in contenders:
            vectors = read_vectors_of(self._subject.library, contender, self._subject.corpus)
            for regime in self._regimes:
                self._ask_words(contender, vectors, regime)
            if self._judged:
                self._ask_judged(contender, vectors)
            if self._n_screenshots:
                self._ask_with_screenshots(contender, vectors)
        self._found.sort_rows()

    def _ask_words(self, contender: Contender, vectors: CorpusVectors, regime: Regime) -> None:
        subject = self._subject
        rankers = VectorRankers(subject.opened, subject.corpus, vectors, self._weights, regime.known)
        ranks = self._ask(rankers, regime, encoder=contender.label)
        if not self._found.worst and regime is self._regimes[-1]:
            self._found.worst = worst_cases(rankers, regime.questions, ranks, subject.originals, n=N_WORST)

    def _ask_judged(self, contender: Contender, vectors: CorpusVectors) -> None:
        subject, found = self._subject, self._found
        rankers = VectorRankers(subject.opened, subject.corpus, vectors, self._weights)
        found.judged += ask_judged(
            rankers, self._judged, subject.corpus, encoder=contender.label, seed=found.seed, progress=self._progress
        )

    def _ask(self, rankers: Rankers, regime: Regime, *, encoder: str | None) -> dict[str, list[Ranks]]:
        """Ask all questions of a regime, and add a row for each task and ranker."""
        title = f"Asking {encoder or 'keywords'}, {regime.name} known"
        n_icons = len(self._subject.corpus)
        ranks = rank_answers(rankers, regime.questions, n_icons=n_icons, title=title, progress=self._progress)
        for kind, places in rows_of_kind(regime.questions).items():
            for ranker, of_all in ranks.items():
                figures = measure([of_all[place] for place in places], seed=self._found.seed)
                self._found.rows.append(Row(kind, ranker, encoder, len(places), figures, regime=regime.name))
        return ranks

    def _ask_with_screenshots(self, contender: Contender, vectors: CorpusVectors) -> None:
        shots = self._shots = self._shots or self._choose_shots(vectors)
        every = conditions()
        for number, condition in enumerate(every, 1):
            ranks = rank_shots(shots, vectors, condition)
            figures = measure(ranks, seed=self._found.seed)
            self._found.rows.append(Row(TASK, "pictures", contender.label, len(shots), figures, condition))
            self._progress(f"Screenshots for {contender.label}", number * len(shots), len(every) * len(shots))
            if condition == HARDEST and not self._found.worst_shots:
                originals = self._subject.originals
                self._found.worst_shots = worst_shots(shots, ranks, originals, vectors, condition, n=N_WORST_SHOTS)

    def _choose_shots(self, vectors: CorpusVectors) -> Shots:
        shots = choose_shots(
            self._subject.corpus,
            self._subject.originals,
            vectors,
            n=self._n_screenshots,
            seed=self._found.seed,
            progress=self._progress,
        )
        self._found.n_unreadable = shots.unreadable
        if not len(shots):
            raise SourceError("no picture of this library can be read from its source any more; run `icons index`")
        return shots
