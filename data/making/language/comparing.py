"""Queries in other languages, beside the same in English: asked, measured.

Reads query files whose lines say the query in other languages, too; what a search reads, and nothing else.

    python -m data.making.language evaluate --library DIR --report languages.html
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indexer.errors import QueryFileError
from indexer.languages.dictionary import ENGLISH, Dictionary
from indexer.library.bundled import bundled
from indexer.reports.figures import DEPTH, RESAMPLES, UNRANKED, Figure, Scores, first_rank_scores, means
from indexer.reports.terminal import Progress
from search.engine import Answer, Filters, Query, SearchEngine, Window
from search.evaluation.evaluate import Subject
from search.evaluation.queries import N_INSTEAD, BenchmarkQuery, Corpus, Question, as_rank, find_answers, read_queries

_WINDOW = Window(k=DEPTH)


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question in one language; ranks are those of the first right hit, UNRANKED beyond 50."""

    known: int
    """The language is stated, as the locale of a user states it."""
    unknown: int
    """It is not."""
    read_as: str
    """How the words were read while it was known: "Haus: house; qwert: not read"."""
    instead: Sequence[str]
    """Names of the first hits then."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A question that was asked in English and in other languages."""

    query: BenchmarkQuery
    english: int
    """Rank, as above."""
    answers: Mapping[str, Answered]
    """By ISO 639 code."""


def ask_translated(
    engine: SearchEngine, corpus: Corpus, questions: Sequence[Question], languages: Sequence[str], bar: Progress
) -> list[Translated]:
    """Ask all questions once in English, and twice in each of some languages that says them.

    Right are icons of a right name, those with the very drawing of one, and all their variants.
    """
    n_texts = sum(len(question.query.translations.keys() & set(languages)) for question in questions)
    found, done = [], 0
    for question in questions:
        ask = _Asker(engine, question, corpus)
        english = ask.rank(ask.answer(question.query.text, ENGLISH))
        answers = {}
        for language in languages:
            if text := question.query.translations.get(language):
                answers[language] = ask.in_language(text, language)
                done += 1
        found.append(Translated(question.query, english, answers))
        bar("Asking in other languages", done, n_texts)
    return found


class _Asker:
    """Asks one question."""

    def __init__(self, engine: SearchEngine, question: Question, corpus: Corpus) -> None:
        self._engine = engine
        self._filters = Filters(sets=tuple(sorted(question.sets)))
        self._right = frozenset(corpus.icon_ids[corpus.variants(corpus.drawn_alike(question.right))].tolist())

    def answer(self, text: str, *languages: str) -> Answer:
        query = Query(words=text, languages=languages, prefer=())
        return self._engine.ask(query, filters=self._filters, window=_WINDOW)

    def rank(self, answer: Answer) -> int:
        ranks = (rank for rank, hit in enumerate(answer.hits, 1) if hit.id in self._right)
        return next(ranks, UNRANKED)

    def in_language(self, text: str, language: str) -> Answered:
        known = self.answer(text, language)
        first_hits = [hit.name for hit in known.hits[:N_INSTEAD]]
        return Answered(self.rank(known), self.rank(self.answer(text)), _read_as(text, known), first_hits)


def _read_as(text: str, answer: Answer) -> str:
    """Say how every word was read; where no other language was seen, the text stands as it was typed."""
    if answer.read_as is None:
        return f"{text}: not read"
    words = (f"{word.word}: {', '.join(word.english) or 'not read'}" for word in answer.read_as.words)
    return "; ".join(words)


