"""The command `icons show`: everything that a library knows of an icon."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from search.commands.options import format_option, look_options, pictures_option
from search.snippets.drawn import AS_IT_IS, Look
from search.snippets.frameworks import Framework

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@click.option("--svg", "as_svg", is_flag=True, help="Print the SVG and nothing else.")
@format_option("Print it as code for this and nothing else: lucide-react, vue, css, ...")
@look_options
@pictures_option
@library_option
@json_option
def show(  # noqa: PLR0913  options of a command stand side by side
    library: "Library",
    *,
    keys: tuple[str, ...],
    as_svg: bool,
    framework: Framework | None,
    look: Look,
    pictures: bool | None,
    as_json: bool,
) -> None:
    """Show all that is known of icons: set, licence, tags, variants, what looks the same, where each comes from.

    KEY is SET:NAME, a name, or an id, as `icons search --json` tells it.

    \b
    Examples:
      icons show mdi:home
      icons show lucide:house --json | jq .near_duplicates[].key
      icons show lucide:house --svg > house.svg
      icons show lucide:house --format vue --colour navy --stroke-width 1.5 > House.vue
    """
    from search.commands.presenting import draw, engine_of, print_code, print_svg

    forms = [form for form, is_wanted in (("svg", as_svg), ("format", framework), ("json", as_json)) if is_wanted]
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]} are two forms of output; give one of them")
    if look != AS_IT_IS and framework is None:
        raise click.UsageError("a colour, stroke, size or corner is given to code; say which with --format, as svg")
    engine = engine_of(library)
    for details in [engine.show(engine.find(key)) for key in keys]:
        if as_svg:
            print_svg(engine, details.hit)
        elif framework:
            print_code(engine, details.hit, framework, look)
        elif as_json:
            click.echo(json.dumps(asdict(details)))
        else:
            from indexer.reports.tables import open_console
            from search.showing.hit_table import print_details

            console = open_console()
            draw(engine, console, [details.hit], first=None, wanted=pictures)
            print_details(console, details)
