"""What does one picture of 1440 x 900 take? Seconds and memory, in a process that does nothing else.

python -m search.evaluation.screens.cost FILE.npy --library FOLDER --contender components
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click
import numpy as np

from indexer.arrays import Pixels
from indexer.commands.options import library_option
from indexer.errors import BenchError
from indexer.library.folder import Library
from indexer.library.foreign import from_json
from search.evaluation.screens.findings import Cost
from search.evaluation.screens.truth import Truth

if TYPE_CHECKING:
    from search.engine import SearchEngine
    from search.evaluation.screens.contenders import Contender

WIDTH, HEIGHT = 1440, 900
N_RUNS = 5


def usual_picture(truths: Sequence[Truth]) -> Pixels:
    """Cut the usual size out of the screen with the most icons among the first; smaller ones are laid side by side."""
    [pixels] = [truth.read_pixels() for truth in sorted(truths[:50], key=lambda truth: -len(truth.icons))[:1]]
    down, right = max(0, HEIGHT - pixels.shape[0]), max(0, WIDTH - pixels.shape[1])
    return np.pad(pixels, ((0, down), (0, right), (0, 0)), mode="wrap")[:HEIGHT, :WIDTH]


def measure_cost(library: Library, contender: str, picture: Pixels) -> Cost:
    """Measure one contender on a picture, in a process of its own.

    Raises:
        BenchError: the process failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.npy"
        np.save(file, picture)
        options = ["--library", str(library.root), "--contender", contender]
        command = [sys.executable, "-m", __spec__.name, str(file), *options]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise BenchError(f'"{contender}" could not be measured: {ran.stderr.strip()[-500:]}')
    return from_json(Cost, ran.stdout)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--contender", "name", required=True)
@library_option
def main(library: Library, file: Path, name: str) -> None:
    """Look at a picture several times, and print what that took as JSON."""
    from search.engine import SearchEngine
    from search.evaluation.screens.contenders import open_contender

    engine = SearchEngine.open(library.root)
    click.echo(json.dumps(asdict(_measure(engine, open_contender(name, engine), np.load(file)))))


def _measure(engine: "SearchEngine", contender: "Contender", picture: Pixels) -> Cost:
    from indexer.ranks.devices import HOST
    from indexer.ranks.gauges import peak_memory
    from search.evaluation.screens.naming import name_vectors

    finding, naming, n_boxes = [], [], 0
    for _ in range(1 + N_RUNS):
        began = time.perf_counter()
        located = contender.locate(picture)
        found = time.perf_counter()
        name_vectors(engine, located.vectors)
        finding.append(found - began)
        naming.append(time.perf_counter() - found)
        n_boxes = located.n_found
    return Cost(
        find_seconds=round(median(finding[1:]), 4),
        name_seconds=round(median(naming[1:]), 4),
        n_boxes=n_boxes,
        peak_bytes=peak_memory(HOST),
    )


if __name__ == "__main__":
    main()
