"""The command `icons explain`: why an icon stands where it stands in an answer."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from search.commands.options import language_option

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@click.argument("words")
@click.argument("key")
@click.option("--not", "without", multiple=True, metavar="WORDS", help="What the search steers away from. Repeatable.")
@language_option
@library_option
@json_option
def explain(
    library: "Library", words: str, key: str, without: tuple[str, ...], languages: tuple[str, ...], as_json: bool
) -> None:
    """Tell why an icon was found, or was not: what each part of a search says of it, beside the icon that comes first.

    WORDS is the query, KEY the icon that was expected, as for `icons show`. docs/ranking.md tells what the parts are.

    \b
    Examples:
      icons explain "data leak" lucide:shield-alert
      icons explain "go back" undo --json | jq .icon.evidence
    """
    from search.commands.presenting import engine_of
    from search.query import Query

    engine = engine_of(library)
    explanation = engine.explain(Query(words=words, without=without, languages=languages), engine.find(key))
    if as_json:
        click.echo(json.dumps(asdict(explanation)))
        return
    from indexer.reports.tables import open_console
    from search.showing.explained import print_explanation

    print_explanation(open_console(), explanation)
