"""How do first hits come to be judged? `pool` writes sheets to look at, `add` takes what the judge says of them.

python -m search.evaluation.pooling pool --queries FILE --judged FILE --out FOLDER
python -m search.evaluation.pooling add FOLDER ANSWERS --judged FILE
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import library_option
from indexer.commands.program import IconsGroup

if TYPE_CHECKING:
    from indexer.library.folder import Library

_Input = click.Path(exists=True, dir_okay=False, path_type=Path)
_JUDGED = click.option(
    "--judged", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File of judgements; may be new."
)


@click.group(cls=IconsGroup)
def main() -> None:
    """Judge the first hits of three rankers by looking at them."""


@main.command()
@library_option
@click.option("--queries", required=True, type=_Input, help="Query file of which some are drawn.")
@click.option("--drawn", "n", default=300, show_default=True, type=click.IntRange(1), help="Queries to draw.")
@click.option("--seed", default=0, show_default=True)
@_JUDGED
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path))
def pool(library: "Library", queries: Path, judged: Path, out: Path, n: int, seed: int) -> None:
    """Write sheets of the pictures that nobody has judged yet."""
    from indexer.reports.bars import ProgressLine
    from search.evaluation.evaluate import Subject
    from search.evaluation.judged import read_judgements
    from search.evaluation.pooling.pool import pool as pool_hits
    from search.evaluation.pooling.sheets import refuse_used, write_sheets

    refuse_used(out)
    known = read_judgements(judged) if judged.exists() else []
    subject = Subject(library)
    with ProgressLine() as progress:
        pooled = pool_hits(subject, queries, n=n, judged=known, seed=seed, progress=progress)
    n_sheets = write_sheets(pooled, subject.corpus, subject.originals, out)
    n_icons = sum(len(found.rows) for found in pooled)
    click.echo(f"{out}: {n_icons:,} icons of {len(pooled):,} queries on {n_sheets} sheets", err=True)


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("answers", type=_Input)
@_JUDGED
def add(folder: Path, answers: Path, judged: Path) -> None:
    """Add a judge's answers to the judgements."""
    from search.evaluation.judged import read_judgements
    from search.evaluation.pooling.answers import add as join
    from search.evaluation.pooling.answers import read_answers, write_judgements

    known = read_judgements(judged) if judged.exists() else []
    joined = join(known, read_answers(folder, answers))
    write_judgements(judged, joined)
    click.echo(f"{judged}: {len(joined):,} queries", err=True)


if __name__ == "__main__":
    main()
