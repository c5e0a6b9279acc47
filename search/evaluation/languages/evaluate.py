"""How well are queries in other languages answered, beside the same in English? Asks a library's engine.

Reads query files whose lines say the query in other languages, too; what a search reads, and nothing else.

    icons evaluate --languages --report languages.html
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import QueryFileError
from indexer.languages.dictionary import Dictionary
from indexer.library.bundled import bundled
from indexer.reports.bars import Progress
from search.evaluation.evaluate import Subject
from search.evaluation.languages.answers import RightHits, ask_translated
from search.evaluation.languages.findings import (
    LanguageEvaluation,
    english_figures,
    few_questions,
    goals,
    kind_rows,
    language_rows,
    missed,
)
from search.evaluation.queries import BenchmarkQuery, find_answers, read_queries

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
    rights = RightHits(subject.opened, subject.corpus)
    asked = ask_translated(subject.engine, rights, questions.asked, list(names), progress)
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
