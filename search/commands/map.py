"""The command `icons map`: icons of one set -> the nearest of another, as a table, a page, and in code."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.library.named import read_text
from indexer.naming.printable import printable, say

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.engine import SearchEngine
    from search.mapping.mapped import Mapped
    from search.references.reference import Computed, Reference
    from search.rewriting.rewrite import CodeNames, Rewritten

_SHOWN = 20
"""Lines of what is left to a person; --json has all."""
_MOST_BYTES = 8_000_000
"""Of a list of names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    """How a mapping is shown."""

    as_csv: bool
    as_json: bool
    page: Path | None


@click.command("map")
@click.argument("names", nargs=-1, metavar="[NAME|PATH]...")
@click.option("--from", "sources", multiple=True, metavar="SET", help="The set that is left. Repeatable.")
@click.option("--to", required=True, metavar="SET", help="The set to move to.")
@click.option("--names", "file", type=NamedFile, help="A file with a name a line; - for stdin.")
@click.option("--mapping", "choices", type=NamedFile, help="A corrected CSV: what it says, stands.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the mapping as CSV.")
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write a page to correct it.")
@click.option("--write", "is_written", is_flag=True, help="Change the files; without, the changes are shown.")
@click.option("--doubtful", "also_doubtful", is_flag=True, help="Change what is marked doubtful, too.")
@library_option
@json_option
def map(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    names: tuple[str, ...],
    sources: tuple[str, ...],
    to: str,
    file: Path | None,
    choices: Path | None,
    as_csv: bool,
    page: Path | None,
    is_written: bool,
    also_doubtful: bool,
    as_json: bool,
) -> None:
    """Map icons of one set to the nearest of another, by picture and name. Exit code 1: there is none to map.

    NAME is an icon, as mdi:home, or home with --from mdi; --from alone maps the whole set. PATH is source code: the
    icons that it names are mapped, and the changes to its imports, keys and classes are printed as a diff; --write
    makes them. What is doubtful is marked, and left as it is in code: look at it with --html, and give the CSV that the
    page saves back with --mapping.

    \b
    Examples:
      icons map --from fa6-solid --to lucide --html mapping.html
      icons map --from mdi --to lucide home account-circle
      icons map src/ --to lucide
      icons map src/ --to lucide --mapping mapping.csv --write
    """
    from indexer.reports.bars import ProgressLine, patient
    from search.commands.presenting import engine_of
    from search.mapping.choices import choose, read_choices
    from search.mapping.map import map_icons, source_names, source_sets, target_set
    from search.references.code import kind_of
    from search.rewriting.rewrite import read_names, rewrite

    told = read_choices(choices) if choices else {}
    engine = engine_of(library)
    target, keys = target_set(engine, to), source_sets(engine, sources)
    places = [Path(name) for name in names if _is_code(name)]
    if places and (len(places) < len(names) or file):
        raise click.UsageError(f'"{places[0]}" is source code, and others are names; give one kind')
    if others := [place for place in places if place.is_file() and kind_of(place.name) is None]:
        raise click.UsageError(f'"{others[0]}" is no source code; --names "{others[0]}" reads the names in it')
    if is_written and not places:
        raise click.UsageError("--write changes source code; name a folder or a file")
    code = read_names(engine, places, sets=keys, to=target) if places else None
    listed = read_text(file, limit=_MOST_BYTES).splitlines() if file else []
    wanted = code.names if code else source_names(engine, [*names, *listed], keys)
    if not wanted:
        say(f"no icon to map: the code names none{' of ' + ', '.join(keys) if keys else ''}", err=True)
        raise click.exceptions.Exit(1)
    with ProgressLine() as line:
        progress = patient(line)
        mapped = choose(engine, map_icons(engine, wanted, target, progress=progress), told)
        rewritten = rewrite(engine, code, mapped, also_doubtful=also_doubtful, progress=progress) if code else None
    _show(engine, mapped, rewritten, _Output(as_csv=as_csv, as_json=as_json, page=page))
    if code and rewritten:
        _finish(code, rewritten, is_written=is_written, is_quiet=as_json)


