"""Puts the query side of an encoder into the library: graphs beside the ranks, what torch has to trace after all else.

    python -m indexer.encoders.library_encoder --library DIR --choice JSON

is the export as a process of its own, which says each of its steps in a line: torch holds Python's lock for long.
Until it is done the library says that the encoder is served through torch, so that nothing waits for it.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from indexer.catalog import contents
from indexer.catalog.database import read_catalog
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.encoders.graphs import N_SAMPLES, carry, find_graphs, sample_pixels
from indexer.encoders.query_encoder import (
    PENDING,
    EncoderFacts,
    QueryEncoder,
    TorchQueryEncoder,
    open_query_encoder,
    read_facts,
    write_pending,
)
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.process import end_with_starter, named_as_starter
from indexer.reports.terminal import span

TITLE = "Preparing the query encoder"
_LARGE, _FEW_SAMPLES = 128, 8
"""Side in pixels from which on a picture takes so long that fewer are compared: 32 by ViT-L-14 take two cores 50 s."""


@contextmanager
def carrying(library: Library, choice: ModelChoice, *, stage: Callable[[str], None]) -> Iterator[None]:
    """Put the graphs beside a model's weights into the library while the block runs; what fails is raised behind it.

    They were checked when they were made. An encoder without graphs is pending then: `export_missing` exports it.
    """
    checkpoint = find_checkpoint(choice)
    if _is_there(library, checkpoint):
        yield
    elif graphs := find_graphs(checkpoint):
        stage(TITLE)
        with ThreadPoolExecutor(1, "export") as thread:
            carried = thread.submit(carry, graphs, library.encoder(checkpoint.fingerprint), choice=choice)
            yield
            carried.result()
    else:
        yield
        write_pending(library.encoder(checkpoint.fingerprint), checkpoint, choice)


def export_missing(library: Library, choice: ModelChoice, *, stage: Callable[[str], None]) -> bool:
    """Put a query encoder that needs no torch into the library if there is none; tell whether that was so.

    Both towers are exported, and checked on the library's own words and known pictures.
    """
    checkpoint = find_checkpoint(choice)
    if _is_there(library, checkpoint):
        return False
    with carrying(library, choice, stage=stage):
        pass
    if not _is_there(library, checkpoint):
        with span("export"):
            _export_apart(library, choice, stage)
    return True


def open_encoder(library: Library, fingerprint: str) -> QueryEncoder:
    """Open the encoder that a library carries, or what takes its place while its export is pending."""
    facts = _facts(library, fingerprint)
    if facts and (facts.reason or "").startswith(PENDING):
        return TorchQueryEncoder(facts, precision="auto")
    return open_query_encoder(library.encoder(fingerprint))


def _is_there(library: Library, checkpoint: Checkpoint) -> bool:
    facts, folder = _facts(library, checkpoint.fingerprint), library.encoder(checkpoint.fingerprint)
    return not (facts.reason or "").startswith(PENDING) if facts else (folder / "encoder.json").is_file()


def _facts(library: Library, fingerprint: str) -> EncoderFacts | None:
    """What an encoder says of itself; None where it is not there, or damaged, as whoever opens it says."""
    with suppress(OSError, ValueError):
        return read_facts(library.encoder(fingerprint))
    return None


def _export_apart(library: Library, choice: ModelChoice, stage: Callable[[str], None]) -> None:
    """Export in a process of its own, whose lines are steps; it ends where this one is interrupted."""
    program = [sys.executable, "-P", "-m", "indexer.encoders.library_encoder"]
    command, line = [*program, "--library", str(library.root), "--choice", choice.to_json()], "it begins"
    environment = {**os.environ, **named_as_starter(), "PYTHONUNBUFFERED": "1"}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    stage(TITLE)
    with subprocess.Popen(command, env=environment, text=True, errors="replace", **streams) as process:  # type: ignore[call-overload]
        try:
            for line in filter(str.strip, process.stdout):
                if line.startswith(TITLE):
                    stage(line.strip())
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise EmbedError(
            f"the query encoder could not be exported ({line.strip()}); searches go through torch meanwhile; run "
            "`icons index` again"
        )


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), required=True, help="The library's folder.")
@click.option("--choice", "text", required=True, help="A `ModelChoice` as JSON.")
def main(root: Path, text: str) -> None:
    """Export the encoder of a choice into a library, whose lock the starter of this process holds."""
    end_with_starter()
    click.echo(f"{TITLE}: loading its weights")
    import torch

    from indexer.encoders.export import export
    from indexer.encoders.torch_encoder import Encoder

    library, choice = Library(root), ModelChoice.from_json(text)
    checkpoint = find_checkpoint(choice)
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    engine = read_catalog(library.catalog)
    with engine.connect() as connection:
        ids = contents.name_ids(connection)[:N_SAMPLES]
        samples = [words for _, words in contents.words_of(connection, ids)] or ["icon"]
    engine.dispose()
    n = N_SAMPLES if encoder.image_size < _LARGE else _FEW_SAMPLES
    folder, pixels = library.encoder(checkpoint.fingerprint), sample_pixels(encoder.image_size, n=n)
    export(
        encoder, folder, choice=choice, texts=samples, pixels=pixels, step=lambda what: click.echo(f"{TITLE}: {what}")
    )


if __name__ == "__main__":
    main()
