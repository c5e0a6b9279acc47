"""The command `icons similar`: an icon -> others like it."""

from typing import TYPE_CHECKING

import click

from indexer.commands.options import library_option
from search.commands.options import Asking, asking_options
from search.query import Query

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@click.argument("key")
@click.argument("words", nargs=-1)
@asking_options
@library_option
def similar(library: "Library", key: str, words: tuple[str, ...], asking: Asking) -> None:
    """Find more icons like one: in other sets, of other styles. Exit code 0: found, 1: nothing found, 2: error.

    KEY is SET:NAME, a name, or an id, as `icons search --json` tells it. WORDS beside it pull the answer towards what
    they mean.

    \b
    Examples:
      icons similar mdi:home
      icons similar mdi:home --not filled --licence permissive
      icons similar lucide:house dog -k 5 --paths
    """
    from search.commands.presenting import answer, engine_of

    engine = engine_of(library)
    query = Query(words=" ".join(words), icon=engine.find(key), **asking.steering)
    asked = f'icons like "{key}"' + (f' and "{query.words}"' if words else "")
    answer(engine, asked, query, asking)
