"""Commands that look after a library: what it holds, what failed, its sources, its schema. Each calls one function."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from indexer.languages.codes import AUTO
from indexer.naming.printable import printable, say

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@library_option
@json_option
def status(library: "Library", as_json: bool) -> None:
    """Show what the library holds: icons by state, sources, encoder, generation, size on disk.

    \b
    Example:
      icons status
    """
    from indexer.commands.status import read_status, status_lines

    facts = read_status(library)
    if as_json:
        click.echo(json.dumps(facts))
        return
    for line in status_lines(facts):
        say(line)


@click.command()
@library_option
@json_option
def failures(library: "Library", as_json: bool) -> None:
    """List every file or picture that could not be indexed, with the reason.

    \b
    Example:
      icons failures --json | jq -r .reason | sort | uniq -c
    """
    from indexer.commands.status import read_failures

    for failure in read_failures(library):
        line = "\t".join(map(printable, (failure["file"], failure["reason"])))
        click.echo(json.dumps(failure) if as_json else line)


@click.command()
@library_option
@json_option
def sources(library: "Library", as_json: bool) -> None:
    """List the remembered sources.

    \b
    Example:
      icons sources
    """
    from indexer.commands.status import read_sources

    for source in read_sources(library):
        line = f"{source['icons']:>9,} icons  {source['sets']:>4,} sets  {source['kind']:<10} {source['location']}"
        if source["names_language"] != AUTO:
            line += f"  --names-language {source['names_language']}"
        click.echo(json.dumps(source) if as_json else printable(line))


@click.command()
@click.argument("location", type=click.Path(path_type=Path))
@library_option
def forget(library: "Library", location: Path) -> None:
    """Drop a source and its icons from the library; its files are not touched.

    LOCATION may also be a part of a source: a package of a node_modules folder, or a file or folder inside. What is
    still there of a part comes back with the next `icons index`.

    \b
    Example:
      icons forget ~/design/old-icons && icons index
      icons forget node_modules/@mdi/svg && icons index     # after npm has removed it
    """
    from indexer import pipeline

    n_icons = pipeline.forget(library, location)
    click.echo(f"{n_icons:,} icon{'s' if n_icons != 1 else ''} dropped; `icons index` publishes the library without")


@click.group()
def db() -> None:
    """Look after the catalog's schema."""


@db.command()
@library_option
def upgrade(library: "Library") -> None:
    """Bring the catalog to this program's schema.

    \b
    Example:
      icons db upgrade
    """
    from indexer.catalog.database import upgrade_catalog
    from indexer.library.folder import require

    with require(library).writing():
        before, after = upgrade_catalog(library.catalog)
    click.echo(f"schema {before} is current" if before == after else f"schema {before} -> {after}")
