"""One rank with a simulated device, as `icons bench embed --simulate` starts it under torchrun.

torchrun --nproc-per-node 2 -m indexer.bench.simulation.rank --library DIR --fingerprint HASH --simulation JSON
"""

from pathlib import Path

import click

from indexer.bench.simulation.device import Simulation
from indexer.embedding.embed import run_rank
from indexer.library.folder import Library
from indexer.library.foreign import from_json


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), required=True, help="The library's folder.")
@click.option("--fingerprint", required=True, help="Encoder whose plan is to be done.")
@click.option("--simulation", required=True, help="A `Simulation` as JSON.")
def main(root: Path, fingerprint: str, simulation: str) -> None:
    """Embed what this rank claims, on its simulated device."""
    simulated = from_json(Simulation, simulation)
    run_rank(Library(root), fingerprint, spec_of=lambda rank: simulated.spec(rank.index))


if __name__ == "__main__":
    main()
