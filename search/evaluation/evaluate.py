"""How good searches of a library are: rankers side by side on query files and screenshots, and what was found.

Reads one generation, the vectors of the encoders that are compared, and query files; exact search, fp32.

    icons lab evaluate --queries queries.jsonl --report report.html
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from indexer.errors import IconsError, QueryFileError, SourceError
from indexer.languages.words import first_few, printable
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.merging.manifest import Weights, made_up_words
from indexer.rendering.render import as_png, draw
from indexer.reports.figures import (
    CUTS,
    DEPTH,
    RESAMPLES,
    Bar,
    Curve,
    Figure,
    Ranks,
    Scores,
    bar_chart,
    figure_html,
    first_rank_scores,
    line_chart,
    means,
    page,
    section,
    spell,
    table_html,
)
from indexer.reports.terminal import Progress, open_console, table_of
from search.engine import Hit, Query, SearchEngine, Window
from search.evaluation.queries import (
    N_INSTEAD,
    Case,
    Corpus,
    Question,
    Regime,
    Shown,
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
    BAR,
    CHANGES,
    SIZES,
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
from search.showing.sheets import data_uri, is_drawn_in_white

COMPARED = ("R@1", "R@10", "MRR@50")
_SAME = 5e-4
"""What the third digit does not show."""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one ranker on one task."""

    task: str
    ranker: str
    encoder: str
    """Its label."""
    n_queries: int
    figures: Mapping[str, Figure]
    condition: Condition | None = None
    """How the screenshots were taken; None for words."""
    regime: str | None = None
    """Which tags were known (`regimes`); None for screenshots."""

    @property
    def title(self) -> str:
        """Name of the task, with the tags that were known."""
        return f"{self.task}, {self.regime}" if self.regime else self.task


@dataclass(frozen=True, slots=True)
class EmptyRow:
    """How often each limit errs on one kind of queries."""

    kind: str
    n_queries: int
    figures: Mapping[str, Figure]
    """Share of the queries by limit, spelt as a number."""


