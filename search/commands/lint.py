"""The command `icons lint`: what is inconsistent or wrong in a set of icons."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import json_option, library_option
from indexer.naming.printable import say

if TYPE_CHECKING:
    from indexer.library.folder import Library


def _rules_beginning(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from search.linting.rules.table import RULES

    return [rule for rule in RULES if rule.startswith(incomplete)]


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]...")
@click.option("--set", "sets", multiple=True, metavar="KEY", help="A set of the library. Repeatable.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave files out, as in .gitignore. Repeatable.")
@click.option(
    "--rule", "rules", multiple=True, metavar="ID", shell_complete=_rules_beginning, help="Only this rule. Repeatable."
)
@click.option(
    "--without-rule",
    "without_rules",
    multiple=True,
    metavar="ID",
    shell_complete=_rules_beginning,
    help="Not this rule. Repeatable.",
)
@click.option("--rules", "lists_rules", is_flag=True, help="List the rules and what each looks at, and nothing else.")
@click.option("--max", "most", type=click.IntRange(1), help="Show so many findings of each rule; 3 if not given.")
@click.option("--long", "is_long", is_flag=True, help="Show all findings, with the files they are in.")
@click.option(
    "--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with pictures side by side."
)
@library_option
@json_option
def lint(
    library: "Library",
    lists_rules: bool,
    most: int | None,
    is_long: bool,
    page: Path | None,
    as_json: bool,
    **asked: tuple[Any, ...],
) -> None:
    """Find what is inconsistent or wrong in sets of icons: duplicates, odd strokes, colours and canvases, misleading
    names.

    What a set does is learnt from the set itself, and nothing is written but the page. A file ".iconslint" in DIR says
    what to accept; docs/linting.md tells its form, and each rule. Exit code 0: nothing found, 1: findings, 2: error.

    \b
    Examples:
      icons lint ~/design/icons
      icons lint icons/ --html lint.html --without-rule name
      icons lint --set lucide --rule near-duplicate --long
      icons lint icons/ --json | jq .counts
    """
    if lists_rules:
        _list_rules()
        return
    if not asked["folders"] and not asked["sets"]:
        raise click.UsageError("nothing to look at; give a folder of icons, or --set KEY of the library")
    if is_long and most is not None:
        raise click.UsageError("--long shows all findings, and --max some; give one of them")
    from indexer.reports.bars import ProgressLine
    from search.linting.lint import Asked
    from search.linting.lint import lint as find
    from search.linting.table import FEW, lines_of

    with ProgressLine() as view:
        report = find(Asked(**asked), library=library, progress=view)
        if page is not None:
            from indexer.library.named import write_result
            from search.linting.page import lint_page

            write_result(page, lint_page(report, progress=view).encode("utf-8"), option="--html")
    if page is not None:
        say(f"wrote {page}", err=True)
    for pattern in report.unused_exceptions:
        say(f'Warning: the exception "{pattern}" accepts nothing', err=True)
    if as_json:
        click.echo(json.dumps(report.to_json()))
    else:
        for line in lines_of(report, most=None if is_long else most or FEW):
            say(line)
    if report.findings:
        raise click.exceptions.Exit(1)


def _list_rules() -> None:
    from search.linting.rules.table import RULES

    for rule in RULES.values():
        say(f"{rule.id:<15} {rule.severity:<8} {rule.looks_at}")
