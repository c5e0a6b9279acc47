"""Whether drawings are found that are described, and how often an answer is wrongly empty.

A file is JSONL, a query a line: `{"query": "arrow without circle", "kind": "without", "must": [["arrow|arrows"]],
"must_not": [["circle|circled"]]}`. A group, `["cart|basket", "x|cross"]`, is in a name that has one word of each entry;
an icon is right with any group of "must", wrong with any of "must_not".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indexer.languages.words import normalise
from indexer.library.bundled import bundled
from indexer.merging.calibration import made_up_words
from indexer.reports.measures import Figure, means
from indexer.reports.terminal import Progress
from search.engine import Query, SearchEngine, Window
from search.evaluation.asking import Shown
from search.evaluation.corpus import Corpus
from search.evaluation.queries import Fields, Format, Question, read_lines
from search.ranking.order import BEST_SCORE, GOOD_SCORE
from search.results import Hit

N_FIRST = 5
"""Hits that are looked at."""
N_RIGHT = 3
"""How many of them are right, at least, where a query holds; none of them is wrong."""
_FIRST_HITS = Window(k=N_FIRST)

Group = tuple[frozenset[str], ...]
"""Entries, each of which stands for any of its words."""


@dataclass(frozen=True, slots=True)
class DescribedQuery:
    """One line of a file."""

    text: str
    kind: str
    must: Sequence[Group]
    must_not: Sequence[Group]


@dataclass(frozen=True, slots=True)
class DescribedAnswer:
    """What came of one query."""

    file: str
    query: str
    kind: str
    holds: bool
    n_right: int
    """Of the first hits."""
    n_wrong: int
    """Of the first hits; one can be right and wrong, as a circled arrow is for "arrow without circle"."""
    hits: Sequence[Shown]


@dataclass(frozen=True, slots=True)
class DescribedRow:
    """How often the queries of one kind in a file hold."""

    file: str
    kind: str | None
    """None: of all kinds."""
    n_queries: int
    holds: Figure

    @property
    def title(self) -> str:
        """Name of the file and the kind."""
        name = Path(self.file).stem
        return f"{name}, {self.kind}" if self.kind else name


def read_described(file: Path) -> list[DescribedQuery]:
    """Read the queries of a file.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as above; the message names the line.
    """
    return [
        DescribedQuery(fields["query"], fields["kind"], _groups(fields["must"]), _groups(fields["must_not"]))
        for fields in read_lines(file, _LINE)
    ]


def ask_described(
    engine: SearchEngine, files: Mapping[str, Sequence[DescribedQuery]], progress: Progress
) -> list[DescribedAnswer]:
    """Ask the queries of some files as a user does."""
    asked = [(file, query) for file, queries in files.items() for query in queries]
    answers = []
    for done, (file, query) in enumerate(asked, 1):
        hits = engine.ask(Query(words=query.text), window=_FIRST_HITS).hits
        answers.append(_judge(file, query, hits))
        progress("Asking for described drawings", done, len(asked))
    return answers


def described_rows(answers: Sequence[DescribedAnswer], *, seed: int) -> list[DescribedRow]:
    """Count how many queries hold: of each kind in a file, and of a file that has several kinds."""
    rows = []
    for file in dict.fromkeys(answer.file for answer in answers):
        of_file = [answer for answer in answers if answer.file == file]
        kinds = list(dict.fromkeys(answer.kind for answer in of_file))
        for kind in kinds:
            rows.append(_row(file, kind, [answer for answer in of_file if answer.kind == kind], seed=seed))
        if len(kinds) > 1:
            rows.append(_row(file, None, of_file, seed=seed))
    return rows


def _judge(file: str, query: DescribedQuery, hits: Sequence[Hit]) -> DescribedAnswer:
    words = [_words_of(hit) for hit in hits]
    n_right = sum(_has_any(query.must, of_hit) for of_hit in words)
    n_wrong = sum(_has_any(query.must_not, of_hit) for of_hit in words)
    shown = [Shown(hit.id, hit.image, hit.name, hit.set) for hit in hits]
    holds = n_right >= N_RIGHT and not n_wrong
    return DescribedAnswer(file, query.text, query.kind, holds, n_right, n_wrong, shown)


def _words_of(hit: Hit) -> frozenset[str]:
    """Words of a name as its source spells it, and of its style, which a source may state elsewhere."""
    return frozenset(normalise(f"{hit.name} {hit.style or ''}").split())


def _has_any(groups: Sequence[Group], words: frozenset[str]) -> bool:
    return any(all(entry & words for entry in group) for group in groups)


def _row(file: str, kind: str | None, answers: Sequence[DescribedAnswer], *, seed: int) -> DescribedRow:
    holds = np.array([answer.holds for answer in answers], np.float64)
    return DescribedRow(file, kind, len(answers), means({"holds": holds}, seed=seed)["holds"])


def _groups(groups: Sequence[Sequence[str]]) -> list[Group]:
    return [tuple(frozenset(entry.split("|")) for entry in group) for group in groups]


def _problems(fields: Fields) -> Iterator[str]:
    for name in ("must", "must_not"):
        groups = fields[name]
        if not isinstance(groups, list) or not all(isinstance(group, list) and group for group in groups):
            yield f'"{name}" is not a list of groups, each a list of words, one at least'
        for group in groups:
            for entry in group:
                if not _is_entry(entry):
                    yield f'"{name}" has "{entry}"; an entry is a word as names have it, or several: "home|house"'
    if not fields["must"]:
        yield '"must" has no group'


def _is_entry(entry: Any) -> bool:
    """Tell whether an entry is made of words that a normalised name can have."""
    return isinstance(entry, str) and all(normalise(word).split() == [word] for word in entry.split("|"))


_LINE = Format(
    ("must", "must_not"),
    _problems,
    '{"query": "arrow, no circle", "kind": "without", "must": [["arrow"]], "must_not": [["circle|circled"]]}',
)


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
