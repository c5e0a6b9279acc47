"""The root command `icons`: the commands that build, and those that ask."""

import click

from indexer.commands.program import IconsGroup, LazyGroup
from indexer.process import prepare_for_queries

_MODULES = {
    **dict.fromkeys(("index", "worker"), "indexer.commands.build"),
    **dict.fromkeys(("status", "sources"), "indexer.commands.library"),
    **dict.fromkeys(("search", "show"), "search.commands.search"),
    **dict.fromkeys(("check", "map", "pick"), "search.commands.code"),
    **dict.fromkeys(("export", "lint"), "search.commands.bulk"),
    **dict.fromkeys(("locate", "usage"), "search.commands.screens"),
    **dict.fromkeys(("doctor", "rollback"), "search.publishing.commands"),
    **dict.fromkeys(("serve", "mcp", "completion", "config"), "search.commands.serve"),
}
_SECTIONS = {
    "Find": ("search", "show", "locate", "usage"),
    "Use": ("pick", "export", "check", "map", "lint"),
    "Build": ("index", "sources", "status", "worker"),
    "Serve": ("serve", "mcp"),
    "Teach and measure": ("lab",),
    "Look after": ("config", "doctor", "rollback", "completion"),
}
"""What people do, and with which commands."""
_LAB = {
    "bench": "indexer.commands.bench",
    **dict.fromkeys(("finetune", "captions"), "indexer.commands.finetune"),
    "evaluate": "search.commands.bulk",
    "publish": "search.publishing.commands",
}
_OF_QUERIES = frozenset(("locate", "mcp", "pick", "search", "serve", "show"))
"""Commands that ask one question after another; the others compute in bulk, on all cores."""
_FILTERS = {
    "--category": "`--only category=NAME`",
    "--tag": "`--only tag=TAG`",
    "--animated": "`--only animated=yes`",
    "--still": "`--only animated=no`",
}
"""Of search, pick, locate and usage find."""
_OF_SEARCH = {
    **_FILTERS,
    "--corner": "`--only corner=CORNER`",
    "--size": "`--only size=PIXELS`",
    "--coloured": "`--only coloured=yes`",
    "--color": "`--only coloured=yes`",
    "--mono": "`--only coloured=no`",
    "--language": "the language of LANG, as in `LANG=de icons search Pfeil`",
    "--jsonl": "`icons search --json | jq -c '.hits[]'`",
    "--paths": "`icons search --json | jq -r '.hits[].path'`",
    "--svg": "`icons pick WORDS --format svg`, or `icons show KEY --svg`",
    "--format": "`icons pick WORDS --format FORMAT`, or `icons show KEY --format FORMAT`",
    "--copy-to": "`icons search --json | icons export - --out DIR`",
    "--pictures": "what a terminal that can draw gets by itself",
    "--no-pictures": "`ICONS_PICTURES=0 icons search`",
    "--prefer": "`icons config sets SET`",
    "--picture-share": "`picture_share` of the HTTP API alone, see docs/serving.md",
}
_MOVED = {
    "failures": "`icons status --failures`",
    "forget": "`icons sources --forget PLACE`",
    "scan": "`icons index --only scan`",
    "embed": "`icons index --only embed`, and `icons worker WORK` for a worker",
    "merge": "`icons index --only merge`",
    "db": "a part of `icons index`, which brings the catalog to its schema",
    "explain": "`icons search WORDS --why KEY`",
    "prefer": "`icons config sets SET`",
    "similar": "`icons search --like KEY`",
    "repl": "`icons search`, a query each, or `icons serve` for many",
    **{name: f"`icons lab {name}`" for name in _LAB},
    **{f"search {option}": now for option, now in _OF_SEARCH.items()},
    **{f"{command} {option}": now for command in ("pick", "locate", "usage find") for option, now in _FILTERS.items()},
    "index --publish": "`icons lab publish ADDRESS`",
    "pick --language": "the language of LANG, as in `LANG=de icons pick Pfeil`",
    "locate --jsonl": "`icons locate --json | jq -c '.[]'`",
    "locate --svg": "`icons locate --format svg`",
    "show --pictures": "what a terminal that can draw gets by itself",
    "show --no-pictures": "`ICONS_PICTURES=0 icons show`",
    "pick --remember": "`icons config format FORMAT`",
}
"""Commands and options of earlier versions, and what does now what they did."""


class _Commands(IconsGroup):
    """All commands."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one, with the threads that suit it."""
        if cmd_name in _OF_QUERIES:
            prepare_for_queries()
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=_Commands,
    modules=_MODULES,
    moved=_MOVED,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="icons")
def main() -> None:
    """Find icons by what they mean or how they look, in any library, on your own machine.

    \b
      icons index                  build a library of sample icons
      icons index ~/design/icons   ... or of your own
      icons search "arrow"         ask it
    """


@main.group(cls=LazyGroup, modules=_LAB)
def lab() -> None:
    """Measure, teach a model, and publish: what is done once for a library or a machine.

    \b
    Examples:
      icons lab evaluate --report report.html
      icons lab bench embed
      icons lab finetune ~/design/icons --out ~/models/mine
      icons lab publish milvus://localhost:19530/icons
    """
