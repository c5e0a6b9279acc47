"""Sends the files that a search reads on its own machine: in pieces, under their checksums, each once."""

import hashlib
import json
import sqlite3
import zlib
from base64 import b64encode
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np

from indexer.library.folder import Generation
from indexer.merging.lexicon import Lexicon, Lists
from search.generation.milvus.connection import Connection
from search.generation.milvus.published import FileFacts
from search.generation.milvus.schema import MOST_BYTES, VECTOR, Names, piece_key
from search.generation.milvus.table import Facts
from search.publishing.collections import SECONDS, Progress

PIECE_BYTES = MOST_BYTES // 4 * 3
"""Of what is compressed, which base64 makes a third longer."""
_PIECES_AT_ONCE = 64
_KEPT_TABLES = ("settings", "sources", "sets", "names", "labels", "vocabulary")
_EMPTY_TABLES = ("files", "images", "icons")


def write_files(generation: Generation, facts: Facts, folder: Path) -> list[Path]:
    """Write into a folder what a search needs of a generation beside the server's rows: nothing that grows with icons,
    but names, their words and labels.
    """
    lexicon = Lexicon.open(generation.lexicon)
    n_names = len(lexicon.name_ids)
    none = Lists(np.zeros(n_names + 1, np.int64), np.empty(0, np.int64))
    nameless = Lexicon(lexicon.terms, lexicon.weights, lexicon.names, lexicon.tagged, lexicon.name_ids, none)
    nameless.save(folder / generation.lexicon.name)
    np.save(folder / "bearers.npy", np.diff(lexicon.icons.starts).astype(np.int64))
    _write_catalog(generation.catalog, folder / generation.catalog.name)
    facts.write(folder / "facts.json")
    (folder / generation.manifest.name).write_bytes(generation.manifest.read_bytes())
    return sorted(folder.iterdir())


def _write_catalog(source: Path, target: Path) -> None:
    """Copy a snapshot without what the server holds: tables of icons, files and pictures are empty."""
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("ATTACH ? AS source", (f"{source.absolute()}",))
        made = "SELECT type, sql FROM source.sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC"
        for table in (*_KEPT_TABLES, *_EMPTY_TABLES):
            for _, sql in connection.execute(made, (table,)).fetchall():
                connection.execute(sql)
            if table in _KEPT_TABLES:
                connection.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")
        connection.commit()
        connection.execute("DETACH source")
        connection.execute("VACUUM")


def send_files(connection: Connection, names: Names, paths: Iterable[Path], progress: Progress) -> dict[str, FileFacts]:
    """Send files, those pieces that are not there; returns what was said of each, by name."""
    sent = {}
    for path in paths:
        content = path.read_bytes()
        packed = zlib.compress(content, 6)
        pieces = [packed[start : start + PIECE_BYTES] for start in range(0, len(packed), PIECE_BYTES)]
        sha256 = hashlib.sha256(content).hexdigest()
        _send_pieces(connection, names, sha256, pieces, progress)
        sent[path.name] = FileFacts(len(content), sha256, len(pieces))
    return sent


def _send_pieces(connection: Connection, names: Names, sha256: str, pieces: list[bytes], progress: Progress) -> None:
    for start in range(0, len(pieces), _PIECES_AT_ONCE):
        numbers = range(start, min(len(pieces), start + _PIECES_AT_ONCE))
        where = f"id in {json.dumps([piece_key(sha256, number) for number in numbers])}"
        rows = connection.query(names.files, where, ["id"], consistency_level="Strong", seconds=SECONDS)
        held = {row["id"] for row in rows}
        rows = [
            {"id": piece_key(sha256, number), "content": b64encode(pieces[number]).decode(), VECTOR: [0.0, 0.0]}
            for number in numbers
            if piece_key(sha256, number) not in held
        ]
        if rows:
            connection.call("insert", names.files, rows, seconds=SECONDS, tries=1)
        progress("Sending files", numbers[-1] + 1, len(pieces))
