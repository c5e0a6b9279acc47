"""A server to try: `python -m search.publishing FOLDER --samples` starts Milvus and publishes the bundled icons."""

import signal
import sys
from contextlib import suppress
from pathlib import Path

import click

from indexer.errors import IconsError
from search.generation.milvus.connection import PORT


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--port", type=click.IntRange(1, 65_535), default=PORT, show_default=True)
@click.option("--samples", is_flag=True, help="Index the bundled icons into FOLDER/library, and publish them.")
def main(folder: Path, port: int, samples: bool) -> None:
    """Run a Milvus 2.3.5 server from PyPI until Ctrl-C; FOLDER holds what is installed. Each start begins empty.

    \b
    Example:
      python -m search.publishing ~/milvus --samples
      icons search "arrow" --library milvus://127.0.0.1:19530/icons     # in another terminal
    """
    from search.publishing.standalone import running

    folder = folder.expanduser().absolute()
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # else the server would outlive this process
    try:
        with running(folder, port=port) as server, suppress(KeyboardInterrupt):
            if samples:
                _publish_samples(folder / "library", f"{server}/icons")
            click.echo(f'{server} runs until Ctrl-C; icons search "arrow" --library {server}/icons')
            signal.pause()
    except IconsError as error:
        raise click.ClickException(str(error)) from error


def _publish_samples(folder: Path, address: str) -> None:
    from indexer.commands.console import ProgressView
    from indexer.library.folder import Library
    from indexer.pipeline import index
    from indexer.reports.terminal import ProgressLine
    from indexer.run import IndexOptions
    from search.publishing.publish import publish

    library = Library(folder)
    with ProgressView() as view:
        index(library, IndexOptions(), view)
    with ProgressLine() as line:
        publish(library, address, progress=line)


if __name__ == "__main__":
    main()
