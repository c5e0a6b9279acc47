"""How are screens rendered to train and to measure what finds icons? python -m indexer.screens render|products

Needs Chromium, playwright (`pip install 'icons[screens]'`) and npm's @iconify/json; see docs/screenshots.md.
"""

import sys
from pathlib import Path
from typing import Any

import click

from indexer.errors import IconsError
from indexer.screens.render import Recipe, render_screens


@click.group()
def main() -> None:
    """Render screens of products that never were, with the painted box of every icon."""


@main.command()
@click.option(
    "--icons",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the npm package @iconify/json.",
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path))
@click.option("--screens", "n", default=1500, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@click.option(
    "--templates", default="training", show_default=True, type=click.Choice(["training", "validation", "held-out"])
)
@click.option(
    "--sets",
    type=click.Choice(["training", "held-out", "reserved"]),
    help="Which icon sets; those to train with by default, held-out ones with held-out templates.",
)
@click.option("--only", help="One template instead of all.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
def render(out: Path, n: int, workers: int, sets: str | None, **chosen: Any) -> None:
    """Render screens; what is there already stays.

    \b
    Example:
      python -m indexer.screens render --icons node_modules/@iconify/json --out screens --screens 1500
    """
    from indexer.reports.bars import ProgressLine

    own = "held-out" if chosen["templates"] == "held-out" else "training"
    recipe = Recipe(**chosen, sets=sets or own)  # type: ignore[arg-type]
    with ProgressLine() as bars:
        counts = render_screens(recipe, out, n=n, workers=workers, progress=bars)
    click.echo(f"{out}: {counts['screens']:,} screens, {counts['icons']:,} icons", err=True)


@main.command()
@click.option(
    "--packages",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that they lie in.",
)
@click.option(
    "--icons",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the npm package @iconify/json, by which icons are named.",
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--only", multiple=True, help="A product; repeat for several. All by default.")
@click.option("--install", is_flag=True, help="Write the commands that install the packages into --packages, and end.")
def products(packages: Path | None, icons: Path | None, out: Path | None, only: tuple[str, ...], install: bool) -> None:
    """Render real products from their packages; what is there already stays.

    \b
    Example:
      python -m indexer.screens products --install | sh
      python -m indexer.screens products --packages products --icons node_modules/@iconify/json --out screens
    """
    from indexer.screens.products.render import render_products
    from indexer.screens.products.table import install_lines

    if install:
        click.echo("\n".join(install_lines(packages or Path("products"))))
        return
    if packages is None or icons is None or out is None:
        raise click.UsageError("--packages, --icons and --out are needed")
    render_products(packages, icons=icons, out=out, only=only, tell=lambda line: click.echo(line, err=True))


if __name__ == "__main__":
    try:
        main()
    except IconsError as error:
        sys.exit(f"Error: {error}")