@dataclass(slots=True)
class Evaluation:
    """All that was measured, on what, and what was left out."""

    library: str
    generation: int
    n_icons: int
    n_pictures: int
    picture_weight: float
    tag_weight: float
    seed: int
    encoders: Sequence[Contender]
    files: Sequence[str]
    n_dropped: int
    """Queries that were not asked, since no icon here bears a relevant name."""
    unknown: Sequence[str]
    """Relevant names that no icon bears."""
    n_unreadable: int = 0
    """Pictures left out of the screenshots because their sources have gone or changed."""
    rows: list[Row] = field(default_factory=list)
    empty: list[EmptyRow] = field(default_factory=list)
    """Of the library as it is searched, whatever encoders are compared."""
    worst: list[Case] = field(default_factory=list)
    """Of the engine with the first encoder."""
    worst_shots: list[Case] = field(default_factory=list)
    """Of the first encoder, all changes at the usual size."""

    def sort_rows(self) -> None:
        """Put rows of one task and regime beside each other, and screenshots into the order of their conditions."""
        tasks, regimes = (
            {value: place for place, value in enumerate(dict.fromkeys(values))}
            for values in ([row.task for row in self.rows], [row.regime for row in self.rows])
        )
        places = {condition: place for place, condition in enumerate(conditions(), 1)}
        self.rows = sorted(
            self.rows,
            key=lambda row: (tasks[row.task], regimes[row.regime], places[row.condition] if row.condition else 0),
        )

    def of_words(self) -> dict[str, list[Row]]:
        """Rows of query files, tags and names, by the title of task and regime."""
        asked = [row for row in self.rows if row.condition is None]
        titles = dict.fromkeys(row.title for row in asked)
        return {title: [row for row in asked if row.title == title] for title in titles}

    def below(self) -> Iterator[str]:
        """Say where the engine finds less than a ranker that it is made of."""
        for title, rows in self.of_words().items():
            for engine in (row for row in rows if row.ranker == ENGINE):
                arms = [row for row in rows if row.ranker != ENGINE and row.encoder == engine.encoder]
                for measure in COMPARED:
                    best = max(arms, key=lambda arm: arm.figures[measure].value)
                    ours, theirs = engine.figures[measure].value, best.figures[measure].value
                    if ours < theirs - _SAME:
                        yield f"{title}: {measure} of the engine {ours:.3f}, of {best.ranker} alone {theirs:.3f}"

    def of_screenshots(self) -> list[Row]:
        """Rows of screenshots."""
        return [row for row in self.rows if row.condition is not None]


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Spell an evaluation for programs: all but the pictures."""
    facts = asdict(evaluation)
    for case in (*facts["worst"], *facts["worst_shots"]):
        del case["picture"]
    return {**facts, "resamples": RESAMPLES}


NDCG_DEPTH = 10
MEASURES = (*(f"R@{cut}" for cut in CUTS), f"MRR@{DEPTH}", f"nDCG@{NDCG_DEPTH}")


def measure(ranks: Sequence[Ranks], *, seed: int = 0) -> dict[str, Figure]:
    """Figures of one ranker, in the order of MEASURES, from each query's ranks as `right_ranks` gives them.

    R@k: share of queries with any right answer among the first k. MRR@50: mean of 1 / rank of the first one, else 0; of
    the engine down to 10, which is all that a person is shown. nDCG@10 looks at every right answer: Manning, Raghavan,
    Schütze, Introduction to Information Retrieval, 2008, section 8.4; gains are binary.
    """
    scores = first_rank_scores(np.array([found[0] for found in ranks], np.int64), cuts=CUTS)
    scores[f"nDCG@{NDCG_DEPTH}"] = np.array([ndcg(found) for found in ranks])
    return means(scores, seed=seed)


def ndcg(ranks: Ranks) -> float:
    """Discounted gain of the right answers among the first 10, as a share of what the best order would gain."""
    ideal = (1 / np.log2(np.arange(2, 2 + min(len(ranks), NDCG_DEPTH)))).sum()
    gained: Scores = 1 / np.log2(1 + ranks[ranks <= NDCG_DEPTH])
    return float(gained.sum() / ideal)


WITH_INTERVAL = ("R@10", "MRR@50")
WITH_INTERVAL_OF_SHOTS = ("R@1", "MRR@50")


def print_summary(evaluation: Evaluation) -> None:
    """Print what was asked of what, and the figures of every ranker."""
    console = open_console()
    for line in headline(evaluation):
        console.print(printable(line), highlight=False, markup=False)
    asked = [row for rows in evaluation.of_words().values() for row in rows]
    tables = (("task", asked, WITH_INTERVAL), ("screenshots", evaluation.of_screenshots(), WITH_INTERVAL_OF_SHOTS))
    for table in (_table(*table) for table in tables if table[1]):
        console.print()
        console.print(table)
    below = [f"  {line}" for line in evaluation.below()]
    for line in ("", "The engine finds less than a part of it:", *below) if below else ():
        console.print(printable(line), highlight=False, markup=False)
    if evaluation.empty:
        cells = [(row.kind, f"{row.n_queries:,}", *map(spell, row.figures.values())) for row in evaluation.empty]
        console.print()
        console.print(table_of(("best score below", "queries", *evaluation.empty[0].figures), cells))


def headline(evaluation: Evaluation) -> list[str]:
    """Say in a few lines what was measured and what was left out."""
    left_out = (
        (evaluation.n_dropped, "queries not asked: none of their relevant names is in this library"),
        (len(evaluation.unknown), f"relevant names that no icon bears: {first_few(evaluation.unknown, most=10)}"),
        (evaluation.n_unreadable, "pictures left out: their sources have gone or changed; `icons index`"),
    )
    no_words = "no words were asked: --queries FILE gives some, docs/evaluation.md says how to write them"
    return [
        f"{evaluation.n_icons:,} icons, {evaluation.n_pictures:,} pictures; {evaluation.library}, generation "
        f"{evaluation.generation}",
        f"fused: {evaluation.picture_weight:g} picture + {1 - evaluation.picture_weight:g} name, tags for "
        f"{evaluation.tag_weight:g} of it where known; exact search, fp32",
        *(() if evaluation.files else (no_words,)),
        *(f"{n:,} {what}" for n, what in left_out if n),
    ]


def _table(title: str, rows: Sequence[Row], with_interval: Sequence[str]) -> Table:
    names = [row.title if row.condition is None else row.condition.label for row in rows]
    cells = [
        (
            "" if name == before else name,
            row.ranker,
            row.encoder,
            f"{row.n_queries:,}",
            *(spell(row.figures[measure], measure in with_interval) for measure in MEASURES),
        )
        for row, name, before in zip(rows, names, [None, *names], strict=False)
    ]
    return table_of((title, "ranker", "encoder", "queries", *MEASURES), cells, n_left=3)


ReadPicture = Callable[[int], bytes]
"""Bytes of a picture by its id in the catalog; raises SourceError where its source has gone."""
MAX_INLINE_BYTES = 16_000
"""Larger pictures are drawn anew: a page of two hundred photographs would not open."""
_RANKER_COLOURS = {"names": 1, "pictures": 2, "fused": 3, "engine": 0}
_CURVES = {(): "clean", BAR: "theme, background, blur", CHANGES: "all changes"}


def report_html(evaluation: Evaluation, read_picture: ReadPicture) -> str:
    """Lay out an evaluation as one page that needs nothing beside it."""
    sections = [*_words(evaluation), *_screenshots(evaluation)]
    if evaluation.empty:
        curves = [Curve(row.kind, list(row.figures.values()), colour) for colour, row in enumerate(evaluation.empty)]
        ticks = list(evaluation.empty[0].figures)
        chart = line_chart("Share of queries", curves, ticks=ticks, x_title="least score of the best hit")
        sections.append(section("empty answers", small="where a least score errs", charts=[chart]))
    sections += _worst(evaluation, _tiles(read_picture))
    facts = [
        *headline(evaluation),
        *(f"encoder {one.label}: {one.model}, fingerprint {one.fingerprint}" for one in evaluation.encoders),
        *(f"queries: {file}" for file in evaluation.files),
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    ]
    return page("How well icons are found", facts=facts, sections=sections)


def _words(evaluation: Evaluation) -> Iterator[str]:
    """A section for each task of the query files: charts, then the table."""
    for task, rows in evaluation.of_words().items():
        several = len(evaluation.encoders) > 1
        named = [(f"{row.ranker}, {row.encoder}" if several else row.ranker, row) for row in rows]
        bars = {
            of: [Bar(name, row.figures[of], _RANKER_COLOURS[row.ranker]) for name, row in named] for of in WITH_INTERVAL
        }
        charts = [bar_chart(measure, of_each) for measure, of_each in bars.items()]
        figures = _figures_html("ranker", named, bold=True)
        yield section(task, small=f"{rows[0].n_queries:,} queries", charts=charts, table=figures)


def _screenshots(evaluation: Evaluation) -> Iterator[str]:
    rows = evaluation.of_screenshots()
    if not rows:
        return
    several = len(evaluation.encoders) > 1
    found = {(row.encoder, row.condition): row.figures["R@1"] for row in rows}
    of_each = [(encoder.label, f", {encoder.label}" * several) for encoder in evaluation.encoders]
    kinds = [(encoder, changes, f"{kind}{suffix}") for encoder, suffix in of_each for changes, kind in _CURVES.items()]
    curves = [
        Curve(label, [found[encoder, Condition(size, changes)] for size in SIZES], colour)
        for colour, (encoder, changes, label) in enumerate(kinds)
    ]
    compared = [Condition(USUAL_SIZE, changes) for changes in ((), *((change,) for change in CHANGES), BAR, CHANGES)]
    bars = [
        Bar(f"{condition.name}{suffix}", found[encoder, condition], colour)
        for condition in compared
        for colour, (encoder, suffix) in enumerate(of_each)
    ]
    charts = [
        line_chart("R@1 over size", curves, ticks=[f"{size} px" for size in SIZES], x_title="longer side of the icon"),
        bar_chart(f"R@1 at {USUAL_SIZE} px, by what was done", bars),
    ]
    labelled = [(f"{row.condition.label}{f', {row.encoder}' if several else ''}", row) for row in rows if row.condition]
    yield section(
        "screenshots",
        small=f"{rows[0].n_queries:,} icons, found by a picture of themselves",
        charts=charts,
        table=f"<details><summary>All figures</summary>{_figures_html('screenshots', labelled)}</details>",
    )


def _figures_html(title: str, rows: Sequence[tuple[str, Row]], *, bold: bool = False) -> str:
    """Figures of some rows; `bold` marks the best of each measure."""
    best = {measure: max(row.figures[measure].value for _, row in rows) for measure in MEASURES} if bold else {}
    return table_html(
        [title, *MEASURES],
        [
            [
                label,
                *(figure_html(row.figures[of], is_best=row.figures[of].value == best.get(of)) for of in MEASURES),
            ]
            for label, row in rows
        ],
    )


def _worst(evaluation: Evaluation, tile: Callable[[Shown], str]) -> Iterator[str]:
    shots = evaluation.worst_shots
    worst = [("queries", "engine", evaluation.worst), ("screenshots", shots[0].task if shots else "", shots)]
    for what, by, cases in worst:
        if cases:
            head = f"<h2>Worst {what} <small>{escape(f'{by}, {evaluation.encoders[0].label}')}</small></h2>"
            yield f"<section>{head}<div>{''.join(_card(case, tile) for case in cases)}</div></section>"


def _card(case: Case, tile: Callable[[Shown], str]) -> str:
    """One query: what was asked, what should have come, what came."""
    rank = "not ranked" if case.rank is None else f"rank {case.rank:,}"
    n_right = f", {case.n_right} right answers" if case.n_right > 1 else ""
    asked = f"<b>{escape(case.query)}</b>"
    if case.picture:
        asked = f'<img class="shot" alt="" src="{data_uri(case.picture)}"><div>{asked}'
    groups = "".join(
        f'<div class="group"><em>{title}</em><div>{"".join(map(tile, icons))}</div></div>'
        for title, icons in (("right", case.right), ("came first", case.instead))
    )
    return (
        f'<div class="case"><div class="asked">{asked}<small>{rank}{n_right}</small>'
        f"<small>{escape(case.task)}</small>{'</div>' if case.picture else ''}</div>{groups}</div>"
    )


def _tiles(read: ReadPicture) -> Callable[[Shown], str]:
    """Show icons with names; each picture is read once, and stands in `img`, where no script of an SVG can run."""

    @cache
    def picture(image: int) -> str:
        try:
            content = read(image)
            small = content if len(content) <= MAX_INLINE_BYTES else as_png(draw(content, size=96))
        except IconsError:
            return '<span class="gone">gone</span>'
        dark = ' class="dark"' if is_drawn_in_white(content) else ""
        return f'<img{dark} alt="" src="{data_uri(small)}">'

    def tile(icon: Shown) -> str:
        title, name = escape(f"{icon.name} ({icon.set})"), escape(icon.name)
        return f'<figure title="{title}">{picture(icon.image)}<figcaption>{name}</figcaption></figure>'

    return tile


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
        n_asked = (
            options.n_screenshots + options.n_names + options.n_tags * len(self.opened.facets.labels("tag").values)
        )
        if not (files or n_asked):
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
    names, shots = name_questions(corpus, n=options.n_names, seed=seed), None
    asked = [*others, replace(own_regime, questions=[*own_regime.questions, *names])]
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
    kinds = [question.query.kind for question in questions]
    for kind in dict.fromkeys(kinds):
        places = [place for place, other in enumerate(kinds) if other == kind]
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
        found.rows.append(
            Row(TASK, "pictures", contender.label, len(shots), measure(ranks, seed=found.seed), condition)
        )
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
        cases.append(
            Case(
                query=question.query.text,
                task=question.query.kind,
                rank=as_rank(int(first[place])),
                n_right=len(question.right),
                right=corpus.shown(np.concatenate([hits[np.isin(hits, question.right)], question.right]), k=3),
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
    unanswered = {
        OFF_TOPIC: (bundled("eval") / "off-topic.txt").read_text("utf-8").splitlines(),
        MADE_UP: made_up_words(N_MADE_UP, seed=MADE_UP_SEED),
    }
    for kind, texts in unanswered.items():
        scores = [max((hit.score for hit in ask(text)), default=0.0) for text in texts]
        progress(f"Asking what is {kind.partition(',')[0]}", len(texts), len(texts))
        rows.append(_empty_row(kind, scores, is_answered=True, seed=seed))
    return rows


def _empty_row(kind: str, best: Sequence[float], *, is_answered: bool, seed: int) -> EmptyRow:
    errors = {f"{limit:g}": ((np.array(best) >= limit) == is_answered).astype(np.float64) for limit in LIMITS}
    return EmptyRow(kind, len(best), means(errors, seed=seed))
