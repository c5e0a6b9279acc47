"""Whether the first hits are right by the judgement of whoever looked at them: `data/eval/judged-lucide.jsonl`.

    python -m data.making.eval.judged data/eval/judged-lucide.jsonl --library DIR

A file is JSONL, a query a line: `{"query": "planet", "kind": "meaning", "right": ["orbit"], "fair": ["earth"], "wrong":
["eclipse"]}`, names of icons. What nobody judged counts as wrong, and how often that happened is counted.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import click
import numpy as np
from pydantic import model_validator

from indexer.arrays import Floats, Ids
from indexer.commands.options import json_option, library_option
from indexer.languages.words import normalise
from indexer.library.folder import Library
from indexer.merging.browsing import group_many
from indexer.reports.figures import Figure, Scores, means, short, spell
from indexer.reports.terminal import Progress, ProgressLine
from search.evaluation.evaluate import Subject
from search.evaluation.queries import Corpus, Line, Tags, Words, read_lines
from search.evaluation.rankers import ENGINE, VectorRankers, find_contenders, in_blocks, read_vectors_of

N_FIRST = 5
"""Hits of each ranker that are judged."""
GAINS = {"right": 3.0, "fair": 1.0, "wrong": 0.0}
"""2 to the power of the grade, less one: Burges et al., Learning to Rank using Gradient Descent, 2005."""
RIGHT, NDCG = "R@1", f"nDCG@{N_FIRST}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line of a file."""

    query: str
    kind: str
    grades: Mapping[str, Sequence[str]]
    """Names of icons by grade."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """Figures of one ranker over all queries of the files."""

    ranker: str
    encoder: str
    n_queries: int
    figures: Mapping[str, Figure]
    """R@1: share of queries whose first hit is right; nDCG@5: gain of the first five, against the best order's."""
    unjudged: float
    """Share of the first five hits that nobody judged; they count as wrong."""


class JudgedLine(Line):
    """A line of a file of judgements."""

    example = '{"query": "planet", "kind": "meaning", "right": ["orbit"], "fair": ["earth"], "wrong": ["eclipse"]}'

    right: tuple[Words, ...]
    fair: tuple[Words, ...]
    wrong: tuple[Words, ...]

    @model_validator(mode="after")
    def _has_one_grade_a_name(self) -> Self:
        graded = [normalise(name) for name in (*self.right, *self.fair, *self.wrong)]
        if twice := next((name for name in graded if graded.count(name) > 1), None):
            raise ValueError(f'"{twice}" has two grades')
        return self


def read_judgements(file: Path) -> list[Judgement]:
    """Read the judgements of a file.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as above; the message names the line.
    """
    return [
        Judgement(line.query, line.kind, {"right": line.right, "fair": line.fair, "wrong": line.wrong})
        for line in read_lines(file, JudgedLine)
    ]


def ask_judged(
    rankers: VectorRankers, judged: Sequence[Judgement], corpus: Corpus, *, encoder: str, seed: int, progress: Progress
) -> list[JudgedRow]:
    """Ask all judged queries; a row for each ranker.

    A name stands for all icons that bear it, and for those that are drawn as one of them.
    """
    by_name = _rows_by_name(corpus)
    best: list[float] = []
    firsts: defaultdict[str, list[Floats]] = defaultdict(list)
    for block in in_blocks(len(judged), n_candidates=len(corpus)):
        part = judged[block]
        gains = [_gains(line, by_name, corpus) for line in part]
        best += [_discounted(_best_gains(of_line, corpus)) for of_line in gains]
        for ranker, scores in rankers.scores([line.query for line in part]).items():
            for of_icons, of_line in zip(scores, gains, strict=True):
                firsts[ranker].append(of_line[first_rows(of_icons, corpus, last=of_line)])
        for line, of_line in zip(part, gains, strict=True):
            firsts[ENGINE].append(of_line[rankers.engine.hits(line.query)[:N_FIRST]])
        progress("Asking what was judged", block.stop, len(judged))
    return [_row(ranker, encoder, gains, np.array(best), seed=seed) for ranker, gains in firsts.items()]


def first_rows(scores: Floats, corpus: Corpus, *, last: Floats | None = None) -> Ids:
    """Rows of the first five hits, best first: variants and equal drawings once, what is not ranked left out.

    Of equal scores those with the larger `last` come last: a ranker that says the same of everything gains nothing.
    """
    order = np.argsort(-scores, kind="stable") if last is None else np.lexsort((np.nan_to_num(last), -scores))
    ranked = order[: np.isfinite(scores).sum()]
    found: Ids = ranked[group_many(corpus.group_rows[ranked], corpus.drawing_rows[ranked])[:N_FIRST]]
    return found


def _rows_by_name(corpus: Corpus) -> Mapping[str, Sequence[int]]:
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(corpus.names):
        rows[normalise(name)].append(row)
    return rows


def _gains(line: Judgement, by_name: Mapping[str, Sequence[int]], corpus: Corpus) -> Floats:
    """What each icon gains for a query, (n,); no number where nobody judged it.

    Of a drawing with two grades, under two names, the better one counts.
    """
    gains = np.full(len(corpus), np.nan, np.float32)
    for grade, gain in reversed(GAINS.items()):
        rows = [row for name in line.grades[grade] for row in by_name.get(normalise(name), ())]
        gains[corpus.drawn_alike(np.array(rows, np.int64))] = gain
    return gains


def _best_gains(gains: Floats, corpus: Corpus) -> Floats:
    """Gains of the best first five that the library has."""
    best: Floats = gains[first_rows(np.where(np.isnan(gains), -np.inf, gains), corpus)]
    return best


def _row(ranker: str, encoder: str, firsts: Sequence[Floats], best: Scores, *, seed: int) -> JudgedRow:
    gained = [np.nan_to_num(gains) for gains in firsts]
    scores = {
        RIGHT: np.array([gains[:1].sum() == GAINS["right"] for gains in gained], np.float64),
        NDCG: np.array([_discounted(gains) for gains in gained]) / np.maximum(best, 1),
    }
    n_unjudged, n_first = sum(int(np.isnan(gains).sum()) for gains in firsts), sum(map(len, firsts))
    return JudgedRow(ranker, encoder, len(firsts), means(scores, seed=seed), n_unjudged / max(1, n_first))


def _discounted(gains: Floats) -> float:
    return float((gains / np.log2(np.arange(2, 2 + len(gains)))).sum())


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", "models", multiple=True, metavar="NAME", help="As for `icons lab evaluate`. Repeatable.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of intervals.")
@library_option
@json_option
def main(files: tuple[Path, ...], models: tuple[str, ...], seed: int, library: Library, as_json: bool) -> None:
    """Measure rankers by the judgements in FILES."""
    subject = Subject(library)
    judged = [line for file in files for line in read_judgements(file)]
    rows = []
    with ProgressLine() as progress:
        for contender in find_contenders(library, models, in_use=subject.manifest.fingerprint):
            vectors = read_vectors_of(library, contender, subject.corpus)
            rankers = VectorRankers(
                subject.engine, subject.corpus, vectors, subject.manifest.weights, Tags.read(subject.opened)
            )
            rows += ask_judged(rankers, judged, subject.corpus, encoder=contender.label, seed=seed, progress=progress)
    for row in rows:
        figures = "  ".join(f"{name} {spell(one, with_interval=True)}" for name, one in row.figures.items())
        plain = f"{row.encoder} {row.ranker:<9} {row.n_queries:,} queries  {figures}  unjudged {short(row.unjudged)}"
        click.echo(json.dumps(asdict(row)) if as_json else plain)


if __name__ == "__main__":
    main()
