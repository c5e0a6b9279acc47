"""The command `icons export`: chosen icons as files, a sprite, Iconify JSON, a font or a package."""

import json
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.naming.printable import say
from search.commands.options import look_options
from search.snippets.drawn import Look

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from indexer.reports.bars import Progress
    from search.exporting.collection import Collection
    from search.exporting.export import Exported, Kind

_KINDS = ("zip", "sprite", "iconify", "font", "react")
_NAME = "icons"
_MANY = 50
"""Icons that take a while, so that progress is told."""


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--from", "file", type=NamedFile, help="A collection: its file, or a text with a key a line.")
@click.option("--as", "kind", type=click.Choice(_KINDS), default="zip", show_default=True, help="What they become.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="A folder, FILE.zip, or FILE.svg and FILE.json for a sprite and one Iconify set alone.",
)
@click.option("--name", help="Name of the collection; else its file says it.")
@click.option("--prefix", help="One Iconify file for all sets, under this prefix; the name of a font or a package.")
@look_options
@click.option("--skip-unreadable", is_flag=True, help="Leave out what can't be exported so, and say which.")
@click.option("--replace", "is_replaced", is_flag=True, help="Replace an earlier export; a font keeps its code points.")
@library_option
@json_option
def export(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    keys: tuple[str, ...],
    file: Path | None,
    kind: "Kind",
    out: Path | None,
    name: str | None,
    prefix: str | None,
    look: Look,
    skip_unreadable: bool,
    is_replaced: bool,
    as_json: bool,
) -> None:
    """Export icons: each as a file, an SVG sprite, Iconify JSON, a web font, or a package for React.

    KEY is SET:NAME, as `icons search --json` tells it; `-` reads a collection from stdin. With all of them goes a file
    that says whose they are and on which terms.

    \b
    Examples:
      icons export lucide:bell lucide:house mdi:cog
      icons export --from settings.json --as font -o src/font --replace
      icons search arrow --json | icons export - --as sprite -o sprite.svg
      icons export --from settings.json --as iconify --prefix app -o app.json
    """
    from indexer.reports.bars import ProgressLine
    from search.commands.presenting import engine_of
    from search.exporting.export import Options
    from search.exporting.export import export as export_icons
    from search.exporting.writing import default_place, earlier_code_points, write_export

    collection = _collection(keys, file, name)
    if is_replaced and out is not None and not collection.code_points:
        collection = replace(collection, code_points=earlier_code_points(out))
    options = Options(look=look, prefix=prefix, skip_unreadable=skip_unreadable)
    engine = engine_of(library)
    with ExitStack() as stack:
        is_long = len(collection.icons) >= _MANY
        progress: Progress | None = stack.enter_context(ProgressLine()) if is_long else None
        exported = export_icons(engine, collection, kind, options, progress=progress)
    place = out or default_place(exported)
    written = write_export(exported, place, replace=is_replaced)
    _report(exported, place, written, as_json=as_json)


def _collection(keys: tuple[str, ...], file: Path | None, name: str | None) -> "Collection":
    """The icons that are named: as arguments, in a file, or on stdin."""
    from indexer.library.named import STDIN, read_named
    from search.exporting.collection import MAX_BYTES, collected, read_collection
    from search.query import refuse_broken

    if file is not None and keys:
        raise click.UsageError("--from and KEY are two ways to name icons; give one of them")
    if not keys and file is None:
        raise click.UsageError("name icons, as lucide:bell, or a collection with --from FILE")
    if file is not None or keys == ("-",):
        source = file or STDIN
        name_there = _NAME if source == STDIN else source.stem
        collection, n_again = read_collection(read_named(source, limit=MAX_BYTES), name=name_there)
    else:
        collection, n_again = collected(_NAME, keys)
    if n_again:
        say(f"{n_again:,} named twice: each stands there once", err=True)
    if name:
        refuse_broken(name)
    return replace(collection, name=name) if name else collection


def _report(exported: "Exported", place: Path, written: list[Path], *, as_json: bool) -> None:
    """Tell what was written, what was left out, and what the licences ask for."""
    if as_json:
        told = {name: getattr(exported, name) for name in ("kind", "name", "icons", "remarks", "licences")}
        left_out = [asdict(one) for one in exported.left_out]
        click.echo(json.dumps({**told, "left_out": left_out, "written": [str(path) for path in written]}))
        return
    for one in exported.left_out:
        say(f'left out "{one.key}": {one.reason}', err=True)
    for remark in exported.remarks:
        say(remark, err=True)
    n_icons = "1 icon" if len(exported.icons) == 1 else f"{len(exported.icons):,} icons"
    say(f"{n_icons}; {exported.licences}", err=True)
    for path in [place] if len(written) > 2 else written:
        say(f"wrote {path}", err=True)
