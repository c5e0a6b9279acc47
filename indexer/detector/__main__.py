"""Commands that train the detector: see docs/screenshots.md."""

from pathlib import Path

import click

Folder = click.Path(exists=True, file_okay=False, path_type=Path)
Out = click.Path(file_okay=False, path_type=Path)


@click.group()
def main() -> None:
    """Teach the detector where icons are in screens that `python -m indexer.screens render` has made."""


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
      python -m indexer.detector train --screens work/screens --out work/detector
    """
    from indexer.detector.train import Recipe, train

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
      python -m indexer.detector export work/detector --out data/detector
    """
    from indexer.detector.export import export

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
      python -m indexer.detector judge --fit work/fit --held work/held --detector data/detector \\
        --encoder ~/.local/share/icons/encoders/*
    """
    from functools import partial

    from indexer.detector.judging import fit_judges, write_judges
    from indexer.encoders.facts import read_facts
    from indexer.encoders.query_encoder import open_query_encoder
    from indexer.locating.detector import Detector
    from indexer.locating.evidence import FLOOR
    from indexer.locating.located import Locator
    from indexer.reports.bars import ProgressLine

    locator = Locator(partial(Detector.open(detector).detect, least_score=FLOOR), None)
    with ProgressLine() as bars:
        judges = fit_judges(fit, held, locator=locator, encoder=open_query_encoder(encoder), progress=bars)
    write_judges(judges, detector, fingerprint=read_facts(encoder).fingerprint)
    for kind, judge in judges.items():
        click.echo(f"{kind}: threshold {judge.threshold:.3f}")


if __name__ == "__main__":
    main()
