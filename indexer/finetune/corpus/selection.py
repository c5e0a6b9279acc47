"""Which icons does a user mean? Sources on the command line, or those that a library remembers; with their captions."""

import json
from collections.abc import Sequence
from pathlib import Path

from indexer.errors import SourceError
from indexer.finetune.corpus.gather import Gathered, Limits, gather, read_sources
from indexer.finetune.corpus.own_captions import read_own_captions
from indexer.finetune.options import Learning
from indexer.library.folder import Library, require


def gather_icons(
    sources: Sequence[Path], *, exclude: Sequence[str], library: Library | None, learning: Learning, seed: int
) -> tuple[Gathered, Limits]:
    """Read sources, or a library's remembered ones, and give every icon its captions.

    Raises:
        SourceError: there are none, or own captions fit none of the icons.
    """
    excludes: dict[Path, Sequence[str]] = dict.fromkeys(sources, tuple(exclude))
    if not sources:
        excludes = remembered_sources(library)
    skipped: list[tuple[str, str]] = []
    limits = Limits(
        learning.names_per_set, learning.variants_per_name, learning.tags_per_icon, seed, admit=learning.admit
    )
    placed = read_sources(excludes, excludes=excludes, skipped=skipped)
    own = read_own_captions(Path(learning.own_captions)) if learning.own_captions else {}
    unknown = own.keys() - {entry.file for entry in placed}
    if own and len(unknown) == len(own):
        raise SourceError(
            f'no file in "{learning.own_captions}" is one of the icons, the first is "{next(iter(own))}"; '
            "`icons captions --out FILE` writes a list to edit"
        )
    gathered = gather(placed, extra_tags={}, limits=limits, own=own)
    gathered.skipped = skipped + gathered.skipped + [(file, "own captions, but no such icon") for file in unknown]
    return gathered, limits


def remembered_sources(library: Library | None) -> dict[Path, Sequence[str]]:
    """The sources that a library remembers, with what is left out of each."""
    from sqlalchemy import select

    from indexer.catalog.database import open_catalog
    from indexer.catalog.schema import sources

    if library is None:
        raise SourceError("nothing to learn from; give SOURCES, or --library of one that remembers some")
    engine = open_catalog(require(library).catalog)
    with engine.connect() as connection:
        rows = connection.execute(select(sources.c.given, sources.c.exclude).distinct()).all()
    engine.dispose()
    if not rows:
        raise SourceError(f'"{library.root}" remembers no source; give SOURCES, or run `icons index SOURCE` first')
    return {Path(row.given): json.loads(row.exclude) for row in rows}
