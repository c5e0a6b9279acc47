"""The command `icons completion`: what a shell needs to complete commands, options, and values of the library.

A shell asks for values at every TAB: nothing is imported but SQLite, and what can't be read completes nothing.
"""

import sqlite3
from contextlib import closing

import click
from click.shell_completion import get_completion_class

from indexer.library.folder import Library
from indexer.naming.looks import STYLES
from indexer.naming.printable import printable

MOST = 50
_LABELS = "SELECT value FROM labels WHERE kind = ? AND value GLOB ? AND value NOT GLOB '* *' ORDER BY n DESC LIMIT ?"
"""Shells would cut a value with a space into words."""


@click.command(no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands, options, sets, styles, corners, categories, tags and licences.

    \b
    Install it once:
      bash   icons completion bash > ~/.local/share/bash-completion/completions/icons
      zsh    icons completion zsh > ~/.zfunc/_icons        (~/.zfunc must be in fpath)
      fish   icons completion fish > ~/.config/fish/completions/icons.fish
    For this session alone:
      eval "$(icons completion bash)"
    """
    root = ctx.find_root()
    found = get_completion_class(shell)
    assert found is not None
    script = found(root.command, {}, "icons", "_ICONS_COMPLETE")
    click.echo(script.source_template % script.source_vars())


def styles_beginning(library: Library, kind: str, start: str) -> list[str]:
    """Words for the library's styles, or corners, that begin so: "solid" where icons are filled."""
    held = set(labels_beginning(library, kind, ""))
    return [word for word, style in STYLES.items() if style in held and start and word.startswith(start)]


def labels_beginning(library: Library, kind: str, start: str) -> list[str]:
    """Values of a kind (set, style, corner, category, tag, licence) that begin so, the most frequent first."""
    pattern = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in start) + "*"
    for generation in library.candidates():
        try:
            with closing(sqlite3.connect(f"{generation.catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as catalog:
                found = catalog.execute(_LABELS, (kind, pattern, MOST))
                return [value for (value,) in found if value == printable(value)]
        except (sqlite3.Error, UnicodeError):
            continue
    return []
