"""The command `icons prefer`: which sets come first where several have the icon."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@click.argument("sets", nargs=-1, metavar="[SET]...")
@click.option("--none", "is_none", is_flag=True, help="Prefer no set any more.")
@library_option
@json_option
def prefer(library: "Library", sets: tuple[str, ...], is_none: bool, as_json: bool) -> None:
    """Say which sets come first where several have an icon, the most preferred first; without SET, show them.

    SET is a key or a title. What is preferred is kept in the library; `--prefer` of a search is for that search alone.

    \b
    Examples:
      icons prefer lucide tabler
      icons prefer "Font Awesome"
      icons prefer --none
    """
    from indexer.library.preferences import known_preferences, read_preferences, write_preferences
    from search.commands.presenting import engine_of

    if sets and is_none:
        raise click.UsageError("--none prefers no set; give it without SET")
    if sets or is_none:
        chosen = tuple(engine_of(library).set_keys(sets))
        write_preferences(library, replace(known_preferences(library), sets=chosen))
    preferred = read_preferences(library).sets
    if as_json:
        click.echo(json.dumps({"sets": preferred}))
    else:
        click.echo(
            "\n".join(preferred) if preferred else "no set is preferred; `icons prefer SET...` says which",
            err=not preferred,
        )
