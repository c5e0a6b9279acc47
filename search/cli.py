"""The root command `icons`: the commands that build, and those that ask."""

from importlib import import_module

import click

from indexer.commands.program import IconsGroup
from indexer.process import prepare_for_queries

_MODULES = {
    **dict.fromkeys(("index", "scan", "embed", "merge"), "indexer.commands.build"),
    **dict.fromkeys(("status", "failures", "sources", "forget", "db"), "indexer.commands.library"),
    **dict.fromkeys(("finetune", "captions"), "indexer.commands.finetune"),
    "bench": "indexer.commands.bench",
    **dict.fromkeys(("search", "similar", "show", "explain"), "search.commands.search"),
    **dict.fromkeys(("check", "map", "pick"), "search.commands.code"),
    **dict.fromkeys(("export", "lint"), "search.commands.drawings"),
    **dict.fromkeys(("locate", "usage"), "search.commands.screens"),
    "evaluate": "search.commands.evaluate",
    "repl": "search.commands.repl",
    **dict.fromkeys(("doctor", "publish", "rollback"), "search.publishing.commands"),
    **dict.fromkeys(("serve", "mcp", "completion", "prefer"), "search.commands.serve"),
}
"""Where each command stands, under its own name. One is imported when it is asked for: all of them take 30 ms more."""
_OF_QUERIES = frozenset(("explain", "locate", "mcp", "pick", "repl", "search", "serve", "show", "similar"))
"""Commands that ask one question after another; the others compute in bulk, on all cores."""


class _Commands(IconsGroup):
    """All commands, imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        if cmd_name in _OF_QUERIES:
            prepare_for_queries()
        command: click.Command = getattr(import_module(_MODULES[cmd_name]), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="icons")
def main() -> None:
    """Find icons by what they mean or how they look, in any library, on your own machine.

    \b
      icons index                    build a library from the bundled sample icons
      icons index ~/design/icons     ... or from your own, which are remembered
      icons search "arrow"           ask it
    """
