"""The detector, from screens to what ships: python -m data.making.detector render|products|train|export|judge

`render` and `products` need Chromium, playwright and npm's @iconify/json.
"""

from pathlib import Path
from typing import Any

import click

from data.making.detector.render import Recipe, render_screens
from indexer.commands.program import IconsGroup

Folder = click.Path(exists=True, file_okay=False, path_type=Path)
Out = click.Path(file_okay=False, path_type=Path)


@click.group(cls=IconsGroup)
def main() -> None:
    """Render screens with the painted box of every icon, and teach the detector where icons are in them."""


@main.command()
@click.option(
    "--icons",
    required=True,
    type=Folder,
    help="Folder of the npm package @iconify/json.",
)
@click.option("--out", required=True, type=Out)
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
      python -m data.making.detector render --icons node_modules/@iconify/json --out screens --screens 1500
    """
    from indexer.reports.terminal import ProgressLine

    own = "held-out" if chosen["templates"] == "held-out" else "training"
    recipe = Recipe(**chosen, sets=sets or own)  # type: ignore[arg-type]
    with ProgressLine() as bars:
        counts = render_screens(recipe, out, n=n, workers=workers, progress=bars)
    click.echo(f"{out}: {counts['screens']:,} screens, {counts['icons']:,} icons", err=True)


@main.command()
@click.option(
    "--packages",
    type=Out,
    help="Folder that they lie in.",
)
@click.option(
    "--icons",
    type=Folder,
    help="Folder of the npm package @iconify/json, by which icons are named.",
)
@click.option("--out", type=Out)
@click.option("--only", multiple=True, help="A product; repeat for several. All by default.")
@click.option("--install", is_flag=True, help="Write the commands that install the packages into --packages, and end.")
def products(packages: Path | None, icons: Path | None, out: Path | None, only: tuple[str, ...], install: bool) -> None:
    """Render real products from their packages; what is there already stays.

    \b
    Example:
      python -m data.making.detector products --install | sh
      python -m data.making.detector products --packages products --icons node_modules/@iconify/json --out screens
    """
    from data.making.detector.products import install_lines, render_products

    if install:
        click.echo("\n".join(install_lines(packages or Path("products"))))
        return
    if packages is None or icons is None or out is None:
        raise click.UsageError("--packages, --icons and --out are needed")
    render_products(packages, icons=icons, out=out, only=only, tell=lambda line: click.echo(line, err=True))


@main.command(name="train")
@click.option("--screens", "folders", multiple=True, required=True, type=Folder, help="Repeatable.")
@click.option("--out", required=True, type=Out, help="A run that was cut here goes on.")
@click.option("--steps", default=6_000, show_default=True, type=click.IntRange(1))
@click.option("--batch", default=8, show_default=True, type=click.IntRange(1), help="Tiles a step.")
@click.option("--rate", default=2e-3, show_default=True, type=click.FloatRange(0, min_open=True))
@click.option("--seed", default=0, show_default=True)
def train_command(folders: tuple[Path, ...], out: Path, steps: int, batch: int, rate: float, seed: int) -> None:
    """Train a net on screens.

    \b
    Example:
      python -m data.making.detector train --screens work/screens --out work/detector
    """
    from data.making.detector.train import Recipe, train

    def told(step: int, of_scores: float, of_boxes: float, tiles: float) -> None:
        click.echo(f"step {step:,} of {steps:,}  scores {of_scores:.3f}  boxes {of_boxes:.3f}  {tiles:.1f} tiles/s")

    train(list(folders), out, Recipe(steps=steps, batch=batch, rate=rate, seed=seed), told=told)


@main.command(name="export")
@click.argument("run", type=Folder)
@click.option("--out", required=True, type=Out)
def export_command(run: Path, out: Path) -> None:
    """Write the net of RUN as ONNX, with what made it.

    \b
    Example:
      python -m data.making.detector export work/detector --out data/detector
    """
    from data.making.detector.train import export

    facts = export(run, out)
    click.echo(f"step {facts['step']:,}, {facts['parameters']:,} parameters -> {out}")


@main.command(name="judge")
@click.option("--fit", multiple=True, required=True, type=Folder, help="Screens that it has not seen. Repeatable.")
@click.option("--held", multiple=True, required=True, type=Folder, help="Screens to choose thresholds on. Repeatable.")
@click.option("--detector", required=True, type=Folder, help="What `export` has written.")
@click.option("--encoder", required=True, type=Folder, help="A library's encoders/FINGERPRINT.")
def judge_command(fit: tuple[Path, ...], held: tuple[Path, ...], detector: Path, encoder: Path) -> None:
    """Fit how the detector's score and what an encoder sees add up.

    \b
    Example:
      python -m data.making.detector judge --fit work/fit --held work/held --detector data/detector \\
        --encoder ~/.local/share/icons/encoders/*
    """
    from functools import partial

    from data.making.detector.judging import fit_judges, write_judges
    from indexer.encoders.query_encoder import open_query_encoder, read_facts
    from indexer.reports.terminal import ProgressLine
    from indexer.screens.located import FLOOR, Detector, Locator

    locator = Locator(partial(Detector(detector).detect, least_score=FLOOR), None)
    with ProgressLine() as bars:
        judges = fit_judges(fit, held, locator=locator, encoder=open_query_encoder(encoder), progress=bars)
    write_judges(judges, detector, fingerprint=read_facts(encoder).fingerprint)
    for kind, judge in judges.items():
        click.echo(f"{kind}: threshold {judge.threshold:.3f}")


if __name__ == "__main__":
    main()
