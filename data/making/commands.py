"""The command reference, written from the help texts.

python -m data.making.commands > docs/commands.md
"""

from collections.abc import Iterator

import click

from search.cli import main

_INTRO = """# Commands

Written by `python -m data.making.commands` from the help texts, which explain options and have examples.
What asks a library takes `--library`, what has a result `--json`, too.
"""


def reference() -> str:
    """Lay out what each command does, and the names of its options, as Markdown."""
    pages = [_page(command, context) for command, context in commands() if not command.hidden]
    return "\n".join([_INTRO, *pages])


def commands(context: click.Context | None = None) -> Iterator[tuple[click.Command, click.Context]]:
    """All commands that are no groups, by name, with their contexts."""
    context = context or click.Context(main, info_name="icons", **main.context_settings)
    assert isinstance(context.command, click.Group)
    for name in context.command.list_commands(context):
        command = context.command.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from commands(inner)
        else:
            yield command, inner


def _page(command: click.Command, context: click.Context) -> str:
    about = " ".join((command.help or "").split("\n\n")[0].replace("\b\n", "").split())
    every = [max(param.opts, key=len) for param in command.params if isinstance(param, click.Option)]
    options = [name for name in every if name not in ("--library", "--json")]
    _, *usage = command.collect_usage_pieces(context)
    lines = [f"## {' '.join([context.command_path, *usage])}", about]
    lines += [", ".join(f"`{name}`" for name in options)] if options else []
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
