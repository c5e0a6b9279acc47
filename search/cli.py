"""The root command `icons`: the commands that build, and those that ask."""

from importlib import import_module

import click

from indexer.commands.program import IconsGroup
from indexer.process import prepare_for_queries

_OF_THEIR_NAME = (
    "check", "completion", "evaluate", "explain", "export", "lint", "locate", "map", "pick", "prefer", "repl",
    "search", "show", "similar", "usage",
)  # fmt: skip
"""Commands that stand alone in a module of `search.commands`."""
_MODULES = {
    **dict.fromkeys(("index", "scan", "embed", "merge"), "indexer.commands.build"),
    **dict.fromkeys(("status", "failures", "sources", "forget", "db"), "indexer.commands.library"),
    **dict.fromkeys(("finetune", "captions"), "indexer.commands.finetune"),
    "bench": "indexer.commands.bench",
    **{name: f"search.commands.{name}" for name in _OF_THEIR_NAME},
    **dict.fromkeys(("doctor", "publish", "rollback"), "search.publishing.commands"),
    **dict.fromkeys(("serve", "mcp"), "search.commands.serve"),
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