def _is_code(name: str) -> bool:
    return ":" not in name and Path(name).exists()


def _show(engine: "SearchEngine", mapped: "Mapped", rewritten: "Rewritten | None", how: _Output) -> None:
    """Print the mapping, or what changes in code, to stdout."""
    from indexer.reports.tables import open_console
    from search.mapping.choices import to_csv
    from search.mapping.page import images_of, mapping_page
    from search.mapping.plain import mapped_json
    from search.mapping.table import print_mappings
    from search.rewriting.diff import diff_of
    from search.rewriting.plain import rewritten_json

    if how.page:
        from indexer.library.named import write_result

        html = mapping_page(mapped, dict(engine.pictures(images_of(mapped))))
        write_result(how.page, html.encode(), option="--html")
        say(f"to look at and to correct: {how.page}", err=True)
    if how.as_json:
        code = {"code": rewritten_json(rewritten)} if rewritten else {}
        click.echo(json.dumps(mapped_json(mapped) | code))
    elif how.as_csv:
        click.echo(to_csv(mapped), nl=False)
    elif rewritten:
        for change in rewritten.changes:
            _print_diff("".join(diff_of(change)))
    elif not how.page:
        print_mappings(open_console(), mapped)
    n = len(mapped.mappings)
    said = f"{n:,} mapped to {mapped.to}, {len(mapped.doubtful):,} of them doubtful"
    unseen = len(mapped.without_picture)
    say(f"{said}, {unseen:,} by name alone: the library has no picture of these" if unseen else said, err=True)


def _print_diff(diff: str) -> None:
    """As it is for programs, names that are no UTF-8 as well; on a terminal without what that would obey."""
    shown = printable(diff, keep="\n\t") if sys.stdout.isatty() else diff.encode(errors="surrogateescape")
    click.echo(shown, nl=False)


def _finish(code: "CodeNames", rewritten: "Rewritten", *, is_written: bool, is_quiet: bool) -> None:
    """Write the files if that is asked for, and say on stderr what was or would be done, and what is left."""
    from search.rewriting.write import write_changes

    kept = write_changes(rewritten.changes) if is_written else []
    if not is_quiet:
        _tell_left(rewritten)
    for path, why in (*code.unread, *kept):
        say(f'"{path}" is left as it is: {why}', err=True)
    left = {path for path, _ in kept}
    changed = [change.n_places for change in rewritten.changes if change.path not in left]
    done = "changed" if is_written else "to change"
    hint = "" if is_written or not changed else "; --write changes them"
    say(f"places {done}: {sum(changed):,}; files: {len(changed):,}{hint}", err=True)
    if rewritten.packages and changed:
        say(f"to install: npm install {' '.join(rewritten.packages)}", err=True)
    if kept:
        raise click.exceptions.Exit(2)


def _tell_left(rewritten: "Rewritten") -> None:
    """Name the places that stay as they are."""
    by_hand = [(one.reference, f"by hand, {one.to}: {one.why}") for one in rewritten.by_hand]
    doubtful = [
        (one, f"doubtful, {stand.target.name.key}; --mapping says it, --doubtful takes it")
        for one, stand in rewritten.doubtful
        if stand.target
    ]
    computed = [(one, "by hand: the name is known to the running program alone") for one in rewritten.computed]
    places: list[tuple[Reference | Computed, str]] = [*by_hand, *doubtful, *computed]
    left = [f"{place.path}:{place.line}: {place.text}: {why}" for place, why in places]
    for line in left[:_SHOWN]:
        say(line, err=True)
    if len(left) > _SHOWN:
        say(f"and {len(left) - _SHOWN:,} more places to look at; --json has all", err=True)