TEN = ("de", "fr", "es", "pt", "ru", "zh", "ja", "ko", "ar", "hi")
"""Languages that goals are set for: those of the questions by hand."""
LEAST_QUESTIONS = 20
"""Of a language, and of a kind in it, that has figures."""
CUTS = (1, 10)
MEASURES = (*(f"R@{cut}" for cut in CUTS), "MRR@50")
_FIRST, _TENTH = MEASURES[:2]
GOALS = {f"mean share of {_FIRST}": 0.82, f"mean share of {_TENTH}": 0.93, f"least share of {_TENTH}": 0.86}
"""Least shares of what English reaches: over the ten languages, on questions of all kinds, with the language known."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Figures by measure, and the same as shares of what English reaches on the same questions."""

    figures: Mapping[str, Figure]
    shares: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """How well the questions of one kind are answered in one language."""

    language: str
    """ISO 639 code."""
    name: str
    kind: str | None
    """None: of all kinds."""
    n_queries: int
    english: Mapping[str, Figure]
    """On the same questions."""
    known: Reached
    unknown: Reached
    """The language is not stated."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """Shares of what English reaches, the language known, over all languages that have figures."""

    kind: str | None
    n_languages: int
    mean: Mapping[str, float]
    n_of_ten: int
    ten: Mapping[str, float]
    """Mean over those of the ten that have figures; empty where none has."""
    least: str
    """Name of the language with the least share of R@10."""
    least_share: float


@dataclass(frozen=True, slots=True)
class LanguageGoal:
    """A goal, and what was reached of it."""

    name: str
    least: float
    reached: float | None
    """None where none of the ten languages has figures."""

    @property
    def is_met(self) -> bool | None:
        """Whether it was reached; None where nothing was."""
        return None if self.reached is None else self.reached >= self.least


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that English answers among the first ten hits, and a language that is known does not."""

    language: str
    kind: str
    query: str
    text: str
    """The query in that language."""
    read_as: str
    english_rank: int | None
    rank: int | None
    instead: Sequence[str]
    """Names of the first hits."""


@dataclass(frozen=True, slots=True)
class LanguageEvaluation:
    """All that was measured, on what, and what was left out."""

    library: str
    generation: int
    n_icons: int
    seed: int
    files: Sequence[str]
    n_asked: int
    n_dropped: int
    """Questions that were not asked, since no icon here bears a right name."""
    english: Mapping[str, Figure]
    """On all questions."""
    rows: Sequence[LanguageRow]
    """Of all kinds together, then by kind; of each, languages by their share of R@10, the best first."""
    kinds: Sequence[KindRow]
    goals: Sequence[LanguageGoal]
    few: Mapping[str, int]
    """Languages with fewer than 20 questions, by name."""
    lacking: Sequence[str]
    """Codes of languages that the dictionary lacks: these were not asked."""
    missed: Sequence[Missed]

    def of_kind(self, kind: str | None) -> list[LanguageRow]:
        """Rows of one kind, or of all kinds together."""
        return [row for row in self.rows if row.kind == kind]


def english_figures(asked: Sequence[Translated], *, seed: int) -> dict[str, Figure]:
    """Figures of English on all questions."""
    return means(_scores([one.english for one in asked]), seed=seed)


def language_rows(asked: Sequence[Translated], names: Mapping[str, str], *, seed: int) -> Iterator[LanguageRow]:
    """Figures of each language that has enough questions, of all kinds and of each; `names` are those of languages."""
    kinds = dict.fromkeys(one.query.kind for one in asked)
    for kind in (None, *kinds) if len(kinds) > 1 else (None,):
        of_kind = [one for one in asked if kind in (None, one.query.kind)]
        rows = []
        for language in names:
            said = [one for one in of_kind if language in one.answers]
            if len(said) >= LEAST_QUESTIONS:
                rows.append(_row(language, names[language], kind, said, seed=seed))
        yield from sorted(rows, key=lambda row: (-row.known.shares[_TENTH].value, row.name))


def _row(language: str, name: str, kind: str | None, asked: Sequence[Translated], *, seed: int) -> LanguageRow:
    english = _scores([one.english for one in asked])
    known, unknown = (
        Reached(means(scores, seed=seed), means(scores, of=english, seed=seed))
        for scores in (
            _scores([one.answers[language].known for one in asked]),
            _scores([one.answers[language].unknown for one in asked]),
        )
    )
    return LanguageRow(language, name, kind, len(asked), means(english, seed=seed), known, unknown)


def _scores(ranks: Sequence[int]) -> dict[str, Scores]:
    return first_rank_scores(np.array(ranks, np.int64), cuts=CUTS)


def kind_rows(rows: Sequence[LanguageRow]) -> Iterator[KindRow]:
    """Put the languages of each kind together."""
    for kind in dict.fromkeys(row.kind for row in rows):
        of_kind = [row for row in rows if row.kind == kind]
        ten = [row for row in of_kind if row.language in TEN]
        least = min(of_kind, key=lambda row: row.known.shares[_TENTH].value)
        least_share = least.known.shares[_TENTH].value
        yield KindRow(kind, len(of_kind), _mean(of_kind), len(ten), _mean(ten), least.name, least_share)


