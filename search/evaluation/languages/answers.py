"""Where do right answers stand when a question is asked in English, and in other languages? Asks as a search does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids
from indexer.languages.dictionary import ENGLISH
from indexer.reports.bars import Progress
from indexer.reports.measures import DEPTH, UNRANKED
from search.engine import Answer, Filters, Query, SearchEngine, Window
from search.evaluation.asking import N_INSTEAD
from search.evaluation.corpus import Corpus
from search.evaluation.queries import BenchmarkQuery, Question
from search.generation.backend import Ability
from search.generation.opened import Opened

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
    engine: SearchEngine, rights: "RightHits", questions: Sequence[Question], languages: Sequence[str], bar: Progress
) -> list[Translated]:
    """Ask all questions once in English, and twice in each of some languages that says them."""
    n_texts = sum(len(question.query.translations.keys() & set(languages)) for question in questions)
    found, done = [], 0
    for question in questions:
        ask = _Asker(engine, question, rights.of(question))
        english = ask.rank(ask.answer(question.query.text, ENGLISH))
        answers = {}
        for language in languages:
            if text := question.query.translations.get(language):
                answers[language] = ask.in_language(text, language)
                done += 1
        found.append(Translated(question.query, english, answers))
        bar("Asking in other languages", done, n_texts)
    return found


class RightHits:
    """Which hits are right: icons of a right name, those with the very drawing of one, and all their variants."""

    def __init__(self, opened: Opened, corpus: Corpus) -> None:
        self._opened = opened
        self._corpus = corpus

    def of(self, question: Question) -> Ids:
        """Ids of the icons that answer a question."""
        drawn = np.concatenate(self._opened.in_memory(Ability.EVALUATE).alike_rows(question.right))
        ids: Ids = self._corpus.icon_ids[self._corpus.variants(drawn)]
        return ids


class _Asker:
    """Asks one question."""

    def __init__(self, engine: SearchEngine, question: Question, right: Ids) -> None:
        self._engine = engine
        self._filters = Filters(sets=tuple(sorted(question.sets)) if len(question.aside) else ())
        self._right = frozenset(right.tolist())

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
