"""The command `icons completion`: what a shell needs to complete commands, options, and values of the library."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands, options, sets, styles, categories, tags and licences.

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
