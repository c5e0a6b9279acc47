"""The command `icons show`: everything that a library knows of an icon."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from search.commands.options import pictures_option

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@click.option("--svg", "as_svg", is_flag=True, help="Print the SVG and nothing else.")
@pictures_option
@library_option
@json_option
def show(library: "Library", keys: tuple[str, ...], as_svg: bool, pictures: bool | None, as_json: bool) -> None:
    """Show all that is known of icons: set, licence, tags, variants, what looks the same, where each comes from.

    KEY is SET:NAME, a name, or an id, as `icons search --json` tells it.

    \b
    Examples:
      icons show mdi:home
      icons show lucide:house --json | jq .near_duplicates[].key
      icons show lucide:house --svg > house.svg
    """
    from search.commands.presenting import draw, engine_of, print_svg

    if as_svg and as_json:
        raise click.UsageError("--svg and --json are two forms of output; give one of them")
    engine = engine_of(library)
    for details in [engine.show(engine.find(key)) for key in keys]:
        if as_svg:
            print_svg(engine, details.hit)
        elif as_json:
            click.echo(json.dumps(asdict(details)))
        else:
            from indexer.reports.tables import open_console
            from search.showing.hit_table import print_details

            console = open_console()
            draw(engine, console, [details.hit], first=None, wanted=pictures)
            print_details(console, details)