def _mean(rows: Sequence[LanguageRow]) -> dict[str, float]:
    """Mean share over languages, by measure."""
    table = {name: [row.known.shares[name].value for row in rows] for name in MEASURES if rows}
    return {name: round(float(np.mean(values)), 4) for name, values in table.items()}


def goals(rows: Sequence[LanguageRow]) -> list[LanguageGoal]:
    """Hold what was reached against the goals."""
    ten = [row for row in rows if row.kind is None and row.language in TEN]
    mean = _mean(ten)
    least = min((row.known.shares[_TENTH].value for row in ten), default=None)
    reached = (mean.get(_FIRST), mean.get(_TENTH), least)
    return [LanguageGoal(name, goal, value) for (name, goal), value in zip(GOALS.items(), reached, strict=True)]


def few_questions(asked: Sequence[Translated], names: Mapping[str, str]) -> dict[str, int]:
    """Languages, by name, that have too few questions for figures, and how many they have."""
    counts = {name: sum(language in one.answers for one in asked) for language, name in names.items()}
    return {name: n for name, n in sorted(counts.items()) if n < LEAST_QUESTIONS}


def missed(asked: Sequence[Translated]) -> Iterator[Missed]:
    """What English has among the first ten hits and a language has not, in the order of the questions."""
    for one in asked:
        for language, answered in one.answers.items():
            if one.english <= CUTS[-1] < answered.known:
                yield Missed(
                    language=language,
                    kind=one.query.kind,
                    query=one.query.text,
                    text=one.query.translations[language],
                    read_as=answered.read_as,
                    english_rank=as_rank(one.english),
                    rank=as_rank(answered.known),
                    instead=answered.instead,
                )


def language_json(evaluation: LanguageEvaluation) -> dict[str, Any]:
    """Spell an evaluation for programs."""
    facts = asdict(evaluation)
    for goal, spelled in zip(evaluation.goals, facts["goals"], strict=True):
        spelled["is_met"] = goal.is_met
    return {**facts, "resamples": RESAMPLES}


OPEN = ("translated-open.jsonl.xz", "languages-open.jsonl.xz")
"""The bundled questions: by hand in ten languages, and from sources that the dictionary is not built from in more."""


@dataclass(frozen=True, slots=True)
class LanguageOptions:
    """What is asked."""

    queries: Sequence[Path] = ()
    """None: the bundled questions."""
    seed: int = 0


def evaluate_languages(subject: Subject, options: LanguageOptions, progress: Progress) -> LanguageEvaluation:
    """Ask all questions in English, and in every language that a file says them in and the dictionary has.

    Raises:
        QueryFileError: a file is not as it should be, says nothing in a language of the dictionary, or no icon here is
            right.
    """
    files = list(options.queries) or [bundled("eval") / name for name in OPEN]
    questions = find_answers([query for file in files for query in _read_translated(file)], subject.corpus)
    said = {code for question in questions.asked for code in question.query.translations}
    names = {code: name for code, name in Dictionary.bundled().languages.items() if code in said}
    if not names:
        raise QueryFileError(f"the dictionary has none of these languages: {', '.join(sorted(said))}")
    asked = ask_translated(subject.engine, subject.corpus, questions.asked, list(names), progress)
    rows = list(language_rows(asked, names, seed=options.seed))
    return LanguageEvaluation(
        library=str(subject.library.root),
        generation=subject.manifest.number,
        n_icons=len(subject.corpus),
        seed=options.seed,
        files=[*map(str, files)],
        n_asked=len(asked),
        n_dropped=len(questions.dropped),
        english=english_figures(asked, seed=options.seed),
        rows=rows,
        kinds=list(kind_rows(rows)),
        goals=goals(rows),
        few=few_questions(asked, names),
        lacking=sorted(said - names.keys()),
        missed=list(missed(asked)),
    )


def _read_translated(file: Path) -> list[BenchmarkQuery]:
    queries = read_queries(file)
    if not any(query.translations for query in queries):
        raise QueryFileError(f'"{file}" says no query in another language; add "in": {{"de": "wegwerfen"}} to a line')
    return queries
