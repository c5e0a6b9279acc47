"""The root command `icons`: the commands that build, and those that ask."""

import click

from indexer.bench.cli import bench
from indexer.cli import COMMANDS
from indexer.options import IconsGroup
from search.bench.cli import bench_search, bench_serve
from search.commands.completion import completion
from search.commands.evaluate import evaluate
from search.commands.repl import repl
from search.commands.search import search
from search.commands.show import show
from search.commands.similar import similar
from search.web.cli import mcp, serve


@click.group(cls=IconsGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="icons")
def main() -> None:
    """Find icons by what they mean or how they look, in any library, on your own machine.

    \b
      icons index                    build a library from the bundled sample icons
      icons index ~/design/icons     ... or from your own, which are remembered
      icons search "arrow"           ask it
    """


bench.add_command(bench_search)
bench.add_command(bench_serve)
for command in (*COMMANDS, search, similar, show, repl, serve, mcp, evaluate, completion):
    main.add_command(command)
