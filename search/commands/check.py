"""The command `icons check`: source code -> icons in it that do not exist."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from indexer.naming.printable import say

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.references.check import Checked

_MOST_SHOWN = 5
_ADD = "`icons index node_modules` adds what your packages hold"


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--icons",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of your own icons: those that no code names are told, too.",
)
@click.option("--max-sets", type=click.IntRange(1), help="Sets that may be used, brands aside; more is a finding.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for reviews of code.")
@library_option
@json_option
def check(
    library: "Library",
    *,
    places: tuple[Path, ...],
    icons: Path | None,
    max_sets: int | None,
    as_sarif: bool,
    as_json: bool,
) -> None:
    """Check that every icon which code names exists. Exit code 0: all do, 1: something is to be mended, 2: error.

    PATH is a folder of sources, or a file. Imports of icon packages are read, keys as "mdi:home", classes of UnoCSS,
    Tailwind and icon fonts, parts of sprites, and files. An icon is looked up in the library's sets, and where it is
    none the nearest one is named. docs/checking.md lists what is read, and shows a workflow for GitHub.

    \b
    Examples:
      icons check src/
      icons check src/ --icons src/assets/icons --max-sets 1
      icons check . --sarif > icons.sarif
    """
    from indexer.reports.bars import ProgressLine, patient
    from search.commands.presenting import engine_of
    from search.references.check import CheckOptions
    from search.references.check import check as look
    from search.references.plain import checked_json, checked_sarif

    if as_sarif and as_json:
        raise click.UsageError("--sarif and --json are two forms of output; give one of them")
    engine = engine_of(library)
    with ProgressLine() as line:
        checked = look(engine, places, CheckOptions(icons=icons, max_sets=max_sets), progress=patient(line))
    if as_sarif:
        click.echo(json.dumps(checked_sarif(checked, base=Path.cwd())))
    elif as_json:
        click.echo(json.dumps(checked_json(checked)))
    else:
        _print(checked)
    if not checked.is_clean:
        raise click.exceptions.Exit(1)


def _print(checked: "Checked") -> None:
    from search.references.plain import lines_of

    for line in lines_of(checked.findings):
        say(line)
    for one in (one for one in checked.sets if not one.is_here):
        say(f'set "{one.key}" is not in this library, {one.n:,} of its names not looked up; {_ADD}', err=True)
    for path, why in checked.not_read.items():
        say(f"{path}: not read: {why}", err=True)
    computed = [f"{one.path}:{one.line}:{one.column}: {one.text}" for one in checked.computed]
    _print_some("known to the running program alone", computed)
    _print_some("sets beside each other", [f"{path}: {', '.join(sets)}" for path, sets in checked.mixed.items()])
    used = ", ".join(f"{one.key} {one.n:,}" for one in checked.sets)
    say(f"files: {checked.n_files:,}; names of icons: {checked.n_references:,}{f' ({used})' if used else ''}", err=True)
    say(f"{len(checked.findings) or 'nothing'} to be mended", err=True)


def _print_some(title: str, lines: list[str]) -> None:
    if not lines:
        return
    say(f"{title}: {len(lines):,}", err=True)
    for line in lines[:_MOST_SHOWN]:
        say(f"  {line}", err=True)
    if len(lines) > _MOST_SHOWN:
        say(f"  ... and {len(lines) - _MOST_SHOWN:,} more; --json tells all", err=True)
