"""What does every command say of itself? Writes the command reference from the help texts.

python -m search.reference > docs/commands.md
"""

from collections.abc import Iterator

import click

from search.cli import main


def reference() -> str:
    """Lay out the help of every command as Markdown."""
    intro = (
        "# Commands\n\nWritten by `python -m search.reference` from the help texts; a test holds the two together.\n"
    )
    context = click.Context(main, info_name="icons", terminal_width=100, **main.context_settings)
    return "\n".join([intro, *_pages(main, context)])


def _pages(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in sorted(command.list_commands(context)):
            child = command.get_command(context, name)
            assert child is not None
            yield from _pages(child, click.Context(child, info_name=name, parent=context, terminal_width=100))


if __name__ == "__main__":
    click.echo(reference(), nl=False)
