"""Puts the query side of an encoder into the library, beside the ranks where that costs them nothing.

    python -m indexer.embedding.exporting --library DIR --choice JSON

is the export as a process of its own: a GPU works while torch traces towers on the host.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import Engine

from indexer.catalog import questions
from indexer.catalog.database import open_catalog
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import N_SAMPLES, carry, check_answers, find_graphs, sample_pixels
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.process import end_with_starter, named_as_starter

TITLE = "Preparing the query encoder"


def export_missing(library: Library, engine: Engine, choice: ModelChoice, *, stage: Callable[[str], None]) -> bool:
    """Put a query encoder that needs no torch into the library if it is not there; tell whether it was missing.

    The graphs beside a model's weights are taken as they are: they were checked when they were made. Without such, both
    towers are exported, and checked on the library's own words and known pictures.
    """
    is_missing = not _is_there(library, choice)
    with exporting(library, engine, choice, beside_gpus=False, stage=stage):
        return is_missing


@contextmanager
def exporting(
    library: Library, engine: Engine, choice: ModelChoice, *, beside_gpus: bool, stage: Callable[[str], None]
) -> Iterator[None]:
    """Do the same while the block runs, where that takes nothing from it, else before; what fails is raised behind it.

    Graphs are carried in a thread. Torch exports in a process of its own while GPUs embed; ranks on the host's cores
    would only share them with it.
    """
    if _is_there(library, choice):
        yield
        return
    stage(TITLE)
    checkpoint = find_checkpoint(choice)
    if graphs := find_graphs(checkpoint):
        with ThreadPoolExecutor(1, "export") as thread:
            carried = thread.submit(carry, graphs, library.encoder(checkpoint.fingerprint), choice=choice)
            yield
            carried.result()
    elif beside_gpus:
        with _export_apart(library, choice):
            yield
    else:
        _export(library, engine, choice)
        yield


def _is_there(library: Library, choice: ModelChoice) -> bool:
    return (library.encoder(find_checkpoint(choice).fingerprint) / "encoder.json").is_file()


def _export(library: Library, engine: Engine, choice: ModelChoice) -> None:
    import torch

    from indexer.encoders.export import export
    from indexer.encoders.torch_encoder import Encoder

    checkpoint = find_checkpoint(choice)
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    check_answers(encoder, checkpoint)
    with engine.begin() as connection:
        ids = questions.name_ids(connection)[:N_SAMPLES]
        samples = [words for _, words in questions.words_of(connection, ids)] or ["icon"]
    folder, pixels = library.encoder(checkpoint.fingerprint), sample_pixels(encoder.image_size)
    export(encoder, folder, choice=choice, texts=samples, pixels=pixels)


@contextmanager
def _export_apart(library: Library, choice: ModelChoice) -> Iterator[None]:
    """Export in a process of its own while the block runs; where the block fails, that process ends."""
    program = [sys.executable, "-P", "-m", "indexer.embedding.exporting"]
    command = [*program, "--library", str(library.root), "--choice", choice.to_json()]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, **named_as_starter()}
        )
        try:
            yield
            status = process.wait()
        finally:
            process.kill()
            process.wait()
        if status:
            said.seek(0)
            reason = (said.read().decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
            raise EmbedError(f"the query encoder could not be exported ({reason}); run `icons index` again")


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), required=True, help="The library's folder.")
@click.option("--choice", required=True, help="A `ModelChoice` as JSON.")
def main(root: Path, choice: str) -> None:
    """Export the encoder of a choice into a library, whose lock the starter of this process holds."""
    end_with_starter()
    library = Library(root)
    engine = open_catalog(library.catalog)
    try:
        _export(library, engine, ModelChoice.from_json(choice))
    finally:
        engine.dispose()


if __name__ == "__main__":
    main()
