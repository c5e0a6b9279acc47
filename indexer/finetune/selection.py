"""Which icons and captions a user means: sources or a library's, and a table of captions."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.finetune.captions import is_held_out, make_captions, share_held_out
from indexer.finetune.gather import Gathered, Limits, gather, read_sources
from indexer.finetune.options import Learning
from indexer.library.folder import Library, require
from indexer.library.named import read_text, write_result

COLUMNS = ("file", "name", "set", "licence", "base", "held_out", "captions")
_BETWEEN = "; "
_MOST_BYTES = 256_000_000
"""Of captions that are read: those of 430,000 icons take half of it."""


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
        names_per_set=learning.names_per_set,
        variants_per_name=learning.variants_per_name,
        tags_per_icon=learning.tags_per_icon,
        tags_by_lot=0,
        seed=seed,
        admit=learning.admit,
        held_out=learning.held_out,
    )
    placed = read_sources(excludes, excludes=excludes, skipped=skipped)
    own = read_own_captions(Path(learning.own_captions)) if learning.own_captions else {}
    unknown = own.keys() - {entry.file for entry in placed}
    if own and len(unknown) == len(own):
        raise SourceError(
            f'no file in "{learning.own_captions}" is one of the icons, the first is "{next(iter(own))}"; '
            "`icons captions --out FILE` writes a list to edit"
        )
    gathered = gather(placed, extra_tags=(), limits=limits, own=own)
    gathered.skipped = skipped + gathered.skipped + [(file, "own captions, but no such icon") for file in unknown]
    return gathered, limits


def remembered_sources(library: Library | None) -> dict[Path, Sequence[str]]:
    """The sources that a library remembers, with what is left out of each."""
    from sqlalchemy import select

    from indexer.catalog.database import open_catalog, sources

    if library is None:
        raise SourceError("nothing to learn from; give SOURCES, or --library of one that remembers some")
    engine = open_catalog(require(library).catalog)
    with engine.connect() as connection:
        rows = connection.execute(select(sources.c.named, sources.c.exclude).distinct()).all()
    engine.dispose()
    if not rows:
        raise SourceError(f'"{library.root}" remembers no source; give SOURCES, or run `icons index SOURCE` first')
    return {Path(row.named): json.loads(row.exclude) for row in rows}


def caption_rows(gathered: Gathered, *, seed: int, held_out: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield what is known of each icon; `captions` is a list in the order name, tags, phrases, words."""
    icons = gathered.icons
    captions = make_captions(
        [icon.words for icon in icons], [icon.tags for icon in icons], seed=seed, own=[icon.own for icon in icons]
    )
    one_in = held_out or share_held_out(len({icon.base for icon in icons}))
    for row, icon in enumerate(icons):
        record = icon.placed.record
        yield {
            "file": icon.placed.file,
            "name": icon.words,
            "set": record.set.key,
            "licence": record.licence or record.set.licence,
            "base": icon.base,
            "held_out": is_held_out(icon.base, one_in=one_in),
            "captions": [captions.texts[number] for number in captions.of(row)],
        }


def write_captions(rows: Iterable[dict[str, Any]], file: Path) -> int:
    """Write rows as CSV or, by the suffix, as JSONL; return how many.

    Raises:
        SourceError: the suffix is neither.
    """
    listed = list(rows)
    if file.suffix.lower() == ".jsonl":
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in listed)
    elif file.suffix.lower() == ".csv":
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "captions": _BETWEEN.join(row["captions"])} for row in listed)
        content = buffer.getvalue()
    else:
        raise SourceError(f'"{file}" ends in neither .csv nor .jsonl; give --out a name that does')
    write_result(file, content.encode(), option="--out")
    return len(listed)


def read_own_captions(file: Path) -> dict[str, tuple[str, ...]]:
    """Read captions by file, as `write_captions` wrote them: `file` and `captions` count, other columns do not.

    Raises:
        SourceError: the file can't be read, or a row has no file or no caption.
    """
    found: dict[str, tuple[str, ...]] = {}
    try:
        for number, row in _rows(file):
            name, captions = str(row.get("file") or "").strip(), _captions(row)
            if not name or not captions:
                lacking = '"file"' if not name else '"captions"'
                raise SourceError(f'"{file}" line {number} has no {lacking}; complete it, or take the line out')
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *captions)))
    except (ValueError, RecursionError, csv.Error) as error:
        raise SourceError(f'"{file}" can\'t be read as captions ({error}); give CSV or JSONL') from error
    if not found:
        raise SourceError(f'"{file}" holds no captions; `icons captions --out FILE` writes a list to edit')
    return found


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    opened = io.StringIO(read_text(file, limit=_MOST_BYTES), newline="")
    if file.suffix.lower() == ".jsonl":
        for number, line in enumerate(opened, start=1):
            if line.strip():
                row = json.loads(line)
                yield number, row if isinstance(row, dict) else {}
    else:
        reader = csv.DictReader(opened)
        for row in reader:
            yield reader.line_num, row


def _captions(row: dict[str, Any]) -> Sequence[str]:
    """A list, or text with semicolons between; "caption" in the singular is taken too."""
    given = row.get("captions", row.get("caption")) or ()
    parts = given if isinstance(given, list) else str(given).split(";") if given else ()
    whole = (str(part).encode(errors="replace").decode().strip() for part in parts)  # halves of a pair are no text
    return [part for part in whole if part]
