"""The command `icons repl`: many queries of one library, which stays open."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from indexer.commands.options import library_option
from indexer.errors import IconsError
from indexer.languages.words import say
from search.commands.options import language_option, pictures_option
from search.commands.search import search, show, similar

if TYPE_CHECKING:
    from indexer.library.folder import Library

HELP = """\
  arrow left               words that mean it, or its name; with any option of `icons search`:
  arrow left --set mdi -k 3 --not filled
  arrow left --svg         the SVG of the first hit; --copy-to DIR, --sheet FILE, --long, --json
  :similar mdi:home        more like this one, with any option of `icons similar`
  :show mdi:home           all that is known of it
  :help                    this; `:help search` has all options
  :quit                    or Ctrl-D"""
_LONGEST_LINE = 1_000_000
_COMMANDS = {"search": search, "similar": similar, "show": show}


@click.command()
@language_option
@pictures_option
@library_option
@click.pass_context
def repl(ctx: click.Context, library: "Library", languages: tuple[str, ...], pictures: bool | None) -> None:
    """Ask many queries in one process: the library is opened once, and each answer takes milliseconds.

    A line is what stands behind `icons search`, options included; `:help` tells the rest. Lines may come from a pipe.
    Exit code 0; 2 if the library can't be read.

    \b
    Examples:
      icons repl
      icons repl --library ~/brand-icons < queries.txt
    """
    from search.commands.presenting import engine_of

    ctx.obj = engine_of(library)
    common = ["--library", str(library.root)]
    common += [] if pictures is None else ["--pictures" if pictures else "--no-pictures"]
    if sys.stdin.isatty():
        click.echo(f"{ctx.obj.manifest.icons.n:,} icons; :help tells what can be asked", err=True)
    for line in _lines():
        if line == ":quit":
            return
        _run(ctx, line, common, {"languages": languages})


def _lines() -> Iterator[str]:
    """Lines as they come, without those that are empty; a prompt where a person types."""
    if not sys.stdin.isatty():
        yield from filter(None, map(str.strip, _piped_lines()))
        return
    with suppress(ImportError):
        import readline  # noqa: F401  (input() then edits lines and recalls earlier ones)
    while True:
        try:
            line = input("icons> " if sys.stdout.isatty() else "").strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            click.echo(err=True)
            continue
        if line:
            yield line


def _piped_lines() -> Iterator[str]:
    while line := sys.stdin.buffer.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise IconsError(f"a line of more than {_LONGEST_LINE / 1e6:.0f} MB; write a query a line")
        yield line.decode("utf-8", errors="surrogateescape")


def _run(ctx: click.Context, line: str, common: Sequence[str], defaults: Mapping[str, object]) -> None:
    """Run one line as the command that it means; what goes wrong is told, and the next line is read.

    `common` options stand before those of the line, `defaults` where it has none of that name.
    """
    name, words = "search", _words(line)
    if line.startswith(":"):
        name, words = words[0][1:], words[1:]
    if name == "help":
        command = _COMMANDS.get(words[0]) if words else None
        click.echo(command.get_help(click.Context(command, ctx, info_name=command.name)) if command else HELP, err=True)
        return
    if name not in _COMMANDS:
        say(f'Error: no command ":{name}"; :help tells what there is', err=True)
        return
    try:
        with _COMMANDS[name].make_context(name, [*common, *words], parent=ctx, default_map=dict(defaults)) as inner:
            _COMMANDS[name].invoke(inner)
    except click.exceptions.Exit:
        pass
    except click.ClickException as error:
        say(f"Error: {error.format_message()}", err=True)
    except IconsError as error:
        say(f"Error: {error}", err=True)
    except KeyboardInterrupt:
        if not sys.stdin.isatty():
            raise
        click.echo("stopped", err=True)


def _words(line: str) -> list[str]:
    """Cut a line as a shell would; one with a lone quote ("don't know") at its spaces."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
