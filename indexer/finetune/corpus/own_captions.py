"""How do people see and correct captions? A table of every icon with its captions, written out and read back."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.finetune.corpus.captions import is_held_out, make_captions, share_held_out
from indexer.finetune.corpus.gather import Gathered
from indexer.library.durable import write_result

COLUMNS = ("file", "name", "set", "licence", "base", "held_out", "captions")
_BETWEEN = "; "


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
    except (OSError, UnicodeDecodeError, ValueError, csv.Error) as error:
        raise SourceError(f'"{file}" can\'t be read as captions ({error}); give CSV or JSONL') from error
    if not found:
        raise SourceError(f'"{file}" holds no captions; `icons captions --out FILE` writes a list to edit')
    return found


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.open(encoding="utf-8-sig", newline="") as opened:
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
    parts = given.split(";") if isinstance(given, str) else given
    return [str(part).strip() for part in parts if str(part).strip()]
