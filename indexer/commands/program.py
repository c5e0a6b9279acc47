"""Groups of commands that are imported one by one, and how a command that can't go on ends.

A person sees one line and an exit code; a trace for a defect alone.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import Any, TextIO, cast

import click

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.process import share_out_memory
from indexer.sources.records import shown

_OF_MEMORY = (
    "allocate memory", "out of memory", "bad_alloc", "bad allocation", "failed to map segment", "start new thread",
    "resource temporarily unavailable", "re-importing after a failed",
)  # fmt: skip
"""What Python, the loader, torch, ONNX Runtime, FAISS and Rust say where memory or threads are not to be had."""


class _Refusal(click.ClickException):
    exit_code = 2


class LazyGroup(click.Group):
    """Imports a command when it is asked for: all of them take 30 ms more."""

    def __init__(
        self,
        *arguments: Any,
        modules: Mapping[str, str] | None = None,
        sections: Mapping[str, Sequence[str]] | None = None,
        moved: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.modules = modules or {}
        """Module of each command, which stands there under its own name."""
        self.sections = sections
        """Commands as the help lists them, by heading."""
        self.moved = moved or {}
        """Commands, and options behind their command, that were renamed -> what does it now."""
        super().__init__(*arguments, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted({*self.commands, *self.modules})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one."""
        if cmd_name not in self.modules:
            return super().get_command(ctx, cmd_name)
        return cast(click.Command, getattr(import_module(self.modules[cmd_name]), cmd_name))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command; one that was renamed is answered with its new name, a slip with what was meant."""
        self.refuse_moved(args[0])
        meant = get_close_matches(args[0], known := self.list_commands(ctx), n=1)
        if meant and args[0] not in known:
            path = " ".join(["icons", *ctx.command_path.split()[1:], meant[0]])
            raise click.UsageError(f'no command "{args[0]}"; did you mean `{path}`?', ctx)
        return super().resolve_command(ctx, args)

    def refuse_moved(self, spelling: str) -> None:
        """Refuse what was renamed, with its new name."""
        if spelling in self.moved:
            raise _Refusal(f"`icons {spelling}` is now {self.moved[spelling]}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, each with its first sentence."""
        for title, names in (self.sections or {"Commands": self.list_commands(ctx)}).items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(limit=500)) for name, one in commands if one])


class IconsGroup(LazyGroup):
    """Ends with 2 for an error and 130 for Ctrl-C: 1 says that nothing was found."""

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run as a program."""
        _prepare_streams()
        try:
            return super().main(*arguments, **settings)
        except SystemExit:
            raise
        except BaseException as error:  # a panic of Rust is no Exception
            while isinstance(error, BaseExceptionGroup):  # of a server's tasks
                error = error.exceptions[0]
            reason = _reason(error)
            if reason is None:
                raise
            with suppress(OSError):
                click.echo(f"Error: {printable(reason)}", err=True)
            _is_lost(sys.stderr)
            sys.exit(2)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            os.getcwd()  # noqa: PTH109
        except FileNotFoundError as error:
            raise _Refusal("the working directory is gone; change to one that is there") from error
        try:
            share_out_memory()
            return super().invoke(ctx)
        except IconsError as error:
            raise _Refusal(printable(str(error))) from error
        except click.exceptions.NoArgsIsHelpError:  # a group alone: click prints its help
            raise
        except click.NoSuchOption as error:
            command = error.ctx.command_path.partition(" ")[2] if error.ctx else ""
            self.refuse_moved(f"{command} {error.option_name}")
            raise
        except click.UsageError as error:  # it repeats what was typed, perhaps by a program
            raise click.UsageError(printable(error.format_message(), keep="\n"), error.ctx) from error
        except BrokenPipeError:
            _silence(sys.stdout)  # the reader has seen enough
            raise click.exceptions.Exit(0) from None
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            raise click.exceptions.Exit(130) from None


def _prepare_streams() -> None:
    """Open the streams that were closed, so that no file takes their place; print what no terminal can spell."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:  # what is printed to a closed stdout fails; what goes to stderr is lost
            os.set_inheritable(os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY), True)
            setattr(sys, name, open(descriptor, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _reason(error: BaseException) -> str | None:
    """Say in a line what around the program has ended it; None: it is a defect, or an end."""
    if isinstance(error, OSError) and error.filename is None and _is_lost(sys.stdout):
        return f"stdout can't be written ({error.strerror})"
    if _is_of_memory(error):
        lines = str(error).strip().splitlines()
        said = shown(lines[-1]) if lines else type(error).__name__
        return f"not enough memory or threads ({said}); `ulimit -a` shows what this process may have"
    if isinstance(error, UnicodeEncodeError):
        return f'"{shown(error.object)}" is not Unicode text; type it again, in UTF-8'
    if not isinstance(error, OSError):
        return None
    if isinstance(error, PermissionError):
        what = f'"{error.filename}" can\'t be read or written ({error.strerror})'
        return f"{what}; give yourself access to it, or choose another --library"
    named = f'"{error.filename}": ' if error.filename is not None else ""
    return f"{named}{error.strerror or error}"


def _is_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError) or any(words in str(error).lower() for words in _OF_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_lost(stream: TextIO) -> bool:
    """Whether what a stream still holds can't be written; it is dropped then."""
    try:
        stream.flush()
    except OSError:
        _silence(stream)
        return True
    return False


def _silence(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
