"""The commands `icons serve` and `icons mcp`."""

import os
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import library_option

if TYPE_CHECKING:
    from indexer.library.folder import Library


def _or_variable(_ctx: click.Context, _parameter: click.Parameter, token: str | None) -> str | None:
    """The token, or what ICONS_TOKEN holds: click takes an empty variable for none, which lets all in."""
    return os.environ.get("ICONS_TOKEN") if token is None else token


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0: on every network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option(
    "--token",
    callback=_or_variable,
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
@click.option("--threads", type=click.IntRange(1, 256), help="Queries at the same time; the cores if not given.")
@click.option("--waiting", type=click.IntRange(0, 10_000), help="Requests that may wait; one more is answered 503.")
@click.option("--seconds", type=click.FloatRange(0.1, 600), help="Longest time for an answer; 5 if not given.")
@click.option("--upload-mb", type=click.FloatRange(0.01, 500), help="Largest picture in a request; 10 if not given.")
@library_option
def serve(library: "Library", upload_mb: float | None, **given: Any) -> None:
    """Serve a library: a page to search on, and an HTTP API. Read-only; on this machine alone unless told otherwise.

    A library that is indexed again is picked up without a restart. docs/serving.md tells of the API, of networks, and
    of proxies.

    \b
    Examples:
      icons serve                                   # then open http://127.0.0.1:8000
      ICONS_TOKEN=secret icons serve --host 0.0.0.0 --port 80
      curl 'http://127.0.0.1:8000/api/v1/search?q=go+back&k=3'
    """
    from search.web.gate import Limits
    from search.web.serve import ServeOptions
    from search.web.serve import serve as run

    sizes = {"upload_bytes": None if upload_mb is None else round(upload_mb * 1e6)}
    asked = {**sizes, **{name: given.pop(name) for name in ("threads", "waiting", "seconds")}}
    limits = Limits(**{name: value for name, value in asked.items() if value is not None})
    run(library, ServeOptions(limits=limits, **given))


@click.command()
@library_option
def mcp(library: "Library") -> None:
    """Let a coding assistant search a library: an MCP server on stdin and stdout, which the assistant starts itself.

    Its tools find icons by words, tell everything of one, and give its SVG. docs/serving.md says how to enter it in
    an assistant's settings.

    \b
    Examples:
      icons mcp                                     # what the assistant runs
      icons mcp --library ~/design/library
    """
    from search.assistant.server import assist

    assist(library)
