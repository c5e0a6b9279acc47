"""The commands `icons serve`, `mcp`, `completion` and `config`."""

import os
from dataclasses import asdict, replace
from typing import Any

import click
from click.shell_completion import get_completion_class

from indexer.commands.options import json_option, library_option, refuse, show
from indexer.library.folder import Library, known_preferences, read_preferences, write_preferences
from search.commands.options import engine_of, refuse_two


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0: on every network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option(
    "--token",
    default=lambda: os.environ.get("ICONS_TOKEN"),  # click itself takes an empty one for none, which lets all in
    help="Answer only who sends it; ICONS_TOKEN sets it too, and hides it from `ps`.",
)
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="Answer under this name too. Repeatable.")
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Let pages of another server ask, such as https://design.example; '*': every page. Repeatable.",
)
@click.option("--threads", type=click.IntRange(1, 256), help="Queries at the same time; by default the cores.")
@click.option("--waiting", type=click.IntRange(0, 10_000), help="Requests that may wait; one more is answered 503.")
@click.option("--seconds", type=click.FloatRange(0.1, 600), help="Longest time for an answer; by default 5.")
@click.option("--upload-mb", type=click.FloatRange(0.01, 500), help="Largest picture in a request; by default 10.")
@library_option
def serve(library: Library, upload_mb: float | None, **options: Any) -> None:
    """Serve a library: a page to search on, and an HTTP API. Read-only; without --host on this machine alone.

    A library that is indexed again is picked up without a restart. docs/serving.md describes the API, networks, and
    proxies.

    \b
    Examples:
      icons serve              # then open 127.0.0.1:8000
      ICONS_TOKEN=secret icons serve --host 0.0.0.0 --port 80
      curl 'http://127.0.0.1:8000/api/v1/search?q=go+back&k=3'
    """
    from search.web import serve as serving
    from search.web.connections import Limits

    limits = {name: options.pop(name) for name in ("threads", "waiting", "seconds")}
    limits["upload_bytes"] = None if upload_mb is None else round(upload_mb * 1e6)
    chosen = {name: value for name, value in limits.items() if value is not None}
    serving.serve(library, serving.ServeOptions(limits=Limits(**chosen), **options))


@click.command()
@library_option
def mcp(library: Library) -> None:
    """Let a coding assistant search a library: an MCP server on stdin and stdout, which the assistant starts itself.

    Its tools find icons by words, show everything about one, and give its SVG. docs/serving.md says how to enter it in
    an assistant's settings.

    \b
    Examples:
      icons mcp                      # what the assistant runs
      icons mcp --library ~/design/library
    """
    from search.assistant.server import assist

    assist(library)


@click.command(no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands, options, sets, styles, corners, categories, tags and licences.

    \b
    Install it once:
      cd ~/.local/share/bash-completion/completions
      icons completion bash > icons
      cd ~/.zfunc                    # which must be in fpath
      icons completion zsh > _icons
      cd ~/.config/fish/completions
      icons completion fish > icons.fish
    For this session alone:
      eval "$(icons completion bash)"
    """
    found = get_completion_class(shell)
    assert found is not None
    script = found(ctx.find_root().command, {}, "icons", "_ICONS_COMPLETE")
    click.echo(script.source_template % script.source_vars())


@click.command()
@click.argument("name", required=False, type=click.Choice(["sets", "format"]))
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--none", "is_none", is_flag=True, help="Choose nothing any more.")
@library_option
@json_option
def config(library: Library, name: str | None, values: tuple[str, ...], is_none: bool, as_json: bool) -> None:
    """Show what was chosen for a library, or choose: sets that come first, and the format of code.

    Where several sets have an icon, those named by `sets` come first, the most preferred one first; a set is named by
    its key or title. `format` is what `icons pick` writes where no --format is named.

    \b
    Examples:
      icons config
      icons config sets lucide mdi
      icons config sets --none
      icons config format lucide-react
    """
    from search.drawings.frameworks import framework

    refuse_two(("VALUE", values), ("--none", is_none), what="a choice and none")
    refuse(
        (is_none and name is None, "--none needs to know of what: sets, or format"),
        (name == "format" and len(values) > 1, "code has one format; name one"),
    )
    if name is not None and (values or is_none):
        known = known_preferences(library)
        if name == "sets":
            known = replace(known, sets=tuple(engine_of(library).set_keys(values)))
        else:
            known = replace(known, format=framework(values[0]).name if values else None)
        write_preferences(library, known)
    chosen = read_preferences(library)
    lines = [f"sets    {' '.join(chosen.sets) or '-'}", f"format  {chosen.format or '-'}"]
    show(asdict(chosen), lines, as_json=as_json)
