"""The command reference, written from the help texts.

python -m data.making.commands > docs/commands.md
"""

import re
from collections.abc import Iterator
from textwrap import dedent

import click

from search.cli import main

_INTRO = """# Commands

Written by `python -m data.making.commands` from the help texts. `icons COMMAND --help` explains each option.
"""


def reference() -> str:
    """Lay out what each command does, an example, and the names of its options, as Markdown."""
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
    paragraphs = [dedent(part) for part in (command.help or "").split("\n\n")]
    about = " ".join(paragraphs[0].replace("\b\n", "").split())
    examples = [part.removeprefix("\b\n").removeprefix("Example:\n") for part in paragraphs[1:] if "Example:" in part]
    options = [max(param.opts, key=len) for param in command.params if isinstance(param, click.Option)]
    lines = [
        f"## {context.command_path}",
        f"`{' '.join([context.command_path, *command.collect_usage_pieces(context)])}`",
        about,
    ]
    lines += [f"```sh\n{dedent(example).rstrip()}\n```" for example in examples]
    lines += [f"Options: {', '.join(f'`{name}`' for name in options)}"] if options else []
    return "\n\n".join(re.sub(r"[ \t]+$", "", line, flags=re.MULTILINE) for line in lines) + "\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
