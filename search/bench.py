"""How long does a search take: cold, as a command, and warm, in one process?

python -m search.bench cold
python -m search.bench warm --library DIR --queries words.txt
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from indexer.library import Library
from indexer.options import library_option

WORDS = ("arrow", "settings", "throw away", "shopping cart", "calendar", "person with a hat", "cloud upload", "left")


@click.group()
def main() -> None:
    """Measure searches."""


@main.command()
@click.option("--repeats", default=10, show_default=True)
@library_option
def cold(library: Library, repeats: int) -> None:
    """Compare the whole process of `icons search` with a bare import of torch and open_clip, alternating."""
    search = [
        sys.executable,
        "-c",
        "from search.cli import main; main()",
        "search",
        "arrow",
        "--library",
        str(library.root),
    ]
    torch = [sys.executable, "-c", "import torch, open_clip"]
    _seconds(search), _seconds(torch)
    runs = [(_seconds(search), _seconds(torch)) for _ in range(repeats)]
    ours, theirs = (statistics.median(times) for times in zip(*runs, strict=True))
    facts = {"search_seconds": round(ours, 3), "import_seconds": round(theirs, 3), "ratio": round(theirs / ours, 1)}
    click.echo(json.dumps({"repeats": repeats, **facts}))


@main.command()
@click.option("--queries", type=click.Path(path_type=Path, exists=True), help="One query a line; else a few words.")
@click.option("--repeats", default=25, show_default=True, help="Passes over the queries.")
@click.option("-k", "k", default=10, show_default=True)
@library_option
def warm(library: Library, queries: Path | None, repeats: int, k: int) -> None:
    """Time queries in one process, after one pass that is not counted."""
    from search.engine import SearchEngine

    engine = SearchEngine.open(library.root)
    words: Sequence[str] = queries.read_text("utf-8").splitlines() if queries else WORDS
    for query in words:
        engine.search(query, k=k)
    times = []
    for _ in range(repeats):
        for query in words:
            started = time.perf_counter()
            engine.search(query, k=k)
            times.append(1000 * (time.perf_counter() - started))
    p50, p95, p99 = (statistics.quantiles(times, n=100)[percent - 1] for percent in (50, 95, 99))
    facts = {"icons": engine.manifest.icons.n, "spec": engine.manifest.icons.spec, "queries": len(times)}
    click.echo(json.dumps({**facts, "p50_ms": round(p50, 2), "p95_ms": round(p95, 2), "p99_ms": round(p99, 2)}))


def _seconds(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
